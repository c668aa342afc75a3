package httpapi_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
)

// eventsOf returns the events of a record, oldest first.
func eventsOf(c *fanfaretest.Client, id string) []string {
	types := []string{}
	for _, e := range c.Do("GET", "/v1/events?order=asc&limit=100&resource_id="+id, nil).Want(200).List().Data {
		types = append(types, e["type"].(string))
	}
	return types
}

func wantEvents(t testing.TB, c *fanfaretest.Client, id string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, eventsOf(c, id)); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
}

// tick advances the clock, so that events have an order.
func tick(c *fanfaretest.Tenant) { c.Service.Clock.Advance(time.Second) }

func TestW1Create(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c := w.Tenant(account.Growth)
		res := c.Do("POST", "/v1/campaigns", `{"name":"One"}`).Want(201)
		if got, want := res.Header.Get("Location"), "/v1/campaigns/"+res.ID(); got != want {
			t.Errorf("got Location %q want %q", got, want)
		}
		if got := res.Header.Get("ETag"); got != `"1.0"` {
			t.Errorf("got ETag %s want \"1.0\"", got)
		}
		got := c.Do("GET", res.Header.Get("Location"), nil).Want(200)
		if string(got.Body) != string(res.Body) || got.Header.Get("ETag") != res.Header.Get("ETag") {
			t.Errorf("got %s, want the answer to the creation, %s", got.Body, res.Body)
		}
		copied := c.Do("POST", "/v1/campaigns/"+res.ID()+"/duplicate", nil).Want(201)
		if got, want := copied.Header.Get("Location"), "/v1/campaigns/"+copied.ID(); got != want || copied.Header.Get("ETag") != `"1.0"` {
			t.Errorf("got Location %q, ETag %s of a copy want %q", got, copied.Header.Get("ETag"), want)
		}
		wantEvents(t, c.Client, res.ID(), "campaign.created")
		event := c.Do("GET", "/v1/events?type=campaign.created&resource_id="+res.ID(), nil).Want(200).List().Data[0]
		if diff := cmp.Diff(res.Record(), event["data"]); diff != "" {
			t.Errorf("the event's data differ from the record (-record +event):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]any{}, event["previous"]); diff != "" {
			t.Errorf("previous differs (-want +got):\n%s", diff)
		}
	})
}

