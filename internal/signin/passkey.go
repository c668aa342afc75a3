package signin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// maxPasskeys is the maximum number of passkeys of a user.
const maxPasskeys = 20

// Ceremony is the first step of using or creating a passkey. Options are the
// input of the browser's PublicKeyCredential.parseRequestOptionsFromJSON or
// parseCreationOptionsFromJSON.
type Ceremony struct {
	Ticket  string
	Options jsontext.Value
}

// Passkey is a passkey as its owner sees it.
type Passkey struct {
	ID         ident.ID
	Name       string
	CreatedAt  clock.Instant
	LastUsedAt *clock.Instant
}

// passkeyDoc is the stored form of a passkey. It uses encoding/json, as the
// library's types expect.
type passkeyDoc struct {
	Name       string
	CreatedAt  clock.Instant
	LastUsedAt *clock.Instant
	Credential webauthn.Credential
}

// ceremonyTicket is the state between the two steps of a ceremony.
type ceremonyTicket struct {
	User ident.ID       `json:"user,omitzero"`
	Data jsontext.Value `json:"data"`
}

// holder implements webauthn.User.
type holder struct {
	*User
	passkeys []webauthn.Credential
}

func (h *holder) WebAuthnID() []byte                         { return []byte(h.ID) }
func (h *holder) WebAuthnName() string                       { return h.Email }
func (h *holder) WebAuthnDisplayName() string                { return h.Name }
func (h *holder) WebAuthnCredentials() []webauthn.Credential { return h.passkeys }

func (p *User) holder() (*holder, error) {
	h := &holder{User: p}
	for _, c := range p.Credentials {
		if c.Kind != kindPasskey {
			continue
		}
		doc, err := readPasskey(c)
		if err != nil {
			return nil, err
		}
		h.passkeys = append(h.passkeys, doc.Credential)
	}
	return h, nil
}

func readPasskey(c Credential) (doc passkeyDoc, err error) {
	if err := json.Unmarshal(c.Doc, &doc); err != nil {
		return doc, fmt.Errorf("read passkey: %w", err)
	}
	return doc, nil
}

func (c Credential) withPasskey(doc passkeyDoc) (Credential, error) {
	b, err := json.Marshal(doc)
	if err != nil {
		return c, fmt.Errorf("write passkey: %w", err)
	}
	c.Doc = b
	return c, nil
}

// party returns this server as a WebAuthn relying party.
func (s *Service) party() (*webauthn.WebAuthn, error) {
	origin := s.Origin()
	u, err := url.Parse(origin)
	if err != nil {
		return nil, fmt.Errorf("read console address: %w", err)
	}
	w, err := webauthn.New(&webauthn.Config{RPID: u.Hostname(), RPDisplayName: issuerName, RPOrigins: []string{origin}})
	if err != nil {
		return nil, fmt.Errorf("prepare passkeys: %w", err)
	}
	return w, nil
}

// ceremony returns the first step for the browser, with a ticket for the
// second.
func (s *Service) ceremony(kind string, user ident.ID, options any, data *webauthn.SessionData) (Ceremony, error) {
	shown, err := json.Marshal(options)
	if err != nil {
		return Ceremony{}, fmt.Errorf("write passkey options: %w", err)
	}
	kept, err := json.Marshal(data)
	if err != nil {
		return Ceremony{}, fmt.Errorf("write passkey ceremony: %w", err)
	}
	ticket, err := s.seal(kind, ceremonyTicket{user, kept})
	return Ceremony{Ticket: ticket, Options: shown}, err
}

// resume reads the state of the first step from a ticket.
func (s *Service) resume(ctx context.Context, ticket, kind string) (spent *Token, user ident.ID, data webauthn.SessionData, err error) {
	var kept ceremonyTicket
	if spent, err = s.unseal(ctx, ticket, kind, &kept); err == nil {
		err = json.Unmarshal(kept.Data, &data)
	}
	return spent, kept.User, data, err
}

