package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	_ "image/png"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// commonSizes are the usual sizes of display ads.
var commonSizes = [][2]int{
	{300, 250},
	{336, 280},
	{728, 90},
	{970, 250},
	{970, 90},
	{160, 600},
	{300, 600},
	{320, 50},
	{320, 100},
	{1080, 1080},
	{1080, 1350},
	{1080, 1920},
	{1920, 1080},
	{1200, 628},
}

var sampleWords = []string{
	"a", "of", "the", "new", "Run", "save", "20%", "29,90 €", "autumn", "further", "coffee", "today", "everyone", "Monday",
	"delivery", "well-known", "Überraschung", "été", "œuvre", "Ährenöl", "Çağrı", "Łódź", "Ấn", "Żółć", "Ελληνικά", "χρόνο", "Быстро",
	"доставка", "щука", "Українська", "Versicherungsvergleichsplattform", "Donaudampfschifffahrtsgesellschaft", "— fast", "(really)",
	"“quoted”", "it’s", "No.", "why?", "go!", "&", "fjord", "jj", "W", "e\u0301te\u0301",
}

func randomText(t *rapid.T, label string, least, most int) string {
	var b strings.Builder
	want := rapid.IntRange(least, most).Draw(t, label+" length")
	for b.Len() == 0 && want > 0 || len([]rune(b.String())) < want {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(rapid.SampledFrom(sampleWords).Draw(t, label))
	}
	if r := []rune(b.String()); len(r) > most {
		return strings.TrimSpace(string(r[:most]))
	}
	return b.String()
}

func randomLogo(t *rapid.T) image.Image {
	if rapid.IntRange(0, 2).Draw(t, "logo") == 0 {
		return nil
	}
	w, h := rapid.IntRange(1, 220).Draw(t, "logo width"), rapid.IntRange(1, 120).Draw(t, "logo height")
	p := image.NewNRGBA(image.Rect(3, 5, 3+w, 5+h))
	ink := color.NRGBA{rapid.Byte().Draw(t, "red"), rapid.Byte().Draw(t, "green"), rapid.Byte().Draw(t, "blue"), 255}
	hole := rapid.IntRange(1, 9).Draw(t, "hole")
	for y := range h {
		for x := range w {
			if (x*y/7)%hole == 0 {
				p.SetNRGBA(3+x, 5+y, ink)
			}
		}
	}
	return p
}

// randomOffer adds an offer, a price and terms, or some of them.
func randomOffer(t *rapid.T, a *Ad) {
	if rapid.Bool().Draw(t, "offer") {
		a.Offer = Offer{randomText(t, "before", 0, 8), rapid.SampledFrom([]string{"20%", "15 %", "Gratis", "2 for 1", "£1,000"}).Draw(t, "main"), randomText(t, "after", 0, 16)}
	}
	if rapid.Bool().Draw(t, "price") {
		a.Price = Price{randomText(t, "from", 0, 6), rapid.SampledFrom([]string{"$9", "1.299,00 €", "18,000 zł"}).Draw(t, "amount"), randomText(t, "unit", 0, 20), ""}
		if rapid.Bool().Draw(t, "previous") {
			a.Price.Previous = "$1,299.00"
		}
	}
	a.Terms = randomText(t, "terms", 0, 90)
}

// randomPhoto returns a photo with a subject somewhere: on a scene, on white, or
// cut out.
func randomPhoto(t *rapid.T) *Photo {
	kind := rapid.IntRange(0, 4).Draw(t, "photo")
	if kind > 2 {
		return nil
	}
	w, h := rapid.IntRange(20, 300).Draw(t, "photo width"), rapid.IntRange(20, 300).Draw(t, "photo height")
	return NewPhoto(testPhoto(kind, w, h))
}

