package connection_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// issues are the codes of the delivery issues about pushes.
func (s *syncFixture) issues(id string) (codes []string) {
	s.t.Helper()
	var c campaign.Campaign
	s.getCampaign(id).Decode(&c)
	for _, issue := range c.Delivery.Issues {
		if issue.Code == "push_pending" || issue.Code == "push_failed" || issue.Code == "drifted" {
			codes = append(codes, issue.Code)
			if issue.ResourceID == nil || *issue.ResourceID != ident.ID(s.id) || issue.Remediation == nil {
				s.t.Errorf("got issue %+v want the connection and what to do", issue)
			}
		}
	}
	return codes
}

// countPushEvents counts the events of a campaign about pushes.
func (s *syncFixture) countPushEvents(id string) (delayed, failed, applied int) {
	s.t.Helper()
	for _, e := range s.events(id) {
		switch e {
		case "campaign.push_delayed":
			delayed++
		case "campaign.push_failed":
			failed++
		case "campaign.push_applied":
			applied++
		}
	}
	return delayed, failed, applied
}

// reported checks the issues and events of a campaign about a push.
func (s *syncFixture) reported(what, id string, issues []string, delayed, failed, applied int) {
	s.t.Helper()
	want(s.t, what+": issues", issues, s.issues(id))
	gotDelayed, gotFailed, gotApplied := s.countPushEvents(id)
	want(s.t, what+": events", []int{delayed, failed, applied}, []int{gotDelayed, gotFailed, gotApplied})
}

// granted grants access again and writes the requested states.
func (s *syncFixture) granted(id string) {
	s.t.Helper()
	s.registry.Server().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(s.t.Context(), "DELETE", "http://sandbox/_sandbox/faults", http.NoBody))
	s.reconnect(nil).OK()
	want(s.t, "planned once access is back", true, slices.Contains(s.jobs(), record.JobPush))
	if again, err := s.push(id, 1); again != nil || err != nil {
		s.t.Fatalf("push once access is back: got %v, %v", again, err)
	}
}

// TestPushWithoutAccess pauses while access is known to have ended: the request
// is kept, reported, and written once access is back.
func TestPushWithoutAccess(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.addFault(sandbox.FaultRule{Fault: sandbox.FaultRevokedToken})
		s.sync(recent)
		want(t, "connection", connection.StatusReauthRequired, s.connection().Status)
		s.transition(id, "pause").OK()
		want(t, "push right after the request", "pending", *s.refs(id)[0].Push)
		s.reported("requested", id, []string{"push_pending"}, 0, 0, 0)
		for range 2 {
			if again, err := s.push(id, 1); again != nil || err != nil {
				t.Errorf("got %v, %v want to wait for access", again, err)
			}
			want(t, "push without access", "failed", *s.refs(id)[0].Push)
			s.reported("without access", id, []string{"push_failed"}, 0, 1, 0)
		}
		s.granted(id)
		s.delivers("access is back", id, there, "applied", "PAUSED", false)
		s.reported("access is back", id, nil, 0, 1, 1)
	}, "meta_ads")
}

// TestPushFindsAccessEnded checks a push that is the first to notice that
// access has ended.
func TestPushFindsAccessEnded(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.addFault(sandbox.FaultRule{Fault: sandbox.FaultRevokedToken})
		s.transition(id, "pause").OK()
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Errorf("got %v, %v want to wait for access", again, err)
		}
		want(t, "push", "failed", *s.refs(id)[0].Push)
		s.reported("access has ended", id, []string{"push_failed"}, 0, 1, 0)
		c := s.connection()
		want(t, "connection", connection.StatusReauthRequired, c.Status)
		if c.StatusReason == nil || c.ReauthURL == nil || c.Sync.NextRunAt != nil {
			t.Errorf("got %+v, %v, next run %v want a reason, a page and no run", c.StatusReason, c.ReauthURL, c.Sync.NextRunAt)
		}
		want(t, "told", true, slices.Contains(s.events(s.id), "connection.reauth_required"))
		s.granted(id)
		s.delivers("access is back", id, there, "applied", "PAUSED", false)
		s.reported("access is back", id, nil, 0, 1, 1)
	}, "meta_ads")
}

