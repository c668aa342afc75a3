package provider_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
	"fanfare/internal/llm/provider"
)

var squareShape = creative.Shape{Name: "1:1", Width: 1080, Height: 1080}

// displayDraft returns a draft with one headline and one description.
func displayDraft(headline, description string) *creative.Draft {
	return &creative.Draft{ByChannel: map[string]policy.Copy{"display": {Headlines: []string{headline}, Descriptions: []string{description}}}, CallToAction: "shop_now"}
}

func testBrief(language string) *creative.Brief {
	return &creative.Brief{Channels: []string{"display"}, Language: language, Brand: creative.Brand{Name: "Leaf & Co", Colors: []string{"#1b4332"}}, Seed: 1}
}

// TestPaint draws in both formats and checks the alternative text.
func TestPaint(t *testing.T) {
	t.Parallel()
	p := provider.NewPainter()
	for _, tt := range []struct {
		name, language, headline, description, alt string
	}{
		{"English", "en", "Green tea", "Hand-picked in spring.", "Leaf & Co. Green tea. Hand-picked in spring. Shop now."},
		{"no language", "", "Green tea!", "Hand-picked in spring", "Leaf & Co. Green tea. Hand-picked in spring. Shop now."},
		{"a regional English", "en-GB", "Green tea", "", "Leaf & Co. Green tea. Shop now."},
		{"the same twice", "en", "Green tea", "green tea.", "Leaf & Co. Green tea. Shop now."},
		{"German", "de", "Grüner Tee", "Von Hand gepflückt", "Leaf & Co. Grüner Tee. Von Hand gepflückt. Jetzt einkaufen."},
		{"Greek", "el", "Πράσινο τσάι", "", "Leaf & Co. Πράσινο τσάι."},
		{"Cyrillic", "ru", "Зелёный чай", "Собран весной", "Leaf & Co. Зелёный чай. Собран весной."},
		{"emoji", "en", "Green 🍵 tea ❤️", "☀️ Hand-picked", "Leaf & Co. Green tea. Hand-picked. Shop now."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for format, kind := range map[string]string{"png": "image/png", "svg": "image/svg+xml"} {
				got, err := p.Paint(t.Context(), testBrief(tt.language), displayDraft(tt.headline, tt.description), squareShape, format)
				if err != nil {
					t.Fatal(err)
				}
				if got.AltText != tt.alt || got.MIMEType != kind || got.Shape != squareShape {
					t.Errorf("got %q %s %v want %q %s", got.AltText, got.MIMEType, got.Shape, tt.alt, kind)
				}
				if format == "png" {
					size, err := png.DecodeConfig(bytes.NewReader(got.Bytes))
					if err != nil || size.Width != squareShape.Width || size.Height != squareShape.Height {
						t.Errorf("got %+v, %v", size, err)
					}
				} else if !bytes.HasPrefix(got.Bytes, []byte("<svg ")) {
					t.Errorf("got %.40s", got.Bytes)
				}
			}
		})
	}
}

// TestPaintEveryChannel draws the copy of each channel in every size.
func TestPaintEveryChannel(t *testing.T) {
	t.Parallel()
	p := provider.NewPainter()
	for i, channel := range creative.Channels {
		var copied policy.Copy
		for _, l := range policy.LimitsOf(channel) {
			copied.SetTexts(l.Field, []string{"Tea in " + strings.ReplaceAll(l.Field, "_", " ")})
		}
		b := testBrief("en")
		b.Channels = []string{channel}
		all := slices.Concat(creative.AspectRatios, creative.Sizes)
		shape := all[i%len(all)]
		got, err := p.Paint(t.Context(), b, &creative.Draft{ByChannel: map[string]policy.Copy{channel: copied}}, shape, "svg")
		if err != nil || !strings.Contains(got.AltText, "Tea in") || !strings.HasSuffix(got.AltText, "Learn more.") {
			t.Errorf("%s in %s: got %+v, %v", channel, shape.Name, got, err)
		}
	}
}

// TestPaintErrors checks the errors of ads that cannot be drawn.
func TestPaintErrors(t *testing.T) {
	t.Parallel()
	p := provider.NewPainter()
	with := func(logo []byte) *creative.Brief {
		b := testBrief("en")
		b.Brand.Logo = logo
		return b
	}
	for _, tt := range []struct {
		name  string
		brief *creative.Brief
		draft *creative.Draft
		code  string
		says  string
	}{
		{"Chinese", testBrief("zh"), displayDraft("绿茶", "手工采摘"), creative.FailScript, "绿"},
		{"Arabic", testBrief("ar"), displayDraft("شاي أخضر", ""), creative.FailScript, ""},
		{"nothing but emoji", testBrief("en"), displayDraft("🍵", "🌱"), creative.FailScript, ""},
		{"a logo that is none", with([]byte("not a picture")), displayDraft("Green tea", ""), creative.FailLogo, "PNG, JPEG, GIF or WebP"},
		{"half a logo", with(redLogo(t)[:40]), displayDraft("Green tea", ""), creative.FailLogo, "PNG"},
	} {
		_, err := p.Paint(t.Context(), tt.brief, tt.draft, squareShape, "png")
		failure, _ := errors.AsType[*creative.FailureError](err)
		if failure == nil || failure.Code != tt.code || failure.Retryable || !strings.Contains(failure.Message, tt.says) {
			t.Errorf("%s: got %v want %s", tt.name, err, tt.code)
		}
	}
}

// redLogo returns a red square.
func redLogo(t *testing.T) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 * 64 {
		img.Set(i%64, i/64, color.RGBA{255, 0, 0, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPaintLogo checks that the picture shows the logo.
func TestPaintLogo(t *testing.T) {
	t.Parallel()
	p := provider.NewPainter()
	red := func(logo []byte) (n int) {
		b := testBrief("en")
		b.Brand.Logo = logo
		got, err := p.Paint(t.Context(), b, displayDraft("Green tea", "Hand-picked in spring"), squareShape, "png")
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(got.Bytes))
		if err != nil {
			t.Fatal(err)
		}
		for y := range squareShape.Height {
			for x := range squareShape.Width {
				if r, g, b, _ := img.At(x, y).RGBA(); r == 0xffff && g == 0 && b == 0 {
					n++
				}
			}
		}
		return n
	}
	if got := red(nil); got != 0 {
		t.Errorf("got %d red points without a logo want none", got)
	}
	if got := red(redLogo(t)); got < 500 {
		t.Errorf("got %d red points with a red logo want 500 or more", got)
	}
}

// TestPaintStylePerVariant checks that each variant has its own style, and
// always the same one.
func TestPaintStylePerVariant(t *testing.T) {
	t.Parallel()
	p := provider.NewPainter()
	paint := func(headline string, seed int64) string {
		b := testBrief("en")
		b.Seed = seed
		got, err := p.Paint(t.Context(), b, displayDraft(headline, "Hand-picked"), squareShape, "svg")
		if err != nil {
			t.Fatal(err)
		}
		return string(got.Bytes)
	}
	if first, again := paint("Green tea", 1), paint("Green tea", 1); first != again {
		t.Error("got two pictures of one brief")
	}
	looks := map[string]bool{}
	for seed := range int64(8) {
		looks[paint("Green tea", seed)] = true
	}
	if len(looks) < 3 {
		t.Errorf("got %d looks of 8 seeds want 3 or more", len(looks))
	}
}
