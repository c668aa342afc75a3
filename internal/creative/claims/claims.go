// Package claims finds what a language model has invented: names, numbers and
// qualities in its copy that the brief does not state. Its word lists are files,
// in English, German, French, Spanish, Italian and Portuguese.
package claims

import (
	"cmp"
	"slices"
	"strings"

	"fanfare/internal/creative/policy"
)

// The rules that this package adds to those of policy.
const (
	ruleName    = "name_not_in_brief"
	ruleQuality = "quality_not_in_brief"
	ruleNumber  = "number_not_in_brief"
	rulePrice   = "price_not_in_brief"
)

// IsInvented reports whether a finding is a name or a number that copy of a
// model must not have.
func IsInvented(f policy.Finding) bool {
	return f.Severity == policy.Block && (f.Rule == ruleName || f.Rule == ruleNumber || f.Rule == rulePrice)
}

// Review is policy.Review for copy of a language model. Numbers that the brief
// does not have, and names that are surely invented, have the given severity:
// policy.Block for copy as the model wrote it, policy.Warn after a person has
// edited it. Invented qualities, and capitals that may be names, are warnings.
func Review(src *policy.BriefSource, channels []string, byChannel map[string]policy.Copy, invented string) policy.Result {
	if src == nil {
		return policy.Review(src, channels, byChannel)
	}
	b := newBrief(src)
	return policy.ReviewMore(src, channels, byChannel, func(text string, found []policy.Finding, place policy.Finding) []policy.Finding {
		return b.review(text, found, place, invented)
	})
}

// qualityRules are rules of policy for qualities. They know fewer languages, so
// that a quality that the brief states in another one is not theirs to judge.
var qualityRules = []string{"offer_not_in_brief", "unproven_superlative", "absolute_claim"}

// review adds the findings of a text to those of policy. What a quality says is
// not also an invented number, as in "24/7", and what policy has found is not
// reported twice.
func (b *brief) review(text string, found []policy.Finding, place policy.Finding, invented string) []policy.Finding {
	tokens, runes := tokenize(text), []rune(text)
	at := func(rule, severity, message string, from, to int) policy.Finding {
		f := place
		f.Rule, f.Severity, f.Start, f.End = rule, severity, from, to
		f.Text = string(runes[from:to])
		f.Message = strings.ReplaceAll(message, "{text}", f.Text)
		return f
	}
	list := []policy.Finding{}
	qualities, stated := b.qualities(tokens, text)
	for _, f := range found {
		within := func(e extent) bool { return e.from <= f.Start && f.End <= e.to }
		number := f.Rule == ruleNumber || f.Rule == rulePrice
		if number && slices.ContainsFunc(qualities, within) || slices.Contains(qualityRules, f.Rule) && slices.ContainsFunc(stated, within) {
			continue
		}
		if f.Rule == ruleNumber {
			f.Severity = invented
		}
		list = append(list, f)
	}
	add := func(f policy.Finding) {
		overlaps := func(o policy.Finding) bool { return o.Rule != "over_limit" && o.Start < f.End && f.Start < o.End }
		if f.Severity == policy.Block {
			list = slices.DeleteFunc(list, func(o policy.Finding) bool { return o.Severity == policy.Warn && overlaps(o) })
		}
		if !slices.ContainsFunc(list, overlaps) {
			list = append(list, f)
		}
	}
	var names []name
	if place.Field != "business_name" {
		names = b.names(tokens, text)
	}
	addNames := func(sure bool, severity string) {
		for _, n := range names {
			if n.sure == sure {
				add(at(ruleName, severity, "The brief does not name {text}. Take it out, or write it in the brief if it is true.", n.from, n.to))
			}
		}
	}
	addNames(true, invented)
	for _, q := range qualities {
		add(at(ruleQuality, policy.Warn, "The brief does not say “{text}”. Check it, and write it in the brief if it is true.", q.from, q.to))
	}
	addNames(false, policy.Warn)
	slices.SortStableFunc(list, func(a, b policy.Finding) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	return list
}

// extent is a part of a text, in code points.
type extent struct{ from, to int }

// brief is what a brief states.
type brief struct {
	language string
	// stems are the beginnings of its words, joined is its text without spaces.
	stems  map[string]bool
	joined string
	// stated are its qualities.
	stated []string
	// listed are the ids of the places and organizations that it names.
	listed map[int]bool
}

func newBrief(src *policy.BriefSource) *brief {
	text := strings.Join([]string{src.Prompt, src.BrandName, src.CallToAction, src.LandingURL}, "\n")
	tokens := tokenize(text)
	b := &brief{stems: map[string]bool{}, listed: map[int]bool{}}
	b.language, _, _ = strings.Cut(strings.ToLower(src.Language), "-")
	var joined strings.Builder
	for _, t := range tokens {
		for _, stem := range stems(t.folded) {
			b.stems[stem] = true
		}
		joined.WriteString(t.folded)
	}
	b.joined = joined.String()
	for i := range tokens {
		for _, l := range names().listed.at(tokens[i]) {
			if l.begins(tokens[i:]) {
				b.listed[l.id] = true
			}
		}
		for _, language := range languages {
			for _, p := range qualities()[language].at(tokens[i]) {
				if p.role != harmless && hasWords(tokens[i:], p.words) {
					b.stated = append(b.stated, p.quality)
				}
			}
		}
	}
	return b
}

// stems returns a word with and without its last letters, which are an ending in
// many languages.
func stems(word string) (list []string) {
	runes := []rune(word)
	list = []string{word}
	for n := max(4, len(runes)-3); n < len(runes); n++ {
		list = append(list, string(runes[:n]))
	}
	return list
}

// has reports whether the brief has a word, also with another ending or as a
// part of a longer one.
func (b *brief) has(t token) bool {
	return len([]rune(t.folded)) >= 5 && strings.Contains(b.joined, t.folded) ||
		slices.ContainsFunc(stems(t.folded), func(stem string) bool { return b.stems[stem] })
}

// states reports whether the brief states a quality or a kind of it.
func (b *brief) states(quality string) bool {
	return slices.ContainsFunc(b.stated, func(s string) bool { return s == quality || strings.HasPrefix(s, quality+".") })
}

// languageOf returns the language of a text: that of the request, else that of
// its words.
func (b *brief) languageOf(text string) string {
	return cmp.Or(b.language, policy.DetectLanguage(text))
}

// qualities returns the qualities in a text, those that the brief does not state
// and those that it does.
func (b *brief) qualities(tokens []token, text string) (invented, stated []extent) {
	phrases := qualities()[b.languageOf(text)]
	for i := 0; i < len(tokens); {
		var longest *phrase
		for _, p := range phrases.at(tokens[i]) {
			if p.role != states && hasWords(tokens[i:], p.words) && (longest == nil || len(p.words) > len(longest.words) || len(p.words) == len(longest.words) && longest.role == harmless) {
				longest = p
			}
		}
		if longest == nil {
			i++
			continue
		}
		end := i + len(longest.words)
		to := &invented
		if b.states(longest.quality) {
			to = &stated
		}
		if longest.role == claim {
			*to = append(*to, extent{tokens[i].start, tokens[end-1].end})
		}
		i = end
	}
	return invented, stated
}
