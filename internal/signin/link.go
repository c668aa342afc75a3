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

// How long links work.
const (
	InviteLife = 7 * 24 * time.Hour
	ResetLife  = time.Hour
)

// Link is a one-time link. The token is in its fragment, which browsers send
// to nobody, so that no log has it.
type Link struct {
	URL       string        `json:"url"`
	ExpiresAt clock.Instant `json:"expires_at"`
}

// linkDoc is what a link is good for.
type linkDoc struct {
	Role string `json:"role,omitzero"`
	// Operator says that whoever runs the server has made it. Only such a link
	// can give somebody a password who belongs elsewhere already: admins could
	// otherwise take over accounts by inviting them.
	Operator bool `json:"operator,omitzero"`
	// Whole says that the second step goes as well.
	Whole bool `json:"whole,omitzero"`
	// Within is the workspace whose admin may have seen it: it is for somebody
	// who belongs to that one alone, also when it is used.
	Within ident.ID `json:"within,omitzero"`
}

func (d *linkDoc) covers(p *Person) bool {
	return d.Within == "" || slices.Equal(p.Workspaces, []ident.ID{d.Within})
}

// link adds a new link to a change and returns how it is opened.
func (s *Service) link(c *Change, t Token, doc linkDoc, life time.Duration) (Link, error) {
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

// Invite makes a link with which somebody joins a workspace. A new invitation
// of the same person takes the place of the old one.
//
// A member can be invited only by the operator, and only while there is no way
// for the member to sign in.
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
	p, err := s.Store.Person(ctx, By{Email: address})
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
	c := Change{Cause: cause, Action: "invitation.create"}
	link, err := s.link(&c, Token{Kind: LinkInvite, WorkspaceID: workspace, Subject: address}, linkDoc{Role: role, Operator: operator}, InviteLife)
	if err != nil {
		return Link{}, err
	}
	c.Target = c.Keep.ID
	return link, s.save(ctx, c)
}

// Reset makes a link with which somebody sets a new password. A new one takes
// the place of the old one. A cause with a workspace is an admin of it, who may
// see the link: so it must be somebody of that workspace and of no other. To
// whom such a link would give more than the admin has is for the caller to
// know.
func (s *Service) Reset(ctx context.Context, cause record.Cause, address string) (Link, error) {
	return s.reset(ctx, cause, address, linkDoc{})
}

// ResetWhole is Reset for somebody who has lost the second step too: it goes
// with the old password.
func (s *Service) ResetWhole(ctx context.Context, cause record.Cause, address string) (Link, error) {
	return s.reset(ctx, cause, address, linkDoc{Whole: true})
}

func (s *Service) reset(ctx context.Context, cause record.Cause, address string, doc linkDoc) (Link, error) {
	p, err := s.known(ctx, address)
	if err != nil {
		return Link{}, err
	}
	doc.Within = cause.Workspace
	if !doc.covers(p) {
		return Link{}, fault.New(fault.InvalidState, p.Email+" belongs to other workspaces too, so that only the person or the operator can have the password reset: by e-mail, or with fanfare user reset.")
	}
	cause.Workspace = ""
	c := Change{Cause: cause, Action: "password.reset_link", User: p.ID}
	link, err := s.link(&c, Token{Kind: LinkReset, Subject: p.Email}, doc, ResetLife)
	if err != nil {
		return Link{}, err
	}
	return link, s.save(ctx, c)
}

// SignInLink makes a link that lets its holder in as somebody, without any
// question.
func (s *Service) SignInLink(ctx context.Context, address string, life time.Duration) (Link, error) {
	p, err := s.known(ctx, address)
	if err != nil {
		return Link{}, err
	}
	c := Change{Cause: record.Cause{Actor: record.System}, Action: "signin.link", User: p.ID}
	link, err := s.link(&c, Token{Kind: LinkSignIn, Subject: p.Email}, linkDoc{}, life)
	if err != nil {
		return Link{}, err
	}
	return link, s.save(ctx, c)
}

