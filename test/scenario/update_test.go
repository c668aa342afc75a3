package scenario

import (
	"regexp"
	"sort"
	"strings"
)

// updated returns the expectation that matches an answer: matching parts stay
// unchanged, with their placeholders; unnamed members stay unnamed.
func (m *captures) updated(want, got *node) *node {
	if want == nil {
		return m.withPlaceholders(got)
	}
	if len(m.clone().differences(want, got, "")) == 0 {
		m.differences(want, got, "")
		return want
	}
	switch {
	case want.kind == '{' && got.kind == '{':
		n := &node{kind: '{'}
		for _, w := range want.members {
			if g := got.get(w.name); g != nil {
				n.members = append(n.members, member{w.name, m.updated(w.value, g)})
			}
		}
		return n
	case want.kind == '[' && got.kind == '[' && len(want.items) == len(got.items):
		n := &node{kind: '['}
		for i := range want.items {
			n.items = append(n.items, m.updated(want.items[i], got.items[i]))
		}
		return n
	}
	return m.withPlaceholders(got)
}

var (
	looksInstant = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	looksID      = regexp.MustCompile(`^[a-z]{3}_[0-9a-z]{26}$`)
)

// withPlaceholders replaces values that differ in the next run by placeholders.
func (m *captures) withPlaceholders(got *node) *node {
	n := &node{kind: got.kind, text: got.text}
	for _, g := range got.members {
		n.members = append(n.members, member{g.name, m.withPlaceholders(g.value)})
	}
	for _, g := range got.items {
		n.items = append(n.items, m.withPlaceholders(g))
	}
	if got.kind == '"' {
		n.text = m.textWithPlaceholders(got.text)
	}
	return n
}

func (m *captures) textWithPlaceholders(text string) string {
	names := make([]string, 0, len(m.values))
	for name := range m.values {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if v := m.values[name]; len(v) > 8 {
			text = strings.ReplaceAll(text, v, "{{"+name+"}}")
		}
	}
	switch {
	case looksInstant.MatchString(text):
		return "{{time}}"
	case looksID.MatchString(text):
		return "{{any}}"
	}
	return text
}
