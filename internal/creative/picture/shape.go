package picture

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/segmenter"
	"golang.org/x/text/unicode/bidi"
)

// faces are the fonts of a text, the preferred one first.
type faces struct{ list []*typeface }

// shape converts a word to glyphs. Its error names the first character that no
// font has. rtl is the direction of the picture, which spaces and punctuation
// follow.
func (f *faces) shape(text string, tracking float64, rtl bool) (word, error) {
	runes := []rune(text)
	w := word{text: text, glyphs: make([]placedGlyph, 0, len(runes)), against: isAgainst(runes, rtl)}
	runs := splitDirections(runes, rtl)
	if rtl {
		slices.Reverse(runs)
	}
	for _, run := range runs {
		parts, err := f.splitFonts(run.runes)
		if err != nil {
			return word{}, err
		}
		if run.rtl {
			slices.Reverse(parts)
		}
		for _, p := range parts {
			if len(w.glyphs) > 0 {
				w.width += tracking
			}
			if err := p.face.appendRun(&w, p.runes, run.rtl, tracking); err != nil {
				return word{}, missingGlyphError(p.runes[0])
			}
		}
	}
	return w, nil
}

// fontRun is a part of a word in one font.
type fontRun struct {
	face  *typeface
	runes []rune
}

// splitFonts splits a text where the font changes.
func (f *faces) splitFonts(runes []rune) (list []fontRun, err error) {
	for _, r := range runes {
		n := len(list)
		joins := joinsPrevious(r)
		if n > 0 && (joins || list[n-1].face.covers(r) && list[n-1].face == f.list[0]) {
			list[n-1].runes = append(list[n-1].runes, r)
			continue
		}
		i := slices.IndexFunc(f.list, func(t *typeface) bool { return t.covers(r) })
		if i < 0 && joins {
			i = 0
		}
		if i < 0 {
			return nil, missingGlyphError(r)
		}
		if n > 0 && list[n-1].face == f.list[i] {
			list[n-1].runes = append(list[n-1].runes, r)
			continue
		}
		list = append(list, fontRun{f.list[i], []rune{r}})
	}
	return list, nil
}

const (
	zeroWidthJoiner    = '\u200d'
	zeroWidthNonJoiner = '\u200c'
)

// directionRun is a part of a word that is read in one direction.
type directionRun struct {
	rtl   bool
	runes []rune
}

// splitDirections splits a word where the reading direction changes, in the
// order of the text. It follows the Unicode Bidirectional Algorithm as far as
// words need it: numbers and Latin are read from left to right, also inside
// Arabic, and other signs follow the picture.
func splitDirections(runes []rune, rtl bool) (list []directionRun) {
	// Choice: the signs of a Latin word stay with it: "Co." in Arabic keeps its
	// point where readers of the name expect it.
	if !slices.ContainsFunc(runes, isRTL) && (!rtl || isAgainst(runes, rtl)) {
		return []directionRun{{false, runes}}
	}
	for i, r := range runes {
		to := rtl
		switch classOf(r) {
		case bidi.L, bidi.EN, bidi.AN:
			to = false
		case bidi.R, bidi.AL:
			to = true
		case bidi.NSM:
			if len(list) > 0 {
				to = list[len(list)-1].rtl
			}
		case bidi.ES, bidi.CS, bidi.ET:
			// "20%", "29,90", "€5".
			if i > 0 && isNumber(runes[i-1]) || i+1 < len(runes) && isNumber(runes[i+1]) {
				to = false
			}
		}
		if n := len(list); n > 0 && list[n-1].rtl == to {
			list[n-1].runes = append(list[n-1].runes, r)
			continue
		}
		list = append(list, directionRun{to, []rune{r}})
	}
	return list
}

func classOf(r rune) bidi.Class {
	p, _ := bidi.LookupRune(r)
	return p.Class()
}

func isRTL(r rune) bool {
	c := classOf(r)
	return c == bidi.R || c == bidi.AL
}

func isNumber(r rune) bool {
	c := classOf(r)
	return c == bidi.EN || c == bidi.AN
}

// isAgainst reports whether a word has letters of the other direction only.
func isAgainst(runes []rune, rtl bool) bool {
	with := slices.ContainsFunc(runes, isRTL) == rtl
	if !rtl {
		return !with
	}
	return !with && slices.ContainsFunc(runes, func(r rune) bool { return classOf(r) == bidi.L })
}

// readsRightToLeft reports whether the first letter of a text does.
func readsRightToLeft(s string) bool {
	for _, r := range s {
		switch classOf(r) {
		case bidi.L:
			return false
		case bidi.R, bidi.AL:
			return true
		}
	}
	return false
}

// attachedSigns stay on the line of the word before them: French puts a space
// between the two.
const attachedSigns = "!?:;»%€$£"

// piece is a word of a text. It is joined if no space is before it.
type piece struct {
	text   string
	joined bool
}

// splitWords splits a text at the spaces where a line may end.
func splitWords(s string) []string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\u00a0' || r == '\u202f':
			return '\u00a0'
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return ' '
		case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
			return r
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

// splitPieces splits a text at all positions where a line may end: at spaces,
// and between signs of scripts that write none.
func splitPieces(s string) (list []piece) {
	for _, w := range splitWords(s) {
		runes := []rune(w)
		if !slices.ContainsFunc(runes, writesNoSpaces) {
			list = append(list, piece{text: w})
			continue
		}
		for i, part := range breakScript(runes) {
			list = append(list, piece{text: string(part), joined: i > 0})
		}
	}
	return list
}

// writesNoSpaces reports whether a script writes no spaces between words.
func writesNoSpaces(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// breakScript splits a text of such a script where Unicode's rules for line
// breaks allow it.
//
// Choice: Thai and its relatives need a dictionary for that. A line may end
// before their leading vowels, which always begin a syllable.
func breakScript(runes []rune) (list [][]rune) {
	var s segmenter.Segmenter
	s.Init(runes)
	for lines := s.LineIterator(); lines.Next(); {
		part := lines.Line().Text
		start := 0
		for i, r := range part {
			if i > start && (r >= 'เ' && r <= 'ไ' || r >= 'ເ' && r <= 'ໄ') {
				list, start = append(list, part[start:i]), i
			}
		}
		list = append(list, part[start:])
	}
	return list
}
