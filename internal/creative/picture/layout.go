package picture

import (
	"math"
	"slices"
)

// kit is everything a layout chooses from.
type kit struct {
	w, h  float64
	scale scale
	// safe is the part of the picture that apps do not cover.
	safe  box
	pal   palette
	parts parts
	order []layout
	// stacked sets parts below each other even in a wide picture.
	stacked bool
}

// layout makes the ground of a picture and the zones for its parts.
type layout struct {
	name string
	make func(k *kit) ([]fill, []zone)
}

var layouts = []layout{
	{"circle", (*kit).circle},
	{"diagonal", (*kit).diagonal},
	{"band", (*kit).band},
	{"frame", (*kit).frame},
	{"split", (*kit).split},
	{"rings", (*kit).rings},
	{"edge", (*kit).edge},
}

func newKit(a Ad, p parts) *kit {
	k := &kit{w: float64(a.Width), h: float64(a.Height), parts: p}
	k.safe = box{0, 0, k.w, k.h}
	// Choice: a picture of 9:16 fills a phone, where the app covers 250 of
	// 1920 pixels at the top and at the bottom.
	if math.Abs(k.h/k.w-16.0/9) < 0.06 && k.w >= 360 {
		k.safe = k.safe.inset(0, math.Ceil(k.h*250/1920))
	}
	// Choice: neighbouring seeds differ in layout and colours, so that the
	// variants of one ad do; one seed gives the same style in every size.
	seed := uint64(a.Seed)
	pick := func(n, of uint64) int { return int(n % of) }
	colors := colorsOf(a.Colors)
	if len(colors) == 0 {
		colors = houseColors[pick(seed+seed/8, uint64(len(houseColors)))]
	}
	count := uint64(len(layouts))
	list := palettes(colors)
	k.pal = list[pick(seed+seed/count, uint64(len(list)))]
	first := pick(seed, count)
	k.order = slices.Concat(layouts[first:], layouts[:first])
	k.scale = newScale(k.w, k.h)
	k.scale.radius = []float64{0.5, 0.22}[pick(seed/count, 2)]
	return k
}

// comfort is the least size of a headline that makes one look.
func (k *kit) comfort() float64 { return max(k.scale.headMin, k.scale.unit*0.058) }

// Choice: what is smaller than 728x90 shows no body, and what is smaller than
// 320x100 neither logo nor brand: less is read sooner.
func (k *kit) roomForBody() bool  { return k.w*k.h >= 45000 && min(k.w, k.h) >= 80 }
func (k *kit) roomForBrand() bool { return k.w*k.h >= 24000 }

func (k *kit) wide() bool  { return k.w/k.h >= 2.5 && !k.stacked }
func (k *kit) strip() bool { return k.wide() && k.w/k.h >= 4.5 }
func (k *kit) all() box    { return box{0, 0, k.w, k.h} }

func (k *kit) branded() bool { return k.parts.logo != nil || !k.parts.brand.empty() }

// ground fills the picture.
func (k *kit) ground(s surface) fill { return solid(rectangle(k.all()), s.fill, k.all()) }

func solid(p path, c rgb, clip box) fill { return fill{path: p, from: c, to: c, clip: clip} }

// content is the area for parts inside a box: within the margin and the safe
// part of the picture.
func (k *kit) content(b box) box {
	m := k.scale.margin
	if k.strip() {
		return b.inset(m, m*0.6)
	}
	return b.inset(m, m).intersect(k.safe.inset(0, m/2))
}

// zones sets all parts in a box, in the way that suits its shape.
func (k *kit) zones(b box, on surface, p parts, centered bool, r rest) []zone {
	area := k.content(b)
	switch {
	case k.strip():
		return []zone{{area: area, on: on, row: true, parts: p}}
	case k.wide() && !p.label.empty():
		text, action := p, parts{label: p.label}
		text.label = none
		left, right := area, area
		right.x0 = area.x1 - min(k.buttonWidth(), area.w()*0.42)
		left.x1 = right.x0 - k.scale.margin
		return []zone{{area: left, on: on, parts: text, rest: restMiddle}, {area: right, on: on, parts: action, row: true}}
	}
	return []zone{{area: area, on: on, parts: p, centered: centered, rest: r}}
}

