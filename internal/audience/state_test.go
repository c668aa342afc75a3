package audience_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fanfare/internal/audience"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store/storetest"
)

// outcome is the result of an action in a status.
type outcome struct {
	// to is the status after it; empty for a refusal.
	to string
	// event is the event of the action; empty if nothing changes.
	event string
	// code is the error of a refusal.
	code string
}

var (
	archived = outcome{to: "archived", event: "audience.archived"}
	no       = outcome{code: "invalid_state"}
	gone     = outcome{code: "archived"}
)

func updatedIn(status string) outcome { return outcome{to: status, event: "audience.updated"} }

// transitions has the outcome of each action in each status, including
// refusals. grow and shrink take a list over the minimum and below it.
// docs/PROTOCOL.md, "States and fields", refers to it.
var transitions = map[string]map[string]outcome{
	"ready":          {"update": updatedIn("ready"), "archive": archived, "restore": no, "grow": no, "shrink": no},
	"ready list":     {"update": updatedIn("ready"), "archive": archived, "restore": no, "grow": {to: "ready"}, "shrink": {to: "too_small", event: "audience.too_small"}},
	"too_small list": {"update": updatedIn("too_small"), "archive": archived, "restore": no, "grow": {to: "ready", event: "audience.ready"}, "shrink": {to: "too_small"}},
	"processing":     {"update": updatedIn("processing"), "archive": archived, "restore": no},
	"failed":         {"update": updatedIn("failed"), "archive": archived, "restore": no},
	"archived":       {"update": gone, "archive": {to: "archived"}, "restore": {to: "ready", event: "audience.restored"}, "grow": no},
	"archived ready list": {
		"update": gone, "archive": {to: "archived"}, "restore": {to: "ready", event: "audience.restored"}, "grow": gone, "shrink": gone,
	},
	"archived too_small list": {
		"update": gone, "archive": {to: "archived"}, "restore": {to: "too_small", event: "audience.restored"}, "grow": gone, "shrink": gone,
	},
}

// createInStatus creates an audience in a status.
func createInStatus(t *testing.T, c *fixture, status string) string {
	t.Helper()
	var id string
	switch {
	case strings.HasSuffix(status, "ready list"):
		id = list(c)
		change(c, id, hashes(0, 120), nil).OK()
	case strings.HasSuffix(status, "list"):
		id = list(c)
		change(c, id, hashes(0, 20), nil).OK()
	default:
		id = create(c, `{"name":"A"}`)
	}
	switch word, _, _ := strings.Cut(status, " "); word {
	case "archived":
		archive(c, id).OK()
	case "processing", "failed":
		saveAsSystem(t, c, id, func(a *audience.Audience) { a.Status = audience.Status(word) })
	}
	return id
}

func act(c *fixture, id, action string) *storetest.Answer {
	switch action {
	case "update":
		return patch(c, id, `{"name":"B"}`)
	case "archive":
		return archive(c, id)
	case "grow":
		return change(c, id, hashes(100, 210), nil)
	case "shrink":
		return change(c, id, nil, hashes(10, 300))
	}
	return restore(c, id)
}

// TestTransitions takes every action in every status (W5, W6, W7).
func TestTransitions(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	for status, actions := range transitions {
		for action, o := range actions {
			name := action + " in " + status
			id := createInStatus(t, c, status)
			before := read(c, id)
			was, _ := eventsOf(c, id)
			c.Clock.Advance(time.Minute)
			res := act(c, id, action)
			after := read(c, id)
			types, previous := eventsOf(c, id)
			if o.code != "" {
				res.Fault(fault.Code(o.code))
				want(t, name, before, after)
				want(t, name+" events", was, types)
				continue
			}
			res.OK()
			want(t, name+" status", o.to, after["status"])
			version := before["version"].(float64)
			if o.event == "" {
				want(t, name+" version", version, after["version"])
				want(t, name+" updated_at", before["updated_at"], after["updated_at"])
				want(t, name+" events", was, types)
				continue
			}
			want(t, name+" version", version+1, after["version"])
			want(t, name+" updated_at", "changed", map[bool]string{true: "changed"}[before["updated_at"] != after["updated_at"]])
			want(t, name+" events", append(was, o.event), types)
			if old := previous[len(previous)-1].(map[string]any); o.event != "audience.updated" {
				want(t, name+" previous", map[string]any{"status": before["status"]}, old)
			}
			want(t, name+" archived_at", o.to == "archived", after["archived_at"] != nil)
		}
	}
}

