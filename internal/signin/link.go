package signin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Kinds of links.
const (
	LinkInvite = "invite"
	LinkReset  = "reset"
	LinkSignIn = "sign_in"
)

// Lifetimes of links.
const (
	InviteLife = 7 * 24 * time.Hour
	ResetLife  = time.Hour
)

// Link is a one-time link. The token is in the URL fragment, which browsers do
// not send, so that no log contains it.
type Link struct {
	URL       string        `json:"url"`
	ExpiresAt clock.Instant `json:"expires_at"`
}

// linkDoc is what a link grants.
type linkDoc struct {
	Role string `json:"role,omitzero"`
	// Operator is true if the operator of the server created the link. Only
	// such a link can set a password for a member of other workspaces;
	// otherwise admins could take over accounts by inviting them.
	Operator bool `json:"operator,omitzero"`
	// Whole is true if the reset also removes TOTP.
	Whole bool `json:"whole,omitzero"`
	// Within is the workspace whose admin may have seen the link. The link
	// works only while the user belongs to that workspace alone.
	Within ident.ID `json:"within,omitzero"`
}

func (d *linkDoc) covers(p *User) bool {
	return d.Within == "" || slices.Equal(p.Workspaces, []ident.ID{d.Within})
}

// addLink adds a new link to a change and returns its URL.
func (s *Service) addLink(c *UserChange, t Token, doc linkDoc, life time.Duration) (Link, error) {
	b, err := json.Marshal(doc, json.Deterministic(true))
	if err != nil {
		return Link{}, fmt.Errorf("write link: %w", err)
	}
	token, hash := s.newToken()
	t.Hash, t.ID, t.Doc, t.CreatedAt = hash, s.newID(linkPrefix), b, s.now()
	t.ExpiresAt = t.CreatedAt.Add(life)
	c.Keep = &t
	return Link{URL: s.Origin() + "/link#" + token, ExpiresAt: t.ExpiresAt}, nil
}

// Invite creates a link to join a workspace. It replaces an earlier invitation
// of the same email.
//
// Only the operator can invite a member, and only while the member cannot sign
// in.
func (s *Service) Invite(ctx context.Context, cause record.Cause, workspace ident.ID, address, role string) (Link, error) {
	address = email(address)
	var problems []fault.Detail
	if !validEmail(address) {
		problems = append(problems, fault.Detail{Field: "email", Code: "invalid_format", Message: "email must be an e-mail address."})
	}
	if !slices.Contains(s.Roles, role) {
		problems = append(problems, fault.Detail{Field: "role", Code: "invalid_value", Message: "role must be one of " + strings.Join(s.Roles, ", ") + ".", Meta: fault.Meta{"allowed": s.Roles}})
	}
	if problems != nil {
		return Link{}, fault.Invalid(problems)
	}
	p, err := s.Store.Person(ctx, UserQuery{Email: address})
	if err != nil {
		return Link{}, err
	}
	operator := cause.Actor.Type == record.ActorSystem
	if p != nil {
		if p.Service {
			return Link{}, fault.New(fault.InvalidState, address+" is a service user, which cannot sign in. Invite a person.")
		}
		w, err := p.ways()
		if err != nil {
			return Link{}, err
		}
		if slices.Contains(p.Workspaces, workspace) && (!operator || w.any()) {
			return Link{}, fault.New(fault.AlreadyExists, address+" is a member already. Change the role instead, or reset the password.")
		}
	}
	cause.Workspace = workspace
	c := UserChange{Cause: cause, Action: "invitation.create"}
	link, err := s.addLink(&c, Token{Kind: LinkInvite, WorkspaceID: workspace, Subject: address}, linkDoc{Role: role, Operator: operator}, InviteLife)
	if err != nil {
		return Link{}, err
	}
	c.Target = c.Keep.ID
	return link, s.save(ctx, c)
}

// Reset creates a link to set a new password. It replaces an earlier one. A
// cause with a workspace means that an admin of it may see the link, so the
// user must belong to that workspace alone. The caller must check that the
// user's role is not above the admin's.
func (s *Service) Reset(ctx context.Context, cause record.Cause, address string) (Link, error) {
	return s.createResetLink(ctx, cause, address, linkDoc{})
}

