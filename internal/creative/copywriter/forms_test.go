package copywriter_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"fanfare/internal/creative"
	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/parser"
	"fanfare/internal/creative/policy"
)

// written is a form with its copy.
type written struct {
	blindBrief
	b *creative.Brief
	r *creative.Result
}

// forms writes copy for every brief that is a filled form: the open ones by other
// people, and those of testdata/forms.json.
func forms(t *testing.T) (list []written) {
	t.Helper()
	for _, name := range []string{"../testdata/blind/open.json", "testdata/forms.json"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var briefs []blindBrief
		if err := json.Unmarshal(raw, &briefs); err != nil {
			t.Fatal(err)
		}
		for _, x := range briefs {
			if x.Request.Brief == nil || x.Request.Prompt != "" || x.Hostile {
				continue
			}
			b := &creative.Brief{Prompt: x.Request.Brief.Text(), Channels: x.Request.Channels, Variants: x.Request.Variants, Language: x.Request.Language, Tone: x.Request.Tone, Seed: 7}
			b.Brand.Name = x.Request.Brand.Name
			b.Facts = parser.Parse("", x.Request.Language, x.Request.Brief)
			r, err := write(b)
			if err != nil {
				t.Errorf("%s: %v", x.ID, err)
				continue
			}
			list = append(list, written{x, b, r})
		}
	}
	if len(list) < 40 {
		t.Fatalf("got %d forms", len(list))
	}
	return list
}

// longTexts are the texts of a copy that have room for every fact.
func longTexts(c *policy.Copy) map[string]string {
	list := map[string]string{}
	for _, field := range []string{"primary_text", "body"} {
		if texts := c.Texts(field); len(texts) == 1 {
			list[field] = texts[0]
		}
	}
	return list
}

func has(text, part string) bool {
	return strings.Contains(strings.ToLower(spaced(text)), strings.ToLower(spaced(part)))
}

// TestFormsNameProduct wants the product in every channel of every variant: half of
// its words, as a long one is shortened where room is short.
func TestFormsNameProduct(t *testing.T) {
	t.Parallel()
	for _, x := range forms(t) {
		name, _, _ := strings.Cut(*x.Request.Brief.Product, ", ")
		words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 4 })
		for i, d := range x.r.Drafts {
			for channel, c := range d.ByChannel {
				all, found := strings.ToLower(strings.Join(texts(channel, c), "\n")), 0
				for _, word := range words {
					if strings.Contains(all, word) {
						found++
					}
				}
				if found*2 < len(words) {
					t.Errorf("%s draft %d %s: got no %q in %s", x.ID, i, channel, *x.Request.Brief.Product, all)
				}
			}
		}
	}
}

// TestFormsSayDeal wants the offer, the price, the previous price, the deadline, the
// code and the conditions in every post and every email of every variant.
func TestFormsSayDeal(t *testing.T) {
	t.Parallel()
	for _, x := range forms(t) {
		f := x.Request.Brief
		var want []string
		for _, one := range []*string{f.Price, f.PreviousPrice, f.Deadline} {
			if one == nil {
				continue
			}
			found := atoms.Find(*one)
			for _, a := range found {
				if a.Kind == atoms.Money || a.Kind == atoms.Date || a.Kind == atoms.Percent {
					want = append(want, strings.TrimRight((*one)[a.Start:a.End], "."))
				}
			}
		}
		for _, one := range []*string{f.Code, f.Place} {
			if one != nil {
				want = append(want, *one)
			}
		}
		if f.Terms != nil {
			want = append(want, strings.Split(strings.TrimRight(*f.Terms, "."), ". ")...)
		}
		for i, d := range x.r.Drafts {
			for channel, c := range d.ByChannel {
				if channel != "social" && channel != "email" {
					continue
				}
				for field, text := range longTexts(&c) {
					for _, fact := range want {
						if !has(text, fact) {
							t.Errorf("%s draft %d %s %s: got no %q in %q", x.ID, i, channel, field, fact, text)
						}
					}
				}
			}
		}
	}
}

// TestFormsAskForTheirAction wants the action of the brief in every variant, and never
// a donation from those who are to help.
func TestFormsAskForTheirAction(t *testing.T) {
	t.Parallel()
	for _, x := range forms(t) {
		f := x.Request.Brief
		for i, d := range x.r.Drafts {
			for channel, c := range d.ByChannel {
				all := strings.Join(texts(channel, c), "\n")
				if f.CallToAction != nil && channel != "video" && !atoms.HasPhone(*f.CallToAction) && !has(all, *f.CallToAction) {
					t.Errorf("%s draft %d %s: got no %q in %s", x.ID, i, channel, *f.CallToAction, all)
				}
				if x.b.Facts.Kind == "appeal" && f.Price == nil && has(all, "donate") {
					t.Errorf("%s draft %d %s: got a request to donate in %s", x.ID, i, channel, all)
				}
			}
		}
	}
}

// TestFormsDifferInSelection wants two variants of a form with four or more benefits to
// differ in the benefits of their posts or in their form.
func TestFormsDifferInSelection(t *testing.T) {
	t.Parallel()
	for _, x := range forms(t) {
		seen := map[string]int{}
		for i, d := range x.r.Drafts {
			c, ok := d.ByChannel["social"]
			if !ok || len(x.Request.Brief.Benefits) < 4 {
				continue
			}
			text := longTexts(&c)["primary_text"]
			key := ""
			for _, benefit := range x.Request.Brief.Benefits {
				if has(text, benefit) {
					key += benefit + "|"
				}
			}
			if strings.Contains(text, "\n") {
				key += "lines"
			}
			if strings.Contains(text, "\u2022") {
				key += "list"
			}
			if other, taken := seen[key]; taken {
				t.Errorf("%s: drafts %d and %d: got the same benefits in the same form: %q", x.ID, other, i, text)
			}
			seen[key] = i
		}
	}
}

