package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/creative/brief"
)

// line is a line of the prompt in tokens, without its bullet.
type line struct {
	from, to int
	bullet   bool
	// after reports an empty line before.
	after bool
	// label is the name of the list of a known label, value where its value is.
	label string
	known bool
	value int
	drop  bool
}

const bulletMarks = "-*•–—·✓✔✅➤►▪‣→●○◦■□☑»>+#"

// read reads the prompt.
func (r *reader) read() {
	lines := r.lines()
	lines = r.withoutMailHeader(lines)
	page := r.isPage(lines)
	for i := range lines {
		l := &lines[i]
		l.drop = r.isJunk(l, page) || page && i > 0 && lines[i-1].drop && !l.after && r.isRelated(&lines[i-1])
		if l.drop {
			r.ignored++
		}
	}
	kept := lines[:0]
	for _, l := range lines {
		if !l.drop {
			kept = append(kept, l)
		}
	}
	lines = r.splitLabels(kept)
	r.form = r.formOf(lines, page)
	if r.form == formShort && len(lines) == 1 {
		r.readShort(lines[0].from, lines[0].to)
		return
	}
	for i := 0; i < len(lines); {
		i = r.readGroup(lines, i)
	}
}

// lines cuts the tokens at line breaks.
func (r *reader) lines() (list []line) {
	at, before := 0, 0
	for at < len(r.tokens) {
		to := len(r.tokens)
		if n := strings.IndexByte(r.src.text[r.tokens[at].start:], '\n'); n >= 0 {
			end := r.tokens[at].start + n
			to = at
			for to < len(r.tokens) && r.tokens[to].start < end {
				to++
			}
		}
		gap := r.src.text[before:r.tokens[at].start]
		l := line{from: at, to: to, after: strings.Count(gap, "\n") > 1 || at == 0}
		before = r.tokens[to-1].end
		r.cutBullet(&l)
		if l.from < l.to {
			list = append(list, l)
		}
		at = to
	}
	return list
}

// cutBullet moves the start of a line behind its bullet or number.
func (r *reader) cutBullet(l *line) {
	for l.from < l.to && r.tokens[l.from].kind == mark {
		t := r.tokens[l.from]
		first, _ := utf8.DecodeRuneInString(t.low)
		symbol := unicode.Is(unicode.So, first) || unicode.Is(unicode.Mn, first) || first > 0x1f000
		if !symbol && !strings.Contains(bulletMarks, t.low) && t.low != "|" {
			break
		}
		if l.from+1 < l.to && !symbol && t.low != "*" && t.low != "#" && t.low != "|" && !r.tokens[l.from+1].spaced {
			break
		}
		l.bullet = l.bullet || t.low != "#" && t.low != "|"
		l.from++
	}
	if l.to-l.from > 2 && r.tokens[l.from].kind == number && len(r.tokens[l.from].low) < 3 && r.isMark(l.from+1, ".)") && r.tokens[l.from+2].spaced {
		l.from += 2
		l.bullet = true
	}
}

// isPage reports a prompt that is copied from a website.
func (r *reader) isPage(lines []line) bool {
	if len(lines) < 6 || r.lex == nil {
		return false
	}
	marks := 0
	for i := range lines {
		l := &lines[i]
		tokens := r.tokens[l.from:l.to]
		at := r.lex.find("lines.legal", tokens)
		news := r.lex.find("lines.newsletter", tokens)
		if at >= 0 || news >= 0 || r.isNavigation(l) {
			marks++
		}
	}
	return marks >= 2
}

// withoutMailHeader drops the lines "From:", "Sent:", "Subject:" of a forwarded
// message.
func (r *reader) withoutMailHeader(lines []line) []line {
	if r.lex == nil {
		return lines
	}
	header := map[int]bool{}
	for i := range lines {
		if r.lex.match("lines.mail_header", r.tokens[lines[i].from:lines[i].to]) > 0 {
			header[i] = true
		}
	}
	if len(header) < 2 {
		return lines
	}
	kept := lines[:0]
	for i, l := range lines {
		if header[i] {
			r.ignored++
			continue
		}
		kept = append(kept, l)
	}
	return kept
}

// isNavigation reports a line of links: words of a menu and nothing else.
func (r *reader) isNavigation(l *line) bool {
	if r.isMenu(l) {
		return true
	}
	known, other, items := 0, 0, 1
	for i := l.from; i < l.to; {
		t := &r.tokens[i]
		if t.kind == mark {
			items++
			i++
			continue
		}
		if n := r.lex.match("lines.navigation", r.tokens[i:l.to]); n > 0 {
			known += n
			i += n
			continue
		}
		if t.kind != word || !t.upper {
			other += 2
		} else {
			other++
		}
		i++
	}
	return known > 0 && (other == 0 || known >= 2 && other <= known && !r.ends(l))
}

