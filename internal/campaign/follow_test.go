package campaign_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"fanfare/internal/campaign"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

// newFollowService returns a campaign service with real audiences and creatives
// and fake connections.
func newFollowService(c *fanfaretest.Tenant) *refService {
	l := newRefService(c)
	db := c.World.App.DB
	refs := map[string]campaign.References{"audience_ids": db.Audiences(), "creative_ids": db.Creatives(), "connection_ids": l.refs}
	l.Service = campaign.New(db.Campaigns(), refs, l.spend, c.World.Clock.Now, rand.Reader)
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

func creative(c *fanfaretest.Tenant) ident.ID {
	return ident.ID(c.Do("POST", "/v1/creative", `{"name":"Tea","type":"text","content":{"body":"Tea"}}`).Want(201).ID())
}

func audience(c *fanfaretest.Tenant) ident.ID {
	return ident.ID(c.Do("POST", "/v1/audiences", `{"name":"Readers","definition":{"countries":["DE"]}}`).Want(201).ID())
}

// TestFollow changes the records that an active campaign refers to, and runs
// the jobs.
func TestFollow(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		l := newFollowService(c)
		first, second, people := creative(c), creative(c), audience(c)
		id := l.launched(t, ids(first), ids(people))
		both := l.launched(t, ids(first, second), ids(people))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.World.App.Jobs.Run(ctx) }()
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
		do := func(method, path string, body any) {
			t.Helper()
			c.World.Clock.Advance(time.Minute)
			c.Do(method, path, body).Want(200)
		}
		until("to begin with", id, "delivering")
		version := read(c, id)["version"]
		do("DELETE", "/v1/creative/"+string(first), nil)
		until("its creative archived", id, "blocked", "no_creative_ready")
		until("one of two archived", both, "delivering")
		do("POST", "/v1/creative/"+string(first)+"/restore", nil)
		until("restored", id, "delivering")
		do("PATCH", "/v1/creative/"+string(first), `{"approval":{"status":"rejected"}}`)
		until("rejected", id, "blocked", "creative_rejected", "no_creative_ready")
		until("one of two rejected", both, "limited", "creative_rejected")
		do("PATCH", "/v1/creative/"+string(first), `{"approval":{"status":"approved"}}`)
		until("approved", id, "delivering")
		until("one of two approved", both, "delivering")
		do("DELETE", "/v1/audiences/"+string(people), nil)
		until("its audience archived", id, "limited", "audience_not_ready")
		do("POST", "/v1/audiences/"+string(people)+"/restore", nil)
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
		for countFollowJobs(t, c) > 0 && len(done) == 0 && t.Context().Err() == nil {
			runtime.Gosched()
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		want(t, "jobs left", int64(0), countFollowJobs(t, c))
	})
}

// countFollowJobs counts the queued follow jobs.
func countFollowJobs(t *testing.T, c *fanfaretest.Tenant) int64 {
	t.Helper()
	return count(t, c, `SELECT count(*) FROM job WHERE workspace_id = $1 AND kind = $2`, string(c.Workspace), record.JobRefresh)
}

func count(t *testing.T, c *fanfaretest.Tenant, query string, args ...any) int64 {
	t.Helper()
	rows, err := c.World.App.Engine.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	rows.Next()
	return rows.Int()
}

// TestFollowJobs checks that only changes that matter to campaigns enqueue a
// job.
func TestFollowJobs(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		id := creative(c)
		want(t, "jobs of a new one", int64(0), countFollowJobs(t, c))
		for i, tt := range []struct {
			method, verb, body string
			jobs               int64
		}{
			{"PATCH", "", `{"name":"Two"}`, 0},
			{"PATCH", "", `{"approval":{"status":"approved"}}`, 0},
			{"PATCH", "", `{"approval":{"status":"pending"}}`, 1},
			{"PATCH", "", `{"approval":{"status":"approved"}}`, 1},
			{"DELETE", "", ``, 1},
			{"DELETE", "", ``, 0},
			{"POST", "/restore", `{}`, 1},
		} {
			var body any = tt.body
			if tt.body == "" {
				body = nil
			}
			c.Do(tt.method, "/v1/creative/"+string(id)+tt.verb, body).Want(200)
			want(t, fmt.Sprintf("jobs after %d: %s %s", i, tt.method, tt.body), tt.jobs, countFollowJobs(t, c))
			err := c.World.App.Engine.Write(t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec(`DELETE FROM job WHERE workspace_id = $1`, string(c.Workspace))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		failed := c.Do("POST", "/v1/creative/generate", `{"prompt":"?!"}`).Want(201).ID()
		c.Do("POST", "/v1/creative/"+failed+"/retry", nil).Want(200)
		want(t, "jobs of one that failed again", int64(0), countFollowJobs(t, c))
	})
}

