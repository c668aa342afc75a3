package signin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed" // for the list of common passwords
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Limits on the length of a password. Characters are not restricted: such rules
// make users write passwords down and do not make passwords stronger.
const (
	minPassword = 8
	// maxPassword is in bytes. It bounds the cost of a hash.
	maxPassword = 256
)

// Cost of a hash: Argon2id with 19 MiB, two passes, one lane.
const (
	hashMemory = 19 * 1024
	hashTime   = 2
	hashLanes  = 1
	hashSize   = 32
	saltSize   = 16
)

const hashForm = "$argon2id$v=19$m=%d,t=%d,p=%d$"

// phc returns a hash with its parameters and salt in PHC string format.
func phc(memory uint32, salt, hash []byte) string {
	return fmt.Sprintf(hashForm, memory, hashTime, hashLanes) + base64.RawStdEncoding.EncodeToString(salt) + "$" + base64.RawStdEncoding.EncodeToString(hash)
}

// hash returns the stored form of a password. who takes the turn.
func (s *Service) hash(ctx context.Context, who ident.ID, password string) (string, error) {
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(s.Random, salt); err != nil {
		return "", fmt.Errorf("hash password: no randomness: %w", err)
	}
	done, err := s.turn(ctx, who)
	if err != nil {
		return "", err
	}
	defer done()
	return phc(s.memory, salt, argon2.IDKey(normal(password), salt, hashTime, s.memory, hashLanes, hashSize)), nil
}

