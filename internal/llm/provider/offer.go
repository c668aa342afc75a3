package provider

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/creative"
	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/picture"
)

// Limits of what a picture shows of a brief's facts, in characters and words.
const (
	maxOffer       = 40
	maxTerms       = 160
	maxWordsBefore = 2
	maxWordsAfter  = 5
)

// offerOf returns the offer of the brief for the badge of a picture, in the words
// of the brief. A long offer, or one that the copy must not state, is none.
func offerOf(b *creative.Brief) picture.Offer {
	text, ok := factOf(b, brief.Offer)
	if !ok || utf8.RuneCountInString(text) > maxOffer {
		return picture.Offer{}
	}
	before, amount, after := aroundAmount(text, atoms.Percent, atoms.Money)
	if amount == "" || len(strings.Fields(before)) > maxWordsBefore || len(strings.Fields(after)) > maxWordsAfter {
		return picture.Offer{Main: upperFirst(text)}
	}
	if before == "" {
		return picture.Offer{Main: amount, After: after}
	}
	return picture.Offer{Before: upperFirst(before), Main: amount, After: after}
}

// priceOf returns the price of the brief with its unit, and the previous one.
//
// Choice: only a price that the brief says is the price, and not for appeals and
// jobs, where an amount is something else.
func priceOf(b *creative.Brief) picture.Price {
	text, ok := factOf(b, brief.Price)
	if !ok || slices.Contains([]brief.Kind{"appeal", "hiring"}, b.Facts.Kind) {
		return picture.Price{}
	}
	before, amount, after := aroundAmount(text, atoms.Money)
	if amount == "" || len(strings.Fields(before)) > maxWordsBefore || len(strings.Fields(after)) > maxWordsAfter {
		return picture.Price{}
	}
	p := picture.Price{Before: before, Amount: amount, After: after}
	if old, ok := factOf(b, brief.PreviousPrice); ok {
		_, p.Previous, _ = aroundAmount(old, atoms.Money)
	}
	return p
}

// termsOf returns the terms of the brief. Those that are too long for a picture
// keep offer and price out of it.
func termsOf(b *creative.Brief) string {
	if b.Facts == nil {
		return ""
	}
	var list []string
	for _, f := range b.Facts.All(brief.Terms, brief.Sure) {
		list = append(list, dropEmoji(f.Text))
	}
	return strings.Join(list, " ")
}

// factOf returns a fact that the brief states for sure and that its own words do
// not forbid.
func factOf(b *creative.Brief, t brief.Type) (string, bool) {
	if b.Facts == nil {
		return "", false
	}
	f, ok := b.Facts.First(t, brief.Sure)
	if !ok || utf8.RuneCountInString(termsOf(b)) > maxTerms {
		return "", false
	}
	text := strings.TrimRight(dropEmoji(f.Text), ".!,; ")
	return text, text != "" && !isForbidden(b, text)
}

// isForbidden reports whether the brief says that a text must not be stated.
func isForbidden(b *creative.Brief, text string) bool {
	text = strings.ToLower(text)
	for _, word := range slices.Concat(b.Brand.BannedWords, b.Avoid) {
		if word != "" && strings.Contains(text, strings.ToLower(word)) {
			return true
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '%' })
	for _, word := range strings.FieldsFunc(strings.ToLower(b.NegativePrompt), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '%' }) {
		if utf8.RuneCountInString(word) > 3 && slices.Contains(words, word) {
			return true
		}
	}
	return false
}

// aroundAmount divides a text at its first amount of certain kinds.
func aroundAmount(text string, kinds ...atoms.Kind) (before, amount, after string) {
	for _, a := range atoms.Find(text) {
		if slices.Contains(kinds, a.Kind) {
			return strings.TrimSpace(text[:a.Start]), strings.TrimSpace(text[a.Start:a.End]), strings.TrimSpace(text[a.End:])
		}
	}
	return strings.TrimSpace(text), "", ""
}

// upperFirst returns a text with a capital at its start.
func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
