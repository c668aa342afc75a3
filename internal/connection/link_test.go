package connection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// twins is the name of a campaign on Google Ads and of one on Meta Ads.
const twins = "Black Friday: Trail Shoes"

// twin finds the one of a platform.
func (s *syncFixture) twin(platform string) connection.Link {
	s.t.Helper()
	list := s.entities([]string{"campaign"}, nil)
	i := slices.IndexFunc(list, func(l connection.Link) bool { return l.Platform == platform && l.Name == twins })
	if i < 0 {
		s.t.Fatalf("%s has no campaign %q in %+v", platform, twins, list)
	}
	return list[i]
}

func (s *syncFixture) campaign(name string) string {
	s.t.Helper()
	return s.newCampaign(map[string]any{"name": name}).OK().ID()
}

// link links or unlinks a campaign.
func (s *syncFixture) link(external string, to any) connection.Linked {
	s.t.Helper()
	var done connection.Linked
	s.links(map[string]any{"links": []any{map[string]any{"kind": "campaign", "external_id": external, "record_id": to}}}).Decode(&done)
	return done
}

// refs are where else a record is.
func (s *syncFixture) refs(id string) (list []record.ExternalRef) {
	s.t.Helper()
	var r struct {
		Refs []record.ExternalRef `json:"external_refs"`
	}
	s.record(id).Decode(&r)
	return r.Refs
}

// externals are the ids of references.
func externals(refs []record.ExternalRef) (ids []string) {
	for _, r := range refs {
		ids = append(ids, r.ExternalID)
	}
	slices.Sort(ids)
	return ids
}

// TestLinks links by id and by name, removes the links again, and checks that
// records and metrics follow.
func TestLinks(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.sync(recent)
		google, meta := s.twin("google_ads"), s.twin("meta_ads")
		sums, _ := s.spendBy("campaign_id")
		want(t, "figures of nobody's", 1, len(sums))

		one, other := s.campaign("One"), s.campaign("Other")
		want(t, "by id", connection.Linked{Linked: 1, Ambiguous: []string{}}, s.link(google.ExternalID, one))
		want(t, "again", connection.Linked{Ambiguous: []string{}}, s.link(google.ExternalID, one))
		refs := s.refs(one)
		want(t, "references", []string{google.ExternalID}, externals(refs))
		want(t, "reference", []any{ident.ID(s.id), "google_ads", "ENABLED", (*string)(nil)}, []any{refs[0].ConnectionID, refs[0].Platform, *refs[0].ExternalStatus, refs[0].Push})
		sums, _ = s.spendBy("campaign_id")
		spent := sums[one]
		if spent == "" || spent == "0" {
			t.Errorf("got figures %v want some of %s", sums, one)
		}
		want(t, "to another", connection.Linked{Linked: 1, Ambiguous: []string{}}, s.link(google.ExternalID, other))
		want(t, "references of the first", []string(nil), externals(s.refs(one)))
		want(t, "references of the other", []string{google.ExternalID}, externals(s.refs(other)))
		s.sync(recent) // what is read anew is linked in the same way
		sums, _ = s.spendBy("campaign_id")
		want(t, "figures", []string{"", spent}, []string{sums[one], sums[other]})
		want(t, "away", connection.Linked{Unlinked: 1, Ambiguous: []string{}}, s.link(google.ExternalID, nil))
		want(t, "references of the other", []string(nil), externals(s.refs(other)))
		sums, _ = s.spendBy("campaign_id")
		want(t, "figures of nobody's", 1, len(sums))

		// By name.
		named, audience := s.campaign("black friday: TRAIL shoes"), s.newAudience(`{"name":"Cart abandoners"}`).OK().ID()
		s.campaign("Gear Guide: Traffic")
		s.campaign("Gear guide: traffic")
		done, linked := connection.Linked{}, true
		s.links(`{"match":"name"}`).Decode(&done)
		want(t, "by name", connection.Linked{Linked: 4, Ambiguous: []string{"Gear Guide: Traffic"}}, done)
		both := []string{google.ExternalID, meta.ExternalID}
		slices.Sort(both)
		want(t, "references by name", both, externals(s.refs(named)))
		want(t, "references of the audience", 2, len(s.refs(audience)))
		want(t, "linked", 4, len(s.entities(nil, &linked)))
	}, "google_ads", "meta_ads")
}

