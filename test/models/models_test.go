// Package models_test compares the requests of the vendors' own SDKs with those
// of the clients, both sent to the sandbox. Without the SDKs, the clients would
// only be tested against the project's own simulation.
package models_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/llm"
	"fanfare/internal/llm/anthropic"
	"fanfare/internal/llm/gemini"
	"fanfare/internal/llm/openai"
	"fanfare/internal/llm/provider"
	"fanfare/internal/llm/sandbox"
	"fanfare/internal/outbound"
	"fanfare/internal/secret"
	"fanfare/test/program"
)

// requestIntent is the request that all clients send. Seed and model are
// arbitrary.
var requestIntent = map[string]any{
	"system":     "You write advertising copy. Answer in JSON.",
	"user":       "Write exactly 2 variants.\n- push headlines: 3 to 5 different texts\n{\"prompt\":\"Warm socks for cold feet\"}",
	"prompt":     "Warm socks, no letters",
	"model":      "some-model",
	"max_tokens": 4321,
	"seed":       7,
	"variants":   2,
	"schema":     schema,
}

// schema contains the constructs that the vendors treat differently: counts of
// all kinds.
var schema = map[string]any{
	"type": "object", "additionalProperties": false, "required": []string{"variants"},
	"properties": map[string]any{"variants": map[string]any{
		"type": "array", "minItems": 2, "maxItems": 2,
		"items": map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"body", "headlines"},
			"properties": map[string]any{
				"body":      map[string]any{"type": "string", "description": "at most 60 characters"},
				"headlines": map[string]any{"type": "array", "minItems": 1, "maxItems": 5, "items": map[string]any{"type": "string"}},
			},
		},
	}},
}

var request = llm.Request{
	System: requestIntent["system"].(string), User: requestIntent["user"].(string), Schema: schema, MaxTokens: requestIntent["max_tokens"].(int), Seed: 7,
}

// install installs the SDKs, once.
var install = sync.OnceValue(func() error { return program.Packages() })

func startSandbox(t *testing.T) (*sandbox.Handler, string) {
	t.Helper()
	h := sandbox.New(func() time.Time { return time.Unix(1_800_000_000, 0) })
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return h, srv.URL
}

// runScript runs an SDK's script and returns its requests.
func runScript(t *testing.T, script string) []sandbox.Entry {
	t.Helper()
	if err := install(); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(requestIntent)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "intent.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	h, url := startSandbox(t)
	cmd := exec.CommandContext(t.Context(), "node", script)
	// SDKs read keys, addresses and proxies from the environment, so they get
	// no other variables.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "SANDBOX_URL=" + url, "INTENT_FILE=" + file}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return h.Journal()
}

// newClient returns an HTTP client.
func newClient(t *testing.T) *outbound.Client {
	t.Helper()
	c, err := provider.NewClient(outbound.Trusted())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var key = secret.New("sk-test")

// completeAllFormats sends a request in all three formats, as the scripts do
// first.
func completeAllFormats(t *testing.T, c llm.Chat) {
	t.Helper()
	for _, format := range []llm.Format{llm.FormatSchema, llm.FormatJSON, llm.FormatText} {
		r := request
		r.Format = format
		if _, err := c.Complete(t.Context(), r); err != nil {
			t.Fatalf("format %d: %v", format, err)
		}
	}
}

func draw(t *testing.T, c llm.Painter) {
	t.Helper()
	if _, err := c.Draw(t.Context(), requestIntent["prompt"].(string), 500, 500); err != nil {
		t.Fatal(err)
	}
}

// compareEntries compares our requests with those of an SDK: path, relevant
// headers, and the whole body after normalization.
func compareEntries(t *testing.T, ours, sdk []sandbox.Entry, headers []string, normal func(body any) any) {
	t.Helper()
	if len(sdk) < len(ours) {
		t.Fatalf("the SDK made %d requests, we %d", len(sdk), len(ours))
	}
	for i, e := range ours {
		if e.Path != sdk[i].Path || e.Method != sdk[i].Method {
			t.Errorf("request %d: got %s %s want %s %s", i, e.Method, e.Path, sdk[i].Method, sdk[i].Path)
		}
		for _, name := range headers {
			got, want := e.Header.Get(name), sdk[i].Header.Get(name)
			if got, _, _ = strings.Cut(got, ";"); got == "" || got != want {
				t.Errorf("request %d, header %s: got %q want %q", i, name, got, want)
			}
		}
		if diff := cmp.Diff(normal(decode(t, sdk[i].Body)), normal(decode(t, e.Body))); diff != "" {
			t.Errorf("request %d differs (-SDK +ours):\n%s", i, diff)
		}
	}
}

func decode(t *testing.T, body []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func unchanged(body any) any { return body }

// checkDeclared checks that an SDK's types have the members of a request. Two
// SDKs send any member, so the comparison alone would prove nothing.
func checkDeclared(t *testing.T, file, kind string, members map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("node_modules", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "interface "+kind+" {")
	block, _, closed := strings.Cut(block, "\n}")
	if _, inner, nested := strings.Cut(string(text), "    interface "+kind+" {"); nested {
		block, _, closed = strings.Cut(inner, "\n    }")
	}
	if !ok || !closed {
		t.Fatalf("%s has no interface %s any more", file, kind)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !regexp.MustCompile(`(?m)^\s+` + regexp.QuoteMeta(name) + `\??:`).MatchString(block) {
			t.Errorf("%s of %s does not know %q", kind, file, name)
		}
	}
}

func member(v any, path ...string) map[string]any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		if v = m[name]; v == nil {
			return nil
		}
		if list, ok := v.([]any); ok {
			v = list[0]
		}
	}
	m, _ := v.(map[string]any)
	return m
}

