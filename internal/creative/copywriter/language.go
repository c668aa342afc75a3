package copywriter

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"fanfare/internal/creative/atoms"
)

//go:embed data/*.txt
var files embed.FS

// language is what the writer knows of a language to build slots from facts.
type language struct {
	values map[string][]string
	// trades are the stems of trades in each pattern that was looked at.
	trades sync.Map
}

var languages sync.Map // tag to *language

// languageOf returns the language of a tag, nil if the writer does not know it.
func languageOf(tag string) *language {
	code, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(tag, "_", "-")), "-")
	if known, ok := languages.Load(code); ok {
		return known.(*language) //nolint:forcetypeassert // only these are stored
	}
	text, err := files.ReadFile("data/" + code + ".txt")
	if err != nil {
		return nil
	}
	l, err := readLanguage(string(text))
	if err != nil {
		panic(err) // a test reads every file
	}
	known, _ := languages.LoadOrStore(code, l)
	return known.(*language) //nolint:forcetypeassert // only these are stored
}

func readLanguage(text string) (*language, error) {
	l := &language{values: map[string][]string{}}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, " = ")
		if !ok {
			return nil, fmt.Errorf("%q is not name = value", line)
		}
		l.values[name] = strings.Split(value, " | ")
	}
	return l, nil
}

// cut removes the longest of some words from the beginning of a text.
func (l *language) cut(name, text string) (rest string, found bool) {
	best := ""
	for _, words := range l.values[name] {
		if len(words) > len(best) && startsWithWords(text, words) {
			best = words
		}
	}
	if best == "" {
		return text, false
	}
	return strings.TrimLeft(text[len(best):], " :"), true
}

// indexOf returns where one of some words is within a text, -1 without one.
func (l *language) indexOf(name, text string) int {
	for _, words := range l.values[name] {
		if at := strings.Index(strings.ToLower(text), " "+words+" "); at >= 0 {
			return at + 1
		}
	}
	return -1
}

// starts reports whether a text begins with one of some words.
func (l *language) starts(name, text string) bool {
	_, found := l.cut(name, text)
	return found
}

// has reports whether a text has one of some words.
func (l *language) has(name, text string) bool {
	padded := " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), notWord), " ") + " "
	for _, words := range l.values[name] {
		if strings.Contains(padded, " "+words+" ") {
			return true
		}
	}
	return false
}

// with puts a text into a form, empty if the language has no such form.
func (l *language) with(name, text string) string {
	form := l.values[name]
	if len(form) == 0 {
		return ""
	}
	return strings.Replace(form[0], "{x}", text, 1)
}

// startsWithWords reports whether a text begins with whole words, in any case.
func startsWithWords(text, words string) bool {
	if len(text) < len(words) || !strings.EqualFold(text[:len(words)], words) {
		return false
	}
	rest := text[len(words):]
	last := words[len(words)-1]
	return rest == "" || last == '/' || last == '+' || strings.HasSuffix(words, "'") || strings.ContainsAny(rest[:1], " :,.") || rest[0] >= 0x80 && !unicode.IsLetter([]rune(rest)[0])
}

// isDate reports whether a text names a date: an atom, a weekday or a word such
// as "tomorrow".
func (l *language) isDate(text string) bool {
	for _, a := range atoms.Find(text) {
		if a.Kind == atoms.Date {
			return true
		}
	}
	return shortDate.MatchString(text) || l.has("weekdays", text) || l.has("dates", text)
}

// onDate puts a date into the form for weekdays or for other dates.
func (l *language) onDate(day, date, text string) string {
	first, _, _ := strings.Cut(text, " ")
	if l.has("weekdays", first) {
		return l.with(day, text)
	}
	return l.with(date, text)
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' }
