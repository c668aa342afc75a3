package campaign_test

import (
	"slices"
	"testing"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/campaign"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store/storetest"
)

// changes has a change of each field and the statuses that allow it; nil is all
// but archived. docs/PROTOCOL.md, "States and fields", refers to it.
var changes = []struct {
	field, patch string
	in           []string
}{
	{"name", `{"name":"Two"}`, nil},
	{"description", `{"description":"More"}`, nil},
	{"objective", `{"objective":"sales"}`, []string{"draft"}},
	{"channels", `{"channels":["email"]}`, []string{"draft", "paused"}},
	{"budget", `{"budget":{"amount":"20"}}`, nil},
	{"budget", `{"budget":{"type":"lifetime","pacing":"asap","daily_cap":"1"}}`, nil},
	{"budget", `{"budget":null}`, nil},
	{"budget.currency", `{"budget":{"currency":"EUR"}}`, []string{"draft"}},
	{"schedule", `{"schedule":{"end_at":"2040-01-01T00:00:00Z"}}`, nil},
	{"schedule", `{"schedule":{"timezone":"Asia/Tokyo"}}`, nil},
	{"goal", `{"goal":{"metric":"cpa","target":2,"direction":"at_most"}}`, nil},
	{"attribution", `{"attribution":{"click_days":30}}`, []string{"draft"}},
	{"tracking", `{"tracking":{"auto_tag":true}}`, nil},
	{"experiment", `{"experiment":{"split":"even","winner_metric":"ctr"}}`, []string{"draft"}},
	{"tags", `{"tags":["new"]}`, nil},
	{"metadata", `{"metadata":{"k":"v"}}`, nil},
}

// TestUpdateRules changes every field in every status.
func TestUpdateRules(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	for _, status := range statuses {
		for _, tt := range changes {
			id := createInStatus(t, c, status)
			name := tt.patch + " in " + status
			before := read(c, id)
			res := patch(c, id, tt.patch)
			after := read(c, id)
			switch {
			case apiStatus(status) == "archived":
				res.Fault("archived")
				want(t, name, before, after)
			case tt.in != nil && !slices.Contains(tt.in, status):
				e := res.Fault("invalid_state")
				if len(e.Details) != 1 || e.Details[0].Field != tt.field || e.Details[0].Code != "immutable" || e.Details[0].In != "body" {
					t.Errorf("%s: got details %+v want immutable at %s", name, e.Details, tt.field)
				}
				want(t, name, before, after)
			default:
				res.OK()
				if after["version"] == before["version"] {
					t.Errorf("%s: got the same version, want a change", name)
				}
			}
			// A value that does not change may be sent in any status.
			if apiStatus(status) != "archived" {
				patch(c, id, map[string]any{"objective": after["objective"], "channels": after["channels"], "attribution": after["attribution"]}).OK()
			}
		}
	}
}

// TestImmutableTogether checks that one fault lists all immutable fields.
func TestImmutableTogether(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := createInStatus(t, c, "active")
	e := patch(c, id, `{"name":"Two","objective":"sales","channels":["sms"],"budget":{"currency":"EUR"}}`).Fault("invalid_state")
	fields := map[string]any{}
	for _, d := range e.Details {
		fields[d.Field] = d.Meta["required_status"]
	}
	want(t, "details", map[string]any{"objective": []any{"draft"}, "channels": []any{"draft", "paused"}, "budget.currency": []any{"draft"}}, fields)
	want(t, "name", any("One"), read(c, id)["name"])
}

// TestStartIsFixedOncePast checks that the start can change until it has
// passed.
func TestStartIsFixedOncePast(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := create(c, map[string]any{"name": "One", "schedule": map[string]any{"start_at": in(-time.Hour)}})
	move := func(to any) *storetest.Answer {
		return patch(c, id, map[string]any{"schedule": map[string]any{"start_at": to}})
	}
	move(in(time.Hour)).OK() // a draft may
	act(c, id, "launch").OK()
	move(in(2 * time.Hour)).OK() // not yet come
	c.Clock.Advance(2 * time.Hour)
	for _, to := range []any{in(3 * time.Hour), in(0), nil} {
		e := move(to).Fault("invalid_state")
		if e.Details[0].Field != "schedule.start_at" || e.Details[0].Code != "immutable" {
			t.Errorf("got %+v want immutable at schedule.start_at", e.Details)
		}
	}
	move(in(2 * time.Hour)).OK() // the same
	act(c, id, "pause").OK()
	move(in(3 * time.Hour)).Fault("invalid_state")
}

