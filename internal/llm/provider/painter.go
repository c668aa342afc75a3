package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	// Logos come in these formats.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"runtime"
	"strings"

	_ "golang.org/x/image/webp" // and in this one

	"fanfare/internal/creative"
	"fanfare/internal/creative/picture"
)

// Painter draws pictures with the built-in renderer, as many at once as there
// are processors.
type Painter struct{ slots chan struct{} }

var _ creative.Painter = (*Painter)(nil)

// NewPainter makes a painter.
func NewPainter() *Painter { return &Painter{make(chan struct{}, runtime.GOMAXPROCS(0))} }

// Paint draws one picture of a draft.
func (p *Painter) Paint(ctx context.Context, b *creative.Brief, d *creative.Draft, s creative.Shape, format string) (*creative.Picture, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for other pictures: %w", ctx.Err())
	}
	ad, err := adFromDraft(b, d, s)
	if err != nil {
		return nil, err
	}
	scene, err := picture.Draw(ad)
	switch {
	case errors.Is(err, picture.ErrScript):
		return nil, creative.Fail(creative.FailScript, false, "The text of the picture cannot be drawn: %s. Ask for text only, or use a model that draws.", err)
	case ad.Headline == "":
		return nil, creative.Fail(creative.FailScript, false, "There is no text for the picture but what no font draws, such as emoji. Ask for text only, or use a model that draws.")
	case err != nil:
		return nil, fmt.Errorf("draw %s: %w", s.Name, err)
	}
	out := &creative.Picture{Shape: s, AltText: altText(ad)}
	if format == "svg" {
		out.MIMEType = "image/svg+xml"
		out.Bytes, err = scene.SVG()
	} else {
		out.MIMEType = "image/png"
		out.Bytes, err = scene.PNG()
	}
	return out, err
}

// adFromDraft takes from a draft what a picture shows: the headline that is made for
// display where there is one, and little else.
func adFromDraft(b *creative.Brief, d *creative.Draft, s creative.Shape) (picture.Ad, error) {
	ad := picture.Ad{
		Headline: firstText(b, d, "headlines", "long_headline", "subject", "short_text", "primary_text", "script"),
		Brand:    dropEmoji(b.Brand.Name), Colors: b.Brand.Colors, Width: s.Width, Height: s.Height, Seed: b.Seed,
	}
	// Choice: a button in another language than the text would look like a
	// mistake, so where there are no words for it, it has an arrow.
	ad.CallToAction = "→"
	if b.Language == "" || strings.HasPrefix(strings.ToLower(b.Language), "en") {
		ad.CallToAction = buttonLabel(d.CallToAction)
	}
	// A picture that says the same twice says less.
	ad.Body = dropFinalCallToAction(firstTextWhere(b, d, func(text string) bool { return !overlap(text, ad.Headline) && !repeatsButton(text, ad.CallToAction) }, "descriptions", "preheader", "short_text", "primary_text"))
	// Each variant gets a look of its own.
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
	return ad, nil
}

// maxLogoPixels is how many pixels a logo may have; more cannot be seen.
const maxLogoPixels = 16_000_000

func readLogo(b []byte) (image.Image, error) {
	const fix = "Use a PNG, JPEG, GIF or WebP of at most 16 million pixels as brand.logo_url."
	size, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil || size.Width*size.Height > maxLogoPixels {
		return nil, creative.Fail(creative.FailLogo, false, "The logo cannot be read. "+fix).Because(err)
	}
	logo, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, creative.Fail(creative.FailLogo, false, "The logo cannot be read. "+fix).Because(err)
	}
	return logo, nil
}

// firstText finds a text of the draft.
func firstText(b *creative.Brief, d *creative.Draft, fields ...string) string {
	return firstTextWhere(b, d, func(string) bool { return true }, fields...)
}

// firstTextWhere finds a text of the draft that will do, in the order of the fields and,
// in each, of the channels, display before all.
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

// dropFinalCallToAction leaves out the short call that ends a text, because the button
// makes it.
func dropFinalCallToAction(text string) string {
	const call = 4
	end := strings.LastIndex(strings.TrimRight(text, ".!"), ". ")
	if end < 0 || len(strings.Fields(text[end+1:])) > call {
		return text
	}
	return text[:end+1]
}

// repeatsButton reports whether a text says no more than the button does.
func repeatsButton(text, button string) bool {
	words := strings.Fields(text)
	return len(words) <= 3 && strings.EqualFold(words[0], strings.Fields(button)[0])
}

// overlap reports whether one text is within the other.
func overlap(a, b string) bool {
	fold := func(s string) string { return strings.ToLower(strings.TrimRight(s, ".!?")) }
	a, b = fold(a), fold(b)
	return strings.Contains(a, b) || strings.Contains(b, a)
}

// dropEmoji leaves out what no font draws as text, such as emoji.
func dropEmoji(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r >= 0x1f000 && r <= 0x1faff || r >= 0x2600 && r <= 0x27bf || r == 0xfe0f || r == 0x200d {
			return -1
		}
		return r
	}, s)), " ")
}

// buttonLabel is what stands on the button.
func buttonLabel(action string) string {
	if action == "" {
		action = "learn_more"
	}
	words := strings.ReplaceAll(action, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// altText says what the picture shows, for those who cannot see it.
func altText(ad picture.Ad) string {
	var parts []string
	for _, part := range []string{ad.Brand, ad.Headline, ad.Body, ad.CallToAction} {
		if part != "" && part != "→" {
			parts = append(parts, strings.TrimRight(part, ".!?")+".")
		}
	}
	return strings.Join(parts, " ")
}
