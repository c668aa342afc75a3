package picture

import "math"

// partZones returns the zones for parts inside a box, arranged to suit its
// shape.
func (k *sceneBuilder) partZones(b box, on surface, p adParts, centered bool, r verticalAlign) []zone {
	area := k.contentArea(b)
	switch {
	case k.isStrip():
		return []zone{{area: area, surface: on, row: true, parts: p}}
	case k.usesRow() && !p.label.empty():
		left, right := area, area
		right.x0 = area.x1 - min(k.buttonWidth(), area.w()*0.46)
		left.x1 = right.x0 - k.scale.margin
		if left.w() < 1.2*left.h() {
			break
		}
		return []zone{
			{area: left, surface: on, parts: p.without(RoleLabel), align: alignMiddle},
			{area: right, surface: on, parts: p.only(RoleLabel), row: true},
		}
	}
	return []zone{{area: area, surface: on, parts: p, centered: centered, align: r}}
}

// buttonWidth returns the preferred width of the button.
func (k *sceneBuilder) buttonWidth() float64 {
	return math.Ceil((k.parts.label.width() + 2.8) * k.scale.textSizes(k.scale.headMax).label)
}

// typePlan returns a plan without a photo: background shapes and one area for
// all parts, with the badge of an offer beside or above them.
func (k *sceneBuilder) typePlan(fills []fill, b box, on surface, centered bool, r verticalAlign) *plan {
	p := &plan{fills: fills}
	parts := k.parts
	d := k.stickerDiameter()
	s := k.newSticker(d, on)
	if s == nil {
		p.zones = k.partZones(b, on, parts, centered, r)
		return p
	}
	p.sticker, parts = s, parts.without(RoleOffer)
	area := k.contentArea(b)
	if k.w/k.h >= 1.15 {
		// Beside the copy, at the height of the middle.
		side := b
		side.x1 -= d + k.scale.margin
		y := (area.y0 + area.y1 - d) / 2
		s.at = box{area.x1 - d, y, area.x1, y + d}
		p.zones = k.partZones(side, on, parts, centered && k.w/k.h < 1.6, r)
		return p
	}
	s.at = box{area.x1 - d, area.y0, area.x1, area.y0 + d}
	p.zones = k.partZones(b, on, parts, false, r)
	p.zones[0].cornerW, p.zones[0].cornerH = d, d
	return p
}

// stickerDiameter returns the size of the round badge of an offer.
func (k *sceneBuilder) stickerDiameter() float64 {
	short := min(k.w, k.h)
	switch {
	case k.w/k.h < 0.4:
		return math.Round(0.56 * short)
	case (k.photo == nil || k.typeOnly) && k.w/k.h >= 1.15:
		return math.Round(max(0.42*short, min(84, 0.46*short)))
	case k.photo == nil || k.typeOnly:
		return math.Round(max(0.36*short, min(76, 0.42*short)))
	}
	return math.Round(max(0.28*short, min(72, 0.4*short)))
}

// newSticker returns the round badge of the offer, nil if the picture has no
// offer or no room for one.
func (k *sceneBuilder) newSticker(d float64, on surface) *sticker {
	if k.parts.offer.empty() || k.usesRow() {
		return nil
	}
	b := k.scale.stickerBlock(k.parts.offer, d)
	if b == nil {
		return nil
	}
	return &sticker{block: b, surface: on}
}

// termsZone returns the zone with the terms at the bottom of a box, and the rest of
// the box. The zone has no terms if they do not fit.
func (k *sceneBuilder) termsZone(b box, on surface, p adParts) (terms zone, rest box) {
	area := k.contentArea(b)
	z := zone{area: area, surface: on, parts: p.only(RoleTerms)}
	block := k.scale.termsBlock(z, area.w())
	if block == nil {
		return zone{}, b
	}
	z.area.y0 = area.y1 - block.h - 0.01
	rest = b
	// The content area of the rest ends above the terms.
	rest.y1 = z.area.y0 - k.scale.termsGap() + (b.y1 - area.y1)
	return z, rest
}

// footZone returns the zone with brand and button side by side at the bottom of a
// box, and the rest of the box.
func (k *sceneBuilder) footZone(b box, on surface, p adParts) (foot zone, rest box) {
	size := k.scale.textSizes(k.scale.headMax).label
	height := math.Round(size * 2.9)
	area := k.contentArea(b)
	rest = b
	rest.y1 = area.y1 - height
	area.y0 = area.y1 - height
	return zone{area: area, surface: on, parts: p.only(RoleBrand, RoleLabel), row: true}, rest
}
