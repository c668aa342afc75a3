package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/search"
	"fanfare/internal/store"
)

// look returns the names of the candidates for a text, sorted.
func (w *Fixture) look(kind search.Type, text string) string {
	w.T.Helper()
	list, err := w.DB.Index().Candidates(w.T.Context(), w.Workspace, kind, text, search.Words(text))
	w.must(err)
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Name
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// recordsSearch checks that words follow the records.
func recordsSearch(t *testing.T, w *Fixture) {
	spring, summer := w.Draft("Spring Sale – Éclair"), w.Draft("Summer sale 2026")
	spring.Tags = []string{"brand"}
	summer.ExternalRefs = []record.ExternalRef{{ExternalID: "120211456"}}
	w.Insert(spring)
	w.Insert(summer)
	_, err := w.Audiences.CreateSpec(t.Context(), w.Cause(), audience.Spec{Name: "Sale shoppers", Type: audience.TypeTargeting, Tags: []string{}, Metadata: map[string]string{}})
	w.must(err)
	check := func(want map[string]string) {
		t.Helper()
		for text, names := range want {
			if got := w.look(search.Campaign, text); got != names {
				t.Errorf("%q: got %q want %q", text, got, names)
			}
		}
	}
	both := "spring sale – éclair, summer sale 2026"
	check(map[string]string{
		"sale": both, "SAL": both, "s": both, "eclair": "spring sale – éclair", "ÉCL sal": "spring sale – éclair", "brand": "spring sale – éclair",
		"120211": "summer sale 2026", "sale 2026": "summer sale 2026", "sale winter": "", "ale": "", "shoppers": "", "spring 2026": "",
	})
	if got := w.look(search.Audience, "shop"); got != "sale shoppers" {
		t.Errorf("audience: got %q", got)
	}
	patch := func(body string) {
		t.Helper()
		_, err := w.Campaigns.Update(t.Context(), w.Cause(), spring.ID, record.Match{}, Sent(t, body), campaign.Defaults{})
		w.must(err)
	}
	patch(`{"name":"Autumn sale","tags":["eu"]}`)
	check(map[string]string{"spring": "", "brand": "", "autumn": "autumn sale", "eu": "autumn sale", "sale": "autumn sale, summer sale 2026"})
	_, err = w.Campaigns.Archive(t.Context(), w.Cause(), spring.ID, record.Match{})
	w.must(err)
	check(map[string]string{"autumn": "", "sale": "summer sale 2026"})
	_, err = w.Campaigns.Restore(t.Context(), w.Cause(), spring.ID, record.Match{})
	w.must(err)
	check(map[string]string{"autumn": "autumn sale", "sale": "autumn sale, summer sale 2026"})
	docs, err := w.DB.Index().Docs(t.Context(), w.Workspace, search.Campaign, []ident.ID{summer.ID, "cmp_none", spring.ID})
	if err != nil || len(docs) != 2 || docs[0].ID() != summer.ID || docs[1].ID() != spring.ID {
		t.Errorf("got documents %v, %v", docs, err)
	}
	w.Workspace, _, _ = w.AddWorkspace("other@example.com")
	check(map[string]string{"sale": "", "autumn": ""})
	if docs, err := w.DB.Index().Docs(t.Context(), w.Workspace, search.Campaign, []ident.ID{summer.ID}); len(docs) != 0 || err != nil {
		t.Errorf("another workspace got %v, %v", docs, err)
	}
}

// recordsSearchMany checks that the newest records, and those whose name begins
// with the text, are candidates where a word has more records than are examined.
func recordsSearchMany(t *testing.T, w *Fixture) {
	const many = 600
	for i := range many {
		w.Insert(w.Draft(fmt.Sprintf("The campaign %d", i)))
		w.Clock.Advance(1e9)
	}
	exact := w.Draft("Campaign")
	exact.ID = "cmp_00000000000000000000000000" // older than all
	w.Insert(exact)
	list, err := w.DB.Index().Candidates(t.Context(), w.Workspace, search.Campaign, "campaign", []string{"campaign"})
	w.must(err)
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
	}
	for _, want := range []string{"campaign", "the campaign 599", "the campaign 300"} {
		if !slices.Contains(names, want) {
			t.Errorf("%q is not among %d candidates", want, len(names))
		}
	}
	if len(names) > 500 || slices.Contains(names, "the campaign 1") {
		t.Errorf("got %d candidates, some of the oldest", len(names))
	}
	if got := w.look(search.Campaign, "camp the 59"); got != "the campaign 59, the campaign 590, the campaign 591, the campaign 592, the campaign 593, the campaign 594, the campaign 595, the campaign 596, the campaign 597, the campaign 598, the campaign 599" {
		t.Errorf("got %q", got)
	}
}

// recordsIndexWords checks that records of a program without the index get their
// words once, and that a change in the meantime is not lost.
func recordsIndexWords(t *testing.T, w *Fixture) {
	const many = 1100 // more than one step
	ids := make([]ident.ID, many)
	together(many, func(i int) {
		c := w.Draft(fmt.Sprintf("Old %d", i))
		ids[i] = c.ID
		w.Insert(c)
	})
	clean := func() {
		t.Helper()
		w.must(w.Raw.Write(store.Across(t.Context()), func(tx store.Tx) error {
			_, err := tx.Exec(`DELETE FROM word`)
			return err
		}))
	}
	clean()
	_, err := w.Campaigns.Update(t.Context(), w.Cause(), ids[7], record.Match{}, Sent(t, `{"name":"Old and renamed"}`), campaign.Defaults{})
	w.must(err)
	_, err = w.Campaigns.Archive(t.Context(), w.Cause(), ids[8], record.Match{})
	w.must(err)
	w.must(indexAll(t.Context(), w.DB))
	w.Count(many-1, `SELECT count(*) FROM word WHERE workspace_id = $1 AND word = 'old'`, string(w.Workspace))
	w.Count(0, `SELECT count(*) FROM word WHERE workspace_id = $1 AND word = '8'`, string(w.Workspace))
	if got := w.look(search.Campaign, "old renamed"); got != "old and renamed" {
		t.Errorf("got %q", got)
	}
	// What was done is not done again.
	clean()
	w.must(indexAll(t.Context(), w.DB))
	w.Count(0, `SELECT count(*) FROM word WHERE workspace_id = $1`, string(w.Workspace))
}

// indexAll calls IndexWords until nothing is left to do.
func indexAll(ctx context.Context, db *store.DB) error {
	for {
		if done, err := db.IndexWords(ctx); done || err != nil {
			return err
		}
	}
}

func (w *Fixture) searchSteps() []Step {
	return []Step{
		{"search", false, func(ctx context.Context) error {
			list, err := w.DB.Index().Candidates(ctx, w.Workspace, search.Campaign, "Summer sale", []string{"summer", "sale"})
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return errors.New("found no campaign")
			}
			_, err = w.DB.Index().Docs(ctx, w.Workspace, search.Campaign, []ident.ID{list[0].ID})
			return err
		}},
		{"words of old records", true, func(ctx context.Context) error {
			err := w.Raw.Write(store.Across(ctx), func(tx store.Tx) error {
				_, err := tx.Exec(`DELETE FROM setting WHERE name LIKE 'words:%'`)
				return err
			})
			return errors.Join(err, indexAll(ctx, w.DB))
		}},
	}
}
