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
	// offer is the color of badges.
	offer rgb
	// veil is the color over a photo; fill is then the lightest that it leaves.
	veil    rgb
	onPhoto bool
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

// DefaultColors returns colors for a brand that has none. The same number gives
// the same colors.
func DefaultColors(n int64) []string {
	pair := defaultColors[uint64(n)%uint64(len(defaultColors))]
	return []string{pair[0].String(), pair[1].String()}
}

// palettes returns the ways to use the colors, at least one. Successive ones give
// the main area another color.
//
// Choice: the colors of a brand are used exactly as given; what is added is only
// white, black and shades behind shapes. The ink is chosen to be readable, so that
// no color has to be changed for it.
func palettes(colors []rgb) []palette {
	main, others := colors[0], colors[1:]
	sheet := white
	if i := slices.IndexFunc(colors, rgb.isPale); i >= 0 {
		sheet = colors[i]
	}
	second := sheet
	if i := slices.IndexFunc(others, func(c rgb) bool { return contrast(c, main) >= 1.25 }); i >= 0 {
		second = others[i]
	}
	onSheet := newSurface(sheet, colors)
	onMain := newSurface(main, others)
	onSecond := newSurface(second, colors)
	night := newSurface(rgb{0x12, 0x12, 0x14}, colors)
	var list []palette
	switch {
	case main.isGlaring():
		// Choice: a glaring color is used unchanged, but not for the largest
		// area, because text on it is hard to read.
		return []palette{{night, onMain}, {onSheet, night}, {onSheet, onMain}}
	case main.isPale():
		list = append(list, palette{onMain, onSecond})
		if second == sheet {
			list[0].panel = night
		}
	case main.isMiddling():
		// Choice: such a color needs black text, which looks heavy on a large
		// area.
		list = append(list, palette{onSheet, onMain})
	default:
		list = append(list, palette{onMain, onSecond}, palette{onSheet, onMain})
	}
	if second != sheet && !second.isGlaring() && !second.isPale() && !second.isMiddling() {
		list = append(list, palette{onSecond, onMain})
	}
	return list
}

// isGlaring reports whether a color is as bright and strong as neon.
func (c rgb) isGlaring() bool {
	tone := c.lch()
	return tone.c > 0.19 && tone.l > 0.78
}

// isMiddling reports whether a color is dark to the eye, but not dark enough for
// white text.
func (c rgb) isMiddling() bool { return contrast(c, white) < minContrast && c.lch().l < 0.66 }

// isPale reports whether a color is nearly white.
func (c rgb) isPale() bool { return c.lch().l > 0.93 }

// newSurface returns a background with colors that are readable on it. The
// first of the accents that differs enough from it is the color of buttons.
func newSurface(fill rgb, accents []rgb) surface {
	tone := fill.lch()
	s := surface{fill: fill, ink: white}
	if contrast(fill, white) < minContrast {
		s.ink = lch{0.2, min(tone.c*0.4, 0.04), tone.h}.rgb()
		if contrast(fill, s.ink) < 5.2 {
			s.ink = black
		}
	}
	s.tint = s.chooseTint(accents)
	s.muted = s.makeReadable(mix(s.ink, fill, 0.2))
	s.accent = s.ink
	s.button, s.label = s.ink, s.labelColor(s.ink)
	for _, a := range accents {
		if contrast(a, fill) < 2 || contrast(a, s.tint) < 1.8 {
			continue
		}
		s.button, s.label = a, s.labelColor(a)
		if contrast(a, fill) >= minContrast && contrast(a, s.tint) >= minContrast {
			s.accent = a
		}
		break
	}
	s.offer = s.button
	for _, a := range accents {
		if a != s.button && a != fill && contrast(a, fill) >= 1.6 {
			s.offer = a
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
	if contrast(button, white) >= minContrast {
		return white
	}
	if tone := button.lch(); contrast(button, black) > 6 {
		if c := (lch{0.2, min(tone.c*0.4, 0.04), tone.h}).rgb(); contrast(button, c) >= minContrast {
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

// spot returns the color of a circle behind a cut-out subject.
func (s surface) spot() rgb {
	if s.fill.lch().l > 0.9 {
		return s.offer
	}
	return mix(s.fill, white, 0.42)
}
