package sandbox

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// metaMaxBatch is the largest number of calls in a batch.
const metaMaxBatch = 50

// metaBatchCall is one call of a batch.
type metaBatchCall struct {
	Method string `json:"method"`
	URL    string `json:"relative_url"`
	Body   string `json:"body"`
}

// metaPart records the answer to one call of a batch.
type metaPart struct {
	header http.Header
	body   bytes.Buffer
	status int
}

// Header implements http.ResponseWriter.
func (p *metaPart) Header() http.Header { return p.header }

// Write implements http.ResponseWriter.
func (p *metaPart) Write(b []byte) (int, error) { return p.body.Write(b) }

// WriteHeader implements http.ResponseWriter.
func (p *metaPart) WriteHeader(status int) { p.status = status }

// serveBatch answers several calls with one answer, which has a status, headers
// and a text for each. One that fails does not fail the others.
func (c metaCall) serveBatch(version string) {
	var calls []metaBatchCall
	if err := json.Unmarshal([]byte(c.params.Get("batch")), &calls); err != nil || len(calls) == 0 {
		c.writeError(metaInvalid("Param batch must be an array of calls"))
		return
	}
	if len(calls) > metaMaxBatch {
		c.writeError(metaInvalid("Too many requests in batch message. Maximum batch size is %d", metaMaxBatch))
		return
	}
	answers := []any{}
	for _, call := range calls {
		part := &metaPart{header: http.Header{}, status: http.StatusOK}
		if sub, err := c.partRequest(call, version); err != nil {
			metaCall{c.Call, part, c.r, nil, nil}.writeError(metaInvalid("relative_url is invalid"))
		} else {
			meta{}.Serve(c.Call, part, sub)
		}
		headers := []any{}
		for name := range part.header {
			headers = append(headers, map[string]string{"name": name, "value": part.header.Get(name)})
		}
		answer := map[string]any{"code": part.status, "body": part.body.String()}
		if c.params.Get("include_headers") != "false" {
			answer["headers"] = headers
		}
		answers = append(answers, answer)
	}
	c.writeAnswer(answers)
}

// partRequest returns the request of one call of a batch, with the token of the
// batch unless it has its own.
func (c metaCall) partRequest(call metaBatchCall, version string) (*http.Request, error) {
	target := "/" + strings.TrimPrefix(call.URL, "/")
	if first, _, _ := strings.Cut(target[1:], "/"); !metaVersionFormat.MatchString(first) {
		target = "/" + version + target
	}
	sub, err := http.NewRequestWithContext(c.r.Context(), call.Method, target, strings.NewReader(call.Body))
	if err != nil {
		return nil, err
	}
	sub.Header = c.r.Header.Clone()
	sub.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	query := sub.URL.Query()
	for _, name := range []string{"access_token", "appsecret_proof"} {
		if c.params.Has(name) && !query.Has(name) {
			query.Set(name, c.params.Get(name))
		}
	}
	sub.URL.RawQuery = query.Encode()
	return sub, nil
}
