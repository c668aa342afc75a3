// Package picture draws display ads. Draw lays out an ad as a scene: shapes,
// words and a logo with their positions. PNG and SVG are drawn from the same
// scene, so they look the same. The package does not know where texts, colors
// and logos come from, and uses no clock, disk or network: the same ad always
// returns the same bytes.
package picture

import (
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
)

// Limits of a picture's sides in pixels.
const (
	MinSide = 50
	MaxSide = 4096
)

// ErrScript is returned if the fonts cannot draw a text. The error that wraps
// it names the first such character.
var ErrScript = errors.New("unsupported script")

// ErrAd is returned if the size is invalid or a required text is missing.
var ErrAd = errors.New("invalid ad")

// Ad is the content of a picture.
type Ad struct {
	// Headline and CallToAction, the label of the button, are always drawn
	// completely. Body and Brand are optional, and omitted if they do not fit.
	Headline, Body, CallToAction, Brand string
	// Colors are #rrggbb, the main color first. Invalid ones are ignored;
	// without a valid one, the picture has default colors.
	Colors []string
	// Logo is nil for none.
	Logo          image.Image
	Width, Height int
	// Seed chooses among layouts and palettes.
	Seed int64
}

// Role is the purpose of a part of a scene.
type Role string

// Roles of the parts of a scene.
const (
	RoleHeadline Role = "headline"
	RoleBody     Role = "body"
	RoleBrand    Role = "brand"
	RoleLabel    Role = "label"
	RoleButton   Role = "button"
	RoleLogo     Role = "logo"
)

// Scene is an ad with all parts placed. Drawing does not change it, and it is
// safe for concurrent use.
type Scene struct {
	Width, Height int
	// Layout is the name of the chosen layout.
	Layout string
	// Omitted are the parts of the ad that the picture does not show: body,
	// brand or logo. The brand is omitted beside a logo that is a word mark.
	Omitted []string

	title, desc string
	fills       []fill
	texts       []textBox
	logo        *logoBox
}

// fill is a shape in one color, or in a gradient between two corners of its
// box.
type fill struct {
	path     path
	from, to rgb
	// clip limits drawing to a part of the picture.
	clip box
	// role and box are set unless the shape is decoration.
	role Role
	box  box
}

// textBox is a text with all its words placed.
type textBox struct {
	role  Role
	box   box
	size  float64
	ink   rgb
	words []placedWord
}

// placedWord starts at x on the base line y.
type placedWord struct {
	word
	x, y float64
}

type logoBox struct {
	image *logoImage
	box   box
}

// Draw lays out an ad. Its error wraps ErrScript if no font has a character of
// the ad, and ErrAd if the ad is invalid.
func Draw(a Ad) (*Scene, error) {
	if min(a.Width, a.Height) < MinSide || max(a.Width, a.Height) > MaxSide {
		return nil, fmt.Errorf("%w: %dx%d pixels; each side is from %d to %d", ErrAd, a.Width, a.Height, MinSide, MaxSide)
	}
	all, err := measureParts(a)
	if err != nil {
		return nil, err
	}
	if all.headline.empty() || all.label.empty() {
		return nil, fmt.Errorf("%w: a headline and a call to action are needed", ErrAd)
	}
	k := newSceneBuilder(a, all)
	s := k.compose()
	s.Width, s.Height = a.Width, a.Height
	s.title = strings.Join(splitWords(a.Headline), " ")
	s.desc = describeAd(a)
	s.Omitted = s.omittedParts(a)
	return s, nil
}

func measureParts(a Ad) (adParts, error) {
	p := adParts{logo: readLogo(a.Logo)}
	for _, part := range []struct {
		name           string
		to             *text
		face           *typeface
		words          string
		tracking, lead float64
	}{
		{"headline", &p.headline, bold(), a.Headline, -0.018, 1.14},
		{"body", &p.body, medium(), a.Body, 0, 1.42},
		{"call to action", &p.label, bold(), a.CallToAction, 0, 1.2},
		{"brand", &p.brand, bold(), a.Brand, 0, 1.2},
	} {
		t, err := measureText(part.face, part.words, part.tracking, part.lead)
		if err != nil {
			return adParts{}, fmt.Errorf("set %s: %w", part.name, err)
		}
		*part.to = t
	}
	return p, nil
}

// describeAd returns the texts of the picture, for people who cannot see it.
func describeAd(a Ad) string {
	var list []string
	for _, s := range []string{a.Brand, a.Headline, a.Body, a.CallToAction} {
		if s = strings.Join(splitWords(s), " "); s != "" {
			list = append(list, strings.TrimRight(s, "."))
		}
	}
	return strings.Join(list, ". ") + "."
}

func (s *Scene) omittedParts(a Ad) []string {
	has := func(r Role) bool {
		return slices.ContainsFunc(s.texts, func(t textBox) bool { return t.role == r })
	}
	var list []string
	if len(splitWords(a.Body)) > 0 && !has(RoleBody) {
		list = append(list, string(RoleBody))
	}
	if len(splitWords(a.Brand)) > 0 && !has(RoleBrand) {
		list = append(list, string(RoleBrand))
	}
	if a.Logo != nil && s.logo == nil {
		list = append(list, string(RoleLogo))
	}
	return list
}

// compose tries layouts in the order that the seed gives, and returns the first
// in which everything fits at a good size. If none does, it omits the body,
// then the brand.
func (k *sceneBuilder) compose() *Scene {
	for _, p := range k.partChoices() {
		k.parts = p
		leasts := []float64{k.comfortableHeadSize(), k.scale.headMin}
		if p.body.empty() {
			leasts = append(leasts, k.scale.headMin*0.75, k.scale.headMinLongWord())
		}
		for _, least := range leasts {
			for _, k.forceColumn = range []bool{false, true} {
				for _, l := range k.layoutOrder {
					if s := k.tryLayout(l, least); s != nil {
						return s
					}
				}
			}
		}
	}
	return k.plainScene()
}

// partChoices returns the sets of parts to try, the most complete first.
func (k *sceneBuilder) partChoices() (list []adParts) {
	if k.roomForBody() {
		list = append(list, k.parts)
	}
	if k.roomForBrand() {
		p := k.parts
		p.body = noText
		list = append(list, p)
	}
	return append(list, adParts{headline: k.parts.headline, label: k.parts.label})
}
