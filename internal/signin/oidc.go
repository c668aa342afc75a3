package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// Issuer is an OpenID Connect provider.
type Issuer interface {
	// Start returns the authorization URL for the browser.
	Start(ctx context.Context, redirect string, f Flow) (string, error)
	// Finish exchanges the code and returns the identity. It has verified the
	// ID token and the nonce.
	Finish(ctx context.Context, redirect, code string, f Flow) (Identity, error)
}

// Flow binds the two steps of a single sign-on to each other and to the
// browser.
type Flow struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// Identity is a user at the issuer.
type Identity struct {
	Issuer   string
	Subject  string
	Email    string
	Verified bool
	Name     string
}

// key returns the credential id of an identity. An issuer is a URL, which has
// no spaces.
func (i Identity) key() string { return i.Issuer + " " + i.Subject }

// CallbackPath is the redirect URI path for the issuer.
const CallbackPath = "/console/api/oidc/callback"

func noIssuer() error {
	return fault.New(fault.NotFound, "This server has no single sign-on. The operator sets it up with --oidc-issuer.")
}

// StartOIDC starts a single sign-on. The browser goes to the address and keeps
// the cookie for FinishOIDC.
func (s *Service) StartOIDC(ctx context.Context) (address, cookie string, err error) {
	if s.Issuer == nil {
		return "", "", noIssuer()
	}
	var f Flow
	f.State, _ = s.newToken()
	f.Nonce, _ = s.newToken()
	f.Verifier, _ = s.newToken()
	if address, err = s.Issuer.Start(ctx, s.Origin()+CallbackPath, f); err != nil {
		return "", "", err
	}
	cookie, err = s.seal(ticketOIDC, f)
	return address, cookie, err
}

// FinishOIDC signs in a user of the issuer. On the first sign-in, the verified
// email must be that of a member or of an invitation. All invitations to this
// email are accepted.
func (s *Service) FinishOIDC(ctx context.Context, cookie, state, code string, from From) (Result, error) {
	if s.Issuer == nil {
		return Result{}, noIssuer()
	}
	var f Flow
	spent, err := s.unseal(ctx, cookie, ticketOIDC, &f)
	if err != nil {
		return Result{}, err
	}
	if subtle.ConstantTimeCompare([]byte(state), []byte(f.State)) != 1 {
		return Result{}, late(errors.New("the state is another one"))
	}
	if err := s.checkFailures(MethodOIDC, from); err != nil {
		return Result{}, err
	}
	// The issuer accepts a code once. The ticket is marked as used only
	// together with the sign-in; otherwise anyone could fill the store with
	// used tickets.
	id, err := s.Issuer.Finish(ctx, s.Origin()+CallbackPath, code, f)
	if err != nil {
		s.countFailure(MethodOIDC, from)
		return Result{}, err
	}
	p, err := s.Store.Person(ctx, UserQuery{Identity: id.key()})
	if err != nil {
		return Result{}, err
	}
	var r Result
	if p != nil {
		r, err = s.startSession(ctx, p, MethodOIDC, from, false, UserChange{Spend: spent})
	} else {
		r, err = s.firstSSOSignIn(ctx, id, from, spent)
	}
	return r, once(err)
}

// firstSSOSignIn signs in a user on the first single sign-on. It removes all other
// sign-in methods; the user can set up new ones.
func (s *Service) firstSSOSignIn(ctx context.Context, id Identity, from From, spent *Token) (Result, error) {
	address := email(id.Email)
	if !id.Verified || !validEmail(address) {
		return Result{}, notInvited("Your account at the single sign-on has no verified e-mail. Have it verified there, then sign in again.")
	}
	p, err := s.Store.Person(ctx, UserQuery{Email: address})
	if err != nil {
		return Result{}, err
	}
	c := UserChange{Action: "identity.add", Spend: spent, End: &End{}}
	if c.Join, c.Burn, err = s.invited(ctx, address); err != nil {
		return Result{}, err
	}
	if p != nil && p.Service || (p == nil || len(p.Workspaces) == 0) && len(c.Join) == 0 {
		return Result{}, notInvited("Nobody has invited " + address + " yet. Ask an admin of the workspace for an invitation, then sign in again.")
	}
	if p == nil {
		name, _ := checkName(id.Name)
		if name == "" {
			name = address
		}
		p = &User{ID: s.newID(ident.User), Email: address, Name: name}
		c.Join[0].New = &NewUser{ID: p.ID, Name: name}
	}
	// Choice: other sign-in methods are removed, because their owner is
	// unknown. An admin may see the link of an invitation and could have opened
	// the account, to wait until the user accepts invitations to other
	// workspaces.
	c.Drop = p.Credentials
	c.Put = []Credential{{User: p.ID, Kind: kindIdentity, ID: id.key(), Doc: []byte("{}")}}
	return s.startSession(ctx, p, MethodOIDC, from, false, c)
}

// invited returns the valid invitations to an email.
func (s *Service) invited(ctx context.Context, address string) (joins []Join, burn []Hash, err error) {
	tokens, err := s.Store.Invitations(ctx, "", address)
	if err != nil {
		return nil, nil, err
	}
	for i := range tokens {
		if tokens[i].ExpiresAt <= s.now() {
			continue
		}
		var doc linkDoc
		if err := json.Unmarshal(tokens[i].Doc, &doc); err != nil {
			return nil, nil, fmt.Errorf("read invitation: %w", err)
		}
		joins, burn = append(joins, s.join(&tokens[i], doc)), append(burn, tokens[i].Hash)
	}
	return joins, burn, nil
}

func notInvited(message string) error {
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "not_invited", Message: message})
}