// verify reports whether a password matches a stored hash. who takes the turn.
func (s *Service) verify(ctx context.Context, who ident.ID, text, password string) (bool, error) {
	var memory, passes uint32
	var lanes uint8
	parts := strings.Split(text, "$")
	if len(parts) != 6 {
		return false, errors.New("read password hash: it is damaged")
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	want, wantErr := base64.RawStdEncoding.DecodeString(parts[5])
	_, err := fmt.Sscanf(strings.Join(parts[:4], "$")+"$", hashForm, &memory, &passes, &lanes)
	if err := errors.Join(err, saltErr, wantErr); err != nil {
		return false, fmt.Errorf("read password hash: %w", err)
	}
	done, err := s.turn(ctx, who)
	if err != nil {
		return false, err
	}
	defer done()
	got := argon2.IDKey(normal(password), salt, passes, memory, lanes, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

// normal returns the normalized (NFKC) form of a password, because keyboards
// encode the same characters differently.
func normal(password string) []byte { return norm.NFKC.Bytes([]byte(password)) }

//go:generate go run common_gen.go passwords.txt common.bin

// common contains the first four bytes of the SHA-256 of each common password,
// sorted.
//
//go:embed common.bin
var common []byte

// isCommon reports whether a password is on the list, regardless of case. The
// false positive rate is 1 in 300,000.
func isCommon(password []byte) bool {
	sum := sha256.Sum256(bytes.ToLower(password))
	n := len(common) / 4
	want := binary.BigEndian.Uint32(sum[:])
	at := func(i int) uint32 { return binary.BigEndian.Uint32(common[4*i:]) }
	i := sort.Search(n, func(i int) bool { return at(i) >= want })
	return i < n && at(i) == want
}

// checkPassword returns the problems of a new password.
func checkPassword(field, password, address string) []fault.Detail {
	text := normal(password)
	bad := func(code, message string, meta fault.Meta) []fault.Detail {
		return []fault.Detail{{Field: field, Code: code, Message: field + " " + message, Meta: meta}}
	}
	local, _, _ := strings.Cut(address, "@")
	lower := string(bytes.ToLower(text))
	switch {
	case len(password) > maxPassword:
		return bad("too_long", "must have at most 256 bytes.", fault.Meta{"maximum": maxPassword})
	case utf8.RuneCount(text) < minPassword:
		return bad("too_short", "must have at least 8 characters; 15 or more are better.", fault.Meta{"minimum": minPassword, "recommended": 15})
	case address != "" && (lower == address || lower == local):
		return bad("invalid_value", "must not be the e-mail address.", nil)
	case isCommon(text):
		return bad("invalid_value", "is one of those that are tried first; choose another, several words for instance.", nil)
	}
	return nil
}

// password returns the credential of a new password. who takes the turn.
func (s *Service) password(ctx context.Context, who ident.ID, p *User, next string) (Credential, error) {
	text, err := s.hash(ctx, who, next)
	return p.withPassword(text), err
}

// withPassword returns the credential with a password hash.
func (p *User) withPassword(text string) Credential {
	c := Credential{User: p.ID, Kind: kindPassword, ID: string(p.ID)}
	if old := p.find(kindPassword, ""); old != nil {
		c = *old
	}
	c.Doc = []byte(text)
	return c
}

// matches counts an attempt and reports whether a password is the user's. p is
// nil if the account does not exist. An attempt that gets no turn is not
// counted, because nothing was compared.
func (s *Service) matches(ctx context.Context, p *User, account, password string, from From) (bool, error) {
	tried, err := s.countPasswordAttempt(p, account, from)
	if err != nil {
		return false, err
	}
	ok, err := s.compare(ctx, p.turnOf(from), p, password)
	if err != nil {
		s.guesses.forgive(tried.limits...)
	} else if ok {
		s.guesses.forgive(tried.forgiven...)
	}
	return ok, err
}

// compare reports whether a password is the user's. It takes the same time if
// the user does not exist. who takes the turn.
func (s *Service) compare(ctx context.Context, who ident.ID, p *User, password string) (bool, error) {
	if len(password) > maxPassword {
		return false, nil
	}
	text := phc(s.memory, make([]byte, saltSize), make([]byte, hashSize))
	var c *Credential
	if p != nil && !p.Service {
		c = p.find(kindPassword, "")
	}
	if c != nil {
		text = string(c.Doc)
	}
	ok, err := s.verify(ctx, who, text, password)
	return ok && c != nil, err
}

// Password signs a user in by email and password. An unknown email and a wrong
// password have the same response after the same work. Too many attempts are
// rejected before that.
func (s *Service) Password(ctx context.Context, address, password string, from From) (Result, error) {
	address = email(address)
	if len(address) > 254 {
		return Result{}, wrong()
	}
	p, err := s.Store.Person(ctx, UserQuery{Email: address})
	if err != nil {
		return Result{}, err
	}
	ok, err := s.matches(ctx, p, address, password, from)
	if err != nil {
		return Result{}, err
	}
	if !ok {
		s.recordFailure(ctx, p, from)
		return Result{}, wrong()
	}
	return s.startSession(ctx, p, MethodPassword, from, true, UserChange{})
}

// Preset sets this password for a user without one, on behalf of the operator.
// It reports whether the user can sign in with it, which is false if the user
// has another password.
func (s *Service) Preset(ctx context.Context, address, password string) (bool, error) {
	p, err := s.findSignInUser(ctx, address)
	if err != nil {
		return false, err
	}
	if p.find(kindPassword, "") != nil {
		return s.compare(ctx, operator, p, password)
	}
	if problems := checkPassword("password", password, p.Email); problems != nil {
		return false, fault.Invalid(problems)
	}
	c, err := s.password(ctx, operator, p, password)
	if err != nil {
		return false, err
	}
	err = s.save(ctx, UserChange{Cause: record.Cause{Actor: record.System}, Action: "password.preset", User: p.ID, Put: []Credential{c}})
	return err == nil, err
}

// SetPassword changes the password of the session's user and ends all other
// sessions. It requires the current password. A user without one must have
// authenticated recently.
func (s *Service) SetPassword(ctx context.Context, session *Session, current, next string) error {
	p, cause, err := s.by(ctx, session)
	if err != nil {
		return err
	}
	if p.find(kindPassword, "") == nil {
		if !session.Proved(s.Now()) {
			return ReauthRequired()
		}
	} else if ok, err := s.matches(ctx, p, p.Email, current, session.from()); err != nil {
		return err
	} else if !ok {
		return fault.Invalid(append([]fault.Detail{{Field: "current", Code: "invalid_value", Message: "current is not your password."}}, checkPassword("next", next, p.Email)...))
	}
	if problems := checkPassword("next", next, p.Email); problems != nil {
		return fault.Invalid(problems)
	}
	c, err := s.password(ctx, p.ID, p, next)
	if err != nil {
		return err
	}
	return s.save(ctx, UserChange{Cause: cause, Action: "password.change", User: p.ID, Put: []Credential{c}, End: &End{Except: session.ID}})
}
