package picture

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text is measured and not yet placed. Its lengths are in em, so that another
// size needs only a multiplication.
type text struct {
	words []word
	space float64
	// lineHeight is the distance between base lines. ascent and descent are the
	// largest heights of the glyphs above and below one.
	lineHeight, ascent, descent float64
}

// measureText measures a text. Line breaks and other spaces count as one space;
// invisible characters are omitted.
func measureText(face *typeface, s string, tracking, lead float64) (text, error) {
	t := text{ascent: capHeight, descent: 0.02}
	space, err := face.shape(" ", 0)
	if err != nil {
		return text{}, err
	}
	t.space = space.width + tracking
	for _, part := range splitWords(s) {
		w, err := face.shape(part, tracking)
		if err != nil {
			return text{}, err
		}
		ink := w.inkBounds()
		t.ascent, t.descent = max(t.ascent, -ink.y0), max(t.descent, ink.y1)
		t.words = append(t.words, w)
	}
	t.lineHeight = max(lead, t.ascent+t.descent+0.04)
	return t, nil
}

// noText is the value of a text that is absent.
var noText text

func (t text) empty() bool { return len(t.words) == 0 }

// attachedSigns stay on the line of the word before them: French puts a space
// between the two.
const attachedSigns = "!?:;»%€$£"

// splitWords splits a text at the positions where a line may end.
func splitWords(s string) []string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\u00a0' || r == '\u202f':
			return '\u00a0'
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
	var words []string
	for part := range strings.SplitSeq(s, " ") {
		part = strings.Trim(part, "\u00a0")
		switch {
		case part == "":
		case len(words) > 0 && strings.Trim(part, attachedSigns) == "":
			words[len(words)-1] += "\u00a0" + part
		default:
			words = append(words, part)
		}
	}
	return words
}

// line is a sequence of words, in em.
type line struct {
	words []word
	width float64
}

// lineCount returns the smallest number of lines, 0 if a word is wider than a
// line.
func (t text) lineCount(width float64) int {
	n, at := 0, math.Inf(1)
	for _, w := range t.words {
		if w.width > width {
			return 0
		}
		if at+t.space+w.width > width {
			n, at = n+1, w.width
		} else {
			at += t.space + w.width
		}
	}
	return n
}

// width returns the width of the text on one line.
func (t text) width() float64 {
	w := -t.space
	for _, part := range t.words {
		w += part.width + t.space
	}
	return w
}

// widestWord returns the width of the widest word.
func (t text) widestWord() float64 {
	var widest float64
	for _, w := range t.words {
		widest = max(widest, w.width)
	}
	return widest
}

// breakLines breaks the text into the smallest number of lines and minimizes
// the sum of their costs: even lines, no single word on the last line, breaks
// after a comma and not after an article. The text must fit.
func (t text) breakLines(width float64, even bool) []line {
	n, k := len(t.words), t.lineCount(width)
	if k == 0 {
		return nil
	}
	from := make([]float64, n+1)
	for i, w := range t.words {
		from[i+1] = from[i] + w.width + t.space
	}
	target := width
	if even {
		target = min(width, (from[n]-t.space)/float64(k)*1.04)
	}
	// cost[j][i] is the smallest cost of the first i words on j lines.
	cost, start := make([][]float64, k+1), make([][]int, k+1)
	for j := range cost {
		cost[j], start[j] = make([]float64, n+1), make([]int, n+1)
		for i := range cost[j] {
			cost[j][i] = math.Inf(1)
		}
	}
	cost[0][0] = 0
	for j := 1; j <= k; j++ {
		for i := j; i <= n; i++ {
			for h := i - 1; h >= j-1; h-- {
				w := from[i] - from[h] - t.space
				if w > width {
					break
				}
				if c := cost[j-1][h] + t.lineCost(h, i, w, target, even); c < cost[j][i] {
					cost[j][i], start[j][i] = c, h
				}
			}
		}
	}
	lines := make([]line, k)
	for j, i := k, n; j > 0; j-- {
		h := start[j][i]
		lines[j-1] = line{words: t.words[h:i], width: from[i] - from[h] - t.space}
		i = h
	}
	return lines
}

// lineCost returns the cost of a line with the words from h to i.
func (t text) lineCost(h, i int, w, target float64, even bool) float64 {
	gap := (target - w) / target
	if i == len(t.words) {
		switch {
		case h > 0 && i-h == 1 && w < 0.6*target:
			return gap*gap + 0.25
		case even:
			return gap * gap
		}
		return max(0, 0.35-w/target)
	}
	bad := gap * gap
	last := t.words[i-1].text
	switch r, _ := utf8.DecodeLastRuneInString(last); {
	case strings.ContainsRune(".,:;!?…–—", r):
		bad -= 0.03
	case utf8.RuneCountInString(last) <= 3:
		bad += 0.03
	}
	return bad
}

// breakWords breaks words that are wider than a line. Each piece fills its
// line, so that the next piece starts a new one.
func (t text) breakWords(width float64) text {
	var words []word
	for _, w := range t.words {
		for w.width > width && len(w.glyphs) > 1 {
			n := w.glyphsWithin(width)
			head := word{glyphs: w.glyphs[:n], width: w.glyphs[n].x}
			rest := word{width: w.width - w.glyphs[n].x}
			for _, g := range w.glyphs[n:] {
				g.x -= head.width
				rest.glyphs = append(rest.glyphs, g)
			}
			runes := []rune(w.text)
			at := w.glyphs[n].cluster - w.glyphs[0].cluster
			head.text, rest.text = string(runes[:at]), string(runes[at:])
			words, w = append(words, head), rest
		}
		words = append(words, w)
	}
	t.words = words
	return t
}

// glyphsWithin returns how many glyphs of the word fit on a line, at least one.
func (w word) glyphsWithin(width float64) int {
	n := 0
	for i := 1; i < len(w.glyphs); i++ {
		if w.glyphs[i].cluster == w.glyphs[i-1].cluster {
			continue
		}
		if n > 0 && w.glyphs[i].x > width {
			break
		}
		n = i
	}
	return max(n, 1)
}
