package policy

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	hiddenElement = regexp.MustCompile(`(?is)<!--.*?-->|<script\b[^>]*>.*?</script\s*>|<style\b[^>]*>.*?</style\s*>`)
	lineTag       = regexp.MustCompile(`(?i)</?(?:br|p|div|li|ul|ol|tr|table|h[1-6]|section|article)\b[^<>]*>`)
	htmlTag       = regexp.MustCompile(`<[a-zA-Z/!?][^<>]*>`)
	// openTag is the start of a tag that is not closed.
	openTag    = regexp.MustCompile(`<([a-zA-Z/!?])`)
	htmlEntity = regexp.MustCompile(`&#?[0-9A-Za-z]+;`)
	scriptCode = regexp.MustCompile(`(?i)\b(?:javascript|vbscript):\S|\bdata:[a-z]+/[a-z]|\bon(?:error|load|click|focus|mouseover)=`)
)

// maxCleanPasses is the maximum number of passes over nested markup before all
// markup characters are removed.
const maxCleanPasses = 4

// Clean converts any text to plain text. It removes tags and invisible
// characters, decodes entities and collapses spaces. It joins lines unless
// multiline is set, which keeps lines and paragraphs. Clean is idempotent.
func Clean(text string, multiline bool) string {
	for n := 0; ; n++ {
		before := text
		text = stripMarkup(html.UnescapeString(stripInvisible(text)))
		if text == before {
			break
		}
		if n == maxCleanPasses {
			text = strings.NewReplacer("&", "", "<", "", ">", "").Replace(text)
		}
	}
	return collapseSpaces(text, multiline)
}

func stripMarkup(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	plain := hiddenElement.ReplaceAllString(text, "")
	plain = lineTag.ReplaceAllString(plain, "\n")
	plain = htmlTag.ReplaceAllString(plain, "")
	if plain != text {
		// The remainder of a tag may start another tag.
		return plain
	}
	return openTag.ReplaceAllString(text, "$1")
}

// stripInvisible removes invisible characters, but keeps joiners that join
// characters.
func stripInvisible(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			return '\n'
		case unicode.IsSpace(r):
			return ' '
		case r == zwnj || r == zwj:
			return r
		case isInvisible(r):
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
	if !strings.ContainsRune(text, zwj) && !strings.ContainsRune(text, zwnj) {
		return text
	}
	var b strings.Builder
	var before rune
	for i, r := range text {
		if r == zwj || r == zwnj {
			after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			if !isJoinable(before) || !isJoinable(after) {
				continue
			}
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

const zwnj, zwj = '\u200c', '\u200d'

// isJoinable reports whether a joiner next to r has a meaning: in scripts such
// as Persian or Hindi and in composed emoji.
func isJoinable(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) || isEmoji(r)
}

// isInvisible reports whether a character is not visible or changes how others
// are read: controls, direction marks, zero width, fillers, private use.
func isInvisible(r rune) bool {
	switch r {
	case utf8.RuneError, '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

// collapseSpaces collapses spaces. In a multiline text it keeps lines, and one
// empty line between paragraphs.
func collapseSpaces(text string, multiline bool) string {
	if !multiline {
		return strings.Join(strings.Fields(text), " ")
	}
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.Join(strings.Fields(line), " ")
		if line != "" || len(kept) > 0 && kept[len(kept)-1] != "" {
			kept = append(kept, line)
		}
	}
	return strings.TrimRight(strings.Join(kept, "\n"), "\n")
}
