package audience_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/audience"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
	"fanfare/internal/record"
	"fanfare/internal/store/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// highLimits sets limits that no test reaches.
func highLimits(c *app.Config) {
	c.Limits = map[account.Plan]ratelimit.Limits{account.Growth: {}}
}

// each runs a test on every engine, with its own workspace.
func each(t *testing.T, test func(t *testing.T, c *fanfaretest.Tenant)) {
	t.Helper()
	t.Parallel()
	for name, open := range fanfaretest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fanfaretest.New(t, open(t), highLimits).Tenant(account.Growth))
		})
	}
}

const collection = "/v1/audiences"

func create(c *fanfaretest.Tenant, body any) string {
	return c.Do("POST", collection, body).Want(201).ID()
}

func list(c *fanfaretest.Tenant) string {
	return create(c, `{"name":"List","type":"customer_list"}`)
}

func read(c *fanfaretest.Tenant, id string) map[string]any {
	return c.Do("GET", collection+"/"+id, nil).Want(200).Record()
}

func patch(c *fanfaretest.Tenant, id, body string) *fanfaretest.Response {
	return c.Do("PATCH", collection+"/"+id, body)
}

// eventsOf lists the events of a record, oldest first.
func eventsOf(c *fanfaretest.Tenant, id string) (types []string, previous []any) {
	for _, e := range c.Do("GET", "/v1/events?order=asc&limit=100&resource_id="+id, nil).Want(200).List().Data {
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

func change(c *fanfaretest.Tenant, id string, add, remove []string, headers ...string) *fanfaretest.Response {
	return c.Do("POST", collection+"/"+id+"/members", map[string]any{"add": cloneList(add), "remove": cloneList(remove)}, headers...)
}

func cloneList(list []string) []string { return append([]string{}, list...) }

func want(t testing.TB, what string, wanted, got any) {
	t.Helper()
	if diff := cmp.Diff(wanted, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// fieldCodes lists the fields and codes of a fault.
func fieldCodes(res *fanfaretest.Response) (list []string) {
	for _, d := range res.WantError(422, "validation_failed").Details {
		list = append(list, d.Field+" "+d.Code)
	}
	return list
}

// saveAsSystem changes a record as a background job does.
func saveAsSystem(t testing.TB, c *fanfaretest.Tenant, id string, change func(*audience.Audience)) {
	t.Helper()
	store := c.World.App.DB.Audiences()
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
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
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
			got := c.Do("POST", collection, tt.body).Want(201).Record()
			id := got["id"].(string)
			want(t, tt.name, map[string]any{
				"id": id, "name": "A", "description": nil, "type": tt.kind, "status": tt.status, "definition": tt.definition, "size": tt.size,
				"size_by_connection": []any{}, "external_refs": []any{}, "tags": []any{}, "metadata": map[string]any{}, "version": 1.0,
				"created_by": got["created_by"], "created_at": "2026-11-15T12:00:00.000Z", "updated_at": "2026-11-15T12:00:00.000Z", "archived_at": nil,
			}, got)
			types, _ := eventsOf(c, id)
			want(t, tt.name+" events", []string{"audience.created"}, types)
		}
	})
}

// TestDefinitionErrors sends invalid definitions.
func TestDefinitionErrors(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		there, gone := list(c), list(c)
		c.Do("DELETE", collection+"/"+gone, nil).Want(200)
		const missing = "aud_01h455vb4pex5vsknk084sn02q"
		foreign := list(c.World.Tenant(account.Growth))
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
			want(t, tt.body, tt.want, fieldCodes(c.Do("POST", collection, tt.body)))
		}
	})
}

func TestPatch(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		seed, other := list(c), list(c)
		id := create(c, `{"name":"A","definition":{"countries":["DE"],"age":{"min":20,"max":30},"include_audience_ids":["`+seed+`"]},"metadata":{"a":"1"}}`)
		c.World.Clock.Advance(time.Minute)
		got := patch(c, id, `{"definition":{"countries":["AT"],"age":{"min":null},"devices":["tv"]},"metadata":{"a":null,"b":"2"}}`).Want(200).Record()
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
		want(t, "sent back", got, patch(c, id, string(same)).Want(200).Record())
		patch(c, id, `{}`).Want(200)
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
		c.Do("DELETE", collection+"/"+seed, nil).Want(200)
		patch(c, id, `{"name":"B"}`).Want(200)
		patch(c, id, `{"definition":{"include_audience_ids":["`+seed+`","`+other+`"]}}`).Want(200)
		patch(c, id, `{"definition":{"include_audience_ids":[]}}`).Want(200)
		want(t, "archived", []string{"definition.include_audience_ids[0] archived"}, fieldCodes(patch(c, id, `{"definition":{"include_audience_ids":["`+seed+`"]}}`)))
		patch(c, id, `{"name":"C","definition":{"age":null}}`).Want(200)
		patch(c, id, `{"name":"D"}`).Want(200)
		c.Do("PATCH", collection+"/"+id, `{"name":"E"}`, `If-Match: "1"`).WantError(412, "precondition_failed")
	})
}

