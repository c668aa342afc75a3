package parser

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"fanfare/internal/creative/brief"
)

// goldBrief has the facts that a careful reader finds in a brief. testdata/README.md
// says how they are written.
type goldBrief struct {
	ID       string              `json:"id"`
	Form     string              `json:"form"`
	Language string              `json:"language"`
	Prompt   string              `json:"prompt"`
	Facts    map[string][]string `json:"facts"`
}

// wanted is a fact of the gold file: any of the texts is right, and an optional
// one may be missing.
type wanted struct {
	texts    []string
	optional bool
}

func wantedOf(entries []string) (list []wanted) {
	for _, entry := range entries {
		w := wanted{}
		entry, w.optional = strings.CutPrefix(entry, "?")
		for text := range strings.SplitSeq(entry, " || ") {
			if text == "?" {
				w.optional = true
			} else {
				w.texts = append(w.texts, strings.TrimPrefix(text, "?"))
			}
		}
		list = append(list, w)
	}
	return list
}

// smallWords do not decide whether two texts say the same.
var smallWords = strings.Fields("a an the der die das le la les l' il lo o os as el los un une una um uma des de du")

// contentWords are the words of a text that decide what it says.
func contentWords(text string) (list []string) {
	for part := range strings.FieldsSeq(strings.ToLower(strings.NewReplacer("’", " ", "'", " ", "/", " / ", "\u00a0", " ").Replace(text))) {
		if part = strings.TrimFunc(part, func(r rune) bool { return unicode.IsPunct(r) && r != '%' && r != '&' }); part != "" && !slices.Contains(smallWords, part) {
			list = append(list, part)
		}
	}
	return list
}

func isFigure(text string) bool { return strings.ContainsFunc(text, unicode.IsDigit) }

// sameText reports whether a found text says what a wanted one says: most words are
// the same, and no figure is missing.
func sameText(found, want string) bool {
	a, b := contentWords(found), contentWords(want)
	for _, text := range b {
		if isFigure(text) && !slices.Contains(a, text) {
			return false
		}
	}
	return len(a) > 0 && len(b) > 0 && 10*2*shared(a, b) >= 6*(len(a)+len(b))
}

// shared counts the words that two lists share.
func shared(a, b []string) (n int) {
	rest := slices.Clone(b)
	for _, text := range a {
		if i := slices.Index(rest, text); i >= 0 {
			n++
			rest = slices.Delete(rest, i, i+1)
		}
	}
	return n
}

// has reports whether the found texts say the fact, also in several parts.
func (w *wanted) has(found []string) bool {
	for _, want := range w.texts {
		var parts []string
		for _, text := range found {
			if sameText(text, want) {
				return true
			}
			if strings.Contains(strings.ToLower(want), strings.ToLower(text)) {
				parts = append(parts, contentWords(text)...)
			}
		}
		if words := contentWords(want); 10*shared(words, parts) >= 7*len(words) {
			return true
		}
	}
	return false
}

// allows reports whether a found text says the fact or a part of it.
func (w *wanted) allows(found string, repeated bool) bool {
	return slices.ContainsFunc(w.texts, func(want string) bool {
		return sameText(found, want) || repeated && strings.Contains(strings.ToLower(want), strings.ToLower(found))
	})
}

// tally counts the facts of a type.
type tally struct{ wanted, recalled, found, right int }

func (c *tally) add(o tally) {
	c.wanted, c.recalled, c.found, c.right = c.wanted+o.wanted, c.recalled+o.recalled, c.found+o.found, c.right+o.right
}

func (c *tally) recall() float64    { return 100 * float64(c.recalled) / float64(max(1, c.wanted)) }
func (c *tally) precision() float64 { return 100 * float64(c.right) / float64(max(1, c.found)) }

// goldTypes are the types that the gold files have.
var goldTypes = strings.Fields("product kind offer price previous_price deadline when place audience benefits proof call_to_action contact code terms avoid must_include sentence")

// foundTexts are the texts of a type that lines are made of.
func foundTexts(u *brief.Understood, t string) (list []string) {
	switch t {
	case "kind":
		if u.KindConfidence >= brief.SureKind {
			list = append(list, string(u.Kind))
		}
	case "avoid":
		return u.Avoid
	case "must_include":
		return u.MustInclude
	case "sentence":
		// What is kept whole can be repeated, whatever type it has.
		for _, f := range u.Facts {
			if f.Type == brief.Sentence || f.Type.Repeated() && f.Confidence >= brief.Sure || f.Type == brief.Offer {
				list = append(list, f.Text)
			}
		}
	default:
		for _, f := range u.Facts {
			if f.Type.Field() == t && f.Confidence >= brief.Sure {
				list = append(list, f.Text)
			}
		}
	}
	return list
}

