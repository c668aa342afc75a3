package picture

import "math"

// parts are what an ad consists of, measured and not yet placed.
type parts struct {
	headline, body, label, brand text
	logo                         *mark
}

// zone is a part of the picture in which parts are set together.
type zone struct {
	area box
	on   surface
	// row sets brand, text and button side by side instead of below each other.
	row      bool
	centered bool
	// rest says where the space goes that is left over.
	rest  rest
	parts parts
}

// rest is what a column does with space that is left over.
type rest int

const (
	restMiddle rest = iota // brand at the top, everything else in the middle
	restBottom             // brand at the top, everything else at the bottom
	restEnds               // brand at the top, text in the middle, button at the bottom
)

// setting is a zone with all its parts in place.
type setting struct {
	// ragged is how uneven the lines of the headline are, from 0 to 1.
	ragged float64
	fills  []fill
	texts  []textBox
	logo   *logoBox
}

// arrange sets a zone with its headline at the given size, nil if that does
// not fit.
func (c scale) arrange(z zone, head float64) *setting {
	s := c.sizes(head)
	if z.parts.headline.empty() && z.parts.label.empty() {
		// Choice: a brand on its own is a sign, not a line of text.
		s.brand *= 1.5
	}
	if z.row {
		return c.row(z, s)
	}
	return c.column(z, s)
}

// largest sets a zone with the largest headline that fits, or with a somewhat
// smaller one whose lines are more even.
func (c scale) largest(z zone, from, least float64) (best *setting) {
	if z.area.w() <= 0 || z.area.h() <= 0 {
		return nil
	}
	var score float64
	for head := from; head >= least; head *= 0.955 {
		got := c.arrange(z, head)
		if got == nil {
			continue
		}
		if best == nil {
			least = max(least, head*0.7)
		}
		if now := head * (1 - 0.45*got.ragged); now > score {
			best, score = got, now
		}
		if best.ragged < 0.1 {
			break
		}
	}
	return best
}

// pieces are the blocks of a zone, nil where it has no such part.
type pieces struct {
	brand, button *block
	copy          []*block
	// between is the distance of the blocks of the copy.
	between float64
}

// height of the copy, to its last base line.
func (p pieces) height() float64 {
	h := -p.between
	for _, b := range p.copy {
		h += b.h + p.between
	}
	return max(0, h)
}

// edges sets brand and button.
func (c scale) edges(z zone, s sizes, brandWidth, buttonWidth float64) (p pieces, ok bool) {
	if z.branded() {
		if p.brand = c.lockup(z, s, brandWidth, z.area.h()); p.brand == nil {
			return p, false
		}
	}
	if !z.parts.label.empty() {
		if p.button = c.button(z.parts.label, s.label, buttonWidth); p.button == nil {
			return p, false
		}
	}
	return p, true
}

func (z zone) branded() bool { return z.parts.logo != nil || !z.parts.brand.empty() }

// copy sets headline and body.
func (c scale) copy(z zone, s sizes, width float64) (blocks []*block, ok bool) {
	if z.parts.headline.empty() {
		return nil, true
	}
	most := c.headLines
	switch {
	// Choice: a very large headline is a short one.
	case s.head > c.unit*0.125:
		most = min(most, 2)
	case s.head > c.unit*0.1:
		most = min(most, 4)
	case s.head < c.headMin:
		most = 40
	}
	head := c.fit(z.parts.headline, style{role: RoleHeadline, size: s.head, width: width, most: most, even: true, centered: z.centered})
	if head == nil {
		return nil, false
	}
	if z.parts.body.empty() {
		return []*block{head}, true
	}
	// A line of more than about 60 characters is hard to follow.
	measure := min(width, 30*s.body)
	body := c.fit(z.parts.body, style{role: RoleBody, size: s.body, width: measure, most: c.bodyLines, even: z.centered, centered: z.centered})
	if body == nil || s.head < 1.3*s.body {
		return nil, false
	}
	return []*block{head, body}, true
}

