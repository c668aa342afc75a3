package picture

import (
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	scaler "golang.org/x/image/draw"
)

var (
	sheets = flag.String("sheets", "", "write contact sheets of all sizes into this folder")
	photos = flag.String("photos", "", "folder with pictures for the contact sheets, in place of drawn ones")
)

// sheetAds are ads as the parts of a brief allow them: with and without photo,
// logo, offer, price, terms and brand colors, in several languages.
func sheetAds(t testing.TB) map[string]Ad {
	coffee, portrait := sheetPhoto(t, "coffee.png", 0), sheetPhoto(t, "astronaut.png", 0)
	shoe, cut := sheetPhoto(t, "packshot.png", 1), sheetPhoto(t, "cutout.png", 2)
	round := ringLogo(color.NRGBA{0x1b, 0x43, 0x32, 0xff})
	mark := wordMarkLogo(color.NRGBA{0xc2, 0x25, 0x5c, 0xff})
	arabic := arabicAd
	arabic.Fonts, arabic.Photo = NewFonts(testFonts()), coffee
	return map[string]Ad{
		"arabic": arabic,
		"plain-offer": {
			Headline: "Oat milk latte for students", Body: "A smooth latte with oat milk from the region, made to order.", CallToAction: "Order now", Brand: "Northbean",
			Offer: Offer{Main: "20%", After: "off until Sunday"}, Colors: []string{"#6f4e37", "#f5ebe0"}, Typefaces: Typefaces{"fraunces", "dm_sans"},
		},
		"photo-offer": {
			Headline: "Oat milk latte for students", Body: "A smooth latte with oat milk from the region, made to order.", CallToAction: "Order now", Brand: "Northbean",
			Offer: Offer{Main: "20%", After: "off"}, Terms: "Valid until Sunday with a student card. Not with other offers.", Colors: []string{"#6f4e37", "#f5ebe0"},
			Typefaces: Typefaces{"fraunces", "dm_sans"}, Photo: coffee, Logo: round,
		},
		"photo-price": {
			Headline: "Three nights by the lake", Body: "Private dock, wood stove, dogs welcome.", CallToAction: "Book your stay", Brand: "Lakeside Cabins",
			Price: Price{Before: "from", Amount: "$280", After: "for 2 nights", Previous: "$340"}, Colors: []string{"#1b4332", "#d8f3dc", "#f4a259"},
			Typefaces: Typefaces{"bodoni_moda", "dm_sans"}, Photo: portrait,
		},
		"packshot-price": {
			Headline: "Run further this autumn", CallToAction: "Shop now", Brand: "Northwind", Price: Price{Amount: "89,00 €", Previous: "129,00 €"},
			Offer: Offer{Before: "Jetzt", Main: "30 %", After: "Rabatt"}, Terms: "Nur solange der Vorrat reicht. Inkl. MwSt., zzgl. Versand.", Colors: []string{"#e63946", "#1d3557"},
			Typefaces: Typefaces{"barlow_condensed", "inter"}, Photo: shoe,
		},
		"cutout": {
			Headline: "The only lamp you need", Body: "Dimmable, wireless, and bright for 40 hours.", CallToAction: "Learn more", Brand: "Lumo",
			Price: Price{Amount: "£79"}, Colors: []string{"#ffd166", "#3d348b"}, Typefaces: Typefaces{"dm_sans", "dm_sans"}, Photo: cut,
		},
		"german-long": {
			Headline: "Die Versicherungsvergleichsplattform für Selbstständige", Body: "Berufshaftpflichtversicherung und Krankentagegeld übersichtlich verglichen.",
			CallToAction: "Jetzt kostenlos vergleichen", Brand: "Überblick Finanzdienstleistungen", Colors: []string{"#ffbe0b", "#3a0ca3"}, Typefaces: Typefaces{"barlow_condensed", "barlow_condensed"},
		},
		"sale": {
			Headline: "50% off all headphones and speakers", CallToAction: "Shop now", Brand: "Volt & Co", Offer: Offer{Main: "Free shipping"},
			Colors: []string{"#111111", "#ffd43b"}, Typefaces: Typefaces{"oswald", "inter"}, Logo: mark,
		},
		"no-colors": {
			Headline: "60 talks. 12 workshops. One weekend in Lisbon.", Body: "Early bird tickets until May 1.", CallToAction: "Buy tickets", Brand: "Frontend Days",
			Price: Price{Before: "from", Amount: "€249", Previous: "€399"}, Typefaces: Typefaces{"inter", "inter"},
		},
		"service": {
			Headline: "Family-run plumber in Manchester", Body: "24/7 emergency service, no call-out fee, licensed and insured.", CallToAction: "Call now", Brand: "Clearpipe",
			Offer: Offer{Main: "No call-out fee"}, Colors: []string{"#0b7285"}, Typefaces: Typefaces{"inter", "inter"}, Logo: round,
		},
		"dark-brand": {
			Headline: "Coffee, roasted on Monday and at your door by Wednesday morning", Body: "Free delivery on your first order. Cancel any time.",
			CallToAction: "Start your subscription", Brand: "Kaffa & Sons", Colors: []string{"#0d1b2a", "#e0b1cb"}, Typefaces: Typefaces{"fraunces", "inter"}, Photo: coffee,
		},
		"pale-brand": {
			Headline: "Soft skin, simple care", Body: "Unscented cream for sensitive skin.", CallToAction: "Shop now", Brand: "Maré", Colors: []string{"#fdf0f3", "#b56576"},
			Price: Price{Amount: "€24"}, Terms: "50 ml, €48 per 100 ml.", Typefaces: Typefaces{"bodoni_moda", "dm_sans"}, Photo: shoe,
		},
	}
}