// TestMemberChanges checks the response, the count and the entity tag (W4).
func TestMemberChanges(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := list(c)
	for _, tt := range []struct {
		add, remove    []string
		added, removed float64
		count          float64
		status, tag    string
	}{
		{hashes(0, 99), nil, 99, 0, 99, "too_small", `"1.1"`},
		{nil, nil, 0, 0, 99, "too_small", `"1.1"`},
		{hashes(50, 101), hashes(500, 505), 2, 0, 101, "ready", `"2.0"`},
		{hashes(200, 201), hashes(0, 1), 1, 1, 101, "ready", `"2.1"`},
		{nil, hashes(1, 3), 0, 2, 99, "too_small", `"3.0"`},
	} {
		res := change(c, id, tt.add, tt.remove).OK()
		want(t, "answer", map[string]any{"audience_id": id, "added": tt.added, "removed": tt.removed, "count": tt.count, "status": tt.status}, res.Record())
		want(t, "stamp of the answer", record.Stamp{}, res.Stamp)
		want(t, "entity tag", tt.tag, get(c, id).ETag())
		want(t, "members", map[string]any{"audience_id": id, "count": tt.count, "minimum": 100.0}, members(c, id).Record())
	}
	change(c, id, hashes(0, 1), nil, `"2"`).Fault("precondition_failed")
	change(c, id, hashes(0, 1), nil, `"3"`).OK()
	other := create(c, `{"name":"A"}`)
	want(t, "members of another type", 0.0, members(c, other).OK().Record()["count"])
}

// TestMemberRefusals checks that invalid values are named by their index and
// never repeated in a fault.
func TestMemberRefusals(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := list(c)
	good, address := hashes(0, 3), "ada@example.com"
	for _, tt := range []struct {
		add, remove []string
		want        []string
	}{
		{[]string{good[0], address}, nil, []string{"add[1] invalid_format"}},
		{nil, []string{strings.ToUpper(hashes(10, 11)[0]), "+491701234567"}, []string{"remove[0] invalid_format", "remove[1] invalid_format"}},
		{[]string{good[0], good[1], good[0]}, nil, []string{"add[2] duplicate_item"}},
		{good, []string{hashes(5, 6)[0], good[1]}, []string{"remove[1] duplicate_item"}},
		{hashes(0, audience.MaxMembers+1), nil, []string{"add too_many_items"}},
		{hashes(0, audience.MaxMembers), hashes(audience.MaxMembers, audience.MaxMembers+1), []string{"remove too_many_items"}},
	} {
		res := change(c, id, tt.add, tt.remove)
		want(t, fmt.Sprint(tt.want), tt.want, fieldCodes(res))
		for _, secret := range []string{address, "+49170"} {
			if f := res.Fault(fault.ValidationFailed); strings.Contains(fmt.Sprint(f, f.Details), secret) {
				t.Errorf("got %s again: %v %+v", secret, f, f.Details)
			}
		}
	}
	want(t, "invalid members", []string{"remove not_nullable", "ad unknown_field"}, fieldCodes(changeBody(c, id, `{"ad":[],"remove":null}`)))
	// A missing list and a failed precondition come before an invalid body, and
	// that before the type of the audience.
	const invalid = `{"add":["x"]}`
	changeBody(c, "aud_01h455vb4pex5vsknk084sn02q", invalid).Fault("not_found")
	changeBody(c, id, invalid, `"9"`).Fault("precondition_failed")
	other := create(c, `{"name":"A"}`)
	changeBody(c, other, invalid).Fault(fault.ValidationFailed)
	changeBody(c, other, `{}`).Fault("invalid_state")
	want(t, "members", 0.0, members(c, id).OK().Record()["count"])
	change(c, id, hashes(0, audience.MaxMembers), nil).OK()
	want(t, "members", float64(audience.MaxMembers), members(c, id).OK().Record()["count"])
}

// TestCampaignsFollow checks that background jobs refresh campaigns after a
// change of their audiences.
func TestCampaignsFollow(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := list(c)
	campaign := newCampaign(c, "For them", id).OK().ID()
	issues := func() (codes []string) {
		if err := c.Campaigns.Follow(t.Context(), c.Workspace, ident.ID(id)); err != nil {
			t.Fatal(err)
		}
		delivery := c.Answer(c.Campaigns.Get(t.Context(), c.Workspace, ident.ID(campaign))).Record()["delivery"].(map[string]any)
		for _, issue := range delivery["issues"].([]any) {
			if i := issue.(map[string]any); i["resource_id"] == id {
				codes = append(codes, i["code"].(string))
			}
		}
		return codes
	}
	want(t, "empty", []string{"audience_too_small"}, issues())
	change(c, id, hashes(0, 100), nil).OK()
	want(t, "full", []string(nil), issues())
	for _, status := range []audience.Status{audience.StatusProcessing, audience.StatusFailed} {
		saveAsSystem(t, c, id, func(a *audience.Audience) { a.Status = status })
		want(t, string(status), []string{"audience_not_ready"}, issues())
	}
	archive(c, id).OK()
	want(t, "archived", []string{"audience_not_ready"}, issues())
	problem := newCampaign(c, "Late", id).Fault(fault.ValidationFailed).Details[0]
	want(t, "a new campaign", "audience_ids[0] archived", problem.Field+" "+problem.Code)
	restore(c, id).OK()
	want(t, "restored", []string(nil), issues())
}
