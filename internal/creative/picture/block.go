package picture

import "math"

// block is a part with its size in pixels, ready to be placed. A text's height
// is to its last base line: the eye measures distances from there.
type block struct {
	w, h float64
	// lines and tail, what lies below the last base line, are those of a text.
	lines int
	tail  float64
	place func(at box, on surface, out *setting)
}

// style is how a text is to be set.
type style struct {
	role        Role
	size, width float64
	// most is how many lines there may be.
	most int
	// even lines are of the same length, as far as they can.
	even, centered bool
}

// color of a role on a surface.
func (s surface) color(r Role) rgb {
	switch r {
	case RoleBody:
		return s.muted
	case RoleBrand:
		return s.accent
	case RoleLabel:
		return s.label
	default:
		return s.ink
	}
}

// fit sets a text into a width, nil if it needs more lines or a wider one.
func (c scale) fit(t text, s style) *block {
	width := s.width / s.size
	if c.cut && t.longest()*legible > s.width {
		t = t.cut(width)
	}
	n := t.count(width)
	if n == 0 || n > s.most {
		return nil
	}
	b := &block{w: s.width, h: (t.above + float64(n-1)*t.lead) * s.size, lines: n, tail: t.below * s.size}
	if n == 1 {
		b.w = t.width() * s.size
	}
	b.place = func(at box, on surface, out *setting) {
		lines := t.lines(width, s.even)
		out.texts = append(out.texts, t.place(s, lines, at, on.color(s.role)))
		if s.role == RoleHeadline {
			out.ragged = ragged(lines)
		}
	}
	return b
}

// tight makes a block as narrow as its lines.
func (t text) tight(b *block, s style) {
	b.w = 0
	for _, l := range t.lines(s.width/s.size, s.even) {
		b.w = max(b.w, l.width*s.size)
	}
}

// ragged is how uneven lines are, from 0 to 1.
func ragged(lines []line) float64 {
	least, most := math.Inf(1), 0.0
	for _, l := range lines {
		least, most = min(least, l.width), max(most, l.width)
	}
	return 1 - least/most
}

// place puts lines at the top of a box.
func (t text) place(s style, lines []line, at box, ink rgb) textBox {
	b := textBox{role: s.role, size: s.size, ink: ink}
	for i, l := range lines {
		x := at.x0
		if s.centered {
			x += (at.w() - l.width*s.size) / 2
		}
		y := math.Round(at.y0 + (t.above+float64(i)*t.lead)*s.size)
		run := box{x, y - t.above*s.size, x + l.width*s.size, y}
		for _, w := range l.words {
			b.words = append(b.words, placedWord{w, x, y})
			run = run.union(w.ink().scale(s.size).shift(x, y))
			x += (w.width + t.space) * s.size
		}
		if i == 0 {
			b.box = run
		}
		b.box = b.box.union(run)
	}
	return b
}

// button is the label with comfortable space around it.
func (c scale) button(t text, size, width float64) *block {
	// Choice: a label is rather smaller than on two lines.
	const padding = 1.35
	size = min(size, max(min(size, c.small), width/(t.width()+2*padding+0.01)))
	if c.cut {
		size = min(size, legible)
	}
	padX, padY, most := size*padding, size*0.95, 1
	if t.width()*size+2*padX > width {
		const padding = 0.9
		size = min(size, max(c.labelMin, width/(t.longest()+2*padding+0.01)))
		padX, padY, most = size*padding, size*0.75, 3
	}
	if c.cut {
		most = 20
	}
	s := style{role: RoleLabel, size: size, width: width - 2*padX, most: most, even: true, centered: true}
	label := c.fit(t, s)
	if label == nil {
		return nil
	}
	if label.lines > 1 && !c.cut {
		t.tight(label, s)
	}
	b := &block{w: math.Ceil(label.w + 2*padX), h: math.Round(label.h + 2*padY)}
	b.place = func(at box, on surface, out *setting) {
		at = at.round()
		corner := min(c.radius*at.h(), padX*0.95)
		out.fills = append(out.fills, fill{path: rounded(at, corner), from: on.button, to: on.button, role: RoleButton, box: at})
		label.place(at.inset((at.w()-label.w)/2, (at.h()-label.h)/2), on, out)
	}
	return b
}

// lockup is the logo with the brand's name beside it, or one of the two.
func (c scale) lockup(z zone, s sizes, width, height float64) *block {
	p := z.parts
	name := style{role: RoleBrand, size: s.brand, width: width, most: 2, even: true, centered: z.centered}
	if p.logo == nil {
		return c.name(p.brand, name)
	}
	badge := p.logo.badge(z.on, s.brand*2.3, width, height)
	if badge == nil || p.brand.empty() || p.logo.speaks() {
		return badge
	}
	gap := math.Round(s.brand * 0.9)
	name.width, name.centered = width-badge.w-gap, false
	words := c.name(p.brand, name)
	if words == nil {
		return nil
	}
	b := &block{w: badge.w + gap + words.w, h: max(badge.h, words.h)}
	b.place = func(at box, on surface, out *setting) {
		middle := (at.y0 + at.y1) / 2
		badge.place(box{at.x0, middle - badge.h/2, at.x0 + badge.w, middle + badge.h/2}, on, out)
		words.place(box{at.x1 - words.w, middle - words.h/2, at.x1, middle + words.h/2}, on, out)
	}
	return b
}

// name is the brand's name as words.
func (c scale) name(t text, s style) *block {
	b := c.fit(t, s)
	if b != nil {
		t.tight(b, s)
	}
	return b
}

// badge is the logo in about the given height, with a plate where it needs
// one. It is nil where it would be too small to be known.
func (m *mark) badge(on surface, height, width, most float64) *block {
	plate := m.plate(on)
	share := 0.0
	switch {
	case plate == nil:
	case m.ground != nil:
		share = 0.1
	default:
		share = 0.22 * max(1, math.Sqrt(m.aspect))
	}
	// A wide logo is lower, so that all have about the same weight.
	h := height * min(1.1, 1.5/math.Sqrt(m.aspect))
	h = math.Floor(min(h, most/(1+1.6*share), width/(m.aspect+2*share)))
	w := math.Round(h * m.aspect)
	if min(w, h) < 8 {
		return nil
	}
	padX, padY := math.Round(h*share), math.Round(h*share*0.8)
	b := &block{w: w + 2*padX, h: h + 2*padY}
	b.place = func(at box, _ surface, out *setting) {
		x, y := math.Round(at.x0), math.Round(at.y0)
		if plate != nil {
			ground := box{x, y, x + b.w, y + b.h}
			out.fills = append(out.fills, fill{path: rounded(ground, ground.h()*0.18), from: *plate, to: *plate, role: RoleLogo, box: ground})
		}
		out.logo = &logoBox{mark: m, box: box{x + padX, y + padY, x + padX + w, y + padY + h}}
	}
	return b
}

// speaks says whether the logo is a word mark, which says the name itself.
func (m *mark) speaks() bool { return m.aspect > 2.2 }
