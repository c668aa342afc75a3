package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"fanfare/internal/clock"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

func (w *Fixture) providerSteps() []Step {
	put := func(ctx context.Context) error {
		return w.DB.Providers().Put(ctx, creative.Setup{Workspace: w.Workspace, Kind: "openai", Sealed: "sealed"}, w.Cause(), w.Now())
	}
	return []Step{
		{"provider.put", false, put},
		{"provider.put again", false, put},
		{"provider.list", false, func(ctx context.Context) error { _, err := w.DB.Providers().Setups(ctx, w.Workspace); return err }},
		{"provider.drop", false, func(ctx context.Context) error {
			there, err := w.DB.Providers().Drop(ctx, w.Workspace, "openai", w.Cause(), w.Now())
			if err == nil && !there {
				err = errors.New("got nothing to drop")
			}
			return err
		}},
	}
}

// recordsProviders keeps a workspace's own models before those of all.
func recordsProviders(t *testing.T, w *Fixture) {
	s := w.DB.Providers()
	other, _, _ := w.AddWorkspace("other@example.com")
	at := clock.At(w.Clock.Now())
	settings := func(version int64) creative.ModelSettings {
		return creative.ModelSettings{BaseURL: "https://models.example/v1", Model: "m", ImageModel: "i", Default: true, Price: &creative.ModelPrice{InputMicros: 1, OutputMicros: 2, ImageMicros: 3}, Version: version}
	}
	for _, p := range []creative.Setup{
		{Workspace: "", Kind: "openai", Settings: settings(1), Sealed: "one"},
		{Workspace: "", Kind: "anthropic", Settings: settings(2), Sealed: "two"},
		{Workspace: w.Workspace, Kind: "openai", Settings: settings(3), Sealed: "three"},
		{Workspace: other, Kind: "gemini", Settings: settings(4), Sealed: "four"},
		{Workspace: w.Workspace, Kind: "openai", Settings: settings(5), Sealed: "five"},
	} {
		w.must(s.Put(t.Context(), p, record.Cause{Workspace: p.Workspace, Actor: record.System}, at))
	}
	check := func(workspace ident.ID, want ...string) {
		t.Helper()
		list, err := s.Setups(t.Context(), workspace)
		w.must(err)
		var got []string
		for _, p := range list {
			got = append(got, fmt.Sprintf("%v %s %d %s", p.Workspace != "", p.Kind, p.Settings.Version, p.Sealed))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v want %v", got, want)
		}
	}
	// Other versions of the program read this JSON.
	rows, err := w.Raw.Query(store.Across(t.Context()), `SELECT settings FROM model_provider WHERE workspace_id = $1`, string(w.Workspace))
	w.must(err)
	const want = `{"base_url":"https://models.example/v1","model":"m","image_model":"i","default":true,"no_fallback":false,"price":{"input_micros":1,"output_micros":2,"image_micros":3},"version":5}`
	if !rows.Next() {
		t.Fatal("got no settings")
	}
	if got := string(rows.Bytes()); got != want {
		t.Errorf("stored settings: got %s want %s", got, want)
	}
	shared := []string{`false anthropic 2 two`, `false openai 1 one`}
	check(w.Workspace, append([]string{`true openai 5 five`}, shared...)...)
	check(other, append([]string{`true gemini 4 four`}, shared...)...)
	check("", shared...)
	for _, tt := range []struct {
		workspace ident.ID
		kind      string
		there     bool
	}{{w.Workspace, "gemini", false}, {w.Workspace, "anthropic", false}, {w.Workspace, "openai", true}, {w.Workspace, "openai", false}, {"", "anthropic", true}} {
		there, err := s.Drop(t.Context(), tt.workspace, tt.kind, record.Cause{Workspace: tt.workspace, Actor: record.System}, at)
		if err != nil || there != tt.there {
			t.Errorf("drop %s of %q: got %v, %v want %v", tt.kind, tt.workspace, there, err, tt.there)
		}
	}
	check(w.Workspace, shared[1:]...)
	check(other, `true gemini 4 four`, shared[1])
	if r, err := w.DB.VerifyAudit(t.Context(), func(int64) {}); err != nil || len(r.Faults) > 0 {
		t.Errorf("the audit log: got %+v, %v", r, err)
	}
	// Two changes of the workspace's own model and one drop, beside its making.
	w.Count(4, `SELECT count(*) FROM audit WHERE workspace_id = $1`, string(w.Workspace))
}
