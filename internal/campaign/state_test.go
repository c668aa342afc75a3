package campaign_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/campaign"
	"fanfare/internal/fault"
	"fanfare/internal/store/storetest"
)

// outcome is the result of an action in a status.
type outcome struct {
	// to is the status after it; empty for a refusal.
	to string
	// event is what it leaves; none where nothing changes.
	event string
	// code is the error of a refusal, required what it says is needed.
	code     string
	required string
}

func invalidIn(required string) outcome { return outcome{code: "invalid_state", required: required} }

func archivedFault(required string) outcome { return outcome{code: "archived", required: required} }

// transitions has the outcome of each action in each status, including
// refusals. docs/PROTOCOL.md, "States and fields", refers to it.
var transitions = map[string]map[string]outcome{
	"draft": {
		"launch": {to: "active", event: "campaign.launched"}, "pause": invalidIn("active"), "resume": invalidIn("paused"), "restore": invalidIn("archived"),
		"archive": {to: "archived", event: "campaign.archived"}, "update": {to: "draft", event: "campaign.updated"}, "duplicate": {to: "draft"},
	},
	"active": {
		"launch": invalidIn("draft"), "pause": {to: "paused", event: "campaign.paused"}, "resume": invalidIn("paused"), "restore": invalidIn("archived"),
		"archive": {to: "archived", event: "campaign.archived"}, "update": {to: "active", event: "campaign.updated"}, "duplicate": {to: "active"},
	},
	"paused": {
		"launch": invalidIn("draft"), "pause": invalidIn("active"), "resume": {to: "active", event: "campaign.resumed"}, "restore": invalidIn("archived"),
		"archive": {to: "archived", event: "campaign.archived"}, "update": {to: "paused", event: "campaign.updated"}, "duplicate": {to: "paused"},
	},
	"completed": {
		"launch": invalidIn("draft"), "pause": invalidIn("active"), "resume": invalidIn("paused"), "restore": invalidIn("archived"),
		"archive": {to: "archived", event: "campaign.archived"}, "update": {to: "completed", event: "campaign.updated"}, "duplicate": {to: "completed"},
	},
	"archived": {
		"launch": archivedFault("draft"), "pause": archivedFault("active"), "resume": archivedFault("paused"), "restore": {to: "draft", event: "campaign.restored"},
		"archive": {to: "archived"}, "update": archivedFault("draft active paused completed"), "duplicate": {to: "archived"},
	},
	"gone": {
		"launch": archivedFault("draft"), "pause": archivedFault("active"), "resume": archivedFault("paused"), "restore": {to: "paused", event: "campaign.restored"},
		"archive": {to: "archived"}, "update": archivedFault("draft active paused completed"), "duplicate": {to: "archived"},
	},
}

// TestTransitions takes every action in every status (W5, W6, W7).
func TestTransitions(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	for _, status := range statuses {
		for action, o := range transitions[status] {
			id := createInStatus(t, c, status)
			before, events := read(c, id), len(eventsOf(c, id))
			if before["status"] != apiStatus(status) {
				t.Fatalf("got status %v want %s to begin with", before["status"], status)
			}
			c.Clock.Advance(time.Minute)
			res := act(c, id, action)
			after := read(c, id)
			name := action + " in " + status
			checkOutcome(t, name, o, res, before, after)
			possible := slices.Contains(before["allowed_actions"].([]any), any(action))
			// Archiving again is no error, but nothing one would offer either.
			if possible != (o.code == "") && (action != "archive" || apiStatus(status) != "archived") {
				t.Errorf("%s: got allowed_actions %v, want it there only if it works", name, before["allowed_actions"])
			}
			checkEvent(t, c, name, id, o, before, after, events)
		}
	}
}

func checkOutcome(t *testing.T, name string, o outcome, res *storetest.Answer, before, after map[string]any) {
	t.Helper()
	if o.code != "" {
		e := res.Fault(fault.Code(o.code))
		if len(e.Details) != 1 {
			t.Fatalf("%s: got %d details want 1", name, len(e.Details))
		}
		meta := e.Details[0].Meta
		required := []string{}
		for _, s := range meta["required_status"].([]any) {
			required = append(required, s.(string))
		}
		if meta["current_status"] != before["status"] || strings.Join(required, " ") != o.required {
			t.Errorf("%s: got meta %v, want current %v and required %s", name, meta, before["status"], o.required)
		}
		want(t, name+": allowed_actions", before["allowed_actions"], meta["allowed_actions"])
		want(t, name+": the record", before, after)
		return
	}
	if res.Err != nil || after["status"] != o.to {
		t.Errorf("%s: got %v and status %v want %s", name, res.Err, after["status"], o.to)
	}
	if changed := o.event != ""; changed != (after["version"] != before["version"]) || changed != (after["updated_at"] != before["updated_at"]) {
		t.Errorf("%s: got version %v after %v, want a new one only for a change", name, after["version"], before["version"])
	}
}

