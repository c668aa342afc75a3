package fanfaretest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// recordingTB records the errors of a check instead of failing.
type recordingTB struct {
	testing.TB
	said string
}

func (w *recordingTB) Helper() {}

func (w *recordingTB) Errorf(format string, args ...any) { w.said += fmt.Sprintf(format, args...) }

// exchange is a valid exchange that tests change.
type exchange struct {
	method, target, sent, media string
	status                      int
	header                      http.Header
	body                        string
}

const requestID = "req_01m7eed1vefd8s63tzyycmefqz"

func validExchange() *exchange {
	return &exchange{
		method: "GET", target: "/v1", status: 200,
		header: http.Header{
			"X-Request-Id": {requestID}, "X-Ratelimit-Limit": {"60"}, "X-Ratelimit-Remaining": {"59"}, "X-Ratelimit-Reset": {"1794734087"},
			"Ratelimit": {`"minute";r=59;t=60`}, "Ratelimit-Policy": {`"minute";q=60;w=60`}, "Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"},
			"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"}, "Content-Type": {"application/json; charset=utf-8"},
		},
		body: `{"data":{"version":"v1","status":"current","deprecated_at":null,"sunset_at":null,"docs_url":"https://h/docs","openapi_url":"https://h/o","changelog_url":"https://h/c","build":"x"}}`,
	}
}

// asError turns the exchange into an error.
func (e *exchange) asError(status int, code, details string) *exchange {
	e.status = status
	e.body = `{"error":{"code":"` + code + `","message":"No.","details":` + details + `,"request_id":"` + requestID + `","doc_url":"https://fanfare.test/docs/errors#` + code + `"}}`
	return e
}

func (e *exchange) check(t testing.TB) string {
	r := httptest.NewRequest(e.method, "https://fanfare.test"+e.target, strings.NewReader(e.sent))
	r.RequestURI = e.target
	if e.media != "" {
		r.Header.Set("Content-Type", e.media)
	}
	w := &recordingTB{TB: t}
	checkExchange(w, r, []byte(e.sent), &Response{t: w, Status: e.status, Header: e.header, Body: []byte(e.body)})
	return w.said
}

