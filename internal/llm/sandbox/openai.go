package sandbox

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// openAIChat simulates OpenAI's chat completions.
type openAIChat struct{}

func (openAIChat) apiKey(h http.Header) string {
	if key := h.Get("Api-Key"); key != "" {
		return key
	}
	return strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
}

func (openAIChat) knownMembers() []string {
	return []string{
		"model", "messages", "response_format", "max_tokens", "max_completion_tokens", "seed", "temperature", "top_p", "n", "stop", "user",
		"metadata", "store", "reasoning_effort", "verbosity", "presence_penalty", "frequency_penalty", "service_tier", "stream",
	}
}

func (openAIChat) parse(_ *http.Request, body []byte) (*modelRequest, *refusal) {
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
		MaxTokens           int `json:"max_tokens"`
		MaxCompletionTokens int `json:"max_completion_tokens"`
		ResponseFormat      struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Name   string         `json:"name"`
				Strict bool           `json:"strict"`
				Schema map[string]any `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	switch err := json.Unmarshal(body, &in); {
	case err != nil:
		return nil, invalidRequest("messages", "A member has the wrong type.")
	case in.Model == "":
		return nil, invalidRequest("model", "you must provide a model parameter")
	case len(in.Messages) == 0:
		return nil, invalidRequest("messages", "Missing required parameter: 'messages'.")
	case in.Stream:
		return nil, invalidRequest("stream", "The sandbox does not stream.")
	}
	q := &modelRequest{model: in.Model, maxTokens: in.MaxTokens + in.MaxCompletionTokens, filters: true}
	for _, m := range in.Messages {
		switch m.Role {
		case "system", "developer":
			q.system += m.Content
		case "user":
			q.user = m.Content
		}
	}
	format := in.ResponseFormat
	switch format.Type {
	case "", "text":
	case "json_object":
		q.format = "json"
		if !strings.Contains(strings.ToLower(q.system+q.user), "json") {
			return nil, invalidRequest("messages", "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.")
		}
	case "json_schema":
		q.format, q.schema = "schema", format.JSONSchema.Schema
		if format.JSONSchema.Name == "" || q.schema == nil {
			return nil, invalidRequest("response_format", "Missing required parameter: 'response_format.json_schema.name'.")
		}
		if fault := nonStrictPath(q.schema); format.JSONSchema.Strict && fault != "" {
			return nil, invalidRequest("response_format", "Invalid schema for response_format: "+fault)
		}
	default:
		return nil, invalidRequest("response_format", "Invalid value: '"+format.Type+"'.")
	}
	return q, nil
}

// nonStrictPath returns where a schema is not strict: an object with optional
// or additional members.
func nonStrictPath(schema map[string]any) string {
	properties, _ := schema["properties"].(map[string]any)
	if schema["type"] == "object" {
		if schema["additionalProperties"] != false {
			return "'additionalProperties' is required to be supplied and to be false."
		}
		required, _ := schema["required"].([]any)
		for name := range properties {
			if !slices.Contains(required, any(name)) {
				return "'required' is required to be supplied and to be an array including every key in properties."
			}
		}
	}
	for _, inner := range properties {
		if sub, ok := inner.(map[string]any); ok {
			if fault := nonStrictPath(sub); fault != "" {
				return fault
			}
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		return nonStrictPath(items)
	}
	return ""
}

func (openAIChat) answerBody(q *modelRequest, a *modelAnswer) any {
	message := map[string]any{"role": "assistant", "content": a.text, "refusal": nil}
	finish := a.stop
	switch a.stop {
	case "refusal":
		message["content"], message["refusal"], finish = nil, a.text, "stop"
	case "filter":
		finish = "content_filter"
	}
	return map[string]any{
		"id": "chatcmpl-" + q.id, "object": "chat.completion", "created": q.created, "model": q.model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish, "logprobs": nil}},
		"usage":   map[string]any{"prompt_tokens": a.input, "completion_tokens": a.output, "total_tokens": a.input + a.output},
	}
}

func (openAIChat) refusalBody(f *refusal) (int, any) {
	kind := "invalid_request_error"
	switch {
	case f.status == http.StatusTooManyRequests:
		kind = "requests"
	case f.status >= 500:
		kind = "server_error"
	}
	body := map[string]any{"message": f.message, "type": kind, "param": nil, "code": f.code}
	if f.param != "" {
		body["param"] = f.param
	}
	return f.status, map[string]any{"error": body}
}

// openAIImages simulates OpenAI's image generations.
type openAIImages struct{ openAIChat }

func (openAIImages) knownMembers() []string {
	return []string{"model", "prompt", "n", "size", "quality", "response_format", "user", "background", "output_format", "output_compression", "moderation", "style", "stream"}
}

func (openAIImages) parse(_ *http.Request, body []byte) (*modelRequest, *refusal) {
	var in struct {
		Model          string `json:"model"`
		Prompt         string `json:"prompt"`
		N              int    `json:"n"`
		Size           string `json:"size"`
		ResponseFormat string `json:"response_format"`
	}
	if json.Unmarshal(body, &in) != nil || in.Prompt == "" {
		return nil, invalidRequest("prompt", "Missing required parameter: 'prompt'.")
	}
	q := &modelRequest{model: in.Model, user: in.Prompt, filters: true}
	only := strings.HasPrefix(in.Model, "gpt-image")
	sizes := []string{"", "auto", "1024x1024", "1536x1024", "1024x1536"}
	if strings.HasPrefix(in.Model, "dall-e-3") {
		sizes = []string{"", "1024x1024", "1792x1024", "1024x1792"}
	}
	switch {
	case only && in.ResponseFormat != "":
		return nil, invalidRequest("response_format", "Unknown parameter: 'response_format'.")
	case !only && in.ResponseFormat != "b64_json":
		return nil, invalidRequest("response_format", "The sandbox keeps no pictures: ask for b64_json.")
	case in.N > 1:
		return nil, invalidRequest("n", "The sandbox draws one picture at a time.")
	case !slices.Contains(sizes, in.Size):
		return nil, invalidRequest("size", "Invalid value: '"+in.Size+"'.")
	}
	q.width, q.height = 1024, 1024
	if strings.Contains(in.Size, "x") {
		if _, err := fmt.Sscanf(in.Size, "%dx%d", &q.width, &q.height); err != nil {
			return nil, invalidRequest("size", "Invalid value: '"+in.Size+"'.")
		}
	}
	return q, nil
}

func (openAIImages) answerBody(q *modelRequest, a *modelAnswer) any {
	return map[string]any{
		"created": q.created,
		"data":    []any{map[string]any{"b64_json": base64.StdEncoding.EncodeToString(a.picture)}},
		"usage":   map[string]any{"input_tokens": a.input, "output_tokens": a.output, "total_tokens": a.input + a.output},
	}
}