func checkEvent(t *testing.T, c *fixture, name, id string, o outcome, before, after map[string]any, events int) {
	t.Helper()
	fresh := eventsOf(c, id)[events:]
	if o.event == "" {
		want(t, name+": events", 0, len(fresh))
		return
	}
	if len(fresh) != 1 || fresh[0]["type"] != o.event {
		t.Errorf("%s: got %d events %v want %s", name, len(fresh), fresh, o.event)
		return
	}
	want(t, name+": the event's data", any(after), fresh[0]["data"])
	previous := map[string]any{"status": before["status"]}
	if o.event == "campaign.updated" {
		previous = map[string]any{"name": "One"}
	}
	want(t, name+": the event's previous", any(previous), fresh[0]["previous"])
}

// TestTransitionTimes checks the timestamps of one campaign over all
// transitions.
func TestTransitionTimes(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := create(c, map[string]any{"name": "One", "schedule": map[string]any{"end_at": in(10 * time.Hour)}})
	minute := 0
	at := func(m int) any {
		return storetest.Start.Add(time.Duration(m) * time.Minute).Format("2006-01-02T15:04:05.000Z")
	}
	step := func(action string, launched, paused, completed, archived any) {
		t.Helper()
		minute++
		c.Clock.Advance(time.Minute)
		act(c, id, action).OK()
		rec := read(c, id)
		want(t, "times after "+action, []any{launched, paused, completed, archived}, []any{rec["launched_at"], rec["paused_at"], rec["completed_at"], rec["archived_at"]})
	}
	step("launch", at(1), nil, nil, nil)
	step("pause", at(1), at(2), nil, nil)
	step("resume", at(1), nil, nil, nil)
	step("archive", at(1), nil, nil, at(4))
	step("restore", at(1), at(5), nil, nil)
	step("resume", at(1), nil, nil, nil)
	c.Clock.Advance(10 * time.Hour)
	minute += 600
	settle(t, c, id)
	rec := read(c, id)
	want(t, "times after the end", []any{at(1), nil, at(606)}, []any{rec["launched_at"], rec["paused_at"], rec["completed_at"]})
	step("archive", at(1), nil, at(606), at(607))
	step("restore", at(1), at(608), nil, nil)
	// The end is still past, so the next look completes it again.
	c.Clock.Advance(time.Minute)
	settle(t, c, id)
	want(t, "status", any("completed"), read(c, id)["status"])
	want(t, "events", []string{
		"campaign.created", "campaign.launched", "campaign.paused", "campaign.resumed", "campaign.archived", "campaign.restored", "campaign.resumed",
		"campaign.completed", "campaign.archived", "campaign.restored", "campaign.completed",
	}, eventTypes(c, id))
}

// TestLaunchNeedsNothingButADraft checks that a campaign with only a name
// launches, and that only an end in the past prevents it.
func TestLaunchNeedsNothingButADraft(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	act(c, create(c, `{"name":"Bare"}`), "launch").OK()
	for _, end := range []time.Duration{-time.Hour, 0} {
		id := create(c, map[string]any{"name": "Late", "schedule": map[string]any{"end_at": in(end)}})
		e := act(c, id, "launch").Fault("validation_failed")
		if d := e.Details[0]; d.Field != "schedule.end_at" || d.In != "body" || d.Code != "invalid_value" || d.Meta["end_at"] == nil {
			t.Errorf("got detail %+v want schedule.end_at", d)
		}
		want(t, "status", any("draft"), read(c, id)["status"])
	}
	act(c, create(c, map[string]any{"name": "Just", "schedule": map[string]any{"end_at": in(time.Second)}}), "launch").OK()
}

// TestRacingTransitions sends concurrent transitions of one campaign: one
// succeeds, the others get the state, and one event exists.
func TestRacingTransitions(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	race := func(id string, actions ...string) map[fault.Code]int {
		var mu sync.Mutex
		var wg sync.WaitGroup
		codes := map[fault.Code]int{}
		for _, action := range actions {
			wg.Go(func() {
				code := act(c, id, action).Code()
				mu.Lock()
				defer mu.Unlock()
				codes[code]++
			})
		}
		wg.Wait()
		return codes
	}
	id := create(c, `{"name":"One"}`)
	want(t, "answers to 16 launches", map[fault.Code]int{"": 1, fault.InvalidState: 15}, race(id, slices.Repeat([]string{"launch"}, 16)...))
	want(t, "answers to 16 pauses", map[fault.Code]int{"": 1, fault.InvalidState: 15}, race(id, slices.Repeat([]string{"pause"}, 16)...))
	want(t, "answers to 8 archivings", map[fault.Code]int{"": 8}, race(id, slices.Repeat([]string{"archive"}, 8)...))
	types := eventTypes(c, id)
	slices.Sort(types)
	want(t, "events", []string{"campaign.archived", "campaign.created", "campaign.launched", "campaign.paused"}, types)
	want(t, "version", any(4.0), read(c, id)["version"])
	// Whichever of the two is first, the campaign ends up archived.
	for range 8 {
		id := createInStatus(t, c, "active")
		answers := race(id, "pause", "archive")
		rec := read(c, id)
		if rec["status"] != "archived" || answers[""] == 0 || answers[""]+answers[fault.InvalidState]+answers[fault.Archived] != 2 {
			t.Errorf("got %v and status %v, want archived whoever was first", answers, rec["status"])
		}
	}
}