// TestFollowBatches follows with more campaigns than one batch has.
func TestFollowBatches(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		const n = 25
		l := newFollowService(c)
		id, other := creative(c), creative(c)
		for range n {
			c.World.Clock.Advance(time.Millisecond)
			l.launched(t, ids(id), nil)
		}
		untouched := l.launched(t, ids(other), nil)
		blocked := func() int64 {
			t.Helper()
			return count(t, c, `SELECT count(*) FROM campaign WHERE workspace_id = $1 AND delivery_status = 'blocked'`, string(c.Workspace))
		}
		want(t, "blocked to begin with", int64(0), blocked())
		c.Do("DELETE", "/v1/creative/"+string(id), nil).Want(200)
		for range 2 {
			if err := c.World.App.Campaigns.Follow(t.Context(), c.Workspace, id); err != nil {
				t.Fatal(err)
			}
			want(t, "blocked", int64(n), blocked())
		}
		changed := count(t, c, `SELECT count(*) FROM event WHERE workspace_id = $1 AND type = 'campaign.delivery_changed'`, string(c.Workspace))
		want(t, "events", int64(n), changed)
		status, _ := deliveryOf(read(c, untouched))
		want(t, "the one with another creative", "limited", status)
		if err := c.World.App.Campaigns.Follow(t.Context(), c.World.Tenant("growth").Workspace, id); err != nil {
			t.Error(err)
		}
	})
}

// TestReferencesAreChecked checks that unusable ids are rejected, unless the
// record already has them.
func TestReferencesAreChecked(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		foreign := c.World.Tenant("growth")
		made := map[string][]ident.ID{
			"creative_ids": {creative(c), creative(c), creative(foreign)}, "audience_ids": {audience(c), audience(c), audience(foreign)},
			"excluded_audience_ids": {audience(c), audience(c), audience(foreign)},
		}
		for field, list := range made {
			path := "/v1/creative/"
			if field != "creative_ids" {
				path = "/v1/audiences/"
			}
			c.Do("DELETE", path+string(list[1]), nil).Want(200)
			check := func(res *fanfaretest.Response, at int, code string) {
				t.Helper()
				e := res.WantError(422, "validation_failed")
				if len(e.Details) != 1 || e.Details[0].Field != fmt.Sprintf("%s[%d]", field, at) || e.Details[0].Code != code {
					t.Errorf("got details %+v want %s at %s[%d]", e.Details, code, field, at)
				}
			}
			for _, tt := range []struct {
				id   ident.ID
				code string
			}{{list[1], "archived"}, {list[2], "not_found"}, {list[0][:4] + "01h455vb4pex5vsknk084sn02q", "not_found"}, {"nonsense", "not_found"}} {
				check(c.Do("POST", collection, map[string]any{"name": "One", field: []ident.ID{list[0], tt.id}}), 1, tt.code)
			}
			id := create(c, map[string]any{"name": "One", field: []ident.ID{list[0]}})
			check(c.Do("PATCH", collection+"/"+id, map[string]any{field: []ident.ID{list[1], list[0]}}), 0, "archived")
			c.Do("DELETE", path+string(list[0]), nil).Want(200)
			c.Do("PATCH", collection+"/"+id, map[string]any{"name": "Two", field: []ident.ID{list[0]}}).Want(200)
			check(c.Do("PATCH", collection+"/"+id, map[string]any{field: []ident.ID{list[0], list[1]}}), 1, "archived")
			c.Do("PATCH", collection+"/"+id, map[string]any{field: []ident.ID{}}).Want(200)
			check(c.Do("PATCH", collection+"/"+id, map[string]any{field: []ident.ID{list[0]}}), 0, "archived")
		}
	})
}

// TestCreateChecksUsability checks that a new campaign has the delivery issues
// of its references at once.
func TestCreateChecksUsability(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		id := creative(c)
		codes := func(rec map[string]any) []string {
			var list []string
			for _, i := range rec["delivery"].(map[string]any)["issues"].([]any) {
				list = append(list, i.(map[string]any)["code"].(string))
			}
			return list
		}
		campaignID := create(c, map[string]any{"name": "One", "creative_ids": []ident.ID{id}})
		want(t, "issues", []string{"no_connection", "not_linked", "no_audience", "no_budget"}, codes(read(c, campaignID)))
		c.Do("PATCH", "/v1/creative/"+string(id), `{"approval":{"status":"rejected"}}`).Want(200)
		copied := c.Do("POST", collection+"/"+campaignID+"/duplicate", nil).Want(201).Record()
		want(t, "issues of a new copy", []string{"no_connection", "not_linked", "creative_rejected", "no_creative_ready", "no_audience", "no_budget"}, codes(copied))
		rejected := copied["delivery"].(map[string]any)["issues"].([]any)[2].(map[string]any)
		want(t, "which creative", any(string(id)), rejected["resource_id"])
		want(t, "campaigns that use it", 2, len(c.Do("GET", collection+"?creative_id="+string(id), nil).Want(200).List().Data))
		settle(t, c, campaignID)
		want(t, "issues once looked at", codes(copied), codes(read(c, campaignID)))
	})
}
