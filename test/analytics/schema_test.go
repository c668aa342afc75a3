package analytics_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fanfare/internal/fanfaretest"
)

// TestDrillSchema sends bodies that are valid by the contract's schema, and
// damaged ones. Each is answered or refused, without an internal error.
func TestDrillSchema(t *testing.T) {
	t.Parallel()
	g := newTestWorkspace(t, seededRand(t))
	body := fanfaretest.TheContract().Doc.Components.Schemas["AnalyticsQuery"].Value
	m := &schemaValues{g.r}
	counts := map[int]int{}
	for range 10 * queriesPerLaw() {
		v := m.value(body, 0).(map[string]any)
		delete(v, "cursor")
		counts[g.sendValue(t, v, 200, 422)]++
		counts[g.sendValue(t, m.mutated(v), 200, 400, 422)]++
	}
	if counts[200] == 0 || counts[422] == 0 {
		t.Errorf("got %v want both answers and refusals", counts)
	}
	t.Logf("%v", counts)
}

func (g *testWorkspace) sendValue(t *testing.T, v any, allowed ...int) int {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	res := g.Do("POST", "/v1/analytics/query", raw)
	if !slices.Contains(allowed, res.Status) {
		t.Errorf("%s: got status %d want one of %v: %.500s", raw, res.Status, allowed, res.Body)
	}
	return res.Status
}

// schemaValues generates values of schemas.
type schemaValues struct{ r *rand.Rand }

// patterns are examples for the patterns in the schema, some without a meaning.
var patterns = map[string][]string{
	`^\d{4}-\d{2}-\d{2}$`: {"2026-11-01", "2026-10-15", "2025-02-28", "0000-00-00", "9999-99-99"},
	`^[A-Z]{3}$`:          {"EUR", "USD", "SEK", "ZZZ"},
}

// texts are examples for any text.
var texts = slices.Concat(dimensions, metrics, []string{"UTC", "Asia/Tokyo", "x", "", "previous.spend", "change.clicks", "date", "\x00", "'; --", strings.Repeat("ü", 300)})

func (m *schemaValues) value(s *openapi3.Schema, depth int) any {
	switch {
	case len(s.AnyOf) > 0:
		which := s.AnyOf[m.r.IntN(len(s.AnyOf))]
		if depth > 6 {
			which = s.AnyOf[0]
		}
		return m.value(which.Value, depth+1)
	case len(s.Enum) > 0:
		return s.Enum[m.r.IntN(len(s.Enum))]
	case s.Type.Includes("object"):
		v := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) || m.r.IntN(3) == 0 {
				v[name] = m.value(s.Properties[name].Value, depth+1)
			}
		}
		return v
	case s.Type.Includes("array"):
		return m.list(s, depth)
	}
	kinds := slices.Clone(*s.Type)
	switch kind := kinds[m.r.IntN(len(kinds))]; kind {
	case "boolean":
		return m.r.IntN(2) == 0
	case "integer":
		return int(*s.Min) + m.r.IntN(int(*s.Max-*s.Min)+1)
	case "number":
		return []any{0, -1, 0.5, 12345.678901, 1e9, 1e300}[m.r.IntN(6)]
	case "null":
		return nil
	default:
		list := texts
		if s.Pattern != "" {
			list = patterns[s.Pattern]
		}
		text := list[m.r.IntN(len(list))]
		if text == "" && s.MinLength > 0 {
			return "y"
		}
		return text
	}
}

func (m *schemaValues) list(s *openapi3.Schema, depth int) []any {
	n := int(s.MinItems) + m.r.IntN(3)
	if depth > 5 {
		n = int(s.MinItems)
	}
	if s.MaxItems != nil {
		n = min(n, int(*s.MaxItems))
	}
	list := []any{}
	for range n {
		v := m.value(s.Items.Value, depth+1)
		if !s.UniqueItems || !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// mutated returns the value with one random damage.
func (m *schemaValues) mutated(v any) any {
	broken := []any{nil, true, -1, 1e21, "", "x", []any{}, map[string]any{}, []any{nil}, map[string]any{"x": 1}, strings.Repeat("[", 50)}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || m.r.IntN(5) == 0 {
			return broken[m.r.IntN(len(broken))]
		}
		v = maps.Clone(v)
		name := slices.Sorted(maps.Keys(v))[m.r.IntN(len(v))]
		switch m.r.IntN(4) {
		case 0:
			delete(v, name)
		case 1:
			v[fmt.Sprint(name, "s")] = v[name]
		default:
			v[name] = m.mutated(v[name])
		}
		return v
	case []any:
		if len(v) == 0 || m.r.IntN(5) == 0 {
			return broken[m.r.IntN(len(broken))]
		}
		v = slices.Clone(v)
		at := m.r.IntN(len(v))
		v[at] = m.mutated(v[at])
		if m.r.IntN(4) == 0 {
			v = append(v, v...)
		}
		return v
	default:
		return broken[m.r.IntN(len(broken))]
	}
}