// isMenu reports a line of several short parts with wide gaps or strokes between
// them, one of which is a word of menus.
func (r *reader) isMenu(l *line) bool {
	gaps, known := 0, false
	for i := l.from; i < l.to; i++ {
		if r.tokens[i].kind == money || r.tokens[i].kind == date {
			return false
		}
		wide := i > l.from && r.tokens[i].start-r.tokens[i-1].end > 1
		if wide || r.isMark(i, "|▾·") || r.isMark(i, "/>›") && r.tokens[i].spaced {
			gaps++
		}
		known = known || (i == l.from || wide || r.tokens[i-1].kind == mark) && r.lex.match("lines.navigation", r.tokens[i:l.to]) > 0
	}
	return gaps >= 2 && known && !r.ends(l) && r.wordCount(l.from, l.to) <= 4*(gaps+1)
}

// ends reports whether a line ends as a sentence does.
func (r *reader) ends(l *line) bool { return r.isMark(l.to-1, ".!?…。！？") }

// isJunk reports a line that no ad can use.
func (r *reader) isJunk(l *line, page bool) bool {
	tokens := r.tokens[l.from:l.to]
	if !r.hasLetters(l.from, l.to) {
		return len(tokens) > 3 || !r.hasAtom(l.from, l.to)
	}
	if r.isQuote(l.from, l.to) {
		return true
	}
	if r.lex == nil {
		return false
	}
	if at := r.lex.find("lines.legal", tokens); at >= 0 && (page || len(tokens) < 40) {
		return true
	}
	if at := r.lex.find("lines.testimonial", tokens); at >= 0 && len(tokens) < 9 {
		return true
	}
	if !page {
		return false
	}
	if at := r.lex.find("lines.newsletter", tokens); at >= 0 {
		return true
	}
	return r.isNavigation(l) || r.isRelated(l) || r.isMark(l.to-1, "?") || r.lex.match("lines.section", tokens) == len(tokens) || r.lex.match("lines.faq", tokens) > 0 ||
		l.bullet && r.tokens[l.from-1].low == "—" && len(tokens) < 7
}

// isRelated reports a line that names other things of a shop.
func (r *reader) isRelated(l *line) bool {
	return r.lex != nil && r.lex.match("lines.related", r.tokens[l.from:l.to]) > 0
}

func (r *reader) hasLetters(from, to int) bool {
	for _, t := range r.tokens[from:to] {
		if t.kind == word || t.kind == named || t.kind == address {
			return true
		}
	}
	return false
}

func (r *reader) hasAtom(from, to int) bool {
	for _, t := range r.tokens[from:to] {
		if t.kind != word && t.kind != mark && t.kind != number {
			return true
		}
	}
	return false
}

// isQuote reports the words of somebody else.
func (r *reader) isQuote(from, to int) bool {
	if to-from < 6 || !r.isMark(from, `"“„«'‘`) {
		return false
	}
	for i := from + 4; i < to; i++ {
		if r.isMark(i, `"”“»’'`) {
			return true
		}
	}
	return false
}

// splitLabels reads the labels of lines. A line with several labels becomes
// several lines.
func (r *reader) splitLabels(lines []line) (list []line) {
	for _, l := range lines {
		begin := l.from
		start := l
		for i := l.from; i < l.to; i++ {
			if i > l.from && !r.isMark(i-1, ".;,|·/–-—!") {
				continue
			}
			name, value := r.labelAt(i, l.to)
			if name == "" {
				continue
			}
			if i > begin && (start.known || i-begin > 3) {
				part := start
				part.to = i
				list = append(list, part)
			}
			start = l
			start.from, start.label, start.value, start.known = i, name, value, true
			start.after = start.after && i == l.from
			begin = i
			i = value - 1
		}
		if !start.known && start.from == l.from && !l.bullet {
			r.bareLabel(&start)
		}
		if !start.known {
			start.value = r.unknownLabel(&start)
		}
		list = append(list, start)
	}
	return list
}

// bareLabel makes a line that is only a label, without its colon, the label of the
// lines below it: "NOT INCLUDED" turns what follows around.
func (r *reader) bareLabel(l *line) {
	if l.to-l.from < 2 {
		return // "Details" can be a heading of anything.
	}
	for _, lex := range r.labels {
		n, name := lex.matchNamed("labels", r.tokens[l.from:l.to])
		if n == l.to-l.from && (name == string(brief.Terms) || name == string(brief.Benefit)) {
			l.label, l.value, l.known = name, l.to, true
			return
		}
	}
}

// labelAt returns the name of the label at a token and where its value begins.
func (r *reader) labelAt(i, end int) (name string, value int) {
	for r.isMark(i, "*_") && i < end {
		i++
	}
	for _, lex := range r.labels {
		skip := 0
		for range 3 {
			n, name := lex.matchNamed("labels", r.tokens[i+skip:end])
			if n > 0 && name != "modifiers" {
				// "Date/Time:" is one label.
				if k := i + skip + n; k+1 < end && (r.isMark(k, "/&+") || lex.has("cues.and", &r.tokens[k])) {
					if m, _ := lex.matchNamed("labels", r.tokens[k+1:end]); m > 0 && r.afterColon(k+1+m, end) > 0 {
						n += 1 + m
					}
				}
				if value := r.afterColon(i+skip+n, end); value > 0 {
					return name, value
				}
			}
			m := lex.match("labels.modifiers", r.tokens[i+skip:end])
			if m == 0 {
				break
			}
			skip += m
		}
	}
	return "", 0
}

