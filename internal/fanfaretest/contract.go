package fanfaretest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"fanfare/api"
)

// Contract is the parsed OpenAPI document that exchanges are checked against.
type Contract struct {
	Doc *openapi3.T
	// Codes maps each error code to its status, Details each detail code to the
	// error codes that may have it.
	Codes   map[string]int
	Details map[string][]string

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// TheContract returns the contract. It is parsed once.
var TheContract = sync.OnceValue(func() *Contract {
	c, err := loadContract(api.YAML)
	if err != nil {
		panic(err)
	}
	return c
})

// schemaBase is an invented URL under which schemas refer to each other.
const schemaBase = "https://fanfare.test/openapi.json"

func loadContract(text []byte) (*Contract, error) {
	// Clients must accept values that the contract does not list yet; the
	// server must not return any.
	text = bytes.ReplaceAll(text, []byte("x-extensible-enum:"), []byte("enum:"))
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("load contract: %w", err)
	}
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("read contract: %w", err)
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("encode contract: %w", err)
	}
	resource, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read contract: %w", err)
	}
	c := &Contract{Doc: doc, Codes: map[string]int{}, Details: map[string][]string{}, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(schemaBase, resource); err != nil {
		return nil, fmt.Errorf("prepare schemas: %w", err)
	}
	var lists struct {
		Codes []struct {
			Code   string
			Status int
		} `yaml:"x-error-codes"`
		Details []struct {
			Code  string
			Under []string
		} `yaml:"x-detail-codes"`
	}
	if err := yaml.Unmarshal(text, &lists); err != nil {
		return nil, fmt.Errorf("read codes: %w", err)
	}
	for _, e := range lists.Codes {
		c.Codes[e.Code] = e.Status
	}
	for _, d := range lists.Details {
		c.Details[d.Code] = d.Under
	}
	return c, nil
}

// schema returns the compiled schema at a JSON pointer such as
// #/components/schemas/Error. It compiles each schema once, which reduces the
// time per exchange from 8 ms with the library's validator to 0.2 ms.
func (c *Contract) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.compiled[pointer]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile(schemaBase + pointer)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", pointer, err)
	}
	c.compiled[pointer] = s
	return s, nil
}

// Operation is one operation of the contract with its method and path.
type Operation struct {
	*openapi3.Operation
	Method, Path string
	Item         *openapi3.PathItem
}

// Operations returns all operations by id.
func (c *Contract) Operations() map[string]*Operation {
	all := map[string]*Operation{}
	for path, item := range c.Doc.Paths.Map() {
		for method, op := range item.Operations() {
			all[op.OperationID] = &Operation{op, method, path, item}
		}
	}
	return all
}

// Parameters returns the parameters of the operation and of its path.
func (o *Operation) Parameters() []*openapi3.Parameter {
	var list []*openapi3.Parameter
	for _, refs := range []openapi3.Parameters{o.Item.Parameters, o.Operation.Parameters} {
		for _, ref := range refs {
			list = append(list, ref.Value)
		}
	}
	return list
}

// Parameter returns a parameter, nil if there is none.
func (o *Operation) Parameter(in, name string) *openapi3.Parameter {
	for _, p := range o.Parameters() {
		if p.In == in && p.Name == name {
			return p
		}
	}
	return nil
}

func (o *Operation) pointer() string {
	return "#/paths/" + escape(o.Path) + "/" + strings.ToLower(o.Method)
}

func escape(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

func refOr(ref, pointer string) string {
	if ref != "" {
		return ref
	}
	return pointer
}

// find returns the operation of a request and its path parameters. If two paths
// match, the one with fewer parameters counts.
func (c *Contract) find(method, path string) (found *Operation, params map[string]string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for pattern, item := range c.Doc.Paths.Map() {
		op := item.GetOperation(method)
		if fits, ok := matchPath(pattern, path); ok && op != nil && (found == nil || len(fits) < len(params)) {
			found, params = &Operation{op, method, pattern, item}, fits
		}
	}
	return found, params
}

func matchPath(pattern, path string) (map[string]string, bool) {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return nil, false
	}
	params := map[string]string{}
	for i, w := range want {
		switch {
		case strings.HasPrefix(w, "{"):
			params[strings.Trim(w, "{}")] = got[i]
		case w != got[i]:
			return nil, false
		}
	}
	return params, true
}

// Exchange is an operation and the status of its answer.
type Exchange struct {
	Operation string
	Status    int
}

var seenExchanges = struct {
	sync.Mutex
	counts map[Exchange]int
}{counts: map[Exchange]int{}}

// SeenExchanges returns how often each operation was answered with each status
// in this process.
func SeenExchanges() map[Exchange]int {
	seenExchanges.Lock()
	defer seenExchanges.Unlock()
	return maps.Clone(seenExchanges.counts)
}

// routingErrors are returned before an operation is selected. They can occur on
// any path, so operations do not document them.
var routingErrors = map[string]bool{
	"https_required": true, "route_not_found": true, "unknown_api_version": true, "method_not_allowed": true,
	"api_version_sunset": true, "endpoint_sunset": true, "uri_too_long": true,
}