// TestW2MergePatch applies a series of patches to one campaign.
func TestW2MergePatch(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	const start = `{"name":"One","description":"text","objective":"sales","channels":["search","email"],"tags":["a","b"],
		"budget":{"type":"daily","amount":"10","currency":"EUR","daily_cap":"5"},"schedule":{"start_at":"2027-01-01T00:00:00Z","end_at":"2027-02-01T00:00:00Z"},
		"goal":{"metric":"cpa","target":3,"direction":"at_most"},"tracking":{"landing_url":"https://example.com","utm":{"source":"s","medium":"m"},"auto_tag":true},
		"attribution":{"click_days":30},"experiment":{"split":"even","winner_metric":"ctr"},"metadata":{"k":"v"}}`
	for _, tt := range []struct {
		patch   string
		changed map[string]any
		events  []string
	}{
		{`{}`, nil, nil},
		{`{"name":"One","tags":["A","B"],"budget":{"amount":10.00}}`, nil, nil},
		{`{"name":"Two"}`, map[string]any{"name": "Two"}, []string{"name"}},
		{`{"description":null}`, map[string]any{"description": nil}, []string{"description"}},
		{`{"description":""}`, map[string]any{"description": ""}, []string{"description"}},
		{`{"objective":null}`, map[string]any{"objective": nil}, []string{"objective"}},
		{`{"channels":["sms"]}`, map[string]any{"channels": []any{"sms"}}, []string{"channels"}},
		{`{"channels":[]}`, map[string]any{"channels": []any{}}, []string{"channels"}},
		{`{"channels":["email","search"]}`, map[string]any{"channels": []any{"email", "search"}}, []string{"channels"}},
		{`{"tags":["c"]}`, map[string]any{"tags": []any{"c"}}, []string{"tags"}},
		{`{"budget":null}`, map[string]any{"budget": nil}, []string{"budget"}},
		{`{"budget":{"daily_cap":null}}`, map[string]any{"budget": map[string]any{"type": "daily", "amount": "10.00", "currency": "EUR", "pacing": "even", "daily_cap": nil}}, []string{"budget"}},
		{`{"budget":{"pacing":"asap"}}`, map[string]any{"budget": map[string]any{"type": "daily", "amount": "10.00", "currency": "EUR", "pacing": "asap", "daily_cap": "5.00"}}, []string{"budget"}},
		{`{"schedule":{"end_at":null}}`, map[string]any{"schedule": map[string]any{"start_at": "2027-01-01T00:00:00.000Z", "end_at": nil, "timezone": "UTC"}}, []string{"schedule"}},
		{`{"goal":{"target":4}}`, map[string]any{"goal": map[string]any{"metric": "cpa", "target": 4.0, "direction": "at_most"}}, []string{"goal"}},
		{`{"goal":null,"experiment":null,"tracking":null}`, map[string]any{"goal": nil, "experiment": nil, "tracking": nil}, []string{"goal", "tracking", "experiment"}},
		{`{"tracking":{"utm":{"source":null,"term":"t"}}}`, map[string]any{"tracking": map[string]any{
			"landing_url": "https://example.com", "auto_tag": true, "utm": map[string]any{"source": nil, "medium": "m", "campaign": nil, "content": nil, "term": "t"},
		}}, []string{"tracking"}},
		{`{"attribution":{"view_days":0}}`, map[string]any{"attribution": map[string]any{"click_days": 30.0, "view_days": 0.0, "model": "platform"}}, []string{"attribution"}},
		{`{"metadata":{"k":null,"l":"w"}}`, map[string]any{"metadata": map[string]any{"l": "w"}}, []string{"metadata"}},
	} {
		id := create(c, start)
		before := c.Do("GET", "/v1/campaigns/"+id, nil).Want(200).Record()
		tick(c)
		after := c.Do("PATCH", "/v1/campaigns/"+id, tt.patch).Want(200).Record()
		want, events := before, []string{"campaign.created"}
		if len(tt.changed) > 0 {
			want["version"], want["updated_at"] = 2.0, after["updated_at"]
			events = append(events, "campaign.updated")
		}
		maps.Copy(want, tt.changed)
		delete(want, "delivery")
		delete(after, "delivery")
		if diff := cmp.Diff(want, after); diff != "" {
			t.Errorf("%s: record differs (-want +got):\n%s", tt.patch, diff)
		}
		wantEvents(t, c.Client, id, events...)
		if len(tt.changed) > 0 {
			got := []string{}
			for name := range c.Do("GET", "/v1/events?type=campaign.updated&limit=1&resource_id="+id, nil).Want(200).List().Data[0]["previous"].(map[string]any) {
				got = append(got, name)
			}
			if !sameWords(strings.Join(got, " "), strings.Join(tt.events, " ")) {
				t.Errorf("%s: got previous values of %v want of %v", tt.patch, got, tt.events)
			}
		}
	}
	id := create(c, `{"name":"Bare"}`)
	e := c.Do("PATCH", "/v1/campaigns/"+id, `{"budget":{"amount":1},"name":null,"channels":null,"schedule":null,"goal":{},"metadata":null}`).WantError(422, "validation_failed")
	got := map[string]string{}
	for _, d := range e.Details {
		got[d.Field] = d.Code
	}
	if diff := cmp.Diff(map[string]string{
		"budget.type": "required", "name": "not_nullable", "channels": "not_nullable", "schedule": "not_nullable", "metadata": "not_nullable",
		"goal.metric": "required", "goal.target": "required", "goal.direction": "required",
	}, got); diff != "" {
		t.Errorf("details differ (-want +got):\n%s", diff)
	}
}