// known reads a person who may sign in.
func (s *Service) known(ctx context.Context, address string) (*Person, error) {
	p, err := s.Store.Person(ctx, By{Email: email(address)})
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

// LinkInfo is what a link is for, for whoever holds it.
type LinkInfo struct {
	Kind  string
	Email string
	Name  string
	// Workspace is the name of where an invitation leads.
	Workspace string
	// Known says that the person has a way to sign in and must use it: an
	// invitation is accepted with the password, or with Accept by who is in.
	Known bool
}

// LookLink tells what a link is for, without using it.
func (s *Service) LookLink(ctx context.Context, token string) (LinkInfo, error) {
	t, _, err := s.readLink(ctx, token)
	if err != nil {
		return LinkInfo{}, err
	}
	info := LinkInfo{Kind: t.Kind, Email: t.Subject, Workspace: t.WorkspaceName}
	p, err := s.Store.Person(ctx, By{Email: t.Subject})
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

// goodLink reads what a link is for, while it is good.
func (s *Service) goodLink(t *Token) (doc linkDoc, err error) {
	if t == nil || !slices.Contains([]string{LinkInvite, LinkReset, LinkSignIn}, t.Kind) || t.ExpiresAt <= s.now() {
		return doc, spent(nil)
	}
	if err := json.Unmarshal(t.Doc, &doc); err != nil {
		return doc, fmt.Errorf("read link: %w", err)
	}
	return doc, nil
}

// spent says that a link does not work any more.
func spent(cause error) error {
	return fault.New(fault.NotFound, "This link was used, replaced or has expired. Ask for a new one.").Because(cause)
}

// FollowLink uses a link: it accepts an invitation, sets a new password and
// ends all sessions and passkeys, or just lets its holder in. It works once; of
// several who try, one gets in. Where the person has a second step, a new
// password is set after that.
func (s *Service) FollowLink(ctx context.Context, token, name, password string, from From) (Result, error) {
	t, doc, err := s.readLink(ctx, token)
	if err != nil {
		return Result{}, err
	}
	p, err := s.Store.Person(ctx, By{Email: t.Subject})
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
			return r, spent(nil)
		}
		r, err = s.enter(ctx, p, MethodLink, from, false, Change{Burn: []Hash{t.Hash}})
	}
	if errors.Is(err, ErrGone) {
		return Result{}, spent(err)
	}
	return r, err
}

func (s *Service) followReset(ctx context.Context, t *Token, doc linkDoc, p *Person, password string, from From) (Result, error) {
	if p == nil || !doc.covers(p) {
		return Result{}, spent(nil)
	}
	if problems := checkPassword("password", password, p.Email); problems != nil {
		return Result{}, fault.Invalid(problems)
	}
	text, err := s.hash(ctx, password)
	if err != nil {
		return Result{}, err
	}
	second, err := p.totp()
	if err != nil {
		return Result{}, err
	}
	if second != nil && second.Confirmed && !doc.Whole {
		// Who has the link may have no more than the mailbox: nothing changes
		// before the second step, and the link can be tried a few times.
		c := Change{User: p.ID, Cause: p.actor(from.address()), Try: &t.Hash}
		ticket, err := s.ticket(&c, ticketStep, stepTicket{User: p.ID, Method: MethodLink, Reset: &pendingReset{Link: t.Hash.String(), Password: text}})
		if err != nil {
			return Result{}, err
		}
		return Result{Ticket: ticket}, s.save(ctx, c)
	}
	return s.enter(ctx, p, MethodLink, from, false, p.reset(t.Hash, text, doc.Whole))
}

// pendingReset is a new password that waits for the second step.
type pendingReset struct {
	Link     string `json:"link"`
	Password string `json:"password"`
}

// reset is the change that sets a new password. Sessions and passkeys end with
// the old one, and if whole, the second step too.
func (p *Person) reset(link Hash, password string, whole bool) Change {
	c := Change{Action: "password.reset", Burn: []Hash{link}, Put: []Credential{p.withPassword(password)}, End: &End{}}
	for _, old := range p.Credentials {
		if old.Kind == kindPasskey || old.Kind == kindTOTP && whole {
			c.Drop = append(c.Drop, old)
		}
	}
	return c
}

