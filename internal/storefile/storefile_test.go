package storefile_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/store"
	"fanfare/internal/store/sqlite"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
	"fanfare/internal/storefile"
)

// server is an open database with its guard.
type server struct {
	*storefile.Guard
	log   bytes.Buffer
	close func()
}

// open opens a database file as a server does.
func open(t *testing.T, path string, clock *storetest.Clock) *server {
	t.Helper()
	e, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Migrate(t.Context(), e, clock.Now); err != nil {
		t.Fatal(err)
	}
	s := &server{}
	db := store.New(e, 0, clock.Now, rand.Reader)
	s.Guard = &storefile.Guard{Path: path, Engine: e, DB: db, Now: clock.Now, Log: slog.New(slog.NewTextHandler(&s.log, nil))}
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.close = func() {
		t.Helper()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := db.CloseChangeCounter(); err != nil {
			t.Error(err)
		}
	}
	return s
}

// change makes acknowledged changes.
func (s *server) change(t *testing.T, n int) {
	t.Helper()
	accounts := account.New(s.DB.Accounts(), s.Now, rand.Reader)
	for i := range n {
		_, err := accounts.CreateWorkspace(t.Context(), storetest.Operator, account.NewWorkspace{
			Name: fmt.Sprint("Workspace ", i), Plan: "growth", Owner: "owner@example.com", Currency: "USD", Timezone: "UTC",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// countLogged counts the lines of the log with a text.
func (s *server) countLogged(text string) int { return strings.Count(s.log.String(), text) }

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLostChanges puts an older copy in place of a database: the number of
// missing changes is logged at that start and reported for 30 days.
func TestLostChanges(t *testing.T) {
	t.Parallel()
	path, clock := filepath.Join(sqlitetest.Dir(t), "fanfare.db"), storetest.NewClock(storetest.Start)
	s := open(t, path, clock)
	s.change(t, 1)
	s.close()
	copyFile(t, path, path+".old")
	s = open(t, path, clock)
	s.change(t, 2)
	s.close()

	s = open(t, path, clock)
	if text := s.ChangesLost(); text != "" || s.countLogged("missing") != 0 {
		t.Errorf("nothing is missing: got %q, log %s", text, &s.log)
	}
	s.close()
	copyFile(t, path+".old", path)
	const want = "2 acknowledged changes were missing from the database on 2026-11-15"
	for i, logged := range []int{1, 0} {
		s = open(t, path, clock)
		if text := s.ChangesLost(); !strings.Contains(text, want) {
			t.Errorf("start %d: got %q want %q", i, text, want)
		}
		if text, ok, err := storefile.ExamineChanges(t.Context(), s.DB, path, clock.Now()); err != nil || ok || !strings.Contains(text, want) {
			t.Errorf("start %d: got %q, %v, %v want %q", i, text, ok, err, want)
		}
		if got := s.countLogged("acknowledged changes are missing"); got != logged {
			t.Errorf("start %d: logged %d times want %d: %s", i, got, logged, &s.log)
		}
		s.close()
	}
	s = open(t, path, clock)
	defer s.close()
	clock.Advance(30*24*time.Hour - time.Millisecond)
	if s.ChangesLost() == "" {
		t.Error("got nothing before 30 days have passed")
	}
	clock.Advance(time.Millisecond)
	if text := s.ChangesLost(); text != "" {
		t.Errorf("got %q after 30 days want nothing", text)
	}
}

// TestWatch moves an open database file away and back: both are logged once.
func TestWatch(t *testing.T) {
	t.Parallel()
	path, clock := filepath.Join(sqlitetest.Dir(t), "fanfare.db"), storetest.NewClock(storetest.Start)
	s := open(t, path, clock)
	defer s.close()
	watch := func(what string, removed, back int) {
		t.Helper()
		for range 2 {
			clock.Advance(storefile.WatchEvery)
			if err := s.Watch(t.Context()); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if gone, here := s.countLogged("removed or replaced: the server"), s.countLogged("is back"); gone != removed || here != back {
			t.Errorf("%s: logged %d and %d times want %d and %d: %s", what, gone, here, removed, back, &s.log)
		}
	}
	watch("in place", 0, 0)
	for i := range 2 {
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		watch("away", i+1, i)
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
		watch("back", i+1, i+1)
	}
}

// TestDamage opens a file with a damaged page: the server starts, logs it and
// refuses changes.
func TestDamage(t *testing.T) {
	t.Parallel()
	path, clock := filepath.Join(sqlitetest.Dir(t), "fanfare.db"), storetest.NewClock(storetest.Start)
	s := open(t, path, clock)
	s.change(t, 50)
	s.close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	at := bytes.LastIndex(b, []byte("Workspace 25")) / page * page
	copy(b[at:], bytes.Repeat([]byte{0xa5}, 64))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, clock)
	defer s.close()
	if s.countLogged("database file is damaged") != 1 {
		t.Errorf("got log %s want the damage", &s.log)
	}
	if err := s.DB.Ready(t.Context()); err == nil {
		t.Error("got a server that is ready want one that refuses changes")
	}
}