// CheckExchange compares a request and its answer with the contract, for a test
// that has sent the request over a network. The body of the answer must not be
// compressed.
func CheckExchange(t testing.TB, r *http.Request, body []byte, status int, header http.Header, answer []byte) {
	t.Helper()
	header = header.Clone()
	for _, name := range []string{"Date", "Connection", "Content-Encoding"} {
		header.Del(name) // they belong to the connection
	}
	checkExchange(t, r, body, &Response{t: t, Status: status, Header: header, Body: answer})
}

// checkExchange compares a request and its answer with the contract and fails
// the test with all differences.
func checkExchange(t testing.TB, r *http.Request, body []byte, res *Response) {
	t.Helper()
	c := TheContract()
	var problems []string
	bad := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	answer := decompressedBody(res, bad)
	checkCommonHeaders(res.Header, bad)
	code := ""
	if res.Status >= 400 {
		code = c.checkError(r, res, answer, bad)
	}
	op, params := c.find(r.Method, r.URL.EscapedPath())
	switch {
	case op == nil && res.Status < 400 && res.Header.Get("Access-Control-Allow-Methods") == "":
		bad("status %d for a request that is no operation", res.Status)
	case op != nil && !routingErrors[code]:
		seenExchanges.Lock()
		seenExchanges.counts[Exchange{op.OperationID, res.Status}]++
		seenExchanges.Unlock()
		c.checkResponse(op, res, answer, bad)
		if res.Status < 300 {
			c.checkRequest(op, params, r, acceptedBody(r, body, answer), bad)
		}
	}
	if len(problems) > 0 {
		t.Errorf("the contract and the service differ at %s %s (status %d):\n  %s\nrequest: %.600s\nanswer: %.1500s",
			r.Method, r.RequestURI, res.Status, strings.Join(problems, "\n  "), body, answer)
	}
}

type reportProblem func(format string, args ...any)

func decompressedBody(res *Response, bad reportProblem) []byte {
	if res.Header.Get("Content-Encoding") != "gzip" {
		return res.Body
	}
	z, err := gzip.NewReader(bytes.NewReader(res.Body))
	if err != nil {
		bad("the body is not gzip: %v", err)
		return nil
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		bad("the body is not gzip: %v", err)
	}
	return plain
}

const immutable = "private, max-age=31536000, immutable"

// checkCommonHeaders checks the headers of every answer (H8).
func checkCommonHeaders(h http.Header, bad reportProblem) {
	for _, name := range []string{
		"X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "RateLimit-Policy",
	} {
		if len(h.Values(name)) != 1 || h.Get(name) == "" {
			bad("got %s %q, want one value (H8)", name, h.Values(name))
		}
	}
	// Only an operation that documents it may allow caching.
	if got := h.Get("Cache-Control"); got != "no-store" && (got != immutable || h.Get("ETag") == "") {
		bad("got Cache-Control %q, want no-store (H8)", got)
	}
	if got := h.Get("X-Content-Type-Options"); got != "nosniff" {
		bad("got X-Content-Type-Options %q, want nosniff (H8)", got)
	}
	policy := h.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; ") || !strings.Contains(policy, "frame-ancestors 'none'") {
		bad("got Content-Security-Policy %q, want one that allows nothing (H8)", policy)
	}
}

// checkError validates the Error schema and the rules that no schema can express.
// It returns the error's code.
func (c *Contract) checkError(r *http.Request, res *Response, answer []byte, bad reportProblem) string {
	if got := res.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		bad("got Content-Type %q of an error, want application/json; charset=utf-8 (E5)", got)
	}
	c.checkJSON("#/components/schemas/Error", c.Doc.Components.Schemas["Error"].Value, answer, bad)
	var body struct{ Error Error }
	if err := json.Unmarshal(answer, &body); err != nil {
		bad("the error cannot be read: %v", err)
		return ""
	}
	e := body.Error
	if want, known := c.Codes[e.Code]; !known || want != res.Status {
		bad("got status %d for code %q, want %d by x-error-codes (E1)", res.Status, e.Code, want)
	}
	if e.Details == nil {
		bad("details is null, want an array (E3)")
	}
	for _, d := range e.Details {
		if under, known := c.Details[d.Code]; d.Code != e.Code && (!known || !slices.Contains(under, e.Code)) {
			bad("detail code %q may not stand under %q by x-detail-codes", d.Code, e.Code)
		}
	}
	if got, want := e.RequestID, res.Header.Get("X-Request-Id"); got != want {
		bad("got request_id %q, want that of the header, %q (H10)", got, want)
	}
	if want := "https://fanfare.test/docs/errors#" + e.Code; e.DocURL != want && e.DocURL != "https://"+r.Host+"/docs/errors#"+e.Code {
		bad("got doc_url %q want %q (E4)", e.DocURL, want)
	}
	retry := res.Status == http.StatusTooManyRequests || res.Status == http.StatusServiceUnavailable || e.Code == "idempotency_in_progress"
	if n, err := strconv.Atoi(res.Header.Get("Retry-After")); retry && (err != nil || n < 1) {
		bad("got Retry-After %q, want at least one second", res.Header.Get("Retry-After"))
	}
	return e.Code
}

// checkCompact checks that JSON is one value without white space (H7).
func checkCompact(answer []byte, bad reportProblem) {
	compact := jsontext.Value(bytes.Clone(answer))
	if err := compact.Compact(); err != nil {
		bad("the body is not JSON: %v", err)
	} else if !bytes.Equal(compact, answer) {
		bad("the body holds white space between its tokens (H7)")
	}
}