// BeginPasskey starts a sign-in by passkey. The user is not known yet.
func (s *Service) BeginPasskey() (Ceremony, error) {
	w, err := s.party()
	if err != nil {
		return Ceremony{}, err
	}
	options, data, err := w.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationPreferred))
	if err != nil {
		return Ceremony{}, fmt.Errorf("begin passkey: %w", err)
	}
	return s.ceremony(ticketPasskey, "", options.Response, data)
}

// FinishPasskey signs a user in by passkey. If the device verified the user, no
// second factor is needed.
func (s *Service) FinishPasskey(ctx context.Context, ticket string, response []byte, from From) (Result, error) {
	spent, _, data, err := s.resume(ctx, ticket, ticketPasskey)
	if err != nil {
		return Result{}, err
	}
	if err := s.checkFailures(MethodPasskey, from); err != nil {
		return Result{}, err
	}
	p, c, verified, err := s.assert(ctx, data, response, "")
	if err != nil {
		return Result{}, err
	}
	if c == nil {
		s.countFailure(MethodPasskey, from)
		s.recordFailure(ctx, p, from)
		return Result{}, wrongPasskey()
	}
	r, err := s.startSession(ctx, p, MethodPasskey, from, !verified, UserChange{Spend: spent, Put: []Credential{*c}})
	return r, once(err)
}

// assert checks the response of a device. It returns the user and the passkey
// with its new state, or a nil passkey if the response is not valid. If only is
// set, the passkey must belong to that user.
func (s *Service) assert(ctx context.Context, data webauthn.SessionData, response []byte, only ident.ID) (p *User, used *Credential, verified bool, err error) {
	w, err := s.party()
	if err != nil {
		return nil, nil, false, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return nil, nil, false, nil //nolint:nilerr // it is the answer: this proves nothing
	}
	var broken error
	_, proof, err := w.ValidatePasskeyLogin(func(_, user []byte) (webauthn.User, error) {
		if only != "" && ident.ID(user) != only {
			return nil, ErrTokenUsed
		}
		var h *holder
		if p, broken = s.Store.Person(ctx, UserQuery{ID: ident.ID(user)}); broken == nil && p != nil {
			h, broken = p.holder()
		}
		if broken != nil || p == nil {
			return nil, errors.Join(broken, ErrTokenUsed)
		}
		return h, nil
	}, data, parsed)
	if broken != nil {
		return nil, nil, false, broken
	}
	// A counter that does not increase means that the device was cloned.
	if err != nil || proof.Authenticator.CloneWarning {
		return p, nil, false, nil //nolint:nilerr // it is the answer: this proves nothing
	}
	c, err := s.usedPasskey(p, proof)
	// Use the flag of this response. The stored passkey has the flag of its
	// registration.
	return p, c, parsed.Response.AuthenticatorData.Flags.UserVerified(), err
}

// usedPasskey returns the stored passkey with its state after this use.
func (s *Service) usedPasskey(p *User, proof *webauthn.Credential) (*Credential, error) {
	for _, c := range p.Credentials {
		if c.Kind != kindPasskey {
			continue
		}
		doc, err := readPasskey(c)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(doc.Credential.ID, proof.ID) {
			continue
		}
		now := s.now()
		doc.Credential, doc.LastUsedAt = *proof, &now
		c, err = c.withPasskey(doc)
		return &c, err
	}
	return nil, nil
}

func wrongPasskey() error {
	const message = "This passkey does not open anything here. Use another one, or sign in with your password."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "wrong_credentials", Message: message})
}

// BeginRegister starts the registration of a passkey for the user of a session.
func (s *Service) BeginRegister(ctx context.Context, session *Session) (Ceremony, error) {
	w, err := s.party()
	if err != nil {
		return Ceremony{}, err
	}
	p, err := s.person(ctx, UserQuery{ID: session.UserID})
	if err != nil {
		return Ceremony{}, err
	}
	h, err := p.holder()
	if err != nil {
		return Ceremony{}, err
	}
	if len(h.passkeys) >= maxPasskeys {
		return Ceremony{}, fault.New(fault.InvalidState, fmt.Sprintf("You have %d passkeys, and that is the most. Remove one first.", maxPasskeys))
	}
	options, data, err := w.BeginRegistration(h,
		webauthn.WithExclusions(webauthn.Credentials(h.passkeys).CredentialDescriptors()),
		webauthn.WithAuthenticatorSelection(protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationPreferred,
		}))
	if err != nil {
		return Ceremony{}, fmt.Errorf("begin passkey: %w", err)
	}
	return s.ceremony(ticketRegister, p.ID, options.Response, data)
}

