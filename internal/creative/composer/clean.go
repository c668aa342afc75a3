package composer

import (
	"html"
	"strings"
	"unicode"
)

// longestPrompt is how many bytes of a prompt are read. What an ad can say fits
// many times over.
const longestPrompt = 8000

// longestWord is where a word stops being one.
const longestWord = 40

var (
	scriptTag = newPattern(`(?is)<(script|style)\b.*?(</(script|style)\s*>|$)|<!--.*?(-->|$)`)
	anyTag    = newPattern(`(?s)<a\b[^<>]*>[^<>]*</a\s*>|</?[a-zA-Z!?][^<>]*>`)
	address   = newPattern(`(?i)\b(?:https?|ftp)://\S+|\bwww\.\S+|\b[\w.+-]+@[\w-]+\.[\w.-]+|\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|co|app|dev|shop|store|eu|de|fr|es|it|pt|nl|uk|us|info|biz|xyz|me|ai)\b(?:/\S*)?|(?:^|\s)[#@][\p{L}\p{N}_]+`)
	doubled   = newPattern(`(?i)\b(?:javascript|data|vbscript):\S*|\bon\w+\s*=\s*["']?\S*`)
	bullet    = newPattern(`^\s*(?:[-*•–—·‣▪◦●○✓✔✅→➤>]+|\(?\d{1,2}[.)])\s+`)
	spaces    = newPattern(`[ \t]+`)
)

// clean makes plain text of what was typed: no markup, no addresses, nothing
// that cannot be seen, no pictographs, one kind of quotes and dashes. Lines
// stay lines.
func clean(s string) string {
	m := newMasking(plainText(s))
	for i, a := range m.atoms {
		// The reader knows one dash. The gate writes atoms as the brief does.
		m.atoms[i] = plainMarks.Replace(a)
	}
	s = plainMarks.Replace(m.text)
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>{}[]\\^`|~_*=", r) || numberSign(r) {
			return ' '
		}
		return r
	}, markBullets(s))
	var lines []string
	for line := range strings.SplitSeq(calm(s), "\n") {
		if line = tidyWords(line); line != "" {
			lines = append(lines, line)
		}
	}
	return m.restore(strings.Join(lines, "\n"))
}

// plainText is what was typed without markup, addresses and characters that do
// not show.
func plainText(s string) string {
	if len(s) > longestPrompt {
		s = s[:longestPrompt]
	}
	s = html.UnescapeString(strings.ToValidUTF8(s, ""))
	s = strings.Map(visible, s)
	s = anyTag.ReplaceAllString(scriptTag.ReplaceAllString(s, " "), " ")
	s = doubled.ReplaceAllString(address.ReplaceAllString(s, " "), " ")
	return spaces.ReplaceAllString(s, " ")
}

// bulletMark stands for the sign of a list item, whatever it was.
const bulletMark = "• "

func markBullets(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if at := bullet.FindString(line); at != "" {
			lines[i] = bulletMark + line[len(at):]
		}
	}
	return strings.Join(lines, "\n")
}

// visible drops characters that do not show or show the text otherwise than it
// is stored, and those that many platforms refuse.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
		return '\n'
	case r == '\t' || unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
		return ' '
	case strings.ContainsRune("™®©°•✓✔✅→➤▪◦●○‣", r):
		return r
	case r >= 0x1f000 && r < 0x20000, unicode.Is(unicode.So, r) && r >= 0x2190:
		// A pictograph often stands where a sentence ends.
		return ';'
	case r >= 0xfe00 && r <= 0xfe0f || r == 0x20e3 || r >= 0xe0000 || r == 0xfffd:
		return -1
	case unicode.In(r, unicode.So, unicode.Sk, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
		return -1
	case !unicode.IsPrint(r):
		return -1
	}
	return r
}

var plainMarks = strings.NewReplacer(
	"“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "‘", "'", "’", "'", "‚", "'", "`", "'", "´", "'",
	" – ", " - ", " — ", " - ", "—", " - ", "–", "-", "−", "-", "‐", "-", "‑", "-", "…", ". ", "...", ". ", "..", ". ",
	"✓", "•", "✔", "•", "✅", "•", "→", "•", "➤", "•", "▪", "•", "◦", "•", "●", "•", "○", "•", "‣", "•",
)

// calm takes long runs of one character down to one; a number keeps its
// zeros.
func calm(s string) string {
	var b strings.Builder
	runes := []rune(s)
	for i := 0; i < len(runes); {
		j, marks := i+1, 0
		for j < len(runes) && runes[j] == runes[i] {
			j++
		}
		n, r := j-i, runes[i]
		switch {
		case unicode.IsDigit(r):
		case r > 'a' && r < 'w' && n == 3:
			n = 2
		case unicode.IsLetter(r) && n > 3, !unicode.IsLetter(r) && n > 1:
			n = 1
		}
		if unicode.Is(unicode.Mn, r) {
			for k := i - 1; k >= 0 && unicode.Is(unicode.Mn, runes[k]); k-- {
				marks++
			}
			// Two marks on a letter are writing, a tower of them is not.
			if marks > 1 {
				n = 0
			}
		}
		for range n {
			b.WriteRune(r)
		}
		i = j
	}
	return b.String()
}

// tidyWords closes gaps and drops what is no word and what is said over and
// over.
func tidyWords(line string) string {
	line = spaces.ReplaceAllString(strings.TrimSpace(line), " ")
	var kept []string
	words := strings.Split(line, " ")
	for i := 0; i < len(words); {
		word, n := words[i], 1
		for i+n < len(words) && strings.EqualFold(strings.Trim(words[i+n], ".,!?;"), strings.Trim(word, ".,!?;")) {
			n++
		}
		i += n
		if len([]rune(word)) > longestWord && !anyIdeograph(word) || !strings.ContainsFunc(word, sayable) {
			continue
		}
		// Twice may be meant, three times is noise.
		if n > 2 {
			n = 1
		}
		for range n {
			kept = append(kept, word)
		}
	}
	line = strings.Join(kept, " ")
	if !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || masked(r) }) {
		return ""
	}
	return line
}

// sayable is a character that a word of its own can consist of.
func sayable(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || masked(r) || unicode.Is(unicode.Sm, r) || unicode.Is(unicode.No, r) || strings.ContainsRune("&+-•;:.,/%", r)
}

// anyIdeograph reports a script that writes without spaces.
func anyIdeograph(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	})
}
