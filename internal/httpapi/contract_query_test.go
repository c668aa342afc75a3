package httpapi_test

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// ask is a query string at the limit of a parameter.
type ask struct {
	value string
	// codes are what the response must contain; none means inside the limit.
	codes []string
}

// wrongQuery are invalid values of a parameter, by its pattern or name.
var wrongQuery = map[string][]string{
	`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2}))?$`: {
		"yesterday", "2026-11-31", "2026-W46-7", "2026-319", "20261115", "2026-11-15T10:00:00", "2026-11-15 10:00:00Z", "2026-11-15T10:00:00 01:00", "1763200000",
	},
	`^\d{4}-\d{2}-\d{2}$`:     {"yesterday", "2026-11-31", "2026-W46-7", "20261115", "2026-11-15T10:00:00Z", "15.11.2026"},
	`^[A-Z]{3}$`:              {"usd", "USDT", "US"},
	`^[a-z_]+\.([a-z_]+|\*)$`: {"campaign", "Campaign.created", "campaign.", ".*", "campaign.cre*"},
	"baseline":                {"Workspace", "aud_1", "cmp_01m7f7rg8reaarpph9r5d079kv", "aud_01h455vb4pex5vsknk084sn02q"},
}

// rightQuery are valid values that cannot be derived from the schema, by
// pattern or name.
var rightQuery = map[string]string{
	`^\d{4}-\d{2}-\d{2}$`: "2026-11-14", `^[A-Z]{3}$`: "USD",
	"start_date": "2026-11-01", "end_date": "2026-11-30T23:00:00+01:00", "timezone": "America/New_York", "type": "campaign.created,quota.*",
	"tag": "winter", "q": "winter", "resource_id": "cmp_01m7f7rg8reaarpph9r5d079kv",
	"baseline": "workspace", "source": "shop", "filename": "november.csv", "audience_id": "aud_01m5eyeh80fqqb9ksbcy1qpz3q", "campaign_id": "cmp_01m7f7rg8reaarpph9r5d079kv", "creative_id": "crv_01m5eyeh80fhttv3ftzpvwsz52",
}

// besideQuery are parameters that another parameter requires.
var besideQuery = map[string]string{
	"ingestMetrics mode=replace": "&start_date=2026-11-01&end_date=2026-11-14",
	"ingestMetrics start_date":   "&mode=replace&end_date=2026-11-14",
	"ingestMetrics end_date":     "&mode=replace&start_date=2026-11-01",
	"ingestMetrics families":     "&mode=replace&start_date=2026-11-01&end_date=2026-11-14",
}

// asksOf derives the limits of a parameter from its schema.
func asksOf(t testing.TB, p *openapi3.Parameter) []ask {
	s, set := p.Schema.Value, false
	if s.Type.Is("array") {
		s, set = s.Items.Value, true
	}
	list := []ask{{"", []string{"invalid_type", "invalid_value", "invalid_format", "out_of_range", "cursor_malformed"}}}
	if v := cmp.Or(rightQuery[s.Pattern], rightQuery[p.Name]); v != "" && len(s.Enum) == 0 {
		list = append(list, ask{v, nil})
	}
	if s.Type.Is("boolean") {
		list = append(list, ask{"true", nil}, ask{"false", nil}, ask{"True", []string{"invalid_value"}}, ask{"1", []string{"invalid_value"}})
	}
	for _, v := range s.Enum {
		list = append(list, ask{fmt.Sprint(v), nil})
	}
	if len(s.Enum) > 0 {
		first, last := fmt.Sprint(s.Enum[0]), fmt.Sprint(s.Enum[len(s.Enum)-1])
		several := ask{first + "," + last, []string{"invalid_value"}}
		if set {
			several.codes = nil
			list = append(list, ask{first + ",no_such_value", []string{"invalid_value"}}, ask{first + ",", []string{"invalid_value"}})
			twice := ask{first + "," + first, nil}
			if p.Schema.Value.UniqueItems {
				twice.codes = []string{"invalid_value"}
			}
			list = append(list, twice)
		}
		list = append(list, several, ask{"no_such_value", []string{"invalid_value"}}, ask{strings.ToUpper(first), []string{"invalid_value"}})
	}
	if s.Type.Is("integer") {
		for _, text := range []string{"ten", "1e1", "+5", " 5", "-1", "5.0", "0x5", "５"} {
			list = append(list, ask{text, []string{"invalid_type"}})
		}
		list = append(list,
			ask{fmt.Sprint(*s.Min), nil}, ask{fmt.Sprint(*s.Max), nil},
			ask{fmt.Sprint(*s.Min - 1), []string{"out_of_range"}}, ask{fmt.Sprint(*s.Max + 1), []string{"out_of_range"}},
			ask{strings.Repeat("9", 40), []string{"out_of_range"}})
	}
	if s.MaxLength != nil && !strings.HasSuffix(p.Name, "_id") {
		list = append(list, ask{strings.Repeat("ü", int(*s.MaxLength)), nil})
	}
	if s.MaxLength != nil {
		list = append(list, ask{strings.Repeat("ü", int(*s.MaxLength)+1), []string{"out_of_range", "invalid_format"}})
	}
	if s.Pattern != "" && wrongQuery[s.Pattern] == nil {
		t.Errorf("%s: nobody knows a text that breaks %q", p.Name, s.Pattern)
	}
	for _, text := range append(wrongQuery[s.Pattern], wrongQuery[p.Name]...) {
		list = append(list, ask{text, []string{"invalid_format", "invalid_value"}})
	}
	return append(list, ask{"a\x01b", []string{"invalid_format"}}, ask{"a\xffb", []string{"invalid_format"}})
}

