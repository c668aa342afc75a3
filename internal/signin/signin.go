// Package signin authenticates users: sessions, passwords, passkeys, two-factor
// codes, single sign-on and one-time links. It identifies users by id and
// email. It contains no permissions, no HTTP and no SQL.
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
	"fanfare/internal/fairqueue"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/secret"
)

// Deps are the dependencies and settings of a Service.
type Deps struct {
	Store Store
	// Seal encrypts the TOTP seeds. It is nil without a master key; then users
	// cannot set up TOTP.
	Seal Seal
	// SealTicket and OpenTicket create and read tickets that only the browser
	// keeps between the two steps of a sign-in. A ticket opens only for its
	// kind and cannot be forged.
	SealTicket func(kind string, plain []byte) string
	OpenTicket func(kind, text string) ([]byte, bool)
	// Issuer is the OpenID Connect provider, nil without single sign-on.
	Issuer Issuer
	// Roles are the roles that an invitation can grant.
	Roles  []string
	Now    func() time.Time
	Random io.Reader
	// Cores is the maximum number of concurrent password hashes of strangers.
	Cores int
	// Origin is the https origin of the console, for passkeys and links.
	Origin func() string
	Log    *slog.Logger
}

// Seal encrypts secrets at rest. Each is bound to its user and field.
type Seal interface {
	Seal(user ident.ID, field string, plain secret.Text) (string, error)
	Open(user ident.ID, field, sealed string) (secret.Text, error)
}

// Service authenticates users. It is safe for concurrent use.
type Service struct {
	Deps
	// hashes bounds the memory and CPU time that password guesses can use.
	hashes *fairqueue.Queue
	// memory is the memory of one hash in KiB.
	memory uint32
	// guesses and codes limit attempts of passwords and codes; failures limits
	// the audit entries of a user's failed sign-ins; asks limits the requests
	// of password resets.
	guesses, codes, failures, asks throttle
	// notes are the audit entries that are written in the background.
	notes sync.WaitGroup
	// setup guards the first-run token.
	setup      sync.Mutex
	setupToken string
}

// New returns a Service.
func New(d Deps) *Service {
	return &Service{Deps: d, hashes: newHashes(d.Cores), memory: hashMemory}
}

// Wait waits for the audit entries that are written in the background.
func (s *Service) Wait() { s.notes.Wait() }

// From describes the client of a request.
type From struct {
	Address netip.Addr
	Agent   string
	// Device is the Result.Device of an earlier sign-in that the browser sent,
	// empty for none.
	Device string
	// session is set when a signed-in user authenticates again.
	session ident.ID
}

// address returns the address for the audit log.
func (f From) address() string {
	if !f.Address.IsValid() {
		return ""
	}
	return f.Address.Unmap().String()
}

// maxAgent is the maximum length of a stored user agent.
const maxAgent = 200

func (f From) agent() string {
	agent := strings.ToValidUTF8(strings.ReplaceAll(f.Agent, "\x00", ""), "")
	if len(agent) > maxAgent {
		agent = strings.ToValidUTF8(agent[:maxAgent], "")
	}
	return agent
}

// Result is the outcome of a sign-in: a session token for the cookie, or a
// ticket for the second factor.
type Result struct {
	Token  string
	Ticket string
	// Device is a value for the browser to keep and to send as From.Device. It
	// is empty for a user without a password.
	Device string
}

// Hash is the SHA-256 of a token. The store never gets the token itself.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

func parseHash(text string) (h Hash, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) {
		return h, fmt.Errorf("read hash %q: %w", text, err)
	}
	return Hash(b), nil
}

// tokenBytes makes tokens of 256 random bits, which need no slow hash.
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

// save stores a change. A conflict with a concurrent change is a fault that
// asks the user to try again.
func (s *Service) save(ctx context.Context, c UserChange) error {
	c.At = s.now()
	err := s.Store.Save(ctx, c)
	if errors.Is(err, record.ErrRace) {
		return fault.New(fault.InvalidState, "Something else happened to this account at the same moment. Try again.").Because(err)
	}
	return err
}

// person returns the user that a session or a ticket names.
func (s *Service) person(ctx context.Context, by UserQuery) (*User, error) {
	p, err := s.Store.Person(ctx, by)
	if err == nil && p == nil {
		err = fmt.Errorf("read person: %w", fault.Missing())
	}
	return p, err
}

// actor returns the cause of a change by this user.
func (p *User) actor(from string) record.Cause {
	return record.Cause{Actor: record.Actor{Type: record.ActorUser, ID: p.ID, Name: p.Name}, Address: from}
}

// wrong returns the fault of every failed sign-in. It does not reveal which
// part was wrong.
func wrong() error {
	const message = "The e-mail or the password is wrong. Check both, or have the password reset."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "wrong_credentials", Message: message})
}

// noWorkspace returns the fault for an authenticated user who is not a member of
// any workspace.
func noWorkspace() error {
	const message = "You are not a member of any workspace. Ask an admin of the workspace to invite you."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "no_workspace", Message: message})
}

// ReauthRequired returns the fault for an action that requires the user to
// authenticate again.
func ReauthRequired() error {
	const message = "This needs a fresh proof that it is you. Enter your password or use your passkey, then try again."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "proof_required", Message: message})
}

// email returns the normalized form of an address.
func email(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

func validEmail(address string) bool {
	a, err := mail.ParseAddress(address)
	return err == nil && a.Address == address && len(address) <= 254
}
