package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"fanfare/internal/llm/sandbox"
)

func now() time.Time { return time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC) }

const (
	chat     = "/v1/chat/completions"
	images   = "/v1/images/generations"
	messages = "/v1/messages"
	content  = "/v1beta/models/gemini-2.5-flash:generateContent"
)

// post sends a body with the headers that its path requires, and more.
func post(h http.Handler, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	switch {
	case strings.HasPrefix(path, messages):
		r.Header.Set("X-Api-Key", "k")
		r.Header.Set("Anthropic-Version", "2026-10-21")
	case strings.HasPrefix(path, "/v1beta"):
		r.Header.Set("X-Goog-Api-Key", "k")
	default:
		r.Header.Set("Authorization", "Bearer k")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i+1] == "" {
			r.Header.Del(header[i])
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	const user = `"messages":[{"role":"user","content":"hello"}]`
	for _, test := range []struct {
		name, path, body string
		header           []string
		status           int
		want             string
	}{
		{"chat", chat, `{"model":"m",` + user + `}`, nil, 200, `"content":"You said: hello"`},
		{"chat without a key", chat, `{"model":"m",` + user + `}`, []string{"Authorization", ""}, 401, `"code":"invalid_api_key"`},
		{"chat with Azure's key", chat, `{"model":"m",` + user + `}`, []string{"Authorization", "", "Api-Key", "k"}, 200, "hello"},
		{"chat without JSON", chat, `hello`, nil, 400, "JSON"},
		{"chat with a slip", chat, `{"model":"m","maxtokens":1,` + user + `}`, nil, 400, `"param":"maxtokens"`},
		{"chat without a model", chat, `{` + user + `}`, nil, 400, `"param":"model"`},
		{"chat without messages", chat, `{"model":"m"}`, nil, 400, `"param":"messages"`},
		{"chat as a stream", chat, `{"model":"m","stream":true,` + user + `}`, nil, 400, "stream"},
		{"chat in JSON unsaid", chat, `{"model":"m","response_format":{"type":"json_object"},` + user + `}`, nil, 400, "must contain the word"},
		{"chat with a lax schema", chat, `{"model":"m","response_format":{"type":"json_schema","json_schema":{"name":"x","strict":true,"schema":{"type":"object"}}},` + user + `}`, nil, 400, "additionalProperties"},
		{"chat with a loose member", chat, `{"model":"m","response_format":{"type":"json_schema","json_schema":{"name":"x","strict":true,"schema":{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"}},"required":[]}}},` + user + `}`, nil, 400, "required"},
		{"picture", images, `{"model":"gpt-image-1","prompt":"p","size":"1024x1024"}`, nil, 200, "b64_json"},
		{"picture with a format", images, `{"model":"gpt-image-1","prompt":"p","response_format":"b64_json"}`, nil, 400, "Unknown parameter"},
		{"picture without a format", images, `{"model":"dall-e-3","prompt":"p"}`, nil, 400, "b64_json"},
		{"picture of a size", images, `{"model":"gpt-image-1","prompt":"p","size":"300x250"}`, nil, 400, `"param":"size"`},
		{"message", messages, `{"model":"m","max_tokens":99,` + user + `}`, nil, 200, `"text":"You said: hello"`},
		{"message in blocks", messages, `{"model":"m","max_tokens":99,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`, nil, 200, "You said: hi"},
		{"message without a version", messages, `{"model":"m","max_tokens":99,` + user + `}`, []string{"Anthropic-Version", ""}, 400, "anthropic-version"},
		{"message without a bound", messages, `{"model":"m",` + user + `}`, nil, 400, "max_tokens"},
		{"message without a key", messages, `{"model":"m","max_tokens":99,` + user + `}`, []string{"X-Api-Key", ""}, 401, "authentication_error"},
		{"message with counts", messages, `{"model":"m","max_tokens":99,"output_config":{"format":{"type":"json_schema","schema":{"type":"array","maxItems":3}}},` + user + `}`, nil, 400, "'maxItems' is not supported"},
		{"message with a missing tool", messages, `{"model":"m","max_tokens":99,"tool_choice":{"type":"tool","name":"x"},` + user + `}`, nil, 400, "tool_choice"},
		{"message cut off", messages, `{"model":"m","max_tokens":1,` + user + `}`, nil, 200, `"stop_reason":"max_tokens"`},
		{"content", content, `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`, nil, 200, `"text":"You said: hello"`},
		{"content without a key", content, `{"contents":[{"parts":[{"text":"hello"}]}]}`, []string{"X-Goog-Api-Key", ""}, 400, "API_KEY_INVALID"},
		{"content of nothing", content, `{}`, nil, 400, "contents"},
		{"content with a slip", content, `{"contents":[],"generation_cfg":{}}`, nil, 400, "generation_cfg"},
		{"content of a shape", content, `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"responseModalities":["IMAGE"],"imageConfig":{"aspectRatio":"7:1"}}}`, nil, 400, "aspect ratio"},
		{"fault by header", content, `{"contents":[{"parts":[{"text":"x"}]}]}`, []string{sandbox.FaultHeader, sandbox.FaultThrottled}, 429, "RESOURCE_EXHAUSTED"},
		{"nothing", "/v1/elsewhere", `{}`, nil, 404, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := sandbox.New(now)
			w := post(h, test.path, test.body, test.header...)
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("got %d %s want %d with %s", w.Code, w.Body, test.status, test.want)
			}
			if again := post(h, test.path, test.body, test.header...); again.Body.String() != w.Body.String() {
				t.Errorf("the second time: got %s want %s", again.Body, w.Body)
			}
		})
	}
}

