package parser

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/creative/atoms"
)

// maxCharacters is the length from which the rest of a prompt is not read. The
// API allows 4,000 characters.
const maxCharacters = 8000

// source is a prompt without markup, and where each byte of it comes from.
type source struct {
	prompt []rune
	text   string
	// at has the place in the prompt of each byte of the text, and of its end.
	at []int32
	// entities have the place of each character that is written as an entity, and
	// where the entity ends.
	entities map[int]int
	// inner are the places inside of atoms of the prompt, if markup was removed:
	// without it, the parts of an atom can be apart.
	inner map[int]bool
}

// newSource removes markup and control characters and makes all spaces alike.
// Line breaks stay; elements that begin a line begin one here.
func newSource(prompt string) *source {
	s := &source{prompt: []rune(prompt), entities: map[int]int{}}
	read := s.prompt[:min(len(s.prompt), maxCharacters)]
	var b strings.Builder
	b.Grow(len(read))
	put := func(r rune, place int) {
		for range utf8.RuneLen(r) {
			s.at = append(s.at, int32(place)) //nolint:gosec // below maxCharacters
		}
		b.WriteRune(r)
	}
	closes := lastOf(read, '>')
	for i := 0; i < len(read); i++ {
		switch r := read[i]; {
		case r == '<' && i < closes && opensTag(read, i):
			end, breaks := skipTag(read, i)
			if breaks {
				put('\n', i)
			}
			if tagName(read[i:]) == "li" {
				put('•', i)
				put(' ', i)
			}
			i = end - 1
		case r == '&' && entityAt(read, i) > 0:
			end := entityAt(read, i)
			s.entities[i] = end
			for _, r := range html.UnescapeString(string(read[i:end])) {
				if unicode.IsSpace(r) {
					r = ' '
				}
				put(r, i)
			}
			i = end - 1
		case r == '\r' || r == '\u2028' || r == '\u2029' || r == '\v' || r == '\f':
			put('\n', i)
		case r == '\n':
			put('\n', i)
		case r == '\t', r == '|':
			put('|', i)
		case unicode.IsSpace(r):
			put(' ', i)
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		default:
			put(r, i)
		}
	}
	s.text = b.String()
	if s.text != string(read) {
		s.inner = innerOf(string(read))
	}
	s.at = append(s.at, int32(len(read))) //nolint:gosec // below maxCharacters
	return s
}

// innerOf returns the places inside of the atoms of a prompt, in characters.
func innerOf(prompt string) map[int]bool {
	inner := map[int]bool{}
	at, before := 0, 0
	for _, a := range atoms.Find(prompt) {
		at += utf8.RuneCountInString(prompt[before:a.Start])
		before = a.Start
		for i := 1; i < utf8.RuneCountInString(prompt[a.Start:a.End]); i++ {
			inner[at+i] = true
		}
	}
	return inner
}

// maxEntity is the length of the longest entity that is read.
const maxEntity = 12

// entityAt returns the end of the entity that begins at a place, such as "&amp;",
// 0 without one. An entity for a part of a tag or a control character is none.
func entityAt(text []rune, i int) int {
	for end := i + 1; end < min(len(text), i+maxEntity); end++ {
		if text[end] != ';' {
			continue
		}
		plain := []rune(html.UnescapeString(string(text[i : end+1])))
		if len(plain) != 1 || plain[0] == '<' || plain[0] == '>' || plain[0] == '|' || plain[0] == utf8.RuneError || unicode.IsControl(plain[0]) || unicode.Is(unicode.Cf, plain[0]) || unicode.Is(unicode.Co, plain[0]) {
			return 0
		}
		return end + 1
	}
	return 0
}

func lastOf(text []rune, r rune) int {
	for i, other := range slices.Backward(text) {
		if other == r {
			return i
		}
	}
	return -1
}

func opensTag(text []rune, i int) bool {
	if i+1 >= len(text) {
		return false
	}
	next := text[i+1]
	return next == '/' || next == '!' || next == '?' || next < utf8.RuneSelf && unicode.IsLetter(next)
}

// inline are elements that do not begin a line.
const inline = " b i u a em strong span small sup sub mark font code abbr s del ins "

// maxTag is the length of the longest tag. More is text with a "<" in it.
const maxTag = 600

// skipTag returns the end of the element or tag at a place, and whether it ends
// a line. The content of scripts and styles is a part of it.
func skipTag(text []rune, i int) (end int, breaks bool) {
	name := tagName(text[i:])
	end = i + 1
	for limit := min(len(text), i+maxTag); end < limit && text[end] != '>'; {
		end++
	}
	if end >= len(text) || text[end] != '>' {
		return i + 1, true
	}
	end++
	if name == "script" || name == "style" {
		for ; end < len(text); end++ {
			if text[end] == '<' && end+1 < len(text) && text[end+1] == '/' && tagName(text[end:]) == "/"+name {
				end, _ = skipTag(text, end)
				break
			}
		}
	}
	return end, !strings.Contains(inline, " "+strings.TrimPrefix(name, "/")+" ")
}

func tagName(text []rune) string {
	var b strings.Builder
	for i, r := range text[1:min(len(text), 12)] {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && (r != '/' || i > 0) {
			break
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// verbatim returns the part of the prompt that a part of the text comes from, and
// whether they are the same apart from entities and the kind of a space.
func (s *source) verbatim(start, end int) (text string, from, to int, same bool) {
	part := s.text[start:end]
	_, size := utf8.DecodeLastRuneInString(part)
	from, to = int(s.at[start]), int(s.at[end-size])+1
	if after := s.entities[int(s.at[end-size])]; after > 0 {
		to = after
	}
	text = string(s.prompt[from:to])
	if strings.Contains(text, "&") {
		text = html.UnescapeString(text)
	}
	if text == part {
		return text, from, to, html.UnescapeString(text) == text
	}
	a, b := []rune(text), []rune(part)
	if len(a) != len(b) {
		return text, from, to, false
	}
	for i, r := range a {
		if r != b[i] && (b[i] != ' ' || !unicode.IsSpace(r)) {
			return text, from, to, false
		}
	}
	return text, from, to, html.UnescapeString(text) == text
}
