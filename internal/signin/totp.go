package signin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/pquerna/otp/hotp"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/secret"
)

const (
	seedSize = 20
	// codePeriod is the validity of a code in seconds. The previous and the
	// next code are accepted too, because clocks differ.
	codePeriod = 30
	codeLength = 6
	// Recovery codes have 80 random bits, so a fast hash protects them.
	recoveryCodes = 10
	recoveryBytes = 10
	seedField     = "totp"
	issuerName    = "Fanfare"
)

// totpDoc is the stored state of TOTP. The seed is sealed separately.
type totpDoc struct {
	// Confirmed is true after the user has entered a valid code. Before that,
	// sign-in does not ask for a code.
	Confirmed bool `json:"confirmed"`
	// Last is the period of the last used code. Only codes of later periods are
	// accepted, so that each code works once.
	Last int64 `json:"last"`
	// Recovery are the hashes of the unused recovery codes.
	Recovery []string `json:"recovery"`
}

var base32Text = base32.StdEncoding.WithPadding(base32.NoPadding)

func (p *User) totp() (*totpDoc, error) {
	c := p.find(kindTOTP, "")
	if c == nil {
		return nil, nil
	}
	var t totpDoc
	if err := json.Unmarshal(c.Doc, &t); err != nil {
		return nil, fmt.Errorf("read second step: %w", err)
	}
	return &t, nil
}

// with returns the credential with another document.
func (c Credential) with(doc any) (Credential, error) {
	b, err := json.Marshal(doc, json.Deterministic(true))
	if err != nil {
		return c, fmt.Errorf("write credential: %w", err)
	}
	c.Doc = b
	return c, nil
}

// TOTP is a new seed for an authenticator app.
type TOTP struct {
	Secret string
	URI    string
}

// BeginTOTP creates a seed. It has no effect on sign-in before ConfirmTOTP.
func (s *Service) BeginTOTP(ctx context.Context, session *Session) (TOTP, error) {
	if s.Seal == nil {
		return TOTP{}, fault.New(fault.Unavailable, "This server has no master key to keep the seed with. Ask the operator to set --master-key.")
	}
	p, cause, err := s.by(ctx, session)
	if err != nil {
		return TOTP{}, err
	}
	old, err := p.totp()
	if err != nil {
		return TOTP{}, err
	}
	if old != nil && old.Confirmed {
		return TOTP{}, fault.New(fault.InvalidState, "There is a second step already. Remove it first.")
	}
	seed := make([]byte, seedSize)
	if _, err := io.ReadFull(s.Random, seed); err != nil {
		return TOTP{}, fmt.Errorf("make seed: no randomness: %w", err)
	}
	text := base32Text.EncodeToString(seed)
	c := Credential{User: p.ID, Kind: kindTOTP, ID: string(p.ID)}
	if before := p.find(kindTOTP, ""); before != nil {
		c = *before
	}
	if c.Sealed, err = s.Seal.Seal(p.ID, seedField, secret.New(text)); err != nil {
		return TOTP{}, fmt.Errorf("seal seed: %w", err)
	}
	if c, err = c.with(totpDoc{}); err != nil {
		return TOTP{}, err
	}
	if err := s.save(ctx, UserChange{Cause: cause, User: p.ID, Put: []Credential{c}}); err != nil {
		return TOTP{}, err
	}
	uri := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuerName + ":" + p.Email, RawQuery: url.Values{"secret": {text}, "issuer": {issuerName}}.Encode()}
	return TOTP{Secret: text, URI: uri.String()}, nil
}

// ConfirmTOTP turns TOTP on with a first code and returns the recovery codes.
// They are returned only here.
func (s *Service) ConfirmTOTP(ctx context.Context, session *Session, code string) (recovery []string, err error) {
	p, cause, err := s.by(ctx, session)
	if err != nil {
		return nil, err
	}
	t, err := p.totp()
	if err != nil {
		return nil, err
	}
	if t == nil || t.Confirmed {
		return nil, fault.New(fault.InvalidState, "There is no second step to confirm. Begin with a new one.")
	}
	if err := s.codes.countAttempt(s.Now(), p.codes(From{}.in(session))); err != nil {
		return nil, err
	}
	c := *p.find(kindTOTP, "")
	period, err := s.period(c, t, digits(code))
	if err != nil {
		return nil, err
	}
	if period == 0 {
		return nil, fault.Invalid([]fault.Detail{{Field: "code", Code: "invalid_value", Message: "code is not what the app should show now; check the clock of the device."}})
	}
	t = &totpDoc{Confirmed: true, Last: period}
	for range recoveryCodes {
		b := make([]byte, recoveryBytes)
		if _, err := io.ReadFull(s.Random, b); err != nil {
			return nil, fmt.Errorf("make recovery code: no randomness: %w", err)
		}
		text := strings.ToLower(base32Text.EncodeToString(b))
		recovery = append(recovery, text[:4]+"-"+text[4:8]+"-"+text[8:12]+"-"+text[12:])
		t.Recovery = append(t.Recovery, recoveryHash(text))
	}
	if c, err = c.with(t); err != nil {
		return nil, err
	}
	return recovery, s.save(ctx, UserChange{Cause: cause, Action: "totp.add", User: p.ID, Put: []Credential{c}})
}

