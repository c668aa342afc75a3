package campaign_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/campaign"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/store"
	"fanfare/internal/store/storetest"
)

// newFollowService returns a campaign service with real audiences and creatives
// and fake connections.
func newFollowService(c *fixture) *refService {
	l := newRefService(c)
	db := c.DB
	refs := map[string]campaign.References{"audience_ids": db.Audiences(), "creative_ids": db.Creatives(), "connection_ids": l.refs}
	l.Service = campaign.New(db.Campaigns(), refs, l.spend, c.Clock.Now, rand.Reader)
	return l
}

// launched creates an active campaign with the given creatives and audiences.
func (l *refService) launched(t *testing.T, creatives, audiences []ident.ID) string {
	t.Helper()
	budget := &campaign.Budget{Type: "daily", Amount: money.Amount{Micros: 1_000_000, Digits: 2}, Currency: "USD", Pacing: "even"}
	id := l.create(t, campaign.Spec{CreativeIDs: creatives, AudienceIDs: audiences, Budget: budget})
	l.setRefs(t, id, ref("con_2", "social", true))
	l.act(t, id, campaign.Launch)
	return string(id)
}

func newCreative(c *fixture) ident.ID {
	return ident.ID(c.Answer(c.Creatives.Create(c.T.Context(), c.Cause(), storetest.Sent(c.T, `{"name":"Tea","type":"text","content":{"body":"Tea"}}`))).OK().ID())
}

func newAudience(c *fixture) ident.ID {
	return ident.ID(c.Answer(c.Audiences.Create(c.T.Context(), c.Cause(), storetest.Sent(c.T, `{"name":"Readers","definition":{"countries":["DE"]}}`))).OK().ID())
}

// resource has the operations that creatives and audiences share.
type resource interface {
	Update(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, patch *body.Value) (record.Doc, error)
	Archive(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error)
	Restore(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error)
}

// change archives, restores or else patches a record.
func (c *fixture) change(s resource, id ident.ID, what string) {
	c.T.Helper()
	ctx, cause := c.T.Context(), c.Cause()
	switch what {
	case "archive":
		c.Answer(s.Archive(ctx, cause, id, record.Match{})).OK()
	case "restore":
		c.Answer(s.Restore(ctx, cause, id, record.Match{})).OK()
	default:
		c.Answer(s.Update(ctx, cause, id, record.Match{}, storetest.Sent(c.T, what))).OK()
	}
}

// TestFollow changes the records that an active campaign refers to, and runs
// the jobs.
func TestFollow(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newFollowService(c)
	first, second, people := newCreative(c), newCreative(c), newAudience(c)
	id := l.launched(t, ids(first), ids(people))
	both := l.launched(t, ids(first, second), ids(people))
	done, stop := c.run(t)
	until := func(what, id, status string, codes ...string) {
		t.Helper()
		for {
			rec := read(c, id)
			got, issues := deliveryOf(rec)
			if got == status && len(issues) == len(codes) && !slices.ContainsFunc(codes, func(code string) bool { return issues[code] == "" }) {
				return
			}
			if t.Context().Err() != nil || len(done) > 0 {
				t.Fatalf("%s: got %s %v want %s %v", what, got, issues, status, codes)
			}
		}
	}
	do := func(s resource, id ident.ID, what string) {
		t.Helper()
		c.Clock.Advance(time.Minute)
		c.change(s, id, what)
	}
	until("to begin with", id, "delivering")
	version := read(c, id)["version"]
	do(c.Creatives, first, "archive")
	until("its creative archived", id, "blocked", "no_creative_ready")
	until("one of two archived", both, "delivering")
	do(c.Creatives, first, "restore")
	until("restored", id, "delivering")
	do(c.Creatives, first, `{"approval":{"status":"rejected"}}`)
	until("rejected", id, "blocked", "creative_rejected", "no_creative_ready")
	until("one of two rejected", both, "limited", "creative_rejected")
	do(c.Creatives, first, `{"approval":{"status":"approved"}}`)
	until("approved", id, "delivering")
	until("one of two approved", both, "delivering")
	do(c.Audiences, people, "archive")
	until("its audience archived", id, "limited", "audience_not_ready")
	do(c.Audiences, people, "restore")
	until("its audience restored", id, "delivering")
	want(t, "version, which nobody has raised", version, read(c, id)["version"])
	var changes []any
	for _, e := range eventsOf(c, id)[2:] {
		changes = append(changes, e["type"], e["previous"].(map[string]any)["delivery"].(map[string]any)["status"], e["actor"].(map[string]any)["type"])
	}
	var wanted []any
	for _, was := range []string{"delivering", "blocked", "delivering", "blocked", "delivering", "limited"} {
		wanted = append(wanted, "campaign.delivery_changed", was, "system")
	}
	want(t, "events", wanted, changes)
	// A stop breaks off what follows, so it waits until nothing does.
	for countFollowJobs(c) > 0 && len(done) == 0 && t.Context().Err() == nil {
		runtime.Gosched()
	}
	stop()
	want(t, "jobs left", int64(0), countFollowJobs(c))
}

// countFollowJobs counts the queued follow jobs.
func countFollowJobs(c *fixture) int64 {
	return c.Int(`SELECT count(*) FROM job WHERE workspace_id = $1 AND kind = $2`, string(c.Workspace), record.JobRefresh)
}

