// Package anthropic is the client of Anthropic's Messages API. Its models write
// text and draw no pictures. The caller retries.
package anthropic

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/llm"
	"fanfare/internal/outbound"
	"fanfare/internal/secret"
)

const (
	// DefaultBase is the base URL of the API.
	DefaultBase = "https://api.anthropic.com"
	// apiVersion is the version that the fields of this package belong to.
	apiVersion = "2026-10-21"
	// answerTool is the name of the tool that returns the answer if the model
	// does not support schemas.
	answerTool = "answer"
)

// Client implements llm.Chat.
type Client struct {
	http  *outbound.Client
	base  *url.URL
	key   secret.Text
	model string
}

// New returns a client for a base URL such as https://api.anthropic.com.
func New(client *outbound.Client, base, chatModel string, key secret.Text) (*Client, error) {
	u, err := url.Parse(strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1"))
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("base URL %q is none: write one such as %s", base, DefaultBase)
	}
	return &Client{client, u, key, chatModel}, nil
}

type request struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	System       string        `json:"system"`
	Messages     []message     `json:"messages"`
	OutputConfig *outputConfig `json:"output_config,omitzero"`
	Tools        []toolParam   `json:"tools,omitzero"`
	ToolChoice   *toolChoice   `json:"tool_choice,omitzero"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type outputConfig struct {
	Format *outputFormat `json:"format,omitzero"`
	// Effort is how much the model thinks.
	Effort string `json:"effort,omitzero"`
}

type outputFormat struct {
	Type   string         `json:"type"`
	Schema map[string]any `json:"schema"`
}

type toolParam struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema map[string]any `json:"input_schema"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type answer struct {
	Model      string `json:"model"`
	StopReason string `json:"stop_reason"`
	Content    []struct {
		Type  string         `json:"type"`
		Text  string         `json:"text"`
		Input jsontext.Value `json:"input"`
	} `json:"content"`
	Usage struct {
		InputTokens  int64 `json:"input_tokens"`
		OutputTokens int64 `json:"output_tokens"`
	} `json:"usage"`
}

var formatParameters = []string{"output_config", "output_format", "json_schema", "schema", "tool_choice", "tools"}

// Complete implements llm.Chat.
func (c *Client) Complete(ctx context.Context, r llm.Request) (llm.Answer, error) {
	in := request{Model: c.model, MaxTokens: r.MaxTokens, System: r.System, Messages: []message{{"user", r.User}}}
	var sent []string
	config := &outputConfig{}
	if r.Sends("effort") && r.Sends("output_config") {
		// Choice: ad copy needs little thought, and thinking is slow and billed.
		// Models that do not think refuse the parameter.
		sent, config.Effort = append(sent, "effort"), "low"
		if r.Format != llm.FormatSchema {
			// Without a format, a refusal of the whole member is about the effort.
			sent = append(sent, "output_config")
		}
	}
	switch r.Format {
	case llm.FormatSchema:
		config.Format = &outputFormat{"json_schema", dropUnsupportedCounts(r.Schema)}
	case llm.FormatJSON:
		in.Tools = []toolParam{{answerTool, "Hands in the answer.", r.Schema}}
		in.ToolChoice = &toolChoice{"tool", answerTool}
	case llm.FormatText:
	}
	if *config != (outputConfig{}) {
		in.OutputConfig = config
	}
	header := http.Header{"X-Api-Key": {c.key.Reveal()}, "Anthropic-Version": {apiVersion}}
	var out answer
	if err := c.http.Post(ctx, c.base.JoinPath("v1", "messages").String(), header, in, &out); err != nil {
		return llm.Answer{}, llm.ClassifyRefusal(err, nil, formatParameters, sent)
	}
	a := llm.Answer{Model: out.Model, InputTokens: out.Usage.InputTokens, OutputTokens: out.Usage.OutputTokens}
	if out.StopReason == "refusal" {
		return a, llm.ErrRefused
	}
	for _, block := range out.Content {
		switch block.Type {
		case "text":
			a.Text += block.Text
		case "tool_use":
			a.Text += string(block.Input)
		}
	}
	switch {
	case out.StopReason == "max_tokens" || out.StopReason == "model_context_window_exceeded":
		return a, llm.ErrTruncated
	case a.Text == "":
		return a, fmt.Errorf("%w: it has no text", outbound.ErrMalformed)
	}
	return a, nil
}

// dropUnsupportedCounts copies a schema without the counts that this API
// rejects: maxItems, and minItems above 1.
func dropUnsupportedCounts(schema map[string]any) map[string]any {
	loose := make(map[string]any, len(schema))
	for name, value := range schema {
		if least, ok := value.(int); name == "maxItems" || name == "minItems" && ok && least > 1 {
			continue
		}
		if inner, ok := value.(map[string]any); ok {
			value = dropUnsupportedCounts(inner)
		}
		loose[name] = value
	}
	return loose
}
