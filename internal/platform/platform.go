// Package platform opens the model that a workspace has set up. It is the only
// place that knows all of them by name.
package platform

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

// Kinds are the languages that models are spoken to in.
var Kinds = []string{"openai", "anthropic", "gemini"}

// Settings are what a workspace says about its model.
type Settings struct {
	Kind string
	// BaseURL is empty for the platform's own.
	BaseURL string
	Model   string
	// ImageModel is empty where pictures are not to be drawn by a model.
	ImageModel string
	Key        secret.Text
	// Price replaces what the price table says; nil for that.
	Price *llm.Price
}

// Check tells what is wrong with the settings, for whoever stores them.
func (s Settings) Check(policy outbound.Policy) error {
	if !slices.Contains(Kinds, s.Kind) {
		return fmt.Errorf("kind %q is none of %s", s.Kind, strings.Join(Kinds, ", "))
	}
	if s.Model == "" {
		return fmt.Errorf("the model has no name")
	}
	if s.Kind == "anthropic" && s.ImageModel != "" {
		return fmt.Errorf("models of this kind do not draw: leave the image model out")
	}
	if s.BaseURL == "" {
		return nil
	}
	return policy.Check(s.BaseURL)
}

// NewClient makes the client that models are asked with. Pictures are what
// makes an answer long, thinking what makes it late.
func NewClient(policy outbound.Policy) (*outbound.Client, error) {
	return outbound.New(outbound.Options{Policy: policy, Timeout: 2 * time.Minute, MaxBytes: 32 << 20})
}

// Open makes a provider of the settings. Nothing is asked yet.
func Open(s Settings, client *outbound.Client, shorten func(string, creative.Limit) (string, bool), now func() time.Time) (creative.Provider, error) {
	chat, painter, err := s.open(client)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", s.Kind, err)
	}
	if s.ImageModel == "" {
		painter = nil
	}
	return llm.New(chat, painter, llm.Options{
		Model: s.Model, ImageModel: s.ImageModel, Price: s.Price, Shorten: shorten, Now: now,
	}), nil
}

func (s Settings) open(client *outbound.Client) (llm.Chat, llm.Painter, error) {
	switch s.Kind {
	case "openai":
		c, err := openai.New(client, cmp.Or(s.BaseURL, openai.DefaultBase), s.Model, s.ImageModel, s.Key)
		return c, c, err
	case "anthropic":
		c, err := anthropic.New(client, cmp.Or(s.BaseURL, anthropic.DefaultBase), s.Model, s.Key)
		return c, nil, err
	case "gemini":
		c, err := gemini.New(client, cmp.Or(s.BaseURL, gemini.DefaultBase), s.Model, s.ImageModel, s.Key)
		return c, c, err
	}
	return nil, nil, fmt.Errorf("kind %q is none of %s", s.Kind, strings.Join(Kinds, ", "))
}