// TestDuplicate copies campaigns in every status.
func TestDuplicate(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	for _, status := range statuses {
		id := createInStatus(t, c, status)
		c.Clock.Advance(time.Second)
		original := read(c, id)
		res := duplicate(c, id, "{}", `"`+etagVersion(original)+`"`).OK()
		copied := res.Record()
		want(t, status+": ETag", `"1.0"`, res.ETag())
		want(t, status+": name and status", []any{"One (copy)", "draft", 1.0}, []any{copied["name"], copied["status"], copied["version"]})
		want(t, status+": times", []any{nil, nil, nil, nil}, []any{copied["launched_at"], copied["paused_at"], copied["completed_at"], copied["archived_at"]})
		want(t, status+": budget", original["budget"], copied["budget"])
		end := original["schedule"].(map[string]any)["end_at"]
		if status == "completed" {
			end = nil
		}
		want(t, status+": end", end, copied["schedule"].(map[string]any)["end_at"])
		want(t, status+": events of the copy", []string{"campaign.created"}, eventTypes(c, copied["id"].(string)))
		want(t, status+": the original", original, read(c, id))
		duplicate(c, id, "{}", `"99"`).Fault("precondition_failed")
	}
}

func etagVersion(rec map[string]any) string { return fmt.Sprint(rec["version"]) }

// TestDuplicateFields compares all fields and the name of a copy.
func TestDuplicateFields(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := create(c, map[string]any{
		"name": "One", "description": "d", "objective": "sales", "channels": []string{"search"}, "tags": []string{"a"}, "metadata": map[string]any{"k": "v"},
		"budget":   map[string]any{"type": "lifetime", "amount": "10", "currency": "EUR", "pacing": "asap", "daily_cap": "1"},
		"schedule": map[string]any{"start_at": in(-time.Hour), "end_at": in(time.Hour), "timezone": "Asia/Tokyo"},
		"goal":     map[string]any{"metric": "cpa", "target": 1, "direction": "at_most"}, "attribution": map[string]any{"click_days": 90},
		"tracking":   map[string]any{"landing_url": "https://example.com", "utm": map[string]any{"source": "s"}, "auto_tag": true},
		"experiment": map[string]any{"split": "even", "winner_metric": "ctr"},
	})
	wanted := read(c, id)
	copied := duplicate(c, id, `{"name":"Mine"}`).OK().Record()
	wanted["name"], wanted["id"], wanted["experiment"] = "Mine", copied["id"], nil
	wanted["schedule"].(map[string]any)["start_at"] = nil
	want(t, "the copy", wanted, copied)
	for name, made := range map[string]string{
		strings.Repeat("ü", 193): strings.Repeat("ü", 193) + " (copy)",
		strings.Repeat("ü", 194): strings.Repeat("ü", 193) + " (copy)",
		strings.Repeat("ü", 200): strings.Repeat("ü", 193) + " (copy)",
		"One (copy)":             "One (copy) (copy)",
	} {
		id := create(c, map[string]any{"name": name})
		want(t, "name of the copy", any(made), duplicate(c, id, "{}").OK().Record()["name"])
	}
}

// TestDuplicateRules checks the body of a duplicate, after the record and the
// precondition.
func TestDuplicateRules(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := create(c, `{"name":"One"}`)
	longest := strings.Repeat("ü", campaign.MaxName)
	for _, tt := range []struct {
		body string
		want []string
	}{
		{`{"name":""}`, []string{"name too_short"}},
		{`{"name":" "}`, []string{"name too_short"}},
		{`{"name":null}`, []string{"name not_nullable"}},
		{`{"name":"` + longest + `x","tags":[]}`, []string{"name too_long", "tags unknown_field"}},
	} {
		var got []string
		for _, d := range duplicate(c, id, tt.body).Fault(fault.ValidationFailed).Details {
			got = append(got, d.Field+" "+d.Code)
		}
		want(t, tt.body, tt.want, got)
		duplicate(c, id, tt.body, `"99"`).Fault(fault.PreconditionFailed)
		duplicate(c, "cmp_01h455vb4pex5vsknk084sn02q", tt.body).Fault(fault.NotFound)
	}
	want(t, "longest name", any(longest), duplicate(c, id, `{"name":"`+longest+`"}`).OK().Record()["name"])
}
