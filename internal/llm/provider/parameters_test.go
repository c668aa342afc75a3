package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/llm"
	"fanfare/internal/llm/provider"
	"fanfare/internal/llm/sandbox"
)

// refusals are the messages of vendors and gateways for a parameter, %s.
var refusals = map[string]string{
	"unsupported": `{"error":{"message":"Unsupported parameter: '%s' is not supported with this model.","type":"invalid_request_error","param":"%[1]s","code":"unsupported_parameter"}}`,
	"instead":     `{"error":{"message":"Unsupported parameter: '%s' is not supported with this model. Use 'max_completion_tokens' instead.","code":"invalid_request_body"}}`,
	"unknown":     `{"error":{"message":"Unrecognized request argument supplied: %s","type":"invalid_request_error","param":null,"code":null}}`,
	"pydantic":    `{"detail":[{"type":"extra_forbidden","loc":["body","%s"],"msg":"Extra inputs are not permitted"}]}`,
}

// serveGateway serves the sandbox behind a gateway that refuses members of the
// body, or of its generationConfig and output_config.
func serveGateway(t *testing.T, message string, refused ...string) string {
	t.Helper()
	h := sandbox.New(now)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var members map[string]json.RawMessage
		if err != nil || json.Unmarshal(body, &members) != nil {
			t.Errorf("got body %q, %v want JSON", body, err)
		}
		var inner map[string]json.RawMessage
		for _, name := range []string{"generationConfig", "output_config"} {
			_ = json.Unmarshal(members[name], &inner)
		}
		for _, name := range refused {
			member := name[strings.LastIndexByte(name, '.')+1:]
			if members[member] != nil || inner[member] != nil {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = fmt.Fprintf(w, message, name)
				return
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestRefusedParameters checks that a parameter that a server refuses is
// swapped or left out, and not sent again.
func TestRefusedParameters(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind    string
		refused []string
		// retries are the refused calls of the first generation.
		retries int64
	}{
		{"openai", nil, 0},
		{"openai", []string{"max_tokens"}, 1},
		{"openai", []string{"seed"}, 1},
		{"openai", []string{"max_tokens", "seed"}, 2},
		{"openai", []string{"max_tokens", "max_completion_tokens"}, 2},
		{"openai", []string{"response_format"}, 2},
		{"openai", []string{"max_tokens", "seed", "response_format"}, 4},
		{"gemini", []string{"seed"}, 1},
		{"gemini", []string{"thinkingConfig"}, 1},
		{"gemini", []string{"seed", "thinkingConfig"}, 2},
		{"anthropic", []string{"effort"}, 1},
		{"anthropic", []string{"output_config"}, 2},
		{"anthropic", []string{"output_config.format"}, 1},
		{"anthropic", []string{"output_config.format", "effort", "tool_choice"}, 3},
	} {
		for name, message := range refusals {
			if name == "instead" && !slices.Equal(test.refused, []string{"max_tokens"}) {
				continue
			}
			t.Run(fmt.Sprint(test.kind, test.refused, name), func(t *testing.T) {
				t.Parallel()
				url := serveGateway(t, message, test.refused...)
				b := generalBrief()
				b.Seed = 7
				learned := &llm.Learned{}
				for _, want := range []int64{test.retries, 0} {
					p, err := newProvider(t, test.kind, url, learned)
					if err != nil {
						t.Fatal(err)
					}
					r, err := p.Write(t.Context(), b)
					if err != nil {
						t.Fatal(err)
					}
					if len(r.Drafts) != b.Variants || r.Usage.Retries != want || r.Usage.Calls != want+1 {
						t.Errorf("got %d drafts, usage %+v want %d, %d retries", len(r.Drafts), r.Usage, b.Variants, want)
					}
				}
			})
		}
	}
}

func newProvider(t *testing.T, kind, server string, learned *llm.Learned) (creative.Provider, error) {
	t.Helper()
	return provider.Open(kind, creative.ModelSettings{BaseURL: baseURL(kind, server), Model: "m"}, key, newClient(t), nil, learned, now)
}

// TestRequiredParameterIsRefused checks that a parameter that cannot be left
// out fails, with the words of the server.
func TestRequiredParameterIsRefused(t *testing.T) {
	t.Parallel()
	p, err := newProvider(t, "openai", serveGateway(t, refusals["unsupported"], "messages"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Write(t.Context(), generalBrief())
	if err == nil || r.Usage.Calls != 1 {
		t.Errorf("got %v after %d calls want a failure after one", err, r.Usage.Calls)
	}
}

// TestRefusalsAreRememberedBySettings checks that each generation does not
// repeat the refused calls of the previous one, until the settings change.
func TestRefusalsAreRememberedBySettings(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	_, url := startSandbox(t, c)
	var got []int64
	for _, fault := range []string{sandbox.FaultFormatless, sandbox.FaultFormatless, sandbox.FaultSchemaless} {
		setProvider(t, c, c.Workspace, "openai", creative.ModelSettings{Model: "sandbox-" + fault, BaseURL: url + "/v1"})
		v := generate(t, c, `{"prompt":"Handmade running shoes","provider":"openai","channels":["push"],"variants":1}`)
		if v.Status != creative.StatusReady {
			t.Fatalf("%s: got %s: %+v", fault, v.Status, v.Generation.Error)
		}
		got = append(got, v.Generation.Cost.Retries)
	}
	if want := []int64{2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v refused calls want %v", got, want)
	}
}
