package audience_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

// fixture is a workspace with its services.
type fixture struct{ *storetest.Fixture }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{storetest.NewFixture(t, sqlitetest.Open(t))}
}

// another returns another workspace of the same store.
func (c *fixture) another() *fixture { return &fixture{c.Another()} }

func post(c *fixture, body any) *storetest.Answer {
	return c.Answer(c.Audiences.Create(c.T.Context(), c.Cause(), storetest.Sent(c.T, body)))
}

func create(c *fixture, body any) string { return post(c, body).OK().ID() }

func list(c *fixture) string { return create(c, `{"name":"List","type":"customer_list"}`) }

func get(c *fixture, id string) *storetest.Answer {
	return c.Answer(c.Audiences.Get(c.T.Context(), c.Workspace, ident.ID(id))).OK()
}

func read(c *fixture, id string) map[string]any { return get(c, id).Record() }

func patch(c *fixture, id, body string, match ...string) *storetest.Answer {
	return c.Answer(c.Audiences.Update(c.T.Context(), c.Cause(), ident.ID(id), record.ParseMatch(match), storetest.Sent(c.T, body)))
}

func archive(c *fixture, id string) *storetest.Answer {
	return c.Answer(c.Audiences.Archive(c.T.Context(), c.Cause(), ident.ID(id), record.Match{}))
}

func restore(c *fixture, id string) *storetest.Answer {
	return c.Answer(c.Audiences.Restore(c.T.Context(), c.Cause(), ident.ID(id), record.Match{}))
}

// members returns the number of members.
func members(c *fixture, id string) *storetest.Answer {
	return c.Encoded(c.Audiences.Members(c.T.Context(), c.Workspace, ident.ID(id)))
}

// newCampaign creates a campaign for an audience.
func newCampaign(c *fixture, name, audience string) *storetest.Answer {
	body := map[string]any{"name": name, "audience_ids": []string{audience}}
	return c.Answer(c.Campaigns.Create(c.T.Context(), c.Cause(), storetest.Sent(c.T, body), campaign.Defaults{Timezone: "UTC", Currency: "USD"}))
}

// eventsOf lists the events of a record, oldest first.
func eventsOf(c *fixture, id string) (types []string, previous []any) {
	for _, e := range c.Events("resource_id", id) {
		types, previous = append(types, e["type"].(string)), append(previous, e["previous"])
	}
	return types, previous
}

// hashes returns the hashes of the members from one number to another.
func hashes(from, to int) []string {
	list := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf("%064x", i))
	}
	return list
}

// change changes the members of a list.
func change(c *fixture, id string, add, remove []string, match ...string) *storetest.Answer {
	return changeBody(c, id, audience.MemberChange{Add: add, Remove: remove}, match...)
}

// changeBody is change with any body.
func changeBody(c *fixture, id string, body any, match ...string) *storetest.Answer {
	return c.Answer(c.Audiences.ChangeMembers(c.T.Context(), c.Cause(), ident.ID(id), record.ParseMatch(match), storetest.Sent(c.T, body)))
}