// TestContractQueries derives from each query parameter the values just outside
// and just inside its limits (L1, L7, L8, L9, L11).
func TestContractQueries(t *testing.T) {
	t.Parallel()
	for id, op := range fanfaretest.TheContract().Operations() {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			tryQueries(t, fanfaretest.New(t, nil, ample).Tenant(account.Growth), op)
		})
	}
}

// tryQueries tries all query parameters of an operation.
func tryQueries(t *testing.T, tenant *fanfaretest.Tenant, op *fanfaretest.Operation) {
	t.Helper()
	var c call
	for _, p := range op.Parameters() {
		if p.In != "query" {
			continue
		}
		if c.target == "" {
			c = goodCall(tenant, op)
			if takesRows(op) {
				// This lets only the parameters decide.
				c.body = "[]"
			}
		}
		askAll(t, tenant, op, c, p)
	}
}

// askAll sends all values of a parameter.
func askAll(t *testing.T, tenant *fanfaretest.Tenant, op *fanfaretest.Operation, c call, p *openapi3.Parameter) {
	t.Helper()
	send := func(query string) *fanfaretest.Response {
		asked := c
		asked.target += "?" + query
		return asked.by(tenant.Client)
	}
	for _, a := range asksOf(t, p) {
		pair := p.Name + "=" + url.QueryEscape(a.value)
		others := besideQuery[op.OperationID+" "+p.Name] + besideQuery[op.OperationID+" "+pair]
		checkAsk(t, send(pair+others), p.Name, a)
		if a.codes == nil {
			checkAsk(t, send(pair+"&"+pair+others), p.Name, ask{a.value + " twice", []string{"duplicate_parameter"}})
		}
	}
	wrongCase := strings.ToUpper(p.Name)
	checkAsk(t, send(wrongCase+"=1"), wrongCase, ask{"in upper case", []string{"unknown_parameter"}})
}

func checkAsk(t *testing.T, res *fanfaretest.Response, name string, a ask) {
	t.Helper()
	if a.codes == nil {
		if res.Status >= 300 {
			t.Errorf("%s %q: got %d want success: %s", name, a.value, res.Status, res.Body)
		}
		return
	}
	e := res.Error()
	if res.Status != 400 || e.Code != "invalid_parameter" && e.Code != "invalid_cursor" || len(e.Details) != 1 {
		t.Errorf("%s %q: got %d %s with %d details, want 400 invalid_parameter with one: %s", name, a.value, res.Status, e.Code, len(e.Details), res.Body)
		return
	}
	if d := e.Details[0]; d.Field != name || d.In != "query" || !slices.Contains(a.codes, d.Code) {
		t.Errorf("%s %q: got %s %s in %s, want one of %v", name, a.value, d.Field, d.Code, d.In, a.codes)
	}
}
