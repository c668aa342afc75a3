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

// Session is a person who is signed in, in one workspace. The caller has no
// key.
type Session struct {
	ID     ident.ID
	Caller *account.Caller
}

// person is a signed-in caller as the cause of a change.
func person(c *account.Caller) record.Actor {
	return record.Actor{Type: record.ActorUser, ID: c.User.ID, Name: c.User.Name}
}

// Call is a request to the door of signed-in people. It has a request id, and
// is answered in the envelope of the contract.
type Call struct {
	W       http.ResponseWriter
	Request *http.Request
	ID      ident.ID
	From    netip.Addr
	Now     time.Time

	api *API
	in  *request
}

// Answer gives a request of the other door the frame that all requests have:
// the id, the headers, a time limit, and an error for what goes wrong.
// Choice: nothing of it is shed on an overloaded node. These calls are few,
// sign-in has slots of its own, and revoking a key must always be possible.
func (a *API) Answer(w http.ResponseWriter, hr *http.Request, handle func(context.Context, *Call) error) {
	r := a.begin(w, hr, a.Now())
	r.route = &route{body: smallBody}
	a.Greet(w.Header(), hr)
	defer a.survive(r)
	if err := target(hr, hr.URL.EscapedPath()); err != nil {
		a.fail(r, err)
		return
	}
	ctx, cancel := context.WithTimeout(hr.Context(), handlerTime)
	defer cancel()
	if err := handle(ctx, &Call{W: w, Request: hr, ID: r.id, From: r.from, Now: r.now, api: a, in: r}); err != nil {
		a.fail(r, err)
	}
}

// Cause says that a signed-in person changes something.
func (c *Call) Cause(s Session) record.Cause {
	c.in.caller, c.in.session = s.Caller, s.ID
	return c.in.cause()
}

// Count spends a request of a signed-in person, who may have too many.
func (c *Call) Count(s Session) error {
	c.in.caller, c.in.session = s.Caller, s.ID
	return c.api.charge(c.in)
}

// NoRoute says that there is no such path.
func NoRoute() error { return noRoute() }

// MirrorPath is what stands before the paths of the contract where signed-in
// people call them.
const MirrorPath = "/console"

// Mirror answers the call as the contract's operation of the same path behind
// MirrorPath: with the same checks, but for the key, and counted with the
// requests of the person.
// Choice: Location and Link name the operation under /v1 here as well, so that
// both doors answer alike; the console goes by ids and cursors.
func (c *Call) Mirror(s Session) {
	r, hr, u := c.in, *c.Request, *c.Request.URL
	u.Path, u.RawPath = strings.TrimPrefix(u.Path, MirrorPath), strings.TrimPrefix(u.RawPath, MirrorPath)
	hr.URL = &u
	r.http, r.route, r.caller, r.session = &hr, nil, s.Caller, s.ID
	c.api.perform(r, u.EscapedPath())
}

// ServeGrant answers somebody who comes back from a platform, with the session
// that the browser holds, if any.
func (a *API) ServeGrant(w http.ResponseWriter, hr *http.Request, session ident.ID) {
	r := a.begin(w, hr, a.Now())
	r.session = session
	a.serve(r)
}

// Send answers with data.
func (c *Call) Send(data any) error {
	res, err := encoded(data)
	if err == nil {
		c.api.reply(c.in, res)
	}
	return err
}

// Redirect sends the browser elsewhere.
func (c *Call) Redirect(to string) {
	c.W.Header()["Location"] = []string{to}
	c.in.head(http.StatusFound)
}

// Stream answers with what write writes. A client that gets less than
// everything sees that the answer was broken off.
func (c *Call) Stream(mediaType string, write func(io.Writer) error) {
	c.in.setType(mediaType)
	c.in.head(http.StatusOK)
	if err := write(c.W); err != nil {
		c.api.log(c.in).Error("answer broken off", "error", err)
		panic(http.ErrAbortHandler)
	}
}

// Quotas say how a workspace stands with its limits; nil for no limit.
func (c *Call) Quotas(w account.Workspace) (minute, day *Window) {
	d := c.api.standing(c.in, w.ID, c.api.Limits[w.Plan])
	return window(d.Minute), window(d.Day)
}

// Query reads the query string of a call that knows these parameters.
func (c *Call) Query(known ...string) (map[string]string, error) { return c.in.query(known...) }

// Read reads the body, a JSON object of at most 64 KiB, and says all that is
// wrong with its members at once.
func (c *Call) Read(read func(Fields)) error {
	if err := c.api.readBody(c.in); err != nil {
		return err
	}
	f := body.NewReader(&c.in.object, false)
	read(Fields{f, c.in.body})
	f.Done()
	return f.Err()
}

// Fields reads members of a body. What is wrong is collected; the value read is
// then empty.
type Fields struct {
	in   *body.Reader
	body []byte
}

// Text reads a string that must be there.
func (f Fields) Text(name string, least, most int) (s string) {
	body.Set(&s, f.in.Text(name, body.Required, least, most))
	return s
}

// TextOr reads a string that may be absent or null.
func (f Fields) TextOr(name string, least, most int) *string {
	return f.in.Text(name, body.Nullable, least, most)
}

// Choice reads one of some words, which must be there.
func (f Fields) Choice(name string, allowed []string) (s string) {
	body.Set(&s, f.in.Choice(name, body.Required, allowed))
	return s
}

// Whole reads a whole number that must be there.
func (f Fields) Whole(name string, least, most int64) (n int64) {
	body.Set(&n, f.in.Integer(name, body.Required, least, most))
	return n
}

// Flag reads true or false, which may be absent.
func (f Fields) Flag(name string) *bool { return f.in.Flag(name) }

// Words reads an array of strings that may be absent or null.
func (f Fields) Words(name string, most, longest int) []string {
	if v := f.in.Object.Get(name); v == nil || v.Kind == body.KindNull {
		f.in.Skip(name)
		return nil
	}
	return f.in.Words(name, most, longest)
}

// Choices reads an object that maps names to one of some words, and may be
// absent or null.
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

// Object reads the members of an object that must be there.
func (f Fields) Object(name string, read func(Fields)) {
	if n := f.in.Nested(name, body.Required); n != nil {
		read(Fields{n, nil})
		n.Done()
	}
}

// Raw reads an object that must be there as it was sent; only from the body
// itself.
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

// Has reports whether a member is there, if only as null.
func (f Fields) Has(name string) bool { return f.in.Object.Get(name) != nil }

// Bad says what is wrong with a member.
func (f Fields) Bad(name, code, message string) { f.in.Bad(f.in.At(name), code, message, nil) }
