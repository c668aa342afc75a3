package connection_test

import (
	"slices"
	"testing"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
)

// TestPushLateWrite has a resume hang, a pause be confirmed beside it, and the
// resume take effect afterwards: the pause is written again.
func TestPushLateWrite(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.act(id, "pause")
		s.faults.status = func(string, string, bool) error {
			return &connection.Error{Class: connection.Transient, Code: "timeout", Message: "No answer."}
		}
		s.transition(id, "resume").OK()
		if _, err := s.push(id, 1); connection.ClassOf(err) != connection.Transient {
			t.Errorf("got %v want to be called again", err)
		}
		s.faults.status = nil
		s.transition(id, "pause").OK()
		check := func(what string, attempt int64) *clock.Instant {
			t.Helper()
			again, err := s.push(id, attempt)
			if err != nil {
				t.Fatal(err)
			}
			s.delivers(what, id, there, "applied", "PAUSED", false)
			return again
		}
		again := check("paused", 1)
		if again == nil {
			t.Fatal("got no further look although a resume may still take effect")
		}
		client, k := s.stranger()
		late := func() {
			t.Helper()
			if err := client.SetStatus(t.Context(), k, there.AccountID, there.ExternalID, true); err != nil {
				t.Fatal(err)
			}
		}
		late()
		check("written again", 1)
		// A sync that is first to see it does not take it for drift.
		late()
		s.sync(`{"streams":["campaigns"]}`)
		want(t, "drift", false, slices.Contains(s.events(id), "campaign.drifted"))
		again = check("written again after a sync", 1)
		for looks := 0; again != nil; looks++ {
			if looks > 20 {
				t.Fatal("got looks without end")
			}
			s.Clock.Advance(again.Time().Sub(s.Clock.Now()))
			again = check("looked again", 1)
		}
		// What changes after that was not ours.
		late()
		s.sync(`{"streams":["campaigns"]}`)
		want(t, "drift afterwards", true, slices.Contains(s.events(id), "campaign.drifted"))
	}, "meta_ads")
}

// TestPushHangs gives up a write that the platform does not answer.
func TestPushHangs(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.transition(id, "pause").OK()
		s.faults.hangs = true
		s.connections.StateTime = 100 * time.Millisecond
		if _, err := s.push(id, 1); connection.ClassOf(err) != connection.Transient {
			t.Errorf("got %v want to be called again", err)
		}
		s.delivers("no answer", id, there, "pending", "ACTIVE", true)
		want(t, "why", "timeout", s.refs(id)[0].PushError.Code)
		s.faults.hangs = false
		s.connections.StateTime = time.Minute
		if _, err := s.push(id, 2); err != nil {
			t.Error(err)
		}
		s.delivers("afterwards", id, there, "applied", "PAUSED", false)
	}, "meta_ads")
}
