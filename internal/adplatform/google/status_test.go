package google_test

import (
	"strings"
	"testing"

	"fanfare/internal/connection"
)

// TestContradictoryStatus checks that an answer that contradicts itself is an
// error that is tried again, and confirms no state.
func TestContradictoryStatus(t *testing.T) {
	t.Parallel()
	row := func(id, name, status string) string {
		return `{"campaign":{"id":"` + id + `","resourceName":"` + name + `","status":"` + status + `"}}`
	}
	stream := func(chunks ...string) string { return "[" + strings.Join(chunks, ",") + "]" }
	rows := func(list ...string) string { return `{"results":[` + strings.Join(list, ",") + `]}` }
	const name, failure = "customers/1/campaigns/2", `{"error":{"code":500,"message":"x","status":"INTERNAL"}}`
	paused := row("2", name, "PAUSED")
	for _, tt := range []struct {
		name string
		answer
		want connection.Class
	}{
		{"twice in one chunk", answer{200, stream(rows(paused, row("2", name, "ENABLED")))}, connection.Transient},
		{"twice in two chunks", answer{200, stream(rows(paused), rows(row("2", name, "ENABLED")))}, connection.Transient},
		{"another campaign first", answer{200, stream(rows(row("3", "customers/1/campaigns/3", "PAUSED"), row("2", name, "ENABLED")))}, connection.Transient},
		{"another campaign last", answer{200, stream(rows(paused, row("3", "customers/1/campaigns/3", "ENABLED")))}, connection.Transient},
		{"name of another campaign", answer{200, stream(rows(row("2", "customers/1/campaigns/3", "PAUSED")))}, connection.Transient},
		{"name of another customer", answer{200, stream(rows(row("2", "customers/9/campaigns/2", "PAUSED")))}, connection.Transient},
		{"error after the row", answer{200, stream(rows(paused), failure)}, connection.Transient},
		{"error before the row", answer{200, stream(failure, rows(paused))}, connection.Transient},
		{"error without members", answer{200, stream(rows(paused), `{"error":{}}`)}, connection.Transient},
		{"error that is a text", answer{200, stream(rows(paused), `{"error":"x"}`)}, connection.Transient},
		{"refusal after the row", answer{200, stream(rows(paused), `{"error":{"code":400,"status":"INVALID_ARGUMENT"}}`)}, connection.Transient},
		{"ended access after the row", answer{200, stream(rows(paused), `{"error":{"code":401,"status":"UNAUTHENTICATED"}}`)}, connection.Transient},
		{"quota after the row", answer{200, stream(rows(paused), `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`)}, connection.Throttled},
		{"error beside the row", answer{200, stream(`{"results":[` + paused + `],"error":{"code":500}}`)}, connection.Transient},
		{"202", answer{202, stream(rows(paused))}, connection.Transient},
		{"206", answer{206, stream(rows(paused))}, connection.Transient},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := newScriptedClient(&scriptedAnswers{answers: []answer{tt.answer}}).Status(t.Context(), creds, "1@5", "2")
			if err == nil || connection.ClassOf(err) != tt.want || got.Confirms(false) || got.Confirms(true) {
				t.Errorf("got %+v and %v want an error of class %s", got, err, tt.want)
			}
		})
	}
	for _, good := range []string{stream(rows(paused)), stream(rows(), rows(paused)), stream(`{"results":[` + paused + `],"error":null}`)} {
		got, err := newScriptedClient(&scriptedAnswers{answers: []answer{{200, good}}}).Status(t.Context(), creds, "1@5", "2")
		if err != nil || !got.Confirms(false) {
			t.Errorf("%s: got %+v and %v want it to confirm the pause", good, got, err)
		}
	}
}
