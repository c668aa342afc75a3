package picture

// compose tries layouts in the order that the seed gives, and returns the first
// in which everything fits at a good size. If none does, it omits parts, the
// least important first, before it makes the headline small.
func (k *sceneBuilder) compose() *Scene {
	choices := k.partChoices()
	good := []float64{k.comfortableHeadSize(), k.scale.headMin}
	small := []float64{k.scale.headMin * 0.75, k.scale.headMinLongWord()}
	for i, leasts := range [][]float64{good, small} {
		for _, p := range choices {
			if i > 0 && !p.body.empty() {
				continue
			}
			if s := k.composeParts(p, leasts); s != nil {
				return s
			}
		}
	}
	if k.photo != nil {
		k.photo = nil
		return k.compose()
	}
	k.parts = k.whole.only(RoleHeadline, RoleLabel)
	return k.plainScene()
}

// composeParts returns a scene with certain parts, nil if they do not fit.
func (k *sceneBuilder) composeParts(p adParts, leasts []float64) *Scene {
	k.parts = p
	for _, least := range leasts {
		for _, k.forceColumn = range []bool{false, true} {
			if k.photo != nil {
				k.typeOnly = false
				if s := k.firstFitting(k.photoOrder, least); s != nil {
					return s
				}
			}
			if k.photo == nil || k.dropsPhoto() {
				k.typeOnly = true
				if s := k.firstFitting(k.typeOrder, least); s != nil {
					return s
				}
			}
		}
	}
	return nil
}

func (k *sceneBuilder) firstFitting(order []layout, least float64) *Scene {
	for _, l := range order {
		if s := k.tryLayout(l, least); s != nil {
			return s
		}
	}
	return nil
}

// dropsPhoto reports whether a picture is so small that other parts are more
// important than the photo.
func (k *sceneBuilder) dropsPhoto() bool { return min(k.w, k.h) < 80 }

// partChoices returns the sets of parts to try, the most complete first.
//
// Choice: an offer or a price says more than a sentence. In small pictures the
// body gives way to them.
func (k *sceneBuilder) partChoices() (list []adParts) {
	all := k.whole
	if !k.roomForBody() || (!all.offer.empty() || !all.price.empty()) && min(k.w, k.h) < 320 {
		all = all.without(RoleBody)
	}
	if !k.roomForBrand() {
		all = all.without(RoleBrand)
	}
	if all.offer.empty() && all.price.empty() {
		all = all.without(RoleTerms)
	}
	add := func(p adParts) {
		// Terms without what they are about, or the other way round, mislead.
		if !k.whole.terms.empty() && p.terms.empty() {
			p = p.without(RoleOffer, RolePrice)
		}
		list = append(list, p)
	}
	add(all)
	short := all.without(RoleBody)
	if !all.body.empty() {
		add(short)
	}
	if !all.price.empty() && !all.offer.empty() {
		add(short.without(RoleOffer))
		add(short.without(RolePrice))
	}
	if all.hasBrand() && (!all.price.empty() || !all.offer.empty()) {
		add(short.without(RoleBrand))
	}
	if !all.price.empty() || !all.offer.empty() {
		add(short.without(RoleOffer, RolePrice, RoleTerms))
	}
	add(all.only(RoleHeadline, RoleLabel))
	return list
}

// tryLayout builds a scene with a layout. It returns nil if the parts do not
// fit into its zones.
func (k *sceneBuilder) tryLayout(l layout, least float64) *Scene {
	p := l.build(k)
	if p == nil || len(p.zones) == 0 {
		return nil
	}
	s := &Scene{Layout: l.name, fills: p.fills}
	for _, z := range p.zones {
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
	if p.sticker != nil {
		got := &arrangement{}
		p.sticker.place(p.sticker.at, p.sticker.surface, got)
		s.addArrangement(got)
	}
	if p.finish != nil {
		p.finish(s)
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