// TestReadStateFindsAccessEnded checks that access which has ended is also noted
// if a state is only read, because the connection does not write states.
func TestReadStateFindsAccessEnded(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, _ := pushing(t, s)
		s.patch(`{"write_enabled":false}`).OK()
		s.addFault(sandbox.FaultRule{Fault: sandbox.FaultRevokedToken})
		s.transition(id, "pause").OK()
		if _, err := s.push(id, 1); err != nil {
			t.Fatal(err)
		}
		want(t, "push", "failed", *s.refs(id)[0].Push)
		want(t, "connection", connection.StatusReauthRequired, s.connection().Status)
		want(t, "event", true, slices.Contains(s.events(s.id), "connection.reauth_required"))
	}, "meta_ads")
}

// TestPushThrottled waits for the moment that the platform names.
func TestPushThrottled(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		until, stated := s.Clock.Now().Add(4*time.Minute), true
		s.faults.status = func(string, string, bool) error {
			return &connection.Error{Class: connection.Throttled, Code: "80004", Message: "Too many calls.", Until: until, Stated: stated}
		}
		s.transition(id, "pause").OK()
		for range 2 {
			again, err := s.push(id, 1)
			if err != nil || again == nil || *again != clock.At(until) {
				t.Errorf("got %v, %v want again at %v", again, err, until)
			}
			s.delivers("throttled", id, there, "pending", "ACTIVE", true)
			s.reported("throttled", id, []string{"push_pending"}, 1, 0, 0)
		}
		until = until.Add(time.Hour)
		if again, err := s.push(id, 1); err != nil || again == nil || *again != s.now().Add(5*time.Minute) {
			t.Errorf("got %v, %v want again in five minutes", again, err)
		}
		// A moment that we only estimate does not keep a pause waiting.
		stated = false
		if again, err := s.push(id, 20); connection.ClassOf(err) != connection.Throttled {
			t.Errorf("got %v, %v want to be called again soon", again, err)
		}
		s.reported("throttled for an unknown time", id, []string{"push_pending"}, 1, 0, 0)
		why := s.refs(id)[0].PushError
		if why == nil || why.Code != "80004" || why.Since != s.now() {
			t.Errorf("got error %+v want the platform's", why)
		}
		s.faults.status = nil
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Errorf("got %v, %v want it to be done", again, err)
		}
		s.delivers("afterwards", id, there, "applied", "PAUSED", false)
		s.reported("afterwards", id, nil, 1, 0, 1)
	}, "meta_ads")
}

// TestPushNotConfirmed takes nothing for applied that the platform does not
// report.
func TestPushNotConfirmed(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.faults.forgets = true
		s.transition(id, "pause").OK()
		if _, err := s.push(id, 1); connection.ClassOf(err) != connection.Transient {
			t.Errorf("got %v want to be called again", err)
		}
		s.delivers("not written", id, there, "pending", "ACTIVE", true)
		want(t, "why", "not_confirmed", s.refs(id)[0].PushError.Code)
		s.faults.forgets = false
		if _, err := s.push(id, 2); err != nil {
			t.Error(err)
		}
		s.delivers("written", id, there, "applied", "PAUSED", false)
	}, "meta_ads")
}

// TestPushReadBackSaysNothing takes nothing for applied where the platform takes
// a pause, does not make it, and answers the question for the state without the
// word for it.
func TestPushReadBackSaysNothing(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.faults.forgets = true
		s.transition(id, "pause").OK()
		for attempt, seen := range []func(connection.Observed) (connection.Observed, error){
			func(connection.Observed) (connection.Observed, error) { return connection.Observed{}, nil },
			func(connection.Observed) (connection.Observed, error) {
				return connection.Observed{Status: "IN_PROCESS"}, nil
			},
			func(o connection.Observed) (connection.Observed, error) {
				return o, &connection.Error{Class: connection.Gone, Code: "unknown_campaign", Message: "There is no such campaign."}
			},
		} {
			s.faults.seen = seen
			if _, err := s.push(id, int64(attempt+1)); connection.ClassOf(err) != connection.Transient {
				t.Errorf("got %v want to be called again", err)
			}
			s.delivers("not confirmed", id, there, "pending", "ACTIVE", true)
			want(t, "why", "not_confirmed", s.refs(id)[0].PushError.Code)
		}
		s.reported("not confirmed", id, []string{"push_pending"}, 1, 0, 0)
		s.faults.forgets, s.faults.seen = false, nil
		if _, err := s.push(id, 4); err != nil {
			t.Error(err)
		}
		s.delivers("confirmed", id, there, "applied", "PAUSED", false)
		s.reported("confirmed", id, nil, 1, 0, 1)
	}, "meta_ads")
}

