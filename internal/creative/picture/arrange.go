package picture

import "math"

// adParts are the texts and the logo of an ad, measured and not yet placed.
type adParts struct {
	headline, body, label, brand text
	logo                         *logoImage
}

// zone is an area of the picture with the parts that are placed in it.
type zone struct {
	area    box
	surface surface
	// row places brand, text and button side by side instead of below each
	// other.
	row      bool
	centered bool
	// align says where a column leaves its free height.
	align verticalAlign
	parts adParts
}

// verticalAlign says where a column leaves its free height.
type verticalAlign int

const (
	alignMiddle verticalAlign = iota // brand at the top, copy and button in the middle
	alignBottom                      // brand at the top, copy and button at the bottom
	alignSpread                      // brand at the top, copy in the middle, button at the bottom
)

// arrangement is a zone with all its parts placed.
type arrangement struct {
	// raggedness is how uneven the lines of the headline are, from 0 to 1.
	raggedness float64
	fills      []fill
	texts      []textBox
	logo       *logoBox
}

// arrangeZone places the parts of a zone around a headline of the given size.
// It returns nil if they do not fit.
func (c sizing) arrangeZone(z zone, head float64) *arrangement {
	s := c.textSizes(head)
	if z.parts.headline.empty() && z.parts.label.empty() {
		// Choice: a brand name without other text is set larger, like a sign.
		s.brand *= 1.5
	}
	if z.row {
		return c.arrangeRow(z, s)
	}
	return c.arrangeColumn(z, s)
}

// arrangeLargest arranges a zone with the largest headline that fits, or with a
// slightly smaller one whose lines are more even. It returns nil if even the
// smallest headline does not fit.
func (c sizing) arrangeLargest(z zone, from, least float64) (best *arrangement) {
	if z.area.w() <= 0 || z.area.h() <= 0 {
		return nil
	}
	var score float64
	for head := from; head >= least; head *= 0.955 {
		got := c.arrangeZone(z, head)
		if got == nil {
			continue
		}
		if best == nil {
			least = max(least, head*0.7)
		}
		if now := head * (1 - 0.45*got.raggedness); now > score {
			best, score = got, now
		}
		if best.raggedness < 0.1 {
			break
		}
	}
	return best
}

// zoneBlocks are the blocks of a zone, nil for parts that it does not have.
type zoneBlocks struct {
	brand, button *block
	copy          []*block
	// copyGap is the distance between headline and body.
	copyGap float64
}

// copyHeight returns the height of headline and body, down to the last base
// line.
func (p zoneBlocks) copyHeight() float64 {
	h := -p.copyGap
	for _, b := range p.copy {
		h += b.h + p.copyGap
	}
	return max(0, h)
}

// brandAndButtonBlocks returns the blocks of brand and button. It reports false
// if one of them does not fit.
func (c sizing) brandAndButtonBlocks(z zone, s textSizes, brandWidth, buttonWidth float64) (p zoneBlocks, ok bool) {
	if z.hasBrand() {
		if p.brand = c.brandBlock(z, s, brandWidth, z.area.h()); p.brand == nil {
			return p, false
		}
	}
	if !z.parts.label.empty() {
		if p.button = c.buttonBlock(z.parts.label, s.label, buttonWidth); p.button == nil {
			return p, false
		}
	}
	return p, true
}

func (z zone) hasBrand() bool { return z.parts.logo != nil || !z.parts.brand.empty() }

// copyBlocks returns the blocks of headline and body. It reports false if one
// of them does not fit.
func (c sizing) copyBlocks(z zone, s textSizes, width float64) (blocks []*block, ok bool) {
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
	head := c.fitText(z.parts.headline, textStyle{role: RoleHeadline, size: s.head, width: width, maxLines: most, balanced: true, centered: z.centered})
	if head == nil {
		return nil, false
	}
	if z.parts.body.empty() {
		return []*block{head}, true
	}
	// A line of more than about 60 characters is hard to follow.
	measure := min(width, 30*s.body)
	body := c.fitText(z.parts.body, textStyle{role: RoleBody, size: s.body, width: measure, maxLines: c.bodyLines, balanced: z.centered, centered: z.centered})
	if body == nil || s.head < 1.3*s.body {
		return nil, false
	}
	return []*block{head, body}, true
}

