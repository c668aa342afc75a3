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
	safeArea box
	palette  palette
	// whole has all parts, parts those that the picture is tried with.
	whole, parts adParts
	photo        *Photo
	// photoFirst places a photo on the side where reading starts.
	photoFirst bool
	// typeOnly reports that a layout without the photo is tried.
	typeOnly              bool
	photoOrder, typeOrder []layout
	// forceColumn places parts below each other even in a wide picture.
	forceColumn bool
}

// layout builds the background of a picture and the zones for its parts. It
// returns nil if it does not suit the picture.
type layout struct {
	name  string
	build func(k *sceneBuilder) *plan
}

// plan is a layout for one picture.
type plan struct {
	fills []fill
	zones []zone
	// sticker is the round badge of the offer, nil for none. The zones then do
	// not have the offer.
	sticker *sticker
	// finish, if set, adapts the background to where the texts are.
	finish func(s *Scene)
}

type sticker struct {
	*block
	at      box
	surface surface
}

// typeLayouts are for ads without a photo, photoLayouts for ads with one.
var (
	typeLayouts = []layout{
		{"circle", (*sceneBuilder).circleLayout},
		{"diagonal", (*sceneBuilder).diagonalLayout},
		{"band", (*sceneBuilder).bandLayout},
		{"frame", (*sceneBuilder).frameLayout},
		{"split", (*sceneBuilder).splitLayout},
		{"rings", (*sceneBuilder).ringsLayout},
		{"edge", (*sceneBuilder).edgeLayout},
	}
	photoLayouts = []layout{
		{"photo side", (*sceneBuilder).photoSideLayout},
		{"photo full", (*sceneBuilder).photoFullLayout},
		{"photo top", (*sceneBuilder).photoTopLayout},
		{"photo card", (*sceneBuilder).photoCardLayout},
	}
)

func newSceneBuilder(a Ad, p adParts) *sceneBuilder {
	k := &sceneBuilder{w: float64(a.Width), h: float64(a.Height), whole: p, parts: p, photo: a.Photo}
	k.safeArea = box{0, 0, k.w, k.h}
	// Choice: a picture of 9:16 fills a phone, where the app covers 250 of 1920
	// pixels at the top and at the bottom.
	if math.Abs(k.h/k.w-16.0/9) < 0.06 && k.w >= 360 {
		k.safeArea = k.safeArea.inset(0, math.Ceil(k.h*250/1920))
	}
	// Choice: successive seeds differ in layout and colors, so that the
	// variants of one ad do. One seed gives the same style in every size.
	seed := uint64(a.Seed)
	pick := func(n uint64, of int) int { return int(n % uint64(of)) }
	colors := parseColors(a.Colors)
	if len(colors) == 0 {
		colors = parseColors(DefaultColors(a.Seed))
	}
	layouts := typeLayouts
	if k.photo != nil {
		layouts = photoLayouts
	}
	count := uint64(len(layouts))
	list := palettes(colors)
	k.palette = list[pick(seed+seed/count, len(list))]
	first := pick(seed, len(layouts))
	k.photoOrder = slices.Concat(photoLayouts[first%len(photoLayouts):], photoLayouts[:first%len(photoLayouts)])
	first = pick(seed, len(typeLayouts))
	k.typeOrder = slices.Concat(typeLayouts[first:], typeLayouts[:first])
	k.scale = newScale(k.w, k.h)
	k.scale.radius = []float64{0.5, 0.22}[pick(seed/count, 2)]
	k.photoFirst = pick(seed/2, 2) == 0
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
