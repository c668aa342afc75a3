package connection_test

import (
	"slices"
	"testing"
	"time"

	"fanfare/internal/connection"
	"fanfare/internal/record"
)

// TestPushLinkedElsewhere writes a pause that was not confirmed when its platform
// campaign was linked to other campaigns, once it is linked back.
func TestPushLinkedElsewhere(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		fail := func(string, string, bool) error {
			return &connection.Error{Class: connection.Transient, Code: "x", Message: "No."}
		}
		pause := func(id string) {
			t.Helper()
			s.faults.status = fail
			s.transition(id, "pause").OK()
			_, _ = s.push(id, 1)
			s.faults.status = nil
		}
		back := func(id string) {
			t.Helper()
			s.link(there.ExternalID, id)
			want(t, "planned", true, slices.Contains(s.jobs(), record.JobPush))
			s.delivers("linked back", id, there, "pending", "ACTIVE", true)
			if again, err := s.push(id, 1); again != nil || err != nil {
				t.Errorf("got %v, %v want it to be done", again, err)
			}
			s.delivers("written", id, there, "applied", "PAUSED", false)
		}
		pause(id)
		draft := s.campaign("Draft")
		s.link(there.ExternalID, draft)
		s.delivers("linked to a draft", draft, there, "", "ACTIVE", true)
		s.sync(`{"streams":["campaigns"]}`)
		back(id)

		// A second campaign that runs the platform campaign meanwhile, and whose
		// own pause is not confirmed either, changes nothing.
		s.Clock.Advance(2 * time.Minute)
		s.act(id, "resume")
		pause(id)
		s.link(there.ExternalID, draft)
		s.Clock.Advance(2 * time.Minute)
		s.act(draft, "launch")
		pause(draft)
		back(id)
		s.Clock.Advance(2 * time.Minute)
		s.act(id, "resume")
		back(draft)

		// What was confirmed is not written again by linking.
		s.Clock.Advance(2 * time.Minute)
		s.act(draft, "resume")
		s.link(there.ExternalID, id)
		s.delivers("confirmed before", id, there, "", "ACTIVE", true)
	}, "meta_ads")
}

// TestPauseAgainAtOnce checks that a second pause is written at once, although
// the first one waits for a moment that the platform has named.
func TestPauseAgainAtOnce(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		until := s.Clock.Now().Add(24 * time.Hour)
		s.faults.status = func(string, string, bool) error {
			return &connection.Error{Class: connection.Throttled, Code: "80004", Message: "Too many calls.", Until: until, Stated: true}
		}
		for _, verb := range []string{"pause", "pause", "archive", "archive"} {
			s.transition(id, verb).OK()
			want(t, "due after "+verb, []string{record.JobPush}, s.jobs())
			if again, err := s.push(id, 1); err != nil || again == nil {
				t.Errorf("got %v, %v want again later", again, err)
			}
			want(t, "due before the next", []string(nil), s.jobs())
		}
		s.reported("throttled", id, []string{"push_pending"}, 1, 0, 0)
		s.faults.status = nil
		s.transition(id, "archive").OK()
		want(t, "due", []string{record.JobPush}, s.jobs())
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Errorf("got %v, %v want it to be done", again, err)
		}
		s.delivers("written", id, there, "applied", "PAUSED", false)
	}, "meta_ads")
}