// TestLinksRefused wants all or none.
func TestLinksRefused(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.sync(`{"streams":["campaigns"]}`)
		one, there := s.campaign("One"), s.twin("meta_ads").ExternalID
		wish := func(kind, external string, to any) map[string]any {
			return map[string]any{"kind": kind, "external_id": external, "record_id": to}
		}
		right := wish("campaign", there, one)
		foreign := (&syncFixture{Fixture: s.Another(), t: t}).campaign("One")
		for name, tt := range map[string]struct {
			wrong map[string]any
			want  string
		}{
			"an entity that is none":    {wish("campaign", "1", one), "links[1].external_id not_found"},
			"one twice":                 {wish("campaign", there, one), "links[1].external_id duplicate_item"},
			"another kind":              {wish("audience", there, nil), "links[1].external_id not_found"},
			"a record that is none":     {wish("campaign", there, "cmp_01h455vb4pex5vsknk084sn02q"), "links[1].record_id not_found"},
			"a record of another kind":  {wish("campaign", there, s.newAudience(fmt.Sprintf(`{"name":%q}`, "A")).OK().ID()), "links[1].record_id not_found"},
			"a record of somebody else": {wish("campaign", there, foreign), "links[1].record_id not_found"},
		} {
			d := s.links(map[string]any{"links": []any{right, tt.wrong}}).Fault("validation_failed").Details
			want(t, name, tt.want, d[0].Field+" "+d[0].Code)
		}
		want(t, "references", []string(nil), externals(s.refs(one)))
		s.disconnect(false).OK()
		s.links(`{"match":"name"}`).Fault("invalid_state")
	}, "meta_ads")
}

// TestLinkByName checks that syncs link entities that have the name of a
// record.
func TestLinkByName(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id := s.campaign(twins)
		s.patch(`{"link_by_name":true}`).OK()
		s.sync(recent)
		want(t, "references", 1, len(s.refs(id)))
		if sums, _ := s.spendBy("campaign_id"); sums[id] == "" {
			t.Errorf("got figures %v want some of %s", sums, id)
		}
	}, "meta_ads")
}

// pushing is a launched campaign that is linked to one of Meta's and written
// there.
func pushing(t *testing.T, s *syncFixture) (id string, there connection.Link) {
	t.Helper()
	s.sync(`{"streams":["campaigns"]}`)
	id, there = s.campaign("Pushed"), s.twin("meta_ads")
	s.patch(`{"write_enabled":true}`).OK()
	s.link(there.ExternalID, id)
	s.act(id, "launch")
	return id, there
}

// act moves a campaign and has that written.
func (s *syncFixture) act(id, verb string) {
	s.t.Helper()
	s.transition(id, verb).OK()
	want(s.t, "what is due after "+verb, true, slices.Contains(s.jobs(), record.JobPush))
	if again, err := s.push(id, 1); again != nil || err != nil {
		s.t.Fatalf("push after %s: got %v, %v", verb, again, err)
	}
}

func (s *syncFixture) push(id string, attempt int64) (*clock.Instant, error) {
	return s.connections.Push(s.t.Context(), s.Workspace, ident.ID(id), attempt)
}

// delivery returns the state of a campaign on the platform: push and status
// from the record, runs from the platform.
func (s *syncFixture) delivery(id string, there connection.Link) (push, status string, runs bool) {
	s.t.Helper()
	ref := s.refs(id)[0]
	client, k := s.stranger()
	seen, err := client.Status(s.t.Context(), k, there.AccountID, there.ExternalID)
	if err != nil {
		s.t.Fatal(err)
	}
	if ref.Push != nil {
		push = *ref.Push
	}
	return push, *ref.ExternalStatus, seen.Runs
}

func (s *syncFixture) delivers(what string, id string, there connection.Link, push, status string, runs bool) {
	s.t.Helper()
	gotPush, gotStatus, gotRuns := s.delivery(id, there)
	want(s.t, what, []any{push, status, runs}, []any{gotPush, gotStatus, gotRuns})
}

