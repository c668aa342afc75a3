package httpapi_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fanfare/internal/account"
	"fanfare/internal/analytics"
	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/httpapi"
	"fanfare/internal/ingest"
)

// TestContractRoutes compares the route table, the public pages and the role
// table with the operations of the contract, both ways.
func TestContractRoutes(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	served := map[string]httpapi.Operation{}
	for _, op := range w.App.API.Operations() {
		served[op.ID] = op
	}
	wanted, public := map[string]httpapi.Operation{}, []string{}
	for id, op := range fanfaretest.TheContract().Operations() {
		if len(*op.Security) == 0 {
			public = append(public, op.Path)
			if op.Method != http.MethodGet {
				t.Errorf("%s: got public method %s, want GET only", id, op.Method)
			}
			continue
		}
		wanted[id] = httpapi.Operation{Method: op.Method, Path: op.Path, ID: id}
		if _, known := account.PermissionFor(id); !known {
			t.Errorf("operation %s is not in the role table, so nobody may call it", id)
		}
	}
	if diff := cmp.Diff(wanted, served); diff != "" {
		t.Errorf("operations differ (-contract +route table):\n%s", diff)
	}
	sortStrings := cmpopts.SortSlices(func(a, b string) bool { return a < b })
	if diff := cmp.Diff(public, w.App.API.PublicPaths(), sortStrings); diff != "" {
		t.Errorf("public paths differ (-contract +served):\n%s", diff)
	}
}

// TestContractPreconditions checks that every change of a record takes If-Match,
// so that two people who edit a record do not overwrite each other unnoticed.
// TestContractStatuses provokes the 412 of each.
func TestContractPreconditions(t *testing.T) {
	t.Parallel()
	for id, op := range fanfaretest.TheContract().Operations() {
		if op.Method != http.MethodPatch && op.Method != http.MethodDelete {
			continue
		}
		header := false
		for _, p := range op.Parameters() {
			header = header || p.In == "header" && p.Name == "If-Match"
		}
		if !header || op.Responses.Value("412") == nil {
			t.Errorf("%s takes no If-Match", id)
		}
	}
}

