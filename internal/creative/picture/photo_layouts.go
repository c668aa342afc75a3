package picture

import (
	"math"
	"slices"
)

// photoSideLayout has the photo beside the copy, without a margin between photo
// and edge.
func (k *sceneBuilder) photoSideLayout() *plan {
	if k.w/k.h <= 1.05 {
		return nil
	}
	photo, rest := k.sideRegion(0)
	return k.bleedPlan(photo, rest)
}

// photoTopLayout has the photo above the copy.
func (k *sceneBuilder) photoTopLayout() *plan {
	if k.w/k.h >= 1.3 {
		return nil
	}
	photo, rest := k.topRegion(0)
	return k.bleedPlan(photo, rest)
}

func (k *sceneBuilder) bleedPlan(photo, rest box) *plan {
	on := k.palette.field
	p := &plan{fills: append([]fill{k.backgroundFill(on)}, k.photoFills(photo, on)...)}
	k.placeBeside(p, photo, rest, on)
	return p
}

// photoCardLayout has the photo as a card with round corners on the color of the
// brand.
func (k *sceneBuilder) photoCardLayout() *plan {
	if k.isStrip() {
		return nil
	}
	m := math.Round(k.scale.margin * 0.8)
	on := k.palette.field
	photo, rest := k.sideRegion(m)
	if k.w/k.h <= 1.15 {
		photo, rest = k.topRegion(m)
	}
	p := &plan{fills: []fill{k.backgroundFill(on)}}
	for _, f := range k.photoFills(photo, on) {
		if f.role == RolePhoto && !k.photo.isolated() || f.role == "" {
			f.path = roundedRectangle(photo, k.scale.unit*0.035)
		}
		p.fills = append(p.fills, f)
	}
	k.placeBeside(p, photo, rest, on)
	return p
}

// topRegion divides the picture into an upper part for the photo, with a distance
// to the edges, and the rest.
func (k *sceneBuilder) topRegion(edge float64) (photo, rest box) {
	photo, rest = k.bounds(), k.bounds()
	share := 0.46
	if k.w/k.h >= 0.75 {
		share = 0.42
	}
	// In a picture for phones, the photo also fills the part that apps cover.
	top := k.safeArea.y0 * 0.6
	cut := math.Round(top + (k.safeArea.y1-top)*share)
	photo.y1, rest.y0 = cut, cut
	return box{photo.x0 + edge, photo.y0 + edge, photo.x1 - edge, photo.y1}, rest
}

// sideRegion divides the picture into a part at one side for the photo and the
// rest.
func (k *sceneBuilder) sideRegion(edge float64) (photo, rest box) {
	photo, rest = k.bounds(), k.bounds()
	aspect := k.w / k.h
	share := 0.47
	switch {
	case aspect >= 4.5:
		share = min(0.24, 1.5*k.h/k.w)
	case aspect >= 2.5:
		share = 0.34
	case aspect < 1.5:
		share = 0.41
	}
	if k.photoFirst || aspect >= 2.5 {
		photo.x1 = math.Round(k.w * share)
		rest.x0 = photo.x1
		return box{photo.x0 + edge, photo.y0 + edge, photo.x1, photo.y1 - edge}, rest
	}
	photo.x0 = math.Round(k.w * (1 - share))
	rest.x1 = photo.x0
	return box{photo.x0, photo.y0 + edge, photo.x1 - edge, photo.y1 - edge}, rest
}

// photoFills returns the photo in a box: cropped, or whole on its own ground if
// its subject is isolated.
func (k *sceneBuilder) photoFills(b box, on surface) []fill {
	if !k.photo.isolated() {
		p := k.photo.fillBox(b)
		return []fill{{path: rectangle(p.box), photo: &p, role: RolePhoto, box: p.box}}
	}
	ground := on.fill
	if k.photo.ground != nil {
		ground = *k.photo.ground
	}
	padding := 0.08 * min(b.w(), b.h())
	inside := b.inset(padding, padding)
	if b.y0 == 0 && k.safeArea.y0 > 0 {
		inside = inside.intersect(k.safeArea)
	}
	if s := k.newSticker(k.stickerDiameter(), on); s != nil {
		inside = k.besideSticker(inside, s.w)
	}
	p := k.photo.fitBox(inside)
	fills := []fill{solidFill(rectangle(b), ground, k.bounds())}
	if k.photo.cutOut {
		c := on.spot()
		at := circle((inside.x0+inside.x1)/2, (inside.y0+inside.y1)/2, 0.47*min(b.w(), inside.h()))
		fills = append(fills, fill{path: at, from: c, to: c, clip: b, role: RolePhoto, box: b})
	}
	return append(fills, fill{path: rectangle(p.box), photo: &p, role: RolePhoto, box: p.box})
}

// besideSticker returns the part of a box in which a subject is largest without
// the badge in the corner covering it.
func (k *sceneBuilder) besideSticker(b box, d float64) box {
	left, under := b, b
	left.x1 -= d * 0.86
	under.y0 += d * 0.7
	if l, u := k.photo.fitBox(left).box, k.photo.fitBox(under).box; left.w() > 0 && l.w() > u.w() {
		return left
	}
	return under
}

