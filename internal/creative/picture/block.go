package picture

import "math"

// block is a part with its size in pixels, ready to be placed. The height of a
// text ends at its last base line, because distances are perceived from there.
type block struct {
	w, h float64
	// lines and descent (the height below the last base line) are set for texts
	// only.
	lines   int
	descent float64
	// before is the distance to the block above it.
	before float64
	// solid blocks end at their edge and not at a base line.
	solid bool
	place func(at box, on surface, out *arrangement)
}

// textStyle is how to set a text.
type textStyle struct {
	role        Role
	size, width float64
	// maxLines is the largest number of lines.
	maxLines int
	// balanced lines have about the same length.
	balanced, centered bool
}

// colorOf returns the color of a role on a surface.
func (s surface) colorOf(r Role) rgb {
	switch r {
	case RoleBody, RoleTerms:
		return s.muted
	case RoleOffer, RolePrice:
		return s.ink
	case RoleBrand:
		return s.accent
	case RoleLabel:
		return s.label
	default:
		return s.ink
	}
}

// fitText sets a text into a width. It returns nil if the text needs more lines
// than the style allows or has a word that is too wide.
func (c sizing) fitText(t text, s textStyle) *block {
	width := s.width / s.size
	if c.breakWords && t.widestWord()*legibleSize > s.width {
		t = t.breakWords(width)
	}
	n := t.lineCount(width)
	if n == 0 || n > s.maxLines {
		return nil
	}
	b := &block{w: s.width, h: (t.ascent + float64(n-1)*t.lineHeight) * s.size, lines: n, descent: t.descent * s.size}
	if n == 1 {
		b.w = t.width() * s.size
	}
	b.place = func(at box, on surface, out *arrangement) {
		lines := t.breakLines(width, s.balanced)
		out.texts = append(out.texts, t.placeLines(s, lines, at, on.colorOf(s.role)))
		if s.role == RoleHeadline {
			out.raggedness = raggedness(lines)
		}
	}
	return b
}

// shrinkToLines makes a block as narrow as its longest line.
func (t text) shrinkToLines(b *block, s textStyle) {
	b.w = 0
	for _, l := range t.breakLines(s.width/s.size, s.balanced) {
		b.w = max(b.w, l.width*s.size)
	}
}

// raggedness returns how uneven lines are, from 0 to 1, and more for breaks that
// tear apart what belongs together.
func raggedness(lines []line) float64 {
	least, most := math.Inf(1), 0.0
	torn := 0.0
	for i, l := range lines {
		least, most = min(least, l.width), max(most, l.width)
		if i+1 < len(lines) && breakCost(l.words[len(l.words)-1].text, lines[i+1].words[0].text) > 0 {
			torn += 0.7
		}
	}
	return 1 - least/most + torn
}

// placeLines places lines from the top of a box.
func (t text) placeLines(s textStyle, lines []line, at box, ink rgb) textBox {
	b := textBox{role: s.role, size: s.size, ink: ink}
	for i, l := range lines {
		x := at.x0
		if s.centered {
			x += (at.w() - l.width*s.size) / 2
		}
		y := math.Round(at.y0 + (t.ascent+float64(i)*t.lineHeight)*s.size)
		run := box{x, y - t.ascent*s.size, x + l.width*s.size, y}
		starts := t.startsOf(l)
		for j, w := range l.words {
			at := x + starts[j]*s.size
			b.words = append(b.words, placedWord{w, at, y})
			run = run.union(w.inkBounds().scale(s.size).shift(at, y))
		}
		if i == 0 {
			b.box = run
		}
		b.box = b.box.union(run)
	}
	return b
}

// startsOf returns where the words of a line start, in em.
func (t text) startsOf(l line) []float64 {
	starts := make([]float64, len(l.words))
	x := 0.0
	for n, i := range l.order() {
		if n > 0 {
			x += t.gap(l.words[i])
		}
		starts[i] = x
		x += l.words[i].width
	}
	return starts
}

