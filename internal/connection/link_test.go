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
func (s *stage) twin(platform string) connection.Link {
	s.t.Helper()
	var list []connection.Link
	s.Do("GET", s.path("/entities?limit=100&kind=campaign"), nil).Want(200).Data(&list)
	i := slices.IndexFunc(list, func(l connection.Link) bool { return l.Platform == platform && l.Name == twins })
	if i < 0 {
		s.t.Fatalf("%s has no campaign %q in %+v", platform, twins, list)
	}
	return list[i]
}

func (s *stage) campaign(name string) string {
	s.t.Helper()
	return s.Do("POST", "/v1/campaigns", map[string]any{"name": name}).Want(201).ID()
}

// link links or unlinks a campaign.
func (s *stage) link(external string, to any) connection.Linked {
	s.t.Helper()
	var done connection.Linked
	s.Do("POST", s.path("/links"), map[string]any{"links": []any{map[string]any{"kind": "campaign", "external_id": external, "record_id": to}}}).Want(200).Data(&done)
	return done
}

// refs are where else a record is.
func (s *stage) refs(target string) (list []record.ExternalRef) {
	s.t.Helper()
	var r struct {
		Refs []record.ExternalRef `json:"external_refs"`
	}
	s.Do("GET", target, nil).Want(200).Data(&r)
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

// TestLinks links by id and by name, takes links away again, and wants records
// and figures to follow.
func TestLinks(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.sync(recent)
		google, meta := s.twin("google_ads"), s.twin("meta_ads")
		sums, _ := s.figures("campaign_id")
		want(t, "figures of nobody's", 1, len(sums))

		one, other := s.campaign("One"), s.campaign("Other")
		want(t, "by id", connection.Linked{Linked: 1, Ambiguous: []string{}}, s.link(google.ExternalID, one))
		want(t, "again", connection.Linked{Ambiguous: []string{}}, s.link(google.ExternalID, one))
		refs := s.refs("/v1/campaigns/" + one)
		want(t, "references", []string{google.ExternalID}, externals(refs))
		want(t, "reference", []any{ident.ID(s.id), "google_ads", "ENABLED", (*string)(nil)}, []any{refs[0].ConnectionID, refs[0].Platform, *refs[0].ExternalStatus, refs[0].Push})
		sums, _ = s.figures("campaign_id")
		spent := sums[one]
		if spent == "" || spent == "0" {
			t.Errorf("got figures %v want some of %s", sums, one)
		}
		want(t, "to another", connection.Linked{Linked: 1, Ambiguous: []string{}}, s.link(google.ExternalID, other))
		want(t, "references of the first", []string(nil), externals(s.refs("/v1/campaigns/"+one)))
		want(t, "references of the other", []string{google.ExternalID}, externals(s.refs("/v1/campaigns/"+other)))
		s.sync(recent) // what is read anew is linked in the same way
		sums, _ = s.figures("campaign_id")
		want(t, "figures", []string{"", spent}, []string{sums[one], sums[other]})
		want(t, "away", connection.Linked{Unlinked: 1, Ambiguous: []string{}}, s.link(google.ExternalID, nil))
		want(t, "references of the other", []string(nil), externals(s.refs("/v1/campaigns/"+other)))
		sums, _ = s.figures("campaign_id")
		want(t, "figures of nobody's", 1, len(sums))

		// By name.
		named, audience := s.campaign("black friday: TRAIL shoes"), s.Do("POST", "/v1/audiences", `{"name":"Cart abandoners"}`).Want(201).ID()
		s.campaign("Gear Guide: Traffic")
		s.campaign("Gear guide: traffic")
		var done connection.Linked
		s.Do("POST", s.path("/links"), `{"match":"name"}`).Want(200).Data(&done)
		want(t, "by name", connection.Linked{Linked: 4, Ambiguous: []string{"Gear Guide: Traffic"}}, done)
		both := []string{google.ExternalID, meta.ExternalID}
		slices.Sort(both)
		want(t, "references by name", both, externals(s.refs("/v1/campaigns/"+named)))
		want(t, "references of the audience", 2, len(s.refs("/v1/audiences/"+audience)))
		want(t, "linked", 4, len(s.Do("GET", s.path("/entities?limit=100&linked=true"), nil).Want(200).List().Data))
	}, "google_ads", "meta_ads")
}

