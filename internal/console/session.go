package console

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/signin"
)

// Maximum lengths of inputs. The slices check the rules for names and
// passwords.
const (
	maxEmail    = 254
	maxName     = 200
	maxPassword = 1024
	maxCode     = 64
	maxToken    = 512
	// maxTicket is larger, because sealed tickets contain their state.
	maxTicket = 4096
)

// States of a browser's session.
const (
	stateSetUp     = "setup"
	stateSignedOut = "signed_out"
	stateSignedIn  = "signed_in"
	stateTOTP      = "totp"
)

type waysView struct {
	Password bool    `json:"password"`
	Passkey  bool    `json:"passkey"`
	OIDC     *string `json:"oidc"`
}

// sessionView is the state for every browser; presence is the state for a
// signed-in user.
type sessionView struct {
	State string   `json:"state"`
	Ways  waysView `json:"ways"`
	Mail  bool     `json:"mail"`
	Build string   `json:"build"`
}

type presence struct {
	sessionView
	SessionID   ident.ID        `json:"session_id"`
	User        userView        `json:"user"`
	Role        account.Role    `json:"role"`
	Workspace   workspaceView   `json:"workspace"`
	Workspaces  []workspaceRole `json:"workspaces"`
	ProvedUntil *clock.Instant  `json:"proved_until"`
	Authority   *string         `json:"authority"`
}

type userView struct {
	ID       ident.ID `json:"id"`
	Email    string   `json:"email"`
	Name     string   `json:"name"`
	Password bool     `json:"password"`
	TOTP     bool     `json:"totp"`
	Passkeys int      `json:"passkeys"`
}

type workspaceRole struct {
	ID   ident.ID     `json:"id"`
	Name string       `json:"name"`
	Role account.Role `json:"role"`
}

func (c *Console) getSession(ctx context.Context, v *consoleRequest) (any, error) {
	out := sessionView{State: stateSignedOut, Ways: c.ways(), Mail: c.Mail != nil, Build: c.Build}
	if err := c.identify(ctx, v); err != nil {
		return nil, err
	}
	if v.session == nil {
		needed, err := c.SignIn.NeedsSetup(ctx)
		if needed {
			out.State = stateSetUp
		}
		return out, err
	}
	ways, err := c.SignIn.SignInMethods(ctx, v.session.UserID)
	if err != nil {
		return nil, err
	}
	all, err := c.Accounts.WorkspacesOf(ctx, v.session.UserID)
	if err != nil {
		return nil, err
	}
	u := v.caller.User
	out.State = stateSignedIn
	in := presence{
		sessionView: out, SessionID: v.session.ID, Role: v.caller.Role, Workspace: showWorkspace(v.caller.Workspace),
		User: userView{u.ID, u.Email, u.Name, ways.Password, ways.TOTP, ways.Passkeys}, Workspaces: []workspaceRole{},
	}
	for _, w := range all {
		in.Workspaces = append(in.Workspaces, workspaceRole{w.ID, w.Name, w.Role})
	}
	// The path is useful only on the server's own machine.
	if c.Authority != "" && v.From.IsLoopback() {
		in.Authority = &c.Authority
	}
	if v.session.Proved(v.Now) {
		until := v.session.ProvedUntil()
		in.ProvedUntil = &until
	}
	return in, nil
}

// ways returns the sign-in methods of this server. Browsers support passkeys
// for host names only, not for IP addresses.
func (c *Console) ways() waysView {
	w := waysView{Password: true}
	if c.OIDC != "" {
		w.OIDC = &c.OIDC
	}
	if u, err := url.Parse(c.SignIn.Origin()); err == nil {
		_, err := netip.ParseAddr(u.Hostname())
		w.Passkey = err != nil
	}
	return w
}

// signedIn is the result of a sign-in.
type signedIn struct {
	State  string `json:"state"`
	Ticket string `json:"ticket,omitzero"`
}

// enter sets the cookies of a new session and ends the browser's previous
// session.
func (c *Console) enter(ctx context.Context, v *consoleRequest, r signin.Result, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	if r.Ticket != "" {
		return signedIn{State: stateTOTP, Ticket: r.Ticket}, nil
	}
	if old := token(v.Request); old != "" {
		if err := c.SignIn.SignOut(ctx, old); err != nil {
			return nil, err
		}
	}
	v.setCookie(sessionCookie, r.Token, signin.SessionLife)
	if r.Device != "" {
		v.setCookie(deviceCookie, r.Device, signin.DeviceLife)
	}
	return signedIn{State: stateSignedIn}, nil
}

