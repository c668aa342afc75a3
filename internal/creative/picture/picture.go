// Package picture draws display ads. Draw lays out an ad as a scene: shapes,
// a photo, words and a logo with their positions. PNG, JPEG and SVG are drawn
// from the same scene, so they look the same. The package does not know where
// texts, colors and images come from, and uses no clock or network: the same ad
// with the same fonts always returns the same bytes.
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
	// completely. The other texts are optional, and omitted if they do not fit.
	Headline, Body, CallToAction, Brand string
	// Offer is drawn as a badge, Price larger than other text.
	Offer Offer
	Price Price
	// Terms are the conditions of offer and price. If they do not fit, neither
	// is drawn.
	Terms string
	// Colors are #rrggbb, the main color first. Invalid ones are ignored;
	// without a valid one, the picture has default colors.
	Colors []string
	// Typefaces are the families; unknown names are those of Inter.
	Typefaces Typefaces
	// Fonts are for characters that the embedded families lack, nil for none.
	Fonts *Fonts
	// Logo and Photo are nil for none.
	Logo          image.Image
	Photo         *Photo
	Width, Height int
	// Seed chooses among layouts and palettes.
	Seed int64
}

// Offer is a short offer. Main is drawn large, as "20%" of "up to 20% off".
type Offer struct{ Before, Main, After string }

// Text returns the whole offer.
func (o Offer) Text() string { return joinTexts(" ", o.Before, o.Main, o.After) }

// Price is a price with what belongs to it, as "from $9 a month", and the price
// before, which is struck through.
type Price struct{ Before, Amount, After, Previous string }

// Text returns the price without the previous one.
func (p Price) Text() string { return joinTexts(" ", p.Before, p.Amount, p.After) }

func joinTexts(between string, list ...string) string {
	var kept []string
	for _, s := range list {
		if s = strings.Join(splitWords(s), " "); s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, between)
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
	RoleOffer    Role = "offer"
	RolePrice    Role = "price"
	RoleTerms    Role = "terms"
	RolePhoto    Role = "photo"
)

// Scene is an ad with all parts placed. Drawing does not change it, and it is
// safe for concurrent use.
type Scene struct {
	Width, Height int
	// Layout is the name of the chosen layout.
	Layout string
	// Omitted are the parts of the ad that the picture does not show. The brand
	// is omitted beside a logo that is a word mark.
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
	// photo is drawn inside the path instead of a color.
	photo *photoBox
	// veil makes the color transparent toward one side.
	veil *veil
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
	// strike is a line through the text.
	strike *box
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
	rtl := readsRightToLeft(a.Headline)
	all, err := measureParts(a, rtl)
	if err != nil {
		return nil, err
	}
	if all.headline.empty() || all.label.empty() {
		return nil, fmt.Errorf("%w: a headline and a call to action are needed", ErrAd)
	}
	k := newSceneBuilder(a, all)
	s := k.compose()
	s.Width, s.Height = a.Width, a.Height
	if rtl {
		s.mirror()
	}
	s.title = strings.Join(splitWords(a.Headline), " ")
	s.desc = describeAd(a)
	s.Omitted = s.omittedParts(a)
	return s, nil
}

// describeAd returns the texts of the picture, for people who cannot see it.
func describeAd(a Ad) string {
	var list []string
	for _, s := range []string{a.Brand, a.Headline, a.Offer.Text(), a.Price.Text(), a.Body, a.CallToAction, a.Terms} {
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
	for _, part := range []struct {
		role Role
		text string
	}{{RoleBody, a.Body}, {RoleBrand, a.Brand}, {RoleOffer, a.Offer.Text()}, {RolePrice, a.Price.Text()}, {RoleTerms, a.Terms}} {
		if len(splitWords(part.text)) > 0 && !has(part.role) {
			list = append(list, string(part.role))
		}
	}
	if a.Logo != nil && s.logo == nil {
		list = append(list, string(RoleLogo))
	}
	if a.Photo != nil && !slices.ContainsFunc(s.fills, func(f fill) bool { return f.photo != nil }) {
		list = append(list, string(RolePhoto))
	}
	return list
}

// mirror turns the scene around for a language that is read from right to left.
// Words and images keep their own direction.
func (s *Scene) mirror() {
	w := float64(s.Width)
	turn := func(b box) box { return box{w - b.x1, b.y0, w - b.x0, b.y1} }
	for i := range s.fills {
		f := &s.fills[i]
		f.path = f.path.mirror(w)
		f.box = turn(f.box)
		if f.clip != (box{}) {
			f.clip = turn(f.clip)
		}
		if f.photo != nil {
			f.photo.box = turn(f.photo.box)
		}
		if f.veil != nil {
			f.veil.mirror(w)
		}
	}
	for i := range s.texts {
		t := &s.texts[i]
		t.box = turn(t.box)
		if t.strike != nil {
			*t.strike = turn(*t.strike)
		}
		for j := range t.words {
			t.words[j].x = w - t.words[j].x - t.words[j].width*t.size
			// Letters that reach over the edge of their word do so on the same
			// side as before.
			word := t.words[j]
			t.box = t.box.union(word.inkBounds().scale(t.size).shift(word.x, word.y))
		}
	}
	if s.logo != nil {
		s.logo.box = turn(s.logo.box)
	}
}
