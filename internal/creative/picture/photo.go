package picture

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/draw"
)

// photoPixels is the longest side of a stored photo.
const photoPixels = 1920

// Photo is a picture prepared for ads of all sizes: made smaller, and with what
// is known about where its subject is. It is safe for concurrent use.
type Photo struct {
	picture *image.NRGBA
	// cutOut reports that the subject has no background.
	cutOut bool
	// ground is the color of all edges, as of a product photographed on white,
	// nil if they differ.
	ground *rgb
	// subject is the part that is not ground, and all of another photo.
	subject image.Rectangle
	weights saliency
	// faces is the part with all faces, empty for none.
	faces image.Rectangle
}

// NewPhoto prepares a photo. It returns nil if the picture has no visible pixel.
func NewPhoto(src image.Image) *Photo {
	if src == nil || src.Bounds().Empty() {
		return nil
	}
	all := shrinkTo(src, photoPixels)
	seen := opaqueBounds(all)
	if seen.Empty() {
		return nil
	}
	p := &Photo{picture: all, subject: all.Rect, cutOut: transparentShare(all) > 0.05}
	switch {
	case p.cutOut:
		p.subject = seen
	default:
		flatten(all)
		if p.ground = edgeColor(all); p.ground != nil {
			p.subject = boundsWithout(all, *p.ground)
		}
	}
	p.weights = measureSaliency(all)
	if !p.isolated() {
		for _, face := range findFaces(all) {
			p.faces = p.faces.Union(face)
		}
	}
	return p
}

// shrinkTo copies a picture, so that its longest side has at most a number of
// pixels.
func shrinkTo(src image.Image, most float64) *image.NRGBA {
	size := src.Bounds().Size()
	shrink := min(1, most/float64(max(size.X, size.Y)))
	all := image.NewNRGBA(image.Rect(0, 0, max(1, int(float64(size.X)*shrink)), max(1, int(float64(size.Y)*shrink))))
	if shrink < 1 {
		draw.BiLinear.Scale(all, all.Rect, src, src.Bounds(), draw.Src, nil)
	} else {
		draw.Draw(all, all.Rect, src, src.Bounds().Min, draw.Src)
	}
	return all
}

// transparentShare returns the share of pixels that are not visible.
func transparentShare(p *image.NRGBA) float64 {
	n := 0
	for i := 3; i < len(p.Pix); i += 4 {
		if p.Pix[i] < 16 {
			n++
		}
	}
	return float64(n) / float64(len(p.Pix)/4)
}

// flatten makes a picture with a few transparent pixels opaque.
func flatten(p *image.NRGBA) {
	for i := 0; i < len(p.Pix); i += 4 {
		a := int(p.Pix[i+3])
		if a == 255 {
			continue
		}
		for j := range 3 {
			p.Pix[i+j] = uint8((int(p.Pix[i+j])*a + 255*(255-a)) / 255)
		}
		p.Pix[i+3] = 255
	}
}

