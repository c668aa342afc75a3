package sandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// anthropicMessages simulates Anthropic's Messages API.
type anthropicMessages struct{}

// apiKey reads the header of the documentation, or the one of newer SDKs.
func (anthropicMessages) apiKey(h http.Header) string {
	return cmp.Or(h.Get("X-Api-Key"), strings.TrimPrefix(h.Get("Authorization"), "Bearer "))
}

func (anthropicMessages) knownMembers() []string {
	return []string{
		"model", "max_tokens", "system", "messages", "output_config", "tools", "tool_choice", "metadata", "stop_sequences",
		"stream", "service_tier", "thinking",
	}
}

// anthropicRequest is the body of a request.
type anthropicRequest struct {
	Model     string         `json:"model"`
	MaxTokens int            `json:"max_tokens"`
	Stream    bool           `json:"stream"`
	System    jsontext.Value `json:"system"`
	Messages  []struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	} `json:"messages"`
	OutputConfig struct {
		Format *struct {
			Type   string         `json:"type"`
			Schema map[string]any `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
	Tools []struct {
		Name        string         `json:"name"`
		InputSchema map[string]any `json:"input_schema"`
	} `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
}

func (anthropicMessages) parse(r *http.Request, body []byte) (*modelRequest, *refusal) {
	var in anthropicRequest
	switch err := json.Unmarshal(body, &in); {
	case err != nil:
		return nil, invalidRequest("messages", "A member has the wrong type.")
	case r.Header.Get("Anthropic-Version") == "":
		return nil, invalidRequest("", "anthropic-version: header is required")
	case in.Model == "":
		return nil, invalidRequest("", "model: Field required")
	case in.MaxTokens < 1:
		return nil, invalidRequest("", "max_tokens: Field required")
	case len(in.Messages) == 0:
		return nil, invalidRequest("", "messages: at least one message is required")
	case in.Stream:
		return nil, invalidRequest("", "stream: the sandbox does not stream")
	}
	q := &modelRequest{model: in.Model, maxTokens: in.MaxTokens, system: contentText(in.System)}
	for _, m := range in.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return nil, invalidRequest("", "messages: roles are user and assistant")
		}
		q.user = contentText(m.Content)
	}
	switch format := in.OutputConfig.Format; {
	case format != nil && format.Type != "json_schema":
		return nil, invalidRequest("", "output_config.format.type: Input should be 'json_schema'")
	case format != nil:
		q.format, q.schema = "schema", format.Schema
		if fault := unsupportedKeyword(q.schema); fault != "" {
			return nil, invalidRequest("", "output_config.format.schema: "+fault)
		}
	case in.ToolChoice.Type == "tool":
		q.format = "tool"
		for _, t := range in.Tools {
			if t.Name == in.ToolChoice.Name {
				q.schema, q.tool = t.InputSchema, t.Name
			}
		}
		if q.schema == nil {
			return nil, invalidRequest("", fmt.Sprintf("tool_choice: Tool '%s' not found in provided tools", in.ToolChoice.Name))
		}
	}
	return q, nil
}

// contentText returns the text of a content, which is a string or a list of
// blocks.
func contentText(v jsontext.Value) string {
	var text string
	if json.Unmarshal(v, &text) == nil {
		return text
	}
	var list []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(v, &list) // any other content has no text
	for _, b := range list {
		text += b.Text
	}
	return text
}

// unsupportedKeyword returns the first keyword that structured outputs do not
// support.
func unsupportedKeyword(schema map[string]any) string {
	for _, name := range []string{"maxItems", "minLength", "maxLength", "minimum", "maximum"} {
		if _, ok := schema[name]; ok {
			return fmt.Sprintf("For '%v' type, property '%s' is not supported", schema["type"], name)
		}
	}
	if least, ok := schema["minItems"].(float64); ok && least > 1 {
		return "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
	}
	if schema["type"] == "object" && schema["additionalProperties"] != false {
		return "For 'object' type, 'additionalProperties' must be explicitly set to false"
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, inner := range properties {
		if sub, ok := inner.(map[string]any); ok {
			if fault := unsupportedKeyword(sub); fault != "" {
				return fault
			}
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		return unsupportedKeyword(items)
	}
	return ""
}

func (anthropicMessages) answerBody(q *modelRequest, a *modelAnswer) any {
	stop := map[string]string{"stop": "end_turn", "length": "max_tokens", "refusal": "refusal", "filter": "refusal"}[a.stop]
	content := []any{map[string]any{"type": "text", "text": a.text}}
	var input any
	switch {
	case stop == "refusal":
		content = []any{}
	case q.tool != "" && json.Unmarshal([]byte(a.text), &input) == nil:
		content, stop = []any{map[string]any{"type": "tool_use", "id": "toolu_" + q.id, "name": q.tool, "input": input}}, "tool_use"
	}
	return map[string]any{
		"id": "msg_" + q.id, "type": "message", "role": "assistant", "model": q.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": a.input, "output_tokens": a.output},
	}
}

func (anthropicMessages) refusalBody(f *refusal) (int, any) {
	kind := map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error",
		http.StatusTooManyRequests: "rate_limit_error", http.StatusInternalServerError: "api_error",
	}[f.status]
	return f.status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": f.message}}
}
