package openai

import (
	"testing"

	"fanfare/internal/outbound"
	"fanfare/internal/secret"
)

func TestKeyHeader(t *testing.T) {
	t.Parallel()
	http, err := outbound.New(outbound.Options{})
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
		c, err := New(http, test.base, "m", "", secret.New(test.key))
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
