// Package gemini is the client of generateContent in Google's Gemini API, for
// text and pictures. The caller retries.
package gemini

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"fanfare/internal/llm"
	"fanfare/internal/outbound"
	"fanfare/internal/secret"
)

// DefaultBase is the base URL of the API.
const DefaultBase = "https://generativelanguage.googleapis.com"

// Client implements llm.Chat and llm.Painter.
type Client struct {
	http              *outbound.Client
	base              *url.URL
	key               secret.Text
	model, imageModel string
}

// New returns a client for a base URL such as
// https://generativelanguage.googleapis.com.
func New(client *outbound.Client, base, chatModel, imageModel string, key secret.Text) (*Client, error) {
	u, err := url.Parse(strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1beta"))
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("base URL %q is none: write one such as %s", base, DefaultBase)
	}
	return &Client{client, u, key, chatModel, imageModel}, nil
}

type part struct {
	Text       string `json:"text,omitzero"`
	Thought    bool   `json:"thought,omitzero"`
	InlineData *blob  `json:"inlineData,omitzero"`
}

type blob struct {
	MIMEType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

type content struct {
	Role  string `json:"role,omitzero"`
	Parts []part `json:"parts"`
}

type imageConfig struct {
	AspectRatio string `json:"aspectRatio"`
}

type thinkingConfig struct {
	ThinkingLevel string `json:"thinkingLevel"`
}

type generationConfig struct {
	MaxOutputTokens    int             `json:"maxOutputTokens,omitzero"`
	ResponseMIMEType   string          `json:"responseMimeType,omitzero"`
	ResponseJSONSchema map[string]any  `json:"responseJsonSchema,omitzero"`
	ResponseModalities []string        `json:"responseModalities,omitzero"`
	ImageConfig        *imageConfig    `json:"imageConfig,omitzero"`
	Seed               int64           `json:"seed,omitzero"`
	ThinkingConfig     *thinkingConfig `json:"thinkingConfig,omitzero"`
}

type request struct {
	SystemInstruction *content         `json:"systemInstruction,omitzero"`
	Contents          []content        `json:"contents"`
	GenerationConfig  generationConfig `json:"generationConfig"`
}

type answer struct {
	ModelVersion string `json:"modelVersion"`
	Candidates   []struct {
		Content      content `json:"content"`
		FinishReason string  `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata struct {
		PromptTokenCount     int64 `json:"promptTokenCount"`
		CandidatesTokenCount int64 `json:"candidatesTokenCount"`
		ThoughtsTokenCount   int64 `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
}

var formatParameters = []string{"response_json_schema", "responseJsonSchema", "response_schema", "response_mime_type", "responseMimeType", "JSON mode", "schema"}

// Complete implements llm.Chat.
func (c *Client) Complete(ctx context.Context, r llm.Request) (llm.Answer, error) {
	in := request{
		SystemInstruction: &content{Parts: []part{{Text: r.System}}},
		Contents:          []content{{Role: "user", Parts: []part{{Text: r.User}}}},
		GenerationConfig:  generationConfig{MaxOutputTokens: r.MaxTokens},
	}
	switch r.Format {
	case llm.FormatSchema:
		in.GenerationConfig.ResponseMIMEType, in.GenerationConfig.ResponseJSONSchema = "application/json", r.Schema
	case llm.FormatJSON:
		in.GenerationConfig.ResponseMIMEType = "application/json"
	case llm.FormatText:
	}
	var sent []string
	if seed := r.Seed & math.MaxInt32; seed != 0 && r.Sends("seed") {
		sent, in.GenerationConfig.Seed = append(sent, "seed"), seed
	}
	if r.Sends("thinking") {
		// Choice: ad copy needs little thought, and thinking is slow and billed.
		// Models before Gemini 3 refuse the parameter.
		sent, in.GenerationConfig.ThinkingConfig = append(sent, "thinking"), &thinkingConfig{"LOW"}
	}
	out, parts, err := c.generate(ctx, c.model, in, sent...)
	a := llm.Answer{Model: out.ModelVersion, InputTokens: out.UsageMetadata.PromptTokenCount, OutputTokens: out.outputTokens()}
	for _, p := range parts {
		if !p.Thought {
			a.Text += p.Text
		}
	}
	return a, err
}

// Draw implements llm.Painter.
func (c *Client) Draw(ctx context.Context, prompt string, width, height int) (llm.Image, error) {
	in := request{
		Contents: []content{{Role: "user", Parts: []part{{Text: prompt}}}},
		GenerationConfig: generationConfig{
			ResponseModalities: []string{"TEXT", "IMAGE"},
			ImageConfig:        &imageConfig{nearestRatio(width, height)},
		},
	}
	out, parts, err := c.generate(ctx, c.imageModel, in)
	img := llm.Image{Model: out.ModelVersion, InputTokens: out.UsageMetadata.PromptTokenCount, OutputTokens: out.outputTokens()}
	if err != nil {
		return img, err
	}
	for _, p := range parts {
		if p.InlineData != nil && !p.Thought {
			img.Bytes = p.InlineData.Data
			return img, nil
		}
	}
	return img, fmt.Errorf("%w: it has no picture", outbound.ErrMalformed)
}

// generate sends a request and returns the parts of the first candidate, also
// with ErrTruncated. sent are the optional parameters of the request.
func (c *Client) generate(ctx context.Context, name string, in request, sent ...string) (out answer, parts []part, err error) {
	name = url.PathEscape(strings.TrimPrefix(name, "models/"))
	to := c.base.JoinPath("v1beta", "models", name+":generateContent").String()
	if err := c.http.Post(ctx, to, http.Header{"X-Goog-Api-Key": {c.key.Reveal()}}, in, &out); err != nil {
		return out, nil, llm.ClassifyRefusal(normalizeRefusal(err), nil, formatParameters, sent)
	}
	if out.PromptFeedback.BlockReason != "" {
		return out, nil, llm.ErrRefused
	}
	if len(out.Candidates) == 0 {
		return out, nil, fmt.Errorf("%w: it has no candidates", outbound.ErrMalformed)
	}
	switch out.Candidates[0].FinishReason {
	case "STOP", "", "FINISH_REASON_UNSPECIFIED":
		return out, out.Candidates[0].Content.Parts, nil
	case "MAX_TOKENS":
		return out, out.Candidates[0].Content.Parts, llm.ErrTruncated
	case "OTHER", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "NO_IMAGE", "IMAGE_OTHER":
		return out, nil, fmt.Errorf("%w: the model stopped", outbound.ErrMalformed)
	}
	// The remaining reasons are content filters: SAFETY, RECITATION, BLOCKLIST
	// and similar ones.
	return out, nil, llm.ErrRefused
}

var retryDelayPattern = regexp.MustCompile(`"retryDelay":\s*"(\d+(?:\.\d+)?)s"`)

// normalizeRefusal converts a refusal to the form of other vendors. Gemini
// reports an invalid key as a bad request, and the retry delay in the body.
func normalizeRefusal(err error) error {
	status, ok := errors.AsType[*outbound.StatusError](err)
	if !ok {
		return err
	}
	said := &outbound.StatusError{Status: status.Status, Header: status.Header.Clone(), Body: status.Body}
	if bytes.Contains(status.Body, []byte("API_KEY_INVALID")) {
		said.Status = http.StatusUnauthorized
	}
	if m := retryDelayPattern.FindSubmatch(status.Body); m != nil && said.Header.Get("Retry-After") == "" {
		said.Header.Set("Retry-After", string(m[1]))
	}
	return said
}

func (a *answer) outputTokens() int64 {
	return a.UsageMetadata.CandidatesTokenCount + a.UsageMetadata.ThoughtsTokenCount
}

// nearestRatio returns the nearest aspect ratio that the models support.
func nearestRatio(width, height int) string {
	best, least := "", math.Inf(1)
	for _, r := range []string{"1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"} {
		var w, h float64
		if _, err := fmt.Sscanf(r, "%f:%f", &w, &h); err != nil {
			continue
		}
		if off := math.Abs(math.Log(w / h * float64(height) / float64(width))); off < least {
			best, least = r, off
		}
	}
	return best
}