// scoreBrief compares what is understood of a brief with its gold facts. It calls
// report for every difference.
func scoreBrief(g *goldBrief, report func(text string)) map[string]tally {
	u := Parse(g.Prompt, "", nil)
	scores := map[string]tally{}
	for _, t := range goldTypes {
		found, gold, c := foundTexts(u, t), wantedOf(g.Facts[t]), tally{}
		if t == "sentence" {
			scores[t] = wholeScore(g, found, report)
			continue
		}
		if t == "kind" {
			gold = []wanted{{texts: g.Facts[t], optional: len(g.Facts[t]) == 0 || slices.Contains(g.Facts[t], "general")}}
		}
		for _, w := range gold {
			if w.optional || len(w.texts) == 0 {
				continue
			}
			c.wanted++
			if w.has(found) {
				c.recalled++
			} else {
				report(fmt.Sprintf("%s %s %s: missing %q", g.ID, g.Form, t, w.texts[0]))
			}
		}
		repeated := t == "benefits" || t == "proof" || t == "terms"
		for _, text := range found {
			c.found++
			if slices.ContainsFunc(gold, func(w wanted) bool { return w.allows(text, repeated) }) {
				c.right++
			} else {
				report(fmt.Sprintf("%s %s %s: wrong %q", g.ID, g.Form, t, text))
			}
		}
		scores[t] = c
	}
	return scores
}

// wholeScore counts the sentences of a brief that are there as they are written. A
// part of one is none, and other sentences are not wrong.
func wholeScore(g *goldBrief, found []string, report func(text string)) (c tally) {
	for _, want := range g.Facts["sentence"] {
		c.wanted++
		if slices.ContainsFunc(found, func(text string) bool { return strings.Trim(text, ".!") == strings.Trim(want, ".!") }) {
			c.recalled++
		} else {
			report(fmt.Sprintf("%s %s sentence: missing %q", g.ID, g.Form, want))
		}
	}
	return c
}

// goldBriefs reads a gold file. The prompts of the blind briefs are in their own
// file.
func goldBriefs(t *testing.T, name string) (list []goldBrief) {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	var blind []struct {
		ID      string `json:"id"`
		Request struct {
			Prompt string `json:"prompt"`
		} `json:"request"`
	}
	if raw, err = os.ReadFile("../testdata/blind/open.json"); err == nil {
		err = json.Unmarshal(raw, &blind)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		for _, b := range blind {
			if b.ID == list[i].ID {
				list[i].Prompt = b.Request.Prompt
			}
		}
		if list[i].Prompt == "" {
			t.Fatalf("%s has no prompt", list[i].ID)
		}
	}
	return list
}

// floor is the least recall and precision in percent, of the last measurement
// rounded down.
type floor struct{ recall, precision float64 }

// checkScores compares scores with their floors and logs a table.
func checkScores(t *testing.T, scores map[string]tally, floors map[string]floor) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(floors)) {
		c, f := scores[name], floors[name]
		t.Logf("%-16s recall %5.1f %% of %3d, precision %5.1f %% of %3d", name, c.recall(), c.wanted, c.precision(), c.found)
		if c.wanted > 0 && c.recall() < f.recall || c.found > 0 && c.precision() < f.precision {
			t.Errorf("%s: got recall %.1f and precision %.1f want at least %.0f and %.0f", name, c.recall(), c.precision(), f.recall, f.precision)
		}
	}
}

// goldFloors reads the floors of each gold file.
func goldFloors(t *testing.T) map[string]map[string]floor {
	t.Helper()
	raw, err := os.ReadFile("testdata/floors.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]floor{}
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		part := strings.SplitN(strings.TrimSpace(line), ": ", 3)
		var f floor
		if len(part) != 3 {
			t.Fatalf("floors.txt: %q is not file: name: recall precision", line)
		}
		if _, err := fmt.Sscanf(part[2], "%f %f", &f.recall, &f.precision); err != nil {
			t.Fatalf("floors.txt: %q: %v", line, err)
		}
		if all[part[0]] == nil {
			all[part[0]] = map[string]floor{}
		}
		all[part[0]][part[1]] = f
	}
	return all
}

func TestGoldFacts(t *testing.T) {
	t.Parallel()
	for name, floors := range goldFloors(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scores := map[string]tally{}
			count := func(name string, c tally) {
				sum := scores[name]
				sum.add(c)
				scores[name] = sum
			}
			list := goldBriefs(t, "testdata/"+name+".json")
			for i := range list {
				for of, c := range scoreBrief(&list[i], func(text string) { t.Log(text) }) {
					count(of, c)
					count("form "+list[i].Form, c)
					count("language "+list[i].Language, c)
					count("all", c)
				}
			}
			checkScores(t, scores, floors)
		})
	}
}
