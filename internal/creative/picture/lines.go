package picture

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is a sequence of words, in em.
type line struct {
	words []word
	width float64
}

//go:embed data/weak_words.txt
var weakWordData string

// weakWords are the words that must not end a line.
var weakWords = func() map[string]bool {
	all := map[string]bool{}
	for row := range strings.SplitSeq(weakWordData, "\n") {
		if fields := strings.Fields(row); len(fields) > 1 && fields[0] != "#" {
			for _, w := range fields[1:] {
				all[w] = true
			}
		}
	}
	return all
}()

// The costs of a line break, beside the squared share by which a line is shorter
// than wanted.
const (
	// costWeak is for a line that ends with a word that belongs to the next, or
	// with a number before its noun.
	costWeak = 0.3
	// costOrphan is for a last line of a single short word.
	costOrphan = 0.35
	// gainPause is what a line wins that ends where a speaker pauses, gainStop
	// one that ends where a sentence does.
	gainPause = 0.05
	gainStop  = 0.12
)

// breakLines breaks the text into the smallest number of lines and minimizes
// the sum of their costs: even lines, no single word on the last line, breaks
// where a speaker pauses and not after an article. The text must fit.
func (t text) breakLines(width float64, even bool) []line {
	n, k := len(t.words), t.lineCount(width)
	if k == 0 {
		return nil
	}
	// from[i] is where word i starts if all words are on one line, end[i] where
	// the word before it ends.
	from, end := make([]float64, n+1), make([]float64, n+1)
	for i, w := range t.words {
		end[i+1] = from[i] + w.width
		from[i+1] = end[i+1]
		if i+1 < n {
			from[i+1] += t.gap(t.words[i+1])
		}
	}
	target := width
	if even {
		target = min(width, end[n]/float64(k)*1.04)
	}
	// cost[j][i] is the smallest cost of the first i words on j lines.
	cost, start := make([][]float64, k+1), make([][]int, k+1)
	for j := range cost {
		cost[j], start[j] = slices.Repeat([]float64{math.Inf(1)}, n+1), make([]int, n+1)
	}
	cost[0][0] = 0
	for j := 1; j <= k; j++ {
		for i := j; i <= n; i++ {
			for h := i - 1; h >= j-1; h-- {
				w := end[i] - from[h]
				if w > width+1e-9 {
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
		lines[j-1] = line{words: t.words[h:i], width: end[i] - from[h]}
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
			return gap*gap + costOrphan
		case even:
			return gap * gap
		}
		return max(0, 0.35-w/target)
	}
	return gap*gap + breakCost(t.words[i-1].text, t.words[i].text)
}

// breakCost returns the cost of a line break between two words.
func breakCost(last, next string) float64 {
	r, _ := utf8.DecodeLastRuneInString(last)
	switch {
	case strings.ContainsRune(".!?…。！？", r):
		return -gainStop
	case strings.ContainsRune(",:;–—،、", r):
		return -gainPause
	case weakWords[strings.ToLower(strings.Trim(last, "'’\"“”„«»()"))]:
		return costWeak
	case strings.IndexFunc(last, unicode.IsDigit) >= 0 && startsLower(next):
		// "12 workshops", "20% off", "9 $ pro Monat".
		return costWeak
	}
	return 0
}

func startsLower(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r)
}

// order returns the words of a line, by index, as they are placed from the side
// where reading starts: sequences in the other direction are reversed, with the
// numbers between their words.
func (l line) order() []int {
	list := make([]int, len(l.words))
	for i := range list {
		list[i] = i
	}
	for i := 0; i < len(list); i++ {
		if !l.words[i].against {
			continue
		}
		end := i + 1
		for j := i + 1; j < len(list); j++ {
			if l.words[j].against {
				end = j + 1
			} else if strings.IndexFunc(l.words[j].text, unicode.IsLetter) >= 0 {
				break
			}
		}
		slices.Reverse(list[i:end])
		i = end - 1
	}
	return list
}

// joinsPrevious reports whether a character belongs to the letter before it.
func joinsPrevious(r rune) bool {
	return unicode.Is(unicode.M, r) || r == zeroWidthJoiner || r == zeroWidthNonJoiner
}