// testPhoto draws a ball at a third of the picture: on stripes, on white, or on
// nothing.
func testPhoto(kind, w, h int) image.Image {
	p := image.NewNRGBA(image.Rect(0, 0, w, h))
	x0, y0, r := w/3, h/3, min(w, h)/5
	for y := range h {
		for x := range w {
			switch {
			case (x-x0)*(x-x0)+(y-y0)*(y-y0) < r*r:
				p.SetNRGBA(x, y, color.NRGBA{200, uint8(80 + x%40), 30, 255})
			case kind == 0:
				p.SetNRGBA(x, y, color.NRGBA{uint8(255 * y / h), 250, uint8(255 * x / w), 255})
			case kind == 1:
				p.SetNRGBA(x, y, color.NRGBA{255, 255, 255, 255})
			}
		}
	}
	return p
}

func randomAd(t *rapid.T) Ad {
	a := Ad{
		Headline: randomText(t, "headline", 1, 90), CallToAction: randomText(t, "button", 1, 28),
		Body: randomText(t, "body", 0, 140), Brand: randomText(t, "brand", 0, 30),
		Logo: randomLogo(t), Seed: rapid.Int64().Draw(t, "seed"),
	}
	randomOffer(t, &a)
	a.Photo = randomPhoto(t)
	a.Typefaces = Typefaces{rapid.SampledFrom(Families).Draw(t, "heading"), rapid.SampledFrom(Families).Draw(t, "text")}
	for range rapid.IntRange(0, 3).Draw(t, "colors") {
		a.Colors = append(a.Colors, rapid.OneOf(
			rapid.SampledFrom([]string{"#ffffff", "#000000", "#39ff14", "#ffff00", "#808080", "#777777", "red", "#ff6b00", "#fefefe"}),
			rapid.StringMatching(`#[0-9a-f]{6}`),
		).Draw(t, "color"))
	}
	// Small sizes are more frequent: they are hard to fit, and large ones are
	// slow to draw.
	switch n := rapid.IntRange(0, 39).Draw(t, "kind of shape"); {
	case n < 20:
		shape := rapid.SampledFrom(commonSizes[:9]).Draw(t, "display shape")
		a.Width, a.Height = shape[0], shape[1]
	case n < 38:
		side := rapid.IntRange(MinSide, 420)
		a.Width, a.Height = side.Draw(t, "width"), side.Draw(t, "height")
	case n < 39:
		shape := rapid.SampledFrom(commonSizes[9:]).Draw(t, "large shape")
		a.Width, a.Height = shape[0], shape[1]
	default:
		side := rapid.IntRange(MinSide, 1400)
		a.Width, a.Height = side.Draw(t, "width"), side.Draw(t, "height")
	}
	return a
}

// fullDrill selects the long form of the test.
var fullDrill = os.Getenv("FANFARE_DRILL") == "full"

// TestMain reduces the number of random ads in the short form, because drawing
// is slow with the race detector and each picture uses one goroutine.
func TestMain(m *testing.M) {
	flag.Parse()
	if !fullDrill {
		if err := flag.Set("rapid.checks", "25"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestRandomAds checks all guarantees of the package with random ads.
func TestRandomAds(t *testing.T) {
	t.Parallel()
	check := func(t *rapid.T) {
		a := randomAd(t)
		s, err := Draw(a)
		if err != nil {
			t.Fatalf("draw %+v: %v", a, err)
		}
		for _, fault := range sceneFaults(a, s) {
			t.Errorf("%dx%d %s: %s", a.Width, a.Height, s.Layout, fault)
		}
	}
	rounds := 1
	if fullDrill {
		rounds = 100
	}
	for i := range rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, check)
		})
	}
}

// sceneFaults returns the promises that a scene breaks.
func sceneFaults(a Ad, s *Scene) []string {
	return slices.Concat(wordFaults(a, s), boxFaults(s), colorFaults(s), fileFaults(a, s))
}