func (s *Service) followInvite(ctx context.Context, t *Token, doc linkDoc, p *Person, name, password string, from From) (Result, error) {
	c := Change{Action: "invitation.accept", Target: t.ID, Burn: []Hash{t.Hash}, Join: []Join{s.join(t, doc)}}
	if p == nil {
		return s.joinNew(ctx, c, t, name, password, from)
	}
	w, err := p.ways()
	switch {
	case err != nil:
		return Result{}, err
	case w.Password:
		// Who has the link is not yet the person: the account may lead to more
		// than the invitation does.
		ok, err := s.matches(ctx, p, password, from)
		if err != nil {
			return Result{}, err
		}
		if !ok {
			s.failed(ctx, p, from)
			return Result{}, fault.Invalid([]fault.Detail{{Field: "password", Code: "invalid_value", Message: "password is not that of your account " + p.Email + "; have it reset if you do not know it."}})
		}
		return s.enter(ctx, p, MethodPassword, from, true, c)
	case w.any():
		return Result{}, fault.New(fault.InvalidState, "You have an account already. Sign in, then open the invitation again.")
	case !doc.Operator && len(p.Workspaces) > 0:
		return Result{}, fault.New(fault.InvalidState, "You have an account that nobody has signed in with yet. Ask the operator for a link, made with fanfare user reset, and open the invitation again after that.")
	}
	if problems := checkPassword("password", password, p.Email); problems != nil {
		return Result{}, fault.Invalid(problems)
	}
	first, err := s.password(ctx, p, password)
	if err != nil {
		return Result{}, err
	}
	c.Put = []Credential{first}
	c.Name, _ = checkName(name)
	return s.enter(ctx, p, MethodLink, from, false, c)
}

// joinNew makes the account of somebody who is new here.
func (s *Service) joinNew(ctx context.Context, c Change, t *Token, name, password string, from From) (Result, error) {
	name, problems := checkName(name)
	if problems = append(problems, checkPassword("password", password, t.Subject)...); problems != nil {
		return Result{}, fault.Invalid(problems)
	}
	p := &Person{ID: s.newID(ident.User), Email: t.Subject, Name: name}
	first, err := s.password(ctx, p, password)
	if err != nil {
		return Result{}, err
	}
	c.Join[0].New = &NewUser{ID: p.ID, Name: name}
	c.Put = []Credential{first}
	return s.enter(ctx, p, MethodLink, from, false, c)
}

func (s *Service) join(t *Token, doc linkDoc) Join {
	return Join{Workspace: t.WorkspaceID, Role: doc.Role, Email: t.Subject, Forget: s.now().Add(-keysEnd)}
}

func checkName(name string) (string, []fault.Detail) {
	if name = strings.TrimSpace(name); name == "" || utf8.RuneCountInString(name) > 100 {
		return "", []fault.Detail{{Field: "name", Code: "invalid_value", Message: "name must have 1 to 100 characters."}}
	}
	return name, nil
}

// Accept lets somebody who is in join the workspace of an invitation to his own
// e-mail. The session stays where it is.
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
	err = s.save(ctx, Change{Cause: cause, Action: "invitation.accept", Target: t.ID, User: p.ID, Burn: []Hash{t.Hash}, Join: []Join{s.join(t, doc)}})
	if errors.Is(err, ErrGone) {
		err = spent(err)
	}
	return t.WorkspaceID, err
}

// Invitation is a link that somebody has not followed yet.
type Invitation struct {
	ID        ident.ID
	Email     string
	Role      string
	CreatedAt clock.Instant
	ExpiresAt clock.Instant
}

// Invitations lists who was invited to a workspace and has not come yet.
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

// Withdraw takes an invitation back.
func (s *Service) Withdraw(ctx context.Context, cause record.Cause, workspace, id ident.ID) error {
	cause.Workspace = workspace
	err := s.save(ctx, Change{Cause: cause, Action: "invitation.withdraw", Target: id, Withdraw: id})
	if errors.Is(err, ErrGone) {
		return fault.Missing().Because(err)
	}
	return err
}