// TestFollowJobs checks that only changes that matter to campaigns enqueue a
// job.
func TestFollowJobs(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := newCreative(c)
	want(t, "jobs of a new one", int64(0), countFollowJobs(c))
	for i, tt := range []struct {
		what string
		jobs int64
	}{
		{`{"name":"Two"}`, 0},
		{`{"approval":{"status":"approved"}}`, 0},
		{`{"approval":{"status":"pending"}}`, 1},
		{`{"approval":{"status":"approved"}}`, 1},
		{"archive", 1},
		{"archive", 0},
		{"restore", 1},
	} {
		c.change(c.Creatives, id, tt.what)
		want(t, fmt.Sprintf("jobs after %d: %s", i, tt.what), tt.jobs, countFollowJobs(c))
		err := c.Raw.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(`DELETE FROM job WHERE workspace_id = $1`, string(c.Workspace))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	d, _, err := c.Creatives.Generate(t.Context(), c.Cause(), storetest.Sent(t, `{"prompt":"Tea","brand":{"banned_words":["tea"]}}`))
	failed := c.Answer(d, err).OK().ID()
	d, _, err = c.Creatives.Regenerate(t.Context(), c.Cause(), ident.ID(failed), record.Match{})
	c.Answer(d, err).OK()
	want(t, "jobs of one that failed again", int64(0), countFollowJobs(c))
}

// TestFollowBatches follows with more campaigns than one batch has.
func TestFollowBatches(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	const n = 25
	l := newFollowService(c)
	id, other := newCreative(c), newCreative(c)
	for range n {
		c.Clock.Advance(time.Millisecond)
		l.launched(t, ids(id), nil)
	}
	untouched := l.launched(t, ids(other), nil)
	blocked := func() int64 {
		t.Helper()
		return c.Int(`SELECT count(*) FROM campaign WHERE workspace_id = $1 AND delivery_status = 'blocked'`, string(c.Workspace))
	}
	want(t, "blocked to begin with", int64(0), blocked())
	c.change(c.Creatives, id, "archive")
	for range 2 {
		if err := c.Campaigns.Follow(t.Context(), c.Workspace, id); err != nil {
			t.Fatal(err)
		}
		want(t, "blocked", int64(n), blocked())
	}
	changed := c.Int(`SELECT count(*) FROM event WHERE workspace_id = $1 AND type = 'campaign.delivery_changed'`, string(c.Workspace))
	want(t, "events", int64(n), changed)
	status, _ := deliveryOf(read(c, untouched))
	want(t, "the one with another creative", "limited", status)
	if err := c.Campaigns.Follow(t.Context(), c.another().Workspace, id); err != nil {
		t.Error(err)
	}
}

// TestReferencesAreChecked checks that unusable ids are rejected, unless the
// record already has them.
func TestReferencesAreChecked(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	foreign := c.another()
	made := map[string][]ident.ID{
		"creative_ids": {newCreative(c), newCreative(c), newCreative(foreign)}, "audience_ids": {newAudience(c), newAudience(c), newAudience(foreign)},
		"excluded_audience_ids": {newAudience(c), newAudience(c), newAudience(foreign)},
	}
	for field, list := range made {
		var s resource = c.Audiences
		if field == "creative_ids" {
			s = c.Creatives
		}
		c.change(s, list[1], "archive")
		check := func(res *storetest.Answer, at int, code string) {
			t.Helper()
			e := res.Fault("validation_failed")
			if len(e.Details) != 1 || e.Details[0].Field != fmt.Sprintf("%s[%d]", field, at) || e.Details[0].Code != code {
				t.Errorf("got details %+v want %s at %s[%d]", e.Details, code, field, at)
			}
		}
		for _, tt := range []struct {
			id   ident.ID
			code string
		}{{list[1], "archived"}, {list[2], "not_found"}, {list[0][:4] + "01h455vb4pex5vsknk084sn02q", "not_found"}, {"nonsense", "not_found"}} {
			check(post(c, map[string]any{"name": "One", field: []ident.ID{list[0], tt.id}}), 1, tt.code)
		}
		id := create(c, map[string]any{"name": "One", field: []ident.ID{list[0]}})
		check(patch(c, id, map[string]any{field: []ident.ID{list[1], list[0]}}), 0, "archived")
		c.change(s, list[0], "archive")
		patch(c, id, map[string]any{"name": "Two", field: []ident.ID{list[0]}}).OK()
		check(patch(c, id, map[string]any{field: []ident.ID{list[0], list[1]}}), 1, "archived")
		patch(c, id, map[string]any{field: []ident.ID{}}).OK()
		check(patch(c, id, map[string]any{field: []ident.ID{list[0]}}), 0, "archived")
	}
}

// TestCreateChecksUsability checks that a new campaign has the delivery issues
// of its references at once.
func TestCreateChecksUsability(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := newCreative(c)
	codes := func(rec map[string]any) []string {
		var list []string
		for _, i := range rec["delivery"].(map[string]any)["issues"].([]any) {
			list = append(list, i.(map[string]any)["code"].(string))
		}
		return list
	}
	campaignID := create(c, map[string]any{"name": "One", "creative_ids": []ident.ID{id}})
	want(t, "issues", []string{"no_connection", "not_linked", "no_audience", "no_budget"}, codes(read(c, campaignID)))
	c.change(c.Creatives, id, `{"approval":{"status":"rejected"}}`)
	copied := duplicate(c, campaignID, "{}").OK().Record()
	want(t, "issues of a new copy", []string{"no_connection", "not_linked", "creative_rejected", "no_creative_ready", "no_audience", "no_budget"}, codes(copied))
	rejected := copied["delivery"].(map[string]any)["issues"].([]any)[2].(map[string]any)
	want(t, "which creative", any(string(id)), rejected["resource_id"])
	want(t, "campaigns that use it", 2, len(c.Members(c.Campaigns.List(t.Context(), c.Workspace, page.Query{Limit: 10, Sort: "created_at", Filters: []page.Filter{{Name: "creative_id", Values: []string{string(id)}}}}))))
	settle(t, c, campaignID)
	want(t, "issues once looked at", codes(copied), codes(read(c, campaignID)))
}
