package picture

import (
	"math"
	"slices"
)

// sceneBuilder has what layouts choose from: sizes, colors and parts.
type sceneBuilder struct {
	w, h  float64
	scale sizing
	// safeArea is the part of the picture that apps do not cover.
	safeArea    box
	palette     palette
	parts       adParts
	layoutOrder []layout
	// forceColumn places parts below each other even in a wide picture.
	forceColumn bool
}

// layout builds the background of a picture and the zones for its parts.
type layout struct {
	name  string
	build func(k *sceneBuilder) ([]fill, []zone)
}

var layouts = []layout{
	{"circle", (*sceneBuilder).circleLayout},
	{"diagonal", (*sceneBuilder).diagonalLayout},
	{"band", (*sceneBuilder).bandLayout},
	{"frame", (*sceneBuilder).frameLayout},
	{"split", (*sceneBuilder).splitLayout},
	{"rings", (*sceneBuilder).ringsLayout},
	{"edge", (*sceneBuilder).edgeLayout},
}

func newSceneBuilder(a Ad, p adParts) *sceneBuilder {
	k := &sceneBuilder{w: float64(a.Width), h: float64(a.Height), parts: p}
	k.safeArea = box{0, 0, k.w, k.h}
	// Choice: a picture of 9:16 fills a phone, where the app covers 250 of 1920
	// pixels at the top and at the bottom.
	if math.Abs(k.h/k.w-16.0/9) < 0.06 && k.w >= 360 {
		k.safeArea = k.safeArea.inset(0, math.Ceil(k.h*250/1920))
	}
	// Choice: successive seeds differ in layout and colors, so that the
	// variants of one ad do. One seed gives the same style in every size.
	seed := uint64(a.Seed)
	pick := func(n, of uint64) int { return int(n % of) }
	colors := parseColors(a.Colors)
	if len(colors) == 0 {
		colors = defaultColors[pick(seed+seed/8, uint64(len(defaultColors)))]
	}
	count := uint64(len(layouts))
	list := palettes(colors)
	k.palette = list[pick(seed+seed/count, uint64(len(list)))]
	first := pick(seed, count)
	k.layoutOrder = slices.Concat(layouts[first:], layouts[:first])
	k.scale = newScale(k.w, k.h)
	k.scale.radius = []float64{0.5, 0.22}[pick(seed/count, 2)]
	return k
}

// comfortableHeadSize returns the smallest size of a headline that still
// attracts attention.
func (k *sceneBuilder) comfortableHeadSize() float64 { return max(k.scale.headMin, k.scale.unit*0.058) }

// Choice: pictures smaller than 728x90 show no body, and pictures smaller than
// 320x100 neither logo nor brand, because less text is read faster.
func (k *sceneBuilder) roomForBody() bool  { return k.w*k.h >= 45000 && min(k.w, k.h) >= 80 }
func (k *sceneBuilder) roomForBrand() bool { return k.w*k.h >= 24000 }

func (k *sceneBuilder) usesRow() bool { return k.w/k.h >= 2.5 && !k.forceColumn }
func (k *sceneBuilder) isStrip() bool { return k.usesRow() && k.w/k.h >= 4.5 }
func (k *sceneBuilder) bounds() box   { return box{0, 0, k.w, k.h} }

func (k *sceneBuilder) hasBrand() bool { return k.parts.logo != nil || !k.parts.brand.empty() }

// backgroundFill fills the whole picture with the color of a surface.
func (k *sceneBuilder) backgroundFill(s surface) fill {
	return solidFill(rectangle(k.bounds()), s.fill, k.bounds())
}

func solidFill(p path, c rgb, clip box) fill { return fill{path: p, from: c, to: c, clip: clip} }

// contentArea returns the area for parts inside a box: within the margin and
// the safe area.
func (k *sceneBuilder) contentArea(b box) box {
	m := k.scale.margin
	if k.isStrip() {
		return b.inset(m, m*0.6)
	}
	return b.inset(m, m).intersect(k.safeArea.inset(0, m/2))
}