// TestLinksRefused wants all or none.
func TestLinksRefused(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.sync(`{"streams":["campaigns"]}`)
		one, there := s.campaign("One"), s.twin("meta_ads").ExternalID
		wish := func(kind, external string, to any) map[string]any {
			return map[string]any{"kind": kind, "external_id": external, "record_id": to}
		}
		right := wish("campaign", there, one)
		for name, tt := range map[string]struct {
			wrong map[string]any
			want  string
		}{
			"an entity that is none":    {wish("campaign", "1", one), "links[1].external_id not_found"},
			"one twice":                 {wish("campaign", there, one), "links[1].external_id duplicate_item"},
			"another kind":              {wish("audience", there, nil), "links[1].external_id not_found"},
			"a record that is none":     {wish("campaign", there, "cmp_01h455vb4pex5vsknk084sn02q"), "links[1].record_id not_found"},
			"a record of another kind":  {wish("campaign", there, s.Do("POST", "/v1/audiences", fmt.Sprintf(`{"name":%q}`, "A")).Want(201).ID()), "links[1].record_id not_found"},
			"a record of somebody else": {wish("campaign", there, s.World.Tenant("growth").Do("POST", "/v1/campaigns", `{"name":"One"}`).Want(201).ID()), "links[1].record_id not_found"},
		} {
			d := s.Do("POST", s.path("/links"), map[string]any{"links": []any{right, tt.wrong}}).WantError(422, "validation_failed").Details
			want(t, name, tt.want, d[0].Field+" "+d[0].Code)
		}
		want(t, "references", []string(nil), externals(s.refs("/v1/campaigns/"+one)))
		s.Do("DELETE", s.path(""), nil).Want(200)
		s.Do("POST", s.path("/links"), `{"match":"name"}`).WantError(409, "invalid_state")
	}, "meta_ads")
}

// TestLinkByName has syncs link what has a record's name.
func TestLinkByName(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		id := s.campaign(twins)
		s.Do("PATCH", s.path(""), `{"link_by_name":true}`).Want(200)
		s.sync(recent)
		want(t, "references", 1, len(s.refs("/v1/campaigns/"+id)))
		if sums, _ := s.figures("campaign_id"); sums[id] == "" {
			t.Errorf("got figures %v want some of %s", sums, id)
		}
	}, "meta_ads")
}

// pushing is a launched campaign that is linked to one of Meta's and written
// there.
func pushing(t *testing.T, s *stage) (id string, there connection.Link) {
	t.Helper()
	s.sync(`{"streams":["campaigns"]}`)
	id, there = s.campaign("Pushed"), s.twin("meta_ads")
	s.Do("PATCH", s.path(""), `{"write_enabled":true}`).Want(200)
	s.link(there.ExternalID, id)
	s.act(id, "launch")
	return id, there
}

// act moves a campaign and has that written.
func (s *stage) act(id, verb string) {
	s.t.Helper()
	s.Do("POST", "/v1/campaigns/"+id+"/"+verb, nil).Want(200)
	want(s.t, "what is due after "+verb, true, slices.Contains(s.jobs(), record.JobPush))
	if again, err := s.push(id, 1); again != nil || err != nil {
		s.t.Fatalf("push after %s: got %v, %v", verb, again, err)
	}
}

func (s *stage) push(id string, attempt int64) (*clock.Instant, error) {
	return s.World.App.Connections.Push(s.t.Context(), s.Workspace, ident.ID(id), attempt)
}

// delivery is how a campaign stands on the platform, as the record says it and
// as the platform does.
func (s *stage) delivery(id string, there connection.Link) (push, status string, runs bool) {
	s.t.Helper()
	ref := s.refs("/v1/campaigns/" + id)[0]
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

func (s *stage) delivers(what string, id string, there connection.Link, push, status string, runs bool) {
	s.t.Helper()
	gotPush, gotStatus, gotRuns := s.delivery(id, there)
	want(s.t, what, []any{push, status, runs}, []any{gotPush, gotStatus, gotRuns})
}

// TestPush writes states to the platform, reads them back, and tells when
// somebody changes them there.
func TestPush(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
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
		s.Do("POST", "/v1/campaigns/"+id+"/pause", nil).WantError(409, "invalid_state")

		if err := client.SetStatus(t.Context(), k, there.AccountID, there.ExternalID, true); err != nil {
			t.Fatal(err)
		}
		s.sync(`{"streams":["campaigns"]}`)
		s.Do("DELETE", "/v1/campaigns/"+id, nil).Want(200)
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Fatalf("push after archive: got %v, %v", again, err)
		}
		s.delivers("archived", id, there, "applied", "PAUSED", false)
		s.Do("POST", "/v1/campaigns/"+id+"/restore", nil).Want(200)

		s.Do("PATCH", s.path(""), `{"write_enabled":false}`).Want(200)
		s.act(id, "resume")
		if _, _, runs := s.delivery(id, there); runs {
			t.Error("got a state written that must not be")
		}
	}, "meta_ads")
}

// TestPushFails wants what goes away by itself to be tried again, and what does
// not to be told.
func TestPushFails(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		id, there := pushing(t, s)
		class := connection.Transient
		s.tricks.status = func(string, string, bool) error {
			return &connection.Error{Class: class, Code: "x", Message: "No."}
		}
		s.Do("POST", "/v1/campaigns/"+id+"/pause", nil).Want(200)
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
		s.Do("POST", "/v1/campaigns/"+id+"/resume", nil).Want(200)
		if again, err := s.push(id, 1); again != nil || err != nil {
			t.Errorf("got %v, %v want to wait for the next sync", again, err)
		}
		s.delivers("forbidden", id, there, "failed", "ACTIVE", true)
		s.Do("POST", "/v1/campaigns/"+id+"/pause", nil).Want(200)
		_, _ = s.push(id, 1)
		s.tricks.status = nil
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
	onStage(t, func(t *testing.T, s *stage) {
		id, there := pushing(t, s)
		reached, released := make(chan struct{}), make(chan struct{})
		first := true
		s.tricks.report = func(ctx context.Context, _ connection.Report) error {
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
