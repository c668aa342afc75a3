package duckdb_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"fanfare/internal/metrics/duckdb"
)

// beats is how often the threads of attend have slept so far, and how many
// there are.
func beats(t *testing.T) (slept string, threads int) {
	t.Helper()
	names, err := filepath.Glob("/proc/self/task/*/comm")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		comm, err := os.ReadFile(name)
		if err != nil || strings.TrimSpace(string(comm)) != "attend" {
			continue // another thread, or one that has ended
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(name), "status"))
		if err != nil {
			t.Fatal(err)
		}
		_, count, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
		count, _, _ = strings.Cut(count, "\n")
		slept, threads = slept+count, threads+1
	}
	return slept, threads
}

// TestAttend sees a thread on every core wake up again and again as long as
// anything is attended, and rest afterwards.
func TestAttend(t *testing.T) {
	one, other := duckdb.Attend(), duckdb.Attend()
	differs := func() bool {
		before, _ := beats(t)
		for range 1000 {
			runtime.Gosched()
		}
		after, _ := beats(t)
		return before != after
	}
	for _, done := range []func(){one, other} {
		for n := 0; n < 5; {
			if differs() {
				n++
			}
		}
		done()
	}
	if _, threads := beats(t); threads != runtime.NumCPU() {
		t.Errorf("threads: got %d want %d", threads, runtime.NumCPU())
	}
	for n := 0; n < 50; n++ {
		if differs() {
			n = 0
		}
	}
}