// RemoveTOTP turns TOTP off.
func (s *Service) RemoveTOTP(ctx context.Context, session *Session) error {
	p, cause, err := s.by(ctx, session)
	if err != nil {
		return err
	}
	c := p.find(kindTOTP, "")
	if c == nil {
		return nil
	}
	return s.save(ctx, UserChange{Cause: cause, Action: "totp.remove", User: p.ID, Drop: []Credential{*c}})
}

// period returns the period of a code, 0 if the code is not currently valid or
// not later than the last used one.
func (s *Service) period(c Credential, t *totpDoc, code string) (int64, error) {
	if s.Seal == nil {
		return 0, errors.New("open seed: there is no master key; set --master-key")
	}
	seed, err := s.Seal.Open(c.User, seedField, c.Sealed)
	if err != nil {
		return 0, fmt.Errorf("open seed: %w", err)
	}
	found := int64(0)
	now := s.Now().Unix() / codePeriod
	for at := now - 1; at <= now+1; at++ {
		want, err := hotp.GenerateCode(seed.Reveal(), uint64(at))
		if err != nil {
			return 0, fmt.Errorf("make code: %w", err)
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 && at > t.Last {
			found = at
		}
	}
	return found, nil
}

// codes returns the limit of code attempts.
func (p *User) codes(from From) limit {
	if own, has := p.own(from); has {
		return own
	}
	return limit{name: string(p.ID), most: codesPerAccount}
}

// digits removes spaces and hyphens.
func digits(code string) string { return strings.NewReplacer(" ", "", "-", "").Replace(code) }

func recoveryHash(code string) string {
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

// code uses up a TOTP or recovery code of the user. It returns the credential
// with its new state, nil if the code is wrong.
func (s *Service) code(p *User, code string, from From) (*Credential, error) {
	if err := s.codes.countAttempt(s.Now(), p.codes(from)); err != nil {
		return nil, err
	}
	t, err := p.totp()
	if err != nil || t == nil || !t.Confirmed {
		return nil, err
	}
	c := *p.find(kindTOTP, "")
	text := strings.ToLower(digits(code))
	if len(text) == codeLength {
		if t.Last, err = s.period(c, t, text); err != nil || t.Last == 0 {
			return nil, err
		}
	} else {
		i := slices.Index(t.Recovery, recoveryHash(text))
		if i < 0 {
			return nil, nil
		}
		t.Recovery = slices.Delete(t.Recovery, i, i+1)
	}
	c, err = c.with(t)
	return &c, err
}

// stepTicket is the state of a sign-in before the second factor.
type stepTicket struct {
	User   ident.ID      `json:"user"`
	Method string        `json:"method"`
	Reset  *pendingReset `json:"reset,omitzero"`
}

// SecondStep completes a sign-in by a TOTP or recovery code. Each code works
// once; a ticket allows a few attempts.
func (s *Service) SecondStep(ctx context.Context, ticket, code string, from From) (Result, error) {
	var step stepTicket
	token, err := s.redeem(ctx, ticket, ticketStep, &step)
	if err != nil {
		return Result{}, err
	}
	p, err := s.person(ctx, UserQuery{ID: step.User})
	if err != nil {
		return Result{}, err
	}
	c, err := s.code(p, code, from)
	if err != nil {
		return Result{}, err
	}
	if c == nil {
		s.recordFailure(ctx, p, from)
		return Result{}, wrongCode()
	}
	change, err := s.afterStep(ctx, p, step.Reset)
	if err != nil {
		return Result{}, err
	}
	change.Burn, change.Put = append(change.Burn, token.Hash), append(change.Put, *c)
	r, err := s.startSession(ctx, p, step.Method, from, false, change)
	return r, once(err)
}

// afterStep returns the change that was pending until the second factor: a new
// password, whose link must still be valid.
func (s *Service) afterStep(ctx context.Context, p *User, pending *pendingReset) (UserChange, error) {
	if pending == nil {
		return UserChange{}, nil
	}
	link, err := parseHash(pending.Link)
	if err != nil {
		return UserChange{}, err
	}
	t, err := s.Store.Token(ctx, link)
	if err != nil {
		return UserChange{}, err
	}
	doc, err := s.goodLink(t)
	if err != nil {
		return UserChange{}, err
	}
	if t.Kind != LinkReset || !doc.covers(p) {
		return UserChange{}, errLinkUsed(nil)
	}
	return p.reset(link, pending.Password, false), nil
}

func wrongCode() error {
	const message = "The code is wrong or was used before. Enter the next one that the app shows, or a recovery code."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "wrong_code", Message: message})
}