// TestW3ReadOnlyMembers sends a record back unchanged in every status, and then
// with each read-only member changed.
func TestW3ReadOnlyMembers(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	id := create(c, `{"name":"One","budget":{"type":"daily","amount":"10"},"metadata":{"k":"v"}}`)
	readOnly := []string{}
	for name, p := range fanfaretest.TheContract().Doc.Components.Schemas["CampaignPatch"].Value.Properties {
		if p.Value.ReadOnly {
			readOnly = append(readOnly, name)
		}
	}
	if len(readOnly) != 15 {
		t.Errorf("got %d read-only members want 15", len(readOnly))
	}
	for _, step := range []string{"", "launch", "pause", "resume"} {
		if step != "" {
			c.Do("POST", "/v1/campaigns/"+id+"/"+step, nil).Want(200)
		}
		read := c.Do("GET", "/v1/campaigns/"+id, nil).Want(200)
		events := len(eventsOf(c.Client, id))
		again := c.Do("PATCH", "/v1/campaigns/"+id, read.Record()).Want(200)
		if string(again.Body) != string(read.Body) || again.Header.Get("ETag") != read.Header.Get("ETag") {
			t.Errorf("%s: got %s, want the record unchanged, %s", step, again.Body, read.Body)
		}
		if got := len(eventsOf(c.Client, id)); got != events {
			t.Errorf("%s: got %d events want %d: nothing happened", step, got, events)
		}
		for _, name := range readOnly {
			rec := read.Record()
			rec[name] = "another"
			e := c.Do("PATCH", "/v1/campaigns/"+id, rec).WantError(422, "validation_failed")
			if len(e.Details) != 1 || e.Details[0].Field != name || e.Details[0].Code != "read_only" {
				t.Errorf("%s: got %+v want read_only", name, e.Details)
			}
		}
	}
	for _, name := range readOnly {
		e := c.Do("POST", "/v1/campaigns", map[string]any{"name": "One", name: "x"}).WantError(422, "validation_failed")
		if len(e.Details) != 1 || e.Details[0].Field != name || e.Details[0].Code != "read_only" {
			t.Errorf("%s: got %+v want read_only", name, e.Details)
		}
	}
}

// TestW4EntityTags tries every form of a tag on every write.
func TestW4EntityTags(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	for _, tt := range []struct {
		match string
		holds bool
	}{
		{`"1.0"`, true},
		{`"1"`, true},
		{`*`, true},
		{`"1.7"`, true},
		{`"9", "1.0"`, true},
		{` "1.0" `, true},
		{`"2.0"`, false},
		{`"2"`, false},
		{`W/"1.0"`, false},
		{`1.0`, false},
		{`"01"`, false},
		{`"+1"`, false},
		{`"x"`, false},
		{`""`, false},
		{`","`, false},
		{`"1,0"`, false},
	} {
		for _, op := range fanfaretest.TheContract().Operations() {
			if op.Parameter("header", "If-Match") == nil {
				continue
			}
			collection, _, _ := strings.Cut(op.Path, "/{id}")
			id := newRecord(c, collection)
			method, target, body := op.Method, strings.Replace(op.Path, "{id}", id, 1), smallestExample(t, op)
			if !tt.holds {
				e := c.Do(method, target, body, "If-Match: "+tt.match).WantError(412, "precondition_failed")
				if d := e.Details[0]; d.Field != "If-Match" || d.In != "header" || d.Meta["current_version"] != 1.0 {
					t.Errorf("got detail %+v, want the header and the current version", d)
				}
				continue
			}
			if res := c.Do(method, target, body, "If-Match: "+tt.match); res.Status == 412 {
				t.Errorf("%s with %s: got 412, want the precondition to hold", op.OperationID, tt.match)
			}
		}
	}
	id := create(c, `{"name":"One"}`)
	for _, tt := range []struct {
		match  string
		status int
	}{
		{`"1.0"`, 304}, {`*`, 304}, {`W/"1.0"`, 304}, {`"0.9", "1.0"`, 304}, {`"1"`, 200}, {`"1.1"`, 200}, {`"2.0"`, 200}, {`1.0`, 200},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			res := c.Do(method, "/v1/campaigns/"+id, nil, "If-None-Match: "+tt.match)
			if res.Status != tt.status || res.Status == 304 && len(res.Body) > 0 {
				t.Errorf("%s If-None-Match %s: got %d with %d bytes want %d", method, tt.match, res.Status, len(res.Body), tt.status)
			}
		}
	}
	c.Do("PATCH", "/v1/campaigns/"+id, `{"name":"Two"}`, `If-Match: "1.0"`).Want(200)
	c.Do("PATCH", "/v1/campaigns/"+id, `{"name":"Three"}`, `If-Match: "1.0"`).WantError(412, "precondition_failed")
	c.Do("GET", "/v1/campaigns/"+id, nil, `If-None-Match: "1.0"`).Want(200)
	// An empty header does not permit the write.
	r := c.DoWithHeader("PATCH", "/v1/campaigns/"+id, `{"name":"Four"}`, map[string][]string{"If-Match": {""}})
	r.WantError(412, "precondition_failed")
}

