package picture

import (
	"bytes"
	"fmt"
	"image"
)

// veil darkens a photo under a text, more and more from one line to another.
type veil struct {
	// across says that the lines are columns and not rows.
	across bool
	// clear is where the veil starts, full where it is as dense as alpha.
	clear, full float64
	alpha       float64
}

// veilSteps are the densities between clear and full, so that the start of the
// veil cannot be seen.
var veilSteps = []float64{0, 0.1, 0.32, 0.6, 0.84, 1}

// at returns the density at a position.
func (v *veil) at(position float64) float64 {
	share := min(max((position-v.clear)/(v.full-v.clear), 0), 1) * float64(len(veilSteps)-1)
	i := min(int(share), len(veilSteps)-2)
	return v.alpha * (veilSteps[i] + (veilSteps[i+1]-veilSteps[i])*(share-float64(i)))
}

func (v *veil) mirror(w float64) {
	if v.across {
		v.clear, v.full = w-v.clear, w-v.full
	}
}

// veilAlpha returns the density at which a text is readable on a white photo,
// and with it on any other.
func veilAlpha(color, ink rgb) float64 {
	alpha := 0.3
	for alpha < 1 && contrast(mix(white, color, alpha), ink) < minContrast+0.1 {
		alpha += 0.01
	}
	return alpha
}

// drawVeil blends a color into the picture.
func (c *canvas) drawVeil(f fill, at image.Rectangle) {
	over := [3]float64{float64(f.from.r), float64(f.from.g), float64(f.from.b)}
	for y := at.Min.Y; y < at.Max.Y; y++ {
		alpha := f.veil.at(float64(y) + 0.5)
		for x := at.Min.X; x < at.Max.X; x++ {
			if f.veil.across {
				alpha = f.veil.at(float64(x) + 0.5)
			}
			pixel := c.picture.Pix[c.picture.PixOffset(x, y):]
			for i := range 3 {
				pixel[i] = uint8(float64(pixel[i])*(1-alpha) + over[i]*alpha + 0.5)
			}
		}
	}
}

// writeVeil writes the gradient of a veil and returns its reference.
func writeVeil(out *bytes.Buffer, i int, f fill) string {
	x0, y0, x1, y1 := 0.0, f.veil.clear, 0.0, f.veil.full
	if f.veil.across {
		x0, y0, x1, y1 = f.veil.clear, 0, f.veil.full, 0
	}
	fmt.Fprintf(out, `<linearGradient id="g%d" gradientUnits="userSpaceOnUse" x1="%s" y1="%s" x2="%s" y2="%s">`, i, formatCoordinate(x0), formatCoordinate(y0), formatCoordinate(x1), formatCoordinate(y1))
	for j, step := range veilSteps {
		fmt.Fprintf(out, `<stop offset="%s" stop-color="%s" stop-opacity="%s"/>`, formatCoordinate(float64(j)/float64(len(veilSteps)-1)), f.from, formatCoordinate(step*f.veil.alpha))
	}
	out.WriteString("</linearGradient>\n")
	return fmt.Sprintf("url(#g%d)", i)
}