// sheetPhoto returns a photo of the folder, or a drawn one.
func sheetPhoto(t testing.TB, name string, kind int) *Photo {
	if *photos == "" {
		return NewPhoto(testPhoto(kind, 640, 480))
	}
	f, err := os.Open(filepath.Join(*photos, name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	src, _, err := image.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return NewPhoto(src)
}

// sheetPlaces are where the sizes are on a sheet, and how large.
var sheetPlaces = map[[2]int][3]int{
	{300, 250}: {10, 10, 300}, {336, 280}: {320, 10, 336}, {300, 600}: {666, 10, 300}, {160, 600}: {976, 10, 160},
	{970, 250}: {10, 620, 970}, {728, 90}: {10, 880, 728}, {970, 90}: {10, 980, 970}, {320, 50}: {10, 300, 320}, {320, 100}: {336, 300, 320},
	{1920, 1080}: {10, 410, 340}, {1200, 628}: {356, 410, 300}, {1080, 1080}: {1146, 10, 400}, {1080, 1350}: {1146, 420, 320}, {1080, 1920}: {1476, 420, 320},
}

// torn counts lines that end with a word that belongs to the next one, headlines
// all headlines.
var torn, headlines atomic.Int64

// lineFaults checks that no headline ends with a short word alone on its line,
// and counts torn lines.
func lineFaults(s *Scene) (list []string) {
	for _, t := range s.texts {
		if t.role != RoleHeadline {
			continue
		}
		var lines [][]string
		widths := []float64{}
		at := math.Inf(-1)
		for _, w := range t.words {
			if w.y != at {
				at = w.y
				lines, widths = append(lines, nil), append(widths, 0)
			}
			n := len(lines) - 1
			lines[n] = append(lines[n], w.text)
			widths[n] += w.width
		}
		last := len(lines) - 1
		headlines.Add(1)
		if last > 0 && len(lines[last]) == 1 && widths[last] < 0.3*slices.Max(widths) {
			list = append(list, fmt.Sprintf("orphan: %q", lines))
		}
		for i := range last {
			if breakCost(lines[i][len(lines[i])-1], lines[i+1][0]) > 0 {
				torn.Add(1)
			}
		}
	}
	return list
}

// TestSheets draws ads in all sizes and checks all guarantees of the package.
// With -sheets it also writes contact sheets, to be looked at.
func TestSheets(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() {
		// Some words fit no other way at a size that is worth reading.
		if torn, all := torn.Load(), headlines.Load(); torn*5 > all {
			t.Errorf("%d torn lines in %d headlines", torn, all)
		}
	})
	for name, ad := range sheetAds(t) {
		for seed := range int64(3) {
			t.Run(fmt.Sprintf("%s-%d", name, seed), func(t *testing.T) {
				t.Parallel()
				sheet := image.NewRGBA(image.Rect(0, 0, 1810, 1080))
				draw.Draw(sheet, sheet.Rect, image.NewUniform(color.Gray{0xd8}), image.Point{}, draw.Src)
				for _, size := range commonSizes {
					a := withSize(ad, size[0], size[1], seed)
					s, err := Draw(a)
					if err != nil {
						t.Fatal(err)
					}
					for _, fault := range slices.Concat(wordFaults(a, s), boxFaults(s), lineFaults(s)) {
						t.Errorf("%v %s: %s", size, s.Layout, fault)
					}
					if min(size[0], size[1]) < 1000 {
						for _, fault := range colorFaults(s) {
							t.Errorf("%v %s: %s", size, s.Layout, fault)
						}
					}
					if *sheets == "" {
						continue
					}
					at := sheetPlaces[size]
					to := image.Rect(at[0], at[1], at[0]+at[2], at[1]+at[2]*size[1]/size[0])
					scaler.CatmullRom.Scale(sheet, to, s.draw(), image.Rect(0, 0, size[0], size[1]), draw.Src, nil)
				}
				if *sheets != "" {
					writeSheet(t, filepath.Join(*sheets, fmt.Sprintf("%s-%d.png", name, seed)), sheet)
				}
			})
		}
	}
}

func writeSheet(t *testing.T, file string, sheet image.Image) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, sheet); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
