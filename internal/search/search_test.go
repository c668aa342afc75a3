package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/search"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" – !", nil},
		{"Spring Sale", []string{"spring", "sale"}},
		{"sale SALE Sale", []string{"sale"}},
		{"Q4-2026_EU|Search", []string{"q4", "2026", "eu", "search"}},
		{"Éclair Straße İstanbul", []string{"eclair", "strasse", "istanbul"}},
		{"日本 Tea", []string{"日", "本", "tea"}},
		{"ﬁt", []string{"fit"}},
		{"25% off", []string{"25", "off"}},
		{strings.Repeat("a", 60), []string{strings.Repeat("a", 40)}},
	} {
		if diff := cmp.Diff(tt.want, search.Words(tt.text)); diff != "" {
			t.Errorf("%q: words differ (-want +got):\n%s", tt.text, diff)
		}
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprint("w", i))
	}
	if got := search.Words(many...); len(got) != search.MaxWords {
		t.Errorf("got %d words", len(got))
	}
}

// index has records with names as the only field.
type index map[search.Type][]string

func (x index) id(kind search.Type, i int) ident.ID {
	return ident.ID(fmt.Sprintf("%s_01m7eed1vefw9bs159p71g%04d", kind.Prefix(), i))
}

func (x index) Candidates(_ context.Context, _ ident.ID, kind search.Type, _ string, words []string) ([]search.Candidate, error) {
	var list []search.Candidate
	for i, name := range x[kind] {
		name, status, _ := strings.Cut(name, "/")
		has := search.Words(name)
		all := true
		for _, word := range words {
			all = all && slices.ContainsFunc(has, func(h string) bool { return strings.HasPrefix(h, word) })
		}
		if all {
			list = append(list, search.Candidate{ID: x.id(kind, i), Name: strings.ToLower(name), Status: status})
		}
	}
	return list, nil
}

func (x index) Docs(_ context.Context, _ ident.ID, kind search.Type, ids []ident.ID) ([]record.Doc, error) {
	var docs []record.Doc
	for _, id := range ids {
		for i, name := range x[kind] {
			if name, status, _ := strings.Cut(name, "/"); x.id(kind, i) == id {
				docs = append(docs, record.Doc{JSON: fmt.Appendf(nil, `{"id":%q,"name":%q,"status":%q,"type":"targeting","channels":["paid_social"],"tags":["eu"],"allowed_actions":["update","pause","fly"]}`, id, name, status)})
			}
		}
	}
	return docs, nil
}

type people []search.Person

func (p people) People(context.Context, ident.ID) ([]search.Person, error) { return p, nil }

func titles(f search.Found) []string {
	list := []string{}
	for _, r := range f.Results {
		list = append(list, string(r.Type)+" "+r.Title)
	}
	return list
}

func pages() ([]search.Page, error) {
	return []search.Page{{Path: "/docs/guides/sales", Title: "Spring sale", Section: "Dates", Text: "all about it"}}, nil
}

func all(string) bool { return true }

func TestRanking(t *testing.T) {
	t.Parallel()
	x := index{
		search.Campaign: {"Sale in spring", "Spring sale", "Spring sale 2026", "The spring sale/active", "The spring sale/draft", "Winter"},
		search.Audience: {"Spring sale shoppers"},
	}
	s := search.New(x, people{{ID: "usr_1", Name: "Ann Spring", Email: "ann@example.com", Role: "editor"}}, pages)
	for text, want := range map[string][]string{
		"spring sale":                      {"campaign Spring sale", "campaign Spring sale 2026", "audience Spring sale shoppers", "doc Spring sale", "campaign The spring sale", "campaign The spring sale", "campaign Sale in spring"},
		"ann":                              {"member Ann Spring"},
		"winter":                           {"campaign Winter"},
		"date about":                       {"doc Spring sale"},
		"nothing":                          {},
		"!":                                {},
		" cmp_01m7eed1vefw9bs159p71g0005 ": {"campaign Winter"},
		"cmp_01m7eed1vefw9bs159p71g0099":   {},
	} {
		got, err := s.Search(t.Context(), "wks_1", search.Query{Text: text, Limit: 20, May: all})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, titles(got)); diff != "" {
			t.Errorf("%q: results differ (-want +got):\n%s", text, diff)
		}
		if len(got.More) != 0 {
			t.Errorf("%q: got more of %v", text, got.More)
		}
	}
}

// TestPlaces checks that one type does not take the places of the others.
func TestPlaces(t *testing.T) {
	t.Parallel()
	x := index{search.Audience: {"The old sale", "A sale", "One sale", "Two sale"}}
	for i := range 30 {
		x[search.Campaign] = append(x[search.Campaign], fmt.Sprintf("Sale %d", i))
	}
	s := search.New(x, people{}, func() ([]search.Page, error) { return nil, nil })
	got, err := s.Search(t.Context(), "wks_1", search.Query{Text: "sale", Limit: 10, May: all})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"campaign Sale 29", "campaign Sale 28", "campaign Sale 27", "campaign Sale 26", "campaign Sale 25", "campaign Sale 24", "campaign Sale 23", "audience Two sale", "audience One sale", "audience A sale"}
	if diff := cmp.Diff(want, titles(got)); diff != "" {
		t.Errorf("results differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]search.Type{search.Campaign, search.Audience}, got.More); diff != "" {
		t.Errorf("more differs (-want +got):\n%s", diff)
	}
	got, err = s.Search(t.Context(), "wks_1", search.Query{Text: "sale", Limit: 10, Types: []search.Type{search.Audience}, May: all})
	if err != nil || len(got.Results) != 4 || len(got.More) != 0 {
		t.Errorf("got %v, more %v, %v", titles(got), got.More, err)
	}
}

// TestPermissions checks that nobody finds what the caller cannot read and is
// offered what the caller cannot do.
func TestPermissions(t *testing.T) {
	t.Parallel()
	x := index{search.Campaign: {"Sale/active"}, search.Audience: {"Sale"}, search.Connection: {"Sale/connected"}}
	s := search.New(x, people{}, func() ([]search.Page, error) { return nil, nil })
	may := func(operation string) bool {
		return slices.Contains([]string{"listCampaigns", "pauseCampaign", "listConnections", "syncConnection"}, operation)
	}
	got, err := s.Search(t.Context(), "wks_1", search.Query{Text: "sale", Limit: 10, May: may})
	if err != nil {
		t.Fatal(err)
	}
	want := []search.Result{
		{Type: search.Campaign, Title: "Sale", Subtitle: "paid social · eu", Actions: []string{"pause"}},
		{Type: search.Connection, Title: "Sale", Actions: []string{"sync"}},
	}
	for i, r := range got.Results {
		if i >= len(want) || r.Type != want[i].Type || r.Subtitle != want[i].Subtitle || !slices.Equal(r.Actions, want[i].Actions) || r.ID == nil || !strings.HasSuffix(r.Path, string(*r.ID)) {
			t.Errorf("got %+v", r)
		}
	}
	if len(got.Results) != len(want) {
		t.Errorf("got %v", titles(got))
	}
}