// afterColon returns the token after the colon of a label, 0 without one. Bold
// marks and a remark in brackets can be before it.
func (r *reader) afterColon(i, end int) int {
	for i < end && r.isMark(i, "*_") {
		i++
	}
	if r.isMark(i, "(") {
		for k := i; k < min(end, i+8); k++ {
			if r.isMark(k, ")") {
				i = k + 1
				break
			}
		}
	}
	if i >= end {
		return 0
	}
	colon := r.isMark(i, ":：=|") || r.isMark(i, "–—-→") && r.tokens[i].spaced && i+1 < end && r.tokens[i+1].spaced
	if !colon {
		return 0
	}
	i++
	for i < end && r.isMark(i, "*_ ") {
		i++
	}
	return i
}

// unknownLabel returns where the value of an unknown label begins, 0 if the line
// has none.
func (r *reader) unknownLabel(l *line) int {
	for i := l.from + 1; i < min(l.to, l.from+5); i++ {
		if r.tokens[i-1].kind != word {
			return 0
		}
		if r.isMark(i, ":") && i+1 < l.to && r.tokens[i+1].spaced {
			return i + 1
		}
	}
	return 0
}

// readGroup reads the line at a place, with the lines that belong to it, and
// returns the next place.
func (r *reader) readGroup(lines []line, i int) int {
	l := &lines[i]
	switch {
	case l.known && l.value < l.to:
		r.readLabel(l.label, l.value, l.to)
		return i + 1
	case l.known:
		// A label alone names the lines below it.
		next := i + 1
		for next < len(lines) && !lines[next].known && (lines[next].bullet || next == i+1 && !lines[next].after) {
			r.readLabel(l.label, lines[next].from, lines[next].to)
			next++
		}
		return next
	case l.value > 0 && i == 0 && r.form == formBullets && !l.bullet && len(lines) > 1 && lines[1].bullet:
		r.readHeading(l, true)
		return i + 1
	case l.value > 0 && (r.form == formLabels || l.bullet || r.form == formBullets):
		r.readUnknownLabel(l)
		return i + 1
	case l.bullet:
		r.readItem(l.from, l.to)
		return i + 1
	case r.isHeading(lines, i):
		r.readHeading(l, i == 0)
		if i == 0 {
			r.title = l.from
		}
		return i + 1
	}
	// Lines of one paragraph are one text.
	to := i + 1
	for to < len(lines) && !lines[to].bullet && !lines[to].known && !lines[to].after && lines[to].value == 0 && r.wraps(&lines[to-1], &lines[to]) {
		to++
	}
	r.readProse(l.from, lines[to-1].to)
	return to
}

// wraps reports whether a line goes on in the next.
func (r *reader) wraps(l, next *line) bool {
	return !r.ends(l) && l.to-l.from > 5 && next.from == l.to && (r.startsLow(next.from) || r.tokens[next.from].kind == number)
}

// isHeading reports a line that names what follows.
func (r *reader) isHeading(lines []line, i int) bool {
	l := &lines[i]
	if r.isMark(l.to-1, ":") && i+1 < len(lines) && lines[i+1].bullet {
		return true
	}
	return !r.ends(l) && r.wordCount(l.from, l.to) <= 9 && (i+1 == len(lines) || !r.wraps(l, &lines[i+1])) && len(lines) > 1
}

// readHeading reads a line without a verb at its end.
func (r *reader) readHeading(l *line, first bool) {
	if n, _ := r.askFor(l.from, l.to); n > 0 || r.isInstruction(l.from, l.to) {
		r.readProse(l.from, l.to)
		return
	}
	if r.wanted(l.from, l.to) {
		r.details(l.from, l.to)
		return
	}
	r.details(l.from, l.to)
	if r.lex == nil || !first && r.wordCount(l.from, l.to) <= 5 && r.callToAction(l.from, l.to) || !first && r.requirement(l.from, l.to) {
		return
	}
	if first && r.productAfterCue(l.from, l.to) {
		return
	}
	if !first && r.form == formPage && r.free(l.from, l.to) && !r.hasVerb(l.from, l.to) && !r.hasProduct(brief.Cued) {
		// A page names the shop before the thing.
		if end := r.nounPhrase(l.from, l.to); end > l.from && r.namesProduct(l.from, end) && (end == l.to || r.isBreak(end)) {
			r.add(brief.Product, l.from, end, brief.Guessed)
			r.title = l.from
			return
		}
	}
	if !first && r.form == formPage && r.free(l.from, l.to) && r.wordCount(l.from, l.to) >= 4 && !shouts(r.text(l.from, l.to)) && !r.isNames(l.from, l.to) {
		r.benefit(l.from, l.to, brief.Sure)
		return
	}
	if !first {
		if r.free(l.from, l.to) && r.form != formPage && r.wordCount(l.from, l.to) > 2 && !shouts(r.text(l.from, l.to)) {
			r.benefits(l.from, l.to, brief.Guessed)
		}
		return
	}
	r.readTitle(l.from, l.to)
}
