package meta

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// fixedAnswer answers every request alike.
type fixedAnswer struct {
	status int
	body   string
}

func (f fixedAnswer) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: f.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(f.body))}, nil
}

// TestContradictoryStatus checks that an answer that contradicts itself is an
// error that is tried again, and confirms no state.
func TestContradictoryStatus(t *testing.T) {
	t.Parallel()
	const paused = `"id":"2","status":"PAUSED","effective_status":"PAUSED"`
	for _, tt := range []struct {
		name   string
		answer fixedAnswer
		want   connection.Class
	}{
		{"error beside the status", fixedAnswer{200, `{` + paused + `,"error":{"code":1,"message":"x"}}`}, connection.Transient},
		{"error without members", fixedAnswer{200, `{` + paused + `,"error":{}}`}, connection.Transient},
		{"refusal beside the status", fixedAnswer{200, `{` + paused + `,"error":{"code":100,"message":"x"}}`}, connection.Transient},
		{"ended access beside the status", fixedAnswer{200, `{` + paused + `,"error":{"code":190,"message":"x"}}`}, connection.Transient},
		{"error that is a text", fixedAnswer{200, `{` + paused + `,"error":"x"}`}, connection.Transient},
		{"quota beside the status", fixedAnswer{200, `{` + paused + `,"error":{"code":17}}`}, connection.Throttled},
		{"status twice", fixedAnswer{200, `{` + paused + `,"status":"ACTIVE"}`}, connection.Transient},
		{"another account", fixedAnswer{200, `{` + paused + `,"account_id":"9"}`}, connection.Transient},
		{"202", fixedAnswer{202, `{` + paused + `}`}, connection.Transient},
		{"206", fixedAnswer{206, `{` + paused + `}`}, connection.Transient},
		{"304", fixedAnswer{304, `{` + paused + `}`}, connection.Transient},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := New(transport.Options{Do: tt.answer, Now: func() time.Time { return now }})
			got, err := c.Status(t.Context(), connection.Credentials{}, "1", "2")
			if err == nil || connection.ClassOf(err) != tt.want || got.Confirms(false) || got.Confirms(true) {
				t.Errorf("got %+v and %v want an error of class %s", got, err, tt.want)
			}
		})
	}
	for _, good := range []string{`{` + paused + `}`, `{` + paused + `,"account_id":"1"}`, `{` + paused + `,"error":null}`} {
		got, err := New(transport.Options{Do: fixedAnswer{200, good}, Now: func() time.Time { return now }}).Status(t.Context(), connection.Credentials{}, "1", "2")
		if err != nil || !got.Confirms(false) {
			t.Errorf("%s: got %+v and %v want it to confirm the pause", good, got, err)
		}
	}
}
