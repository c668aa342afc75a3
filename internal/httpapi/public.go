package httpapi

import (
	"context"
	"errors"
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

// publicPage is a resource that needs no key.
type publicPage struct {
	mediaType string
	make      func() ([]byte, error)
}

// Docs serves the documentation, which needs no key.
type Docs interface {
	// Serves reports whether the documentation has a page at a path.
	Serves(path string) bool
	// Serve answers a GET or HEAD for such a path. If it returns an error, it
	// has written nothing.
	Serve(w http.ResponseWriter, r *http.Request) error
	// ServeMissing answers a GET or HEAD for any other path with a 404 page. If
	// it returns an error, it has written nothing.
	ServeMissing(w http.ResponseWriter, r *http.Request) error
}

// hDocsPolicy forbids scripts and outside resources.
var hDocsPolicy = []string{"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"}

// pages returns the public resources by path. Their content is created on first
// use.
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

// Serves reports whether the API handles a path: every path under a version,
// and the public paths.
func (a *API) Serves(path string) bool {
	_, linked := linkToken(path)
	_, granting := grantPlatform(path)
	return versioned(path) || path == "/healthz" || path == "/readyz" || linked || granting || a.public[path] != nil || a.Docs.Serves(path)
}

// grantPlatform returns the platform of an OAuth callback path.
func grantPlatform(path string) (platform string, ok bool) {
	platform, ok = strings.CutPrefix(path, connection.CallbackPath)
	return platform, ok && slices.Contains(connection.Played, platform)
}

// WantsHTML reports whether a browser requests a page: a GET or HEAD whose
// Accept header names text/html.
func WantsHTML(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// missing answers an unknown path outside /v1: browsers get a page, other
// clients an error in JSON.
func (a *API) missing(r *request) {
	if WantsHTML(r.http) && a.Docs.ServeMissing(r.w, r.http) == nil {
		r.replied, r.status = true, http.StatusNotFound
		return
	}
	a.fail(r, noRoute())
}

// servePublic handles paths outside /v1. These requests are not counted.
func (a *API) servePublic(r *request, path string) {
	a.limitByAddress(r, a.addresses.Peek(r.from, r.now))
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
		a.send(r, http.StatusOK, typeJSON, []byte(`{"data":{"status":"ok"}}`))
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

// onlyTakes returns the fault for a method that a public path does not allow.
func (r *request) onlyTakes(methods ...string) error {
	r.w.Header()["Allow"] = []string{strings.Join(methods, ", ")}
	return fault.New(fault.MethodNotAllowed, "This path does not take "+r.http.Method+". See the Allow header for what it takes.",
		fault.Detail{Code: string(fault.MethodNotAllowed), Message: "Method not allowed.", Meta: fault.Meta{"allowed": methods}})
}

// readyTime is the time limit of the store's readiness check.
const readyTime = 2 * time.Second

func (a *API) ready(r *request) error {
	ctx, cancel := context.WithTimeout(r.http.Context(), readyTime)
	defer cancel()
	err := a.Ready(ctx)
	if err == nil && !a.draining.Load() {
		// A node without metrics is ready, because all other operations work.
		a.reply(r, response{status: http.StatusOK, data: []byte(`{"status":"ready"}`), warnings: a.nodeWarnings(true, "")})
		return nil
	}
	message := "The node is not ready to take traffic."
	if why, ok := errors.AsType[*fault.Error](err); ok {
		message += " " + why.Message
	}
	f := fault.New(fault.Unavailable, message).Because(err)
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

// nodeWarnings returns the warnings about missing data of this node as JSON,
// nil if nothing is missing. Without them, a response would look complete.
// facts includes missing metrics. lost is the message of data_lost, empty if
// the response has no metrics or all are stored.
func (a *API) nodeWarnings(facts bool, lost string) []byte {
	var b []byte
	add := func(code string, problem func() string) {
		if problem == nil {
			return
		}
		why := problem()
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
	add("data_lost", func() string { return lost })
	if b == nil {
		return nil
	}
	return append(b, ']')
}