// TestContractDocument checks that the document is valid and that its examples
// match its schemas.
func TestContractDocument(t *testing.T) {
	t.Parallel()
	if err := fanfaretest.TheContract().Doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestContractCodes checks that the list of error codes (E1) is the same in the
// code, in the enum and in the catalog.
func TestContractCodes(t *testing.T) {
	t.Parallel()
	c := fanfaretest.TheContract()
	served := map[string]int{}
	for code, status := range httpapi.Statuses() {
		served[string(code)] = status
	}
	if diff := cmp.Diff(c.Codes, served); diff != "" {
		t.Errorf("error codes differ (-contract +served):\n%s", diff)
	}
	enum := map[string]bool{}
	for _, v := range c.Doc.Components.Schemas["ErrorCode"].Value.Enum {
		enum[v.(string)] = true
	}
	shape := regexp.MustCompile(`^[a-z]+(_[a-z0-9]+)*$`)
	for code := range c.Codes {
		if !enum[code] {
			t.Errorf("code %s is missing in the enum of ErrorCode", code)
		}
		if !shape.MatchString(code) || len(code) > 63 {
			t.Errorf("got code %q, want lower_snake_case of at most 63 characters", code)
		}
	}
	if got, want := len(enum), len(c.Codes); got != want {
		t.Errorf("got %d codes in the enum want %d", got, want)
	}
	for code, under := range c.Details {
		for _, e := range under {
			if !enum[e] {
				t.Errorf("detail code %s stands under %s, which is no error code", code, e)
			}
		}
	}
}

// TestContractWords checks that sorts, filters and enumerations are the same in
// the contract and in the code.
func TestContractWords(t *testing.T) {
	t.Parallel()
	c := fanfaretest.TheContract()
	ops := c.Operations()
	texts := func(list []any) []string {
		out := []string{}
		for _, v := range list {
			if s, ok := v.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	schema := func(name string) []string { return texts(c.Doc.Components.Schemas[name].Value.Enum) }
	query := func(id string) []string {
		var names []string
		for _, p := range ops[id].Parameters() {
			if p.In == "query" {
				names = append(names, p.Name)
			}
		}
		return names
	}
	types := c.Doc.Components.Schemas["Event"].Value.Properties["type"].Value.Enum
	fields := slices.Sorted(maps.Keys(c.Doc.Components.Schemas["FactRow"].Value.Properties))
	sorted := func(list []string) []string { return slices.Sorted(slices.Values(list)) }
	for _, tt := range []struct {
		name      string
		got, want []string
	}{
		{"campaign sorts", httpapi.CampaignSorts, texts(ops["listCampaigns"].Parameter("query", "sort").Schema.Value.Enum)},
		{"event sorts", httpapi.EventSorts, texts(ops["listEvents"].Parameter("query", "sort").Schema.Value.Enum)},
		{"parameters of campaigns", sorted(httpapi.CampaignParams), sorted(query("listCampaigns"))},
		{"audience sorts", httpapi.AudienceSorts, texts(ops["listAudiences"].Parameter("query", "sort").Schema.Value.Enum)},
		{"parameters of audiences", sorted(httpapi.AudienceParams), sorted(query("listAudiences"))},
		{"audience statuses", audience.Statuses, schema("AudienceStatus")},
		{"audience types", audience.Types, schema("AudienceType")},
		{"parameters of events", sorted(httpapi.EventParams), sorted(query("listEvents"))},
		{"statuses", campaign.Statuses, schema("CampaignStatus")},
		{"delivery statuses", campaign.DeliveryStatuses, schema("DeliveryStatus")},
		{"channels", campaign.Channels, schema("Channel")},
		{"objectives", campaign.Objectives, schema("Objective")},
		{"metrics", campaign.Metrics, schema("Metric")},
		{"figures", namesOf(analytics.Metrics, func(m analytics.Metric) string { return m.Name }), schema("Metric")},
		{"figures of other reports", slices.DeleteFunc(schema("Metric"), func(m string) bool { return m == "pacing" }), schema("ReportMetric")},
		{"report sorts", append(schema("ReportMetric"), "name"), schema("ReportSort")},
		{"campaign report sorts", append(schema("Metric"), "name"), schema("CampaignSort")},
		{"dimensions", namesOf(analytics.Dimensions, func(d analytics.Dimension) string { return d.Name }), schema("DimensionName")},
		{"granularities", namesOf(analytics.Granularities, func(g analytics.Granularity) string { return string(g) }), schema("Granularity")},
		{"presets", analytics.Presets, schema("Preset")},
		{"report families", fact.Families, schema("ReportFamily")},
		{"fields of files", ingest.FileFields, schema("ImportField")},
		{"fields of rows", sorted(ingest.Fields), fields},
		{"modes", ingest.Modes, schema("ImportMode")},
		{"import statuses", ingest.Statuses, schema("ImportStatus")},
		{"import sorts", httpapi.ImportSorts, texts(ops["listImports"].Parameter("query", "sort").Schema.Value.Enum)},
		{"parameters of imports", sorted(httpapi.ImportParams), sorted(query("listImports"))},
		{"connection statuses", connection.Statuses, schema("ConnectionStatus")},
		{"platforms", connection.Platforms, schema("Platform")},
		{"platforms to connect", connection.Connectable, schema("ConnectablePlatform")},
		{"kinds of what is linked", connection.Kinds, schema("EntityKind")},
		{"sync modes", connection.Modes, schema("SyncMode")},
		{"sync streams", connection.Streams, schema("SyncStreamName")},
		{"sync statuses", connection.RunStatuses, texts(c.Doc.Components.Schemas["SyncRun"].Value.Properties["status"].Value.Enum)},
		{"sync sorts", httpapi.SyncSorts, texts(ops["listConnectionSyncs"].Parameter("query", "sort").Schema.Value.Enum)},
		{"parameters of syncs", sorted(httpapi.SyncParams), sorted(query("listConnectionSyncs"))},
		{"connection sorts", httpapi.ConnectionSorts, texts(ops["listConnections"].Parameter("query", "sort").Schema.Value.Enum)},
		{"parameters of connections", sorted(httpapi.ConnectionParams), sorted(query("listConnections"))},
		{"parameters of variants", sorted(httpapi.VariantParams), sorted(query("listCreativeVariants"))},
		{"event types", httpapi.EventTypes, texts(types)},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s differ (-contract +code):\n%s", tt.name, diff)
		}
	}
}

// namesOf returns the names in a catalog.
func namesOf[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = name(item)
	}
	return out
}

// TestContractNames checks for snake_case members (H7), enum values (T6) and
// parameters, for times that end in _at, and that every member of a response is
// required (H7: every documented field is always present).
func TestContractNames(t *testing.T) {
	t.Parallel()
	c := fanfaretest.TheContract()
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	// Sizes, ratios and ranges are numbers, not words. The name of an event
	// consists of its resource and the change, such as campaign.created.
	shape := regexp.MustCompile(`^\d+(\.\d+)?([x:-]\d+|\+)$|^[a-z_]+\.[a-z_]+$`)
	for _, p := range c.Doc.Components.Parameters {
		if p.Value.In == "query" && !snake.MatchString(p.Value.Name) {
			t.Errorf("got query parameter %q, want snake_case", p.Value.Name)
		}
	}
	type visit struct {
		schema *openapi3.Schema
		answer bool
	}
	seen := map[visit]bool{}
	var walk func(path string, ref *openapi3.SchemaRef, answer bool)
	walk = func(path string, ref *openapi3.SchemaRef, answer bool) {
		if ref == nil || seen[visit{ref.Value, answer}] {
			return
		}
		s := ref.Value
		seen[visit{s, answer}] = true
		for _, v := range s.Enum {
			if text, ok := v.(string); ok && !snake.MatchString(text) && !shape.MatchString(text) {
				t.Errorf("%s: got enum value %q, want lower_snake_case (T6)", path, text)
			}
		}
		for name, p := range s.Properties {
			if !snake.MatchString(name) {
				t.Errorf("%s: got member %q, want snake_case", path, name)
			}
			instant := p.Value.Format == "date-time"
			if text := regexp.MustCompile(`_at$|_until$|^since$|^timestamp$|^as_of$`); !p.Value.ReadOnly && instant != text.MatchString(name) {
				t.Errorf("%s.%s: an instant's name ends in _at, or in _until for the end of a wait, and no other does (T2)", path, name)
			}
			optional, _ := s.Extensions["x-optional"].([]any)
			if answer && !slices.Contains(s.Required, name) && !slices.Contains(optional, any(name)) {
				t.Errorf("%s.%s: a documented member of an answer is always there, so it is required unless x-optional names it", path, name)
			}
			walk(path+"."+name, p, answer)
		}
		walk(path+"[]", s.Items, answer)
	}
	for id, op := range c.Operations() {
		for status, ref := range op.Responses.Map() {
			if content := ref.Value.Content["application/json"]; content != nil && status < "300" && op.Path != "/openapi/v1.json" {
				walk(id, content.Schema, true)
			}
		}
		if op.RequestBody != nil {
			for _, content := range op.RequestBody.Value.Content {
				walk(id+" request", content.Schema, false)
			}
		}
	}
	if got := slices.Sorted(maps.Keys(c.Doc.Components.SecuritySchemes)); !slices.Equal(got, []string{"bearer"}) {
		t.Errorf("got security schemes %v want bearer", got)
	}
}