// column sets the parts below each other.
func (c scale) column(z zone, s sizes) *setting {
	p, ok := c.edges(z, s, z.area.w(), z.area.w())
	if !ok {
		return nil
	}
	if p.copy, ok = c.copy(z, s, z.area.w()); !ok {
		return nil
	}
	p.between = s.head*0.3 + s.body*0.75
	left, gaps := z.area.h()-p.height(), -1
	for _, b := range []*block{p.brand, p.button} {
		if b != nil {
			left -= b.h
			gaps++
		}
	}
	if len(p.copy) > 0 {
		gaps++
	}
	left -= float64(gaps) * s.gap
	if left < 0 {
		return nil
	}
	return z.stack(p, s, left)
}

// stack places the blocks of a column and the space that is left over.
func (z zone) stack(p pieces, s sizes, left float64) *setting {
	out, y := &setting{}, z.area.y0
	put := func(b *block, space float64) {
		x := z.area.x0
		if z.centered {
			x += (z.area.w() - b.w) / 2
		}
		b.place(box{x, y, x + b.w, y + b.h}, z.on, out)
		y += b.h + space
	}
	before, after := left*0.46, 0.0
	switch z.rest {
	case restMiddle:
	case restBottom:
		before = left
	case restEnds:
		before, after = left*0.42, left*0.58
	}
	if len(p.copy) == 0 {
		y, before = y+left/2, 0
	}
	if p.brand != nil {
		put(p.brand, s.gap)
	}
	y += before
	for i, b := range p.copy {
		if i < len(p.copy)-1 {
			put(b, p.between)
		} else {
			put(b, s.gap+after)
		}
	}
	if p.button != nil {
		put(p.button, 0)
	}
	return out
}

// row sets brand, copy and button side by side.
func (c scale) row(z zone, s sizes) *setting {
	height := z.area.h()
	buttonWidth := 0.5 * z.area.w()
	switch {
	case z.parts.headline.empty() && !z.branded():
		buttonWidth = z.area.w()
	case z.parts.headline.empty():
		buttonWidth = 0.65 * z.area.w()
	}
	p, ok := c.edges(z, s, 0.3*z.area.w(), buttonWidth)
	if !ok {
		return nil
	}
	x0, x1, gap := z.area.x0, z.area.x1, s.gap*1.8
	if p.brand != nil {
		x0 += p.brand.w + gap
	}
	if p.button != nil {
		x1 -= p.button.w + gap
	}
	for _, b := range []*block{p.brand, p.button} {
		if b != nil && b.h > height {
			return nil
		}
	}
	if p.copy, ok = c.copy(z, s, x1-x0); !ok {
		return nil
	}
	p.between = s.head*0.2 + s.body*0.6
	if n := len(p.copy); n > 0 && p.height()+2*p.copy[n-1].tail > height {
		return nil
	}
	return c.abreast(z, p, x0, gap)
}

// abreast places the blocks of a row around its middle, the copy at x.
func (c scale) abreast(z zone, p pieces, x, gap float64) *setting {
	out, middle := &setting{}, (z.area.y0+z.area.y1)/2
	if p.brand != nil {
		p.brand.place(box{z.area.x0, middle - p.brand.h/2, z.area.x0 + p.brand.w, middle + p.brand.h/2}, z.on, out)
	}
	if p.brand != nil && len(p.copy) > 0 {
		left, half := math.Round(x-gap/2), math.Round(z.area.h()*0.3)
		rule := box{left, math.Round(middle) - half, left + max(1, math.Round(c.unit*0.004)), math.Round(middle) + half}
		out.fills = append(out.fills, solid(rectangle(rule), mix(z.on.fill, z.on.ink, 0.25), box{}))
	}
	y := middle - p.height()/2
	for _, b := range p.copy {
		b.place(box{x, y, x + b.w, y + b.h}, z.on, out)
		y += b.h + p.between
	}
	if p.button != nil {
		p.button.place(box{z.area.x1 - p.button.w, middle - p.button.h/2, z.area.x1, middle + p.button.h/2}, z.on, out)
	}
	return out
}
