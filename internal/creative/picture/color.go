package picture

import (
	"image/color"
	"math"
	"strconv"
)

// rgb is an opaque color.
type rgb struct{ r, g, b uint8 }

var (
	white = rgb{255, 255, 255}
	black = rgb{0, 0, 0}
)

func (c rgb) rgba() color.RGBA { return color.RGBA{c.r, c.g, c.b, 255} }

func (c rgb) String() string {
	const hex = "0123456789abcdef"
	return string([]byte{'#', hex[c.r>>4], hex[c.r&15], hex[c.g>>4], hex[c.g&15], hex[c.b>>4], hex[c.b&15]})
}

// parseColor reads #rrggbb.
func parseColor(s string) (rgb, bool) {
	if len(s) != 7 || s[0] != '#' {
		return rgb{}, false
	}
	n, err := strconv.ParseUint(s[1:], 16, 32)
	return rgb{uint8(n >> 16), uint8(n >> 8), uint8(n)}, err == nil
}

// linear maps each channel value to its linear light, as sRGB defines it.
var linear = func() (t [256]float64) {
	for i := range t {
		v := float64(i) / 255
		if v <= 0.04045 {
			t[i] = v / 12.92
		} else {
			t[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return t
}()

// luminance returns the relative luminance of WCAG 2.
func (c rgb) luminance() float64 {
	return 0.2126*linear[c.r] + 0.7152*linear[c.g] + 0.0722*linear[c.b]
}

// contrast returns the contrast ratio of WCAG 2, from 1 to 21.
func contrast(a, b rgb) float64 {
	return ratio(a.luminance(), b.luminance())
}

// ratio returns the contrast ratio of two luminances.
func ratio(x, y float64) float64 { return (max(x, y) + 0.05) / (min(x, y) + 0.05) }

// mix returns a with the given share of b.
func mix(a, b rgb, share float64) rgb {
	m := func(x, y uint8) uint8 {
		return uint8(math.Round(float64(x) + (float64(y)-float64(x))*share))
	}
	return rgb{m(a.r, b.r), m(a.g, b.g), m(a.b, b.b)}
}

// lch is a color in OKLCH, where equal steps of lightness look equal and a
// change of lightness keeps the hue.
type lch struct{ l, c, h float64 }

func (c rgb) lch() lch {
	r, g, b := linear[c.r], linear[c.g], linear[c.b]
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	x := 1.9779984951*l - 2.4285922050*m + 0.4505937099*s
	y := 0.0259040371*l + 0.7827717662*m - 0.8086757660*s
	return lch{0.2104542553*l + 0.7936177850*m - 0.0040720468*s, math.Hypot(x, y), math.Atan2(y, x)}
}

// rgb returns the nearest color that a screen can show. It reduces chroma before
// lightness and hue.
func (c lch) rgb() rgb {
	for {
		x, y := c.c*math.Cos(c.h), c.c*math.Sin(c.h)
		l := cube(c.l + 0.3963377774*x + 0.2158037573*y)
		m := cube(c.l - 0.1055613458*x - 0.0638541728*y)
		s := cube(c.l - 0.0894841775*x - 1.2914855480*y)
		r := 4.0767416621*l - 3.3077115913*m + 0.2309699292*s
		g := -1.2684380046*l + 2.6097574011*m - 0.3413193965*s
		b := -0.0041960863*l - 0.7034186147*m + 1.7076147010*s
		if c.c < 0.002 || min(r, g, b) >= -0.0005 && max(r, g, b) <= 1.0005 {
			return rgb{channel(r), channel(g), channel(b)}
		}
		c.c *= 0.94
	}
}

func cube(v float64) float64 { return v * v * v }

// channel is the channel value of an amount of light.
func channel(v float64) uint8 {
	v = min(max(v, 0), 1)
	if v <= 0.0031308 {
		v *= 12.92
	} else {
		v = 1.055*math.Pow(v, 1/2.4) - 0.055
	}
	return uint8(math.Round(v * 255))
}