// placeBeside places the parts in the rest of a picture with a photo, and the
// badge on the photo.
func (k *sceneBuilder) placeBeside(p *plan, photo, rest box, on surface) {
	parts := k.parts
	if s := k.newSticker(k.stickerDiameter(), on); s != nil {
		s.at = k.stickerCorner(photo.intersect(k.safeArea), s.w)
		p.sticker, parts = s, parts.without(RoleOffer)
	}
	aspect := k.w / k.h
	if rest.y0 > 0 && aspect > 0.6 && parts.hasBrand() {
		if !parts.terms.empty() {
			var terms zone
			if terms, rest = k.termsZone(rest, on, parts); terms.parts.terms.empty() {
				return
			}
			p.zones = append(p.zones, terms)
		}
		foot, over := k.footZone(rest, on, parts)
		p.zones = append(p.zones, zone{area: k.contentArea(over), surface: on, parts: parts.without(RoleBrand, RoleLabel, RoleTerms)}, foot)
		return
	}
	align := alignMiddle
	if aspect < 0.6 {
		align = alignSpread
	}
	p.zones = k.partZones(rest, on, parts, aspect < 0.4, align)
}

// stickerCorner returns the corner of a photo where a badge hides least.
func (k *sceneBuilder) stickerCorner(photo box, d float64) box {
	m := math.Round(k.scale.margin * 0.45)
	inside := photo.inset(m, m)
	best, least := box{}, math.Inf(1)
	if k.photo.isolated() {
		return box{inside.x1 - d, inside.y0, inside.x1, inside.y0 + d}
	}
	for i, corner := range []box{
		{inside.x1 - d, inside.y0, inside.x1, inside.y0 + d}, {inside.x1 - d, inside.y1 - d, inside.x1, inside.y1},
		{inside.x0, inside.y0, inside.x0 + d, inside.y0 + d}, {inside.x0, inside.y1 - d, inside.x0 + d, inside.y1},
	} {
		hidden := k.photo.weights.share(true, (corner.x0-photo.x0)/photo.w(), (corner.x1-photo.x0)/photo.w()) *
			k.photo.weights.share(false, (corner.y0-photo.y0)/photo.h(), (corner.y1-photo.y0)/photo.h())
		// Readers expect a badge at the top right.
		if hidden += 0.01 * float64(i); hidden < least {
			best, least = corner, hidden
		}
	}
	return best
}

// photoFullLayout has the photo everywhere, under a veil where texts are.
func (k *sceneBuilder) photoFullLayout() *plan {
	if k.w/k.h > 2.2 || k.w/k.h < 0.4 || min(k.w, k.h) < 240 || k.photo.isolated() || k.w/k.h >= 1.4 && !k.photo.isFreeAtStart() {
		return nil
	}
	on := k.veilSurface()
	all := k.bounds()
	shown := k.photo.fillBox(all)
	p := &plan{fills: []fill{{path: rectangle(all), photo: &shown, role: RolePhoto, box: all}}}
	if k.w/k.h >= 1.4 {
		part := all
		part.x1 = math.Round(k.w * 0.58)
		p.zones = []zone{{area: k.contentArea(part), surface: on, parts: k.parts, align: alignBottom}}
		v := k.veilFill(on, &veil{across: true, clear: k.w * 0.95, full: part.x1})
		p.fills = append(p.fills, v)
		p.finish = func(s *Scene) {
			right := 0.0
			for _, t := range s.texts {
				if t.role != RoleOffer {
					right = max(right, t.box.x1)
				}
			}
			v.veil.full = right + k.scale.margin*0.5
			v.veil.clear = min(k.w*1.05, v.veil.full+k.w*0.35)
		}
	} else {
		k.bottomVeil(p, on)
	}
	if s := k.newSticker(k.stickerDiameter(), on); s != nil {
		area := k.contentArea(all)
		s.at = box{area.x1 - s.w, area.y0, area.x1, area.y0 + s.h}
		p.sticker = s
		for i := range p.zones {
			p.zones[i].parts = p.zones[i].parts.without(RoleOffer)
			if p.zones[i].area.y0 < s.at.y1 {
				p.zones[i].area.x1 = min(p.zones[i].area.x1, s.at.x0-k.scale.margin*0.5)
			}
		}
	}
	return p
}

// bottomVeil places all parts at the bottom of a photo, on a veil.
func (k *sceneBuilder) bottomVeil(p *plan, on surface) {
	low := k.contentArea(k.bounds())
	low.y0 = math.Round(low.y0 + low.h()*0.4)
	v := k.veilFill(on, &veil{clear: 0, full: low.y0})
	p.fills = append(p.fills, v)
	p.zones = append(p.zones, zone{area: low, surface: on, parts: k.parts, align: alignDown})
	p.finish = func(s *Scene) {
		top := k.h
		for _, t := range s.texts {
			if t.role != RoleOffer || p.sticker == nil {
				top = min(top, t.box.y0)
			}
		}
		if s.logo != nil {
			top = min(top, s.logo.box.y0)
		}
		v.veil.full = top - k.scale.margin*0.25
		v.veil.clear = v.veil.full - k.h*0.22
	}
}

func (k *sceneBuilder) veilFill(on surface, v *veil) fill {
	v.alpha = veilAlpha(on.veil, on.ink)
	return fill{path: rectangle(k.bounds()), from: on.veil, to: on.veil, veil: v, clip: k.bounds()}
}

// veilSurface returns the colors of texts on a veil: its darkness has the hue of
// the brand.
func (k *sceneBuilder) veilSurface() surface {
	tone := k.palette.field.fill.lch()
	dark := lch{0.16, min(tone.c*0.5, 0.045), tone.h}.rgb()
	colors := []rgb{k.palette.field.fill, k.palette.panel.fill, k.palette.field.button, k.palette.field.offer}
	colors = slices.DeleteFunc(colors, func(c rgb) bool { return c.lch().l < 0.62 })
	s := newSurface(dark, colors)
	s.veil = dark
	s.muted, s.accent = s.ink, s.ink
	s.fill = mix(white, dark, veilAlpha(dark, s.ink))
	s.tint, s.onPhoto = s.fill, true
	return s
}
