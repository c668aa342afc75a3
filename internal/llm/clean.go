package llm

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// plainText converts model output to plain text: no markup, no control or
// direction characters, no invisible ones. Line breaks are kept only in fields
// that allow them.
func plainText(s string, lines bool) string {
	// Removing one part can create another, as in <\x00b> or &lt;b>.
	for {
		next := strings.Map(dropInvisible, s)
		next = emphasis.ReplaceAllString(stripTags(next), "$1$2$3")
		next = joinSpace(heading.ReplaceAllString(next, ""), lines)
		if next == s {
			return s
		}
		s = next
	}
}

// joinSpace makes one space of several. If lines are kept, it leaves at most one
// empty line between two.
func joinSpace(s string, lines bool) string {
	var b strings.Builder
	space, breaks := false, 0
	for _, r := range s {
		switch {
		case r == '\n' && lines:
			breaks++
		case unicode.IsSpace(r):
			space = true
		default:
			if b.Len() > 0 && breaks > 0 {
				b.WriteString(strings.Repeat("\n", min(breaks, 2)))
			} else if b.Len() > 0 && space {
				b.WriteByte(' ')
			}
			space, breaks = false, 0
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Markdown's marks around words, and those of a heading.
var (
	emphasis = regexp.MustCompile(`(?m)(^|[\s("“])(?:\*{1,3}|_{1,3})([^\s*_](?:[^*_\n]*[^\s*_])?)(?:\*{1,3}|_{1,3})($|[\s)"”.,!?:;…])`)
	heading  = regexp.MustCompile(`(?m)^#{1,6} +`)
)

// dropInvisible, for strings.Map, drops characters that change the direction of
// text or are invisible. It keeps joiners, because emoji and several scripts
// need them.
func dropInvisible(r rune) rune {
	switch {
	case unicode.IsSpace(r) || r == '\u200c' || r == '\u200d':
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) || r == unicode.ReplacementChar:
		return -1
	}
	return r
}

// hiddenElements are elements whose text is not shown to readers.
var hiddenElements = []string{"script", "style", "iframe", "title", "textarea", "noscript"}

// stripTags removes markup and decodes entities. A single < or & is text.
func stripTags(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var b strings.Builder
	tokens, skip := html.NewTokenizer(strings.NewReader(s)), ""
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		t := tokens.Token()
		switch {
		case kind == html.StartTagToken && slices.Contains(hiddenElements, t.Data):
			skip = t.Data
		case kind == html.EndTagToken && t.Data == skip:
			skip = ""
		case kind == html.TextToken && skip == "":
			b.WriteString(t.Data)
		case kind == html.StartTagToken || kind == html.EndTagToken || kind == html.SelfClosingTagToken:
			b.WriteByte(' ') // <br> separates words
		}
	}
	return b.String()
}

var (
	// addressPattern matches what mail clients and platforms turn into a link.
	addressPattern = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://[^\s]+|(?:[\pL\pN](?:[\pL\pN-]*[\pL\pN])?\.)+[\pL]{2,}`)
	// schemePattern matches links without a host.
	schemePattern = regexp.MustCompile(`(?i)\b(?:javascript|data|vbscript|file|mailto|tel|sms):\S`)
	// sentencePattern matches the end of a sentence.
	sentencePattern = regexp.MustCompile(`[.!?…。！？]+["'”’)]*\s+|\n+`)
)

// hasForeignAddress reports whether a text contains an address of another
// domain than the own ones.
func hasForeignAddress(s string, own []string) bool {
	if schemePattern.MatchString(s) {
		return true
	}
	for _, found := range addressPattern.FindAllString(s, -1) {
		host := found
		if strings.Contains(found, "://") {
			u, err := url.Parse(found)
			if err != nil || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
				return true
			}
			host = u.Hostname()
		} else if !isRegisteredDomain(host) {
			continue // 9.30pm, Node.js
		}
		host = strings.ToLower(strings.TrimSuffix(host, "."))
		if !slices.ContainsFunc(own, func(o string) bool { return o != "" && (host == o || strings.HasSuffix(host, "."+o)) }) {
			return true
		}
	}
	return false
}

// isRegisteredDomain reports whether a host is a domain and not another word
// with dots.
func isRegisteredDomain(host string) bool {
	host, err := idna.ToASCII(strings.ToLower(host))
	if err != nil {
		return true
	}
	_, known := publicsuffix.PublicSuffix(host)
	_, top := publicsuffix.PublicSuffix(host[strings.LastIndexByte(host, '.')+1:])
	return known || top
}

// dropForeignSentences drops the sentences that contain a foreign address.
func dropForeignSentences(s string, own []string) string {
	if !hasForeignAddress(s, own) {
		return s
	}
	var kept strings.Builder
	for rest := s; rest != ""; {
		end := len(rest)
		if at := sentencePattern.FindStringIndex(rest); at != nil {
			end = at[1]
		}
		if !hasForeignAddress(rest[:end], own) {
			kept.WriteString(rest[:end])
		}
		rest = rest[end:]
	}
	// Two harmless parts can form an address when they are joined.
	if result := strings.TrimSpace(kept.String()); !hasForeignAddress(result, own) {
		return result
	}
	return ""
}
