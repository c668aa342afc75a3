package provider_test

import (
	"strings"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/policy"
	"fanfare/internal/llm/provider"
)

// withFacts returns a brief with facts, as type and text in turn.
func withFacts(facts ...string) *creative.Brief {
	b := testBrief("en")
	b.Facts = &brief.Understood{Kind: brief.General}
	for i := 0; i < len(facts); i += 2 {
		b.Facts.Facts = append(b.Facts.Facts, brief.Fact{Type: brief.Type(facts[i]), Text: facts[i+1], Confidence: brief.Given})
	}
	return b
}

// TestPictureShowsFacts checks which facts a picture shows beside the copy, by
// its alternative text.
func TestPictureShowsFacts(t *testing.T) {
	t.Parallel()
	p := provider.NewPainter()
	with := func(b *creative.Brief, change func(*creative.Brief)) *creative.Brief {
		change(b)
		return b
	}
	for _, tt := range []struct {
		name  string
		brief *creative.Brief
		has   string
		lacks string
	}{
		{"an offer", withFacts("offer", "20% off"), ". 20% off.", ""},
		{"up to stays", withFacts("offer", "up to 40% off linen"), "Up to 40% off linen", ""},
		{"a sentence", withFacts("offer", "Visit us this weekend and get a free coffee with any pastry"), "", "Visit"},
		{"a price", withFacts("price", "from $9 per user per month"), "from $9 per user per month", ""},
		{"a price and the one before", withFacts("price", "€329", "previous_price", "€399"), "€329", ""},
		{"an amount of an appeal", with(withFacts("price", "$25"), func(b *creative.Brief) { b.Facts.Kind = "appeal" }), "", "$25"},
		{"a guess", with(withFacts("price", "$25"), func(b *creative.Brief) { b.Facts.Facts[0].Confidence = brief.Guessed }), "", "$25"},
		{"terms", withFacts("offer", "20% off", "terms", "New customers only."), "New customers only.", ""},
		{"terms that are too long", withFacts("offer", "20% off", "terms", strings.Repeat("New customers only. ", 9)), "", "20%"},
		{"a banned word", with(withFacts("offer", "Cheap and 20% off"), func(b *creative.Brief) { b.Brand.BannedWords = []string{"cheap"} }), "", "20%"},
		{"a word to avoid", with(withFacts("offer", "20% off"), func(b *creative.Brief) { b.Avoid = []string{"20%"} }), "", "20%"},
		{"what must not be said", with(withFacts("offer", "30% discount code"), func(b *creative.Brief) { b.NegativePrompt = "do not mention the discount" }), "", "30%"},
	} {
		got, err := p.Paint(t.Context(), tt.brief, displayDraft("Green tea", "Hand-picked in spring"), squareShape, "svg")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.AltText, tt.has) || tt.lacks != "" && strings.Contains(got.AltText, tt.lacks) {
			t.Errorf("%s: got %q want %q in it and not %q", tt.name, got.AltText, tt.has, tt.lacks)
		}
	}
}

// TestNothingTwice checks that a headline that repeats the badge gives way to
// another one, or the badge to it.
func TestNothingTwice(t *testing.T) {
	t.Parallel()
	p := provider.NewPainter()
	for want, headlines := range map[string][]string{
		"Leaf & Co. Green tea for quiet mornings. 20% off. Shop now.": {"Green tea: 20% off", "Leaf & Co", "Ends Sunday", "Green tea for quiet mornings"},
		"Leaf & Co. Green tea: 20% off. Shop now.":                    {"Green tea: 20% off", "Save 20% now"},
	} {
		d := &creative.Draft{ByChannel: map[string]policy.Copy{"display": {Headlines: headlines, Descriptions: []string{"Now 20% off."}}}, CallToAction: "shop_now"}
		got, err := p.Paint(t.Context(), withFacts("offer", "20% off"), d, squareShape, "jpeg")
		if err != nil {
			t.Fatal(err)
		}
		if got.AltText != want || got.MIMEType != "image/jpeg" {
			t.Errorf("got %q (%s) want %q", got.AltText, got.MIMEType, want)
		}
	}
}

// TestButtonLabels checks that every call to action has a label in each language
// of the built-in composer.
func TestButtonLabels(t *testing.T) {
	t.Parallel()
	p := provider.NewPainter()
	for _, action := range creative.CallsToAction {
		seen := map[string]bool{}
		for _, language := range []string{"de", "fr", "es-MX", "it", "pt-BR"} {
			d := displayDraft("Leaf", "")
			d.CallToAction = action
			got, err := p.Paint(t.Context(), testBrief(language), d, creative.Sizes[0], "svg")
			if err != nil {
				t.Fatal(err)
			}
			if seen[got.AltText] || got.AltText == "Leaf & Co. Leaf." {
				t.Errorf("%s in %s: got %q", action, language, got.AltText)
			}
			seen[got.AltText] = true
		}
	}
}

// TestReadPhoto checks that a photo that cannot be used is refused with a
// reason.
func TestReadPhoto(t *testing.T) {
	t.Parallel()
	p := provider.NewPainter()
	if photo, err := p.ReadPhoto(t.Context(), redLogo(t)); err != nil || photo == nil {
		t.Errorf("got %v, %v", photo, err)
	}
	for name, b := range map[string][]byte{"words": []byte("no picture"), "half": redLogo(t)[:40], "nothing": nil} {
		_, err := p.ReadPhoto(t.Context(), b)
		if err == nil || !strings.Contains(err.Error(), creative.FailPhoto) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
