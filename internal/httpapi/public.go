package httpapi

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"go.yaml.in/yaml/v3"

	"fanfare/internal/connection"
	"fanfare/internal/fault"
)

// publicPage is something anybody may read without a key.
type publicPage struct {
	mediaType string
	make      func() ([]byte, error)
}

//go:embed docs.html
var docsTemplate string

// The documents hold no script and no outside resource.
var hDocsPolicy = []string{"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"}

// pages lists what is served outside /v1. Each is made on first use.
func (a *API) pages() (map[string]*publicPage, error) {
	docs, err := template.New("docs").Parse(docsTemplate)
	if err != nil {
		return nil, fmt.Errorf("read docs template: %w", err)
	}
	const html = "text/html; charset=utf-8"
	once := func(mediaType string, f func() ([]byte, error)) *publicPage {
		return &publicPage{mediaType, sync.OnceValues(f)}
	}
	page := func(name string, data func() (any, error)) *publicPage {
		return once(html, func() ([]byte, error) {
			v, err := data()
			if err != nil {
				return nil, err
			}
			var b bytes.Buffer
			err = docs.ExecuteTemplate(&b, name, v)
			return b.Bytes(), err
		})
	}
	return map[string]*publicPage{
		"/openapi/v1.yaml": once("application/yaml", func() ([]byte, error) { return a.Contract, nil }),
		"/openapi/v1.json": once("application/json; charset=utf-8", a.contractJSON),
		"/docs":            page("index", func() (any, error) { return a.Build, nil }),
		"/docs/errors":     page("errors", a.errorCatalogue),
		"/docs/changelog":  page("changelog", a.changelog),
	}, nil
}

func (a *API) contractJSON() ([]byte, error) {
	var v any
	if err := yaml.Unmarshal(a.Contract, &v); err != nil {
		return nil, fmt.Errorf("read contract: %w", err)
	}
	return json.Marshal(v, json.Deterministic(true))
}

// errorCatalogue reads the closed list of codes from the contract, so that
// every doc_url leads somewhere.
func (a *API) errorCatalogue() (any, error) {
	var contract struct {
		Errors []struct {
			Code, Meaning, Fix, Retry string
			Status                    int
		} `yaml:"x-error-codes"`
		Details []struct {
			Code, Meaning string
			Under         []string
		} `yaml:"x-detail-codes"`
	}
	err := yaml.Unmarshal(a.Contract, &contract)
	return contract, err
}

func (a *API) changelog() (any, error) {
	var b bytes.Buffer
	err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert(a.Changelog, &b)
	return template.HTML(b.String()), err //nolint:gosec // our own file, and the renderer drops raw HTML
}

// servePublic answers outside /v1. It counts nothing.
func (a *API) servePublic(r *request, path string) {
	a.limitByAddress(r, a.addresses.Look(r.from, r.now))
	var err error
	token, linked := linkToken(path)
	platform, granting := strings.CutPrefix(path, connection.CallbackPath)
	granting = granting && slices.Contains(connection.Played, platform)
	switch {
	case path != "/healthz" && path != "/readyz" && !linked && !granting && a.public[path] == nil:
		err = noRoute()
	case r.http.Method != http.MethodGet && r.http.Method != http.MethodHead:
		r.w.Header()["Allow"] = []string{"GET, HEAD"}
		err = fault.New(fault.MethodNotAllowed, "This path can only be read.",
			fault.Detail{Code: string(fault.MethodNotAllowed), Message: "Method not allowed.", Meta: fault.Meta{"allowed": []string{"GET", "HEAD"}}})
	case path == "/healthz":
		r.send(http.StatusOK, typeJSON, []byte(`{"data":{"status":"ok"}}`))
	case path == "/readyz":
		err = a.ready(r)
	case linked:
		err = a.followLink(r, token)
	case granting:
		err = a.grantAccess(r, platform)
	default:
		err = a.sendPage(r, a.public[path])
	}
	if err != nil {
		a.fail(r, err)
	}
}

// readyTime is how long the store may take to say that it is there.
const readyTime = 2 * time.Second

func (a *API) ready(r *request) error {
	ctx, cancel := context.WithTimeout(r.http.Context(), readyTime)
	defer cancel()
	err := a.Ready(ctx)
	if err == nil && !a.draining.Load() {
		r.send(http.StatusOK, typeJSON, []byte(`{"data":{"status":"ready"}}`))
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
	r.replied = true
	r.w.WriteHeader(http.StatusOK)
	_, _ = r.w.Write(body)
	return nil
}
