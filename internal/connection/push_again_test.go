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
