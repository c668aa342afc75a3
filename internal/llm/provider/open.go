package provider

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"fanfare/internal/creative"
	"fanfare/internal/llm"
	"fanfare/internal/llm/anthropic"
	"fanfare/internal/llm/gemini"
	"fanfare/internal/llm/openai"
	"fanfare/internal/outbound"
	"fanfare/internal/secret"
)

// Kinds are the supported vendor APIs.
var Kinds = []string{"openai", "anthropic", "gemini"}

// Check returns an error if the settings of a model are invalid.
func Check(kind string, s creative.ModelSettings, policy outbound.Policy) error {
	if !slices.Contains(Kinds, kind) {
		return fmt.Errorf("kind %q is none of %s", kind, strings.Join(Kinds, ", "))
	}
	if s.Model == "" {
		return fmt.Errorf("the model has no name")
	}
	if kind == "anthropic" && s.ImageModel != "" {
		return fmt.Errorf("models of this kind do not draw: leave the image model out")
	}
	if s.BaseURL == "" {
		return nil
	}
	return policy.Check(s.BaseURL)
}

// NewClient returns the HTTP client for models. Its limits are high, because
// pictures are large and thinking takes time.
func NewClient(policy outbound.Policy) (*outbound.Client, error) {
	return outbound.New(outbound.Options{Policy: policy, Timeout: 2 * time.Minute, MaxBytes: 32 << 20})
}

// Open returns the provider of a model. It sends no request. What the server
// refuses is recorded in learned, which may be nil.
func Open(kind string, s creative.ModelSettings, key secret.Text, client *outbound.Client, shorten llm.Shortener, learned *llm.Learned, now func() time.Time) (creative.Provider, error) {
	chat, painter, err := newModelClients(kind, s, key, client)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", kind, err)
	}
	if s.ImageModel == "" {
		painter = nil
	}
	return llm.New(chat, painter, llm.Options{ModelSettings: s, Shorten: shorten, Learned: learned, Now: now}), nil
}

func newModelClients(kind string, s creative.ModelSettings, key secret.Text, client *outbound.Client) (llm.Chat, llm.Painter, error) {
	switch kind {
	case "openai":
		c, err := openai.New(client, cmp.Or(s.BaseURL, openai.DefaultBase), s.Model, s.ImageModel, key)
		return c, c, err
	case "anthropic":
		c, err := anthropic.New(client, cmp.Or(s.BaseURL, anthropic.DefaultBase), s.Model, key)
		return c, nil, err
	case "gemini":
		c, err := gemini.New(client, cmp.Or(s.BaseURL, gemini.DefaultBase), s.Model, s.ImageModel, key)
		return c, c, err
	}
	return nil, nil, fmt.Errorf("kind %q is none of %s", kind, strings.Join(Kinds, ", "))
}
