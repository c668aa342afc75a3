package fairqueue

import (
	"maps"
	"time"

	"fanfare/internal/ident"
)

// members take turns: the founders with work, or the workspaces of one founder.
type members struct {
	byID map[ident.ID]*member
	// withWork is the number of members with work.
	withWork int
	// minUsed is the most that a member had used when its turn came. All that
	// waited then had used at least as much. Members that return start here.
	minUsed time.Duration
}

// member is a founder or a workspace.
type member struct {
	running, waiting int
	// used is the time of its turns.
	used time.Duration
	// workspaces are those of a founder.
	workspaces members
}

// before reports whether m has used less than other. New members have used the
// same; then the one with less work waiting comes first, so that a single call
// does not wait for one of each caller with many.
func (m *member) before(other *member) bool {
	return m.used < other.used || m.used == other.used && m.waiting < other.waiting
}

// enter adds work that waits. A member without waiting work starts at minUsed: it
// comes before all that have used more, but gets no credit for idle time.
func (s *members) enter(id ident.ID) *member {
	m := s.byID[id]
	if m == nil {
		if s.byID == nil {
			s.byID = map[ident.ID]*member{}
		}
		m = &member{}
		s.byID[id] = m
	}
	if m.waiting == 0 {
		m.used = max(m.used, s.minUsed)
		if m.running == 0 {
			s.withWork++
		}
	}
	m.waiting++
	return m
}

// startTurn starts a turn of work that waits.
func (s *members) startTurn(m *member) {
	m.waiting--
	m.running++
	s.minUsed = max(s.minUsed, m.used)
	m.used += turnCost
}

// removeIdle removes a member without work. Its used time is kept as long as
// others have work, so that a member gains nothing by leaving and returning.
func (s *members) removeIdle(id ident.ID) {
	m := s.byID[id]
	if m.running+m.waiting > 0 {
		return
	}
	s.withWork--
	switch {
	case s.withWork == 0:
		*s = members{}
	case m.used <= s.minUsed:
		delete(s.byID, id)
	case len(s.byID)-s.withWork > maxRemembered:
		// Choice: all idle members are removed at once, because there can be any
		// number of networks of anonymous callers.
		maps.DeleteFunc(s.byID, func(_ ident.ID, m *member) bool { return m.running+m.waiting == 0 })
	}
}