// TestFill checks that the answer for any schema is valid.
func TestFill(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","additionalProperties":false,"required":["a","b","c","d","e"],"properties":{
		"a":{"type":"array","minItems":2,"maxItems":4,"items":{"type":"object","additionalProperties":false,"required":["x"],"properties":{"x":{"type":"array","minItems":3,"maxItems":3,"items":{"type":"string","maxLength":12}}}}},
		"b":{"type":"integer"},"c":{"type":"boolean"},"d":{"enum":["one","two"]},"e":{"type":"string","description":"at most 5 characters"}}}`
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, prompt := range []string{"Warm socks for cold feet", "靴下", "", "x"} {
		body, err := json.Marshal(map[string]any{
			"model": "m", "messages": []any{map[string]any{"role": "user", "content": fmt.Sprintf(`{"prompt":%q}`, prompt)}},
			"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "x", "schema": json.RawMessage(schema), "strict": true}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Choices []struct {
				Message struct {
					Content string `json:"content"`
				} `json:"message"`
			} `json:"choices"`
		}
		w := post(sandbox.New(now), chat, string(body))
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || len(answer.Choices) != 1 {
			t.Fatalf("%q: got %s, %v", prompt, w.Body, err)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(answer.Choices[0].Message.Content))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(v); err != nil {
			t.Errorf("%q: got %s: %v", prompt, answer.Choices[0].Message.Content, err)
		}
	}
}

// TestCountedFaultsEnd checks that a fault with a number ends and restarts.
func TestCountedFaultsEnd(t *testing.T) {
	t.Parallel()
	h := sandbox.New(now)
	var got []int
	for range 7 {
		w := post(h, chat, `{"model":"sandbox-throttled-2","messages":[{"role":"user","content":"x"}]}`)
		got = append(got, w.Code)
		if after := w.Header().Get("Retry-After"); (after == "1") != (w.Code == 429) {
			t.Errorf("%d: got Retry-After %q", w.Code, after)
		}
	}
	if want := "[429 429 200 429 429 200 429]"; fmt.Sprint(got) != want {
		t.Errorf("got %v want %s", got, want)
	}
}

func TestJournal(t *testing.T) {
	t.Parallel()
	h := sandbox.New(now)
	for range 1010 {
		post(h, chat, `{"model":"m"}`)
	}
	j := h.Journal()
	if len(j) != 1000 || j[0].Path != chat || j[0].Method != http.MethodPost || string(j[0].Body) != `{"model":"m"}` {
		t.Errorf("got %d entries, the first %+v want the last 1000", len(j), j[0])
	}
	if got := j[0].Header.Get("Authorization"); got != "[sealed]" {
		t.Errorf("got Authorization %q want it hidden", got)
	}
}