// FinishRegister stores a new passkey.
func (s *Service) FinishRegister(ctx context.Context, session *Session, ticket, name string, response []byte) (Passkey, error) {
	if name = strings.TrimSpace(name); name == "" || utf8.RuneCountInString(name) > 100 {
		return Passkey{}, fault.Invalid([]fault.Detail{{Field: "name", Code: "invalid_value", Message: "name must have 1 to 100 characters and say which device it is."}})
	}
	spent, user, data, err := s.resume(ctx, ticket, ticketRegister)
	if err != nil {
		return Passkey{}, err
	}
	if user != session.UserID {
		return Passkey{}, late(nil)
	}
	p, cause, err := s.by(ctx, session)
	if err != nil {
		return Passkey{}, err
	}
	w, err := s.party()
	if err != nil {
		return Passkey{}, err
	}
	made, err := register(w, p, data, response)
	if err != nil {
		const message = "The device's answer does not fit what was asked. Start again."
		return Passkey{}, fault.New(fault.InvalidState, message, fault.Detail{Code: "passkey_refused", Message: message}).Because(err)
	}
	shown := Passkey{ID: s.newID(passkeyPrefix), Name: name, CreatedAt: s.now()}
	c, err := Credential{User: p.ID, Kind: kindPasskey, ID: string(shown.ID)}.withPasskey(passkeyDoc{Name: name, CreatedAt: shown.CreatedAt, Credential: *made})
	if err != nil {
		return Passkey{}, err
	}
	return shown, once(s.save(ctx, UserChange{Cause: cause, Action: "passkey.add", Target: shown.ID, User: p.ID, Spend: spent, Put: []Credential{c}}))
}

func register(w *webauthn.WebAuthn, p *User, data webauthn.SessionData, response []byte) (*webauthn.Credential, error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return nil, fmt.Errorf("read passkey: %w", err)
	}
	h, err := p.holder()
	if err != nil {
		return nil, err
	}
	made, err := w.CreateCredential(h, data, parsed)
	if err != nil {
		return nil, fmt.Errorf("check passkey: %w", err)
	}
	return made, nil
}

// Passkeys lists the passkeys of a user, oldest first.
func (s *Service) Passkeys(ctx context.Context, user ident.ID) ([]Passkey, error) {
	p, err := s.person(ctx, UserQuery{ID: user})
	if err != nil {
		return nil, err
	}
	list := []Passkey{}
	for _, c := range p.Credentials {
		if c.Kind != kindPasskey {
			continue
		}
		doc, err := readPasskey(c)
		if err != nil {
			return nil, err
		}
		list = append(list, Passkey{ident.ID(c.ID), doc.Name, doc.CreatedAt, doc.LastUsedAt})
	}
	return list, nil
}

// RemovePasskey removes a passkey unless it is the user's only way to sign in.
func (s *Service) RemovePasskey(ctx context.Context, session *Session, id ident.ID) error {
	p, cause, err := s.by(ctx, session)
	if err != nil {
		return err
	}
	c := p.find(kindPasskey, string(id))
	if c == nil || id == "" {
		return fault.Missing()
	}
	w, err := p.ways()
	if err != nil {
		return err
	}
	if w.Passkeys--; !w.any() {
		return fault.New(fault.InvalidState, "This passkey is your only way to sign in. Set a password or add another passkey first.")
	}
	return s.save(ctx, UserChange{Cause: cause, Action: "passkey.remove", Target: id, User: p.ID, Drop: []Credential{*c}})
}
