package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// frame is a claim in terms of word classes: a verb of curing near an ailment.
// All languages share the frames of classes; the words of one match belong to
// one language.
type frame struct {
	text string
	// index is the place of the frame in the data.
	index int
	// rule is the rule that the frame belongs to, category its part of the rule.
	rule, category string
	// languages are those of the file of the frame.
	languages languageSet
	parts     []framePart
	// across lets a match continue in the next sentence.
	across bool
	// unless excludes matches with these classes in the same sentence, without
	// those with these classes anywhere in the text, before those that follow
	// one within three words, not those that overlap a match of these groups.
	unless, without, before []int
	not                     []string
	// wide is the frame with larger gaps, in any order and in several sentences,
	// for a text that has no match of the frame itself. An exception anywhere
	// excludes it.
	wide *frame
	// isWide is set for such a frame.
	isWide bool
}

// framePart is one element of a frame: a word of one of the classes.
type framePart struct {
	classes []int
	// gap is the maximum number of words between this part and those before.
	gap int
	// either lets the part be before or after the others, fillers only words
	// such as "some" and "cheap" be between.
	either, fillers bool
	// named is set for classes with a name. Their words are part of the claim:
	// "relieves migraine" is not proven by "relieves asthma".
	named bool
}

// frameSet has the frames of all rules.
type frameSet struct {
	lexicon *lexicon
	frames  []*frame
	// byClass has the frames to try if a text has a word of a class.
	byClass map[int][]*frame
	// exceptions are the frames of each group of exceptions.
	exceptions map[string][]*frame
}

// exceptionMark starts the name of a group of exceptions.
const exceptionMark = "~"

// partPattern has the parts of a frame: a gap with its order, then classes or
// words in brackets. alternativePattern has one of them.
var (
	partPattern        = regexp.MustCompile(`^(?:([>+~])([0-9]+) +)?((?:[a-z_]+|\([^)]*\))(?:\|(?:[a-z_]+|\([^)]*\)))*)(?: +|$)`)
	alternativePattern = regexp.MustCompile(`[a-z_]+|\([^)]*\)`)
)

func newFrameSet(l *lexicon) *frameSet {
	return &frameSet{lexicon: l, byClass: map[int][]*frame{}, exceptions: map[string][]*frame{}}
}

// read reads the frames of a file. The words in brackets belong to its languages.
func (set *frameSet) read(text string, languages languageSet) {
	for _, line := range dataLines(text) {
		f := &frame{text: line[1], index: len(set.frames), languages: languages}
		f.rule, f.category, _ = strings.Cut(line[0], "/")
		sections := strings.Split(line[1], ";")
		set.readParts(f, strings.TrimSpace(sections[0]), languages)
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
			case "not":
				f.not = words[1:]
			case "wide":
				gap, _ := strconv.Atoi(words[1])
				f.wide = f.widened(gap)
			default:
				panic(fmt.Sprintf("policy frame %q: unknown section %q", f.text, section))
			}
		}
		if group, ok := strings.CutPrefix(f.rule, exceptionMark); ok {
			set.exceptions[group] = append(set.exceptions[group], f)
			continue
		}
		set.frames = append(set.frames, f)
	}
}

// widened returns the frame with gaps of a number of words. It must be read up
// to here: the section is the last one.
func (f *frame) widened(gap int) *frame {
	wide := *f
	wide.isWide, wide.across = true, true
	wide.without, wide.unless = slices.Concat(f.without, f.unless), nil
	wide.parts = slices.Clone(f.parts)
	for i := range wide.parts[1:] {
		if part := &wide.parts[i+1]; part.gap >= minWidened {
			part.gap, part.either = max(part.gap, gap), true
		}
	}
	return &wide
}

// minWidened is the smallest gap that a wide frame enlarges: words that belong
// together stay together.
const minWidened = 2