func want(t testing.TB, what string, wanted, got any) {
	t.Helper()
	if diff := cmp.Diff(wanted, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// fieldCodes lists the fields and codes of a fault.
func fieldCodes(res *storetest.Answer) (list []string) {
	for _, d := range res.Fault(fault.ValidationFailed).Details {
		list = append(list, d.Field+" "+d.Code)
	}
	return list
}

// saveAsSystem changes a record as a background job does.
func saveAsSystem(t testing.TB, c *fixture, id string, change func(*audience.Audience)) {
	t.Helper()
	store := c.DB.Audiences()
	a, err := store.Load(t.Context(), c.Workspace, ident.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	change(a)
	a.Version++
	cause := record.Cause{Workspace: c.Workspace, Actor: record.System}
	if _, err := store.Save(t.Context(), a, record.Save{Cause: cause, At: a.UpdatedAt}); err != nil {
		t.Fatal(err)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	seed := list(c)
	nothing := map[string]any{
		"countries": []any{}, "regions": []any{}, "languages": []any{}, "age": nil, "genders": []any{}, "interests": []any{},
		"devices": []any{}, "include_audience_ids": []any{}, "exclude_audience_ids": []any{},
	}
	size := map[string]any{"estimate": 0.0, "lower": 0.0, "upper": 0.0, "method": "exact", "as_of": "2026-11-15T12:00:00.000Z"}
	for _, tt := range []struct {
		name, body, kind, status string
		definition               map[string]any
		size                     any
	}{
		{"default", `{"name":"A"}`, "targeting", "ready", nothing, nil},
		{"targeting", `{"name":"A","type":"targeting","definition":{}}`, "targeting", "ready", nothing, nil},
		{"list", `{"name":"A","type":"customer_list"}`, "customer_list", "too_small", map[string]any{}, size},
		{
			"lookalike", `{"name":"A","type":"lookalike","definition":{"seed_audience_id":"` + seed + `","size_percent":3}}`, "lookalike", "ready",
			map[string]any{"seed_audience_id": seed, "countries": []any{}, "size_percent": 3.0},
			nil,
		},
	} {
		got := post(c, tt.body).OK().Record()
		id := got["id"].(string)
		want(t, tt.name, map[string]any{
			"id": id, "name": "A", "description": nil, "type": tt.kind, "status": tt.status, "definition": tt.definition, "size": tt.size,
			"size_by_connection": []any{}, "external_refs": []any{}, "tags": []any{}, "metadata": map[string]any{}, "version": 1.0,
			"created_by": got["created_by"], "created_at": "2026-11-15T12:00:00.000Z", "updated_at": "2026-11-15T12:00:00.000Z", "archived_at": nil,
		}, got)
		types, _ := eventsOf(c, id)
		want(t, tt.name+" events", []string{"audience.created"}, types)
	}
}

// TestDefinitionErrors sends invalid definitions.
func TestDefinitionErrors(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	there, gone := list(c), list(c)
	archive(c, gone).OK()
	const missing = "aud_01h455vb4pex5vsknk084sn02q"
	foreign := list(c.another())
	targeting := func(definition string) string { return `{"name":"A","definition":{` + definition + `}}` }
	lookalike := func(seed string) string {
		return `{"name":"A","type":"lookalike","definition":{"size_percent":1,"seed_audience_id":"` + seed + `"}}`
	}
	for _, tt := range []struct {
		body string
		want []string
	}{
		{`{"name":"A","type":"platform"}`, []string{"type invalid_value"}},
		{`{"name":"A","type":"lookalyke","definition":{"size_percent":1}}`, []string{"type invalid_value"}},
		{`{"name":"A","type":"lookalike"}`, []string{"definition required"}},
		{`{"name":"A","type":"lookalike","definition":{}}`, []string{"definition.seed_audience_id required", "definition.size_percent required"}},
		{`{"name":"A","type":"customer_list","definition":{"countries":["DE"]}}`, []string{"definition.countries unknown_field"}},
		{targeting(`"seed_audience_id":"` + there + `"`), []string{"definition.seed_audience_id unknown_field"}},
		{targeting(`"age":{"min":40,"max":39}`), []string{"definition.age.max too_small"}},
		{targeting(`"countries":["DE","ZZ"],"languages":["en_US"]`), []string{"definition.countries[1] invalid_value", "definition.languages[0] invalid_format"}},
		{targeting(`"include_audience_ids":["` + there + `"],"exclude_audience_ids":["` + there + `"]`), []string{"definition.exclude_audience_ids[0] duplicate_item"}},
		{targeting(`"include_audience_ids":["` + there + `","` + missing + `"],"exclude_audience_ids":["` + gone + `","` + foreign + `"]`), []string{
			"definition.include_audience_ids[1] not_found", "definition.exclude_audience_ids[0] archived", "definition.exclude_audience_ids[1] not_found",
		}},
		{lookalike(missing), []string{"definition.seed_audience_id not_found"}},
		{lookalike(gone), []string{"definition.seed_audience_id archived"}},
		{lookalike("nonsense"), []string{"definition.seed_audience_id not_found"}},
		{`{"definition":{"include_audience_ids":["` + missing + `"]}}`, []string{"name required", "definition.include_audience_ids[0] not_found"}},
		{`{"name":"A","size":null,"status":"ready"}`, []string{"size read_only", "status read_only"}},
	} {
		want(t, tt.body, tt.want, fieldCodes(post(c, tt.body)))
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	seed, other := list(c), list(c)
	id := create(c, `{"name":"A","definition":{"countries":["DE"],"age":{"min":20,"max":30},"include_audience_ids":["`+seed+`"]},"metadata":{"a":"1"}}`)
	c.Clock.Advance(time.Minute)
	got := patch(c, id, `{"definition":{"countries":["AT"],"age":{"min":null},"devices":["tv"]},"metadata":{"a":null,"b":"2"}}`).OK().Record()
	definition := got["definition"].(map[string]any)
	want(t, "countries", []any{"AT"}, definition["countries"])
	want(t, "age", map[string]any{"min": nil, "max": 30.0}, definition["age"])
	want(t, "devices", []any{"tv"}, definition["devices"])
	want(t, "include_audience_ids", []any{seed}, definition["include_audience_ids"])
	want(t, "metadata", map[string]any{"b": "2"}, got["metadata"])
	want(t, "version", 2.0, got["version"])
	types, previous := eventsOf(c, id)
	want(t, "events", []string{"audience.created", "audience.updated"}, types)
	old := previous[1].(map[string]any)
	want(t, "previous metadata", map[string]any{"a": "1"}, old["metadata"])
	want(t, "previous countries", []any{"DE"}, old["definition"].(map[string]any)["countries"])

	// What was read can be sent back, and changes nothing.
	same, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "sent back", got, patch(c, id, string(same)).OK().Record())
	patch(c, id, `{}`).OK()
	if types, _ := eventsOf(c, id); len(types) != 2 {
		t.Errorf("got events %v after changes of nothing", types)
	}
	for _, tt := range []struct {
		body string
		want []string
	}{
		{`{"type":"lookalike"}`, []string{"type read_only"}},
		{`{"definition":null}`, []string{"definition not_nullable"}},
		{`{"definition":{"size_percent":1}}`, []string{"definition.size_percent unknown_field"}},
		{`{"definition":{"include_audience_ids":["` + id + `"]}}`, []string{"definition.include_audience_ids[0] invalid_value"}},
		{`{"definition":{"exclude_audience_ids":["` + seed + `"]}}`, []string{"definition.exclude_audience_ids[0] duplicate_item"}},
		{`{"definition":{"age":{"min":31}}}`, []string{"definition.age.max too_small"}},
	} {
		want(t, tt.body, tt.want, fieldCodes(patch(c, id, tt.body)))
	}

	// An audience that was archived since stays where it is.
	archive(c, seed).OK()
	patch(c, id, `{"name":"B"}`).OK()
	patch(c, id, `{"definition":{"include_audience_ids":["`+seed+`","`+other+`"]}}`).OK()
	patch(c, id, `{"definition":{"include_audience_ids":[]}}`).OK()
	want(t, "archived", []string{"definition.include_audience_ids[0] archived"}, fieldCodes(patch(c, id, `{"definition":{"include_audience_ids":["`+seed+`"]}}`)))
	patch(c, id, `{"name":"C","definition":{"age":null}}`).OK()
	patch(c, id, `{"name":"D"}`).OK()
	patch(c, id, `{"name":"E"}`, `"1"`).Fault("precondition_failed")
}

// TestPlatformDefinitionIsFixed checks that callers cannot change the
// definition of an imported audience.
func TestPlatformDefinitionIsFixed(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := list(c)
	saveAsSystem(t, c, id, func(a *audience.Audience) {
		a.Type, a.Size, a.Status = audience.TypePlatform, nil, audience.StatusReady
	})
	want(t, "definition", []string{"definition read_only"}, fieldCodes(patch(c, id, `{"definition":{"countries":["DE"]}}`)))
	got := patch(c, id, `{"name":"Imported","definition":{}}`).OK().Record()
	want(t, "record", []any{"Imported", "platform", map[string]any{}}, []any{got["name"], got["type"], got["definition"]})
	archive(c, id).OK()
	want(t, "restored", "ready", restore(c, id).OK().Record()["status"])
}

// TestCountries checks that exactly the ISO codes are accepted.
func TestCountries(t *testing.T) {
	t.Parallel()
	n := 0
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			if code := string(a) + string(b); audience.IsCountry(code) {
				n++
				if audience.IsCountry(strings.ToLower(code)) {
					t.Errorf("got %s in lower case as a country", code)
				}
			}
		}
	}
	if n != 249 {
		t.Errorf("got %d countries want 249", n)
	}
	for _, code := range []string{"", "D", "DEU", "ZZ", "EU", "UK", "XX", "AN"} {
		if audience.IsCountry(code) {
			t.Errorf("got %q as a country", code)
		}
	}
}
