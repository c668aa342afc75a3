package copywriter_test

import (
	"slices"
	"strings"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
	"fanfare/internal/creative/parser"
	"fanfare/internal/creative/policy"
)

// roast is a form as a pub fills it.
func roast() *brief.Fields {
	return &brief.Fields{
		Product: text("Sunday lunch at The Old Mill"), Kind: text("food"), Price: text("£21 for two courses"), Place: text("Ludlow, Shropshire"), When: text("every Sunday, noon to 4pm"),
		Benefits: []string{"lamb from Bank Farm, a mile away", "children welcome", "river terrace", "vegan menu available"}, CallToAction: text("Book a table"), Contact: text("01584 496 0112"),
	}
}

func writeFields(t *testing.T, f *brief.Fields, brand, tone string, channels ...string) (*creative.Brief, *creative.Result) {
	t.Helper()
	b := &creative.Brief{Prompt: f.Text(), Channels: channels, Variants: 3, Seed: 7, Tone: tone, Brand: creative.Brand{Name: brand}}
	b.Facts = &brief.Understood{Language: "en", Kind: brief.Kind(*f.Kind), KindConfidence: 1, Facts: f.List()}
	r, err := write(b)
	if err != nil {
		t.Fatal(err)
	}
	return b, r
}

// TestSearchHeadlinesFollowPlan wants the product first, and the price and the action
// in every search ad. Each benefit is in one of them.
func TestSearchHeadlinesFollowPlan(t *testing.T) {
	t.Parallel()
	_, r := writeFields(t, roast(), "The Old Mill", "", "search")
	has := func(list []string, want string) bool {
		return slices.ContainsFunc(list, func(h string) bool { return strings.HasSuffix(strings.ToLower(h), strings.ToLower(want)) })
	}
	var all []string
	for i, d := range r.Drafts {
		c := d.ByChannel["search"]
		all = append(all, c.Headlines...)
		if len(c.Headlines) == 0 || !strings.HasPrefix(c.Headlines[0], "Sunday lunch") && !strings.HasSuffix(c.Headlines[0], "Sunday lunch") {
			t.Errorf("draft %d: got first headline %q, which does not name the product", i, c.Headlines)
		}
		for _, want := range []string{"£21 for two courses", "Book a table"} {
			if !has(c.Headlines, want) {
				t.Errorf("draft %d: got no %q in %q", i, want, c.Headlines)
			}
		}
	}
	for _, want := range []string{"River terrace", "Children welcome"} {
		if !has(all, want) {
			t.Errorf("got no %q in any of %q", want, all)
		}
	}
}

// TestFactsAreAllSaid wants what must be said in each of the longer channels of each
// variant, and each benefit in every email and in some variant of each channel.
func TestFactsAreAllSaid(t *testing.T) {
	t.Parallel()
	f := roast()
	_, r := writeFields(t, f, "The Old Mill", "", "search", "social", "email")
	said := map[string]string{}
	for i, d := range r.Drafts {
		for channel, c := range d.ByChannel {
			all := strings.ToLower(strings.Join(texts(channel, c), "\n"))
			said[channel] += all
			facts := []string{*f.Price, *f.When, "Ludlow", "Book a table"}
			if channel == "email" {
				facts = append(facts, f.Benefits...)
			}
			for _, fact := range facts {
				if !strings.Contains(all, strings.ToLower(fact)) {
					t.Errorf("draft %d %s: got no %q in %s", i, channel, fact, all)
				}
			}
		}
	}
	for channel, all := range said {
		for _, fact := range f.Benefits {
			if !strings.Contains(all, strings.ToLower(fact)) {
				t.Errorf("%s: got no %q in any variant", channel, fact)
			}
		}
	}
}

