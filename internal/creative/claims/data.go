package claims

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

var (
	//go:embed data/qualities.txt
	qualitiesText string
	//go:embed data/names.txt
	namesText string
)

// languages are those that the files have phrases of.
var languages = []string{"en", "de", "fr", "es", "it", "pt"}

// phrase is a phrase of a quality, as folded words. A word with a * stands for
// any ending.
type phrase struct {
	quality string
	words   []string
	role    role
}

type role byte

const (
	// claim is a claim in copy and states the quality in a brief.
	claim role = iota
	// harmless hides the claims within it.
	harmless
	// states is no claim in copy.
	states
)

// roles are the marks of a role in the file.
var roles = map[string]role{"!": harmless, "+": states}

// index finds phrases by the first letter of their first word.
type index[T any] map[rune][]T

func (x index[T]) add(words []string, v T) {
	first, _ := utf8.DecodeRuneInString(words[0])
	x[first] = append(x[first], v)
}

// at returns what may begin with a token.
func (x index[T]) at(t token) []T {
	first, _ := utf8.DecodeRuneInString(t.folded)
	return x[first]
}

// qualities has the phrases by language.
var qualities = sync.OnceValue(func() map[string]index[*phrase] {
	all := map[string]index[*phrase]{}
	quality := ""
	for line := range strings.Lines(qualitiesText) {
		line = strings.TrimSpace(line)
		language, list, phrases := strings.Cut(line, ": ")
		switch {
		case line == "" || line[0] == '#':
		case !phrases:
			quality = line
		default:
			for text := range strings.SplitSeq(list, "|") {
				p := &phrase{quality: quality}
				text = strings.TrimSpace(text)
				if mark, rest, marked := strings.Cut(text, " "); marked && (mark == "!" || mark == "+") {
					p.role, text = roles[mark], rest
				}
				for word := range strings.FieldsSeq(text) {
					words := tokenize(strings.TrimSuffix(word, "*"))
					for _, t := range words {
						p.words = append(p.words, t.folded)
					}
					if strings.HasSuffix(word, "*") {
						p.words[len(p.words)-1] += "*"
					}
				}
				if len(p.words) == 0 {
					panic(fmt.Sprintf("qualities.txt: %s of %s has an empty phrase", language, quality))
				}
				if all[language] == nil {
					all[language] = index[*phrase]{}
				}
				all[language].add(p.words, p)
			}
		}
	}
	return all
})

// nameLists are the lists of names.txt.
type nameLists struct {
	people, titles, institutions, small, common map[string]bool
	// listed are the spellings of places and organizations.
	listed index[*listedName]
}

// listedName is one spelling. All spellings of a name have the same id.
type listedName struct {
	id    int
	words []string
	// shouted says that the name is in capitals.
	shouted bool
}

var names = sync.OnceValue(func() *nameLists {
	n := &nameLists{people: map[string]bool{}, titles: map[string]bool{}, institutions: map[string]bool{}, small: map[string]bool{}, common: map[string]bool{}, listed: index[*listedName]{}}
	sets := map[string]map[string]bool{"[people]": n.people, "[titles]": n.titles, "[institutions]": n.institutions, "[small]": n.small, "[common]": n.common}
	var to map[string]bool
	id := 0
	for line := range strings.Lines(namesText) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			to = sets[line]
		case to != nil:
			for _, t := range tokenize(line) {
				to[t.folded] = true
			}
		default:
			id++
			for spelling := range strings.SplitSeq(line, "|") {
				l := &listedName{id: id}
				for _, t := range tokenize(spelling) {
					l.shouted = t.isShouted()
					l.words = append(l.words, t.folded)
				}
				n.listed.add(l.words, l)
			}
		}
	}
	return n
})
