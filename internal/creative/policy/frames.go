package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// frame is a claim in terms of word classes: a verb of curing near an ailment.
// All languages share the frames; the words of one match belong to one language.
type frame struct {
	text string
	// rule is the rule that the frame belongs to, claim its category.
	rule, claim string
	parts       []framePart
	// across lets a match continue in the next sentence.
	across bool
	// unless excludes matches with these classes in the same sentence, without
	// those with these classes anywhere in the text, before those that follow
	// one within three words.
	unless, without, before []int
}

// framePart is one element of a frame: a word of one of the classes.
type framePart struct {
	classes []int
	// gap is the maximum number of words between this part and those before.
	gap int
	// either lets the part be before or after the others.
	either bool
	set    classSet
}

// classSet is a set of classes, one bit each.
type classSet [4]uint64

func newClassSet(classes []int) classSet {
	var set classSet
	for _, class := range classes {
		set[class/64] |= 1 << (class % 64)
	}
	return set
}

func (s *classSet) overlaps(o *classSet) bool {
	return s[0]&o[0]|s[1]&o[1]|s[2]&o[2]|s[3]&o[3] != 0
}

type frameSet struct {
	lexicon *lexicon
	byRule  map[string][]*frame
}

// partPattern separates the parts of a frame: a gap with its order, then the
// classes.
var partPattern = regexp.MustCompile(`^(?:([>+])([0-9]+) )?([a-z_|]+)$`)

func newFrameSet(l *lexicon, text string) *frameSet {
	set := &frameSet{lexicon: l, byRule: map[string][]*frame{}}
	for _, line := range dataLines(text) {
		f := &frame{text: line[1]}
		f.rule, f.claim, _ = strings.Cut(line[0], "/")
		sections := strings.Split(line[1], ";")
		set.readParts(f, strings.Fields(sections[0]))
		for _, section := range sections[1:] {
			words := strings.Fields(section)
			switch words[0] {
			case "across":
				f.across = true
			case "unless":
				f.unless = set.classesOf(f, words[1:])
			case "without":
				f.without = set.classesOf(f, words[1:])
			case "before":
				f.before = set.classesOf(f, words[1:])
			default:
				panic(fmt.Sprintf("policy frame %q: unknown section %q", f.text, section))
			}
		}
		set.byRule[f.rule] = append(set.byRule[f.rule], f)
	}
	return set
}

func (set *frameSet) readParts(f *frame, words []string) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		if strings.ContainsAny(word[:1], ">+") && i+1 < len(words) {
			i++
			word += " " + words[i]
		}
		m := partPattern.FindStringSubmatch(word)
		if m == nil {
			panic(fmt.Sprintf("policy frame %q: bad part %q", f.text, word))
		}
		gap, _ := strconv.Atoi(m[2])
		classes := set.classesOf(f, strings.Split(m[3], "|"))
		f.parts = append(f.parts, framePart{classes, gap, m[1] == "+", newClassSet(classes)})
	}
}

func (set *frameSet) classesOf(f *frame, names []string) []int {
	var list []int
	for _, name := range names {
		class, ok := set.lexicon.classes[name]
		if !ok {
			panic(fmt.Sprintf("policy frame %q: there is no class %q", f.text, name))
		}
		list = append(list, class)
	}
	return list
}

// classHits returns the places of all classes in the text.
func (p *parsedText) classHits() [][]hit {
	if p.hits == nil {
		p.hits = grammar().lexicon.hits(p)
		for class, list := range p.hits {
			if len(list) > 0 {
				p.classes[class/64] |= 1 << (class % 64)
			}
		}
	}
	return p.hits
}

// has reports whether the text has a word of a class.
func (p *parsedText) has(class string) bool {
	return len(p.classHits()[grammar().lexicon.classes[class]]) > 0
}

// findFrames finds the frames of a rule.
func findFrames(rule string) func(*parsedText, *sourceIndex) []span {
	return func(p *parsedText, _ *sourceIndex) []span {
		var list []span
		for _, f := range grammar().byRule[rule] {
			for _, s := range f.find(p) {
				s.claim = f.claim
				if !slices.ContainsFunc(list, s.overlaps) {
					list = append(list, s)
				}
			}
		}
		return list
	}
}

func (s span) overlaps(o span) bool { return s.start < o.end && o.start < s.end }

// find returns the matches of a frame.
func (f *frame) find(p *parsedText) []span {
	hits := p.classHits()
	for i := range f.parts {
		if !f.parts[i].set.overlaps(&p.classes) {
			return nil
		}
	}
	if slices.ContainsFunc(f.without, func(class int) bool { return len(hits[class]) > 0 }) {
		return nil
	}
	var list []span
	for _, class := range f.parts[0].classes {
		for _, h := range hits[class] {
			if h, ok := f.match(p, h, 1); ok && h.end > h.start && !f.excepted(p, h) {
				list = append(list, span{start: p.tokens[h.start].start, end: p.tokens[h.end-1].end})
			}
		}
	}
	return list
}

// match extends a match of the first n parts by the others.
func (f *frame) match(p *parsedText, h hit, n int) (hit, bool) {
	if n == len(f.parts) {
		return h, true
	}
	part := f.parts[n]
	for _, class := range part.classes {
		for _, o := range p.hits[class] {
			joined := hit{min(h.start, o.start), max(h.end, o.end), h.languages & o.languages}
			after := o.start >= h.end && o.start-h.end <= part.gap && f.joins(p, h.end, o.start)
			before := part.either && o.end <= h.start && h.start-o.end <= part.gap && f.joins(p, o.end, h.start)
			if joined.languages == 0 || !after && !before {
				continue
			}
			if result, ok := f.match(p, joined, n+1); ok {
				return result, true
			}
		}
	}
	return hit{}, false
}

// joins reports whether the tokens between two parts do not separate them.
func (f *frame) joins(p *parsedText, from, to int) bool {
	return f.across || !slices.ContainsFunc(p.tokens[from:to], endsSentence)
}

// excepted reports whether an exception of the frame applies to a match.
func (f *frame) excepted(p *parsedText, h hit) bool {
	if f.unless == nil && f.before == nil {
		return false
	}
	from, to := h.start, h.end
	for from > 0 && !endsSentence(p.tokens[from-1]) {
		from--
	}
	for to < len(p.tokens) && !endsSentence(p.tokens[to]) {
		to++
	}
	near := func(o hit) bool { return o.start >= from && o.end <= h.start && h.start-o.end <= maxNegationDistance }
	inside := func(o hit) bool { return o.start >= from && o.end <= to }
	return slices.ContainsFunc(f.unless, func(class int) bool { return slices.ContainsFunc(p.hits[class], inside) }) ||
		slices.ContainsFunc(f.before, func(class int) bool { return slices.ContainsFunc(p.hits[class], near) })
}