func (c *Console) signIn(ctx context.Context, v *consoleRequest) (any, error) {
	var email, password string
	if err := v.Read(func(f httpapi.Fields) {
		email, password = f.Text("email", 1, maxEmail), f.Text("password", 1, maxPassword)
	}); err != nil {
		return nil, err
	}
	r, err := c.SignIn.Password(ctx, email, password, v.from())
	return c.enter(ctx, v, r, err)
}

func (c *Console) signOut(ctx context.Context, v *consoleRequest) (any, error) {
	v.setCookie(sessionCookie, "", 0)
	return nothing{}, c.SignIn.SignOut(ctx, token(v.Request))
}

func (c *Console) secondStep(ctx context.Context, v *consoleRequest) (any, error) {
	var ticket, code string
	if err := v.Read(func(f httpapi.Fields) {
		ticket, code = f.Text("ticket", 1, maxToken), f.Text("code", 1, maxCode)
	}); err != nil {
		return nil, err
	}
	r, err := c.SignIn.SecondStep(ctx, ticket, code, v.from())
	return c.enter(ctx, v, r, err)
}

// readCeremony reads the second step of a passkey ceremony.
func (v *consoleRequest) readCeremony() (ticket string, response []byte, err error) {
	err = v.Read(func(f httpapi.Fields) { ticket, response = f.Text("ticket", 1, maxTicket), f.Raw("response") })
	return ticket, response, err
}

type ceremonyView struct {
	Ticket  string `json:"ticket"`
	Options any    `json:"options"`
}

func showCeremony(c signin.Ceremony, err error) (any, error) {
	return ceremonyView{c.Ticket, c.Options}, err
}

func (c *Console) beginPasskey(_ context.Context, v *consoleRequest) (any, error) {
	if err := v.CountByAddress(); err != nil {
		return nil, err
	}
	return showCeremony(c.SignIn.BeginPasskey())
}

func (c *Console) finishPasskey(ctx context.Context, v *consoleRequest) (any, error) {
	ticket, response, err := v.readCeremony()
	if err != nil {
		return nil, err
	}
	r, err := c.SignIn.FinishPasskey(ctx, ticket, response, v.from())
	return c.enter(ctx, v, r, err)
}

func (c *Console) signInByLink(ctx context.Context, v *consoleRequest) (any, error) {
	var link string
	if err := v.Read(func(f httpapi.Fields) { link = f.Text("token", 1, maxToken) }); err != nil {
		return nil, err
	}
	r, err := c.SignIn.FollowLink(ctx, link, "", "", v.from())
	return c.enter(ctx, v, r, err)
}

func (c *Console) setUp(ctx context.Context, v *consoleRequest) (any, error) {
	var link string
	var owner signin.Owner
	first := account.NewWorkspace{Plan: string(account.Starter), Keyless: true}
	if err := v.Read(func(f httpapi.Fields) {
		link, owner.Email = f.Text("token", 1, maxToken), f.Text("email", 1, maxEmail)
		owner.Name, owner.Password = f.Text("name", 1, maxName), f.Text("password", 1, maxPassword)
		f.Object("workspace", func(f httpapi.Fields) { readWorkspace(f, &first) })
	}); err != nil {
		return nil, err
	}
	r, err := c.SignIn.Setup(ctx, link, owner, v.from(), func(ctx context.Context, email string) (ident.ID, error) {
		first.Owner = email
		made, err := c.Accounts.CreateWorkspace(ctx, record.Cause{Actor: record.System, RequestID: v.ID, Address: v.From.String()}, first)
		if f, invalid := errors.AsType[*fault.Error](err); invalid {
			for i := range f.Details {
				f.Details[i].Field = "workspace." + f.Details[i].Field
			}
		}
		return made.WorkspaceID, err
	})
	return c.enter(ctx, v, r, err)
}

func readWorkspace(f httpapi.Fields, w *account.NewWorkspace) {
	w.Name, w.Timezone, w.Currency = f.Text("name", 1, maxName), f.Text("timezone", 1, maxName), f.Text("currency", 1, maxName)
}

