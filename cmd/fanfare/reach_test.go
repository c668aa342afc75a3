package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/datadir"
)

// TestReachWaits: a command waits while other processes use the data folder
// one after the other, reports it once, and gives up on a process that keeps
// the folder for a minute.
func TestReachWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		held  time.Duration
		taken bool
		said  int
	}{
		{"for a moment", time.Second, true, 0},
		{"for most of a minute", 50 * time.Second, true, 1},
		{"for more than a minute", 70 * time.Second, false, 1},
	} {
		path := filepath.Join(t.TempDir(), "data")
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				other, mine := openFolder(t, path), openFolder(t, path)
				if err := other.Lock(); err != nil {
					t.Fatal(err)
				}
				go func() {
					time.Sleep(c.held)
					other.Unlock()
				}()
				var said strings.Builder
				server, err := dialOrLock(t.Context(), mine, &said)
				if server != nil || (err == nil) != c.taken || err != nil && !errors.Is(err, datadir.ErrLocked) {
					t.Errorf("got server %v, error %v", server, err)
				}
				if n := strings.Count(said.String(), "Waiting for process"); n != c.said {
					t.Errorf("got %q", said.String())
				}
				mine.Unlock()
				time.Sleep(c.held)
			})
		})
	}
}

func openFolder(t *testing.T, path string) *datadir.Dir {
	t.Helper()
	d, err := datadir.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