// TestPushArchived writes the end of a running campaign, and reports it until
// the platform confirms it.
func TestPushArchived(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.transition(id, "archive").OK()
		s.delivers("archived", id, there, "pending", "ACTIVE", true)
		want(t, "issues", []string{"push_pending"}, s.issues(id))
		if _, err := s.push(id, 1); err != nil {
			t.Error(err)
		}
		s.delivers("written", id, there, "applied", "PAUSED", false)
		want(t, "issues once written", []string(nil), s.issues(id))
	}, "meta_ads")
}

// TestPushOvertaken requests another state while one is being written.
func TestPushOvertaken(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.faults.status = func(string, string, bool) error {
			s.faults.status = nil
			s.transition(id, "resume").OK()
			return nil
		}
		s.transition(id, "pause").OK()
		if _, err := s.push(id, 1); err != nil {
			t.Error(err)
		}
		want(t, "push", "pending", *s.refs(id)[0].Push)
		if _, err := s.push(id, 1); err != nil {
			t.Error(err)
		}
		s.delivers("the last request", id, there, "applied", "ACTIVE", true)
	}, "meta_ads")
}

// TestPushBeatsOlderLook makes a sync read campaigns before a state is written,
// and store them afterwards. The written state must stay.
func TestPushBeatsOlderLook(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.faults.entities = func() {
			s.faults.entities = nil
			s.Clock.Advance(time.Second)
			s.act(id, "pause")
		}
		s.sync(`{"streams":["campaigns"]}`)
		s.delivers("afterwards", id, there, "applied", "PAUSED", false)
		want(t, "drift", false, slices.Contains(s.events(id), "campaign.drifted"))
	}, "meta_ads")
}

// TestPauseIsNotWritten checks a connection that may not write states. A
// platform campaign that still runs after its campaign was paused is reported.
// The pause is written once the connection may write.
func TestPauseIsNotWritten(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.patch(`{"write_enabled":false}`).OK()
		s.act(id, "pause")
		s.delivers("not written", id, there, "failed", "ACTIVE", true)
		want(t, "why", "write_disabled", s.refs(id)[0].PushError.Code)
		s.reported("not written", id, []string{"push_failed"}, 0, 1, 0)
		s.patch(`{"write_enabled":true}`).OK()
		want(t, "planned", true, slices.Contains(s.jobs(), record.JobPush))
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Errorf("got %v, %v want it to be done", again, err)
		}
		s.delivers("written", id, there, "applied", "PAUSED", false)
		s.reported("written", id, nil, 0, 1, 1)
	}, "meta_ads")
}

// TestPauseOnThePlatform checks a platform campaign that a person paused on the
// platform, on a connection that may not write states.
func TestPauseOnThePlatform(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.patch(`{"write_enabled":false}`).OK()
		s.act(id, "pause")
		client, k := s.stranger()
		if err := client.SetStatus(t.Context(), k, there.AccountID, there.ExternalID, false); err != nil {
			t.Fatal(err)
		}
		s.sync(`{"streams":["campaigns"]}`)
		want(t, "planned after a sync", true, slices.Contains(s.jobs(), record.JobPush))
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Errorf("got %v, %v want it to be done", again, err)
		}
		s.delivers("paused by people", id, there, "applied", "PAUSED", false)
		s.reported("paused by people", id, nil, 0, 1, 1)
	}, "meta_ads")
}

// TestPushWriteDisabled has a pause on its way when states may no longer be
// written.
func TestPushWriteDisabled(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.faults.status = func(string, string, bool) error {
			return &connection.Error{Class: connection.Transient, Code: "x", Message: "No."}
		}
		s.transition(id, "pause").OK()
		_, _ = s.push(id, 1)
		s.reported("delayed", id, []string{"push_pending"}, 1, 0, 0)
		s.faults.status = nil
		s.patch(`{"write_enabled":false}`).OK()
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Errorf("got %v, %v want to wait until it may be written", again, err)
		}
		s.delivers("not written", id, there, "failed", "ACTIVE", true)
		s.reported("not written", id, []string{"push_failed"}, 1, 1, 0)
		s.patch(`{"write_enabled":true}`).OK()
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Errorf("got %v, %v want it to be done", again, err)
		}
		s.delivers("written", id, there, "applied", "PAUSED", false)
		s.reported("written", id, nil, 1, 1, 1)
	}, "meta_ads")
}

