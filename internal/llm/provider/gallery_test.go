package provider_test

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/creative/copywriter"
	"fanfare/internal/creative/parser"
	"fanfare/internal/llm/provider"
)

var update = flag.Bool("update", false, "rewrite the gallery")

// galleryBriefs are the briefs in docs/gallery.md, with colors.
var galleryBriefs = []struct {
	brief, title string
	colors       []string
	// product adds the photo of a product.
	product bool
}{
	{"01-software-pm", "Software", []string{"#3b5bdb", "#edf2ff"}, false},
	{"04-food-latte", "Food and drink", []string{"#6f4e37", "#f5ebe0"}, true},
	{"07-local-plumber", "Local service", []string{"#0b7285", "#e3fafc"}, false},
	{"10-fashion-wallets", "Fashion", []string{"#5f3dc4", "#f3f0ff"}, false},
	{"13-nonprofit-shelter", "Non-profit", []string{"#2b8a3e", "#ebfbee"}, false},
	{"15-event-jazz", "Event", []string{"#c2255c", "#fff0f6"}, false},
	{"18-b2b-logistics", "B2B", []string{"#1864ab", "#e7f5ff"}, false},
	{"24-travel-cabins", "Travel", []string{"#1b4332", "#d8f3dc"}, false},
	{"27-ecom-blackfriday", "Sale", []string{"#111111", "#ffd43b"}, false},
	{"34-german", "In German, from the prompt's own words", nil, false},
}

const (
	briefs  = "../../creative/copywriter/testdata/briefs"
	folder  = "../../../docs/gallery"
	album   = "../../../docs/gallery.md"
	preface = `# Gallery

What the built-in composer makes of ten prompts: no network, no key, no model. Each variant has an idea of its own, every text
fits its channel's limits, and every number is one of the prompt's. Only a part is shown: each variant has more headlines for
search, copy for every channel that is asked for, and pictures in 14 shapes, as PNG, JPEG and SVG. The pictures have the colors of
a brand kit; offers are badges, prices are large, and the latte has the picture of a product on white. A test makes this page.
`
)

// TestGallery checks that docs/gallery.md shows what the program generates.
func TestGallery(t *testing.T) {
	t.Parallel()
	out := bytes.NewBufferString(preface)
	painter := provider.NewPainter()
	for _, g := range galleryBriefs {
		b := readBrief(t, g.brief)
		b.Brand.Colors = g.colors
		b.Facts = parser.Parse(b.Prompt, "", nil)
		more := creative.Sizes[2:3]
		if g.product {
			b.Photo, more = readPhoto(t, painter), []creative.Shape{creative.Sizes[2], creative.Sizes[6]}
		}
		result, err := copywriter.New().Write(t.Context(), b)
		if err != nil {
			t.Fatalf("%s: %v", g.brief, err)
		}
		b.Language = result.Language
		fmt.Fprintf(out, "\n## %s\n\n> %s\n\n", g.title, strings.ReplaceAll(b.Prompt, "\n", "\n> "))
		for i, d := range result.Drafts {
			shapes := creative.Sizes[:1]
			if i == 0 {
				shapes = append([]creative.Shape{creative.Sizes[0]}, more...)
			}
			for _, s := range shapes {
				p, err := painter.Paint(t.Context(), b, &d, s, "png")
				if err != nil {
					t.Fatalf("%s %s: %v", g.brief, s.Name, err)
				}
				name := fmt.Sprintf("%s-%d-%s.png", g.brief, i+1, s.Name)
				checkFile(t, filepath.Join(folder, name), p.Bytes)
				fmt.Fprintf(out, "![%s](gallery/%s)\n", p.AltText, name)
			}
		}
		for i, d := range result.Drafts {
			printDraft(out, i, &d)
		}
	}
	checkFile(t, album, out.Bytes())
}

// readPhoto returns a drawn cup on white, as a photo of a product.
func readPhoto(t *testing.T, painter *provider.Painter) creative.Photo {
	t.Helper()
	const side = 600
	p := image.NewRGBA(image.Rect(0, 0, side, side))
	inside := func(x, y, cx, cy, rx, ry float64) bool { return math.Pow((x-cx)/rx, 2)+math.Pow((y-cy)/ry, 2) <= 1 }
	for i := range side * side {
		x, y := float64(i%side), float64(i/side)
		c := color.RGBA{255, 255, 255, 255}
		light := uint8(20 * math.Cos((x-150)/90))
		switch narrow := 150 - (y-180)/4; {
		case inside(x, y, 280, 170, 135, 34):
			c = color.RGBA{201, 160, 120, 255}
		case inside(x, y, 280, 170, 152, 44):
			c = color.RGBA{235, 230, 224, 255}
		case y >= 170 && y < 470 && math.Abs(x-280) < narrow, y >= 470 && inside(x, y, 280, 470, 77, 20):
			c = color.RGBA{90 + light, 130 + light, 120 + light, 255}
		case inside(x, y, 425, 290, 80, 95) && !inside(x, y, 425, 290, 50, 62):
			c = color.RGBA{80, 118, 108, 255}
		case inside(x, y, 280, 490, 220, 34):
			c = color.RGBA{232, 228, 222, 255}
		}
		p.SetRGBA(i%side, i/side, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	photo, err := painter.ReadPhoto(t.Context(), b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return photo
}

// printDraft prints a part of a variant.
func printDraft(out *bytes.Buffer, i int, d *creative.Draft) {
	search, social := d.ByChannel["search"], d.ByChannel["social"]
	fmt.Fprintf(out, "\n**%d. %s**\n\n", i+1, d.Angle)
	fmt.Fprintf(out, "- Search: %s\n", strings.Join(search.Headlines[:min(4, len(search.Headlines))], " · "))
	for _, text := range search.Descriptions[:min(2, len(search.Descriptions))] {
		fmt.Fprintf(out, "  - %s\n", text)
	}
	fmt.Fprintf(out, "- Social: **%s** %s\n", social.Headlines[0], *social.PrimaryText)
}

func checkFile(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s does not show what is made: %v; make golden rewrites it", file, err)
	}
}

// readBrief reads a brief of the writer's tests: options, an empty line, the
// prompt.
func readBrief(t *testing.T, name string) *creative.Brief {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(briefs, name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	head, prompt, found := strings.Cut(string(text), "\n\n")
	if !found {
		t.Fatalf("%s has no empty line between options and prompt", name)
	}
	b := &creative.Brief{
		Prompt: strings.TrimSpace(prompt), Type: "image", Channels: []string{"search", "social", "display"}, Variants: 3, Seed: 1,
	}
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "brand":
			b.Brand.Name = value
		case "landing":
			b.LandingURL = value
		case "tone":
			b.Tone = value
		}
	}
	return b
}
