package composer

import (
	"strings"
)

// contact is the phone number of a brief, and the clause that it stands in.
//
// Choice: a phone number is no benefit and no headline. It is taken out before
// the brief is read and comes back in the call to action of running text.
type contact struct {
	phone, clause string
	// without is the clause up to the number, where that says something.
	without string
}

// phoneCue is what announces a number: "Tel.", "Phone:".
var phoneCue = newPattern(`(?i)(?:^|[ (,;\n])(?:tel|tél|ph|mob|phone|telephone|téléphone|telefon|telefono|teléfono|telefone|whatsapp|mobile|mobil|handy)[.: ]*$`)

// beforePhone are words that lead to a number and say nothing without it.
var beforePhone = set("on at us unter allo al le lo el la pelo o para au em no en ao auf or and oder ou y e per")

// takePhone takes the clauses with phone numbers out of a text.
func takePhone(text string) (string, contact) {
	var c contact
	m := newMasking(text)
	s := m.text
	for from := 0; ; {
		i := strings.IndexFunc(s[from:], func(r rune) bool { return m.hasPhone(string(r)) })
		if i < 0 {
			return m.restore(s), c
		}
		i += from
		end := i + len(string(firstMask))
		start := i
		if at := phoneCue.FindStringIndex(s[:i]); at != nil {
			start = at[0] + 1
		}
		if at := strings.LastIndexAny(s[:start], ".,;!?()\n"); at >= 0 {
			start = at + 1
		} else {
			start = 0
		}
		start += len(s[start:i]) - len(strings.TrimLeft(s[start:i], " •"))
		stop := len(s)
		if at := strings.IndexAny(s[end:], ".,;!?()\n"); at >= 0 {
			stop = end + at
		}
		kept := trimLead(phoneCue.ReplaceAllString(s[start:i], ""))
		if n := len(strings.Fields(kept)); n < 2 || n < 4 && strings.TrimSpace(s[end:stop]) != "" {
			kept = ""
		}
		if c.phone == "" {
			c = contact{m.restore(s[i:end]), m.restore(strings.TrimSpace(s[start:stop])), m.restore(kept)}
		}
		s = s[:start] + kept + s[stop:]
		from = start + len(kept)
	}
}

// trimLead drops the words at the end that only lead to a number.
func trimLead(s string) string {
	for {
		s = strings.TrimRight(s, " :-(")
		i := strings.LastIndexByte(s, ' ')
		if !beforePhone[strings.ToLower(s[i+1:])] || s == "" {
			return s
		}
		s = s[:max(i, 0)]
	}
}
