package picture

import "slices"

// minContrast is the contrast of every text with its background: slightly above
// the 4.5 of WCAG 2 AA, because colors are rounded.
const minContrast = 4.6

// surface is a background color with the colors that are readable on it. Texts
// are readable on fill, on tint and on every mix of both.
type surface struct {
	fill rgb
	// tint is for shapes behind text, and close to fill.
	tint          rgb
	ink, muted    rgb
	accent        rgb
	button, label rgb
}

// palette is a field that fills the picture and a panel that contrasts with it.
type palette struct{ field, panel surface }

// Choice: an ad without brand colors gets one of these pairs: a calm main color
// and an accent.
var defaultColors = [][]rgb{
	{{0x1f, 0x4d, 0x3f}, {0xe8, 0xb0, 0x6a}},
	{{0x3b, 0x3a, 0x8f}, {0xff, 0x8a, 0x65}},
	{{0x14, 0x36, 0x5c}, {0xf2, 0xb8, 0x4b}},
	{{0xb2, 0x50, 0x2c}, {0xf4, 0xd9, 0xbd}},
	{{0x5d, 0x2e, 0x5b}, {0xf0, 0xa6, 0xa0}},
	{{0x0e, 0x6b, 0x73}, {0xff, 0xc2, 0x9a}},
	{{0x26, 0x2b, 0x36}, {0x7f, 0xd4, 0xb5}},
	{{0x1d, 0x4f, 0xd1}, {0xff, 0xd1, 0x66}},
}

// palettes returns the ways to use the colors: on a light background, on the
// main color and on a dark background. There is at least one.
func palettes(colors []rgb) []palette {
	main, others := colors[0], colors[1:]
	tone := main.lch()
	light := lch{0.976, min(tone.c*0.1, 0.012), tone.h}.rgb()
	// A dark red or yellow is brown, so warm backgrounds keep little of their
	// hue.
	depth := 0.055
	if warm := tone.h > 0.2 && tone.h < 2.1; warm {
		depth = 0.018
	}
	dark := lch{0.24, min(tone.c*0.45, depth), tone.h}.rgb()
	onLight := newSurface(light, main, slices.Concat(colors))
	onDark := newSurface(dark, main, slices.Concat(others, colors[:1]))
	strong := darkenForWhiteText(main)
	onMain := newSurface(strong, main, slices.Concat(others))

	// Choice: a glaring color is used unchanged, but only in small areas,
	// because text on a large area of it is hard to read.
	glaring := tone.c > 0.19 && tone.l > 0.78
	pale := tone.l > 0.93
	panel := onMain
	if glaring || pale {
		panel = onDark
	}
	var list []palette
	if onLight.button != onLight.ink || tone.c < 0.03 {
		list = append(list, palette{onLight, panel})
	}
	if !glaring && !pale {
		list = append(list, palette{onMain, onLight})
	}
	switch {
	case contrast(strong, dark) > 1.9 && !glaring && !pale:
		list = append(list, palette{onDark, onMain})
	default:
		list = append(list, palette{onDark, onLight})
	}
	return list
}

// darkenForWhiteText darkens a color until white text on it is readable, if it
// almost is.
func darkenForWhiteText(c rgb) rgb {
	if contrast(c, white) < 3 {
		return c
	}
	return darken(c, white, minContrast)
}

// darken lowers the lightness until the contrast with a light color is reached.
func darken(c, light rgb, want float64) rgb {
	for tone := c.lch(); contrast(c, light) < want && tone.l > 0; tone.l -= 0.01 {
		c = tone.rgb()
	}
	return c
}

func newSurface(fill, main rgb, accents []rgb) surface {
	tone := main.lch()
	s := surface{fill: fill, ink: white}
	if contrast(fill, white) < minContrast {
		s.ink = lch{0.23, min(tone.c*0.4, 0.05), tone.h}.rgb()
		if contrast(fill, s.ink) < 5 {
			s.ink = black
		}
	}
	s.tint = s.chooseTint(accents)
	s.muted = s.makeReadable(mix(s.ink, fill, 0.3))
	s.accent = s.ink
	s.button, s.label = s.ink, s.fill
	if contrast(s.label, s.button) < minContrast {
		s.label = s.labelColor(s.button)
	}
	for _, a := range accents {
		if b := darkenForWhiteText(a); contrast(b, fill) >= 2 && contrast(b, s.tint) >= 1.8 {
			s.button, s.label = b, s.labelColor(b)
			if contrast(b, fill) >= minContrast && contrast(b, s.tint) >= minContrast {
				s.accent = b
			}
			break
		}
	}
	return s
}

// chooseTint returns a color close to fill on which the ink is still readable.
func (s surface) chooseTint(accents []rgb) rgb {
	tone := s.fill.lch()
	if s.ink != white {
		tint := lch{tone.l - 0.035, tone.c, tone.h}.rgb()
		if len(accents) > 0 && tone.l > 0.9 {
			tint = mix(s.fill, accents[0], 0.1)
		}
		if contrast(tint, s.ink) >= 6 {
			return tint
		}
		return lch{tone.l + 0.04, tone.c, tone.h}.rgb()
	}
	if tint := (lch{tone.l + 0.045, tone.c, tone.h}).rgb(); contrast(tint, white) >= 5.2 {
		return tint
	}
	return lch{tone.l - 0.045, tone.c, tone.h}.rgb()
}

// makeReadable mixes ink into a color until it is readable.
func (s surface) makeReadable(c rgb) rgb {
	for share := 0.1; share < 1; share += 0.1 {
		if contrast(c, s.fill) >= minContrast && contrast(c, s.tint) >= minContrast {
			return c
		}
		c = mix(c, s.ink, share)
	}
	return s.ink
}

// labelColor returns a color that is readable on a button.
func (s surface) labelColor(button rgb) rgb {
	tone := button.lch()
	for _, c := range []rgb{white, lch{0.22, min(tone.c*0.4, 0.05), tone.h}.rgb()} {
		if contrast(c, button) >= minContrast {
			return c
		}
	}
	return black
}

// parseColors returns the valid colors, each once.
func parseColors(list []string) []rgb {
	var colors []rgb
	for _, s := range list {
		if c, ok := parseColor(s); ok && !slices.Contains(colors, c) {
			colors = append(colors, c)
		}
	}
	return colors
}