// TestW4Revisions checks that a refresh by the service raises the revision
// only: no new version, no updated_at, no campaign.updated.
func TestW4Revisions(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c := w.Tenant(account.Growth)
		id := create(c, map[string]any{"name": "One", "schedule": map[string]any{"start_at": fanfaretest.Start.Add(time.Hour)}})
		tick(c)
		launched := c.Do("POST", "/v1/campaigns/"+id+"/launch", nil).Want(200)
		w.Clock.Advance(time.Hour)
		if _, err := w.App.Campaigns.Settle(t.Context(), c.Workspace, ident.ID(id)); err != nil {
			t.Fatal(err)
		}
		settled := c.Do("GET", "/v1/campaigns/"+id, nil, "If-None-Match: "+launched.Header.Get("ETag")).Want(200)
		if got := settled.Header.Get("ETag"); got != `"2.1"` || launched.Header.Get("ETag") != `"2.0"` {
			t.Errorf("got ETag %s after %s, want \"2.1\" after \"2.0\"", got, launched.Header.Get("ETag"))
		}
		before, after := launched.Record(), settled.Record()
		if after["version"] != 2.0 || after["updated_at"] != before["updated_at"] {
			t.Errorf("got version %v, updated_at %v, want 2 and %v", after["version"], after["updated_at"], before["updated_at"])
		}
		wantEvents(t, c.Client, id, "campaign.created", "campaign.launched", "campaign.delivery_changed")
		c.Do("PATCH", "/v1/campaigns/"+id, `{"name":"Two"}`, "If-Match: "+launched.Header.Get("ETag")).Want(200)
	})
}

