package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	// Formats of logos.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"strings"

	_ "golang.org/x/image/webp" // another format of logos

	"fanfare/internal/creative"
	"fanfare/internal/creative/picture"
)

// Painter draws pictures with the built-in renderer.
type Painter struct{}

var _ creative.Painter = (*Painter)(nil)

// NewPainter returns a painter.
func NewPainter() *Painter { return &Painter{} }

// Paint draws one picture of a draft.
func (*Painter) Paint(_ context.Context, b *creative.Brief, d *creative.Draft, s creative.Shape, format string) (*creative.Picture, error) {
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

// adFromDraft selects the texts that a picture shows: the headline for display
// if there is one, and few others.
func adFromDraft(b *creative.Brief, d *creative.Draft, s creative.Shape) (picture.Ad, error) {
	ad := picture.Ad{
		Headline: firstText(b, d, "headlines", "long_headline", "subject", "short_text", "primary_text", "script"),
		Brand:    dropEmoji(b.Brand.Name), Colors: b.Brand.Colors, Width: s.Width, Height: s.Height, Seed: b.Seed,
	}
	// Choice: a button in another language than the text looks like a mistake.
	// Without a translated label it shows an arrow.
	ad.CallToAction = "→"
	if b.Language == "" || strings.HasPrefix(strings.ToLower(b.Language), "en") {
		ad.CallToAction = buttonLabel(d.CallToAction)
	}
	// Repeated text weakens a picture.
	ad.Body = dropFinalCallToAction(firstTextWhere(b, d, func(text string) bool { return !overlap(text, ad.Headline) && !repeatsButton(text, ad.CallToAction) }, "descriptions", "preheader", "short_text", "primary_text"))
	// Each variant gets its own layout and colors.
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

// maxLogoPixels limits the size of a logo; more pixels are not visible.
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

// buttonLabel returns the label of a call to action.
func buttonLabel(action string) string {
	if action == "" {
		action = "learn_more"
	}
	words := strings.ReplaceAll(action, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// altText describes the picture for people who cannot see it.
func altText(ad picture.Ad) string {
	var parts []string
	for _, part := range []string{ad.Brand, ad.Headline, ad.Body, ad.CallToAction} {
		if part != "" && part != "→" {
			parts = append(parts, strings.TrimRight(part, ".!?")+".")
		}
	}
	return strings.Join(parts, " ")
}
