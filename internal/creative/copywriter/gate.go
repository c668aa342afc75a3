package copywriter

import (
	"slices"
	"strings"
	"unicode"

	"fanfare/internal/creative"
	"fanfare/internal/creative/copybank"
)

// gate is the last check of every line.
type gate struct {
	// banned are words and phrases that must not appear, as " words ".
	banned []string
}

func newGate(b *creative.Brief) *gate {
	g := &gate{}
	for _, word := range b.Brand.BannedWords {
		g.ban(word)
	}
	for _, word := range b.Avoid {
		g.ban(word)
	}
	for term := range strings.FieldsFuncSeq(b.NegativePrompt, func(r rune) bool { return strings.ContainsRune(",;.\n|/", r) }) {
		g.ban(withoutInstruction(term))
	}
	return g
}

// instructions are the words around what must not be said.
var instructions = []string{"please", "do not", "don't", "never", "avoid", "no", "not", "without", "any", "the", "word", "words", "phrase", "use", "using", "mention", "mentioning", "say", "saying", "include", "including"}

// withoutInstruction leaves what a clause asks to avoid: "discounts" of "do not
// mention discounts".
func withoutInstruction(term string) string {
	term = strings.Trim(term, ` "'`)
	for {
		before := term
		for _, words := range instructions {
			if startsWithWords(term, words) {
				term = strings.TrimLeft(term[len(words):], ` :"'`)
			}
		}
		if term == before {
			return term
		}
	}
}

func (g *gate) ban(term string) {
	if term = asWords(term); strings.TrimSpace(term) != "" {
		g.banned = append(g.banned, term)
	}
}

// asWords writes a text as " word word ".
func asWords(text string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)
	}), " ") + " "
}

// bans reports whether a text has a word that must not appear, the address of a page,
// which is for the button, or words that were left out.
func (g *gate) bans(text string) bool {
	if strings.Contains(text, "://") || strings.Contains(text, "…") {
		return true
	}
	if len(g.banned) == 0 {
		return false
	}
	words := asWords(text)
	return slices.ContainsFunc(g.banned, func(term string) bool {
		return strings.Contains(words, term) || isUnspaced(term) && strings.Contains(words, strings.TrimSpace(term))
	})
}

// isUnspaced reports a script that is written without spaces.
func isUnspaced(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	})
}

// passes reports whether a line may be used in a role.
func (w *writer) passes(l *line, role copybank.Role) bool {
	switch role {
	case copybank.Headline, copybank.Subject, copybank.Description, copybank.Preheader:
		if l.facts&w.m.phones != 0 {
			return false
		}
	case copybank.Opening, copybank.Body, copybank.Closing, copybank.Sentence:
	}
	return strings.ContainsFunc(l.text, unicode.IsLetter) && (l.sentence || !repeatsWord(l.text)) && !strings.Contains(l.text, "  ") && isClosed(l.text) && !w.gate.bans(l.text)
}

// repeatsWord reports whether a line says a word of meaning twice.
func repeatsWord(text string) bool {
	var seen [24]string
	n := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		if len(word) < 4 {
			continue
		}
		word = stem(strings.ToLower(word))
		if commonWords[word] {
			continue
		}
		if slices.Contains(seen[:n], word) {
			return true
		}
		if n < len(seen) {
			seen[n] = word
			n++
		}
	}
	return false
}

// commonWords may be repeated.
var commonWords = map[string]bool{
	"your": true, "with": true, "from": true, "that": true, "this": true, "when": true, "what": true, "have": true, "every": true, "more": true,
	"auch": true, "dein": true, "ihre": true, "nicht": true, "pour": true, "avec": true, "vous": true, "votre": true, "vos": true, "dans": true,
	"para": true, "como": true, "della": true, "sein": true, "eine": true, "sind": true, "until": true, "jetzt": true,
}

// stem removes the ending of a plural.
func stem(word string) string {
	if len(word) > 4 {
		return strings.TrimSuffix(strings.TrimSuffix(word, "s"), "e")
	}
	return word
}

// isClosed reports whether brackets and quotes are closed.
func isClosed(text string) bool {
	return strings.Count(text, "(") == strings.Count(text, ")") && strings.Count(text, "[") == strings.Count(text, "]") &&
		strings.Count(text, `"`)%2 == 0 && strings.Count(text, "“")+strings.Count(text, "„")*2 >= strings.Count(text, "”") && strings.Count(text, "«") == strings.Count(text, "»")
}