// buttonBlock returns the button with its label. It returns nil if the label
// does not fit.
func (c sizing) buttonBlock(t text, size, width float64) *block {
	// Choice: a smaller label on one line is better than a larger one on two.
	const padding = 1.35
	size = min(size, max(min(size, c.textMin), width/(t.width()+2*padding+0.01)))
	if c.breakWords {
		size = min(size, legibleSize)
	}
	padX, padY, most := size*padding, size*0.95, 1
	if t.width()*size+2*padX > width {
		const padding = 0.9
		size = min(size, max(c.labelMin, width/(t.widestWord()+2*padding+0.01)))
		padX, padY, most = size*padding, size*0.75, 3
	}
	if c.breakWords {
		most = 20
	}
	s := textStyle{role: RoleLabel, size: size, width: width - 2*padX, maxLines: most, balanced: true, centered: true}
	label := c.fitText(t, s)
	if label == nil {
		return nil
	}
	if label.lines > 1 && !c.breakWords {
		t.shrinkToLines(label, s)
	}
	b := &block{w: math.Ceil(label.w + 2*padX), h: math.Round(label.h + 2*padY)}
	b.place = func(at box, on surface, out *arrangement) {
		at = at.roundToPixels()
		corner := min(c.radius*at.h(), padX*0.95)
		out.fills = append(out.fills, fill{path: roundedRectangle(at, corner), from: on.button, to: on.button, role: RoleButton, box: at})
		label.place(at.inset((at.w()-label.w)/2, (at.h()-label.h)/2), on, out)
	}
	return b
}

// brandBlock returns the logo with the brand's name beside it, or one of the
// two.
func (c sizing) brandBlock(z zone, s textSizes, width, height float64) *block {
	p := z.parts
	name := textStyle{role: RoleBrand, size: s.brand, width: width, maxLines: 2, balanced: true, centered: z.centered}
	if p.logo == nil {
		return c.brandNameBlock(p.brand, name)
	}
	badge := p.logo.logoBlock(z.surface, s.brand*2.3, width, height)
	if badge == nil || p.brand.empty() || p.logo.isWordMark() {
		return badge
	}
	gap := math.Round(s.brand * 0.9)
	name.width, name.centered = width-badge.w-gap, false
	words := c.brandNameBlock(p.brand, name)
	if words == nil {
		return nil
	}
	b := &block{w: badge.w + gap + words.w, h: max(badge.h, words.h)}
	b.place = func(at box, on surface, out *arrangement) {
		middle := (at.y0 + at.y1) / 2
		badge.place(box{at.x0, middle - badge.h/2, at.x0 + badge.w, middle + badge.h/2}, on, out)
		words.place(box{at.x1 - words.w, middle - words.h/2, at.x1, middle + words.h/2}, on, out)
	}
	return b
}

// brandNameBlock returns the brand's name as text.
func (c sizing) brandNameBlock(t text, s textStyle) *block {
	b := c.fitText(t, s)
	if b != nil {
		t.shrinkToLines(b, s)
	}
	return b
}

// logoBlock returns the logo in about the given height, on a plate if its
// contrast is too low without one. It returns nil if the logo would be too
// small to be recognized.
func (m *logoImage) logoBlock(on surface, height, width, most float64) *block {
	plate := m.plateColor(on)
	share := 0.0
	switch {
	case plate == nil:
	case m.background != nil:
		share = 0.1
	default:
		share = 0.22 * max(1, math.Sqrt(m.aspect))
	}
	// A wide logo is lower, so that all logos have about the same area.
	h := height * min(1.1, 1.5/math.Sqrt(m.aspect))
	h = math.Floor(min(h, most/(1+1.6*share), width/(m.aspect+2*share)))
	w := math.Round(h * m.aspect)
	if min(w, h) < 8 {
		return nil
	}
	padX, padY := math.Round(h*share), math.Round(h*share*0.8)
	b := &block{w: w + 2*padX, h: h + 2*padY}
	b.place = func(at box, _ surface, out *arrangement) {
		x, y := math.Round(at.x0), math.Round(at.y0)
		if plate != nil {
			ground := box{x, y, x + b.w, y + b.h}
			out.fills = append(out.fills, fill{path: roundedRectangle(ground, ground.h()*0.18), from: *plate, to: *plate, role: RoleLogo, box: ground})
		}
		out.logo = &logoBox{image: m, box: box{x + padX, y + padY, x + padX + w, y + padY + h}}
	}
	return b
}

// isWordMark reports whether the logo is wide enough to contain the brand's
// name.
func (m *logoImage) isWordMark() bool { return m.aspect > 2.2 }
