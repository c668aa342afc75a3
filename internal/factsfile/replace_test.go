package factsfile_test

import (
	"context"
	"errors"
	"testing"

	"fanfare/internal/factsfile"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
)

// twoWorkspaces is an engine with the facts of two workspaces.
type twoWorkspaces struct{ metrics.ReplaceableEngine }

func (twoWorkspaces) Workspaces(context.Context) ([]ident.ID, error) {
	return []ident.ID{"wks_1", "wks_2"}, nil
}

func TestDeleteAgain(t *testing.T) {
	t.Parallel()
	count := func(n map[ident.ID]int) func(ident.ID) (int, error) {
		return func(workspace ident.ID) (int, error) { return n[workspace], nil }
	}
	imports, connections := count(map[ident.ID]int{"wks_1": 2, "wks_2": 1}), count(map[ident.ID]int{"wks_2": 4})
	var r factsfile.Replaced
	if err := r.DeleteAgain(t.Context(), twoWorkspaces{}, imports, connections); err != nil || r.Undone != 3 || r.Purged != 4 {
		t.Errorf("got %d imports and %d connections, %v want 3 and 4", r.Undone, r.Purged, err)
	}
	failure := errors.New("disk full")
	if err := r.DeleteAgain(t.Context(), twoWorkspaces{}, imports, func(ident.ID) (int, error) { return 0, failure }); !errors.Is(err, failure) {
		t.Errorf("got %v want %v", err, failure)
	}
}