// TestVolunteersAreWanted writes an appeal for people: nobody is asked for money, and
// they do not come from the advertiser.
func TestVolunteersAreWanted(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		language string
		fields   brief.Fields
	}{
		{"en", brief.Fields{Product: text("volunteer drivers"), Kind: text("appeal"), Place: text("Oldham"), Benefits: []string{"fuel costs paid"}}},
		{"fr", brief.Fields{Product: text("bénévoles pour le refuge"), Kind: text("appeal"), Place: text("Dijon"), Benefits: []string{"formation assurée"}}},
		{"de", brief.Fields{Product: text("Ehrenamtliche für die Tafel"), Kind: text("appeal"), Place: text("Jena"), Benefits: []string{"freie Zeiteinteilung"}}},
	} {
		b := &creative.Brief{Prompt: x.fields.Text(), Channels: []string{"search", "social", "email"}, Variants: 2, Language: x.language, Seed: 7, Brand: creative.Brand{Name: "Ribble Lifts"}}
		b.Facts = &brief.Understood{Language: x.language, Kind: "appeal", KindConfidence: 1, Facts: x.fields.List()}
		r, err := write(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Drafts {
			for channel, c := range d.ByChannel {
				all := strings.Join(texts(channel, c), "\n")
				for _, wrong := range []string{"donate", "faire un don", "spenden", "drivers from", "drivers by"} {
					if has(all, wrong) {
						t.Errorf("%s %s: got %q in %s", x.language, channel, wrong, all)
					}
				}
			}
		}
	}
}

// TestTradeNeedsItsWords wants no line of another trade: an oil mill is food, and
// nobody eats there.
func TestTradeNeedsItsWords(t *testing.T) {
	t.Parallel()
	fields := brief.Fields{Product: text("cold-pressed olive oil"), Kind: text("food"), Price: text("£14 a bottle"), Place: text("Ludlow"), Benefits: []string{"pressed within 12 hours", "one grove, one harvest"}}
	for seed := range int64(8) {
		b := &creative.Brief{Prompt: fields.Text(), Channels: []string{"search", "social", "email", "display"}, Variants: 3, Language: "en", Seed: seed, Brand: creative.Brand{Name: "Frantoio Mill"}}
		b.Facts = &brief.Understood{Language: "en", Kind: "food", KindConfidence: 1, Facts: fields.List()}
		r, err := write(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Drafts {
			for channel, c := range d.ByChannel {
				for _, text := range texts(channel, c) {
					for _, wrong := range []string{" eat", "table", "menu", "hungry", "dinner", "kitchen"} {
						if strings.Contains(" "+strings.ToLower(text), wrong) {
							t.Errorf("seed %d %s: got %q in %q", seed, channel, wrong, text)
						}
					}
				}
			}
		}
	}
}

// TestDatesAreTheirOwn wants German dates with a point, and a date before which an offer
// ends as it is: the day before is the last one.
func TestDatesAreTheirOwn(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ language, deadline, want, never string }{
		{"de", "bis 24. November", "bis 24. November", "Frist"},
		{"de", "bis 30.09.", "bis 30.09.", "30.09.."},
		{"es", "antes del 15 de mayo", "antes del 15 de mayo", "hasta"},
		{"en", "before 15 May", "before 15 May", "until"},
	} {
		fields := brief.Fields{Product: text("Bluma"), Kind: text("product"), Price: text("90 €"), PreviousPrice: text("120 €"), Deadline: &x.deadline}
		b := &creative.Brief{Prompt: fields.Text(), Channels: []string{"social"}, Variants: 1, Language: x.language, Seed: 7, Brand: creative.Brand{Name: "Korb"}}
		b.Facts = &brief.Understood{Language: x.language, Kind: "product", KindConfidence: 1, Facts: fields.List()}
		r, err := write(b)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(texts("social", r.Drafts[0].ByChannel["social"]), "\n")
		if !has(all, x.want) || has(all, x.never) {
			t.Errorf("got %q want %q and no %q", all, x.want, x.never)
		}
	}
}

// TestArticles wants single things with an article within sentences, and none before
// what is not counted.
func TestArticles(t *testing.T) {
	t.Parallel()
	for product, want := range map[string]string{
		"waxed canvas tote": "a waxed canvas tote", "boiler repair": " boiler repair", "evening course (level 2)": "evening course (level 2)",
	} {
		fields := brief.Fields{Product: &product, Kind: text("home"), Price: text("£78"), Benefits: []string{"20-year guarantee"}}
		b := &creative.Brief{Prompt: fields.Text(), Channels: []string{"social", "email"}, Variants: 1, Language: "en", Seed: 7, Brand: creative.Brand{Name: "Tern"}}
		b.Facts = &brief.Understood{Language: "en", Kind: "home", KindConfidence: 1, Facts: fields.List()}
		r, err := write(b)
		if err != nil {
			t.Fatal(err)
		}
		c := r.Drafts[0].ByChannel["social"]
		if got := longTexts(&c)["primary_text"]; !has(got, want) || has(got, " a boiler repair") || has(got, "offers evening course") {
			t.Errorf("got %q want %q", got, want)
		}
	}
}
