package parser

import (
	"regexp"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/creative/atoms"
)

type tokenKind uint8

const (
	word tokenKind = iota
	mark
	money
	percent
	date
	phone
	number
	// named is a name with a digit or a symbol, or a code.
	named
	// address is a web address, an email address or a handle.
	address
)

var kindOfAtom = map[atoms.Kind]tokenKind{
	atoms.Date: date, atoms.Money: money, atoms.Percent: percent, atoms.Phone: phone, atoms.Number: number, atoms.Name: named,
}

// token is a word, a mark or an atom. No rule cuts a token.
type token struct {
	start, end int
	kind       tokenKind
	// low is the text in lower case.
	low string
	// upper reports a capital at the start.
	upper bool
	// spaced reports a space, a line break or the start of the text before.
	spaced bool
}

var (
	webAddress = regexp.MustCompile(`(?i)^(?:https?://|www\.)[^\s<>"'“”()|]+|^[\pL\d][\pL\d-]*(?:\.[\pL\d-]+)*\.(?:com|org|net|de|fr|es|it|pt|uk|eu|at|ch|io|co|app|dev|shop|store|br|mx|ar|us|ca|au|nz|ie|be|nl|info|biz|studio|health|care|school|academy|travel|events|design|example|coop|earth|life|fit|cafe|bike|tv|me|ly|club|online|site)\b(?:/[^\s<>"'“”()|,;]*)?`)
	mail       = regexp.MustCompile(`^[\pL\d._%+-]+@[\pL\d-]+(?:\.[\pL\d-]+)+`)
	handle     = regexp.MustCompile(`^@[\pL\d_][\pL\d_.]*[\pL\d_]`)
)

// addressesOf finds web addresses, email addresses and handles. Only words with
// a point or an "@" inside can be one.
func addressesOf(text string) (list [][2]int) {
	for i := 0; i < len(text); {
		size := strings.IndexAny(text[i:], " \n|<>\"“”(),;")
		if size < 0 {
			size = len(text) - i
		}
		part := text[i : i+size]
		for part != "" && strings.ContainsAny(part, ".@") {
			var m []int
			for _, re := range []*regexp.Regexp{mail, handle, webAddress} {
				if m = re.FindStringIndex(part); m != nil {
					break
				}
			}
			if m != nil {
				end := len(strings.TrimRight(part[:m[1]], ".,;:!?"))
				list = append(list, [2]int{i, i + end})
				break
			}
			// A mark can be before the address: "Web:lumo.com".
			cut := strings.IndexAny(part, ":'*_[→")
			if cut < 0 || cut+1 >= len(part) {
				break
			}
			_, width := utf8.DecodeRuneInString(part[cut:])
			part = part[cut+width:]
			i += cut + width
			size -= cut + width
		}
		i += size
		if i < len(text) {
			_, width := utf8.DecodeRuneInString(text[i:])
			i += width
		}
	}
	return list
}

// tokenize cuts a text into tokens. elides reports a language in which a short
// word with an apostrophe is a word of its own: "l'offre".
func tokenize(text string, elides bool) []token {
	return tokenizeAround(text, atomTokens(text), elides)
}

// tokenizeAround cuts what is around the atoms of a text.
func tokenizeAround(text string, fixed []token, elides bool) []token {
	var list []token
	next, spaced := 0, true
	add := func(start, end int, kind tokenKind) {
		first, _ := utf8.DecodeRuneInString(text[start:end])
		low := strings.ReplaceAll(strings.ToLower(text[start:end]), "’", "'")
		list = append(list, token{start, end, kind, low, unicode.IsUpper(first), spaced})
		spaced = false
	}
	for i := 0; i < len(text); {
		if next < len(fixed) && fixed[next].start == i {
			end, kind := fixed[next].end, fixed[next].kind
			next++
			if last := len(list) - 1; kind == number && !spaced && last >= 0 && isCurrency(list[last].low) {
				// "$85pp" is an amount with its unit.
				list[last].end, list[last].kind = end, money
				list[last].low += strings.ToLower(text[i:end])
				i = end
				continue
			}
			if far := compoundEnd(text, end); kind == number && far > end {
				end, kind = far, word
				for next < len(fixed) && fixed[next].start < end {
					next++
				}
			}
			add(i, end, kind)
			i = end
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(r):
			spaced = true
			i += size
		case isWordRune(r):
			limit := len(text)
			if next < len(fixed) {
				limit = fixed[next].start
			}
			end := wordEnd(text[:limit], i, elides)
			add(i, end, word)
			i = end
		default:
			add(i, i+size, mark)
			i += size
		}
	}
	return list
}

// atomTokens finds addresses and atoms, in order and without overlaps.
func atomTokens(text string) []token {
	var list []token
	for _, m := range addressesOf(text) {
		list = append(list, token{start: m[0], end: m[1], kind: address})
	}
	for _, a := range atoms.Find(text) {
		list = append(list, token{start: a.Start, end: a.End, kind: kindOfAtom[a.Kind]})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].start < list[j].start })
	kept, end := list[:0], 0
	for i, t := range list {
		inside := t.kind != address && i+1 < len(list) && list[i+1].kind == address && list[i+1].start < t.end
		if t.start < end || inside {
			continue
		}
		if n := len(kept); n > 0 && t.kind == money && kept[n-1].kind == money && isDash(text[kept[n-1].end:t.start]) {
			// "£18-£22" is one amount.
			kept[n-1].end, end = t.end, t.end
			continue
		}
		kept, end = append(kept, t), t.end
	}
	return kept
}

func isCurrency(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	return size == len(text) && unicode.Is(unicode.Sc, r)
}

// compoundEnd returns the end of a word that goes on after a number: "6-week".
func compoundEnd(text string, end int) int {
	if end+1 >= len(text) || text[end] != '-' {
		return end
	}
	if r, _ := utf8.DecodeRuneInString(text[end+1:]); !unicode.IsLetter(r) {
		return end
	}
	return wordEnd(text, end+1, false)
}

func isDash(text string) bool {
	switch strings.TrimSpace(text) {
	case "-", "–", "—":
		return true
	}
	return false
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// wordEnd returns the end of the word at a place. Hyphens, apostrophes and "&"
// between letters are parts of it.
func wordEnd(text string, start int, elides bool) int {
	end := start
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if isWordRune(r) {
			end += size
			continue
		}
		after, _ := utf8.DecodeRuneInString(text[end+size:])
		switch {
		case r == '\'' || r == '’':
			if !isWordRune(after) {
				return end
			}
			if elides && end-start <= 6 {
				return end + size
			}
		case (r == '-' || r == '‑' || r == '&' || r == '/' && end-start < 4) && isWordRune(after):
		default:
			return end
		}
		end += size
	}
	return end
}

// wordsOf cuts a phrase of a list as tokenize cuts a text.
func wordsOf(phrase string, elides bool) (list []string) {
	for part := range strings.FieldsSeq(strings.ToLower(phrase)) {
		for i := 0; i < len(part); {
			end := wordEnd(part, i, elides)
			if end == i {
				_, size := utf8.DecodeRuneInString(part[i:])
				end = i + size
			}
			list = append(list, part[i:end])
			i = end
		}
	}
	return list
}
