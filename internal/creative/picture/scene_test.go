package picture

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"slices"
	"strings"
	"sync"
	"testing"
)

func draw300x250(t *testing.T, a Ad) *Scene {
	t.Helper()
	s, err := Draw(withSize(a, 300, 250, a.Seed))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMissingCharacter checks that a character without a glyph is an error in
// every part, and not drawn as an empty box.
func TestMissingCharacter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*Ad)
		want   string
	}{
		{"Chinese headline", func(a *Ad) { a.Headline = "Save 今天 now" }, "'今' (U+4ECA)"},
		{"Arabic body", func(a *Ad) { a.Body = "مرحبا" }, "'م' (U+0645)"},
		{"emoji on the button", func(a *Ad) { a.CallToAction = "Go 🚀" }, "'🚀' (U+1F680)"},
		{"Hebrew brand", func(a *Ad) { a.Brand = "שלום" }, "'ש' (U+05E9)"},
		{"lone mark", func(a *Ad) { a.Headline = "Sun \u0e31" }, "U+0E31"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := withSize(shoesAd, 300, 250, 1)
			test.change(&a)
			_, err := Draw(a)
			if !errors.Is(err, ErrScript) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v want ErrScript with %s", err, test.want)
			}
		})
	}
}

func TestInvalidAd(t *testing.T) {
	t.Parallel()
	for _, a := range []Ad{
		withSize(shoesAd, 49, 250, 0),
		withSize(shoesAd, 300, 4097, 0),
		withSize(shoesAd, 0, -1, 0),
		withSize(Ad{CallToAction: "Go"}, 300, 250, 0),
		withSize(Ad{Headline: " \u00a0\n", CallToAction: "Go"}, 300, 250, 0),
		withSize(Ad{Headline: "Go"}, 300, 250, 0),
	} {
		if _, err := Draw(a); !errors.Is(err, ErrAd) {
			t.Errorf("%dx%d %q: got %v want ErrAd", a.Width, a.Height, a.Headline, err)
		}
	}
}

func TestExtremeSizes(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{MinSide, MinSide}, {MinSide, MaxSide}, {MaxSide, MinSide}} {
		a := withSize(germanAd, size[0], size[1], 3)
		s, err := Draw(a)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range sceneFaults(a, s) {
			t.Errorf("%v: %s", size, fault)
		}
	}
}

// TestSeeds checks that successive seeds differ and that every layout is used.
func TestSeeds(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	var last string
	for seed := range int64(2 * len(typeLayouts)) {
		a := shoesAd
		a.Seed = seed
		s := draw300x250(t, a)
		if s.Layout == last {
			t.Errorf("seed %d: got the layout %s of the seed before", seed, s.Layout)
		}
		last = s.Layout
		seen[last] = true
	}
	if len(seen) != len(typeLayouts) {
		t.Errorf("got %d layouts want %d", len(seen), len(typeLayouts))
	}
}

func TestOmitted(t *testing.T) {
	t.Parallel()
	logo := ringLogo(color.NRGBA{200, 30, 30, 255})
	wordMark := wordMarkLogo(color.NRGBA{200, 30, 30, 255})
	for _, test := range []struct {
		name string
		w, h int
		logo image.Image
		want []string
	}{
		{"everything", 300, 250, logo, nil},
		{"word mark", 300, 250, wordMark, []string{"brand"}},
		{"small", 320, 100, nil, []string{"body"}},
		{"tiny", 320, 50, logo, []string{"body", "brand", "logo"}},
		{"empty logo", 300, 250, image.NewNRGBA(image.Rect(0, 0, 9, 9)), []string{"logo"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := withSize(shoesAd, test.w, test.h, 0)
			a.Logo = test.logo
			s, err := Draw(a)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.Omitted, test.want) {
				t.Errorf("got %v want %v", s.Omitted, test.want)
			}
		})
	}
}

// TestHierarchy checks that the headline is clearly larger than the body.
func TestHierarchy(t *testing.T) {
	t.Parallel()
	for _, size := range commonSizes {
		for seed := range int64(len(typeLayouts)) {
			s, err := Draw(withSize(coffeeAd, size[0], size[1], seed))
			if err != nil {
				t.Fatal(err)
			}
			of := map[Role]float64{}
			for _, text := range s.texts {
				of[text.role] = text.size
			}
			if of[RoleHeadline] < 1.3*of[RoleBody] {
				t.Errorf("%v %s: got a headline of %.1f over a body of %.1f", size, s.Layout, of[RoleHeadline], of[RoleBody])
			}
		}
	}
}

// boldFaces returns Inter in bold.
func boldFaces() *faces { return &faces{[]*typeface{plain().heading()}} }

func TestLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		width float64
		even  bool
		want  []string
	}{
		{"Run further this autumn", 8, true, []string{"Run further", "this autumn"}},
		{"Coffee, roasted on Monday", 11, true, []string{"Coffee, roasted", "on Monday"}},
		{"one two three four five", 11, false, []string{"one two three", "four five"}},
		{"Vraiment ? Oui !", 6, true, []string{"Vraiment\u00a0?", "Oui\u00a0!"}},
		{"short", 20, true, []string{"short"}},
	} {
		s, err := measureText(boldFaces(), test.text, textSetting{lead: 1.2})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range s.breakLines(test.width, test.even) {
			var words []string
			for _, w := range l.words {
				words = append(words, w.text)
			}
			got = append(got, strings.Join(words, " "))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q want %q", test.text, got, test.want)
		}
	}
}

// TestKerning checks that kerning and combining accents are applied.
func TestKerning(t *testing.T) {
	t.Parallel()
	width := func(s string) float64 {
		w, err := boldFaces().shape(s, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		return w.width
	}
	if got, most := width("AV"), width("A")+width("V"); got >= most {
		t.Errorf("got %.3f want less than %.3f", got, most)
	}
	if got, want := width("e\u0301"), width("é"); got != want {
		t.Errorf("letter with a combining accent: got %.3f want %.3f", got, want)
	}
}

// TestPalettes checks the contrast of every pair of text and background colors.
func TestPalettes(t *testing.T) {
	t.Parallel()
	list := slices.Clone(defaultColors)
	for _, r := range []uint8{0, 60, 128, 200, 255} {
		for _, g := range []uint8{0, 60, 128, 200, 255} {
			for _, b := range []uint8{0, 60, 128, 200, 255} {
				list = append(list, []rgb{{r, g, b}}, []rgb{{r, g, b}, {b, r, g}})
			}
		}
	}
	for _, colors := range list {
		for _, p := range palettes(colors) {
			for _, s := range []surface{p.field, p.panel} {
				for _, pair := range [][2]rgb{
					{s.ink, s.fill},
					{s.ink, s.tint},
					{s.muted, s.fill},
					{s.muted, s.tint},
					{s.accent, s.fill},
					{s.accent, s.tint},
					{s.label, s.button},
				} {
					if got := contrast(pair[0], pair[1]); got < 4.5 {
						t.Errorf("%v: contrast of %v on %v: got %.2f want 4.5", colors, pair[0], pair[1], got)
					}
				}
				if got := contrast(s.button, s.fill); got < 1.8 {
					t.Errorf("%v: button %v on %v: got %.2f want 1.8", colors, s.button, s.fill, got)
				}
			}
		}
	}
}

// TestLogoContrast checks that a logo is visible on a background of its own
// color.
func TestLogoContrast(t *testing.T) {
	t.Parallel()
	for _, c := range []rgb{white, black, {0x0b, 0x6e, 0x4f}, {0xff, 0xff, 0}} {
		a := shoesAd
		a.Colors = []string{c.String()}
		a.Logo = ringLogo(color.NRGBA{c.r, c.g, c.b, 255})
		for a.Seed = range int64(2 * len(typeLayouts)) {
			s := draw300x250(t, a)
			canvas := newCanvas(s.Width, s.Height)
			logo := s.logo
			s.logo = nil
			canvas.drawBackground(s)
			corner := canvas.picture.RGBAAt(int(logo.box.x0)+1, int((logo.box.y0+logo.box.y1)/2))
			if got := contrast(c, rgb{corner.R, corner.G, corner.B}); got < 2.5 {
				t.Errorf("%v seed %d: got contrast %.2f want 2.5", c, a.Seed, got)
			}
		}
	}
}

// TestConcurrent draws the same ads concurrently, for the race detector.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	want, err := draw300x250(t, russianAd).PNG()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := Draw(withSize(russianAd, 300, 250, 0))
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := s.PNG(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("got other bytes, error %v", err)
			}
		})
	}
	all.Wait()
}

func TestSVGContainsTexts(t *testing.T) {
	t.Parallel()
	a := coffeeAd
	a.Headline = `Tea & "biscuits" <now>`
	got, err := draw300x250(t, a).SVG()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<title id=\"t\">Tea &amp; &#34;biscuits&#34; &lt;now&gt;</title>",
		"Kaffa &amp; Sons. Tea", "Start your subscription.</desc>", `width="300" height="250" viewBox="0 0 300 250"`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("got no %s in %.400s", want, got)
		}
	}
	if err := wellFormed(got); err != nil {
		t.Error(err)
	}
}
