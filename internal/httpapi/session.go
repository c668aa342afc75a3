package httpapi

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/account"
	"fanfare/internal/body"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Session is a signed-in user in one workspace. Caller has no key.
type Session struct {
	ID     ident.ID
	Caller *account.Caller
}

// person returns the actor of a signed-in user.
func person(c *account.Caller) record.Actor {
	return record.Actor{Type: record.ActorUser, ID: c.User.ID, Name: c.User.Name}
}

// Call is a request of the console's own API. It has a request id, and its
// response has the envelope of the contract.
type Call struct {
	W       http.ResponseWriter
	Request *http.Request
	ID      ident.ID
	From    netip.Addr
	Now     time.Time

	api *API
	in  *request
}

// Answer handles a request of the console's own API with what all requests
// share: the id, the headers, a time limit and error responses.
// Choice: an overloaded node does not reject these requests. They are few,
// sign-in has its own concurrency limit, and revoking a key must always be
// possible.
func (a *API) Answer(w http.ResponseWriter, hr *http.Request, handle func(context.Context, *Call) error) {
	r := a.newRequest(w, hr, a.Now())
	r.route = &route{body: smallBody}
	a.SetNodeHeaders(w.Header(), hr)
	defer a.recoverPanic(r)
	defer a.stopWork(r)
	defer a.releaseBody(r)
	if err := target(hr, hr.URL.EscapedPath()); err != nil {
		a.fail(r, err)
		return
	}
	ctx, cancel := context.WithTimeout(hr.Context(), a.TimeLimit)
	defer cancel()
	if err := handle(ctx, &Call{W: w, Request: hr, ID: r.id, From: r.from, Now: r.now, api: a, in: r}); err != nil {
		a.fail(r, err)
	}
}

// Cause returns the cause of a change by a signed-in user.
func (c *Call) Cause(s Session) record.Cause {
	c.in.caller, c.in.session = s.Caller, s.ID
	return c.in.cause()
}

// Count charges the request to a signed-in user. It returns a fault if the
// user's limit is exceeded.
func (c *Call) Count(s Session) error {
	c.in.caller, c.in.session = s.Caller, s.ID
	c.api.keepConnection(c.in)
	return c.api.charge(c.in)
}

// CountByAddress charges a request without authentication to the client's
// address. It returns a fault from the 61st request of a minute on.
// Choice: these requests are counted apart from failed authentications, so that
// guesses at keys do not prevent users of the same address from signing in.
func (c *Call) CountByAddress() error {
	if d := c.api.anonymous.Fail(c.From, c.Now); !d.OK {
		return c.api.limited(c.in, d, "ip")
	}
	return nil
}

// NoRoute returns the fault for an unknown path.
func NoRoute() error { return noRoute() }

// MirrorPath is the prefix of the contract's paths for signed-in users.
const MirrorPath = "/console"

// Mirror runs the contract's operation at the path after MirrorPath. All checks
// but the one of the key apply, and the request is charged to the user.
// Choice: Location and Link contain paths under /v1 here as well, so that both
// APIs return the same response; the console uses ids and cursors.
func (c *Call) Mirror(s Session) {
	r, hr, u := c.in, *c.Request, *c.Request.URL
	u.Path, u.RawPath = strings.TrimPrefix(u.Path, MirrorPath), strings.TrimPrefix(u.RawPath, MirrorPath)
	hr.URL = &u
	r.http, r.route, r.caller, r.session = &hr, nil, s.Caller, s.ID
	c.api.perform(r, u.EscapedPath())
}

// ServeGrant handles the OAuth callback of a platform. session is the browser's
// session, empty for none.
func (a *API) ServeGrant(w http.ResponseWriter, hr *http.Request, session ident.ID) {
	r := a.newRequest(w, hr, a.Now())
	r.session = session
	a.serve(r)
}

// Send sends data as JSON.
func (c *Call) Send(data any) error {
	res, err := encoded(data)
	if err == nil {
		c.api.reply(c.in, res)
	}
	return err
}

