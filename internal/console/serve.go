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

// Cookies. Because of the __Host- prefix, browsers accept them only from this
// host over TLS.
const (
	sessionCookie = "__Host-fanfare"
	oidcCookie    = "__Host-fanfare-oidc"
	deviceCookie  = "__Host-fanfare-device"
	// oidcTime is how long a user may take at the issuer.
	oidcTime = 10 * time.Minute
)

// consoleRequest is a request with its session and caller, which are nil for a
// signed-out user.
type consoleRequest struct {
	*httpapi.Call
	session *signin.Session
	caller  *account.Caller
	// id is the parameter in the path.
	id string
}

// token returns the session token in the cookie, empty for none.
func token(r *http.Request) string {
	if c, err := r.Cookie(sessionCookie); err == nil {
		return c.Value
	}
	return ""
}

// from returns the client of a request. The listener has already replaced the
// address of a proxy.
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

func (v *consoleRequest) from() signin.From { return from(v.Request) }

// setCookie sets a cookie, or deletes it if the value is empty.
func (v *consoleRequest) setCookie(name, value string, life time.Duration) {
	seconds := int(life / time.Second)
	if value == "" {
		seconds = -1
	}
	http.SetCookie(v.W, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

// workspace returns the id of the session's workspace.
func (v *consoleRequest) workspace() ident.ID { return v.caller.Workspace.ID }

// cause returns the cause of the user's changes.
func (v *consoleRequest) cause() record.Cause {
	return v.Cause(httpapi.Session{ID: v.session.ID, Caller: v.caller})
}

// serve checks a request in this order: origin, path, method, session, request
// limit, workspace, role, recent authentication. Then it runs the operation.
func (c *Console) serve(ctx context.Context, call *httpapi.Call, at string) error {
	call.W.Header()["Cross-Origin-Resource-Policy"] = []string{"same-origin"}
	if err := c.sameOrigin(call.Request); err != nil {
		const message = "This was sent from another site. Use the console at its own address."
		return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "cross_origin", Message: message}).Because(err)
	}
	v := &consoleRequest{Call: call}
	if at == "/console/v1" || strings.HasPrefix(at, "/console/v1/") {
		if err := c.checkAccess(ctx, v, &route{least: account.Viewer, mirror: true}); err != nil {
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
		if err := c.checkAccess(ctx, v, r); err != nil {
			return err
		}
	}
	return v.answer(r.handle(ctx, v))
}

// sameOrigin returns an error for a cross-origin request. If the browser sends
// Origin without Sec-Fetch-Site, the origin must be https, because a page
// without TLS could come from an attacker.
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

// route returns the route of a path and method. The second segment of a path
// may be a parameter.
func (c *Console) route(v *consoleRequest, at string) (*route, error) {
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

// checkAccess identifies the user and checks whether the user may call a route.
func (c *Console) checkAccess(ctx context.Context, v *consoleRequest, r *route) error {
	if err := c.identify(ctx, v); err != nil {
		return err
	}
	if v.session == nil {
		// Choice: missing_api_key is the code in the closed list for a request
		// without credentials.
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
	if !v.caller.Role.AtLeast(r.least) {
		return v.forbidden(r.least)
	}
	if r.proof && !v.session.Proved(v.Now) {
		return signin.ReauthRequired()
	}
	return nil
}

// identify sets the session and the caller. A request without a session is not
// an error.
func (c *Console) identify(ctx context.Context, v *consoleRequest) (err error) {
	if v.session, err = c.SignIn.Open(ctx, token(v.Request), v.from()); err != nil || v.session == nil {
		return err
	}
	v.caller, err = c.Accounts.CallerFor(ctx, v.session.WorkspaceID, v.session.UserID)
	return err
}

// forbidden returns the fault for a role below least.
func (v *consoleRequest) forbidden(least account.Role) error {
	message := "Your role in this workspace does not allow this; it needs " + string(least) + " or higher."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{
		Code: string(fault.InsufficientPermissions), Message: message, Meta: fault.Meta{"required_role": least, "role": v.caller.Role},
	})
}

// nothing is an empty response.
type nothing struct{}

// redirect is a response that redirects the browser.
type redirect string

// stream is a response that is written in parts.
type stream struct {
	mediaType string
	write     func(io.Writer) error
}

func (v *consoleRequest) answer(data any, err error) error {
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