// TestActionOnce wants each text to ask for the action once.
func TestActionOnce(t *testing.T) {
	t.Parallel()
	for _, tone := range []string{"", "friendly", "energetic"} {
		_, r := writeFields(t, roast(), "The Old Mill", tone, "search", "social", "email", "display", "sms", "push")
		for i, d := range r.Drafts {
			for channel, c := range d.ByChannel {
				for _, text := range texts(channel, c) {
					if n := strings.Count(strings.ToLower(text), "book a table"); n > 1 {
						t.Errorf("draft %d %s: got the action %d times in %q", i, channel, n, text)
					}
				}
			}
		}
	}
}

// TestVariantsDiffer wants another first headline of facts, another subject and
// another opening in each variant.
func TestVariantsDiffer(t *testing.T) {
	t.Parallel()
	_, r := writeFields(t, roast(), "The Old Mill", "", "search", "social", "email")
	if len(r.Drafts) < 2 {
		t.Fatalf("got %d drafts want several: %q", len(r.Drafts), r.Dropped)
	}
	for i, d := range r.Drafts {
		for j := range i {
			other := r.Drafts[j]
			for name, of := range map[string]func(map[string]policy.Copy) string{
				"headlines": func(c map[string]policy.Copy) string { return strings.Join(c["search"].Headlines[:3], " / ") },
				"subject":   func(c map[string]policy.Copy) string { return texts("email", c["email"])[0] },
				"post":      func(c map[string]policy.Copy) string { return texts("social", c["social"])[0] },
			} {
				if of(d.ByChannel) == of(other.ByChannel) {
					t.Errorf("drafts %d and %d: got the same %s %q", j, i, name, of(d.ByChannel))
				}
			}
		}
	}
}

// TestColorIsRare wants no line of color in search and display ads, nor where no
// voice was asked for, and at most one in a text.
func TestColorIsRare(t *testing.T) {
	t.Parallel()
	var colors []string
	for _, role := range copybank.Roles {
		for _, p := range copybank.For("en").Patterns(role) {
			longest := ""
			for _, part := range p.Parts {
				if !part.IsSlot && len(part.Text) > len(longest) {
					longest = part.Text
				}
			}
			if longest = strings.TrimSpace(longest); p.Grade == copybank.Color && len(longest) > 14 {
				colors = append(colors, longest)
			}
		}
	}
	for _, tone := range []string{"", "plain", "formal", "friendly"} {
		_, r := writeFields(t, roast(), "The Old Mill", tone, "search", "social", "email", "display")
		for i, d := range r.Drafts {
			for channel, c := range d.ByChannel {
				for _, text := range texts(channel, c) {
					n := 0
					for _, words := range colors {
						if strings.Contains(text, words) {
							n++
						}
					}
					most := 0
					if tone == "friendly" && channel != "search" && channel != "display" {
						most = 1
					}
					if n > most {
						t.Errorf("draft %d %s %s: got %d lines of color in %q", i, tone, channel, n, text)
					}
				}
			}
		}
	}
}

// TestPortugueseOfBrazil writes for Brazil in its own words, which the currency or a
// word of the brief shows.
func TestPortugueseOfBrazil(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"Produto: Academia no bairro\nPreço: R$ 89 por mês\nBenefícios: sem fidelidade; aberta até as 23h":    "atricule-se",
		"Produto: Ginásio no bairro\nPreço: 39 € por mês\nBenefícios: sem fidelização; aberto até às 23h":     "egiste-se",
		"Produto: Academia no bairro\nBenefícios: sem fidelidade; você escolhe o horário; aulas pelo celular": "atricule-se",
	} {
		b := &creative.Brief{Prompt: prompt, Channels: []string{"social"}, Variants: 1, Language: "pt"}
		b.Facts = parser.Parse(prompt, "pt", nil)
		b.Facts.Kind, b.Facts.KindConfidence = "fitness", 1
		r, err := write(b)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts("social", r.Drafts[0].ByChannel["social"]); !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%q: got %q without %q", prompt, got, want)
		}
	}
}
