package linkedin_test

import (
	"fmt"
	"net/http"
	"testing"

	"fanfare/internal/connection"
)

// TestContradictoryStatus checks that an answer that contradicts itself is an
// error that is tried again, and confirms no state.
func TestContradictoryStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		status int
		body   string
	}{
		{"another account", 200, `{"id":2,"account":"urn:li:sponsoredAccount:9","status":"PAUSED"}`},
		{"no URN of an account", 200, `{"id":2,"account":"1","status":"PAUSED"}`},
		{"error beside the status", 200, `{"id":2,"status":"PAUSED","serviceErrorCode":100,"message":"x"}`},
		{"status twice", 200, `{"id":2,"status":"PAUSED","status":"ACTIVE"}`},
		{"201", 201, `{"id":2,"status":"PAUSED"}`},
		{"202", 202, `{"id":2,"status":"PAUSED"}`},
		{"206", 206, `{"id":2,"status":"PAUSED"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := clientOf(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
			})
			got, err := c.Status(t.Context(), connection.Credentials{}, "1", "2")
			if err == nil || connection.ClassOf(err) != connection.Transient || got.Confirms(false) || got.Confirms(true) {
				t.Errorf("got %+v and %v want a transient error", got, err)
			}
		})
	}
	c := clientOf(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"id":2,"account":"urn:li:sponsoredAccount:1","status":"PAUSED"}`)
	})
	if got, err := c.Status(t.Context(), connection.Credentials{}, "1", "2"); err != nil || !got.Confirms(false) {
		t.Errorf("got %+v and %v want it to confirm the pause", got, err)
	}
}
