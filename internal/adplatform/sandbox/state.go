package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/clock"
)

// state is what cannot be worked out again from a seed: what callers did. It
// is kept in a file, if it has one.
type state struct {
	file string

	mu    sync.Mutex
	kept  kept
	dirty bool
}

// kept is the state as it is in the file.
type kept struct {
	// Serial is the last number given to a token.
	Serial int64 `json:"serial"`
	// Worlds are those that were opened besides the sandbox's own.
	Worlds []World `json:"worlds"`
	// Runs are the changes by account and campaign, oldest first.
	Runs map[string]map[string][]change `json:"runs"`
	// Revoked are grants, Spent the serials of codes and refresh tokens that
	// were good for one use.
	Revoked []int64 `json:"revoked"`
	Spent   []int64 `json:"spent"`
}

// change is a campaign set to run or to pause on a day.
type change struct {
	Day clock.Date `json:"day"`
	Run bool       `json:"run"`
}

// openState reads the state, which is empty where there is no file yet.
func openState(file string) (*state, error) {
	s := &state{file: file}
	if file != "" {
		b, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read the sandbox's state: %w", err)
		default:
			if err := json.Unmarshal(b, &s.kept); err != nil {
				return nil, fmt.Errorf("read the sandbox's state: %s is not one: move it away to begin anew: %w", file, err)
			}
		}
	}
	if s.kept.Runs == nil {
		s.kept.Runs = map[string]map[string][]change{}
	}
	return s, nil
}

// flush writes what has changed. What could not be written is tried again by
// the next flush.
func (s *state) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dirty || s.file == "" {
		return nil
	}
	b, err := json.Marshal(s.kept, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("write the sandbox's state: %w", err)
	}
	if err := replaceFile(s.file, b); err != nil {
		return fmt.Errorf("write the sandbox's state: %w", err)
	}
	s.dirty = false
	return nil
}

// replaceFile writes a file whole or not at all.
func replaceFile(name string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// next is a number that no token has.
func (s *state) next() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Serial++
	s.dirty = true
	return s.kept.Serial
}

func (s *state) revoked(grant int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.kept.Revoked, grant)
}

func (s *state) revoke(grant int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.kept.Revoked, grant) {
		s.kept.Revoked = append(s.kept.Revoked, grant)
		s.dirty = true
	}
}

func (s *state) spent(serial int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.kept.Spent, serial)
}

// spend uses a token up. It reports false if somebody else was faster.
func (s *state) spend(serial int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.kept.Spent, serial) {
		return false
	}
	s.kept.Spent = append(s.kept.Spent, serial)
	s.dirty = true
	return true
}

func (s *state) worlds() []World {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept.Worlds)
}

// know remembers a world.
func (s *state) know(w World) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.kept.Worlds, w) {
		s.kept.Worlds = append(s.kept.Worlds, w)
		s.dirty = true
	}
}

func (s *state) setRuns(a *Account, c *Campaign, to change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	campaigns := s.kept.Runs[a.ID]
	if campaigns == nil {
		campaigns = map[string][]change{}
		s.kept.Runs[a.ID] = campaigns
	}
	campaigns[c.ID] = append(campaigns[c.ID], to)
	s.dirty = true
}

// runs are the changes of one account's campaigns as they were at one moment.
type runs map[string][]change

// runsOf looks at the changes of an account. They only ever grow at the end,
// so a copy of the heads is one of the whole.
func (s *state) runsOf(a *Account) runs {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.kept.Runs[a.ID])
}

// now reports whether a campaign runs at the end of what is known of a day.
func (r runs) now(c *Campaign, today clock.Date) bool {
	if changes := r[c.ID]; len(changes) > 0 {
		return changes[len(changes)-1].Run
	}
	return c.planned(today)
}

// on reports whether a campaign ran at any time of a day.
func (r runs) on(c *Campaign, day clock.Date) bool {
	if day < c.Start {
		return false
	}
	on, pushed := false, false
	for _, change := range r[c.ID] {
		switch {
		case change.Day < day:
			on, pushed = change.Run, true
		case change.Day == day:
			return true // before the change or after it
		}
	}
	if !pushed {
		return c.planned(day)
	}
	return on
}