// Redirect redirects the browser to another URL.
func (c *Call) Redirect(to string) {
	c.W.Header()["Location"] = []string{to}
	c.in.head(http.StatusFound)
}

// Stream sends what write writes. After an error it aborts the connection, so
// that the client notices the incomplete response.
func (c *Call) Stream(mediaType string, write func(io.Writer) error) {
	c.in.setType(mediaType)
	c.in.head(http.StatusOK)
	if err := write(c.W); err != nil {
		c.api.log(c.in).Error("response aborted", "error", err)
		panic(http.ErrAbortHandler)
	}
}

// Quotas returns the rate limit windows of a workspace, nil for no limit.
func (c *Call) Quotas(w account.Workspace) (minute, day *Window) {
	d := c.api.quotaState(c.in, w.ID, c.api.Limits[w.Plan])
	return window(d.Minute), window(d.Day)
}

// Query reads the query string. It rejects parameters that are not in known.
func (c *Call) Query(known ...string) (map[string]string, error) { return c.in.query(known...) }

// Read reads the body, a JSON object of at most 64 KiB. The fault contains all
// problems of its members.
func (c *Call) Read(read func(Fields)) error {
	if err := c.api.readBody(c.in); err != nil {
		return err
	}
	f := body.NewReader(&c.in.object, false)
	read(Fields{f, c.in.body})
	f.Done()
	return f.Err()
}

// Fields reads members of a body and collects problems. An invalid member reads
// as the zero value.
type Fields struct {
	in   *body.Reader
	body []byte
}

// Text reads a required string.
func (f Fields) Text(name string, least, most int) (s string) {
	body.Set(&s, f.in.Text(name, body.Required, least, most))
	return s
}

// TextOr reads a string that may be absent or null.
func (f Fields) TextOr(name string, least, most int) *string {
	return f.in.Text(name, body.Nullable, least, most)
}

// Choice reads a required string that must be one of allowed.
func (f Fields) Choice(name string, allowed []string) (s string) {
	body.Set(&s, f.in.Choice(name, body.Required, allowed))
	return s
}

// Whole reads a required integer.
func (f Fields) Whole(name string, least, most int64) (n int64) {
	body.Set(&n, f.in.Integer(name, body.Required, least, most))
	return n
}

// Flag reads a boolean that may be absent.
func (f Fields) Flag(name string) *bool { return f.in.Flag(name) }

// Words reads an array of strings that may be absent or null.
func (f Fields) Words(name string, most, longest int) []string {
	if v := f.in.Object.Get(name); v == nil || v.Kind == body.KindNull {
		f.in.Skip(name)
		return nil
	}
	return f.in.Texts(name, most, longest)
}

// Choices reads an object whose members are among names, with values among
// allowed. It may be absent or null.
func (f Fields) Choices(name string, names, allowed []string) map[string]string {
	n := f.in.Nested(name, body.Nullable)
	if n == nil {
		return nil
	}
	out := map[string]string{}
	for _, key := range names {
		if v := n.Choice(key, body.Optional, allowed); v != nil {
			out[key] = *v
		}
	}
	n.Done()
	return out
}

// Object reads the members of a required object.
func (f Fields) Object(name string, read func(Fields)) {
	if n := f.in.Nested(name, body.Required); n != nil {
		read(Fields{n, nil})
		n.Done()
	}
}

// Raw returns the JSON of a required object. It works only for members of the
// body itself, not of nested objects.
func (f Fields) Raw(name string) []byte {
	if f.in.Typed(name, body.Required, func(v *body.Value) bool { return v.Kind == body.KindObject }, "an object") == nil {
		return nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(f.body, &members); err != nil {
		return nil
	}
	return members[name]
}

// Has reports whether a member is present, possibly as null.
func (f Fields) Has(name string) bool { return f.in.Object.Get(name) != nil }

// Bad adds a problem of a member.
func (f Fields) Bad(name, code, message string) { f.in.Bad(f.in.At(name), code, message, nil) }