// TestCheckExchange checks that each difference is detected. Otherwise a check
// without effect would pass every test.
func TestCheckExchange(t *testing.T) {
	for _, e := range []*exchange{
		validExchange(), validExchange().asError(406, "not_acceptable", "[]"), validExchange().asError(404, "route_not_found", "[]"),
		validExchange().asError(400, "invalid_parameter", `[{"field":"x","in":"query","code":"unknown_parameter","message":"No."}]`),
	} {
		if said := e.check(t); said != "" {
			t.Errorf("got %s for a right exchange, want nothing", said)
		}
	}
	for name, tt := range map[string]struct {
		spoil func(e *exchange)
		said  string
	}{
		"no request id":       {func(e *exchange) { e.header.Del("X-Request-Id") }, "X-Request-Id"},
		"bad request id":      {func(e *exchange) { e.header.Set("X-Request-Id", "1") }, "header X-Request-Id"},
		"no rate header":      {func(e *exchange) { e.header.Del("RateLimit-Policy") }, "RateLimit-Policy"},
		"rate header no int":  {func(e *exchange) { e.header.Set("X-RateLimit-Limit", "many") }, "want an integer"},
		"two of a header":     {func(e *exchange) { e.header.Add("X-RateLimit-Limit", "1") }, "X-RateLimit-Limit"},
		"cacheable":           {func(e *exchange) { e.header.Set("Cache-Control", "public") }, "no-store"},
		"sniffable":           {func(e *exchange) { e.header.Del("X-Content-Type-Options") }, "nosniff"},
		"open policy":         {func(e *exchange) { e.header.Set("Content-Security-Policy", "default-src *") }, "Content-Security-Policy"},
		"unknown header":      {func(e *exchange) { e.header.Set("X-Secret", "1") }, "X-Secret is not documented"},
		"deprecated":          {func(e *exchange) { e.header.Set("Deprecation", "@1") }, "Deprecation"},
		"undocumented status": {func(e *exchange) { e.status = 202 }, "202 is not documented"},
		"undocumented error":  {func(e *exchange) { e.asError(413, "body_too_large", "[]") }, "413 is not documented"},
		"no operation":        {func(e *exchange) { e.target = "/v1/nothing" }, "no operation"},
		"other media type":    {func(e *exchange) { e.header.Set("Content-Type", "text/plain") }, "Content-Type"},
		"member missing":      {func(e *exchange) { e.body = strings.Replace(e.body, `"build":"x"`, `"guild":"x"`, 1) }, "build"},
		"member too many":     {func(e *exchange) { e.body = strings.Replace(e.body, `"build"`, `"extra":1,"build"`, 1) }, ".data.extra is not documented"},
		"wrong type":          {func(e *exchange) { e.body = strings.Replace(e.body, `"x"`, `5`, 1) }, "build"},
		"wrong enum":          {func(e *exchange) { e.body = strings.Replace(e.body, `"current"`, `"shiny"`, 1) }, "status"},
		"white space":         {func(e *exchange) { e.body = strings.Replace(e.body, `:`, `: `, 1) }, "white space"},
		"not JSON":            {func(e *exchange) { e.body = "<html>" }, "not JSON"},
		"unknown parameter":   {func(e *exchange) { e.target = "/v1?x=1" }, "parameter x was accepted"},
		"parameter out": {func(e *exchange) {
			e.target, e.body = "/v1/events?limit=500", `{"data":[],"has_more":false,"next_cursor":null}`
		}, "limit"},
		"details null":         {func(e *exchange) { e.asError(406, "not_acceptable", "null") }, "details"},
		"unknown code":         {func(e *exchange) { e.asError(406, "no_idea", "[]") }, "no_idea"},
		"code of other status": {func(e *exchange) { e.asError(406, "not_found", "[]") }, "want 404"},
		"detail out of place":  {func(e *exchange) { e.asError(406, "not_acceptable", `[{"code":"too_long","message":"No."}]`) }, "too_long"},
		"other request id": {func(e *exchange) {
			e.asError(406, "not_acceptable", "[]")
			e.header.Set("X-Request-Id", requestID[:29]+"a")
		}, "request_id"},
		"other doc_url": {func(e *exchange) {
			e.asError(406, "not_acceptable", "[]")
			e.body = strings.Replace(e.body, "#", "/", 1)
		}, "doc_url"},
		"no Retry-After":      {func(e *exchange) { e.asError(429, "rate_limit_exceeded", `[{"code":"minute","message":"No."}]`) }, "Retry-After"},
		"no challenge":        {func(e *exchange) { e.asError(401, "missing_api_key", "[]") }, "WWW-Authenticate"},
		"304 with a body":     {func(e *exchange) { e.target, e.status = "/v1/campaigns/x", 304 }, "want none"},
		"304 without tag":     {func(e *exchange) { e.target, e.status, e.body = "/v1/campaigns/x", 304, "" }, "ETag is missing"},
		"HEAD without header": {func(e *exchange) { e.method = "HEAD"; e.header.Del("RateLimit") }, "RateLimit"},
		"body refused": {func(e *exchange) {
			e.method, e.target, e.sent, e.media, e.status = "POST", "/v1/campaigns", `{"name":""}`, "application/json", 201
		}, "a body was accepted"},
		"media refused": {func(e *exchange) {
			e.method, e.target, e.sent, e.media, e.status = "POST", "/v1/campaigns", `{"name":"a"}`, "text/plain", 201
		}, "text/plain"},
		"body missing": {func(e *exchange) { e.method, e.target, e.status = "POST", "/v1/campaigns", 201 }, "empty body"},
	} {
		e := validExchange()
		tt.spoil(e)
		if said := e.check(t); !strings.Contains(said, tt.said) {
			t.Errorf("%s: got %q, want a complaint with %q", name, said, tt.said)
		}
	}
}

func TestSeenCountsExchanges(t *testing.T) {
	e := Exchange{"getApi", 200}
	before := SeenExchanges()[e]
	validExchange().check(t)
	if got := SeenExchanges()[e]; got != before+1 {
		t.Errorf("got %d exchanges of %v want %d", got, e, before+1)
	}
}