func TestOpenAI(t *testing.T) {
	t.Parallel()
	h, url := startSandbox(t)
	for i, imageModel := range []string{"gpt-image-1", "dall-e-3"} {
		c, err := openai.New(newClient(t), url+"/v1", "some-model", imageModel, key)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			completeAllFormats(t, c)
		}
		draw(t, c)
	}
	ours := h.Journal()
	compareEntries(t, ours, runScript(t, "openai.mjs"), []string{"Authorization", "Content-Type", "Accept"}, unchanged)
	const types = "openai/resources/"
	for _, e := range ours[:3] {
		checkDeclared(t, types+"chat/completions/completions.d.ts", "ChatCompletionCreateParamsBase", member(decode(t, e.Body)))
	}
	first := decode(t, ours[0].Body)
	checkDeclared(t, types+"shared.d.ts", "ResponseFormatJSONSchema", member(first, "response_format"))
	checkDeclared(t, types+"shared.d.ts", "JSONSchema", member(first, "response_format", "json_schema"))
	checkDeclared(t, types+"chat/completions/completions.d.ts", "ChatCompletionCreateParamsBase", map[string]any{"max_completion_tokens": 0})
	for _, e := range ours[3:] {
		checkDeclared(t, types+"images.d.ts", "ImageGenerateParamsBase", member(decode(t, e.Body)))
	}
}

func TestAnthropic(t *testing.T) {
	t.Parallel()
	h, url := startSandbox(t)
	c, err := anthropic.New(newClient(t), url, "some-model", key)
	if err != nil {
		t.Fatal(err)
	}
	completeAllFormats(t, c)
	ours := h.Journal()
	sdk := runScript(t, "anthropic.mjs")
	// The SDK writes the counts that it removes from a schema into the
	// descriptions.
	compareEntries(t, ours, sdk, []string{"Anthropic-Version", "Content-Type", "Accept"}, withoutDescriptions)
	// The API accepts a key as X-Api-Key, as documented, and as a bearer token,
	// as this SDK sends it.
	if ours[0].Header.Get("X-Api-Key") == "" || sdk[0].Header.Get("Authorization") == "" {
		t.Errorf("got key headers %v and %v", ours[0].Header, sdk[0].Header)
	}
	const types = "@anthropic-ai/sdk/resources/messages/messages.d.ts"
	for _, e := range ours {
		checkDeclared(t, types, "MessageCreateParamsBase", member(decode(t, e.Body)))
	}
	schema, tool := decode(t, ours[0].Body), decode(t, ours[1].Body)
	checkDeclared(t, types, "OutputConfig", member(schema, "output_config"))
	checkDeclared(t, types, "JSONOutputFormat", member(schema, "output_config", "format"))
	checkDeclared(t, types, "Tool", member(tool, "tools"))
	checkDeclared(t, types, "ToolChoiceTool", member(tool, "tool_choice"))
}

func withoutDescriptions(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for name, inner := range v {
			if name != "description" {
				m[name] = withoutDescriptions(inner)
			}
		}
		return m
	case []any:
		list := []any{}
		for _, inner := range v {
			list = append(list, withoutDescriptions(inner))
		}
		return list
	}
	return v
}

func TestGemini(t *testing.T) {
	t.Parallel()
	h, url := startSandbox(t)
	c, err := gemini.New(newClient(t), url, "some-model", "gemini-2.5-flash-image", key)
	if err != nil {
		t.Fatal(err)
	}
	completeAllFormats(t, c)
	draw(t, c)
	// The SDK gives the instruction a role, which has no effect.
	compareEntries(t, h.Journal(), runScript(t, "gemini.mjs"), []string{"X-Goog-Api-Key", "Content-Type"}, func(body any) any {
		delete(member(body, "systemInstruction"), "role")
		return body
	})
}

// TestSandboxRefusesWhatSDKsDoNotSend checks that the comparison can fail.
func TestSandboxRefusesWhatSDKsDoNotSend(t *testing.T) {
	t.Parallel()
	_, url := startSandbox(t)
	err := newClient(t).Post(context.Background(), url+"/v1/chat/completions", http.Header{"Authorization": {"Bearer k"}},
		map[string]any{"model": "m", "messages": []any{}, "max_token": 1}, nil)
	if status, ok := errors.AsType[*outbound.StatusError](err); !ok || status.Status != http.StatusBadRequest {
		t.Errorf("got %v want 400", err)
	}
}
