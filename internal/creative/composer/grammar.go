package composer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// noun is a noun phrase without its article.
type noun struct {
	text string
	// plural and mass say which articles and verbs fit.
	plural, mass bool
}

// newNoun reads the number of a noun phrase off its head.
func newNoun(text string) noun {
	head := strings.ToLower(headOf(text))
	n := noun{text: text, plural: isPlural(head) || strings.Contains(text, ",") && !strings.Contains(text, " or ")}
	if before, _, ok := strings.Cut(text, " and "); ok {
		n.plural = n.plural || isPlural(strings.ToLower(headOf(before)))
		head = strings.ToLower(headOf(before))
	}
	n.mass = !n.plural && (mass[head] || hasAnySuffix(head, "ing", "ware", "wear", "care", "ness", "phy", "ics") && head != "ring" && head != "wedding" && head != "evening" && head != "building" && head != "painting" && head != "earring" && head != "sibling")
	return n
}

// headOf is the word that a noun phrase is about.
func headOf(text string) string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return ""
	}
	end := len(words)
	for i, word := range words {
		if i > 0 && prepositions[strings.ToLower(word)] {
			end = i
			break
		}
	}
	for end > 1 && predicative[strings.ToLower(words[end-1])] {
		end--
	}
	return strings.Trim(words[end-1], `,.:;'"`)
}

func isPlural(head string) bool {
	switch {
	case plurals[head]:
		return true
	case singulars[head], mass[head], len(head) < 3:
		return false
	}
	return strings.HasSuffix(head, "s") && !hasAnySuffix(head, "ss", "us", "is", "'s", "ous")
}

func (n noun) withA() string {
	if n.plural || n.mass || n.text == "" {
		return n.text
	}
	return article(n.text) + " " + n.text
}

func (n noun) withThe() string {
	if n.plural || n.mass {
		return n.text
	}
	return "the " + n.text
}

// article is "a" or "an" by sound.
func article(text string) string {
	word := strings.ToLower(firstWord(text))
	switch {
	case hasAnyPrefix(word, "uni", "use", "usu", "eu", "one-", "one", "ufo", "uk"):
		if hasAnyPrefix(word, "unin", "unim", "unid") {
			return "an"
		}
		return "a"
	case hasAnyPrefix(word, "hour", "honest", "heir", "honour", "honor", "8", "11", "18"):
		return "an"
	}
	first, _ := utf8.DecodeRuneInString(word)
	// An acronym is read letter by letter.
	if raw := firstWord(text); len(raw) > 1 && raw == strings.ToUpper(raw) && unicode.IsLetter(first) {
		if strings.ContainsRune("aefhilmnorsx", first) {
			return "an"
		}
		return "a"
	}
	if strings.ContainsRune("aeiouáéíóúäëïöüâêîôû", first) {
		return "an"
	}
	return "a"
}

// base takes a verb from the third person to its base form and reports whether
// it was one.
func base(verb string) (string, bool) {
	switch verb {
	case "is":
		return "be", true
	case "has":
		return "have", true
	case "does", "goes":
		return verb[:2], true
	}
	if !strings.HasSuffix(verb, "s") || strings.HasSuffix(verb, "ss") {
		return "", false
	}
	for _, stem := range []string{strings.TrimSuffix(verb, "s"), strings.TrimSuffix(verb, "es")} {
		if verbs[stem] {
			return stem, true
		}
	}
	if stem, ok := strings.CutSuffix(verb, "ies"); ok && verbs[stem+"y"] {
		return stem + "y", true
	}
	return "", false
}

// third is the inverse of base.
func third(verb string) string {
	switch {
	case verb == "be":
		return "is"
	case verb == "have":
		return "has"
	case verb == "do", verb == "go", hasAnySuffix(verb, "sh", "ch", "x", "ss", "zz"):
		return verb + "es"
	case strings.HasSuffix(verb, "y") && !hasAnySuffix(verb, "ay", "ey", "oy", "uy"):
		return strings.TrimSuffix(verb, "y") + "ies"
	}
	return verb + "s"
}

// manyBe is the plural of a verb.
func manyBe(verb string) string {
	if verb == "be" {
		return "are"
	}
	return verb
}

// pluralOf makes a regular plural of a phrase's last word.
func pluralOf(text string) string {
	n := newNoun(text)
	switch {
	case n.plural || n.mass:
		return text
	case hasAnySuffix(text, "s", "sh", "ch", "x"):
		return text + "es"
	case strings.HasSuffix(text, "y") && !hasAnySuffix(text, "ay", "ey", "oy", "uy"):
		return strings.TrimSuffix(text, "y") + "ies"
	}
	return text + "s"
}

func firstWord(s string) string {
	s, _, _ = strings.Cut(s, " ")
	return s
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if !unicode.IsLower(r) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

func hasAnySuffix(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// forms maps words in lower case to how they are written.
func forms(words string) map[string]string {
	m := map[string]string{}
	for word := range strings.FieldsSeq(words) {
		m[strings.ToLower(word)] = word
	}
	return m
}