// ResetWhole is Reset for a user who has also lost the second factor: the link
// removes TOTP as well.
func (s *Service) ResetWhole(ctx context.Context, cause record.Cause, address string) (Link, error) {
	return s.createResetLink(ctx, cause, address, linkDoc{Whole: true})
}

func (s *Service) createResetLink(ctx context.Context, cause record.Cause, address string, doc linkDoc) (Link, error) {
	p, err := s.findSignInUser(ctx, address)
	if err != nil {
		return Link{}, err
	}
	doc.Within = cause.Workspace
	if !doc.covers(p) {
		return Link{}, fault.New(fault.InvalidState, p.Email+" belongs to other workspaces too, so that only the person or the operator can have the password reset: by e-mail, or with fanfare user reset.")
	}
	cause.Workspace = ""
	c := UserChange{Cause: cause, Action: "password.reset_link", User: p.ID}
	link, err := s.addLink(&c, Token{Kind: LinkReset, Subject: p.Email}, doc, ResetLife)
	if err != nil {
		return Link{}, err
	}
	return link, s.save(ctx, c)
}

// SignInLink creates a link that signs its bearer in as a user without further
// authentication.
func (s *Service) SignInLink(ctx context.Context, address string, life time.Duration) (Link, error) {
	p, err := s.findSignInUser(ctx, address)
	if err != nil {
		return Link{}, err
	}
	c := UserChange{Cause: record.Cause{Actor: record.System}, Action: "signin.link", User: p.ID}
	link, err := s.addLink(&c, Token{Kind: LinkSignIn, Subject: p.Email}, linkDoc{}, life)
	if err != nil {
		return Link{}, err
	}
	return link, s.save(ctx, c)
}

// findSignInUser returns a user who may sign in.
func (s *Service) findSignInUser(ctx context.Context, address string) (*User, error) {
	p, err := s.Store.Person(ctx, UserQuery{Email: email(address)})
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fault.New(fault.NotFound, fmt.Sprintf("There is no user %s. Check the e-mail, or invite the person.", address))
	}
	if p.Service {
		return nil, fault.New(fault.InvalidState, p.Email+" is a service user, which cannot sign in.")
	}
	return p, nil
}

// LinkInfo describes a link to its bearer.
type LinkInfo struct {
	Kind  string
	Email string
	Name  string
	// Workspace is the name of an invitation's workspace.
	Workspace string
	// Known is true if the user can already sign in. The user then accepts an
	// invitation with the password, or with Accept when signed in.
	Known bool
}

// LookLink describes a link without using it.
func (s *Service) LookLink(ctx context.Context, token string) (LinkInfo, error) {
	t, _, err := s.readLink(ctx, token)
	if err != nil {
		return LinkInfo{}, err
	}
	info := LinkInfo{Kind: t.Kind, Email: t.Subject, Workspace: t.WorkspaceName}
	p, err := s.Store.Person(ctx, UserQuery{Email: t.Subject})
	if err != nil || p == nil {
		return info, err
	}
	w, err := p.ways()
	info.Name, info.Known = p.Name, w.any()
	return info, err
}

func (s *Service) readLink(ctx context.Context, token string) (*Token, linkDoc, error) {
	t, err := s.Store.Token(ctx, hashOf(token))
	if err != nil {
		return nil, linkDoc{}, err
	}
	doc, err := s.goodLink(t)
	return t, doc, err
}

// goodLink returns what a link grants if it is still valid.
func (s *Service) goodLink(t *Token) (doc linkDoc, err error) {
	if t == nil || !slices.Contains([]string{LinkInvite, LinkReset, LinkSignIn}, t.Kind) || t.ExpiresAt <= s.now() {
		return doc, errLinkUsed(nil)
	}
	if err := json.Unmarshal(t.Doc, &doc); err != nil {
		return doc, fmt.Errorf("read link: %w", err)
	}
	return doc, nil
}

// errLinkUsed returns the fault for a link that does not work anymore.
func errLinkUsed(cause error) error {
	return fault.New(fault.NotFound, "This link was used, replaced or has expired. Ask for a new one.").Because(cause)
}