// buttonWidth is how wide the button would like to be.
func (k *kit) buttonWidth() float64 {
	return math.Ceil((k.parts.label.width() + 2.8) * k.scale.sizes(k.scale.headMax).label)
}

// circle has large soft circles that leave the picture at a corner.
func (k *kit) circle() ([]fill, []zone) {
	on, all, r := k.pal.field, k.all(), 0.46*math.Hypot(k.w, k.h)
	if k.wide() {
		r = k.h * 1.05
	}
	return []fill{
		k.ground(on),
		solid(circle(k.w*0.98, k.h*0.04, r), mix(on.fill, on.tint, 0.55), all),
		solid(circle(k.w*0.98, k.h*0.04, r*0.62), on.tint, all),
	}, k.zones(all, on, k.parts, false, restBottom)
}

// diagonal has a slanted field on the right.
func (k *kit) diagonal() ([]fill, []zone) {
	on, all := k.pal.field, k.all()
	slant := min(k.h*0.35, k.w*0.35)
	x, y := k.w*0.62, k.h*0.64
	part := polygon(point{x + slant/2, 0}, point{k.w, 0}, point{k.w, k.h}, point{x - slant/2, k.h})
	if k.w < 0.9*k.h {
		part = polygon(point{0, y + slant/2}, point{k.w, y - slant/2}, point{k.w, k.h}, point{0, k.h})
	}
	return []fill{k.ground(on), solid(part, on.tint, all)}, k.zones(all, on, k.parts, false, restMiddle)
}

// band has a foot in another colour, with the brand and the button.
func (k *kit) band() ([]fill, []zone) {
	field, panel, all := k.pal.field, k.pal.panel, k.all()
	text, foot := k.parts, parts{label: k.parts.label}
	text.label = none
	top, bottom := all, all
	if k.wide() {
		cut := math.Round(k.w - min(max(k.buttonWidth()+2*k.scale.margin, 0.24*k.w), 0.45*k.w))
		top.x1, bottom.x0 = cut, cut
		zones := []zone{{area: k.content(top), on: field, parts: text, row: k.strip()}}
		return []fill{k.ground(field), solid(rectangle(bottom), panel.fill, all)},
			append(zones, zone{area: bottom.inset(k.scale.margin*0.8, k.scale.margin*0.5), on: panel, parts: foot, centered: true})
	}
	size := k.scale.sizes(k.scale.headMax).label
	cut := math.Round(k.safe.y1 - size*2.7 - k.scale.margin*1.5)
	top.y1, bottom.y0 = cut, cut
	under := bottom.intersect(k.safe).inset(k.scale.margin, k.scale.margin*0.5)
	side := k.w/k.h > 0.6 && k.branded()
	if side {
		foot.brand, foot.logo = text.brand, text.logo
		text.brand, text.logo = none, nil
	}
	return []fill{k.ground(field), solid(rectangle(bottom), panel.fill, all)}, []zone{
		{area: k.content(top), on: field, parts: text, rest: restMiddle},
		{area: under, on: panel, parts: foot, row: side},
	}
}

// frame is a card on a field of colour.
func (k *kit) frame() ([]fill, []zone) {
	on, all := k.pal.field, k.all()
	edge := math.Round(k.scale.margin * 0.55)
	if k.strip() {
		edge = math.Round(k.scale.margin * 0.3)
	}
	card := all.inset(edge, edge)
	return []fill{
		k.ground(k.pal.panel),
		solid(rounded(card, k.scale.unit*0.03), on.fill, all),
	}, k.zones(card, on, k.parts, true, restMiddle)
}

