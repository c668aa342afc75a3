// Package openai is the client of OpenAI's chat completions and image
// generations, which many servers implement: Azure, vLLM, Ollama, LM Studio,
// llama.cpp. It sends only what all of them accept. The caller retries.
package openai

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/llm"
	"fanfare/internal/outbound"
	"fanfare/internal/secret"
)

// DefaultBase is the base URL of OpenAI.
const DefaultBase = "https://api.openai.com/v1"

// Client implements llm.Chat and llm.Painter.
type Client struct {
	http *outbound.Client
	base *url.URL
	key  secret.Text
	// model and imageModel are the server's names.
	model, imageModel string
}

// New returns a client for a base URL such as https://api.openai.com/v1. The
// query of the URL is sent with every request, because Azure requires its
// version there:
// https://name.openai.azure.com/openai/deployments/model?api-version=2024-10-21.
func New(client *outbound.Client, base, chatModel, imageModel string, key secret.Text) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("base URL %q is none: write one such as %s", base, DefaultBase)
	}
	return &Client{client, u, key, chatModel, imageModel}, nil
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type responseFormat struct {
	Type       string      `json:"type"`
	JSONSchema *jsonSchema `json:"json_schema,omitzero"`
}

type jsonSchema struct {
	Name   string         `json:"name"`
	Strict bool           `json:"strict"`
	Schema map[string]any `json:"schema"`
}

type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	ResponseFormat      *responseFormat `json:"response_format,omitzero"`
	MaxTokens           int             `json:"max_tokens,omitzero"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitzero"`
	Seed                int64           `json:"seed,omitzero"`
	ReasoningEffort     string          `json:"reasoning_effort,omitzero"`
}

