package picture

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var arabicAd = Ad{
	Headline: "شاي أخضر طازج من الجبال", Body: "خصم 20% حتى الأحد من Leaf & Co.", CallToAction: "اطلب الآن", Brand: "Leaf & Co",
	Offer: Offer{Before: "خصم", Main: "20%"}, Colors: []string{"#1b4332", "#d8f3dc"},
}

// testFonts returns the folder with a font for the Arabic letters of the tests.
func testFonts() fs.FS { return os.DirFS("testdata/fonts") }

// TestOperatorFonts draws Arabic in all sizes with a font of a folder, and not
// without one.
func TestOperatorFonts(t *testing.T) {
	t.Parallel()
	fonts := NewFonts(os.DirFS("testdata/missing"), testFonts())
	for _, size := range commonSizes {
		a := withSize(arabicAd, size[0], size[1], 1)
		if _, err := Draw(a); !errors.Is(err, ErrScript) || !strings.Contains(err.Error(), "no font has 'ش'") {
			t.Fatalf("without the folder: got %v want ErrScript", err)
		}
		a.Fonts = fonts
		s, err := Draw(a)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range slices.Concat(boxFaults(s), wordFaults(a, s)) {
			t.Errorf("%v %s: %s", size, s.Layout, fault)
		}
	}
}

// TestBadFonts checks that files that are no fonts are passed over.
func TestBadFonts(t *testing.T) {
	t.Parallel()
	good, err := os.ReadFile("testdata/fonts/arabic.ttf")
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{
		"a/empty.ttf": {}, "a/text.otf": {Data: []byte("no font")}, "a/half.ttf": {Data: good[:len(good)/2]},
		"readme.txt": {Data: []byte("words")}, "z/good.TTF": {Data: good},
	}
	a := withSize(arabicAd, 300, 250, 1)
	a.Fonts = NewFonts(folder)
	if _, err := Draw(a); err != nil {
		t.Error(err)
	}
}

// TestRightToLeft checks the direction of lines, of words of another language
// and of numbers, and that the layout is turned around.
func TestRightToLeft(t *testing.T) {
	t.Parallel()
	a := withSize(arabicAd, 1200, 628, 1)
	a.Fonts = NewFonts(testFonts())
	s, err := Draw(a)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]float64{}
	for _, text := range s.texts {
		for _, w := range text.words {
			at[string(text.role)+" "+w.text] = w.x
		}
	}
	for _, order := range [][2]string{
		{"headline أخضر", "headline شاي"}, {"body 20%", "body خصم"}, {"body Leaf", "body &"}, {"body &", "body Co."}, {"body Co.", "body من"},
		{"label الآن", "label اطلب"},
	} {
		left, ok := at[order[0]]
		right, also := at[order[1]]
		if !ok || !also || left >= right {
			t.Errorf("%q at %.0f is not left of %q at %.0f", order[0], left, order[1], right)
		}
	}
	if got := splitDirections([]rune("Co."), true); len(got) != 1 || got[0].rtl {
		t.Errorf("got %v for a Latin word with a point", got)
	}
	w, err := (&faces{append([]*typeface{plain().heading()}, a.Fonts.forText(a.Headline, nil, true)...)}).shape("خصم20%", 0, true)
	if err != nil {
		t.Fatal(err)
	}
	digits, err := boldFaces().shape("20%", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range digits.glyphs {
		if w.glyphs[i].glyph != g.glyph {
			t.Errorf("glyph %d of a number after Arabic is not that of the number alone", i)
		}
	}
}

// TestEmbeddedFamilies checks that each family has the letters of the languages
// that the product writes, and that Inter stands in for others.
func TestEmbeddedFamilies(t *testing.T) {
	t.Parallel()
	const letters = "ABCXYZabcxyz0123456789 .,:;!?%&$€£–—“”„‚‘’«»äöüÄÖÜßéèêëçàâîïôûùœñ¿¡áíóúãõÃÕìòÉÈÀÇÑÁąęłńśźżčřšžěůőűğışță"
	if len(families) < 6 {
		t.Fatalf("got %d families want 6", len(families))
	}
	for _, f := range families {
		for _, face := range []*typeface{f.heading(), f.text()} {
			for _, r := range letters {
				if !face.covers(r) {
					t.Errorf("%s lacks %q", f.name, r)
				}
			}
		}
	}
	use := typefaces{heading: familyNamed("fraunces"), text: familyNamed("none")}
	if got := use.facesFor("Чай", use.heading, true).list[0]; got != plain().heading() {
		t.Error("a text that Fraunces lacks is not drawn in Inter alone")
	}
	if use.text != plain() {
		t.Errorf("got %s for an unknown name", use.text.name)
	}
}
