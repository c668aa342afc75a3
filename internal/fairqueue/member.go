package fairqueue

import (
	"maps"
	"time"

	"fanfare/internal/ident"
)

// members share turns: the founders with work, or the workspaces of one.
type members struct {
	byID map[ident.ID]*member
	// present is how many of them have work.
	present int
	// level is the most that one of them had used when its turn came. Whoever
	// waited then had used as much or more.
	level time.Duration
}

// member is a founder or a workspace.
type member struct {
	running, waiting int
	// used is the time of its turns.
	used time.Duration
	// workspaces are those of a founder.
	workspaces members
}

// before reports whether m has used less than other. Members that are new to a
// queue have used the same; then the one with less work waiting comes first, so
// that a single call does not wait for one of each caller with many.
func (m *member) before(other *member) bool {
	return m.used < other.used || m.used == other.used && m.waiting < other.waiting
}

// enter adds work that waits. A member without any begins at the level: it comes
// before all that have used more, but can save nothing up.
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
		m.used = max(m.used, s.level)
		if m.running == 0 {
			s.present++
		}
	}
	m.waiting++
	return m
}

// begin starts a turn of work that waits.
func (s *members) begin(m *member) {
	m.waiting--
	m.running++
	s.level = max(s.level, m.used)
	m.used += turnCost
}

// remove drops a member without work. What it has used is remembered as long as
// others have work, because going away for a moment must be no advantage.
func (s *members) remove(id ident.ID) {
	m := s.byID[id]
	if m.running+m.waiting > 0 {
		return
	}
	s.present--
	switch {
	case s.present == 0:
		*s = members{}
	case m.used <= s.level:
		delete(s.byID, id)
	case len(s.byID)-s.present > maxRemembered:
		// Choice: all of them are forgotten at once, because there can be any
		// number of networks of strangers.
		maps.DeleteFunc(s.byID, func(_ ident.ID, m *member) bool { return m.running+m.waiting == 0 })
	}
}