// wordFaults checks that every word is drawn in order and unbroken, and that
// every glyph is inside its box.
func wordFaults(a Ad, s *Scene) (list []string) {
	for role, want := range map[Role]string{
		RoleHeadline: a.Headline, RoleLabel: a.CallToAction, RoleBody: a.Body, RoleBrand: a.Brand,
		RoleOffer: a.Offer.Text(), RolePrice: joinTexts(" ", a.Price.Text(), a.Price.Previous), RoleTerms: a.Terms,
	} {
		var got []string
		for _, t := range s.texts {
			if t.role != role {
				continue
			}
			list = append(list, sizeFaults(a, &t)...)
			if role != RolePrice && role != RoleOffer {
				for _, whole := range brokenWords(want, t.words) {
					if w, err := boldFaces().shape(whole, 0, false); err != nil || w.width*legibleSize < 0.35*float64(a.Width) {
						list = append(list, fmt.Sprintf("%s: %q is broken", role, whole))
					}
				}
			}
			for _, w := range t.words {
				got = append(got, w.text)
				list = append(list, inkFaults(&t, w)...)
			}
		}
		if len(got) == 0 && (slices.Contains(s.Omitted, string(role)) || want == "" || role == RoleTerms && a.Offer.Text() == "" && a.Price.Amount == "") {
			continue
		}
		wanted := splitWords(want)
		if role == RolePrice {
			// Rows have the previous price at different places.
			slices.Sort(got)
			slices.Sort(wanted)
		}
		if got, want := strings.Join(got, ""), strings.Join(wanted, ""); got != want {
			list = append(list, fmt.Sprintf("%s: got %q want %q", role, got, want))
		}
	}
	return append(list, termsFaults(a, s)...)
}

// termsFaults checks that an offer with terms is not shown without them.
func termsFaults(a Ad, s *Scene) []string {
	has := func(r Role) bool { return slices.ContainsFunc(s.texts, func(t textBox) bool { return t.role == r }) }
	if a.Terms != "" && (has(RoleOffer) || has(RolePrice)) && !has(RoleTerms) {
		return []string{"offer or price without its terms"}
	}
	return nil
}

// sizeFaults checks that a text is legible.
func sizeFaults(a Ad, t *textBox) []string {
	least := 0.0
	switch {
	case t.role == RoleHeadline && len(a.Headline) < 60 && min(a.Width, a.Height) >= 90:
		least = 5
	case t.role == RoleTerms:
		least = 9
	case t.role == RoleOffer:
		least = 5
	}
	if t.size < least {
		return []string{fmt.Sprintf("%s of %.1f pixels", t.role, t.size)}
	}
	return nil
}

