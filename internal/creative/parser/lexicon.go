package parser

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed data
var files embed.FS

// lexicon has the word lists of a language. A list is named by its file and its
// name there, "cues.until"; the name of the file alone is all its lists.
type lexicon struct {
	code  string
	lists map[string]*list
}

// list is a list of phrases, found by their first word.
type list struct {
	byFirst map[string][]phrase
	// open are phrases whose first word can be several, by that word.
	open []group
}

// group are phrases that begin with the same class or part of a word.
type group struct {
	first   string
	phrases []phrase
}

type phrase struct {
	steps []string
	// name is the name of the list that the phrase is from.
	name string
}

var lexicons sync.Map // code to *lexicon

// languages are the languages with word lists.
var languages = []string{"en", "de", "fr", "es", "it", "pt"}

// lexiconOf returns the lists of a language, nil without them.
func lexiconOf(tag string) *lexicon {
	code, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(tag, "_", "-")), "-")
	if known, ok := lexicons.Load(code); ok {
		return known.(*lexicon) //nolint:forcetypeassert // only these are stored
	}
	if !slices.Contains(languages, code) {
		return nil
	}
	l, err := loadLexicon(code)
	if err != nil {
		panic(err) // a test loads every language
	}
	stored, _ := lexicons.LoadOrStore(code, l)
	return stored.(*lexicon) //nolint:forcetypeassert // only these are stored
}

func (l *lexicon) elides() bool { return elides(l.code) }

// elides reports a language with short words that end in an apostrophe.
func elides(code string) bool { return code == "fr" || code == "it" }

func loadLexicon(code string) (*lexicon, error) {
	l := &lexicon{code, map[string]*list{}}
	dir := path.Join("data", code)
	entries, err := files.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := files.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		file := strings.TrimSuffix(e.Name(), ".txt")
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			name, values, ok := strings.Cut(line, " = ")
			if !ok {
				return nil, fmt.Errorf("%s/%s: %q is not name = phrases", dir, e.Name(), line)
			}
			for value := range strings.SplitSeq(values, " | ") {
				if err := l.add(file, name, value); err != nil {
					return nil, fmt.Errorf("%s/%s: %w", dir, e.Name(), err)
				}
			}
		}
	}
	return l, nil
}

// classes are the words of phrases that stand for tokens of a kind.
const classes = " {money} {percent} {date} {n} {year} {day} {name} {word} {any} "

// isOf reports whether a token is of a class.
func (l *lexicon) isOf(class string, t *token) bool {
	switch class {
	case "{money}":
		return t.kind == money
	case "{percent}":
		return t.kind == percent
	case "{date}":
		return t.kind == date
	case "{n}":
		return t.kind == number || l.has("dates.numerals", t)
	case "{year}":
		return t.kind == number && len(t.low) == 4 && (t.low[0] == '1' || t.low[0] == '2')
	case "{day}":
		return l.has("dates.weekdays", t)
	case "{name}":
		return t.kind == word && t.upper
	case "{word}":
		return t.kind == word
	}
	return t.kind != mark
}

func (l *lexicon) add(file, name, value string) error {
	var steps []string
	for part := range strings.FieldsSeq(value) {
		switch {
		case strings.HasPrefix(part, "{"):
			if !strings.Contains(classes, " "+part+" ") {
				return fmt.Errorf("%q has an unknown class", value)
			}
			steps = append(steps, part)
		case strings.ContainsAny(part, "*") && len(part) > 1:
			steps = append(steps, strings.ToLower(part))
		default:
			steps = append(steps, wordsOf(part, l.elides())...)
		}
	}
	if len(steps) == 0 {
		return fmt.Errorf("%s has an empty phrase", name)
	}
	p := phrase{steps, name}
	if last := steps[len(steps)-1]; file == "kinds" && l.code != "de" && l.code != "it" && !strings.ContainsAny(last, "*{") && len(last) > 3 && last[len(last)-1] != 's' && !strings.HasSuffix(value, "ss") {
		// The plural of most nouns.
		defer func() { l.insert(file, name, phrase{append(slices.Clone(steps[:len(steps)-1]), last+"s"), name}) }()
	}
	l.insert(file, name, p)
	return nil
}

// insert adds a phrase to its list and to that of the file.
func (l *lexicon) insert(file, name string, p phrase) {
	steps := p.steps
	for _, key := range []string{file, file + "." + name} {
		to := l.lists[key]
		if to == nil {
			to = &list{byFirst: map[string][]phrase{}}
			l.lists[key] = to
		}
		if strings.ContainsAny(steps[0], "{*") {
			to.addOpen(p)
		} else {
			to.byFirst[steps[0]] = append(to.byFirst[steps[0]], p)
		}
	}
}

func (l *list) addOpen(p phrase) {
	for i := range l.open {
		if l.open[i].first == p.steps[0] {
			l.open[i].phrases = append(l.open[i].phrases, p)
			return
		}
	}
	l.open = append(l.open, group{p.steps[0], []phrase{p}})
}

// match returns the number of tokens of the longest phrase of a list that
// begins with the first token, 0 without one.
func (l *lexicon) match(name string, tokens []token) int {
	n, _ := l.matchNamed(name, tokens)
	return n
}

// matchNamed also returns the name of the list that the phrase is from.
func (l *lexicon) matchNamed(name string, tokens []token) (n int, from string) {
	if l == nil || len(tokens) == 0 {
		return 0, ""
	}
	in := l.lists[name]
	if in == nil {
		return 0, ""
	}
	try := func(list []phrase) {
		for i := range list {
			p := &list[i]
			if len(p.steps) > n && len(p.steps) <= len(tokens) && l.fits(p.steps, tokens) {
				n, from = len(p.steps), p.name
			}
		}
	}
	try(in.byFirst[tokens[0].low])
	for i := range in.open {
		if l.fitsOne(in.open[i].first, &tokens[0]) {
			try(in.open[i].phrases)
		}
	}
	return n, from
}

func (l *lexicon) fits(steps []string, tokens []token) bool {
	for i, step := range steps {
		if !l.fitsOne(step, &tokens[i]) {
			return false
		}
	}
	return true
}

func (l *lexicon) fitsOne(step string, t *token) bool {
	switch {
	case step[0] == '{':
		return l.isOf(step, t)
	case len(step) > 1 && step[0] == '*':
		return t.kind == word && strings.HasSuffix(t.low, step[1:])
	case len(step) > 1 && step[len(step)-1] == '*':
		return t.kind == word && strings.HasPrefix(t.low, step[:len(step)-1])
	}
	return step == t.low
}

// has reports whether a token is a phrase of a list.
func (l *lexicon) has(name string, t *token) bool {
	if l == nil || l.lists[name] == nil {
		return false
	}
	for _, p := range l.lists[name].byFirst[t.low] {
		if len(p.steps) == 1 {
			return true
		}
	}
	for i := range l.lists[name].open {
		g := &l.lists[name].open[i]
		if !l.fitsOne(g.first, t) {
			continue
		}
		for _, p := range g.phrases {
			if len(p.steps) == 1 {
				return true
			}
		}
	}
	return false
}

// find returns the first place in the tokens where a phrase of a list is, -1
// without one.
func (l *lexicon) find(name string, tokens []token) int {
	for i := range tokens {
		if l.match(name, tokens[i:]) > 0 {
			return i
		}
	}
	return -1
}
