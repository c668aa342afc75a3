// Package signin lets people in: sessions, passwords, passkeys, codes of a
// second step, single sign-on and one-time links. It knows people by id and
// e-mail, nothing of what they may do once they are in, and neither HTTP nor
// SQL.
package signin

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/mail"
	"net/netip"
	"strings"
	"sync"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/secret"
)

// Deps are what the service is made from.
type Deps struct {
	Store Store
	// Seal keeps the seeds of second steps; nil where there is no master key,
	// and then nobody can set up a second step by code.
	Seal Seal
	// SealTicket and OpenTicket make and read what only a browser keeps between
	// the two halves of a sign-in. A text opens only for the kind it was made
	// for, and nobody else can make one.
	SealTicket func(kind string, plain []byte) string
	OpenTicket func(kind, text string) ([]byte, bool)
	// Issuer is who vouches for people from elsewhere; nil without single
	// sign-on.
	Issuer Issuer
	// Roles are what an invitation can give.
	Roles  []string
	Now    func() time.Time
	Random io.Reader
	// Cores is how many passwords are hashed at once.
	Cores int
	// Origin is the https origin of the console, for passkeys and links.
	Origin func() string
	Log    *slog.Logger
}

// Seal keeps secrets unreadable at rest, each bound to its person and field.
type Seal interface {
	Seal(user ident.ID, field string, plain secret.Text) (string, error)
	Open(user ident.ID, field, sealed string) (secret.Text, error)
}

// Service lets people in. It is safe for concurrent use.
type Service struct {
	Deps
	// hashing holds a slot per core: hashing costs memory and time, and who
	// guesses must not take both from everybody else.
	hashing chan struct{}
	// memory is what a hash takes, in KiB.
	memory uint32
	// guesses and codes bound what can be tried, failures how many failed
	// sign-ins of a person are written down, asks how often a new password can
	// be asked for.
	guesses, codes, failures, asks throttle
	// notes are audit entries being written behind an answer.
	notes sync.WaitGroup
	// setup guards the first-run token.
	setup      sync.Mutex
	setupToken string
}

// New makes the service.
func New(d Deps) *Service {
	return &Service{Deps: d, hashing: make(chan struct{}, max(1, d.Cores)), memory: hashMemory}
}

// Wait returns when everything is written that answers did not wait for.
func (s *Service) Wait() { s.notes.Wait() }

// From says where a request comes from.
type From struct {
	Address netip.Addr
	Agent   string
	// Device is what an earlier Result gave the browser to keep, if it sent
	// that.
	Device string
	// session is set where a signed-in person proves who he is again.
	session ident.ID
}

// address is how the audit log shows it.
func (f From) address() string {
	if !f.Address.IsValid() {
		return ""
	}
	return f.Address.Unmap().String()
}

// maxAgent bounds what a browser may say of itself.
const maxAgent = 200

func (f From) agent() string {
	agent := strings.ToValidUTF8(strings.ReplaceAll(f.Agent, "\x00", ""), "")
	if len(agent) > maxAgent {
		agent = strings.ToValidUTF8(agent[:maxAgent], "")
	}
	return agent
}

// Result is how far somebody got: in, with the token for the cookie, or to the
// second step, with a ticket for it.
type Result struct {
	Token  string
	Ticket string
	// Device is for the browser to keep and to send as From.Device; empty for
	// who has no password.
	Device string
}

// Hash is the SHA-256 of a token, all that the store ever sees of one.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

func parseHash(text string) (h Hash, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) {
		return h, fmt.Errorf("read hash %q: %w", text, err)
	}
	return Hash(b), nil
}

// tokenBytes gives 256 bits, too many to guess; a slow hash would add nothing.
const tokenBytes = 32

func (s *Service) newToken() (string, Hash) {
	b := make([]byte, tokenBytes)
	if _, err := io.ReadFull(s.Random, b); err != nil {
		panic("signin: no randomness: " + err.Error())
	}
	token := base64.RawURLEncoding.EncodeToString(b)
	return token, hashOf(token)
}

func hashOf(token string) Hash { return sha256.Sum256([]byte(token)) }

func (s *Service) now() clock.Instant { return clock.At(s.Now()) }

// Prefixes of identifiers that only this package creates.
const (
	sessionPrefix = "ses"
	passkeyPrefix = "pky"
	linkPrefix    = "lnk"
)

func (s *Service) newID(prefix string) ident.ID { return ident.New(prefix, s.Now(), s.Random) }

// save writes a change. Who loses a race is told to try again.
func (s *Service) save(ctx context.Context, c Change) error {
	c.At = s.now()
	err := s.Store.Save(ctx, c)
	if errors.Is(err, record.ErrRace) {
		return fault.New(fault.InvalidState, "Something else happened to this account at the same moment. Try again.").Because(err)
	}
	return err
}

// person reads somebody whom a session or a ticket names.
func (s *Service) person(ctx context.Context, by By) (*Person, error) {
	p, err := s.Store.Person(ctx, by)
	if err == nil && p == nil {
		err = fmt.Errorf("read person: %w", fault.Missing())
	}
	return p, err
}

// actor is how the audit log names a person.
func (p *Person) actor(from string) record.Cause {
	return record.Cause{Actor: record.Actor{Type: record.ActorUser, ID: p.ID, Name: p.Name}, Address: from}
}

// wrong is the one answer to every sign-in that does not work, whatever was
// wrong with it.
func wrong() error {
	const message = "The e-mail or the password is wrong. Check both, or have the password reset."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "wrong_credentials", Message: message})
}

// nowhere says that somebody is who he says and has no place to go.
func nowhere() error {
	const message = "You are not a member of any workspace. Ask an admin of the workspace to invite you."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "no_workspace", Message: message})
}

// ProofRequired says that somebody has to prove again who he is.
func ProofRequired() error {
	const message = "This needs a fresh proof that it is you. Enter your password or use your passkey, then try again."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "proof_required", Message: message})
}

// email brings an address into the form that it is stored in.
func email(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

func validEmail(address string) bool {
	a, err := mail.ParseAddress(address)
	return err == nil && a.Address == address && len(address) <= 254
}
