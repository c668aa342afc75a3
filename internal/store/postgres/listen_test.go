package postgres

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
)

// topicRecorder records the received topics: - before a commit, + after it.
type topicRecorder struct {
	mu    sync.Mutex
	heard []string
}

func (w *topicRecorder) Committing(topics []string) { w.note("-", topics) }
func (w *topicRecorder) Committed(topics []string)  { w.note("+", topics) }

func (w *topicRecorder) note(sign string, topics []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, topic := range topics {
		w.heard = append(w.heard, sign+topic)
	}
}

func (w *topicRecorder) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.heard, " ")
}

func (w *topicRecorder) wait(t *testing.T, last string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if strings.HasSuffix(w.all(), last) {
			return
		}
	}
	t.Fatalf("heard %q, want %q at the end", w.all(), last)
}

func TestListen(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	here, there := open(t, url), open(t, url)
	w := &topicRecorder{}
	there.Watch(w)
	touch := func(topics ...string) func(store.Tx) error {
		return func(tx store.Tx) error {
			for _, topic := range topics {
				tx.Touch(topic)
			}
			return nil
		}
	}
	write(t, here, touch("near", "!far", "near", "!far", "!wide"))
	w.wait(t, "+!wide")
	if got := w.all(); got != "+!far +!wide" {
		t.Errorf("heard %q", got)
	}
	write(t, here, script(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN%'`))
	w.wait(t, "+!all")
	write(t, here, touch("!again"))
	w.wait(t, "+!again")
}

// TestExclusive checks that a database in exclusive use is not shared, and that
// the lock ends with Close.
func TestExclusive(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	shared := open(t, url)
	if _, err := Open(t.Context(), url, Options{Exclusive: true}); !errors.Is(err, store.ErrInUse) {
		t.Errorf("got %v want %v", err, store.ErrInUse)
	}
	if err := shared.Close(); err != nil {
		t.Fatal(err)
	}
	alone, err := Open(t.Context(), url, Options{Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), url, Options{}); !errors.Is(err, store.ErrInUse) {
		t.Errorf("got %v want %v", err, store.ErrInUse)
	}
	if err := alone.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, url)
	open(t, url)
}
