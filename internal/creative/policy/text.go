package policy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// parsedText is a text in the forms that rules use. Rules match the folded form
// or its tokens and return positions in the original text.
type parsedText struct {
	// text is the original text, runes its code points.
	text  string
	runes []rune
	// folded is lower case, without accents and invisible characters. Runs of
	// spaces and hyphens, except in ranges, become one space, so that words
	// match however they are typed.
	folded string
	// positions maps each byte of folded to its code point, with one more entry
	// for the end of the text.
	positions []int
	tokens    []token
	numbers   []number
	// lenient is set for the text of a source: what it states counts even where
	// an exception applies.
	lenient bool
	// languages has the language of the source, if it is known.
	languages languageSet
	// plain is set for the reading of a text without disguises.
	plain bool
	// frames are the places of the frames by rule; frameSpans fills it.
	frames map[string][]span
}

// token is a word, a number or a mark of a text.
type token struct {
	text       string
	start, end int
	kind       tokenKind
}

type tokenKind byte

const (
	wordToken tokenKind = iota
	numberToken
	// markToken is a character that some rule uses: the end of a sentence,
	// currencies, %, # and the dash of a range.
	markToken
)

func parseText(text string) *parsedText {
	runes := []rune(text)
	// In every form, each invalid byte is one character.
	p := &parsedText{text: string(runes), runes: runes, positions: make([]int, 0, len(text)+1)}
	var b strings.Builder
	b.Grow(len(text))
	for i, r := range p.runes {
		p.foldRune(&b, i, r)
	}
	p.positions = append(p.positions, len(p.runes))
	p.folded = b.String()
	p.tokenize()
	p.numbers = parseNumbers(p.tokens)
	return p
}

// plainSpelling maps letters without a Unicode decomposition to their plain
// spelling.
var plainSpelling = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ł': "l", 'ı': "i",
	'’': "'", '‘': "'", 'ʼ': "'", '´': "'", '٪': "%",
}

func (p *parsedText) foldRune(b *strings.Builder, i int, r rune) {
	write := func(s string) {
		b.WriteString(s)
		for range len(s) {
			p.positions = append(p.positions, i)
		}
	}
	switch {
	case 'A' <= r && r <= 'Z':
		write(string(r + 'a' - 'A'))
	case r == '\n':
		write("\n")
	case unicode.IsSpace(r) || unicode.Is(unicode.Pd, r) && !p.isRange(b.String(), i):
		if s := b.String(); s != "" && s[len(s)-1] != ' ' && s[len(s)-1] != '\n' {
			write(" ")
		}
	case unicode.Is(unicode.Pd, r):
		write("-")
	case r < utf8.RuneSelf:
		write(string(r))
	case unicode.IsDigit(r):
		write(string(rune('0' + digitValue(r))))
	case isInvisible(r):
	default:
		write(foldLetter(unicode.ToLower(r)))
	}
}

// isRange reports whether the dash at i is between two numbers.
func (p *parsedText) isRange(before string, i int) bool {
	numeric := func(r rune) bool { return unicode.IsDigit(r) || r == '%' || unicode.Is(unicode.Sc, r) }
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, " "))
	next := slices.IndexFunc(p.runes[i+1:], func(r rune) bool { return r != ' ' })
	return next >= 0 && numeric(last) && numeric(p.runes[i+1+next])
}

// digitValue returns the value of a decimal digit of any script. Unicode groups
// them by ten.
func digitValue(r rune) int {
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return int(r-rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return int(r-rune(t.Lo)) % 10
		}
	}
	return 0
}

func foldLetter(r rune) string {
	if s, ok := plainSpelling[r]; ok {
		return s
	}
	s := string(r)
	if d := norm.NFKD.PropertiesString(s).Decomposition(); d != nil {
		s = string(d)
	}
	return strings.Map(func(r rune) rune {
		// Remove only accents: marks of other scripts are letters.
		if 0x300 <= r && r <= 0x36f {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// foldText returns a word in folded form.
func foldText(word string) string { return strings.TrimSpace(parseText(word).folded) }

// originalRange maps a range of folded to positions in the text. The range
// includes characters that folding removed after the last letter, such as its
// accent.
func (p *parsedText) originalRange(from, to int) (start, end int) {
	return p.positions[from], max(p.positions[to], p.positions[to-1]+1)
}

// slice returns a part of the original text.
func (p *parsedText) slice(start, end int) string { return string(p.runes[start:end]) }

const tokenMarks = ".!?\n%#+-¢"

// tokenize splits the folded text into tokens.
func (p *parsedText) tokenize() {
	s := p.folded
	p.tokens = make([]token, 0, len(s)/4)
	add := func(from, to int, kind tokenKind) {
		start, end := p.originalRange(from, to)
		p.tokens = append(p.tokens, token{s[from:to], start, end, kind})
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		end := i + size
		switch {
		case '0' <= r && r <= '9':
			end = numberEnd(s, i)
			add(i, end, numberToken)
		case isWide(r) && unicode.IsLetter(r):
			// In scripts without spaces, every character is a word.
			add(i, end, wordToken)
		case unicode.IsLetter(r) || unicode.IsMark(r) || isPossessive(s[i:]):
			end = wordEnd(s, i)
			add(i, end, wordToken)
		case strings.ContainsRune(tokenMarks, r) || unicode.Is(unicode.Sc, r):
			add(i, end, markToken)
		}
		i = end
	}
}

// wordEnd returns the end of the word at i. A word includes apostrophes and,
// after a Latin letter, digits. A possessive 's is a separate word.
func wordEnd(s string, i int) int {
	for j, r := range s[i:] {
		rest := s[i+j:]
		switch {
		case j == 0:
		case r == '\'':
			next, _ := utf8.DecodeRuneInString(rest[1:])
			if !unicode.IsLetter(next) || isPossessive(rest) {
				return i + j
			}
		case '0' <= r && r <= '9':
			if before := s[i+j-1]; before >= utf8.RuneSelf {
				return i + j
			}
		case !unicode.IsLetter(r) && !unicode.IsMark(r) || isWide(r):
			return i + j
		}
	}
	return len(s)
}

func isPossessive(s string) bool {
	rest, ok := strings.CutPrefix(s, "'s")
	r, _ := utf8.DecodeRuneInString(rest)
	return ok && !isWordRune(r)
}

// numberEnd returns the end of the number at i. It includes separators that a
// digit follows, and a space only if it groups thousands.
func numberEnd(s string, i int) int {
	digits := func(j int) int {
		n := 0
		for j+n < len(s) && '0' <= s[j+n] && s[j+n] <= '9' {
			n++
		}
		return n
	}
	n := digits(i)
	grouped := n <= 3
	for i += n; i < len(s); i += 1 + n {
		n = digits(i + 1)
		groups := s[i] == ' ' && grouped && n == 3
		if n == 0 || !groups && !strings.ContainsRune(".,':/", rune(s[i])) {
			break
		}
		grouped = n == 3
	}
	return i
}

// isWordRune reports whether a character continues a word.
func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func endsSentence(x token) bool {
	return x.text == "." || x.text == "!" || x.text == "?" || x.text == "\n"
}