// partZones returns the zones for parts inside a box, arranged to suit its
// shape.
func (k *sceneBuilder) partZones(b box, on surface, p adParts, centered bool, r verticalAlign) []zone {
	area := k.contentArea(b)
	switch {
	case k.isStrip():
		return []zone{{area: area, surface: on, row: true, parts: p}}
	case k.usesRow() && !p.label.empty():
		text, action := p, adParts{label: p.label}
		text.label = noText
		left, right := area, area
		right.x0 = area.x1 - min(k.buttonWidth(), area.w()*0.42)
		left.x1 = right.x0 - k.scale.margin
		return []zone{{area: left, surface: on, parts: text, align: alignMiddle}, {area: right, surface: on, parts: action, row: true}}
	}
	return []zone{{area: area, surface: on, parts: p, centered: centered, align: r}}
}

// buttonWidth returns the preferred width of the button.
func (k *sceneBuilder) buttonWidth() float64 {
	return math.Ceil((k.parts.label.width() + 2.8) * k.scale.textSizes(k.scale.headMax).label)
}

// circleLayout has large circles that extend beyond a corner of the picture.
func (k *sceneBuilder) circleLayout() ([]fill, []zone) {
	on, all, r := k.palette.field, k.bounds(), 0.46*math.Hypot(k.w, k.h)
	if k.usesRow() {
		r = k.h * 1.05
	}
	return []fill{
		k.backgroundFill(on),
		solidFill(circle(k.w*0.98, k.h*0.04, r), mix(on.fill, on.tint, 0.55), all),
		solidFill(circle(k.w*0.98, k.h*0.04, r*0.62), on.tint, all),
	}, k.partZones(all, on, k.parts, false, alignBottom)
}

// diagonalLayout has a slanted area on the right.
func (k *sceneBuilder) diagonalLayout() ([]fill, []zone) {
	on, all := k.palette.field, k.bounds()
	slant := min(k.h*0.35, k.w*0.35)
	x, y := k.w*0.62, k.h*0.64
	part := polygon(point{x + slant/2, 0}, point{k.w, 0}, point{k.w, k.h}, point{x - slant/2, k.h})
	if k.w < 0.9*k.h {
		part = polygon(point{0, y + slant/2}, point{k.w, y - slant/2}, point{k.w, k.h}, point{0, k.h})
	}
	return []fill{k.backgroundFill(on), solidFill(part, on.tint, all)}, k.partZones(all, on, k.parts, false, alignMiddle)
}

// bandLayout has a footer in another color, with the brand and the button.
func (k *sceneBuilder) bandLayout() ([]fill, []zone) {
	field, panel, all := k.palette.field, k.palette.panel, k.bounds()
	text, foot := k.parts, adParts{label: k.parts.label}
	text.label = noText
	top, bottom := all, all
	if k.usesRow() {
		cut := math.Round(k.w - min(max(k.buttonWidth()+2*k.scale.margin, 0.24*k.w), 0.45*k.w))
		top.x1, bottom.x0 = cut, cut
		zones := []zone{{area: k.contentArea(top), surface: field, parts: text, row: k.isStrip()}}
		return []fill{k.backgroundFill(field), solidFill(rectangle(bottom), panel.fill, all)},
			append(zones, zone{area: bottom.inset(k.scale.margin*0.8, k.scale.margin*0.5), surface: panel, parts: foot, centered: true})
	}
	size := k.scale.textSizes(k.scale.headMax).label
	cut := math.Round(k.safeArea.y1 - size*2.7 - k.scale.margin*1.5)
	top.y1, bottom.y0 = cut, cut
	under := bottom.intersect(k.safeArea).inset(k.scale.margin, k.scale.margin*0.5)
	side := k.w/k.h > 0.6 && k.hasBrand()
	if side {
		foot.brand, foot.logo = text.brand, text.logo
		text.brand, text.logo = noText, nil
	}
	return []fill{k.backgroundFill(field), solidFill(rectangle(bottom), panel.fill, all)}, []zone{
		{area: k.contentArea(top), surface: field, parts: text, align: alignMiddle},
		{area: under, surface: panel, parts: foot, row: side},
	}
}

