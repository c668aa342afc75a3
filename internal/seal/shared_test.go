package seal_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"fanfare/internal/seal"
)

// notes is the note of the master key of all nodes.
type notes struct{ id string }

func (n *notes) MasterKey(context.Context) (string, error) { return n.id, nil }

func (n *notes) NoteMasterKey(_ context.Context, id string) (string, error) {
	if n.id == "" {
		n.id = id
	}
	return n.id, nil
}

// TestOpenChooses opens the master keys of a node that is alone, of nodes that
// share a store, and of one whose key is about to become that of all.
func TestOpenChooses(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	noted := &notes{}
	options := seal.Options{Path: filepath.Join(t.TempDir(), "first"), Notes: noted, Random: rand.Reader, Log: slog.New(slog.NewTextHandler(&log, nil))}
	first, err := seal.Open(t.Context(), options)
	if err != nil || noted.id != first.Active() || strings.Count(log.String(), "master key created") != 1 {
		t.Fatalf("first node: got %v, %q noted and the log %q", err, noted.id, log.String())
	}
	if again, err := seal.Open(t.Context(), options); err != nil || again.Active() != first.Active() || strings.Count(log.String(), "master key created") != 1 {
		t.Errorf("second start: got %v and the log %q want the same key and no warning", err, log.String())
	}
	options.Path = filepath.Join(t.TempDir(), "second")
	if _, err := seal.Open(t.Context(), options); err == nil || !strings.Contains(err.Error(), first.Active()) {
		t.Errorf("a node without the key of the others: got %v want an error with %s", err, first.Active())
	}
	accept := options
	accept.Accept = true
	second, err := seal.Open(t.Context(), accept)
	if err != nil || second.Active() == first.Active() || noted.id != first.Active() {
		t.Errorf("accept: got %v and %s noted want a new key and the same note", err, noted.id)
	}
	if _, err := seal.Open(t.Context(), options); err == nil || !strings.Contains(err.Error(), first.Active()) {
		t.Errorf("a node with another key: got %v want an error with %s", err, first.Active())
	}
	options.Alone, options.Notes = true, nil
	if alone, err := seal.Open(t.Context(), options); err != nil || alone.Active() != second.Active() {
		t.Errorf("alone: got %v want the key of the file", err)
	}
	if none, err := seal.Open(t.Context(), seal.Options{}); none != nil || err != nil {
		t.Errorf("without a path: got %v, %v want no ring", none, err)
	}
}
