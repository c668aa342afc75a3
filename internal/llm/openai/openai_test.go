package openai

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fanfare/internal/llm"
	"fanfare/internal/outbound"
	"fanfare/internal/secret"
)

func TestKeyHeader(t *testing.T) {
	t.Parallel()
	client, err := outbound.New(outbound.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ base, key, header, want string }{
		{DefaultBase, "k", "Authorization", "Bearer k"},
		{DefaultBase, "k", "Api-Key", ""},
		{"https://name.openai.azure.com/openai/v1", "k", "Api-Key", "k"},
		{"https://name.openai.azure.com/openai/v1", "k", "Authorization", ""},
		{"https://azure.com.example/v1", "k", "Api-Key", ""},
		{"http://localhost:11434/v1", "", "Authorization", ""},
	} {
		c, err := New(client, test.base, "m", "", secret.New(test.key))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.header().Get(test.header); got != test.want {
			t.Errorf("%s %s: got %q want %q", test.base, test.header, got, test.want)
		}
	}
}

func TestNearestSize(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		model         string
		width, height int
		want          string
	}{
		{"gpt-image-1", 1080, 1080, "1024x1024"},
		{"gpt-image-1", 300, 250, "1024x1024"},
		{"gpt-image-1", 728, 90, "1536x1024"},
		{"gpt-image-1", 1080, 1920, "1024x1536"},
		{"dall-e-3", 1200, 628, "1792x1024"},
		{"dall-e-3", 160, 600, "1024x1792"},
		{"stable", 160, 600, "1024x1536"},
	} {
		if got := nearestSize(test.model, test.width, test.height); got != test.want {
			t.Errorf("%s %d×%d: got %s want %s", test.model, test.width, test.height, got, test.want)
		}
	}
}

func TestStripThinking(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1}`:                             `{"a":1}`,
		"<think>{\"x\":0} hm</think>\n{}":     "\n{}",
		"<think>never ends":                   "<think>never ends",
		`{"a":"</think>"}`:                    `{"a":"</think>"}`,
		" \n<think></think>after </think> it": "after </think> it",
	} {
		if got := stripThinking(text); got != want {
			t.Errorf("%q: got %q want %q", text, got, want)
		}
	}
}

// serve returns a client of a server that calls answer.
func serve(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	client, err := outbound.New(outbound.Options{Policy: outbound.Trusted()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	c, err := New(client, srv.URL+"/v1", "m", "", secret.New("k"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAnswerForms checks the forms of a message that servers return.
func TestAnswerForms(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]llm.Answer{
		`"finish_reason":"stop","message":{"content":"hello"}`:                                                             {Text: "hello"},
		`"finish_reason":"length","message":{"content":"hel"}`:                                                             {Text: "hel"},
		`"finish_reason":"length","message":{"content":null}`:                                                              {},
		`"message":{"content":[{"type":"text","text":"hel"},{"type":"thinking","text":"hm"},{"type":"text","text":"lo"}]}`: {Text: "hello"},
	} {
		want.InputTokens, want.OutputTokens, want.Model = 3, 4, "m-1"
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"model":"m-1","choices":[{`+message+`}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`)
		})
		got, err := c.Complete(t.Context(), llm.Request{})
		if truncated := want.Text != "hello"; got != want || errors.Is(err, llm.ErrTruncated) != truncated || !truncated && err != nil {
			t.Errorf("%s: got %+v, %v want %+v", message, got, err, want)
		}
	}
}

func TestReasoningModel(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"gpt-5": true, "gpt-5.4-mini": true, "openai/gpt-5.5": true, "gpt-oss:20b": true, "o4-mini": true, "o3": true, "gpt-10": true,
		"gpt-4.1": false, "gpt-4o": false, "llama3.2": false, "olmo-2": false, "mistral-o3": false, "": false,
	} {
		if got := reasoningModel.MatchString(name); got != want {
			t.Errorf("%s: got %v want %v", name, got, want)
		}
	}
}

// TestOptionalParameters checks which parameters a request has.
func TestOptionalParameters(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		model   string
		without []string
		want    string
	}{
		{"gpt-4.1", nil, `"max_tokens":9,"seed":7`},
		{"gpt-5", nil, `"max_tokens":9,"seed":7,"reasoning_effort":"low"`},
		{"gpt-5", []string{"max_tokens", "seed"}, `"max_completion_tokens":9,"reasoning_effort":"low"`},
		{"gpt-5", []string{"max_tokens", "max_completion_tokens", "reasoning_effort"}, `"seed":7`},
	} {
		var got string
		c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = string(body)
		})
		c.model = test.model
		if _, err := c.Complete(t.Context(), llm.Request{Format: llm.FormatText, MaxTokens: 9, Seed: 7, Without: test.without}); err == nil {
			t.Error("an empty answer was taken")
		}
		if want := `],` + test.want + `}`; !strings.HasSuffix(got, want) {
			t.Errorf("%s without %v: got %s want %s at its end", test.model, test.without, got, want)
		}
	}
}
