package platforms_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// call is one request in the sandbox's journal: without the platform's prefix,
// and with secrets replaced.
type call struct {
	Method string      `json:"method"`
	Host   string      `json:"host"`
	Path   string      `json:"path"`
	Query  string      `json:"query"`
	Header http.Header `json:"headers"`
	// Body is JSON: the body itself, or a form as a string.
	Body   json.RawMessage `json:"body"`
	Status int             `json:"status"`
}

// journal returns the calls since the last time and clears the journal.
func (s *testSandbox) journal(t *testing.T) []call {
	t.Helper()
	var journal struct{ Data []call }
	s.control(t, http.MethodGet, "journal", nil, &journal)
	s.control(t, http.MethodDelete, "journal", nil, nil)
	return journal.Data
}

// comparison says what two journals must have in common besides method, path
// and parameters.
type comparison struct {
	// headers are the headers that the platform reads.
	headers []string
	// ignored are the parameters that may differ, with the reason.
	ignored map[string]string
	// normalize normalizes the parameters of a call if a platform has several
	// forms for the same; nil for none.
	normalize func(path string, parameters map[string]string)
}

// compareCalls compares our calls with those of an SDK: method, path without
// the version, every parameter of query, form or JSON body, and the relevant
// headers.
func compareCalls(t *testing.T, ours, sdk []call, c comparison) {
	t.Helper()
	if len(ours) != len(sdk) {
		t.Fatalf("got %d calls want %d\nours: %v\nSDK:  %v", len(ours), len(sdk), callLines(ours), callLines(sdk))
	}
	for i := range ours {
		got, want := c.comparedCall(t, ours[i]), c.comparedCall(t, sdk[i])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("call %d, %s %s, differs (-SDK +ours):\n%s", i, sdk[i].Method, sdk[i].Path, diff)
		}
	}
}

func callLines(calls []call) []string {
	list := []string{}
	for _, c := range calls {
		list = append(list, c.Method+" "+c.Path)
	}
	return list
}

// comparedCall has the compared parts of a call.
type comparedCall struct {
	Method, Path        string
	Parameters, Headers map[string]string
}

var version = regexp.MustCompile(`/v[0-9]+(\.[0-9]+|beta)?(/|$)`)

func (c comparison) comparedCall(t *testing.T, asked call) comparedCall {
	t.Helper()
	path := version.ReplaceAllString(asked.Path, "$2")
	v := comparedCall{asked.Method, path, parameters(t, asked), map[string]string{}}
	for name := range c.ignored {
		delete(v.Parameters, name)
	}
	if c.normalize != nil {
		c.normalize(path, v.Parameters)
	}
	for _, name := range c.headers {
		if asked.Method == http.MethodGet && name == "Content-Type" {
			continue
		}
		value, _, _ := strings.Cut(asked.Header.Get(name), ";")
		v.Headers[name] = value
	}
	return v
}

// parameters returns the parameters of the query and of the body, in one
// format.
func parameters(t *testing.T, asked call) map[string]string {
	t.Helper()
	query, err := url.ParseQuery(asked.Query)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for name, values := range query {
		found[name] = compactJSON(strings.Join(values, "&"))
	}
	// The body of a GET has no meaning, and some SDKs send an empty one.
	if asked.Method == http.MethodGet {
		return found
	}
	var body any
	if err := json.Unmarshal(asked.Body, &body); len(asked.Body) > 0 && err != nil {
		t.Fatalf("%s %s: %v", asked.Method, asked.Path, err)
	}
	switch body := body.(type) {
	case map[string]any:
		for name, value := range body {
			found[name] = textOf(value)
		}
	case string:
		form, err := url.ParseQuery(body)
		if err != nil {
			t.Fatalf("%s %s: the body is neither JSON nor a form: %s", asked.Method, asked.Path, body)
		}
		for name, values := range form {
			found[name] = compactJSON(strings.Join(values, "&"))
		}
	}
	return found
}

// compactJSON normalizes JSON inside a text: without spaces, and with sorted
// members.
func compactJSON(text string) string {
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err == nil {
			return textOf(value)
		}
	}
	return text
}

// textOf returns a value as text; a text unchanged.
func textOf(value any) string {
	if text, ok := value.(string); ok {
		return compactJSON(text)
	}
	b, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestComparisonDetectsDifferences checks that different journals are detected,
// and that differences without meaning are ignored.
func TestComparisonDetectsDifferences(t *testing.T) {
	t.Parallel()
	c := comparison{headers: []string{"Content-Type"}, ignored: map[string]string{"locale": "it changes only texts"}}
	sdk := call{
		Method: "POST", Path: "/v24.0/1/insights", Query: "a=1&list=%5B1%2C%202%5D&locale=en", Body: []byte(`{"b":"x","n":5}`),
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}, "User-Agent": {"sdk"}},
	}
	ours := call{
		Method: "POST", Path: "/v26.0/1/insights", Query: "list=[1,2]&n=5", Body: []byte(`{"b": "x", "a": 1}`),
		Header: http.Header{"Content-Type": {"application/json"}},
	}
	if diff := cmp.Diff(c.comparedCall(t, sdk), c.comparedCall(t, ours)); diff != "" {
		t.Errorf("the same differs (-SDK +ours):\n%s", diff)
	}
	for name, change := range map[string]func(*call){
		"method":    func(c *call) { c.Method = "GET" },
		"path":      func(c *call) { c.Path = "/v26.0/2/insights" },
		"parameter": func(c *call) { c.Query = "list=[1,2]&n=6" },
		"missing":   func(c *call) { c.Query = "list=[1,2]" },
		"header":    func(c *call) { c.Header = http.Header{} },
	} {
		other := ours
		change(&other)
		if cmp.Equal(c.comparedCall(t, sdk), c.comparedCall(t, other)) {
			t.Errorf("another %s was not seen: %v", name, slices.Collect(maps.Keys(c.comparedCall(t, other).Parameters)))
		}
	}
}
