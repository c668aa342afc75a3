package picture

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// ringLogo is a transparent round logo, wordMarkLogo an opaque one on white.
func ringLogo(c color.NRGBA) image.Image {
	p := image.NewNRGBA(image.Rect(0, 0, 120, 120))
	for y := range 120 {
		for x := range 120 {
			if d := (x-60)*(x-60) + (y-60)*(y-60); d < 3000 && d > 700 {
				p.SetNRGBA(x, y, c)
			}
		}
	}
	return p
}

func wordMarkLogo(c color.NRGBA) image.Image {
	p := image.NewNRGBA(image.Rect(0, 0, 240, 80))
	draw.Draw(p, p.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(p, p.Rect.Inset(24), image.NewUniform(c), image.Point{}, draw.Src)
	return p
}

var (
	shoesAd   = Ad{Headline: "Run further this autumn", Body: "Light shoes for wet trails, with a grip that lasts.", CallToAction: "Shop now", Brand: "Northwind", Colors: []string{"#0b6e4f", "#f4a259"}}
	coffeeAd  = Ad{Headline: "Coffee, roasted on Monday and at your door by Wednesday morning", Body: "Free delivery on your first order. Cancel any time.", CallToAction: "Start your subscription", Brand: "Kaffa & Sons"}
	neonAd    = Ad{Headline: "Neon nights", Body: "Tickets from 29 € until Friday.", CallToAction: "Get tickets", Brand: "Pulse", Colors: []string{"#39ff14", "#39ff14"}, Logo: ringLogo(color.NRGBA{0x39, 0xff, 0x14, 0xff})}
	greekAd   = Ad{Headline: "Εξοικονομήστε χρόνο σε κάθε τιμολόγιο", Body: "Όλα τα παραστατικά σας σε ένα μέρος.", CallToAction: "Δοκιμάστε δωρεάν", Brand: "Λογιστής", Colors: []string{"#1d4ed8"}}
	russianAd = Ad{Headline: "Быстрая доставка свежих продуктов по всему городу", Body: "Закажите до полудня, получите сегодня.", CallToAction: "Заказать", Brand: "Свежесть", Colors: []string{"#e63946", "#f1faee"}, Logo: wordMarkLogo(color.NRGBA{0xe6, 0x39, 0x46, 0xff})}
	germanAd  = Ad{Headline: "Die Versicherungsvergleichsplattform für Selbstständige", Body: "Übersichtlich, ehrlich, kostenlos.", CallToAction: "Jetzt vergleichen", Brand: "Überblick", Colors: []string{"#ffbe0b", "#3a0ca3"}}
	plainAd   = Ad{Headline: "Save 20%", CallToAction: "Learn more", Colors: []string{"#ffffff"}}
)

func withSize(a Ad, w, h int, seed int64) Ad {
	a.Width, a.Height, a.Seed = w, h, seed
	return a
}

// TestGolden compares pictures with files that were checked by eye.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		ad   Ad
	}{
		{"shoes-300x250", withSize(shoesAd, 300, 250, 0)},
		{"coffee-336x280", withSize(coffeeAd, 336, 280, 1)},
		{"greek-728x90", withSize(greekAd, 728, 90, 2)},
		{"coffee-970x250", withSize(coffeeAd, 970, 250, 3)},
		{"shoes-970x90", withSize(shoesAd, 970, 90, 4)},
		{"neon-160x600", withSize(neonAd, 160, 600, 5)},
		{"russian-300x600", withSize(russianAd, 300, 600, 6)},
		{"coffee-320x50", withSize(coffeeAd, 320, 50, 7)},
		{"german-320x100", withSize(germanAd, 320, 100, 8)},
		{"neon-1080x1080", withSize(neonAd, 1080, 1080, 9)},
		{"plain-1080x1920", withSize(plainAd, 1080, 1920, 10)},
		{"russian-1200x628", withSize(russianAd, 1200, 628, 11)},
		{"german-50x50", withSize(germanAd, 50, 50, 12)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := Draw(test.ad)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.PNG()
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", test.name+".png")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if n := differingPixels(t, got, want); n > 0 {
				t.Errorf("%s: got %d pixels that differ, want none; look at the picture that -update writes", file, n)
			}
		})
	}
}

// differingPixels counts pixels whose colors differ by more than the rounding
// on another processor.
func differingPixels(t *testing.T, a, b []byte) (n int) {
	t.Helper()
	p, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	q, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if p.Bounds() != q.Bounds() {
		t.Fatalf("size: got %v want %v", p.Bounds(), q.Bounds())
	}
	far := func(x, y uint32) bool { return max(x, y)-min(x, y) > 4<<8 }
	for y := range p.Bounds().Dy() {
		for x := range p.Bounds().Dx() {
			r0, g0, b0, _ := p.At(x, y).RGBA()
			r1, g1, b1, _ := q.At(x, y).RGBA()
			if far(r0, r1) || far(g0, g1) || far(b0, b1) {
				n++
			}
		}
	}
	return n
}
