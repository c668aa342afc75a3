package campaign_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
	"fanfare/internal/store/storetest"
)

func decode(d record.Doc) (campaign.Campaign, error) {
	var c campaign.Campaign
	err := json.Unmarshal(d.JSON, &c)
	return c, err
}

func asFault(err error, f **fault.Error) bool { return errors.As(err, f) }

func deliveryOf(rec map[string]any) (status string, issues map[string]string) {
	d := rec["delivery"].(map[string]any)
	issues = map[string]string{}
	for _, i := range d["issues"].([]any) {
		issue := i.(map[string]any)
		issues[issue["code"].(string)] = issue["since"].(string)
	}
	return d["status"].(string), issues
}

// TestDeliveryStatus checks the delivery status of complete and incomplete
// campaigns.
func TestDeliveryStatus(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	l.refs.issues = map[ident.ID]string{
		"crv_new": "no_creative_ready", "crv_bad": "creative_rejected", "aud_few": "audience_too_small", "aud_gone": "audience_not_ready",
		"con_off": "no_connection", "con_old": "connection_reauth_required", "con_bad": "connection_error",
	}
	budget := &campaign.Budget{Type: "daily", Amount: money.Amount{Micros: 1_000_000, Digits: 2}, Currency: "USD", Pacing: "even"}
	later := clock.At(storetest.Start.Add(time.Hour))
	for _, tt := range []struct {
		name   string
		spec   campaign.Spec
		status string
		issues []string
	}{
		{"nothing", campaign.Spec{}, "blocked", []string{"no_connection", "not_linked", "no_creative_ready", "no_audience", "no_budget"}},
		{"no creative", campaign.Spec{ConnectionIDs: ids("con_1"), AudienceIDs: ids("aud_1"), Budget: budget}, "blocked", []string{"no_creative_ready"}},
		{"no connection", campaign.Spec{CreativeIDs: ids("crv_1"), AudienceIDs: ids("aud_1"), Budget: budget}, "blocked", []string{"no_connection", "not_linked"}},
		{"connected, not linked", campaign.Spec{ConnectionIDs: ids("con_2"), CreativeIDs: ids("crv_1"), AudienceIDs: ids("aud_1"), Budget: budget}, "blocked", []string{"not_linked"}},
		{"no audience", campaign.Spec{ConnectionIDs: ids("con_1"), CreativeIDs: ids("crv_1"), Budget: budget}, "limited", []string{"no_audience"}},
		{"no budget", campaign.Spec{ConnectionIDs: ids("con_1"), CreativeIDs: ids("crv_1"), AudienceIDs: ids("aud_1")}, "limited", []string{"no_budget"}},
		{"all", campaign.Spec{ConnectionIDs: ids("con_1"), CreativeIDs: ids("crv_1"), AudienceIDs: ids("aud_1"), Budget: budget}, "delivering", []string{}},
		{"creative is generating", campaign.Spec{ConnectionIDs: ids("con_1"), CreativeIDs: ids("crv_new"), AudienceIDs: ids("aud_1"), Budget: budget}, "blocked", []string{"no_creative_ready"}},
		{"one creative is enough", campaign.Spec{ConnectionIDs: ids("con_1"), CreativeIDs: ids("crv_new", "crv_1"), AudienceIDs: ids("aud_1"), Budget: budget}, "delivering", []string{}},
		{"one creative rejected", campaign.Spec{ConnectionIDs: ids("con_1"), CreativeIDs: ids("crv_bad", "crv_1"), AudienceIDs: ids("aud_1"), Budget: budget}, "limited", []string{"creative_rejected"}},
		{"all creatives rejected", campaign.Spec{ConnectionIDs: ids("con_1"), CreativeIDs: ids("crv_bad"), AudienceIDs: ids("aud_1"), Budget: budget}, "blocked", []string{"creative_rejected", "no_creative_ready"}},
		{"audience too small", campaign.Spec{ConnectionIDs: ids("con_1"), CreativeIDs: ids("crv_1"), AudienceIDs: ids("aud_few", "aud_gone"), Budget: budget}, "limited", []string{"audience_too_small", "audience_not_ready"}},
		{"access has ended", campaign.Spec{ConnectionIDs: ids("con_old"), CreativeIDs: ids("crv_1"), AudienceIDs: ids("aud_1"), Budget: budget}, "blocked", []string{"connection_reauth_required", "not_linked"}},
		{"a connection fails", campaign.Spec{ConnectionIDs: ids("con_1", "con_bad"), CreativeIDs: ids("crv_1"), AudienceIDs: ids("aud_1"), Budget: budget}, "limited", []string{"connection_error"}},
		{"disconnected", campaign.Spec{ConnectionIDs: ids("con_off"), CreativeIDs: ids("crv_1"), AudienceIDs: ids("aud_1"), Budget: budget}, "blocked", []string{"no_connection", "not_linked"}},
		{"one connection is enough", campaign.Spec{ConnectionIDs: ids("con_off", "con_1"), CreativeIDs: ids("crv_1"), AudienceIDs: ids("aud_1"), Budget: budget}, "limited", []string{"no_connection"}},
		{"later", campaign.Spec{Schedule: campaign.Schedule{StartAt: &later}}, "pending_start", []string{"no_connection", "not_linked", "no_creative_ready", "no_audience", "no_budget"}},
	} {
		id := l.create(t, tt.spec)
		status, _ := deliveryOf(read(c, string(id)))
		want(t, tt.name+": of a draft", "not_launched", status)
		l.act(t, id, campaign.Launch)
		rec := read(c, string(id))
		status, issues := deliveryOf(rec)
		want(t, tt.name+": once active", tt.status, status)
		want(t, tt.name+": issues", len(tt.issues), len(issues))
		for _, code := range tt.issues {
			if issues[code] == "" {
				t.Errorf("%s: got issues %v want %s", tt.name, issues, code)
			}
		}
		for _, i := range rec["delivery"].(map[string]any)["issues"].([]any) {
			issue := i.(map[string]any)
			if issue["field"] == nil || issue["remediation"] == nil || issue["message"] == "" {
				t.Errorf("%s: got issue %v, want its field and what to do", tt.name, issue)
			}
		}
		l.act(t, id, campaign.Pause)
		status, _ = deliveryOf(read(c, string(id)))
		want(t, tt.name+": after pause", "paused", status)
		act(c, string(id), "archive").OK()
		status, _ = deliveryOf(read(c, string(id)))
		want(t, tt.name+": after archive", "archived", status)
		_, issues = deliveryOf(read(c, string(id)))
		want(t, tt.name+": issues once archived", map[string]string{}, issues)
	}
	id := createInStatus(t, c, "completed")
	status, issues := deliveryOf(read(c, id))
	want(t, "of a completed one", "ended", status)
	want(t, "issues of a completed one", map[string]string{}, issues)
}

