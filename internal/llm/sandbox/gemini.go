package sandbox

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// geminiContent simulates Google's generateContent.
type geminiContent struct{}

func (geminiContent) apiKey(h http.Header) string { return h.Get("X-Goog-Api-Key") }

func (geminiContent) knownMembers() []string {
	return []string{"contents", "systemInstruction", "generationConfig", "safetySettings", "tools", "toolConfig", "cachedContent"}
}

func (geminiContent) parse(r *http.Request, body []byte) (*modelRequest, *refusal) {
	type content struct {
		Role  string `json:"role"`
		Parts []struct {
			Text string `json:"text"`
		} `json:"parts"`
	}
	var in struct {
		Contents          []content `json:"contents"`
		SystemInstruction content   `json:"systemInstruction"`
		GenerationConfig  struct {
			MaxOutputTokens    int            `json:"maxOutputTokens"`
			ResponseMIMEType   string         `json:"responseMimeType"`
			ResponseJSONSchema map[string]any `json:"responseJsonSchema"`
			ResponseModalities []string       `json:"responseModalities"`
			ImageConfig        struct {
				AspectRatio string `json:"aspectRatio"`
			} `json:"imageConfig"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &in); err != nil || len(in.Contents) == 0 {
		return nil, invalidRequest("contents", "* GenerateContentRequest.contents: contents is not specified")
	}
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/v1beta/models/"), ":generateContent")
	config := in.GenerationConfig
	q := &modelRequest{model: name, maxTokens: config.MaxOutputTokens}
	for _, p := range in.SystemInstruction.Parts {
		q.system += p.Text
	}
	for _, p := range in.Contents[len(in.Contents)-1].Parts {
		q.user += p.Text
	}
	switch {
	case config.ResponseJSONSchema != nil && config.ResponseMIMEType != "application/json":
		return nil, invalidRequest("", "responseJsonSchema requires responseMimeType application/json")
	case config.ResponseJSONSchema != nil:
		q.format, q.schema = "schema", config.ResponseJSONSchema
	case config.ResponseMIMEType == "application/json":
		q.format = "json"
	}
	if slices.Contains(config.ResponseModalities, "IMAGE") {
		ratio := cmp.Or(config.ImageConfig.AspectRatio, "1:1")
		if !slices.Contains(geminiRatios, ratio) {
			return nil, invalidRequest("", "Invalid aspect ratio: "+ratio)
		}
		if _, err := fmt.Sscanf(ratio, "%d:%d", &q.width, &q.height); err != nil {
			return nil, invalidRequest("", "Invalid aspect ratio: "+ratio)
		}
		// About a million pixels in every aspect ratio.
		scale := math.Sqrt(1024 * 1024 / float64(q.width*q.height))
		q.width, q.height = int(float64(q.width)*scale), int(float64(q.height)*scale)
	}
	return q, nil
}

var geminiRatios = []string{"1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"}

func (geminiContent) answerBody(q *modelRequest, a *modelAnswer) any {
	usage := map[string]any{"promptTokenCount": a.input, "candidatesTokenCount": a.output, "totalTokenCount": a.input + a.output}
	body := map[string]any{"usageMetadata": usage, "modelVersion": q.model, "responseId": q.id}
	if a.stop == "filter" {
		body["promptFeedback"] = map[string]any{"blockReason": "PROHIBITED_CONTENT"}
		return body
	}
	parts := []any{map[string]any{"text": a.text}}
	if a.picture != nil {
		parts = append(parts, map[string]any{"inlineData": map[string]any{"mimeType": "image/png", "data": base64.StdEncoding.EncodeToString(a.picture)}})
	}
	finish := map[string]string{"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}[a.stop]
	candidate := map[string]any{"index": 0, "finishReason": finish, "content": map[string]any{"role": "model", "parts": parts}}
	if finish == "SAFETY" {
		delete(candidate, "content")
	}
	body["candidates"] = []any{candidate}
	return body
}

func (geminiContent) refusalBody(f *refusal) (int, any) {
	status := f.status
	body := map[string]any{"message": f.message}
	switch status {
	case http.StatusUnauthorized:
		status = http.StatusBadRequest
		body["message"] = "API key not valid. Please pass a valid API key."
		body["status"] = "INVALID_ARGUMENT"
		body["details"] = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}}
	case http.StatusTooManyRequests:
		body["status"] = "RESOURCE_EXHAUSTED"
		body["details"] = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%ds", f.retryAfter)}}
	case http.StatusInternalServerError:
		body["status"] = "INTERNAL"
	default:
		body["status"] = "INVALID_ARGUMENT"
	}
	body["code"] = status
	return status, map[string]any{"error": body}
}