// frameLayout is a card on a colored background.
func (k *sceneBuilder) frameLayout() ([]fill, []zone) {
	on, all := k.palette.field, k.bounds()
	edge := math.Round(k.scale.margin * 0.55)
	if k.isStrip() {
		edge = math.Round(k.scale.margin * 0.3)
	}
	card := all.inset(edge, edge)
	return []fill{
		k.backgroundFill(k.palette.panel),
		solidFill(roundedRectangle(card, k.scale.unit*0.03), on.fill, all),
	}, k.partZones(card, on, k.parts, true, alignMiddle)
}

// splitLayout has a separate panel for the brand.
func (k *sceneBuilder) splitLayout() ([]fill, []zone) {
	if !k.hasBrand() {
		return nil, nil
	}
	field, panel, all := k.palette.field, k.palette.panel, k.bounds()
	text, side := k.parts, adParts{brand: k.parts.brand, logo: k.parts.logo}
	text.brand, text.logo = noText, nil
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
	lone := zone{area: left.intersect(k.safeArea).inset(k.scale.margin, k.scale.margin*0.6), surface: panel, parts: side, centered: beside}
	if k.isStrip() {
		lone.area = left.inset(k.scale.margin*0.5, k.scale.margin*0.5)
	}
	return fills, append(k.partZones(right, field, text, false, alignMiddle), lone)
}

// ringsLayout has thin circles around a corner, with all parts centered.
func (k *sceneBuilder) ringsLayout() ([]fill, []zone) {
	on, all := k.palette.field, k.bounds()
	fills := []fill{k.backgroundFill(on)}
	step := k.scale.unit * 0.13
	for i := range 5 {
		fills = append(fills, solidFill(ring(k.w, k.h, step*(1.5+float64(i)*1.25), step*0.42), on.tint, all))
	}
	return fills, k.partZones(all, on, k.parts, true, alignMiddle)
}

// edgeLayout has a bar of color at the left edge.
func (k *sceneBuilder) edgeLayout() ([]fill, []zone) {
	on, all := k.palette.field, k.bounds()
	bar, right := all, all
	bar.x1 = math.Round(max(4, k.scale.unit*0.022))
	right.x0 = bar.x1
	ground := k.backgroundFill(on)
	ground.to = on.tint
	return []fill{ground, solidFill(rectangle(bar), on.button, all)}, k.partZones(right, on, k.parts, false, alignSpread)
}

// tryLayout builds a scene with a layout. It returns nil if the parts do not
// fit with a headline of at least the given size.
func (k *sceneBuilder) tryLayout(l layout, least float64) *Scene {
	fills, zones := l.build(k)
	if zones == nil {
		return nil
	}
	s := &Scene{Layout: l.name, fills: fills}
	for _, z := range zones {
		floor := least
		if z.parts.headline.empty() {
			floor = k.scale.headMin
		}
		got := k.scale.arrangeLargest(z, k.scale.headMax, floor)
		if got == nil {
			return nil
		}
		s.addArrangement(got)
	}
	return s
}

func (s *Scene) addArrangement(got *arrangement) {
	s.fills = append(s.fills, got.fills...)
	s.texts = append(s.texts, got.texts...)
	if got.logo != nil {
		s.logo = got.logo
	}
}

// plainScene sets the headline and the button on a plain background, as large
// as possible. It shrinks them until they fit, so it always succeeds.
func (k *sceneBuilder) plainScene() *Scene {
	c, m := k.scale, min(k.scale.margin*0.6, 0.1*min(k.w, k.h))
	c.labelMin = legibleSize
	z := zone{area: k.safeArea.inset(m, m), surface: k.palette.field, parts: k.parts}
	head, flows := c.headMax, []bool{true, false}
	if c.breakWords = max(k.parts.headline.widestWord(), k.parts.label.widestWord()+2)*legibleSize > z.area.w(); c.breakWords {
		head, flows = legibleSize, flows[1:]
	}
	for ; ; head *= 0.955 {
		for _, z.row = range flows {
			if got := c.arrangeZone(z, head); got != nil {
				s := &Scene{Layout: "plain", fills: []fill{k.backgroundFill(k.palette.field)}}
				s.addArrangement(got)
				return s
			}
		}
	}
}