// TestIssuesKeepTheirSince checks that an issue keeps its since over every
// change, and that a new issue has a new one.
func TestIssuesKeepTheirSince(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := create(c, `{"name":"One","budget":{"type":"daily","amount":1}}`)
	at := func(d time.Duration) string {
		return storetest.Start.Add(d).Format("2006-01-02T15:04:05.000Z")
	}
	wanted := map[string]string{"no_connection": at(0), "not_linked": at(0), "no_creative_ready": at(0), "no_audience": at(0)}
	check := func(what string) {
		t.Helper()
		_, issues := deliveryOf(read(c, id))
		want(t, "issues after "+what, wanted, issues)
	}
	check("creation")
	for _, action := range []string{"launch", "pause", "resume", "update"} {
		c.Clock.Advance(time.Hour)
		act(c, id, action).OK()
		check(action)
	}
	c.Clock.Advance(time.Hour)
	patch(c, id, `{"budget":null}`).OK()
	wanted["no_budget"] = at(5 * time.Hour)
	check("the budget went")
	c.Clock.Advance(time.Hour)
	patch(c, id, `{"budget":{"type":"daily","amount":1}}`).OK()
	delete(wanted, "no_budget")
	check("the budget came back")
	c.Clock.Advance(time.Hour)
	act(c, id, "archive").OK()
	c.Clock.Advance(time.Hour)
	act(c, id, "restore").OK()
	for code := range wanted {
		wanted[code] = at(8 * time.Hour)
	}
	check("archive and restore")
}

