package picture

import (
	"math"
)

// text is measured and not yet placed. Its lengths are in em, so that another
// size needs only a multiplication.
type text struct {
	words []word
	space float64
	// lineHeight is the distance between base lines. ascent and descent are the
	// largest heights of the glyphs above and below one.
	lineHeight, ascent, descent float64
	// own has the fonts of the text, and tracking and rtl how they are set.
	own      *faces
	tracking float64
	rtl      bool
}

// textSetting is how to measure a text.
type textSetting struct {
	tracking, lead float64
	rtl            bool
}

// measureText measures a text. Line breaks and other spaces count as one space;
// invisible characters are omitted.
func measureText(own *faces, s string, set textSetting) (text, error) {
	t := text{ascent: capHeight, descent: 0.02, own: own, tracking: set.tracking, rtl: set.rtl}
	space, err := own.shape(" ", 0, false)
	if err != nil {
		return text{}, err
	}
	t.space = space.width + set.tracking
	for _, part := range splitPieces(s) {
		w, err := own.shape(part.text, set.tracking, set.rtl)
		if err != nil {
			return text{}, err
		}
		w.joined = part.joined
		ink := w.inkBounds()
		t.ascent, t.descent = max(t.ascent, -ink.y0), max(t.descent, ink.y1)
		t.words = append(t.words, w)
	}
	t.lineHeight = max(set.lead, t.ascent+t.descent+0.04)
	return t, nil
}

// noText is the value of a text that is absent.
var noText text

func (t text) empty() bool { return len(t.words) == 0 }

// gap returns the width of the space before a word.
func (t text) gap(w word) float64 {
	if w.joined {
		return 0
	}
	return t.space
}

// lineCount returns the smallest number of lines, 0 if a word is wider than a
// line.
func (t text) lineCount(width float64) int {
	n, at := 0, math.Inf(1)
	for _, w := range t.words {
		if w.width > width {
			return 0
		}
		if at+t.gap(w)+w.width > width {
			n, at = n+1, w.width
		} else {
			at += t.gap(w) + w.width
		}
	}
	return n
}

// width returns the width of the text on one line.
func (t text) width() float64 {
	var w float64
	for i, part := range t.words {
		if i > 0 {
			w += t.gap(part)
		}
		w += part.width
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

// breakWords breaks words that are wider than a line. Each piece fills its
// line, so that the next piece starts a new one.
func (t text) breakWords(width float64) text {
	var words []word
	for _, w := range t.words {
		for w.width > width {
			head, rest, ok := t.breakWord(w, width)
			if !ok {
				break
			}
			words, w = append(words, head), rest
		}
		words = append(words, w)
	}
	t.words = words
	return t
}

// breakWord splits a word so that its first piece fits on a line, but has at
// least one letter. It reports false for a word of one letter.
func (t text) breakWord(w word, width float64) (head, rest word, ok bool) {
	runes := []rune(w.text)
	for i := 1; i < len(runes); i++ {
		if joinsPrevious(runes[i]) {
			continue
		}
		next, err := t.own.shape(string(runes[:i]), t.tracking, t.rtl)
		if err != nil || ok && next.width > width {
			break
		}
		tail, err := t.own.shape(string(runes[i:]), t.tracking, t.rtl)
		if err != nil {
			break
		}
		head, rest, ok = next, tail, true
	}
	head.joined, rest.joined = w.joined, false
	return head, rest, ok
}