func (set *frameSet) readParts(f *frame, text string, languages languageSet) {
	for text != "" {
		m := partPattern.FindStringSubmatch(text)
		if m == nil {
			panic(fmt.Sprintf("policy frame %q: bad part at %q", f.text, text))
		}
		part := framePart{either: m[1] == "+", fillers: m[1] == "~"}
		part.gap, _ = strconv.Atoi(m[2])
		for _, name := range alternativePattern.FindAllString(m[3], -1) {
			if name[0] == '(' {
				part.classes = append(part.classes, set.lexicon.inline(name[1:len(name)-1], languages))
				continue
			}
			part.named = true
			part.classes = append(part.classes, set.classesOf(f, []string{name})...)
		}
		f.parts = append(f.parts, part)
		text = text[len(m[0]):]
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

// index sorts the frames by a part that few texts have.
func (set *frameSet) index() {
	for _, f := range set.frames {
		for _, group := range f.not {
			if set.exceptions[group] == nil {
				panic(fmt.Sprintf("policy frame %q: there are no exceptions %q", f.text, group))
			}
		}
		rarest := slices.MinFunc(f.parts, func(a, b framePart) int { return cmp.Compare(set.commonness(a), set.commonness(b)) })
		for _, class := range rarest.classes {
			set.byClass[class] = append(set.byClass[class], f)
		}
	}
}

// commonness is a measure of how many texts have a part: frequent words count
// more than others.
func (set *frameSet) commonness(part framePart) int {
	n := 0
	for _, class := range part.classes {
		if class < len(builtInClasses) {
			n += 1000
		}
		n += set.lexicon.frequency[class]
	}
	return n
}

// frameMatch is a match of a frame in the tokens of a text.
type frameMatch struct {
	frame *frame
	hit
	words string
	// parts are the places of the parts so far.
	parts []hit
}

// reading has the words of a text by class, while its frames are looked for.
type reading struct {
	*parsedText
	set  *frameSet
	hits classHits
	// lenient ignores the exceptions: what a source says is stated in any case.
	lenient bool
	groups  map[string][]hit
}

// frameSpans returns the places of the frames of all rules.
func (p *parsedText) frameSpans() map[string][]span {
	if p.frames == nil {
		p.frames = map[string][]span{}
		for _, m := range p.readFrames() {
			s := span{start: p.tokens[m.start].start, end: p.tokens[m.end-1].end, category: m.frame.category, claim: m.frame.text + m.words}
			if list := p.frames[m.frame.rule]; !slices.ContainsFunc(list, s.overlaps) {
				p.frames[m.frame.rule] = append(list, s)
			}
		}
		if other := p.undisguised(); other != nil {
			p.addSpans(other.frameSpans())
		}
	}
	return p.frames
}

// addSpans adds the places of another reading of the text.
func (p *parsedText) addSpans(other map[string][]span) {
	for rule, list := range other {
		for _, s := range list {
			if !slices.ContainsFunc(p.frames[rule], s.overlaps) {
				p.frames[rule] = append(p.frames[rule], s)
			}
		}
	}
}

// readFrames returns the matches of all frames: those of words in a language
// before those of classes, the first and longest before others.
func (p *parsedText) readFrames() []frameMatch {
	set := grammar()
	r := &reading{parsedText: p, set: set, hits: set.lexicon.hits(p), lenient: p.lenient}
	var list []frameMatch
	tried := map[*frame]bool{}
	for _, class := range r.hits.classes() {
		for _, f := range set.byClass[class] {
			if !tried[f] {
				tried[f] = true
				list = r.findWidely(f, list)
			}
		}
	}
	slices.SortFunc(list, func(a, b frameMatch) int {
		return cmp.Or(set.rank(a.frame)-set.rank(b.frame), a.start-b.start, b.end-a.end, a.frame.index-b.frame.index)
	})
	return list
}

// rank is the order of frames that match the same words.
func (set *frameSet) rank(f *frame) int {
	switch {
	case f.isWide:
		return 2
	case f.languages == allLanguages:
		return 1
	}
	return 0
}

// findFrames finds the frames of a rule.
func findFrames(rule string) func(*parsedText, *sourceIndex) []span {
	return func(p *parsedText, _ *sourceIndex) []span { return p.frameSpans()[rule] }
}

func (s span) overlaps(o span) bool { return s.start < o.end && o.start < s.end }

// findWidely adds the matches of a frame, or else those of its wide one.
func (r *reading) findWidely(f *frame, list []frameMatch) []frameMatch {
	n := len(list)
	if list = r.find(f, list); len(list) == n && f.wide != nil {
		list = r.find(f.wide, list)
	}
	return list
}

// find adds the matches of a frame.
func (r *reading) find(f *frame, list []frameMatch) []frameMatch {
	for i := range f.parts {
		if !slices.ContainsFunc(f.parts[i].classes, r.hits.has) {
			return list
		}
	}
	if !r.lenient && slices.ContainsFunc(f.without, r.hits.has) {
		return list
	}
	for _, class := range f.parts[0].classes {
		for _, h := range r.hits.of(class) {
			m, ok := r.match(f, frameMatch{f, h.hit, r.claimWords(f.parts[0], h.hit), []hit{h.hit}}, 1)
			if ok && m.end > m.start && (r.lenient || !r.excepted(f, m.hit)) {
				list = append(list, m)
			}
		}
	}
	return list
}

// claimWords returns the words of a part that make a claim different from
// others of the same frame.
func (r *reading) claimWords(part framePart, h hit) string {
	if !part.named {
		return ""
	}
	words := ""
	for _, x := range r.tokens[h.start:h.end] {
		words += " " + x.text
	}
	return words
}

// match extends a match of the first n parts by the others.
func (r *reading) match(f *frame, m frameMatch, n int) (frameMatch, bool) {
	if n == len(f.parts) {
		return m, true
	}
	part := f.parts[n]
	for _, class := range part.classes {
		for _, o := range r.hits.of(class) {
			joined := hit{min(m.start, o.start), max(m.end, o.end), m.languages & o.languages}
			after := o.start >= m.end && o.start-m.end <= part.gap && r.joins(f, part, m.end, o.start)
			before := part.either && o.end <= m.start && m.start-o.end <= part.gap && r.joins(f, part, o.end, m.start)
			inside := part.either && m.surrounds(o.hit)
			if joined.languages == 0 || !after && !before && !inside {
				continue
			}
			next := frameMatch{f, joined, m.words + r.claimWords(part, o.hit), append(m.parts[:n:n], o.hit)}
			if result, ok := r.match(f, next, n+1); ok {
				return result, true
			}
		}
	}
	return frameMatch{}, false
}

// surrounds reports whether a part is between the parts so far.
func (m *frameMatch) surrounds(o hit) bool {
	return m.start <= o.start && o.end <= m.end && !slices.ContainsFunc(m.parts, o.overlaps)
}

// joins reports whether the tokens between two parts do not separate them.
func (r *reading) joins(f *frame, part framePart, from, to int) bool {
	if !f.across && slices.ContainsFunc(r.tokens[from:to], endsSentence) {
		return false
	}
	for i := from; part.fillers && i < to; i++ {
		if !slices.ContainsFunc(r.hits.of(r.set.lexicon.filler), func(h classHit) bool { return h.start <= i && i < h.end }) {
			return false
		}
	}
	return true
}

// maxNegationDistance is the maximum number of words between a negating word
// and the match.
const maxNegationDistance = 3

// excepted reports whether an exception of the frame applies to a match.
func (r *reading) excepted(f *frame, h hit) bool {
	if f.unless == nil && f.before == nil && f.not == nil {
		return false
	}
	from, to := h.start, h.end
	for from > 0 && !endsSentence(r.tokens[from-1]) {
		from--
	}
	for to < len(r.tokens) && !endsSentence(r.tokens[to]) {
		to++
	}
	near := func(o classHit) bool {
		return o.start >= from && o.end <= h.start && h.start-o.end <= maxNegationDistance
	}
	inside := func(o classHit) bool { return o.start >= from && o.end <= to }
	return slices.ContainsFunc(f.unless, func(class int) bool { return slices.ContainsFunc(r.hits.of(class), inside) }) ||
		slices.ContainsFunc(f.before, func(class int) bool { return slices.ContainsFunc(r.hits.of(class), near) }) ||
		slices.ContainsFunc(f.not, func(group string) bool { return slices.ContainsFunc(r.group(group), h.overlaps) })
}

func (h hit) overlaps(o hit) bool { return h.start < o.end && o.start < h.end }

// group returns the matches of a group of exceptions.
func (r *reading) group(name string) []hit {
	if r.groups == nil {
		r.groups = map[string][]hit{}
	}
	list, known := r.groups[name]
	if !known {
		for _, f := range r.set.exceptions[name] {
			for _, m := range r.find(f, nil) {
				list = append(list, m.hit)
			}
		}
		r.groups[name] = list
	}
	return list
}
