package console

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fault"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/signin"
)

// Cookies. The prefix has browsers refuse them from anywhere but this host over
// TLS.
const (
	sessionCookie = "__Host-fanfare"
	oidcCookie    = "__Host-fanfare-oidc"
	deviceCookie  = "__Host-fanfare-device"
	// oidcTime is how long somebody may take at the issuer.
	oidcTime = 10 * time.Minute
)

// visit is a call and who makes it.
type visit struct {
	*httpapi.Call
	session *signin.Session
	caller  *account.Caller
	// id is the parameter of the path.
	id string
}

// token is what the browser shows of its session.
func token(r *http.Request) string {
	if c, err := r.Cookie(sessionCookie); err == nil {
		return c.Value
	}
	return ""
}

// from says where a request comes from. The listener has put the right address
// there.
func from(r *http.Request) signin.From {
	f := signin.From{Agent: r.UserAgent()}
	if c, err := r.Cookie(deviceCookie); err == nil {
		f.Device = c.Value
	}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		f.Address = at.Addr().Unmap()
	}
	return f
}

func (v *visit) from() signin.From { return from(v.Request) }

// setCookie gives the browser something to hold; an empty value takes it away.
func (v *visit) setCookie(name, value string, life time.Duration) {
	seconds := int(life / time.Second)
	if value == "" {
		seconds = -1
	}
	http.SetCookie(v.W, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

// workspace is where the visitor is.
func (v *visit) workspace() ident.ID { return v.caller.Workspace.ID }

// cause says that the visitor changes something.
func (v *visit) cause() record.Cause {
	return v.Cause(httpapi.Session{ID: v.session.ID, Caller: v.caller})
}

// serve checks in this order: origin, path, method, session, limit, workspace,
// role, fresh proof, and only then the operation.
func (c *Console) serve(ctx context.Context, call *httpapi.Call, at string) error {
	call.W.Header()["Cross-Origin-Resource-Policy"] = []string{"same-origin"}
	if err := c.sameOrigin(call.Request); err != nil {
		const message = "This was sent from another site. Use the console at its own address."
		return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "cross_origin", Message: message}).Because(err)
	}
	v := &visit{Call: call}
	if at == "/console/v1" || strings.HasPrefix(at, "/console/v1/") {
		if err := c.admit(ctx, v, &route{least: account.Viewer, mirror: true}); err != nil {
			return err
		}
		call.Mirror(httpapi.Session{ID: v.session.ID, Caller: v.caller})
		return nil
	}
	r, err := c.route(v, at)
	if err != nil {
		return err
	}
	if !r.open {
		if err := c.admit(ctx, v, r); err != nil {
			return err
		}
	}
	return v.answer(r.handle(ctx, v))
}

// sameOrigin refuses what another site has a browser send. Browsers that say
// no more than the origin must name ours with its scheme: a page without TLS
// is not ours, whoever put it there.
func (c *Console) sameOrigin(r *http.Request) error {
	if err := c.origin.Check(r); err != nil {
		return err
	}
	origin := r.Header.Get("Origin")
	if origin == "" || r.Header.Get("Sec-Fetch-Site") != "" || strings.HasPrefix(origin, "https://") || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	return fmt.Errorf("origin %q is not https", origin)
}

// route finds what a path and a method mean. The second segment of a path may
// be a parameter.
func (c *Console) route(v *visit, at string) (*route, error) {
	at, ours := strings.CutPrefix(at, "/console/api/")
	methods := c.routes[at]
	if methods == nil {
		parts := strings.Split(at, "/")
		if len(parts) > 1 {
			v.id, parts[1] = parts[1], "{id}"
		}
		methods = c.routes[strings.Join(parts, "/")]
	}
	if !ours || methods == nil {
		return nil, httpapi.NoRoute()
	}
	method := v.Request.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if r := methods[method]; r != nil {
		return r, nil
	}
	var allowed []string
	for m := range methods {
		allowed = append(allowed, m)
	}
	slices.Sort(allowed)
	v.W.Header()["Allow"] = []string{strings.Join(allowed, ", ")}
	return nil, fault.New(fault.MethodNotAllowed, "This path does not take "+v.Request.Method+". See the Allow header for what it takes.",
		fault.Detail{Code: string(fault.MethodNotAllowed), Message: "Method not allowed.", Meta: fault.Meta{"allowed": allowed}})
}

// admit finds out who visits, and whether a route is for them.
func (c *Console) admit(ctx context.Context, v *visit, r *route) error {
	if err := c.identify(ctx, v); err != nil {
		return err
	}
	if v.session == nil {
		// Choice: of the closed list of codes this one says that nothing was
		// shown that proves who calls.
		const message = "You are not signed in, or not any more. Sign in."
		return fault.New(fault.MissingAPIKey, message, fault.Detail{Code: "signed_out", Message: message})
	}
	if !r.mirror {
		if err := v.Count(httpapi.Session{ID: v.session.ID, Caller: v.caller}); err != nil && !r.always {
			return err
		}
	}
	if believed := v.Request.Header.Get("Fanfare-Workspace"); believed != "" && believed != string(v.workspace()) && !r.anywhere {
		const message = "You have gone to another workspace in another tab. Reload this one."
		return fault.New(fault.InvalidState, message, fault.Detail{
			Field: "Fanfare-Workspace", In: "header", Code: "workspace_switched", Message: message, Meta: fault.Meta{"workspace_id": v.workspace()},
		})
	}
	if !v.caller.Role.Reaches(r.least) {
		return v.forbidden(r.least)
	}
	if r.proof && !v.session.Proved(v.Now) {
		return signin.ProofRequired()
	}
	return nil
}

// identify finds out who visits; nobody is no error.
func (c *Console) identify(ctx context.Context, v *visit) (err error) {
	if v.session, err = c.SignIn.Open(ctx, token(v.Request), v.from()); err != nil || v.session == nil {
		return err
	}
	v.caller, err = c.Accounts.CallerFor(ctx, v.session.WorkspaceID, v.session.UserID)
	return err
}

// forbidden says that the visitor's role is too small.
func (v *visit) forbidden(least account.Role) error {
	message := "Your role in this workspace does not allow this; it needs " + string(least) + " or higher."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{
		Code: string(fault.InsufficientPermissions), Message: message, Meta: fault.Meta{"required_role": least, "role": v.caller.Role},
	})
}

// nothing is the answer where there is nothing to tell.
type nothing struct{}

// redirect is an answer that leads elsewhere.
type redirect string

// stream is an answer that is written bit by bit.
type stream struct {
	mediaType string
	write     func(io.Writer) error
}

func (v *visit) answer(data any, err error) error {
	if err != nil {
		return err
	}
	switch data := data.(type) {
	case redirect:
		v.Redirect(string(data))
	case stream:
		v.Stream(data.mediaType, data.write)
	default:
		return v.Send(data)
	}
	return nil
}