// FollowLink uses a link: it accepts an invitation, or sets a new password and
// ends all sessions and passkeys, or signs the bearer in. A link works once,
// also with concurrent requests. For a user with TOTP, the new password is set
// after the second factor.
func (s *Service) FollowLink(ctx context.Context, token, name, password string, from From) (Result, error) {
	t, doc, err := s.readLink(ctx, token)
	if err != nil {
		return Result{}, err
	}
	p, err := s.Store.Person(ctx, UserQuery{Email: t.Subject})
	if err != nil {
		return Result{}, err
	}
	var r Result
	switch t.Kind {
	case LinkInvite:
		r, err = s.followInvite(ctx, t, doc, p, name, password, from)
	case LinkReset:
		r, err = s.followReset(ctx, t, doc, p, password, from)
	default:
		if p == nil {
			return r, errLinkUsed(nil)
		}
		r, err = s.startSession(ctx, p, MethodLink, from, false, UserChange{Burn: []Hash{t.Hash}})
	}
	if errors.Is(err, ErrTokenUsed) {
		return Result{}, errLinkUsed(err)
	}
	return r, err
}

func (s *Service) followReset(ctx context.Context, t *Token, doc linkDoc, p *User, password string, from From) (Result, error) {
	if p == nil || !doc.covers(p) {
		return Result{}, errLinkUsed(nil)
	}
	if problems := checkPassword("password", password, p.Email); problems != nil {
		return Result{}, fault.Invalid(problems)
	}
	text, err := s.hash(ctx, p.ID, password)
	if err != nil {
		return Result{}, err
	}
	second, err := p.totp()
	if err != nil {
		return Result{}, err
	}
	if second != nil && second.Confirmed && !doc.Whole {
		// The bearer may have access to the mailbox only. Nothing changes
		// before the second factor, and the link allows a few attempts.
		c := UserChange{User: p.ID, Cause: p.actor(from.address()), Try: &t.Hash}
		ticket, err := s.ticket(&c, ticketStep, stepTicket{User: p.ID, Method: MethodLink, Reset: &pendingReset{Link: t.Hash.String(), Password: text}})
		if err != nil {
			return Result{}, err
		}
		return Result{Ticket: ticket}, s.save(ctx, c)
	}
	return s.startSession(ctx, p, MethodLink, from, false, p.reset(t.Hash, text, doc.Whole))
}

// pendingReset is a new password that takes effect after the second factor.
type pendingReset struct {
	Link     string `json:"link"`
	Password string `json:"password"`
}

// reset returns the change that sets a new password. It ends all sessions and
// removes all passkeys, and TOTP if whole is true.
func (p *User) reset(link Hash, password string, whole bool) UserChange {
	c := UserChange{Action: "password.reset", Burn: []Hash{link}, Put: []Credential{p.withPassword(password)}, End: &End{}}
	for _, old := range p.Credentials {
		if old.Kind == kindPasskey || old.Kind == kindTOTP && whole {
			c.Drop = append(c.Drop, old)
		}
	}
	return c
}

func (s *Service) followInvite(ctx context.Context, t *Token, doc linkDoc, p *User, name, password string, from From) (Result, error) {
	c := UserChange{Action: "invitation.accept", Target: t.ID, Burn: []Hash{t.Hash}, Join: []Join{s.join(t, doc)}}
	if p == nil {
		return s.joinNew(ctx, c, t, name, password, from)
	}
	w, err := p.ways()
	switch {
	case err != nil:
		return Result{}, err
	case w.Password:
		// The bearer of the link may not be the user, whose account may have
		// access to other workspaces.
		ok, err := s.matches(ctx, p, p.Email, password, from)
		if err != nil {
			return Result{}, err
		}
		if !ok {
			s.recordFailure(ctx, p, from)
			return Result{}, fault.Invalid([]fault.Detail{{Field: "password", Code: "invalid_value", Message: "password is not that of your account " + p.Email + "; have it reset if you do not know it."}})
		}
		return s.startSession(ctx, p, MethodPassword, from, true, c)
	case w.any():
		return Result{}, fault.New(fault.InvalidState, "You have an account already. Sign in, then open the invitation again.")
	case !doc.Operator && len(p.Workspaces) > 0:
		return Result{}, fault.New(fault.InvalidState, "You have an account that nobody has signed in with yet. Ask the operator for a link, made with fanfare user reset, and open the invitation again after that.")
	}
	if problems := checkPassword("password", password, p.Email); problems != nil {
		return Result{}, fault.Invalid(problems)
	}
	first, err := s.password(ctx, p.ID, p, password)
	if err != nil {
		return Result{}, err
	}
	c.Put = []Credential{first}
	c.Name, _ = checkName(name)
	return s.startSession(ctx, p, MethodLink, from, false, c)
}

