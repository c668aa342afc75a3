package record_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/record"
)

type inner struct {
	Deep *string `json:"deep"`
}

type base struct {
	Name string `json:"name"`
}

type thing struct {
	base
	inner  inner
	Nested inner             `json:"nested"`
	Ptr    *inner            `json:"ptr"`
	List   []string          `json:"list"`
	Map    map[string]string `json:"map,omitzero"`
	Secret string            `json:"-"`
	Plain  int
}

func TestDiff(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	for _, tt := range []struct {
		name      string
		old, next thing
		want      map[string]any
	}{
		{"equal", thing{List: []string{"a"}, Nested: inner{text("x")}}, thing{List: []string{"a"}, Nested: inner{text("x")}}, map[string]any{}},
		{"empty and missing", thing{List: []string{}, Map: map[string]string{}}, thing{}, map[string]any{}},
		{"embedded", thing{base: base{"a"}}, thing{base: base{"b"}}, map[string]any{"name": "a"}},
		{"behind a pointer", thing{Ptr: &inner{text("a")}}, thing{Ptr: &inner{text("b")}}, map[string]any{"ptr": &inner{text("a")}}},
		{"set", thing{}, thing{Ptr: &inner{}}, map[string]any{"ptr": (*inner)(nil)}},
		{"cleared", thing{List: []string{"a"}}, thing{}, map[string]any{"list": []string{"a"}}},
		{"order of a list", thing{List: []string{"a", "b"}}, thing{List: []string{"b", "a"}}, map[string]any{"list": []string{"a", "b"}}},
		{"map", thing{Map: map[string]string{"k": "v"}}, thing{Map: map[string]string{"k": "w"}}, map[string]any{"map": map[string]string{"k": "v"}}},
		{"not in the JSON", thing{Secret: "a", inner: inner{text("a")}}, thing{Secret: "b"}, map[string]any{}},
		{"without a tag", thing{Plain: 1}, thing{}, map[string]any{"Plain": 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, record.Diff(&tt.old, &tt.next)); diff != "" {
				t.Errorf("members differ (-want +got):\n%s", diff)
			}
		})
	}
}
