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
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/clock"
)

// state has the changes of callers, which cannot be derived from a seed. It is
// stored in a file, if there is one.
type state struct {
	file string

	mu     sync.Mutex
	stored storedState
	dirty  bool
}

// storedState is the content of the file.
type storedState struct {
	// Serial is the serial number of the last token.
	Serial int64 `json:"serial"`
	// Sets are the opened account sets except the sandbox's own.
	Sets []AccountSet `json:"worlds"`
	// Runs are the changes by account and campaign, oldest first.
	Runs map[string]map[string][]runChange `json:"runs"`
	// Revoked are the revoked grants, Spent the serials of used codes and
	// refresh tokens.
	Revoked []int64 `json:"revoked"`
	Spent   []int64 `json:"spent"`
	// Grantees are the revoked grants of a person to an app, with the serial of
	// the last token that the revocation ended.
	Grantees map[string]int64 `json:"grantees,omitzero"`
	// ServiceKeys are the keys of Google service accounts, by id.
	ServiceKeys map[string]servicePublicKey `json:"service_keys,omitzero"`
}

// runChange is the start or pause of a campaign on a day.
type runChange struct {
	Day clock.Date `json:"day"`
	Run bool       `json:"run"`
}

// openState reads the state. Without a file it is empty.
func openState(file string) (*state, error) {
	s := &state{file: file}
	if file != "" {
		b, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read the sandbox's state: %w", err)
		default:
			if err := json.Unmarshal(b, &s.stored); err != nil {
				return nil, fmt.Errorf("read the sandbox's state: %s is not one: move it away to begin anew: %w", file, err)
			}
		}
	}
	if s.stored.Runs == nil {
		s.stored.Runs = map[string]map[string][]runChange{}
	}
	return s, nil
}

// flush writes changes to the file. If it fails, the next flush tries again.
func (s *state) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dirty || s.file == "" {
		return nil
	}
	b, err := json.Marshal(s.stored, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("write the sandbox's state: %w", err)
	}
	if err := replaceFile(s.file, b); err != nil {
		return fmt.Errorf("write the sandbox's state: %w", err)
	}
	s.dirty = false
	return nil
}

// replaceFile replaces a file atomically.
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

// nextSerial returns a new serial number. It is the time, or more: nodes have
// sandboxes of their own, and a connection uses and revokes its tokens on any of
// them, so that numbers that begin at 1 would be those of others there.
func (s *state) nextSerial(now time.Time) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored.Serial = max(s.stored.Serial+1, now.UnixNano())
	s.dirty = true
	return s.stored.Serial
}

func (s *state) isRevoked(c claims) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.stored.Revoked, c.Grant) {
		return true
	}
	last, ended := s.stored.Grantees[c.grantee()]
	return ended && c.Serial <= last
}

// addRevoked ends the grant of a token, and all tokens so far of its person and
// app where the platform does so.
func (s *state) addRevoked(c claims) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty = true
	if who := c.grantee(); who != "" {
		if s.stored.Grantees == nil {
			s.stored.Grantees = map[string]int64{}
		}
		s.stored.Grantees[who] = max(s.stored.Grantees[who], s.stored.Serial, c.Serial)
		return
	}
	if !slices.Contains(s.stored.Revoked, c.Grant) {
		s.stored.Revoked = append(s.stored.Revoked, c.Grant)
	}
}

func (s *state) isSpent(serial int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.stored.Spent, serial)
}

// markSpent marks a token as used. It returns false if it already was.
func (s *state) markSpent(serial int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.stored.Spent, serial) {
		return false
	}
	s.stored.Spent = append(s.stored.Spent, serial)
	s.dirty = true
	return true
}

func (s *state) sets() []AccountSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stored.Sets)
}

// addSet adds an account set.
func (s *state) addSet(w AccountSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.stored.Sets, w) {
		s.stored.Sets = append(s.stored.Sets, w)
		s.dirty = true
	}
}

func (s *state) addRunChange(a *Account, c *Campaign, to runChange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	campaigns := s.stored.Runs[a.ID]
	if campaigns == nil {
		campaigns = map[string][]runChange{}
		s.stored.Runs[a.ID] = campaigns
	}
	campaigns[c.ID] = append(campaigns[c.ID], to)
	s.dirty = true
}

// runChanges are the changes of an account's campaigns at one time.
type runChanges map[string][]runChange

// runChangesOf returns the changes of an account. The lists only grow, so a
// shallow copy is a snapshot.
func (s *state) runChangesOf(a *Account) runChanges {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.stored.Runs[a.ID])
}

// runsNow reports whether a campaign runs after the latest change.
func (r runChanges) runsNow(c *Campaign, today clock.Date) bool {
	if changes := r[c.ID]; len(changes) > 0 {
		return changes[len(changes)-1].Run
	}
	return c.plannedOn(today)
}

// ranOn reports whether a campaign ran at any time of a day.
func (r runChanges) ranOn(c *Campaign, day clock.Date) bool {
	if day < c.Start {
		return false
	}
	on, pushed := false, false
	for _, change := range r[c.ID] {
		switch {
		case change.Day < day:
			on, pushed = change.Run, true
		case change.Day == day:
			return true // before or after the change
		}
	}
	if !pushed {
		return c.plannedOn(day)
	}
	return on
}