type chatAnswer struct {
	Model   string `json:"model"`
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content textContent `json:"content"`
			Refusal string      `json:"refusal"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int64 `json:"prompt_tokens"`
		CompletionTokens int64 `json:"completion_tokens"`
	} `json:"usage"`
}

// textContent is text, or a list of parts as some gateways return it.
type textContent string

// UnmarshalJSON implements json.Unmarshaler.
func (t *textContent) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() != '[' {
		return json.Unmarshal(b, (*string)(t))
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" {
			*t += textContent(p.Text)
		}
	}
	return nil
}

var (
	// contentCodes are the error codes of refused content.
	contentCodes = []string{`"content_filter"`, `"content_policy_violation"`, `"moderation_blocked"`}
	formatWords  = []string{"response_format", "json_schema", "json_object", "structured output"}
)

// reasoningModel matches the models that think before they answer: gpt-5 and
// later, gpt-oss, o3. Other servers ignore the effort, or refuse it.
//
// Choice: ad copy needs little thought, and thinking is slow and billed.
var reasoningModel = regexp.MustCompile(`(^|/)(gpt-([5-9]|\d\d|oss)|o\d)`)

// Complete implements llm.Chat.
func (c *Client) Complete(ctx context.Context, r llm.Request) (llm.Answer, error) {
	in := chatRequest{
		Model:    c.model,
		Messages: []message{{"system", r.System}, {"user", r.User}},
	}
	var sent []string
	// OpenAI's newer models refuse the old name of the limit, other servers may
	// not support the new one.
	limits := []string{"max_tokens", "max_completion_tokens"}
	if c.isAzure() || c.base.Hostname() == "api.openai.com" {
		slices.Reverse(limits)
	}
	if i := slices.IndexFunc(limits, r.Sends); i >= 0 {
		sent = append(sent, limits[i])
		if limits[i] == "max_tokens" {
			in.MaxTokens = r.MaxTokens
		} else {
			in.MaxCompletionTokens = r.MaxTokens
		}
	}
	// Some servers store the seed in 32 bits.
	if seed := r.Seed & math.MaxInt32; seed != 0 && r.Sends("seed") {
		sent, in.Seed = append(sent, "seed"), seed
	}
	if reasoningModel.MatchString(c.model) && r.Sends("reasoning_effort") {
		sent, in.ReasoningEffort = append(sent, "reasoning_effort"), "low"
	}
	switch r.Format {
	case llm.FormatSchema:
		in.ResponseFormat = &responseFormat{"json_schema", &jsonSchema{"answer", true, r.Schema}}
	case llm.FormatJSON:
		in.ResponseFormat = &responseFormat{"json_object", nil}
	case llm.FormatText:
	}
	var out chatAnswer
	if err := c.http.Post(ctx, c.endpoint("chat", "completions"), c.header(), in, &out); err != nil {
		return llm.Answer{}, llm.ClassifyRefusal(err, contentCodes, formatWords, sent)
	}
	answer := llm.Answer{Model: out.Model, InputTokens: out.Usage.PromptTokens, OutputTokens: out.Usage.CompletionTokens}
	if len(out.Choices) == 0 {
		return answer, fmt.Errorf("%w: it has no choices", outbound.ErrMalformed)
	}
	choice := out.Choices[0]
	if choice.Message.Refusal != "" || choice.FinishReason == "content_filter" {
		return answer, llm.ErrRefused
	}
	answer.Text = stripThinking(string(choice.Message.Content))
	if choice.FinishReason == "length" {
		return answer, llm.ErrTruncated
	}
	return answer, nil
}

// stripThinking removes the reasoning that open models print before the answer.
func stripThinking(text string) string {
	if _, after, ok := strings.Cut(text, "</think>"); ok && strings.HasPrefix(strings.TrimSpace(text), "<think>") {
		return after
	}
	return text
}

type imageRequest struct {
	Model  string `json:"model"`
	Prompt string `json:"prompt"`
	N      int    `json:"n"`
	Size   string `json:"size"`
	// ResponseFormat is unknown to models that always return b64_json. Other
	// models return a URL without it.
	ResponseFormat string `json:"response_format,omitzero"`
}

type imageAnswer struct {
	Data []struct {
		B64JSON []byte `json:"b64_json"`
	} `json:"data"`
	Usage struct {
		InputTokens  int64 `json:"input_tokens"`
		OutputTokens int64 `json:"output_tokens"`
	} `json:"usage"`
}

// Draw implements llm.Painter.
func (c *Client) Draw(ctx context.Context, prompt string, width, height int) (llm.Image, error) {
	in := imageRequest{Model: c.imageModel, Prompt: prompt, N: 1, Size: nearestSize(c.imageModel, width, height)}
	if !strings.HasPrefix(c.imageModel, "gpt-image") && !strings.HasPrefix(c.imageModel, "chatgpt-image") {
		in.ResponseFormat = "b64_json"
	}
	var out imageAnswer
	if err := c.http.Post(ctx, c.endpoint("images", "generations"), c.header(), in, &out); err != nil {
		return llm.Image{}, llm.ClassifyRefusal(err, contentCodes, nil, nil)
	}
	img := llm.Image{Model: c.imageModel, InputTokens: out.Usage.InputTokens, OutputTokens: out.Usage.OutputTokens}
	if len(out.Data) == 0 || len(out.Data[0].B64JSON) == 0 {
		return img, fmt.Errorf("%w: it has no picture", outbound.ErrMalformed)
	}
	img.Bytes = out.Data[0].B64JSON
	return img, nil
}

// imageSizes returns the sizes that a family of models supports: square,
// landscape, portrait.
func imageSizes(imageModel string) []string {
	if strings.HasPrefix(imageModel, "dall-e-3") {
		return []string{"1024x1024", "1792x1024", "1024x1792"}
	}
	return []string{"1024x1024", "1536x1024", "1024x1536"}
}

// nearestSize returns the size that loses the least when it is cropped to the
// requested shape.
func nearestSize(imageModel string, width, height int) string {
	best, least := "", math.Inf(1)
	for _, s := range imageSizes(imageModel) {
		var w, h float64
		if _, err := fmt.Sscanf(s, "%fx%f", &w, &h); err != nil {
			continue
		}
		if off := math.Abs(math.Log(w / h * float64(height) / float64(width))); off < least {
			best, least = s, off
		}
	}
	return best
}

// isAzure reports whether the server is Microsoft's, which expects the key in a
// separate header.
func (c *Client) isAzure() bool {
	host := c.base.Hostname()
	return strings.HasSuffix(host, ".azure.com") || strings.HasSuffix(host, ".azure.us")
}

func (c *Client) header() http.Header {
	h := http.Header{}
	switch {
	case c.key.Empty(): // self-hosted models often have no key
	case c.isAzure():
		h.Set("Api-Key", c.key.Reveal())
	default:
		h.Set("Authorization", "Bearer "+c.key.Reveal())
	}
	return h
}

func (c *Client) endpoint(path ...string) string { return c.base.JoinPath(path...).String() }
