package parser

import (
	"maps"
	"strings"

	"fanfare/internal/creative/brief"
)

// kindOf weighs the words that show a kind. The confidence is the lead over the
// second kind.
func (r *reader) kindOf(fields *brief.Fields, given []brief.Fact) (brief.Kind, float64) {
	if fields != nil && fields.Kind != nil {
		for _, kind := range brief.Kinds {
			if strings.EqualFold(strings.TrimSpace(*fields.Kind), kind) {
				return brief.Kind(kind), 1
			}
		}
	}
	for _, kind := range brief.Kinds {
		if strings.EqualFold(strings.Trim(r.kindLabel, ` ."`), kind) {
			return brief.Kind(kind), brief.Labeled
		}
	}
	if r.lex == nil {
		return brief.General, 0
	}
	if r.wants != "" {
		return brief.Kind(r.wants), brief.Labeled
	}
	scores, seen := map[string]int{}, map[string]bool{}
	weigh := func(tokens []token, times int) {
		for i := 0; i < len(tokens); i++ {
			n, name := r.lex.matchNamed("kinds", tokens[i:])
			if n == 0 {
				continue
			}
			kind, weight, _ := strings.Cut(name, " ")
			key := kind + " " + tokens[i].low
			if !seen[key] {
				seen[key] = true
				scores[kind] += times * int(weight[0]-'0')
			}
			i += n - 1
		}
	}
	// What the product is called says more than the text about it.
	for _, f := range given {
		if f.Type == brief.Product {
			weigh(tokenize(f.Text, r.lex.elides()), 2)
		}
	}
	for _, c := range r.found {
		if c.t == brief.Product && c.conf >= brief.Guessed {
			weigh(r.tokens[c.from:c.to], 2)
		}
	}
	r.weighHead(scores)
	named := maps.Clone(scores)
	weigh(r.tokens[:r.headEnd()], 1)
	head := maps.Clone(scores)
	weigh(r.ofTheThing(), 1)
	for _, f := range given {
		// Where an advertiser is does not say what it does: "above the bakery".
		if f.Type != brief.Place && f.Type != brief.Contact && f.Type != brief.Terms {
			weigh(tokenize(f.Text, r.lex.elides()), 1)
		}
	}
	best, first, second := string(brief.General), 0, 0
	for _, kind := range brief.Kinds {
		switch n := scores[kind]; {
		case n > first:
			best, first, second = kind, n, first
		case n > second:
			second = n
		}
	}
	if first < 3 {
		return brief.General, 0
	}
	confidence := float64(first-second) / float64(first)
	if second == 0 {
		confidence = 0.9
	}
	// A clear lead counts, also among kinds that share words.
	if first-second >= 3 {
		confidence = max(confidence, brief.SureKind)
	}
	if scores[best] <= 3 && head[best] == 0 {
		// One word within the text is no sign of what the ad is about.
		confidence = min(confidence, brief.Guessed)
	}
	if len(named) > 0 && named[best] == 0 {
		// The name of the product shows another kind.
		return brief.Kind(best), min(confidence, brief.Guessed)
	}
	return brief.Kind(best), min(confidence, 0.9)
}

// headEnd returns the end of the first sentence or line.
func (r *reader) headEnd() int {
	for i := 1; i < len(r.tokens); i++ {
		if r.startsLine(i) || r.isMark(i, ".!?") && !r.keepsPoint(i, 0) {
			return i
		}
	}
	return len(r.tokens)
}

// ofTheThing are the tokens without places, conditions and contacts, which do not
// say what an advertiser does: "above the bakery", "bedding not included".
func (r *reader) ofTheThing() (list []token) {
	for i := 0; i < len(r.tokens); i++ {
		switch r.taken[i] {
		case brief.Terms, brief.Place, brief.Contact:
			continue
		}
		if n := r.lex.match("cues.beside", r.tokens[i:]); n > 0 {
			i += n // "next to the launderette"
			continue
		}
		list = append(list, r.tokens[i])
	}
	return list
}

// weighHead weighs the main noun of the product once more: "payroll software" is
// software. It is the last word in English and German and the first in the others.
func (r *reader) weighHead(scores map[string]int) {
	for _, c := range r.found {
		if c.t != brief.Product || c.conf < brief.Guessed {
			continue
		}
		noun := r.tokens[c.to-1 : c.to]
		if r.lex.code != "en" && r.lex.code != "de" {
			noun = r.tokens[c.from:c.to]
		}
		if n, name := r.lex.matchNamed("kinds", noun); n > 0 {
			kind, weight, _ := strings.Cut(name, " ")
			scores[kind] += int(weight[0] - '0')
		}
	}
}
