package picture

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/draw"
)

// logoPixels is the longest side of a stored logo.
const logoPixels = 1024

// logoImage is a logo without its transparent border.
type logoImage struct {
	picture *image.NRGBA
	aspect  float64
	// background is the color around an opaque logo, nil unless it is a single
	// color.
	background *rgb
	// luminances are those of a sample of its opaque pixels.
	luminances []float64
	// plateColors caches the results of plateColor.
	plateColors map[surface]*rgb
}

// readLogo prepares a logo. It returns nil if the picture has no visible pixel.
func readLogo(src image.Image) *logoImage {
	if src == nil || src.Bounds().Empty() {
		return nil
	}
	all := shrinkTo(src, logoPixels)
	seen := opaqueBounds(all)
	if seen.Empty() {
		return nil
	}
	m := &logoImage{picture: all.SubImage(seen).(*image.NRGBA), plateColors: map[surface]*rgb{}}
	m.aspect = float64(seen.Dx()) / float64(seen.Dy())
	m.measureColors()
	return m
}

// opaqueBounds returns the bounds of the visible pixels.
func opaqueBounds(p *image.NRGBA) image.Rectangle {
	var seen image.Rectangle
	for y := range p.Rect.Dy() {
		row := p.Pix[y*p.Stride:]
		first, last := -1, -1
		for x := range p.Rect.Dx() {
			if row[4*x+3] > 16 {
				if first < 0 {
					first = x
				}
				last = x
			}
		}
		if first >= 0 {
			seen = seen.Union(image.Rect(first, y, last+1, y+1))
		}
	}
	return seen
}

// measureColors sets luminances and background.
func (m *logoImage) measureColors() {
	b := m.picture.Rect
	step := max(1, int(math.Sqrt(float64(b.Dx()*b.Dy())/1024)))
	for y := b.Min.Y; y < b.Max.Y; y += step {
		for x := b.Min.X; x < b.Max.X; x += step {
			if c := m.picture.NRGBAAt(x, y); c.A > 128 {
				m.luminances = append(m.luminances, rgb{c.R, c.G, c.B}.luminance())
			}
		}
	}
	m.background = edgeColor(m.picture)
}

// edgeColor returns the color of all four edges of a picture, nil if they
// differ or are transparent.
func edgeColor(p *image.NRGBA) *rgb {
	b := p.Rect
	first := p.NRGBAAt(b.Min.X, b.Min.Y)
	same := func(c color.NRGBA) bool {
		near := func(x, y uint8) bool { return max(x, y)-min(x, y) <= 12 }
		return c.A > 250 && near(c.R, first.R) && near(c.G, first.G) && near(c.B, first.B)
	}
	for x := b.Min.X; x < b.Max.X; x++ {
		if !same(p.NRGBAAt(x, b.Min.Y)) || !same(p.NRGBAAt(x, b.Max.Y-1)) {
			return nil
		}
	}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		if !same(p.NRGBAAt(b.Min.X, y)) || !same(p.NRGBAAt(b.Max.X-1, y)) {
			return nil
		}
	}
	return &rgb{first.R, first.G, first.B}
}

// visibleShare returns the share of the logo's pixels that contrast with a
// background.
func (m *logoImage) visibleShare(on rgb) float64 {
	n, ground := 0, on.luminance()
	for _, light := range m.luminances {
		if ratio(light, ground) >= 2.6 {
			n++
		}
	}
	return float64(n) / float64(max(1, len(m.luminances)))
}

// plateColor returns the color to put behind the logo, nil if the logo is
// visible without it.
func (m *logoImage) plateColor(s surface) *rgb {
	c, known := m.plateColors[s]
	if !known {
		c = m.choosePlateColor(s)
		m.plateColors[s] = c
	}
	return c
}

func (m *logoImage) choosePlateColor(s surface) *rgb {
	if m.background != nil {
		if *m.background == s.fill && !s.onPhoto {
			return nil
		}
		return m.background
	}
	if !s.onPhoto && min(m.visibleShare(s.fill), m.visibleShare(s.tint)) > 0.75 {
		return nil
	}
	dark := rgb{0x16, 0x19, 0x1f}
	if m.visibleShare(white) >= m.visibleShare(dark) {
		return &white
	}
	return &dark
}

// scaledTo returns the logo at a size in pixels.
func (m *logoImage) scaledTo(w, h int) *image.NRGBA {
	p := image.NewNRGBA(image.Rect(0, 0, max(1, w), max(1, h)))
	draw.CatmullRom.Scale(p, p.Rect, m.picture, m.picture.Rect, draw.Src, nil)
	return p
}