// boundsWithout returns the part of a picture that differs from a color, and the
// whole picture if nothing does.
func boundsWithout(p *image.NRGBA, ground rgb) image.Rectangle {
	const far = 24
	var seen image.Rectangle
	for y := range p.Rect.Dy() {
		first, last := -1, -1
		for x := range p.Rect.Dx() {
			at := p.Pix[y*p.Stride+4*x:]
			if difference(at[0], ground.r)+difference(at[1], ground.g)+difference(at[2], ground.b) > far {
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
	if seen.Empty() {
		return p.Rect
	}
	return seen
}

func difference(a, b uint8) int { return int(max(a, b) - min(a, b)) }

// isolated reports whether the subject is shown whole instead of cropped.
func (p *Photo) isolated() bool { return p.cutOut || p.ground != nil }

// isFreeAtStart reports whether the half where reading starts has no face and
// less to see than the other, so that a text may cover it.
func (p *Photo) isFreeAtStart() bool {
	middle := p.picture.Rect.Dx() / 2
	if !p.faces.Empty() {
		return p.faces.Min.X > middle
	}
	return p.weights.share(true, 0, 0.5) < 0.46
}

// photoBox is a photo in a part of the picture.
type photoBox struct {
	photo *Photo
	// box is where it is drawn, from what part of it is.
	box  box
	from image.Rectangle
}

// fillBox returns the photo cropped to fill a box.
func (p *Photo) fillBox(b box) photoBox {
	b = b.roundToPixels()
	return photoBox{p, b, p.crop(b.w() / b.h())}
}

// fitBox returns the subject of the photo as large as it fits into a box,
// centered.
func (p *Photo) fitBox(b box) photoBox {
	size := p.subject.Size()
	scale := min(b.w()/float64(size.X), b.h()/float64(size.Y))
	w, h := math.Round(float64(size.X)*scale), math.Round(float64(size.Y)*scale)
	x, y := math.Round(b.x0+(b.w()-w)/2), math.Round(b.y0+(b.h()-h)/2)
	return photoBox{p, box{x, y, x + max(1, w), y + max(1, h)}, p.subject}
}

// crop returns the largest part with an aspect ratio. It slides along the longer
// side to the faces, or to where most is to be seen, and stays near the middle
// otherwise.
func (p *Photo) crop(aspect float64) image.Rectangle {
	w, h := float64(p.picture.Rect.Dx()), float64(p.picture.Rect.Dy())
	if w/h > aspect {
		part := max(1, math.Round(h*aspect))
		x := p.startOf(p.weights.slide(true, part/w)*(w-part), part, w, float64(p.faces.Min.X), float64(p.faces.Max.X), 0.5)
		return image.Rect(x, 0, x+int(part), int(h))
	}
	part := max(1, math.Round(w/aspect))
	y := p.startOf(p.weights.slide(false, part/h)*(h-part), part, h, float64(p.faces.Min.Y), float64(p.faces.Max.Y), 0.36)
	return image.Rect(0, y, int(w), y+int(part))
}

// startOf returns where a part of a side starts: where the photo's weights say,
// or so that the faces are at a share of it.
func (p *Photo) startOf(start, part, side, from, to, share float64) int {
	if !p.faces.Empty() {
		middle := (from + to) / 2
		start = min(max(middle-share*part, 0), side-part)
		// Faces at an edge are shown whole.
		if to-from <= part {
			start = min(start, from)
			start = max(start, to-part)
		}
	}
	return int(math.Round(min(max(start, 0), side-part)))
}

// scaledTo returns a part of the photo at a size in pixels.
func (b photoBox) scaledTo(w, h int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, max(1, w), max(1, h)))
	draw.CatmullRom.Scale(out, out.Rect, b.photo.picture, b.from, draw.Src, nil)
	return out
}

// MainColor returns the color that a brand's logo or photo has most of, as
// #rrggbb, empty if it has none. Neutral colors do not count.
func MainColor(src image.Image) string {
	if src == nil || src.Bounds().Empty() {
		return ""
	}
	small := shrinkTo(src, 64)
	type sum struct{ r, g, b, n int }
	bins := map[[2]int]*sum{}
	var best *sum
	for i := 0; i < len(small.Pix); i += 4 {
		c := color.NRGBA{small.Pix[i], small.Pix[i+1], small.Pix[i+2], small.Pix[i+3]}
		tone := rgb{c.R, c.G, c.B}.lch()
		if c.A < 200 || tone.c < 0.05 || tone.l < 0.15 || tone.l > 0.93 {
			continue
		}
		key := [2]int{int((tone.h + math.Pi) * 12 / math.Pi), int(tone.l * 5)}
		if bins[key] == nil {
			bins[key] = &sum{}
		}
		s := bins[key]
		s.r, s.g, s.b, s.n = s.r+int(c.R), s.g+int(c.G), s.b+int(c.B), s.n+1
		if best == nil || s.n > best.n {
			best = s
		}
	}
	if best == nil || best.n < len(small.Pix)/4/50 {
		return ""
	}
	return rgb{uint8(best.r / best.n), uint8(best.g / best.n), uint8(best.b / best.n)}.String()
}
