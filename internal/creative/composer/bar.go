package composer

import (
	"slices"
	"strings"
	"unicode"

	"fanfare/internal/creative"
)

// bar knows what must not be said: banned words, and facts that are not the
// brief's.
type bar struct {
	terms []string
	*gate
}

var (
	barBreak = newPattern(`(?i)[,;.\n|/]+|\s+and\s+|\s+or\s+`)
	barLead  = newPattern(`(?i)^(?:please|do not|don't|never|avoid|no|not|without|any|the|words?|phrases?|terms?|use|using|mention|mentioning|say|saying|include|including|like|such as|of|to|about|a|an|show|showing)\b[:\s]*`)
)

// newBar reads the banned words and the negative prompt, which is a list or an
// instruction: "cheap, discount", "do not mention the price".
func newBar(b *creative.Brief) *bar {
	k := &bar{gate: newGate(b)}
	for _, word := range b.Brand.BannedWords {
		k.add(word)
	}
	for term := range strings.SplitSeq(barBreak.ReplaceAllString(clean(b.NegativePrompt), "\n"), "\n") {
		term = strings.TrimSpace(strings.Trim(term, `"' `))
		for {
			t := barLead.ReplaceAllString(term, "")
			if t == term || t == "" {
				break
			}
			term = t
		}
		k.add(strings.Trim(term, `"' `))
	}
	return k
}

func (k *bar) add(term string) {
	if term = wordsOf(term); strings.TrimSpace(term) != "" {
		k.terms = append(k.terms, term)
	}
}

// notWord separates words.
func notWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)
}

// wordsOf writes a text as " word ".
func wordsOf(text string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), notWord), " ") + " "
}

// blocks reports whether a text has something that must not be said.
func (k *bar) blocks(text string) bool {
	if len(k.terms) == 0 {
		return false
	}
	words := wordsOf(text)
	for _, term := range k.terms {
		if strings.Contains(words, term) || anyIdeograph(term) && strings.Contains(words, strings.TrimSpace(term)) {
			return true
		}
	}
	return false
}

// allowed is a text with the facts written as in the brief, or empty where it
// must not be said.
func (k *bar) allowed(text string) string {
	if k.blocks(text) {
		return ""
	}
	said, _ := k.say(text)
	return said
}

// about reports whether one of some words is a term.
func (k *bar) about(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(k.terms, " "+word+" ") })
}

// without leaves the words of a phrase that may be said.
func (k *bar) without(phrase string) string {
	if !k.blocks(phrase) {
		return phrase
	}
	var kept []string
	for word := range strings.FieldsSeq(phrase) {
		if !k.blocks(word) {
			kept = append(kept, word)
		}
	}
	if rest := trimTail(strings.Join(kept, " ")); !k.blocks(rest) {
		return rest
	}
	return ""
}

// purge takes everything out of the facts that must not be said.
func (f *facts) purge(k *bar) {
	if len(k.terms) == 0 {
		return
	}
	for _, text := range []*string{&f.name, &f.brand, &f.occasion, &f.price, &f.audience, &f.place, &f.when, &f.where, &f.pain, &f.deadline.adverb, &f.deadline.ends} {
		if k.blocks(*text) {
			*text = ""
		}
	}
	if text := k.without(f.product.text); text != f.product.text {
		f.product = newNoun(text)
		f.forms = shortForms(text)
		if text == "" {
			f.product, f.forms = noun{}, nil
		}
	}
	// Who does not want a discount mentioned does not want "20% off" either.
	if k.about("discount", "discounts", "offer", "offers", "sale", "promotion", "promotions", "percentage") {
		f.offers, f.occasion, f.deadline = nil, "", deadline{}
	}
	if k.about("price", "prices", "pricing", "cost", "costs") {
		f.price = ""
	}
	f.offers = keepIf(f.offers, func(o offer) bool { return !k.blocks(o.text) && !k.blocks(o.do) })
	f.benefits = keepIf(f.benefits, func(b benefit) bool { return !k.blocks(b.text) && !k.blocks(b.fragment()) })
	// The pain may have come from a benefit that is no longer where it was.
	f.painFrom = 0
	f.proofs = keepIf(f.proofs, func(s string) bool { return !k.blocks(s) })
	f.says = keepIf(f.says, func(s statement) bool { return !k.blocks(s.text) })
}

func keepIf[T any](list []T, keep func(T) bool) []T {
	var kept []T
	for _, item := range list {
		if keep(item) {
			kept = append(kept, item)
		}
	}
	return kept
}