// TestScheduleTakesEffect moves the clock over the start and the end.
func TestScheduleTakesEffect(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := create(c, map[string]any{"name": "One", "schedule": map[string]any{"start_at": in(time.Hour), "end_at": in(3 * time.Hour)}})
	look := func(status, delivery string, next *time.Duration) {
		t.Helper()
		at := settle(t, c, id)
		rec := read(c, id)
		got, _ := deliveryOf(rec)
		want(t, "status and delivery", []any{status, delivery}, []any{rec["status"], got})
		switch {
		case next == nil && at != nil, next != nil && (at == nil || !at.Equal(storetest.Start.Add(*next))):
			t.Errorf("got next moment %v want %v from the start", at, next)
		}
	}
	start, end := time.Hour, 3*time.Hour
	look("draft", "not_launched", nil)
	c.Clock.Advance(time.Second)
	act(c, id, "launch").OK()
	look("active", "pending_start", &start)
	c.Clock.Advance(time.Hour - time.Second - time.Millisecond)
	look("active", "pending_start", &start)
	c.Clock.Advance(time.Millisecond)
	look("active", "blocked", &end)
	look("active", "blocked", &end)
	c.Clock.Advance(2*time.Hour - time.Millisecond)
	look("active", "blocked", &end)
	c.Clock.Advance(time.Millisecond)
	look("completed", "ended", nil)
	look("completed", "ended", nil)
	want(t, "events", []string{"campaign.created", "campaign.launched", "campaign.delivery_changed", "campaign.completed"}, eventTypes(c, id))
	last := eventsOf(c, id)[3]
	want(t, "actor", any(map[string]any{"type": "system", "id": nil}), last["actor"])
	want(t, "request", any(nil), last["request_id"])
	want(t, "previous", any(map[string]any{"status": "active"}), last["previous"])
	// A paused one ends as well.
	id = create(c, map[string]any{"name": "Two", "schedule": map[string]any{"end_at": in(4 * time.Hour)}})
	act(c, id, "launch").OK()
	act(c, id, "pause").OK()
	c.Clock.Advance(time.Hour)
	look("completed", "ended", nil)
	// A campaign that does not exist, or belongs to another workspace, needs
	// nothing.
	if next, err := c.Campaigns.Settle(t.Context(), c.Workspace, ident.ID("cmp_01h455vb4pex5vsknk084sn02q")); next != nil || err != nil {
		t.Errorf("got %v, %v for an unknown campaign, want nothing", next, err)
	}
}

// TestScheduleJobs checks that each campaign has a job at its next scheduled
// time, and that the runner applies it.
func TestScheduleJobs(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	jobs := c.DB.Jobs()
	due := func(wanted *time.Duration) {
		t.Helper()
		at, ok, err := jobs.Due(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ok != (wanted != nil) || ok && !at.Time().Equal(storetest.Start.Add(*wanted)) {
			t.Errorf("got due %v (%v) want %v from the start", at, ok, wanted)
		}
	}
	hours := func(n int) *time.Duration {
		d := time.Duration(n) * time.Hour
		return &d
	}
	id := create(c, map[string]any{"name": "One", "schedule": map[string]any{"start_at": in(time.Hour), "end_at": in(5 * time.Hour)}})
	due(nil)
	act(c, id, "launch").OK()
	due(hours(1))
	act(c, id, "pause").OK()
	due(hours(5))
	patch(c, id, map[string]any{"schedule": map[string]any{"end_at": in(6 * time.Hour)}}).OK()
	due(hours(6))
	act(c, id, "archive").OK()
	due(nil)
	act(c, id, "restore").OK()
	due(hours(6))
	act(c, id, "resume").OK()
	c.Clock.Advance(6 * time.Hour)
	done, stop := c.run(t)
	for read(c, id)["status"] != "completed" {
		if t.Context().Err() != nil || len(done) > 0 {
			t.Fatal("the runner stopped before the campaign was completed")
		}
	}
	stop()
}
