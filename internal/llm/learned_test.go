package llm_test

import (
	"errors"
	"net/http"
	"testing"

	"fanfare/internal/llm"
	"fanfare/internal/outbound"
)

// TestClassifyRefusal checks messages of vendors and gateways.
func TestClassifyRefusal(t *testing.T) {
	t.Parallel()
	sent := []string{"max_tokens", "max_completion_tokens", "seed", "reasoning_effort", "effort", "thinking"}
	for _, test := range []struct {
		status int
		body   string
		// want is the parameter, "format", "content" or "".
		want string
	}{
		{400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`, "max_tokens"},
		{400, `{"error":{"message":"[openai/gpt-5.4] [400]: {\n  \"error\": {\n    \"message\": \"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.\""}}`, "max_tokens"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"This model does not support the effort parameter."}}`, "effort"},
		{400, `{"error":{"code":400,"message":"Thinking level is not supported for this model.","status":"INVALID_ARGUMENT"}}`, "thinking"},
		{400, `{"error":{"message":"Unrecognized request argument supplied: reasoning_effort","type":"invalid_request_error","param":null,"code":null}}`, "reasoning_effort"},
		{422, `{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}`, "seed"},
		{400, `{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.","param":"response_format"}}`, "format"},
		{400, `{"error":{"message":"Invalid schema, see max_tokens","param":"response_format"}}`, "format"},
		{400, `{"error":{"message":"The prompt mentions seed","code":"content_filter"}}`, "content"},
		{400, `{"error":{"message":"you must provide a model parameter"}}`, ""},
		{404, `{"error":{"message":"No endpoint takes max_tokens"}}`, ""},
		{500, `max_tokens`, ""},
		{400, `<html>max_tokens</html>`, "max_tokens"},
	} {
		cause := &outbound.StatusError{Status: test.status, Header: http.Header{}, Body: []byte(test.body)}
		err := llm.ClassifyRefusal(cause, []string{`"content_filter"`}, []string{"response_format"}, sent)
		got := ""
		if refused, ok := errors.AsType[*llm.ParameterError](err); ok {
			got = refused.Name
		} else if errors.Is(err, llm.ErrFormat) {
			got = "format"
		} else if errors.Is(err, llm.ErrRefused) {
			got = "content"
		}
		if got != test.want || !errors.Is(err, cause) {
			t.Errorf("%s: got %q, %v want %q with its cause", test.body, got, err, test.want)
		}
	}
}