// TestPush writes states to the platform, reads them back, and reports changes
// that were made on the platform.
func TestPush(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.delivers("launched", id, there, "applied", "ACTIVE", true)
		s.act(id, "pause")
		s.delivers("paused", id, there, "applied", "PAUSED", false)

		client, k := s.stranger()
		if err := client.SetStatus(t.Context(), k, there.AccountID, there.ExternalID, true); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s.sync(`{"streams":["campaigns"]}`)
			s.delivers("changed by somebody else", id, there, "drifted", "ACTIVE", true)
		}
		drifts := slices.DeleteFunc(s.events(id), func(e string) bool { return e != "campaign.drifted" })
		want(t, "told once", 1, len(drifts))
		want(t, "issues", []string{"drifted"}, s.issues(id))
		s.act(id, "pause")
		s.delivers("paused again", id, there, "applied", "PAUSED", false)
		want(t, "issues once paused again", []string(nil), s.issues(id))
		s.transition(id, "pause").Fault("invalid_state")

		if err := client.SetStatus(t.Context(), k, there.AccountID, there.ExternalID, true); err != nil {
			t.Fatal(err)
		}
		s.sync(`{"streams":["campaigns"]}`)
		s.transition(id, "archive").OK()
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Fatalf("push after archive: got %v, %v", again, err)
		}
		s.delivers("archived", id, there, "applied", "PAUSED", false)
		s.transition(id, "restore").OK()

		s.patch(`{"write_enabled":false}`).OK()
		s.act(id, "resume")
		if _, _, runs := s.delivery(id, there); runs {
			t.Error("got a state written that must not be")
		}
	}, "meta_ads")
}

// TestPushFails checks that a temporary failure is retried and a permanent one
// is reported.
func TestPushFails(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		class := connection.Transient
		s.faults.status = func(string, string, bool) error {
			return &connection.Error{Class: class, Code: "x", Message: "No."}
		}
		s.transition(id, "pause").OK()
		s.delivers("before it is tried", id, there, "pending", "ACTIVE", true)
		if _, err := s.push(id, 1); connection.ClassOf(err) != connection.Transient {
			t.Errorf("got %v want to be called again", err)
		}
		s.delivers("on its way", id, there, "pending", "ACTIVE", true)
		if _, err := s.push(id, 8); connection.ClassOf(err) != connection.Transient {
			t.Errorf("got %v want to be called again", err)
		}
		s.delivers("failed for long", id, there, "failed", "ACTIVE", true)
		class = connection.Forbidden
		s.transition(id, "resume").OK()
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Errorf("got %v, %v want to wait for the next sync", again, err)
		}
		s.delivers("forbidden", id, there, "failed", "ACTIVE", true)
		s.transition(id, "pause").OK()
		_, _ = s.push(id, 1)
		s.faults.status = nil
		s.sync(`{"streams":["campaigns"]}`)
		want(t, "planned after a sync", true, slices.Contains(s.jobs(), record.JobPush))
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Errorf("got %v, %v want it to be done", again, err)
		}
		s.delivers("after the sync", id, there, "applied", "PAUSED", false)
	}, "meta_ads")
}

// TestPushWhileSyncing has a pause reach the platform although a sync is in the
// middle of its reports.
func TestPushWhileSyncing(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		reached, released := make(chan struct{}), make(chan struct{})
		first := true
		s.faults.report = func(ctx context.Context, _ connection.Report) error {
			if !first {
				return nil
			}
			first = false
			close(reached)
			select {
			case <-released:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		run := s.ask(recent)
		ended := make(chan error, 1)
		go func() {
			_, err := s.work(t.Context())
			ended <- err
		}()
		<-reached
		s.act(id, "pause")
		s.delivers("in the middle", id, there, "applied", "PAUSED", false)
		close(released)
		if err := errors.Join(<-ended); err != nil {
			t.Fatal(err)
		}
		want(t, "run", connection.RunSucceeded, s.run(run).Status)
		s.delivers("afterwards", id, there, "applied", "PAUSED", false)
	}, "meta_ads")
}
