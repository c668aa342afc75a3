package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"fanfare/internal/connection"
	"fanfare/internal/fault"
)

// publicPage is something anybody may read without a key.
type publicPage struct {
	mediaType string
	make      func() ([]byte, error)
}

// Docs is the documentation, which is read without a key as well.
type Docs interface {
	// Serves reports whether there is something at a path.
	Serves(path string) bool
	// Serve answers a GET or HEAD for such a path. After an error nothing has
	// been written.
	Serve(w http.ResponseWriter, r *http.Request) error
	// ServeMissing answers a GET or HEAD for any other path with a page that
	// says so and status 404. After an error nothing has been written.
	ServeMissing(w http.ResponseWriter, r *http.Request) error
}

// What is for people holds no script and no outside resource.
var hDocsPolicy = []string{"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"}

// pages lists what is served outside /v1. Each is made on first use.
func (a *API) pages() map[string]*publicPage {
	return map[string]*publicPage{
		"/openapi/v1.yaml": {"application/yaml", func() ([]byte, error) { return a.Contract, nil }},
		"/openapi/v1.json": {"application/json; charset=utf-8", sync.OnceValues(a.contractJSON)},
	}
}

func (a *API) contractJSON() ([]byte, error) {
	var v any
	if err := yaml.Unmarshal(a.Contract, &v); err != nil {
		return nil, fmt.Errorf("read contract: %w", err)
	}
	return json.Marshal(v, json.Deterministic(true))
}

// Serves reports whether the API answers a path: everything under a version,
// and what is public.
func (a *API) Serves(path string) bool {
	_, linked := linkToken(path)
	_, granting := grantPlatform(path)
	return versioned(path) || path == "/healthz" || path == "/readyz" || linked || granting || a.public[path] != nil || a.Docs.Serves(path)
}

// grantPlatform returns the platform whose callback a path is.
func grantPlatform(path string) (platform string, ok bool) {
	platform, ok = strings.CutPrefix(path, connection.CallbackPath)
	return platform, ok && slices.Contains(connection.Played, platform)
}

// ForPeople reports whether a browser asks for a page. Programs that want JSON
// or take anything do not name text/html.
func ForPeople(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// missing answers a path outside /v1 that names nothing: people get a page,
// programs an error in JSON.
func (a *API) missing(r *request) {
	if ForPeople(r.http) && a.Docs.ServeMissing(r.w, r.http) == nil {
		r.replied, r.status = true, http.StatusNotFound
		return
	}
	a.fail(r, noRoute())
}

// servePublic answers outside /v1. It counts nothing.
func (a *API) servePublic(r *request, path string) {
	a.limitByAddress(r, a.addresses.Look(r.from, r.now))
	if !a.Serves(path) {
		a.missing(r)
		return
	}
	var err error
	token, linked := linkToken(path)
	platform, granting := grantPlatform(path)
	switch {
	case granting:
		err = a.grantAccess(r, platform)
	case r.http.Method != http.MethodGet && r.http.Method != http.MethodHead:
		err = r.onlyTakes("GET", "HEAD")
	case path == "/healthz":
		r.send(http.StatusOK, typeJSON, []byte(`{"data":{"status":"ok"}}`))
	case path == "/readyz":
		err = a.ready(r)
	case linked:
		err = a.followLink(r, token)
	case a.public[path] != nil:
		err = a.sendPage(r, a.public[path])
	default:
		hr := *r.http
		hr.Host = strings.TrimPrefix(a.Origin(r.http), "https://")
		if err = a.Docs.Serve(r.w, &hr); err == nil {
			r.replied, r.status = true, http.StatusOK
		}
	}
	if err != nil {
		a.fail(r, err)
	}
}

// onlyTakes refuses a method that a path outside /v1 does not take.
func (r *request) onlyTakes(methods ...string) error {
	r.w.Header()["Allow"] = []string{strings.Join(methods, ", ")}
	return fault.New(fault.MethodNotAllowed, "This path does not take "+r.http.Method+". See the Allow header for what it takes.",
		fault.Detail{Code: string(fault.MethodNotAllowed), Message: "Method not allowed.", Meta: fault.Meta{"allowed": methods}})
}

// readyTime is how long the store may take to say that it is there.
const readyTime = 2 * time.Second

func (a *API) ready(r *request) error {
	ctx, cancel := context.WithTimeout(r.http.Context(), readyTime)
	defer cancel()
	err := a.Ready(ctx)
	if err == nil && !a.draining.Load() {
		// Without metrics a node is ready: everything else works.
		a.reply(r, response{status: http.StatusOK, data: []byte(`{"status":"ready"}`), warnings: a.nodeWarnings(true)})
		return nil
	}
	f := fault.New(fault.Unavailable, "The node is not ready to take traffic.").Because(err)
	f.RetryAfter = time.Second
	return f
}

func (a *API) sendPage(r *request, p *publicPage) error {
	body, err := p.make()
	if err != nil {
		return err
	}
	h := r.w.Header()
	h["Content-Security-Policy"] = hDocsPolicy
	h["Content-Type"] = []string{p.mediaType}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	r.head(http.StatusOK)
	_, _ = r.w.Write(body)
	return nil
}

// nodeWarnings say which data of this node is missing, nil for none. They go
// with answers that would otherwise look complete.
func (a *API) nodeWarnings(facts bool) []byte {
	var b []byte
	add := func(code string, tell func() string) {
		if tell == nil {
			return
		}
		why := tell()
		if why == "" {
			return
		}
		text, err := jsontext.AppendQuote(nil, why)
		if err != nil {
			text = []byte(`"Data is missing."`)
		}
		separator := ","
		if b == nil {
			separator = "["
		}
		b = append(append(append(append(b, separator...), `{"code":"`+code+`","message":`...), text...), '}')
	}
	if facts {
		add("facts_unavailable", a.FactsFault)
	}
	add("changes_lost", a.ChangesLost)
	if b == nil {
		return nil
	}
	return append(b, ']')
}