// split gives the brand a panel of its own.
func (k *kit) split() ([]fill, []zone) {
	if !k.branded() {
		return nil, nil
	}
	field, panel, all := k.pal.field, k.pal.panel, k.all()
	text, side := k.parts, parts{brand: k.parts.brand, logo: k.parts.logo}
	text.brand, text.logo = none, nil
	left, right := all, all
	beside := k.w/k.h >= 1.4
	switch {
	case beside:
		share := 0.36
		if k.wide() {
			share = 0.22
		}
		left.x1 = math.Round(k.w * share)
		right.x0 = left.x1
	default:
		left.y1 = math.Round(k.safe.y0 + k.safe.h()*0.3)
		right.y0 = left.y1
	}
	spot := circle(left.x1, left.y1, 0.75*min(left.w(), left.h()))
	fills := []fill{k.ground(field), solid(rectangle(left), panel.fill, all), solid(spot, panel.tint, left)}
	lone := zone{area: left.intersect(k.safe).inset(k.scale.margin, k.scale.margin*0.6), on: panel, parts: side, centered: beside}
	if k.strip() {
		lone.area = left.inset(k.scale.margin*0.5, k.scale.margin*0.5)
	}
	return fills, append(k.zones(right, field, text, false, restMiddle), lone)
}

// rings are thin circles around a far centre, with everything in the middle.
func (k *kit) rings() ([]fill, []zone) {
	on, all := k.pal.field, k.all()
	fills := []fill{k.ground(on)}
	step := k.scale.unit * 0.13
	for i := range 5 {
		fills = append(fills, solid(ring(k.w, k.h, step*(1.5+float64(i)*1.25), step*0.42), on.tint, all))
	}
	return fills, k.zones(all, on, k.parts, true, restMiddle)
}

// edge has a bar of colour at the left and nothing else.
func (k *kit) edge() ([]fill, []zone) {
	on, all := k.pal.field, k.all()
	bar, right := all, all
	bar.x1 = math.Round(max(4, k.scale.unit*0.022))
	right.x0 = bar.x1
	ground := k.ground(on)
	ground.to = on.tint
	return []fill{ground, solid(rectangle(bar), on.button, all)}, k.zones(right, on, k.parts, false, restEnds)
}

// try makes a scene with a layout, nil if its headline would be smaller than
// least.
func (k *kit) try(l layout, least float64) *Scene {
	fills, zones := l.make(k)
	if zones == nil {
		return nil
	}
	s := &Scene{Layout: l.name, fills: fills}
	for _, z := range zones {
		floor := least
		if z.parts.headline.empty() {
			floor = k.scale.headMin
		}
		got := k.scale.largest(z, k.scale.headMax, floor)
		if got == nil {
			return nil
		}
		s.add(got)
	}
	return s
}

func (s *Scene) add(got *setting) {
	s.fills = append(s.fills, got.fills...)
	s.texts = append(s.texts, got.texts...)
	if got.logo != nil {
		s.logo = got.logo
	}
}

// force sets the headline and the button on a plain ground as large as they
// go. It shrinks without end, so it always succeeds.
func (k *kit) force() *Scene {
	c, m := k.scale, min(k.scale.margin*0.6, 0.1*min(k.w, k.h))
	c.labelMin = legible
	z := zone{area: k.safe.inset(m, m), on: k.pal.field, parts: k.parts}
	head, flows := c.headMax, []bool{true, false}
	if c.cut = max(k.parts.headline.longest(), k.parts.label.longest()+2)*legible > z.area.w(); c.cut {
		head, flows = legible, flows[1:]
	}
	for ; ; head *= 0.955 {
		for _, z.row = range flows {
			if got := c.arrange(z, head); got != nil {
				s := &Scene{Layout: "plain", fills: []fill{k.ground(k.pal.field)}}
				s.add(got)
				return s
			}
		}
	}
}
