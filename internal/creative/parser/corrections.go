package parser

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"fanfare/internal/creative/brief"
)

// findCorrections finds the values that a later part of the prompt takes back: "No
// wait, it's 84", "thursdays now, not wednesdays". No fact has a value that was
// taken back, and the new one takes its type.
func (r *reader) findCorrections() {
	for i := range r.tokens {
		n := r.lex.match("cues.correction", r.tokens[i:])
		if n == 0 || !r.startsLine(i) && r.tokens[i-1].kind != mark {
			continue
		}
		end := i + n
		for end < len(r.tokens) && !r.startsLine(end) && !r.isMark(end, ".?;") {
			end++
		}
		r.correct(i, i+n, end)
	}
}

// correct reads one correction, whose value is between two tokens.
func (r *reader) correct(start, from, to int) {
	now := from
	for now < to && r.valueClass(now) == 0 {
		now++
	}
	if now == to {
		return
	}
	old := -1
	for i := now + 1; i+1 < to && old < 0; i++ {
		if r.lex.has("cues.correction_not", &r.tokens[i]) && r.valueClass(i+1) == r.valueClass(now) {
			old = r.lastValue(start, r.valueClass(now), figures(r.tokens[i+1].low))
		}
	}
	if old < 0 {
		old = r.closestValue(start, now)
	}
	if old >= 0 {
		r.replaced[old] = now
		for i := start; i < to; i++ {
			r.corrects[i] = true
		}
	}
}

// lastValue returns the last token of a class before another, -1 without one. said
// are the figures that it has, empty if any value is meant.
func (r *reader) lastValue(before int, class byte, said string) int {
	for i := before - 1; i >= 0; i-- {
		if r.valueClass(i) == class && (said == "" || figures(r.tokens[i].low) == said) {
			return i
		}
	}
	return -1
}

// maxValues is the number of earlier values that a correction can mean.
const maxValues = 3

// closestValue returns the one of the last values before a token that is closest to
// a new one: after "£29 instead of 35. No wait, 29.50" it is the first.
// Choice: people correct a value by a little more often than they replace the last
// one by another.
func (r *reader) closestValue(before, now int) int {
	best, least, seen := -1, 0.0, 0
	for i := before - 1; i >= 0 && seen < maxValues; i-- {
		if r.valueClass(i) != r.valueClass(now) {
			continue
		}
		seen++
		if by := difference(r.tokens[i].low, r.tokens[now].low); best < 0 || by < least {
			best, least = i, by
		}
	}
	return best
}

// difference is how far apart two amounts are, as a part of the larger one. Values
// without figures are all as far.
func difference(a, b string) float64 {
	x, y := valueOf(a), valueOf(b)
	if x == 0 || y == 0 {
		return 1
	}
	return math.Abs(x-y) / max(x, y)
}

// valueOf reads an amount, whose last mark before one or two figures is that of
// the decimals.
func valueOf(text string) float64 {
	whole := strings.Trim(strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) || r == '.' || r == ',' {
			return r
		}
		return -1
	}, text), ".,")
	if at := strings.LastIndexAny(whole, ".,"); at >= 0 && len(whole)-at <= 3 {
		whole = figures(whole[:at]) + "." + whole[at+1:]
	} else {
		whole = figures(whole)
	}
	value, err := strconv.ParseFloat(whole, 64)
	if err != nil {
		return 0
	}
	return value
}

// valueClass is the class of values that can replace each other, 0 for other words.
func (r *reader) valueClass(i int) byte {
	t := &r.tokens[i]
	switch {
	case t.kind == money, t.kind == number && !r.isClock(i):
		return 'n'
	case t.kind == percent:
		return '%'
	case t.kind == date, r.lex.has("dates.weekdays", t), r.lex.has("dates.weekdays_short", t):
		return 'd'
	case t.kind == number:
		return 't'
	}
	return 0
}

// figures are the digits of a text, or the text without any.
func figures(text string) string {
	digits := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
	if digits == "" {
		return text
	}
	return digits
}

// applyCorrections drops the candidates with a value that was taken back. A fact
// of a single type goes on with the new value.
func (r *reader) applyCorrections() {
	if len(r.replaced) == 0 {
		return
	}
	kept := r.found[:0]
	var added []candidate
	for _, c := range r.found {
		old := -1
		for i := c.from; i < c.to; i++ {
			if _, is := r.replaced[i]; is {
				old = i
			}
		}
		switch {
		case old >= 0 && (c.t == brief.Price || c.t == brief.When || c.t == brief.Deadline):
			now := r.replaced[old]
			added = append(added, candidate{c.t, now, max(now+1, r.unitEnd(now+1, len(r.tokens))), max(c.conf, brief.Sure), c.scope})
		case old < 0 && (!r.corrects[c.from] || c.t != brief.Sentence && c.t != brief.Benefit):
			kept = append(kept, c)
		}
	}
	for _, c := range added {
		// The rules may have read the new value already, with its unit.
		if i := slices.IndexFunc(kept, func(o candidate) bool { return o.t == c.t && o.from <= c.from && c.from < o.to }); i >= 0 {
			kept[i].conf = max(kept[i].conf, c.conf)
			continue
		}
		kept = append(kept, c)
	}
	r.found = kept
}