// TestPlatformDefinitionIsFixed checks that callers cannot change the
// definition of an imported audience.
func TestPlatformDefinitionIsFixed(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		id := list(c)
		saveAsSystem(t, c, id, func(a *audience.Audience) {
			a.Type, a.Size, a.Status = audience.TypePlatform, nil, audience.StatusReady
		})
		want(t, "definition", []string{"definition read_only"}, fieldCodes(patch(c, id, `{"definition":{"countries":["DE"]}}`)))
		got := patch(c, id, `{"name":"Imported","definition":{}}`).Want(200).Record()
		want(t, "record", []any{"Imported", "platform", map[string]any{}}, []any{got["name"], got["type"], got["definition"]})
		c.Do("DELETE", collection+"/"+id, nil).Want(200)
		want(t, "restored", "ready", c.Do("POST", collection+"/"+id+"/restore", nil).Want(200).Record()["status"])
	})
}

// TestInsights reads the insights of a customer list, with days in the
// workspace's or the caller's time zone.
func TestInsights(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		id, other := list(c), list(c)
		change(c, id, hashes(0, 200), nil).Want(200)
		change(c, other, hashes(150, 250), nil).Want(200)
		campaign := c.Do("POST", "/v1/campaigns", `{"name":"For them","audience_ids":["`+id+`"]}`).Want(201).ID()
		get := func(query string) map[string]any {
			return c.Do("GET", collection+"/"+id+"/insights?"+query, nil).Want(200).Record()
		}
		got := get("")
		want(t, "overlap", []any{map[string]any{"audience_id": other, "name": "List", "shared": 50.0, "share_of_this": 0.25, "jaccard": 0.2}}, got["overlap"])
		want(t, "campaigns", []any{map[string]any{"campaign_id": campaign, "name": "For them", "spend": nil, "conversions": nil}}, got["campaigns"])
		want(t, "size", 200.0, got["size"].(map[string]any)["estimate"])
		want(t, "as_of", "2026-11-15T12:00:00.000Z", got["as_of"])
		want(t, "baseline", "workspace", got["baseline"])
		want(t, "warnings", []any{"no_facts"}, []any{got["warnings"].([]any)[0].(map[string]any)["code"]})
		want(t, "baseline", other, get("baseline=" + other)["baseline"])
		// It is noon in UTC, the 16th already in the far east.
		for query, period := range map[string]string{
			"":                              "2026-10-16 2026-11-14",
			"timezone=Pacific/Kiritimati":   "2026-10-17 2026-11-15",
			"start_date=2026-11-01":         "2026-11-01 2026-11-14",
			"end_date=2026-03-01":           "2026-01-31 2026-03-01",
			"end_date=2026-03-01T00:00:00Z": "2026-01-30 2026-02-28",
			"start_date=2026-11-14":         "2026-11-14 2026-11-14",
			"start_date=2026-02-01T10:00:00Z&end_date=2026-02-01T10:00:00Z":                     "2026-02-01 2026-02-01",
			"start_date=2026-02-01T23:30:00Z&end_date=2026-02-04T23:30:00Z&timezone=Asia/Tokyo": "2026-02-02 2026-02-05",
		} {
			p := get(query)["period"].(map[string]any)
			want(t, "period of "+query, period, fmt.Sprint(p["start_date"], " ", p["end_date"]))
		}
		for query, problem := range map[string]string{
			"start_date=2026-11-15":                            "start_date invalid_range",
			"start_date=2026-11-02&end_date=2026-11-01":        "start_date invalid_range",
			"end_date=soon":                                    "end_date invalid_format",
			"timezone=Mars":                                    "timezone invalid_value",
			"baseline=everybody":                               "baseline invalid_value",
			"baseline=" + list(c.World.Tenant(account.Growth)): "baseline invalid_value",
			"limit=1": "limit unknown_parameter",
		} {
			d := c.Do("GET", collection+"/"+id+"/insights?"+query, nil).WantError(400, "invalid_parameter").Details
			want(t, query, problem, d[0].Field+" "+d[0].Code)
		}
	})
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