// TestCompletedComesBackByItsEnd checks that a completed campaign becomes
// paused, never active, when its end moves into the future or is removed.
func TestCompletedComesBackByItsEnd(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	future := c.Clock.Now().Add(5000 * time.Hour).Format(time.RFC3339)
	for _, tt := range []struct {
		name, status string
		end          any
	}{
		{"future", "paused", future}, {"none", "paused", nil}, {"another past", "completed", in(time.Minute)},
	} {
		id := createInStatus(t, c, "completed")
		rec := patch(c, id, map[string]any{"schedule": map[string]any{"end_at": tt.end}}).OK().Record()
		want(t, tt.name+": status", any(tt.status), rec["status"])
		events := eventsOf(c, id)
		last := events[len(events)-1]
		want(t, tt.name+": event", any("campaign.updated"), last["type"])
		if tt.status == "completed" {
			continue
		}
		want(t, tt.name+": previous status", any("completed"), last["previous"].(map[string]any)["status"])
		if rec["completed_at"] != nil || rec["paused_at"] == nil {
			t.Errorf("%s: got completed_at %v, paused_at %v, want none and now", tt.name, rec["completed_at"], rec["paused_at"])
		}
		act(c, id, "resume").OK()
	}
	// A change of anything else leaves it completed.
	id := createInStatus(t, c, "completed")
	want(t, "status", any("completed"), patch(c, id, `{"name":"Two","schedule":{"timezone":"Asia/Tokyo"}}`).OK().Record()["status"])
	// An end that has passed unnoticed counts as passed.
	id = create(c, map[string]any{"name": "One", "schedule": map[string]any{"end_at": c.Clock.Now().Add(time.Hour).Format(time.RFC3339)}})
	act(c, id, "launch").OK()
	c.Clock.Advance(2 * time.Hour)
	act(c, id, "pause").Fault("invalid_state")
	want(t, "status", any("paused"), patch(c, id, map[string]any{"schedule": map[string]any{"end_at": nil}}).OK().Record()["status"])
}

// revise changes the references of a campaign.
func (l *refService) revise(t testing.TB, id ident.ID, change func(*campaign.Spec)) error {
	t.Helper()
	d, err := l.Get(t.Context(), l.cause.Workspace, id)
	if err != nil {
		return err
	}
	c, err := decode(d)
	if err != nil {
		return err
	}
	change(&c.Spec)
	patch, err := body.ValueOf(c.Spec)
	if err != nil {
		return err
	}
	_, err = l.Update(t.Context(), l.cause, id, record.Match{}, patch, campaign.Defaults{})
	return err
}

func (l *refService) create(t testing.TB, spec campaign.Spec) ident.ID {
	t.Helper()
	spec.Name, spec.Attribution = "One", campaign.DefaultAttribution
	if spec.Schedule.Timezone == "" {
		spec.Schedule.Timezone = "UTC"
	}
	d, err := l.CreateSpec(t.Context(), l.cause, spec)
	if err != nil {
		t.Fatal(err)
	}
	c, err := decode(d)
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

// TestReferences checks that new ids of missing or archived records are
// rejected, and that ids which the record already has are not.
func TestReferences(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	_, err := l.CreateSpec(t.Context(), l.cause, campaign.Spec{
		Name: "Refused", Schedule: campaign.Schedule{Timezone: "UTC"}, Attribution: campaign.DefaultAttribution, AudienceIDs: ids("aud_1", "xaud_2"), ExcludedAudienceIDs: ids("xaud_3"), CreativeIDs: ids("xcrv_1"), ConnectionIDs: ids("con_1", "xcon_2"),
	})
	got := map[string]string{}
	var f *fault.Error
	if !asFault(err, &f) || f.Code != fault.ValidationFailed {
		t.Fatalf("got %v want validation_failed", err)
	}
	for _, d := range f.Details {
		got[d.Field] = d.Code
	}
	want(t, "details", map[string]string{"audience_ids[1]": "not_found", "excluded_audience_ids[0]": "not_found", "creative_ids[0]": "not_found", "connection_ids[1]": "not_found"}, got)

	id := l.create(t, campaign.Spec{AudienceIDs: ids("aud_1"), CreativeIDs: ids("crv_1")})
	l.refs.archived = ids("aud_1", "aud_2", "crv_1")
	if err := l.revise(t, id, func(s *campaign.Spec) { s.Name = "Two" }); err != nil {
		t.Errorf("got %v, want what was there before to be left alone", err)
	}
	if err := l.revise(t, id, func(s *campaign.Spec) { s.CreativeIDs = ids("crv_1", "crv_2") }); err != nil {
		t.Errorf("got %v, want a good one to be added beside it", err)
	}
	err = l.revise(t, id, func(s *campaign.Spec) { s.AudienceIDs = ids("aud_1", "aud_2", "xaud") })
	if !asFault(err, &f) || len(f.Details) != 2 || f.Details[0].Code != "archived" || f.Details[0].Field != "audience_ids[1]" || f.Details[1].Code != "not_found" {
		t.Errorf("got %v, want aud_2 archived and xaud not found", err)
	}
	// Only drafts and paused campaigns change their connections.
	if _, err := l.Transition(t.Context(), l.cause, id, record.Match{}, campaign.Launch); err != nil {
		t.Fatal(err)
	}
	if err := l.revise(t, id, func(s *campaign.Spec) { s.ConnectionIDs = ids("con_9") }); !fault.Is(err, fault.InvalidState) {
		t.Errorf("got %v want invalid_state", err)
	}
	if err := l.revise(t, id, func(s *campaign.Spec) { s.AudienceIDs, s.ExcludedAudienceIDs = ids("aud_1"), ids("aud_7") }); err != nil {
		t.Errorf("got %v, want audiences to change in any status", err)
	}
}