// inkFaults checks that a word is inside the box of its text and not empty.
func inkFaults(t *textBox, w placedWord) (list []string) {
	ink := w.inkBounds().scale(t.size).shift(w.x, w.y)
	if !isInside(ink, t.box, 0.01) {
		list = append(list, fmt.Sprintf("%s: %q at %v is outside its box %v", t.role, w.text, ink, t.box))
	}
	shown := strings.ContainsFunc(w.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	if shown && (ink.w() <= 0 || ink.h() <= 0) {
		list = append(list, fmt.Sprintf("%s: %q draws nothing", t.role, w.text))
	}
	return list
}

// brokenWords returns the words of a text that are drawn in more than one
// piece.
func brokenWords(want string, pieces []placedWord) (list []string) {
	for _, whole := range splitWords(want) {
		n, got := 0, ""
		for ; n < len(pieces) && got != whole; n++ {
			got += pieces[n].text
		}
		pieces = pieces[n:]
		if n > 1 {
			list = append(list, whole)
		}
	}
	return list
}

func isInside(a, b box, slack float64) bool {
	return a.x0 >= b.x0-slack && a.y0 >= b.y0-slack && a.x1 <= b.x1+slack && a.y1 <= b.y1+slack
}

// boxFaults checks that all parts are inside the picture and do not overlap.
func boxFaults(s *Scene) (list []string) {
	type part struct {
		role Role
		box  box
	}
	var parts []part
	var button box
	for _, f := range s.fills {
		if f.role == RolePhoto {
			continue
		}
		if f.role != "" {
			parts = append(parts, part{f.role, f.box})
		}
		if f.role == RoleButton {
			button = f.box
		}
	}
	if s.logo != nil {
		parts = append(parts, part{RoleLogo, s.logo.box})
		b := s.logo.box
		if shown := b.w() / b.h(); math.Abs(shown/s.logo.image.aspect-1) > 0.08 && min(b.w(), b.h()) > 20 {
			list = append(list, fmt.Sprintf("logo is distorted: got %.2f want %.2f", shown, s.logo.image.aspect))
		}
	}
	for _, t := range s.texts {
		if t.role == RoleLabel {
			if !isInside(t.box, button, 0.01) {
				list = append(list, fmt.Sprintf("label %v is outside the button %v", t.box, button))
			}
			continue
		}
		parts = append(parts, part{t.role, t.box})
	}
	safe := box{0, 0, float64(s.Width), float64(s.Height)}
	if s.Width == 1080 && s.Height == 1920 {
		safe = safe.inset(0, 250)
	}
	for i, p := range parts {
		if !isInside(p.box, safe, 0) {
			list = append(list, fmt.Sprintf("%s %v is outside %v", p.role, p.box, safe))
		}
		for _, q := range parts[:i] {
			if o := p.box.intersect(q.box); p.role != q.role && o.w() > 0.01 && o.h() > 0.01 {
				list = append(list, fmt.Sprintf("%s %v covers %s %v", p.role, p.box, q.role, q.box))
			}
		}
	}
	return list
}

// colorFaults checks the contrast of each text with the pixels behind it.
func colorFaults(s *Scene) (list []string) {
	c := newCanvas(s.Width, s.Height)
	c.drawBackground(s)
	for _, t := range s.texts {
		worst, under, last := 21.0, rgb{}, t.ink
		at := c.pixelBounds(t.box)
		for y := at.Min.Y; y < at.Max.Y; y++ {
			for x := at.Min.X; x < at.Max.X; x++ {
				p := c.picture.RGBAAt(x, y)
				pixel := rgb{p.R, p.G, p.B}
				if pixel == last && worst < 21 {
					continue
				}
				last = pixel
				if got := contrast(pixel, t.ink); got < worst {
					worst, under = got, pixel
				}
			}
		}
		if worst < 4.5 {
			list = append(list, fmt.Sprintf("%s: contrast of %v on %v: got %.2f want 4.5", t.role, t.ink, under, worst))
		}
	}
	return list
}

// fileFaults checks that both files are well formed, have the requested size,
// and are equal if drawn again.
func fileFaults(a Ad, s *Scene) (list []string) {
	again, err := Draw(a)
	if err != nil {
		return []string{err.Error()}
	}
	for name, draw := range map[string]func(*Scene) ([]byte, error){"png": (*Scene).PNG, "jpeg": (*Scene).JPEG, "svg": (*Scene).SVG} {
		first, err := draw(s)
		if err != nil {
			return []string{err.Error()}
		}
		second, err := draw(again)
		if err != nil {
			return []string{err.Error()}
		}
		if !bytes.Equal(first, second) {
			list = append(list, name+" differs when drawn again")
		}
		if name == "svg" {
			if err := wellFormed(first); err != nil {
				list = append(list, "svg: "+err.Error())
			}
			continue
		}
		p, _, err := image.Decode(bytes.NewReader(first))
		if err != nil {
			return append(list, err.Error())
		}
		if got, want := p.Bounds(), image.Rect(0, 0, a.Width, a.Height); got != want {
			list = append(list, fmt.Sprintf("png: got %v want %v", got, want))
		}
		if name == "png" && a.Photo == nil && a.Width <= 970 && a.Height <= 600 && len(first) > 150<<10 {
			list = append(list, fmt.Sprintf("png has %d bytes", len(first)))
		}
	}
	return list
}

// wellFormed returns an error if the SVG is invalid or could run or load
// something.
func wellFormed(svg []byte) error {
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !slices.Contains([]string{"svg", "title", "desc", "path", "linearGradient", "stop", "clipPath", "image"}, e.Name.Local) {
			return fmt.Errorf("unexpected element %s", e.Name.Local)
		}
		for _, a := range e.Attr {
			if a.Name.Local == "href" && !strings.HasPrefix(a.Value, "data:image/png;base64,") && !strings.HasPrefix(a.Value, "data:image/jpeg;base64,") {
				return fmt.Errorf("reference to %s", a.Value)
			}
		}
	}
}