// arrangeColumn places the parts below each other.
func (c sizing) arrangeColumn(z zone, s textSizes) *arrangement {
	p, ok := c.brandAndButtonBlocks(z, s, z.area.w(), z.area.w())
	if !ok {
		return nil
	}
	if p.copy, ok = c.copyBlocks(z, s, z.area.w()); !ok {
		return nil
	}
	p.copyGap = s.head*0.3 + s.body*0.75
	left, gaps := z.area.h()-p.copyHeight(), -1
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
	return z.placeColumn(p, s, left)
}

// placeColumn places the blocks of a column and distributes its free height.
func (z zone) placeColumn(p zoneBlocks, s textSizes, left float64) *arrangement {
	out, y := &arrangement{}, z.area.y0
	put := func(b *block, space float64) {
		x := z.area.x0
		if z.centered {
			x += (z.area.w() - b.w) / 2
		}
		b.place(box{x, y, x + b.w, y + b.h}, z.surface, out)
		y += b.h + space
	}
	before, after := left*0.46, 0.0
	switch z.align {
	case alignMiddle:
	case alignBottom:
		before = left
	case alignSpread:
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
			put(b, p.copyGap)
		} else {
			put(b, s.gap+after)
		}
	}
	if p.button != nil {
		put(p.button, 0)
	}
	return out
}

// arrangeRow places brand, copy and button side by side.
func (c sizing) arrangeRow(z zone, s textSizes) *arrangement {
	height := z.area.h()
	buttonWidth := 0.5 * z.area.w()
	switch {
	case z.parts.headline.empty() && !z.hasBrand():
		buttonWidth = z.area.w()
	case z.parts.headline.empty():
		buttonWidth = 0.65 * z.area.w()
	}
	p, ok := c.brandAndButtonBlocks(z, s, 0.3*z.area.w(), buttonWidth)
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
	if p.copy, ok = c.copyBlocks(z, s, x1-x0); !ok {
		return nil
	}
	p.copyGap = s.head*0.2 + s.body*0.6
	if n := len(p.copy); n > 0 && p.copyHeight()+2*p.copy[n-1].descent > height {
		return nil
	}
	return c.placeRow(z, p, x0, gap)
}

// placeRow places the blocks of a row, vertically centered, with the copy at x.
func (c sizing) placeRow(z zone, p zoneBlocks, x, gap float64) *arrangement {
	out, middle := &arrangement{}, (z.area.y0+z.area.y1)/2
	if p.brand != nil {
		p.brand.place(box{z.area.x0, middle - p.brand.h/2, z.area.x0 + p.brand.w, middle + p.brand.h/2}, z.surface, out)
	}
	if p.brand != nil && len(p.copy) > 0 {
		left, half := math.Round(x-gap/2), math.Round(z.area.h()*0.3)
		rule := box{left, math.Round(middle) - half, left + max(1, math.Round(c.unit*0.004)), math.Round(middle) + half}
		out.fills = append(out.fills, solidFill(rectangle(rule), mix(z.surface.fill, z.surface.ink, 0.25), box{}))
	}
	y := middle - p.copyHeight()/2
	for _, b := range p.copy {
		b.place(box{x, y, x + b.w, y + b.h}, z.surface, out)
		y += b.h + p.copyGap
	}
	if p.button != nil {
		p.button.place(box{z.area.x1 - p.button.w, middle - p.button.h/2, z.area.x1, middle + p.button.h/2}, z.surface, out)
	}
	return out
}
