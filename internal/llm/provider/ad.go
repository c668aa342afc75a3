package provider

import (
	"cmp"
	_ "embed"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/creative"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/picture"
)

// adFromDraft selects the texts that a picture shows: the headline for display
// if there is one, few others, and the offer and the price of the brief.
func adFromDraft(b *creative.Brief, d *creative.Draft, s creative.Shape) (picture.Ad, error) {
	ad := picture.Ad{
		Brand: dropEmoji(b.Brand.Name), Offer: offerOf(b), Price: priceOf(b), Terms: termsOf(b),
		Colors: b.Brand.Colors, Width: s.Width, Height: s.Height, Seed: b.Seed,
	}
	ad.Photo, _ = b.Photo.(*picture.Photo)
	all := ad
	chooseHeadline(&ad, b, d)
	ad.CallToAction = buttonLabel(d.CallToAction, b.Language)
	// Repeated text weakens a picture.
	ad.Body = dropFinalCallToAction(firstTextWhere(b, d, func(text string) bool {
		return !overlap(text, ad.Headline) && !strings.EqualFold(strings.TrimRight(dropFinalCallToAction(text), ".!"), ad.Brand) && !repeatsButton(text, ad.CallToAction) && !repeats(text, &all)
	}, "descriptions", "preheader", "short_text", "primary_text"))
	// Each variant gets its own layout, and its own use of the colors.
	for _, c := range d.Angle + ad.Headline {
		ad.Seed = ad.Seed*31 + int64(c)
	}
	if len(b.Brand.Logo) > 0 {
		logo, err := readLogo(b.Brand.Logo)
		if err != nil {
			return ad, err
		}
		ad.Logo = logo
	}
	if len(ad.Colors) == 0 {
		ad.Colors = ownColors(b, &ad)
	}
	ad.Typefaces = typefacesOf(b, ad.Headline)
	return ad, nil
}

// headlineFields are the fields with a headline, the best first.
var headlineFields = []string{"headlines", "long_headline", "subject", "short_text", "primary_text", "script"}

// chooseHeadline chooses the first headline of the draft that does not repeat the
// badge or the price and is about the same as the first. If all do, there is no
// badge.
func chooseHeadline(ad *picture.Ad, b *creative.Brief, d *creative.Draft) {
	first := firstText(b, d, headlineFields...)
	ad.Headline = first
	if !repeats(first, ad) {
		return
	}
	other := firstTextWhere(b, d, func(text string) bool {
		return !repeats(text, ad) && sharesSubject(text, first, ad.Brand)
	}, headlineFields[0])
	switch {
	case other != "":
		ad.Headline = other
	case ad.Offer.Main != "" && strings.Contains(first, ad.Offer.Main):
		ad.Offer = picture.Offer{}
	}
}

// sharesSubject reports whether two texts have a longer word in common that is
// not of the brand's name.
func sharesSubject(a, b, brand string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	others, name := words(b), words(brand)
	return slices.ContainsFunc(words(a), func(w string) bool {
		return utf8.RuneCountInString(w) > 3 && slices.Contains(others, w) && !slices.Contains(name, w)
	})
}

// repeats reports whether a text has what the badge or the price shows.
func repeats(text string, ad *picture.Ad) bool {
	return ad.Offer.Main != "" && strings.Contains(strings.ToLower(text), strings.ToLower(ad.Offer.Main)) || ad.Price.Amount != "" && strings.Contains(text, ad.Price.Amount)
}

// ownColors returns colors for a brand that has given none: that of its logo, or
// the same ones for the same brand.
func ownColors(b *creative.Brief, ad *picture.Ad) []string {
	if main := picture.MainColor(ad.Logo); main != "" {
		return []string{main}
	}
	return picture.DefaultColors(int64(hashOf(b) >> 1))
}

