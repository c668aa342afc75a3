package sandbox

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Switches of the form of answers.
const (
	ga4OmitDefaults = "defaults_omitted"
	ga4RowOrder     = "row_order"
	ga4EmptyAccount = "account_without_properties"
)

// omitDefaults returns an answer without the members that have the default value
// of their type.
func omitDefaults(answer any) any {
	b, err := json.Marshal(answer)
	if err != nil {
		panic(err) // cannot fail: it has only texts, numbers and booleans
	}
	var value any
	if err := json.Unmarshal(b, &value); err != nil {
		panic(err) // cannot fail: it was encoded just now
	}
	removeDefaults(value)
	return value
}

// removeDefaults removes zeros, false, empty texts and empty lists from objects.
// Elements of lists and empty objects stay.
func removeDefaults(value any) {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, member any) bool {
			list, isList := member.([]any)
			return member == nil || isList && len(list) == 0 || !isList && isDefault(member)
		})
		for _, member := range v {
			removeDefaults(member)
		}
	case []any:
		for _, member := range v {
			removeDefaults(member)
		}
	}
}

func isDefault(member any) bool {
	switch m := member.(type) {
	case string:
		return m == ""
	case float64:
		return m == 0
	case bool:
		return !m
	}
	return false
}

// shuffle orders the rows differently for every page.
func (r *ga4Report) shuffle() {
	place := func(l ga4Line) int64 {
		return seedKey(0).named("row order").numbered(int64(r.in.Offset)).named(strings.Join(l.dimensions, "\x00")).intBelow(1 << 53)
	}
	slices.SortStableFunc(r.lines, func(x, y ga4Line) int { return cmp.Compare(place(x), place(y)) })
}

// emptyAccounts returns the summaries of accounts without properties: none, or
// one with the switch.
func (v ga4Viewer) emptyAccounts() []any {
	if !v.Behaves(nil, ga4EmptyAccount) {
		return []any{}
	}
	id := "9" + v.list[0].ID
	return []any{map[string]any{"name": "accountSummaries/" + id, "account": "accounts/" + id, "displayName": shopName + " (unused)"}}
}