// TestW4LastWriteWinsPerField changes different fields concurrently: every
// change is stored, and none is rejected.
func TestW4LastWriteWinsPerField(t *testing.T) {
	t.Parallel()
	for name, open := range fanfaretest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := fanfaretest.New(t, open(t), ample).Tenant(account.Growth)
			id := create(c, `{"name":"One"}`)
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() {
					c.Do("PATCH", "/v1/campaigns/"+id, fmt.Sprintf(`{"metadata":{"k%d":"v"}}`, i)).Want(200)
				})
			}
			wg.Wait()
			rec := c.Do("GET", "/v1/campaigns/"+id, nil).Want(200).Record()
			if n := len(rec["metadata"].(map[string]any)); n != 16 || rec["version"] != 17.0 {
				t.Errorf("got %d keys at version %v, want 16 at 17", n, rec["version"])
			}
			// With the same If-Match, only one write succeeds.
			var mu sync.Mutex
			statuses := map[int]int{}
			for i := range 8 {
				wg.Go(func() {
					res := c.Do("PATCH", "/v1/campaigns/"+id, fmt.Sprintf(`{"name":"N%d"}`, i), `If-Match: "17"`)
					mu.Lock()
					statuses[res.Status]++
					mu.Unlock()
				})
			}
			wg.Wait()
			if diff := cmp.Diff(map[int]int{200: 1, 412: 7}, statuses); diff != "" {
				t.Errorf("statuses differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestW5ValidateOnly checks that the response is that of a launch, without the
// launch.
func TestW5ValidateOnly(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	id := create(c, `{"name":"One"}`)
	before := c.Do("GET", "/v1/campaigns/"+id, nil).Want(200)
	res := c.Do("POST", "/v1/campaigns/"+id+"/launch", `{"validate_only":true}`, "Idempotency-Key: dry").Want(200)
	if string(res.Body) != string(before.Body) {
		t.Errorf("got %s want %s", res.Body, before.Body)
	}
	issues := []string{}
	for _, i := range res.Record()["delivery"].(map[string]any)["issues"].([]any) {
		issues = append(issues, i.(map[string]any)["code"].(string))
	}
	if diff := cmp.Diff([]string{"no_connection", "not_linked", "no_creative_ready", "no_audience", "no_budget"}, issues); diff != "" {
		t.Errorf("issues differ (-want +got):\n%s", diff)
	}
	wantEvents(t, c.Client, id, "campaign.created")
	c.Do("POST", "/v1/campaigns/"+id+"/launch", `{"validate_only":false}`).Want(200)
	c.Do("POST", "/v1/campaigns/"+id+"/launch", `{"validate_only":true}`).WantError(409, "invalid_state")
	late := create(c, map[string]any{"name": "Late", "schedule": map[string]any{"end_at": fanfaretest.Start.Add(-time.Hour)}})
	e := c.Do("POST", "/v1/campaigns/"+late+"/launch", `{"validate_only":true}`).WantError(422, "validation_failed")
	if e.Details[0].Field != "schedule.end_at" {
		t.Errorf("got %+v want schedule.end_at", e.Details)
	}
}

// TestW6ArchiveTwice checks that the second DELETE changes nothing.
func TestW6ArchiveTwice(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c := w.Tenant(account.Growth)
		id := create(c, `{"name":"One"}`)
		tick(c)
		c.Do("POST", "/v1/campaigns/"+id+"/launch", nil).Want(200)
		tick(c)
		first := c.Do("DELETE", "/v1/campaigns/"+id, nil).Want(200)
		rec := first.Record()
		if rec["status"] != "archived" || rec["archived_at"] != "2026-11-15T12:00:02.000Z" || rec["delivery"].(map[string]any)["status"] != "archived" {
			t.Errorf("got status %v, archived_at %v, delivery %v", rec["status"], rec["archived_at"], rec["delivery"])
		}
		tick(c)
		second := c.Do("DELETE", "/v1/campaigns/"+id, nil).Want(200)
		if string(first.Body) != string(second.Body) || first.Header.Get("ETag") != second.Header.Get("ETag") {
			t.Errorf("got %s, want the same again, %s", second.Body, first.Body)
		}
		c.Do("GET", "/v1/campaigns/"+id, nil).Want(200)
		wantEvents(t, c.Client, id, "campaign.created", "campaign.launched", "campaign.archived")
	})
}

// TestEventsCarryTheCause checks that events have their actor, and that a
// caller sees only the events of the role.
func TestEventsCarryTheCause(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	res := c.Do("POST", "/v1/campaigns", `{"name":"One"}`).Want(201)
	event := c.Do("GET", "/v1/events?type=campaign.created&resource_id="+res.ID(), nil).Want(200).List().Data[0]
	if event["request_id"] != res.Header.Get("X-Request-Id") || event["api_version"] != "v1" || event["workspace_id"] != string(c.Workspace) {
		t.Errorf("got event %v, want the request, the version and the workspace", event)
	}
	one := c.Do("GET", "/v1/events/"+event["id"].(string), nil).Want(200)
	if diff := cmp.Diff(event, one.Record()); diff != "" {
		t.Errorf("the event differs from the list (-list +single):\n%s", diff)
	}
	keys := c.Do("GET", "/v1/events?type=api_key.*", nil).Want(200).List().Data
	if len(keys) != 1 || keys[0]["type"] != "api_key.created" {
		t.Fatalf("got %d events about keys for the owner, want 1", len(keys))
	}
	if actor := keys[0]["actor"].(map[string]any); actor["type"] != "system" || actor["id"] != nil {
		t.Errorf("got actor %v, want the system without an id", actor)
	}
	for _, role := range []account.Role{account.Viewer, account.Editor} {
		low := c.As(role)
		if n := len(low.Do("GET", "/v1/events?type=api_key.*", nil).Want(200).List().Data); n != 0 {
			t.Errorf("%s: got %d events about keys, want none", role, n)
		}
		low.Do("GET", "/v1/events/"+keys[0]["id"].(string), nil).WantError(404, "not_found")
		low.Do("GET", "/v1/events/"+event["id"].(string), nil).Want(200)
	}
	c.As(account.Admin).Do("GET", "/v1/events/"+keys[0]["id"].(string), nil).Want(200)
}

