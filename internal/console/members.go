package console

import (
	"context"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/signin"
)

type memberView struct {
	ID         ident.ID       `json:"id"`
	Email      string         `json:"email"`
	Name       string         `json:"name"`
	Role       account.Role   `json:"role"`
	Service    bool           `json:"service"`
	CanSignIn  bool           `json:"can_sign_in"`
	LastSeenAt *clock.Instant `json:"last_seen_at"`
}

type invitationView struct {
	ID        ident.ID      `json:"id"`
	Email     string        `json:"email"`
	Role      string        `json:"role"`
	CreatedAt clock.Instant `json:"created_at"`
	ExpiresAt clock.Instant `json:"expires_at"`
}

type membersView struct {
	Members     []memberView     `json:"members"`
	Invitations []invitationView `json:"invitations"`
}

// members returns the members of the user's workspace by id, including removed
// ones.
func (c *Console) members(ctx context.Context, v *consoleRequest) (map[ident.ID]account.Member, error) {
	list, err := c.Accounts.Members(ctx, v.workspace())
	members := make(map[ident.ID]account.Member, len(list))
	for _, m := range list {
		members[m.ID] = m
	}
	return members, err
}

func (c *Console) listMembers(ctx context.Context, v *consoleRequest) (any, error) {
	out := membersView{[]memberView{}, []invitationView{}}
	list, err := c.Accounts.Members(ctx, v.workspace())
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].InactiveAt != nil {
			continue
		}
		shown, err := c.showMember(ctx, &list[i])
		if err != nil {
			return nil, err
		}
		out.Members = append(out.Members, shown)
	}
	invited, err := c.SignIn.Invitations(ctx, v.workspace())
	for _, i := range invited {
		out.Invitations = append(out.Invitations, invitationView{i.ID, i.Email, i.Role, i.CreatedAt, i.ExpiresAt})
	}
	return out, err
}

func (c *Console) showMember(ctx context.Context, m *account.Member) (memberView, error) {
	out := memberView{ID: m.ID, Email: m.Email, Name: m.Name, Role: m.Role, Service: m.Service}
	if m.Service {
		return out, nil
	}
	ways, err := c.SignIn.SignInMethods(ctx, m.ID)
	if err != nil {
		return out, err
	}
	out.CanSignIn = ways.Password || ways.Passkeys > 0 || ways.SSO
	sessions, err := c.SignIn.Sessions(ctx, m.ID)
	for i := range sessions {
		if at := &sessions[i].UsedAt; out.LastSeenAt == nil || *at > *out.LastSeenAt {
			out.LastSeenAt = at
		}
	}
	return out, err
}

// member returns the active member in the path.
func (c *Console) member(ctx context.Context, v *consoleRequest) (account.Member, error) {
	members, err := c.members(ctx, v)
	if err != nil {
		return account.Member{}, err
	}
	m, there := members[ident.ID(v.id)]
	if !there || m.InactiveAt != nil {
		return m, fault.Missing()
	}
	return m, nil
}

// checkRole returns a fault if one of the roles is above the user's own.
// Otherwise an admin could become an owner through another user.
func (v *consoleRequest) checkRole(roles ...account.Role) error {
	for _, r := range roles {
		if !v.caller.Role.AtLeast(r) {
			return v.forbidden(r)
		}
	}
	return nil
}

// sent reports whether a link was sent by email. If not, it contains the link.
type sent struct {
	Mailed bool    `json:"mailed"`
	Link   *string `json:"link"`
}

func (c *Console) invite(ctx context.Context, v *consoleRequest) (any, error) {
	var email, role string
	if err := v.Read(func(f httpapi.Fields) {
		email, role = f.Text("email", 1, maxEmail), f.Choice("role", account.Roles)
	}); err != nil {
		return nil, err
	}
	if err := v.checkRole(account.Role(role)); err != nil {
		return nil, err
	}
	link, err := c.SignIn.Invite(ctx, v.cause(), v.workspace(), email, role)
	if err != nil {
		return nil, err
	}
	if c.Mail != nil {
		if err := c.Mail.Invite(ctx, email, v.caller.Workspace.Name, v.caller.User.Name, link.URL, link.ExpiresAt.Time()); err == nil {
			return sent{Mailed: true}, nil
		} else if ctx.Err() == nil {
			c.Log.Error("invitation email not sent: check the mail settings, or create an invite link", "request_id", v.ID, "error", err)
		}
	}
	return sent{Link: &link.URL}, nil
}

func (c *Console) addService(ctx context.Context, v *consoleRequest) (any, error) {
	var name, role string
	if err := v.Read(func(f httpapi.Fields) {
		name, role = f.Text("name", 1, maxKeyName), f.Choice("role", account.Roles)
	}); err != nil {
		return nil, err
	}
	if err := v.checkRole(account.Role(role)); err != nil {
		return nil, err
	}
	m, err := c.Accounts.AddService(ctx, v.cause(), v.workspace(), name, role)
	if err != nil {
		return nil, err
	}
	return c.showMember(ctx, &m)
}

func (c *Console) setRole(ctx context.Context, v *consoleRequest) (any, error) {
	var role string
	if err := v.Read(func(f httpapi.Fields) { role = f.Choice("role", account.Roles) }); err != nil {
		return nil, err
	}
	m, err := c.member(ctx, v)
	if err != nil {
		return nil, err
	}
	if err := v.checkRole(account.Role(role), m.Role); err != nil {
		return nil, err
	}
	if account.Role(role) == account.Owner && !v.session.Proved(v.Now) {
		return nil, signin.ReauthRequired()
	}
	if m, err = c.Accounts.SetRole(ctx, v.cause(), v.workspace(), m.Email, role); err != nil {
		return nil, err
	}
	return c.showMember(ctx, &m)
}

func (c *Console) removeMember(ctx context.Context, v *consoleRequest) (any, error) {
	m, err := c.member(ctx, v)
	if err != nil {
		return nil, err
	}
	if err := v.checkRole(m.Role); err != nil {
		return nil, err
	}
	_, err = c.Accounts.Remove(ctx, v.cause(), v.workspace(), m.Email)
	return nothing{}, err
}

// resetMember creates a link for a member's new password. Without email, the
// admin sees the link and could use it, so the member's role must not be above
// the admin's.
func (c *Console) resetMember(ctx context.Context, v *consoleRequest) (any, error) {
	m, err := c.member(ctx, v)
	if err != nil {
		return nil, err
	}
	if err := v.checkRole(m.Role); err != nil {
		return nil, err
	}
	cause := v.cause()
	if c.Mail != nil {
		// Only the member sees the link, so membership in other workspaces does
		// not matter.
		cause.Workspace = ""
	}
	link, err := c.SignIn.Reset(ctx, cause, m.Email)
	if err != nil {
		return nil, err
	}
	if c.Mail == nil {
		return sent{Link: &link.URL}, nil
	}
	if err := c.Mail.Reset(ctx, m.Email, link.URL, link.ExpiresAt.Time()); err != nil {
		return nil, fault.New(fault.UpstreamError, "The e-mail could not be sent. Try again, or have the operator look at the mail server.").Because(err)
	}
	return sent{Mailed: true}, nil
}

func (c *Console) withdraw(ctx context.Context, v *consoleRequest) (any, error) {
	return nothing{}, c.SignIn.Withdraw(ctx, v.cause(), v.workspace(), ident.ID(v.id))
}
