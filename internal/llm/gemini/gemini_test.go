package gemini

import (
	"errors"
	"net/http"
	"testing"

	"fanfare/internal/outbound"
)

func TestNormalizeRefusal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, body, header string
		status, want       int
		after              string
	}{
		{"bad key", `{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}`, "", 400, 401, ""},
		{"bad request", `{"error":{}}`, "", 400, 400, ""},
		{"throttled", `{"error":{"details":[{"retryDelay": "17.5s"}]}}`, "", 429, 429, "17.5"},
		{"throttled twice", `{"error":{"details":[{"retryDelay":"17s"}]}}`, "3", 429, 429, "3"},
	} {
		in := &outbound.StatusError{Status: test.status, Header: http.Header{"Retry-After": {test.header}}, Body: []byte(test.body)}
		got, ok := errors.AsType[*outbound.StatusError](normalizeRefusal(in))
		if !ok || got.Status != test.want || got.Header.Get("Retry-After") != test.after {
			t.Errorf("%s: got %+v want %d and to come back after %q", test.name, got, test.want, test.after)
		}
	}
	if err := errors.New("reset"); !errors.Is(normalizeRefusal(err), err) {
		t.Errorf("got %v want the error itself", normalizeRefusal(err))
	}
}

func TestNearestRatio(t *testing.T) {
	t.Parallel()
	for want, shape := range map[string][2]int{"1:1": {1080, 1080}, "9:16": {1080, 1920}, "16:9": {1200, 628}, "21:9": {728, 90}, "5:4": {300, 250}} {
		if got := nearestRatio(shape[0], shape[1]); got != want {
			t.Errorf("%v: got %s want %s", shape, got, want)
		}
	}
}
