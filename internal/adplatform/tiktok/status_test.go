package tiktok_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"fanfare/internal/connection"
)

// TestContradictoryStatus checks that an answer that contradicts itself is an
// error that is tried again, and confirms no state.
func TestContradictoryStatus(t *testing.T) {
	t.Parallel()
	row := func(id, status string) string {
		return `{"campaign_id":"` + id + `","operation_status":"` + status + `"}`
	}
	list := func(rows ...string) string {
		return fmt.Sprintf(`"data":{"list":[%s],"page_info":{"total_number":%d,"total_page":1}}`, strings.Join(rows, ","), len(rows))
	}
	paused := row("2", "DISABLE")
	for _, tt := range []struct {
		name   string
		status int
		body   string
	}{
		{"twice", 200, `{"code":0,` + list(paused, row("2", "ENABLE")) + `}`},
		{"twice alike", 200, `{"code":0,` + list(paused, paused) + `}`},
		{"another campaign first", 200, `{"code":0,` + list(row("3", "DISABLE"), row("2", "ENABLE")) + `}`},
		{"another campaign last", 200, `{"code":0,` + list(paused, row("3", "ENABLE")) + `}`},
		{"only another campaign", 200, `{"code":0,` + list(row("3", "DISABLE")) + `}`},
		{"another account", 200, `{"code":0,` + list(`{"campaign_id":"2","advertiser_id":"9","operation_status":"DISABLE"}`) + `}`},
		{"no code", 200, `{` + list(paused) + `}`},
		{"null as code", 200, `{"code":null,` + list(paused) + `}`},
		{"text as code", 200, `{"code":"0",` + list(paused) + `}`},
		{"code of a failure", 200, `{"code":51000,` + list(paused) + `}`},
		{"no list", 200, `{"code":0}`},
		{"202", 202, `{"code":0,` + list(paused) + `}`},
		{"206", 206, `{"code":0,` + list(paused) + `}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
			})
			got, err := c.Status(t.Context(), connection.Credentials{}, "1", "2")
			if err == nil || connection.ClassOf(err) != connection.Transient || got.Confirms(false) || got.Confirms(true) {
				t.Errorf("got %+v and %v want a transient error", got, err)
			}
		})
	}
	c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"code":0,`+list(paused)+`}`) })
	if got, err := c.Status(t.Context(), connection.Credentials{}, "1", "2"); err != nil || !got.Confirms(false) {
		t.Errorf("got %+v and %v want it to confirm the pause", got, err)
	}
}