// joinNew creates the account of a new user.
func (s *Service) joinNew(ctx context.Context, c UserChange, t *Token, name, password string, from From) (Result, error) {
	name, problems := checkName(name)
	if problems = append(problems, checkPassword("password", password, t.Subject)...); problems != nil {
		return Result{}, fault.Invalid(problems)
	}
	p := &User{ID: s.newID(ident.User), Email: t.Subject, Name: name}
	first, err := s.password(ctx, p.ID, p, password)
	if err != nil {
		return Result{}, err
	}
	c.Join[0].New = &NewUser{ID: p.ID, Name: name}
	c.Put = []Credential{first}
	return s.startSession(ctx, p, MethodLink, from, false, c)
}

func (s *Service) join(t *Token, doc linkDoc) Join {
	return Join{Workspace: t.WorkspaceID, Role: doc.Role, Email: t.Subject, Forget: s.now().Add(-leaverKeysKept)}
}

func checkName(name string) (string, []fault.Detail) {
	if name = strings.TrimSpace(name); name == "" || utf8.RuneCountInString(name) > 100 {
		return "", []fault.Detail{{Field: "name", Code: "invalid_value", Message: "name must have 1 to 100 characters."}}
	}
	return name, nil
}

// Accept adds a signed-in user to the workspace of an invitation to the user's
// email. The session stays in its workspace.
func (s *Service) Accept(ctx context.Context, session *Session, token string) (workspace ident.ID, err error) {
	t, doc, err := s.readLink(ctx, token)
	if err != nil {
		return "", err
	}
	p, cause, err := s.by(ctx, session)
	if err != nil {
		return "", err
	}
	if t.Kind != LinkInvite || t.Subject != p.Email {
		return "", fault.New(fault.InvalidState, "This invitation is for "+t.Subject+". Sign out to accept it as that person.")
	}
	err = s.save(ctx, UserChange{Cause: cause, Action: "invitation.accept", Target: t.ID, User: p.ID, Burn: []Hash{t.Hash}, Join: []Join{s.join(t, doc)}})
	if errors.Is(err, ErrTokenUsed) {
		err = errLinkUsed(err)
	}
	return t.WorkspaceID, err
}

// Invitation is a pending invitation.
type Invitation struct {
	ID        ident.ID
	Email     string
	Role      string
	CreatedAt clock.Instant
	ExpiresAt clock.Instant
}

// Invitations lists the pending invitations to a workspace.
func (s *Service) Invitations(ctx context.Context, workspace ident.ID) ([]Invitation, error) {
	tokens, err := s.Store.Invitations(ctx, workspace, "")
	if err != nil {
		return nil, err
	}
	list := []Invitation{}
	for _, t := range tokens {
		if t.ExpiresAt <= s.now() {
			continue
		}
		var doc linkDoc
		if err := json.Unmarshal(t.Doc, &doc); err != nil {
			return nil, fmt.Errorf("read invitation: %w", err)
		}
		list = append(list, Invitation{t.ID, t.Subject, doc.Role, t.CreatedAt, t.ExpiresAt})
	}
	return list, nil
}

// Withdraw deletes an invitation.
func (s *Service) Withdraw(ctx context.Context, cause record.Cause, workspace, id ident.ID) error {
	cause.Workspace = workspace
	err := s.save(ctx, UserChange{Cause: cause, Action: "invitation.withdraw", Target: id, Withdraw: id})
	if errors.Is(err, ErrTokenUsed) {
		return fault.Missing().Because(err)
	}
	return err
}
