package picture

import "math"

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
	// corner is the size of an area at the top right that stays free.
	cornerW, cornerH float64
}

// verticalAlign says where a column leaves its free height.
type verticalAlign int

const (
	alignMiddle verticalAlign = iota // brand at the top, copy and button in the middle
	alignBottom                      // brand at the top, copy and button at the bottom
	alignSpread                      // brand at the top, copy in the middle, button at the bottom
	alignDown                        // all parts at the bottom
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
	if z.parts.headline.empty() && z.parts.label.empty() && z.parts.terms.empty() {
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
			least = max(least, head*0.6)
		}
		if now := head * (1 - 0.44*got.raggedness); now > score {
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
	// copy has all other texts, with the distance before each; terms are below
	// them.
	copy  []*block
	terms *block
	// offer and price are beside the copy of a row.
	offer, price *block
}

// copyHeight returns the height of the copy, down to the last base line.
func (p zoneBlocks) copyHeight() float64 {
	var h float64
	for i, b := range p.copy {
		if i > 0 {
			h += b.before
		}
		h += b.h
	}
	return h
}

// brandAndButtonBlocks returns the blocks of brand and button. It reports false
// if one of them does not fit.
func (c sizing) brandAndButtonBlocks(z zone, s textSizes, brandWidth, buttonWidth float64) (p zoneBlocks, ok bool) {
	if z.parts.hasBrand() {
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

// copyBlocks returns the blocks of the texts. It reports false if one of them
// does not fit.
func (c sizing) copyBlocks(z zone, s textSizes, width float64) (blocks []*block, ok bool) {
	ok = true
	add := func(b *block, before float64) {
		if b == nil {
			ok = false
			return
		}
		b.before = before
		blocks = append(blocks, b)
	}
	if !z.parts.offer.empty() && !z.row {
		add(c.pillBlock(z.parts.offer.whole, s.label, width), 0)
	}
	afterHead := s.head*0.3 + s.body*0.75
	if z.row {
		afterHead = s.head*0.2 + s.body*0.6
	}
	if !z.parts.headline.empty() {
		add(c.headBlock(z, s, width), s.head*0.25+s.label*0.7)
	}
	if !z.parts.price.empty() && !z.row {
		add(c.priceBlock(z.parts.price, s.price, width, z.centered), afterHead)
	}
	if !z.parts.body.empty() {
		// A line of more than about 60 characters is hard to follow.
		measure := min(width, 30*s.body)
		add(c.fitText(z.parts.body, textStyle{role: RoleBody, size: s.body, width: measure, maxLines: c.bodyLines, balanced: true, centered: z.centered}), afterHead)
		ok = ok && s.head >= 1.3*s.body
	}
	return blocks, ok
}

// headBlock returns the headline.
func (c sizing) headBlock(z zone, s textSizes, width float64) *block {
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
	return c.fitText(z.parts.headline, textStyle{role: RoleHeadline, size: s.head, width: width, maxLines: most, balanced: true, centered: z.centered})
}

// termsBlock returns the terms of an offer, nil if they need too many lines.
func (c sizing) termsBlock(z zone, width float64) *block {
	lines := 3
	if z.row {
		lines = 1
	}
	return c.fitText(z.parts.terms, textStyle{role: RoleTerms, size: c.termsSize, width: width, maxLines: lines, balanced: true, centered: z.centered})
}

// arrangeColumn places the parts below each other.
func (c sizing) arrangeColumn(z zone, s textSizes) *arrangement {
	width := z.area.w()
	brandWidth := width
	if z.cornerW > 0 {
		brandWidth -= z.cornerW + s.gap/2
	}
	p, ok := c.brandAndButtonBlocks(z, s, brandWidth, width)
	if !ok {
		return nil
	}
	if p.copy, ok = c.copyBlocks(z, s, width); !ok {
		return nil
	}
	if !z.parts.terms.empty() {
		if p.terms = c.termsBlock(z, width); p.terms == nil {
			return nil
		}
	}
	top := z.cornerH
	if p.brand != nil {
		top = max(top, p.brand.h)
	}
	left, gaps := z.area.h()-p.copyHeight()-top, -1
	if top > 0 {
		gaps++
	}
	if p.button != nil {
		left -= p.button.h
		gaps++
	}
	if len(p.copy) > 0 {
		gaps++
	}
	left -= float64(max(gaps, 0)) * s.gap
	if p.terms != nil {
		left -= p.terms.h
		if gaps >= 0 {
			left -= c.termsGap()
		}
	}
	if left < 0 {
		return nil
	}
	return z.placeColumn(p, s, c, top, left)
}

// termsGap is the distance between the terms and what is above them.
func (c sizing) termsGap() float64 { return max(c.termsSize*1.1, c.unit*0.03) }

// placeColumn places the blocks of a column and distributes its free height.
func (z zone) placeColumn(p zoneBlocks, s textSizes, c sizing, top, left float64) *arrangement {
	out, y := &arrangement{}, z.area.y0
	put := func(b *block) {
		x := z.area.x0
		if z.centered {
			x += (z.area.w() - b.w) / 2
		}
		b.place(box{x, y, x + b.w, y + b.h}, z.surface, out)
		y += b.h
	}
	before, after := left*0.46, 0.0
	switch z.align {
	case alignMiddle, alignDown:
	case alignBottom:
		before = left
	case alignSpread:
		before, after = left*0.42, left*0.58
	}
	if len(p.copy) == 0 {
		y, before = y+left/2, 0
	}
	if z.align == alignDown {
		y, before = y+left, 0
	}
	if top > 0 {
		at := y
		if p.brand != nil {
			put(p.brand)
		}
		y = at + top + s.gap
	}
	y += before
	for i, b := range p.copy {
		if i > 0 {
			y += b.before
		}
		put(b)
	}
	if p.button != nil {
		if len(p.copy) > 0 {
			y += s.gap + after
		}
		put(p.button)
	}
	if p.terms != nil {
		y = z.area.y1 - p.terms.h
		put(p.terms)
	}
	return out
}

// arrangeRow places brand, copy, offer, price and button side by side.
func (c sizing) arrangeRow(z zone, s textSizes) *arrangement {
	height := z.area.h()
	buttonWidth := 0.5 * z.area.w()
	switch {
	case z.parts.headline.empty() && !z.parts.hasBrand():
		buttonWidth = z.area.w()
	case z.parts.headline.empty():
		buttonWidth = 0.65 * z.area.w()
	}
	p, ok := c.brandAndButtonBlocks(z, s, 0.3*z.area.w(), buttonWidth)
	if !ok {
		return nil
	}
	if !z.parts.offer.empty() {
		if p.offer = c.pillBlock(z.parts.offer.whole, s.label, 0.24*z.area.w()); p.offer == nil {
			return nil
		}
	}
	if !z.parts.price.empty() {
		p.price = c.priceBlock(z.parts.price, min(s.price, height*0.5), 0.24*z.area.w(), false)
		if p.price == nil || p.price.lines > 2 {
			return nil
		}
	}
	if !z.parts.terms.empty() {
		if p.terms = c.termsBlock(z, z.area.w()); p.terms == nil {
			return nil
		}
		height -= p.terms.h + c.termsSize*0.55
		z.area.y1 -= p.terms.h + c.termsSize*0.55
	}
	x0, x1, gap := z.area.x0, z.area.x1, s.gap*1.8
	if p.brand != nil {
		x0 += p.brand.w + gap
	}
	for _, b := range []*block{p.button, p.price, p.offer} {
		if b != nil {
			x1 -= b.w + gap
		}
	}
	for _, b := range []*block{p.brand, p.button, p.price, p.offer} {
		if b != nil && b.h > height {
			return nil
		}
	}
	if p.copy, ok = c.copyBlocks(z, s, x1-x0); !ok {
		return nil
	}
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
	for i, b := range p.copy {
		if i > 0 {
			y += b.before
		}
		b.place(box{x, y, x + b.w, y + b.h}, z.surface, out)
		y += b.h
	}
	right := z.area.x1
	for _, b := range []*block{p.button, p.price, p.offer} {
		if b != nil {
			b.place(box{right - b.w, middle - b.h/2, right, middle + b.h/2}, z.surface, out)
			right -= b.w + gap
		}
	}
	if p.terms != nil {
		top := z.area.y1 + c.termsSize*0.55
		p.terms.place(box{z.area.x0, top, z.area.x0 + p.terms.w, top + p.terms.h}, z.surface, out)
	}
	return out
}
