package sandbox

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestReadRestli(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]map[string]any{
		"":                       {},
		"q=search&pageSize=5":    {"q": "search", "pageSize": "5"},
		"pivot=(value:CAMPAIGN)": {"pivot": map[string]any{"value": "CAMPAIGN"}},
		"a=List()&b=()":          {"a": []any{}, "b": map[string]any{}},
		"accounts=List(urn%3Ali%3AsponsoredAccount%3A1,2)": {"accounts": []any{"urn:li:sponsoredAccount:1", "2"}},
		"d=(start:(year:2026,month:1),end:List((x:1)))": {
			"d": map[string]any{"start": map[string]any{"year": "2026", "month": "1"}, "end": []any{map[string]any{"x": "1"}}},
		},
		"fields=a,b": {"fields": "a,b"},
		// Escaped parentheses are data.
		"pivot=%28value%3ACAMPAIGN%29": {"pivot": "(value:CAMPAIGN)"},
	} {
		got, err := parseRestli(query)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", query, err, diff)
		}
	}
	for _, query := range []string{"a=(", "a=List(", "a=List(1", "a=(b)", "a=(b:1", "a=1)", "a=urn:li:1", "a=List(1))", "a=%zz", "a=(b:1)(c:2)"} {
		if got, err := parseRestli(query); err == nil {
			t.Errorf("%s: got %v, want it refused", query, got)
		}
	}
}

// TestRestliRoundTrip checks that every escaped text is parsed to the same
// text.
func TestRestliRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOf(rapid.String()).Draw(rt, "texts")
		escaped := make([]string, len(texts))
		want := []any{}
		for i, text := range texts {
			escaped[i] = url.QueryEscape(text)
			want = append(want, text)
		}
		// One empty text and an empty list have the same form.
		if len(texts) == 1 && texts[0] == "" {
			want = []any{}
		}
		got, err := parseRestli("a=(b:List(" + strings.Join(escaped, ",") + "))")
		if len(texts) > 1 && texts[len(texts)-1] == "" {
			// A list whose last text is empty and a list without that text are
			// also the same.
			want = want[:len(want)-1]
		}
		if diff := cmp.Diff(map[string]any{"a": map[string]any{"b": want}}, got); err != nil || diff != "" {
			rt.Fatalf("%v (-want +got):\n%s", err, diff)
		}
	})
}