// hashOf returns a number for the brand, or for the brief if it has no brand.
func hashOf(b *creative.Brief) uint64 {
	h := fnv.New64a()
	name := b.Brand.Name
	if name == "" {
		name = b.Prompt
	}
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

//go:embed data/typefaces.txt
var typefaceData string

// kindTypefaces are the typefaces of each kind of brief.
var kindTypefaces = func() map[brief.Kind][]picture.Typefaces {
	all := map[brief.Kind][]picture.Typefaces{}
	for row := range strings.SplitSeq(typefaceData, "\n") {
		if f := strings.Fields(row); len(f) == 3 {
			all[brief.Kind(f[0])] = append(all[brief.Kind(f[0])], picture.Typefaces{Heading: f[1], Text: f[2]})
		}
	}
	return all
}()

// longWord is the number of letters from which a word needs a condensed typeface.
const longWord = 20

// typefacesOf returns the typefaces of the brand, or of the kind of brief.
func typefacesOf(b *creative.Brief, headline string) picture.Typefaces {
	if t := b.Brand.Typefaces; t != nil {
		return picture.Typefaces{Heading: t.Heading, Text: t.Text}
	}
	if slices.ContainsFunc(strings.Fields(headline), func(w string) bool { return utf8.RuneCountInString(w) >= longWord }) {
		return picture.Typefaces{Heading: "barlow_condensed", Text: "inter"}
	}
	list := kindTypefaces[brief.General]
	if f := b.Facts; f != nil && f.KindConfidence >= brief.SureKind && len(kindTypefaces[f.Kind]) > 0 {
		list = kindTypefaces[f.Kind]
	}
	return list[hashOf(b)%uint64(len(list))]
}

// firstText returns the first text of the draft in the fields.
func firstText(b *creative.Brief, d *creative.Draft, fields ...string) string {
	return firstTextWhere(b, d, func(string) bool { return true }, fields...)
}

// firstTextWhere returns the first text of the draft that satisfies will, in
// the order of the fields and then of the channels, display first.
func firstTextWhere(b *creative.Brief, d *creative.Draft, will func(string) bool, fields ...string) string {
	for _, field := range fields {
		for _, channel := range append([]string{"display"}, b.Channels...) {
			c := d.ByChannel[channel]
			for _, text := range c.Texts(field) {
				if text = dropEmoji(text); text != "" && will(text) {
					return text
				}
			}
		}
	}
	return ""
}

// dropFinalCallToAction removes the short call to action at the end of a text,
// because the button shows it.
func dropFinalCallToAction(text string) string {
	const call = 4
	end := strings.LastIndex(strings.TrimRight(text, ".!"), ". ")
	if end < 0 || len(strings.Fields(text[end+1:])) > call {
		return text
	}
	return text[:end+1]
}

// repeatsButton reports whether a text only repeats the button.
func repeatsButton(text, button string) bool {
	words := strings.Fields(text)
	return len(words) <= 3 && strings.EqualFold(words[0], strings.Fields(button)[0])
}

// overlap reports whether one text contains the other.
func overlap(a, b string) bool {
	fold := func(s string) string { return strings.ToLower(strings.TrimRight(s, ".!?")) }
	a, b = fold(a), fold(b)
	return strings.Contains(a, b) || strings.Contains(b, a)
}

// dropEmoji removes characters that fonts do not draw as text, such as emoji.
func dropEmoji(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r >= 0x1f000 && r <= 0x1faff || r >= 0x2600 && r <= 0x27bf || r == 0xfe0f || r == 0x200d {
			return -1
		}
		return r
	}, s)), " ")
}

//go:embed data/buttons.txt
var buttonData string

// buttonLabels are the labels by call to action and language.
var buttonLabels = func() map[string]string {
	all := map[string]string{}
	for row := range strings.SplitSeq(buttonData, "\n") {
		if f := strings.SplitN(row, " ", 3); len(f) == 3 && f[0] != "#" {
			all[f[0]+" "+f[1]] = f[2]
		}
	}
	return all
}()

// buttonLabel returns the label of a call to action.
//
// Choice: a button in another language than the text looks like a mistake.
// Without a label in that language it shows an arrow.
func buttonLabel(action, language string) string {
	if action == "" {
		action = "learn_more"
	}
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	if language != "" && language != "en" {
		return cmp.Or(buttonLabels[action+" "+language], "→")
	}
	words := strings.ReplaceAll(action, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// altText describes the picture for people who cannot see it.
func altText(ad picture.Ad) string {
	var parts []string
	for _, part := range []string{ad.Brand, ad.Headline, ad.Offer.Text(), ad.Price.Text(), ad.Body, ad.CallToAction, ad.Terms} {
		if part != "" && part != "→" {
			parts = append(parts, strings.TrimRight(part, ".!?")+".")
		}
	}
	return strings.Join(parts, " ")
}
