package console_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/store/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m, func() {}) }

const password = "correct horse battery staple 9"

// browser is a browser of the console.
type browser struct {
	t       testing.TB
	w       *fanfaretest.Service
	email   string
	cookies map[string]string
	// address is the client's address.
	address string
	// set are the cookies as the service set them.
	set []*http.Cookie
}

func newBrowser(t testing.TB, w *fanfaretest.Service) *browser {
	t.Helper()
	return &browser{t: t, w: w, cookies: map[string]string{}, address: "198.51.100.4:5000"}
}

// answer is a response.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

// do sends a request. Headers are "Name: value".
func (b *browser) do(method, target string, body any, headers ...string) *answer {
	b.t.Helper()
	raw := ""
	switch v := body.(type) {
	case nil:
	case string:
		raw = v
	default:
		text, err := json.Marshal(body, json.Deterministic(true))
		if err != nil {
			b.t.Fatal(err)
		}
		raw = string(text)
	}
	r := httptest.NewRequestWithContext(b.t.Context(), method, "https://fanfare.test"+target, strings.NewReader(raw))
	r.RequestURI, r.RemoteAddr = target, b.address
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("User-Agent", "Browser/1")
	r.Header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	if raw == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Del(name)
		if value = strings.TrimSpace(value); value != "" {
			r.Header.Set(name, value)
		}
	}
	rec := httptest.NewRecorder()
	b.w.App.Handler.ServeHTTP(rec, r)
	res := rec.Result()
	defer func() { _ = res.Body.Close() }()
	for _, c := range res.Cookies() {
		b.set = append(b.set, c)
		b.cookies[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return &answer{b.t, rec.Code, rec.Header(), rec.Body.Bytes()}
}

// api calls the private API.
func (b *browser) api(method, path string, body any, headers ...string) *answer {
	b.t.Helper()
	return b.do(method, "/console/api/"+path, body, headers...)
}

func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("got status %d want %d: %s", a.status, status, a.body)
	}
	return a
}

// problem returns the code of the first detail of an error, or the error code
// without details.
func (a *answer) problem() string {
	a.t.Helper()
	var v struct {
		Error fanfaretest.Error `json:"error"`
	}
	if err := json.Unmarshal(a.body, &v); err != nil {
		return ""
	}
	if len(v.Error.Details) > 0 {
		return v.Error.Details[0].Code
	}
	return v.Error.Code
}

func (a *answer) fails(status int, problem string) *answer {
	a.t.Helper()
	if got := a.problem(); a.status != status || got != problem {
		a.t.Fatalf("got %d %s want %d %s: %s", a.status, got, status, problem, a.body)
	}
	return a
}

// data decodes a response into out.
func (a *answer) data(out any) {
	a.t.Helper()
	v := struct {
		Data any `json:"data"`
	}{out}
	if err := json.Unmarshal(a.body, &v); err != nil {
		a.t.Fatalf("read answer: %v: %s", err, a.body)
	}
}

// record decodes a response that is an object.
func (a *answer) record() map[string]any {
	a.t.Helper()
	var m map[string]any
	a.data(&m)
	return m
}

// list decodes a response that is a list.
func (a *answer) list() []map[string]any {
	a.t.Helper()
	var l []map[string]any
	a.data(&l)
	return l
}

// enter signs a member in.
func (b *browser) enter(email string) *browser {
	b.t.Helper()
	b.email = email
	link, err := b.w.App.SignIn.SignInLink(context.Background(), email, time.Minute)
	if err != nil {
		b.t.Fatal(err)
	}
	_, token, _ := strings.Cut(link.URL, "#")
	b.api("POST", "session/link", map[string]any{"token": token}).want(200)
	return b
}

// member adds a member with a role and signs the member in.
func member(t testing.TB, tenant *fanfaretest.Tenant, role account.Role) *browser {
	t.Helper()
	email := string(role) + "-" + strings.ToLower(rand.Text())[:8] + "@example.com"
	if _, err := tenant.Service.App.Accounts.AddMember(context.Background(), fanfaretest.Operator, tenant.Workspace, email, string(role), false); err != nil {
		t.Fatal(err)
	}
	return newBrowser(t, tenant.Service).enter(email)
}

// owner signs the owner of a workspace in.
func owner(t testing.TB, tenant *fanfaretest.Tenant) *browser {
	t.Helper()
	return newBrowser(t, tenant.Service).enter(tenant.Owner)
}

// user returns the id of the signed-in user.
func (b *browser) user() ident.ID {
	b.t.Helper()
	u, _ := b.api("GET", "session", nil).want(200).record()["user"].(map[string]any)
	return ident.ID(u["id"].(string))
}
