package picture

import "math"

// circleLayout has large circles that extend beyond a corner of the picture.
func (k *sceneBuilder) circleLayout() *plan {
	on, all, r := k.palette.field, k.bounds(), 0.46*math.Hypot(k.w, k.h)
	if k.usesRow() {
		r = k.h * 1.05
	}
	return k.typePlan([]fill{
		k.backgroundFill(on),
		solidFill(circle(k.w*0.98, k.h*0.04, r), mix(on.fill, on.tint, 0.55), all),
		solidFill(circle(k.w*0.98, k.h*0.04, r*0.62), on.tint, all),
	}, all, on, false, alignBottom)
}

// diagonalLayout has a slanted area on the right.
func (k *sceneBuilder) diagonalLayout() *plan {
	on, all := k.palette.field, k.bounds()
	slant := min(k.h*0.35, k.w*0.35)
	x, y := k.w*0.62, k.h*0.64
	part := polygon(point{x + slant/2, 0}, point{k.w, 0}, point{k.w, k.h}, point{x - slant/2, k.h})
	if k.w < 0.9*k.h {
		part = polygon(point{0, y + slant/2}, point{k.w, y - slant/2}, point{k.w, k.h}, point{0, k.h})
	}
	return k.typePlan([]fill{k.backgroundFill(on), solidFill(part, on.tint, all)}, all, on, false, alignMiddle)
}

// bandLayout has a footer in another color, with the brand and the button.
func (k *sceneBuilder) bandLayout() *plan {
	field, panel, all := k.palette.field, k.palette.panel, k.bounds()
	top, bottom := all, all
	if k.usesRow() {
		cut := math.Round(k.w - min(max(k.buttonWidth()+2*k.scale.margin, 0.24*k.w), 0.45*k.w))
		top.x1, bottom.x0 = cut, cut
		return &plan{
			fills: []fill{k.backgroundFill(field), solidFill(rectangle(bottom), panel.fill, all)},
			zones: []zone{
				{area: k.contentArea(top), surface: field, parts: k.parts.without(RoleLabel), row: k.isStrip()},
				{area: bottom.inset(k.scale.margin*0.8, k.scale.margin*0.5), surface: panel, parts: k.parts.only(RoleLabel), centered: true},
			},
		}
	}
	size := k.scale.textSizes(k.scale.headMax).label
	cut := math.Round(k.safeArea.y1 - size*2.7 - k.scale.margin*1.5)
	top.y1, bottom.y0 = cut, cut
	under := bottom.intersect(k.safeArea).inset(k.scale.margin, k.scale.margin*0.5)
	foot := zone{area: under, surface: panel, parts: k.parts.only(RoleLabel)}
	away := []Role{RoleLabel}
	if k.w/k.h > 0.6 && k.parts.hasBrand() {
		foot.parts, foot.row = k.parts.only(RoleBrand, RoleLabel), true
		away = append(away, RoleBrand)
	}
	whole := k.parts
	k.parts = whole.without(away...)
	p := k.typePlan([]fill{k.backgroundFill(field), solidFill(rectangle(bottom), panel.fill, all)}, top, field, false, alignMiddle)
	k.parts = whole
	p.zones = append(p.zones, foot)
	return p
}

// frameLayout is a card on a colored background.
func (k *sceneBuilder) frameLayout() *plan {
	on, all := k.palette.field, k.bounds()
	edge := math.Round(k.scale.margin * 0.55)
	if k.isStrip() {
		edge = math.Round(k.scale.margin * 0.3)
	}
	card := all.inset(edge, edge)
	return k.typePlan([]fill{
		k.backgroundFill(k.palette.panel),
		solidFill(roundedRectangle(card, k.scale.unit*0.03), on.fill, all),
	}, card, on, true, alignMiddle)
}

// splitLayout has a separate panel for the brand.
func (k *sceneBuilder) splitLayout() *plan {
	if !k.parts.hasBrand() {
		return nil
	}
	field, panel, all := k.palette.field, k.palette.panel, k.bounds()
	left, right := all, all
	beside := k.w/k.h >= 1.4
	switch {
	case beside:
		share := 0.36
		if k.usesRow() {
			share = 0.22
		}
		left.x1 = math.Round(k.w * share)
		right.x0 = left.x1
	default:
		left.y1 = math.Round(k.safeArea.y0 + k.safeArea.h()*0.3)
		right.y0 = left.y1
	}
	spot := circle(left.x1, left.y1, 0.75*min(left.w(), left.h()))
	fills := []fill{k.backgroundFill(field), solidFill(rectangle(left), panel.fill, all), solidFill(spot, panel.tint, left)}
	lone := zone{area: left.intersect(k.safeArea).inset(k.scale.margin, k.scale.margin*0.6), surface: panel, parts: k.parts.only(RoleBrand), centered: beside}
	if k.isStrip() {
		lone.area = left.inset(k.scale.margin*0.5, k.scale.margin*0.5)
	}
	p := &plan{fills: fills}
	parts := k.parts.without(RoleBrand)
	// The badge is in the panel of the brand, where there is room.
	if s := k.newSticker(math.Round(min(k.stickerDiameter(), lone.area.h())), panel); s != nil && !beside {
		area := k.contentArea(left)
		y := lone.area.y0 + (lone.area.h()-s.h)/2
		s.at = box{area.x1 - s.w, y, area.x1, y + s.h}
		lone.area.x1 = s.at.x0 - k.scale.margin
		p.sticker, parts = s, parts.without(RoleOffer)
	} else if s != nil && lone.area.h() > 2.6*s.h && lone.area.w() >= s.w {
		x := (lone.area.x0 + lone.area.x1 - s.w) / 2
		s.at = box{x, lone.area.y1 - s.h, x + s.w, lone.area.y1}
		lone.area.y1 = s.at.y0 - k.scale.margin
		p.sticker, parts = s, parts.without(RoleOffer)
	}
	p.zones = append(k.partZones(right, field, parts, false, alignMiddle), lone)
	return p
}

// ringsLayout has thin circles around a corner, with all parts centered.
func (k *sceneBuilder) ringsLayout() *plan {
	on, all := k.palette.field, k.bounds()
	fills := []fill{k.backgroundFill(on)}
	step := k.scale.unit * 0.13
	for i := range 5 {
		fills = append(fills, solidFill(ring(k.w, k.h, step*(1.5+float64(i)*1.25), step*0.42), on.tint, all))
	}
	return k.typePlan(fills, all, on, true, alignMiddle)
}

// edgeLayout has a bar of color at the left edge.
func (k *sceneBuilder) edgeLayout() *plan {
	on, all := k.palette.field, k.bounds()
	bar, right := all, all
	bar.x1 = math.Round(max(4, k.scale.unit*0.022))
	right.x0 = bar.x1
	ground := k.backgroundFill(on)
	ground.to = on.tint
	return k.typePlan([]fill{ground, solidFill(rectangle(bar), on.button, all)}, right, on, false, alignSpread)
}
