package connection_test

import (
	"context"
	"strings"
	"testing"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// TestMicrosoftReportAfterRestart stops a run when Microsoft has created a report
// that is not stored yet. Its id is not kept: the report is created once more, and
// nothing else is, and no number is lost or stored twice.
func TestMicrosoftReportAfterRestart(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		submitted := func() int {
			return s.calls(func(e sandbox.Entry) bool { return strings.HasSuffix(e.Path, "GenerateReport/Submit") })
		}
		s.sync(recent)
		whole := submitted()
		stopped := 0
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s.faults.rows = func(q connection.Report, rows []fact.Row) []fact.Row {
			if q.Level == connection.LevelGeo && stopped == 0 {
				stopped = submitted()
				cancel()
			}
			return rows
		}
		id := s.ask(recent)
		_, _ = s.work(ctx)
		want(t, "run that was stopped", connection.RunRunning, s.run(id).Status)
		s.Sync(s.id)
		r := s.run(id)
		want(t, "run", []any{connection.RunSucceeded, int64(2)}, []any{r.Status, r.Attempt})
		want(t, "reports created again", 1, submitted()-2*whole)
		sums, _ := s.spendBy("platform")
		want(t, "spend", s.truth("microsoft_ads", today-2), sums["microsoft_ads"])
		sums, _ = s.spendIn("2026-11-13", "2026-11-15", "country")
		if len(sums) < 2 {
			t.Errorf("got %v want spend by country", sums)
		}
	}, "microsoft_ads")
}