// TestPushUnlinked reports a pause that is lost with its link, and writes it once
// the link is back, unless the campaign was resumed meanwhile.
func TestPushUnlinked(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		fail := func(string, string, bool) error {
			return &connection.Error{Class: connection.Transient, Code: "x", Message: "No."}
		}
		unlink := func() {
			t.Helper()
			s.faults.status = fail
			s.transition(id, "pause").OK()
			_, _ = s.push(id, 1)
			s.faults.status = nil
			s.links(map[string]any{"links": []any{map[string]any{"kind": "campaign", "external_id": there.ExternalID, "record_id": nil}}}).OK()
		}
		unlink()
		s.reported("unlinked", id, nil, 1, 1, 0)
		s.link(there.ExternalID, id)
		want(t, "planned", true, slices.Contains(s.jobs(), record.JobPush))
		s.delivers("linked again", id, there, "pending", "ACTIVE", true)
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Errorf("got %v, %v want it to be done", again, err)
		}
		s.delivers("written", id, there, "applied", "PAUSED", false)

		s.Clock.Advance(2 * time.Minute)
		s.act(id, "resume")
		unlink()
		s.transition(id, "resume").OK()
		s.link(there.ExternalID, id)
		s.delivers("resumed meanwhile", id, there, "", "ACTIVE", true)
	}, "meta_ads")
}

// TestPushDisconnected reports a request that cannot be written any more.
func TestPushDisconnected(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.faults.status = func(string, string, bool) error {
			return &connection.Error{Class: connection.Transient, Code: "x", Message: "No."}
		}
		s.transition(id, "pause").OK()
		_, _ = s.push(id, 1)
		s.disconnect(false).OK()
		for range 2 {
			if again, err := s.push(id, 1); again != nil || err != nil {
				t.Errorf("got %v, %v want nothing to do", again, err)
			}
			s.delivers("disconnected", id, there, "failed", "ACTIVE", true)
			want(t, "why", "connection_disconnected", s.refs(id)[0].PushError.Code)
			s.reported("disconnected", id, []string{"push_failed"}, 1, 1, 0)
		}
	}, "meta_ads")
}

// TestPushAtTheStart enables a platform campaign when the start comes, not when
// the campaign is launched or resumed.
func TestPushAtTheStart(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.sync(`{"streams":["campaigns"]}`)
		id, there := s.campaign("Later"), s.twin("meta_ads")
		s.patch(`{"write_enabled":true}`).OK()
		client, k := s.stranger()
		if err := client.SetStatus(t.Context(), k, there.AccountID, there.ExternalID, false); err != nil {
			t.Fatal(err)
		}
		s.sync(`{"streams":["campaigns"]}`)
		s.link(there.ExternalID, id)
		start := s.Clock.Now().Add(72 * time.Hour)
		s.patchCampaign(id, map[string]any{"schedule": map[string]any{"start_at": start.Format(time.RFC3339)}}).OK()
		for _, verb := range []string{"launch", "pause", "resume"} {
			s.transition(id, verb).OK()
			if again, err := s.push(id, 1); again != nil || err != nil {
				t.Fatalf("push after %s: got %v, %v", verb, again, err)
			}
			s.delivers(verb+" before the start", id, there, "", "PAUSED", false)
		}
		s.Clock.Advance(72 * time.Hour)
		if _, err := s.Campaigns.Settle(t.Context(), s.Workspace, ident.ID(id)); err != nil {
			t.Fatal(err)
		}
		s.delivers("the start has come", id, there, "pending", "PAUSED", false)
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Fatalf("push at the start: got %v, %v", again, err)
		}
		s.delivers("after the start", id, there, "applied", "ACTIVE", true)
	}, "meta_ads")
}

// TestPauseBeforeTheStart stops a platform campaign that is enabled before the
// start.
func TestPauseBeforeTheStart(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.sync(`{"streams":["campaigns"]}`)
		id, there := s.campaign("Later"), s.twin("meta_ads")
		s.patch(`{"write_enabled":true}`).OK()
		s.link(there.ExternalID, id)
		start := s.Clock.Now().Add(72 * time.Hour)
		s.patchCampaign(id, map[string]any{"schedule": map[string]any{"start_at": start.Format(time.RFC3339)}}).OK()
		s.transition(id, "launch").OK()
		s.delivers("launched", id, there, "", "ACTIVE", true)
		want(t, "issues", []string{"drifted"}, s.issues(id))
		s.act(id, "pause")
		s.delivers("paused", id, there, "applied", "PAUSED", false)
	}, "meta_ads")
}
