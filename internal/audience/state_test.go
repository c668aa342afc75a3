package audience_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"fanfare/internal/audience"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/store"
)

// outcome is what an action does in a status.
type outcome struct {
	// to is the status after it; empty for a refusal.
	to string
	// event is what it leaves; none where nothing changes.
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

// transitions is what each action does in each status, refusals included. grow
// and shrink take a list over the minimum and below it. docs/PROTOCOL.md, "States
// and fields", refers to it.
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
func createInStatus(t *testing.T, c *fanfaretest.Tenant, status string) string {
	t.Helper()
	var id string
	switch {
	case strings.HasSuffix(status, "ready list"):
		id = list(c)
		change(c, id, hashes(0, 120), nil).Want(200)
	case strings.HasSuffix(status, "list"):
		id = list(c)
		change(c, id, hashes(0, 20), nil).Want(200)
	default:
		id = create(c, `{"name":"A"}`)
	}
	switch word, _, _ := strings.Cut(status, " "); word {
	case "archived":
		c.Do("DELETE", collection+"/"+id, nil).Want(200)
	case "processing", "failed":
		saveAsSystem(t, c, id, func(a *audience.Audience) { a.Status = audience.Status(word) })
	}
	return id
}

func act(c *fanfaretest.Tenant, id, action string) *fanfaretest.Response {
	switch action {
	case "update":
		return patch(c, id, `{"name":"B"}`)
	case "archive":
		return c.Do("DELETE", collection+"/"+id, nil)
	case "grow":
		return change(c, id, hashes(100, 210), nil)
	case "shrink":
		return change(c, id, nil, hashes(10, 300))
	}
	return c.Do("POST", collection+"/"+id+"/"+action, nil)
}

// TestTransitions takes every action in every status (W5, W6, W7).
func TestTransitions(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		for status, actions := range transitions {
			for action, o := range actions {
				name := action + " in " + status
				id := createInStatus(t, c, status)
				before := read(c, id)
				was, _ := eventsOf(c, id)
				c.World.Clock.Advance(time.Minute)
				res := act(c, id, action)
				after := read(c, id)
				types, previous := eventsOf(c, id)
				if o.code != "" {
					res.WantError(409, o.code)
					want(t, name, before, after)
					want(t, name+" events", was, types)
					continue
				}
				res.Want(200)
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
	})
}

// TestMemberChanges checks the response, the count and the entity tag (W4).
func TestMemberChanges(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		id := list(c)
		tag := func() string { return c.Do("GET", collection+"/"+id, nil).Want(200).Header.Get("ETag") }
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
			res := change(c, id, tt.add, tt.remove).Want(200)
			want(t, "answer", map[string]any{"audience_id": id, "added": tt.added, "removed": tt.removed, "count": tt.count, "status": tt.status}, res.Record())
			want(t, "entity tag of the answer", "", res.Header.Get("ETag"))
			want(t, "entity tag", tt.tag, tag())
			count := c.Do("GET", collection+"/"+id+"/members", nil).Want(200)
			want(t, "members", map[string]any{"audience_id": id, "count": tt.count, "minimum": 100.0}, count.Record())
			want(t, "entity tag of the count", "", count.Header.Get("ETag"))
		}
		change(c, id, hashes(0, 1), nil, `If-Match: "2"`).WantError(412, "precondition_failed")
		change(c, id, hashes(0, 1), nil, `If-Match: "3"`).Want(200)
		other := create(c, `{"name":"A"}`)
		want(t, "members of another type", 0.0, c.Do("GET", collection+"/"+other+"/members", nil).Want(200).Record()["count"])

		// The same request again is answered from memory.
		first := change(c, id, hashes(300, 310), nil, "Idempotency-Key: once").Want(200)
		again := change(c, id, hashes(300, 310), nil, "Idempotency-Key: once").Want(200)
		if !bytes.Equal(first.Body, again.Body) || again.Header.Get("Idempotency-Replayed") != "true" || again.Header.Get("ETag") != "" {
			t.Errorf("got %s with %v again, want %s", again.Body, again.Header, first.Body)
		}
	})
}

// TestMemberRefusals checks that invalid values are named by their index and
// never repeated in a response, in the log or in the store.
func TestMemberRefusals(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
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
			res := change(c, id, tt.add, tt.remove, fmt.Sprintf("Idempotency-Key: %d-%d", len(tt.add), len(tt.remove)))
			want(t, fmt.Sprint(tt.want), tt.want, fieldCodes(res))
			for _, secret := range []string{address, "+49170"} {
				if bytes.Contains(res.Body, []byte(secret)) || strings.Contains(c.World.Log.String(), secret) {
					t.Errorf("got %s again: %s", secret, res.Body)
				}
			}
		}
		err := store.Dump(t.Context(), c.World.App.Engine, func(chunk store.Chunk, _ int64) error {
			if bytes.Contains(chunk.Data, []byte(address)) {
				t.Errorf("got an address in clear in the table %s", chunk.Table)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want(t, "members", 0.0, c.Do("GET", collection+"/"+id+"/members", nil).Want(200).Record()["count"])
		change(c, id, hashes(0, audience.MaxMembers), nil).Want(200)
		want(t, "members", float64(audience.MaxMembers), c.Do("GET", collection+"/"+id+"/members", nil).Want(200).Record()["count"])
	})
}

// TestCampaignsFollow checks that background jobs refresh campaigns after a
// change of their audiences.
func TestCampaignsFollow(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		id := list(c)
		campaign := c.Do("POST", "/v1/campaigns", `{"name":"For them","audience_ids":["`+id+`"]}`).Want(201).ID()
		issues := func() (codes []string) {
			if err := c.World.App.Campaigns.Follow(t.Context(), c.Workspace, ident.ID(id)); err != nil {
				t.Fatal(err)
			}
			delivery := c.Do("GET", "/v1/campaigns/"+campaign, nil).Want(200).Record()["delivery"].(map[string]any)
			for _, issue := range delivery["issues"].([]any) {
				if i := issue.(map[string]any); i["resource_id"] == id {
					codes = append(codes, i["code"].(string))
				}
			}
			return codes
		}
		want(t, "empty", []string{"audience_too_small"}, issues())
		change(c, id, hashes(0, 100), nil).Want(200)
		want(t, "full", []string(nil), issues())
		for _, status := range []audience.Status{audience.StatusProcessing, audience.StatusFailed} {
			saveAsSystem(t, c, id, func(a *audience.Audience) { a.Status = status })
			want(t, string(status), []string{"audience_not_ready"}, issues())
		}
		c.Do("DELETE", collection+"/"+id, nil).Want(200)
		want(t, "archived", []string{"audience_not_ready"}, issues())
		problem := c.Do("POST", "/v1/campaigns", `{"name":"Late","audience_ids":["`+id+`"]}`).WantError(422, "validation_failed").Details[0]
		want(t, "a new campaign", "audience_ids[0] archived", problem.Field+" "+problem.Code)
		c.Do("POST", collection+"/"+id+"/restore", nil).Want(200)
		want(t, "restored", []string(nil), issues())
	})
}