// TestEventsAreReducedAboveTheirSize checks that the event of a large record
// contains only its id.
func TestEventsAreReducedAboveTheirSize(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	meta := map[string]any{}
	for i := range 50 {
		meta[fmt.Sprint(i)] = strings.Repeat("x", 500)
	}
	id := create(c, map[string]any{"name": "Large", "metadata": meta})
	data := c.Do("GET", "/v1/events?resource_id="+id, nil).Want(200).List().Data[0]["data"]
	if diff := cmp.Diff(any(map[string]any{"id": id, "version": 1.0, "truncated": true}), data); diff != "" {
		t.Errorf("data differ (-want +got):\n%s", diff)
	}
}

// TestEveryWriteIsAudited checks that the audit chain is unbroken, with an
// entry for each event and none for writes without a change.
func TestEveryWriteIsAudited(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c := w.Tenant(account.Growth)
		entries := func() int64 {
			t.Helper()
			r, err := w.App.DB.VerifyAudit(t.Context(), func(int64) {})
			if err != nil || len(r.Faults) > 0 {
				t.Fatalf("got %+v (%v), want an unbroken chain", r, err)
			}
			return r.Entries
		}
		before := entries()
		id := create(c, `{"name":"One"}`)
		c.Do("PATCH", "/v1/campaigns/"+id, `{"name":"Two"}`).Want(200)
		c.Do("PATCH", "/v1/campaigns/"+id, `{"name":"Two"}`).Want(200)
		c.Do("POST", "/v1/campaigns/"+id+"/launch", nil, "Idempotency-Key: k").Want(200)
		c.Do("POST", "/v1/campaigns/"+id+"/launch", nil, "Idempotency-Key: k").Want(200)
		c.Do("POST", "/v1/campaigns/"+id+"/launch", nil).WantError(409, "invalid_state")
		c.Do("DELETE", "/v1/campaigns/"+id, nil).Want(200)
		c.Do("DELETE", "/v1/campaigns/"+id, nil).Want(200)
		if got := entries() - before; got != 4 {
			t.Errorf("got %d audit entries want 4", got)
		}
	})
}

// Invalid fields and missing references are reported in one response, on create
// and on update.
func TestE3FieldsAndReferencesAtOnce(t *testing.T) {
	t.Parallel()
	a := fanfaretest.New(t, nil).Tenant(account.Growth)
	body := `{"name":"","audience_ids":["aud_01m7eed1vefw9bs159p71gx00q"],"creative_ids":["crv_01m7eed1vefw9bs159p71gx00q"]}`
	id := a.Do("POST", "/v1/campaigns", `{"name":"One"}`).Want(201).ID()
	for target, method := range map[string]string{"/v1/campaigns": "POST", "/v1/campaigns/" + id: "PATCH"} {
		got := map[string]string{}
		for _, d := range a.Do(method, target, body).WantError(422, "validation_failed").Details {
			got[d.Field] = d.Code
		}
		want := map[string]string{"name": "too_short", "audience_ids[0]": "not_found", "creative_ids[0]": "not_found"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: details differ (-want +got):\n%s", method, diff)
		}
	}
}
