package picture

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"testing"
)

// scene returns a plain photo with a striped subject in a box.
func scenePhoto(w, h int, subject image.Rectangle) *Photo {
	p := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{uint8(120 + 20*x/w), uint8(130 + 20*y/h), 140, 255}
			if image.Pt(x, y).In(subject) && (x/4+y/4)%2 == 0 {
				c = color.NRGBA{230, 60, 20, 255}
			}
			p.SetNRGBA(x, y, c)
		}
	}
	return NewPhoto(p)
}

// TestCrop checks that a subject off center is in the crop of every shape that
// can show it whole.
func TestCrop(t *testing.T) {
	t.Parallel()
	for _, subject := range []image.Rectangle{image.Rect(20, 30, 140, 150), image.Rect(440, 250, 560, 370), image.Rect(250, 140, 370, 260)} {
		p := scenePhoto(600, 400, subject)
		for _, aspect := range []float64{1, 0.8, 0.5625, 0.5, 1.91, 1.78, 2.5} {
			got := p.crop(aspect)
			if !subject.In(got) {
				t.Errorf("%.2f: got %v without the subject %v", aspect, got, subject)
			}
			if shown := float64(got.Dx()) / float64(got.Dy()); math.Abs(shown/aspect-1) > 0.02 || !got.In(p.picture.Rect) {
				t.Errorf("%.2f: got %v", aspect, got)
			}
		}
	}
}

// TestCropShowsFaces checks that faces decide before anything else.
func TestCropShowsFaces(t *testing.T) {
	t.Parallel()
	p := scenePhoto(400, 600, image.Rect(50, 400, 350, 580))
	p.faces = image.Rect(150, 40, 250, 160)
	if got := p.crop(1.78); !p.faces.In(got) {
		t.Errorf("got %v without the face", got)
	}
}

// TestIsolatedPhotos checks that a product on white or without a ground is shown
// whole.
func TestIsolatedPhotos(t *testing.T) {
	t.Parallel()
	for kind, isolated := range []bool{false, true, true} {
		p := NewPhoto(testPhoto(kind, 300, 200))
		if p.isolated() != isolated || p.cutOut != (kind == 2) {
			t.Errorf("kind %d: got isolated %t and cut out %t", kind, p.isolated(), p.cutOut)
		}
		if isolated && (p.subject.Dx() > 90 || p.subject.Dy() > 90) {
			t.Errorf("kind %d: got the subject %v want the ball", kind, p.subject)
		}
	}
	if p := NewPhoto(image.NewNRGBA(image.Rect(0, 0, 9, 9))); p != nil {
		t.Error("got a photo without a visible pixel")
	}
}

// TestPhotoInEverySize checks that all sizes of ads show the photo.
func TestPhotoInEverySize(t *testing.T) {
	t.Parallel()
	for kind := range 3 {
		photo := NewPhoto(testPhoto(kind, 640, 480))
		for seed := range int64(4) {
			for _, size := range commonSizes {
				a := withSize(shoesAd, size[0], size[1], seed)
				a.Photo = photo
				s, err := Draw(a)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range s.Omitted {
					if o == string(RolePhoto) {
						t.Errorf("%v seed %d kind %d: got no photo in %s", size, seed, kind, s.Layout)
					}
				}
			}
		}
	}
}

// TestMainColor checks the color that a brand without colors gets from its logo.
func TestMainColor(t *testing.T) {
	t.Parallel()
	p := image.NewNRGBA(image.Rect(0, 0, 50, 50))
	draw.Draw(p, p.Rect, image.White, image.Point{}, draw.Src)
	if got := MainColor(p); got != "" {
		t.Errorf("got %s of white", got)
	}
	draw.Draw(p, image.Rect(5, 5, 30, 30), image.NewUniform(color.NRGBA{0x1b, 0x6e, 0x4f, 255}), image.Point{}, draw.Src)
	draw.Draw(p, image.Rect(35, 35, 40, 40), image.NewUniform(color.NRGBA{0xe6, 0x39, 0x46, 255}), image.Point{}, draw.Src)
	if got := MainColor(p); got != "#1b6e4f" {
		t.Errorf("got %s want #1b6e4f", got)
	}
}

// TestBrandColorsAreExact checks that the largest areas of pictures have colors
// of the brand as they were given, or white.
func TestBrandColorsAreExact(t *testing.T) {
	t.Parallel()
	for _, given := range [][]string{{"#e63946", "#1d3557"}, {"#0b7285"}, {"#6f4e37", "#f5ebe0"}, {"#808080"}, {"#ffd166", "#3d348b"}} {
		colors := parseColors(given)
		seen := map[rgb]bool{}
		for _, p := range palettes(colors) {
			for _, s := range []surface{p.field, p.panel} {
				seen[s.fill] = true
				if s.fill != white && s.fill != colors[0] && (len(colors) < 2 || s.fill != colors[1]) {
					t.Errorf("%v: got an area in %s", given, s.fill)
				}
				for name, pair := range map[string][2]rgb{"text": {s.ink, s.fill}, "body": {s.muted, s.fill}, "button": {s.label, s.button}, "badge": {s.badge().ink, s.offer}} {
					if got := contrast(pair[0], pair[1]); got < 4.5 {
						t.Errorf("%v on %s: got a contrast of %.2f of the %s", given, s.fill, got, name)
					}
				}
			}
		}
		for _, c := range colors {
			if !seen[c] {
				t.Errorf("%v: no area has %s", given, c)
			}
		}
	}
}