type linkView struct {
	Kind      string  `json:"kind"`
	Email     string  `json:"email"`
	Name      string  `json:"name"`
	Workspace *string `json:"workspace"`
	Known     bool    `json:"known"`
}

func (c *Console) lookLink(ctx context.Context, v *consoleRequest) (any, error) {
	var link string
	if err := v.Read(func(f httpapi.Fields) { link = f.Text("token", 1, maxToken) }); err != nil {
		return nil, err
	}
	info, err := c.SignIn.LookLink(ctx, link)
	if err != nil {
		return nil, err
	}
	out := linkView{Kind: info.Kind, Email: info.Email, Name: info.Name, Known: info.Known}
	if info.Workspace != "" {
		out.Workspace = &info.Workspace
	}
	return out, nil
}

// followLink uses a link. A signed-in user accepts an invitation without a
// password.
func (c *Console) followLink(ctx context.Context, v *consoleRequest) (any, error) {
	var link string
	var name, password *string
	if err := v.Read(func(f httpapi.Fields) {
		link, name, password = f.Text("token", 1, maxToken), f.TextOr("name", 0, maxName), f.TextOr("password", 0, maxPassword)
	}); err != nil {
		return nil, err
	}
	if err := c.identify(ctx, v); err != nil {
		return nil, err
	}
	if v.session != nil && password == nil {
		_, err := c.SignIn.Accept(ctx, v.session, link)
		return signedIn{State: stateSignedIn}, err
	}
	r, err := c.SignIn.FollowLink(ctx, link, orEmpty(name), orEmpty(password), v.from())
	return c.enter(ctx, v, r, err)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (c *Console) startOIDC(ctx context.Context, v *consoleRequest) (any, error) {
	at, cookie, err := c.SignIn.StartOIDC(ctx)
	if err != nil {
		return nil, err
	}
	v.setCookie(oidcCookie, cookie, oidcTime)
	return redirect(at), nil
}

// finishOIDC completes a single sign-on. Errors are shown on the sign-in page,
// by code only: a URL must not be able to put text into the page.
func (c *Console) finishOIDC(ctx context.Context, v *consoleRequest) (any, error) {
	q, held := v.Request.URL.Query(), ""
	if cookie, err := v.Request.Cookie(oidcCookie); err == nil {
		held = cookie.Value
	}
	v.setCookie(oidcCookie, "", 0)
	r, err := c.SignIn.FinishOIDC(ctx, held, q.Get("state"), q.Get("code"), v.from())
	_, err = c.enter(ctx, v, r, err)
	f, told := errors.AsType[*fault.Error](err)
	switch {
	case err == nil:
		return redirect("/"), nil
	case !told:
		return nil, err
	}
	problem := string(f.Code)
	if len(f.Details) > 0 {
		problem = f.Details[0].Code
	}
	return redirect("/sign-in?problem=" + url.QueryEscape(problem)), nil
}

func (c *Console) prove(ctx context.Context, v *consoleRequest) (any, error) {
	var password, code *string
	if err := v.Read(func(f httpapi.Fields) {
		password, code = f.TextOr("password", 1, maxPassword), f.TextOr("code", 1, maxCode)
		if (password == nil) == (code == nil) {
			f.Bad("password", "required", "or code is required, one of them.")
		}
	}); err != nil {
		return nil, err
	}
	return nothing{}, c.SignIn.Reauthenticate(ctx, v.session, signin.Proof{Password: orEmpty(password), Code: orEmpty(code)}, v.from())
}

func (c *Console) beginProve(_ context.Context, v *consoleRequest) (any, error) {
	return showCeremony(c.SignIn.BeginProve(v.session))
}

func (c *Console) finishProve(ctx context.Context, v *consoleRequest) (any, error) {
	ticket, response, err := v.readCeremony()
	if err != nil {
		return nil, err
	}
	return nothing{}, c.SignIn.FinishProve(ctx, v.session, ticket, response, v.from())
}

func (c *Console) switchWorkspace(ctx context.Context, v *consoleRequest) (any, error) {
	var id string
	if err := v.Read(func(f httpapi.Fields) { id = f.Text("workspace_id", 1, maxToken) }); err != nil {
		return nil, err
	}
	return nothing{}, c.SignIn.SwitchWorkspace(ctx, v.session, ident.ID(strings.TrimSpace(id)))
}
