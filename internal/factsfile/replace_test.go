package factsfile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"fanfare/internal/connection"
	"fanfare/internal/factsfile"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/metrics"
	"fanfare/internal/record"
)

// twoWorkspaces is an engine with the facts of two workspaces.
type twoWorkspaces struct{ metrics.ReplaceableEngine }

func (twoWorkspaces) Workspaces(context.Context) ([]ident.ID, error) {
	return []ident.ID{"wks_1", "wks_2"}, nil
}

// fakeFacts replaces facts by those of two workspaces.
type fakeFacts struct{ workspaces []ident.ID }

func (f *fakeFacts) Replace(_ context.Context, workspaces []ident.ID, reconcile func(metrics.ReplaceableEngine, *factsfile.Replaced) error, fill func(metrics.ReplaceableEngine) error) (r factsfile.Replaced, err error) {
	f.workspaces = workspaces
	return r, errors.Join(fill(twoWorkspaces{}), reconcile(twoWorkspaces{}, &r))
}

// fakeRecords are connections and imports of which some were deleted.
type fakeRecords struct {
	// steps are the calls in their order.
	steps           []string
	undone, purged  map[ident.ID]int
	lose, reconcile error
}

func (f *fakeRecords) LoseAll(_ context.Context, cause record.Cause, workspaces []ident.ID) (connection.Losses, error) {
	f.steps = append(f.steps, fmt.Sprintf("%s loses %v", cause.Actor.Name, workspaces))
	return connection.Losses{Resyncing: 7}, f.lose
}

func (f *fakeRecords) UndoAgain(_ context.Context, _ ingest.Facts, workspace ident.ID) (int, error) {
	f.steps = append(f.steps, "undo "+string(workspace))
	return f.undone[workspace], nil
}

func (f *fakeRecords) Reconcile(_ context.Context, _ connection.RestoredFacts, workspace ident.ID) (int, error) {
	f.steps = append(f.steps, "reconcile "+string(workspace))
	return f.purged[workspace], f.reconcile
}

// TestReplacement checks what happens to the records when facts are replaced,
// and in which order.
func TestReplacement(t *testing.T) {
	t.Parallel()
	known := []ident.ID{"wks_1", "wks_3"}
	workspaces := func(context.Context) ([]ident.ID, error) { return known, nil }
	cause := record.Cause{Actor: record.Actor{Name: "operator"}}
	records := &fakeRecords{undone: map[ident.ID]int{"wks_1": 2, "wks_2": 1}, purged: map[ident.ID]int{"wks_2": 4}}
	facts := &fakeFacts{}
	replacement := factsfile.Replacement{Facts: facts, Dir: "folder", Workspaces: workspaces, Connections: records, Imports: records}
	r, err := replacement.Replace(t.Context(), cause, func(_ metrics.ReplaceableEngine, dir string) error {
		records.steps = append(records.steps, "fill in "+dir)
		return nil
	})
	if err != nil || r.Resyncing != 7 || r.Undone != 3 || r.Purged != 4 {
		t.Errorf("got %+v, %v want 7 resyncing, 3 undone, 4 purged", r, err)
	}
	want := []string{"fill in folder", "operator loses [wks_1 wks_3]", "undo wks_1", "reconcile wks_1", "undo wks_2", "reconcile wks_2"}
	if !slices.Equal(records.steps, want) || !slices.Equal(facts.workspaces, known) {
		t.Errorf("got the steps %q and the workspaces %v want %q and %v", records.steps, facts.workspaces, want, known)
	}

	empty := func(metrics.ReplaceableEngine, string) error { return nil }
	failure := errors.New("disk full")
	for name, records := range map[string]*fakeRecords{"lose": {lose: failure}, "reconcile": {reconcile: failure}} {
		replacement.Connections, replacement.Imports = records, records
		if _, err := replacement.Replace(t.Context(), cause, empty); !errors.Is(err, failure) {
			t.Errorf("%s fails: got %v want %v", name, err, failure)
		}
		if name == "lose" && len(records.steps) != 1 {
			t.Errorf("%s fails: got the steps %q want no more", name, records.steps)
		}
	}
	replacement.Workspaces = func(context.Context) ([]ident.ID, error) { return nil, failure }
	facts.workspaces = nil
	if _, err := replacement.Replace(t.Context(), cause, empty); !errors.Is(err, failure) || facts.workspaces != nil {
		t.Errorf("without the workspaces: got %v want %v and the facts as they were", err, failure)
	}
}
