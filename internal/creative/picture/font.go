package picture

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/harfbuzz"
)

// capHeight is the height of an H in em, which readers perceive as the height
// of a line. All fonts are scaled to it, so that one size looks alike in each.
const capHeight = 0.727

// typeface is a parsed font. It is safe for concurrent use.
type typeface struct {
	// em is the number of font units in an em of ours.
	em      float64
	covers  func(rune) bool
	shapers sync.Pool
	// glyphs has at most one entry per glyph of the font.
	glyphs sync.Map
}

type shaper struct {
	face *font.Face
	font *harfbuzz.Font
	buf  *harfbuzz.Buffer
}

// glyph is an outline in em, with y downwards from the base line.
type glyph struct {
	outline path
	bounds  box
}

// parseFont parses an embedded font. It panics if the font is invalid, which
// tests rule out.
func parseFont(ttf []byte) *typeface {
	face, err := font.ParseTTF(bytes.NewReader(ttf))
	if err != nil {
		panic(fmt.Sprintf("parse embedded font: %v", err))
	}
	return newTypeface(face)
}

func newTypeface(face *font.Face) *typeface {
	t := &typeface{em: float64(face.Upem())}
	t.covers = func(r rune) bool {
		_, ok := face.NominalGlyph(r)
		return ok
	}
	t.shapers.New = func() any {
		own := font.NewFace(face.Font)
		return &shaper{face: own, font: harfbuzz.NewFont(own), buf: harfbuzz.NewBuffer()}
	}
	// Choice: a font without an H, such as one for Arabic alone, has the size
	// that its maker gave it.
	if id, ok := face.NominalGlyph('H'); ok {
		if outline, ok := face.GlyphDataOutline(id); ok {
			top := 0.0
			for _, s := range outline.Segments {
				for _, a := range s.Args[:op(s.Op).points()] {
					top = max(top, float64(a.Y))
				}
			}
			if top > 0 {
				t.em = top / capHeight
			}
		}
	}
	return t
}

// placedGlyph is a glyph of a word with its offset from the word's left edge,
// in em.
type placedGlyph struct {
	*glyph
	x, y float64
}

// word is a piece of text that a line break does not split.
type word struct {
	text   string
	glyphs []placedGlyph
	// width is in em.
	width float64
	// joined reports that no space is before the word, as between the signs of
	// Chinese.
	joined bool
	// against reports that the word is read in the other direction than the
	// picture.
	against bool
}

// errGlyph is returned if a font has no outline for a text.
var errGlyph = errors.New("no glyph")

// appendRun converts a run of characters of one direction to glyphs at the end
// of a word.
func (t *typeface) appendRun(w *word, run []rune, rtl bool, tracking float64) error {
	s := t.shapers.Get().(*shaper)
	defer t.shapers.Put(s)
	s.buf.Clear()
	s.buf.AddRunes(run, 0, -1)
	s.buf.GuessSegmentProperties()
	s.buf.Props.Direction = harfbuzz.LeftToRight
	if rtl {
		s.buf.Props.Direction = harfbuzz.RightToLeft
	}
	s.buf.Shape(s.font, nil)
	last := -1
	for i, info := range s.buf.Info {
		if info.Glyph == 0 {
			return errGlyph
		}
		if info.Cluster != last && last >= 0 {
			w.width += tracking
		}
		last = info.Cluster
		at := s.buf.Pos[i]
		w.glyphs = append(w.glyphs, placedGlyph{
			glyph: t.glyph(s.face, info.Glyph), x: w.width + float64(at.XOffset)/t.em, y: -float64(at.YOffset) / t.em,
		})
		w.width += float64(at.XAdvance) / t.em
	}
	return nil
}

func missingGlyphError(r rune) error {
	return fmt.Errorf("%w: no font has %q (%U)", ErrScript, r, r)
}

func (t *typeface) glyph(face *font.Face, id font.GID) *glyph {
	if g, ok := t.glyphs.Load(id); ok {
		return g.(*glyph)
	}
	g := &glyph{}
	outline, _ := face.GlyphDataOutline(id)
	for _, s := range outline.Segments {
		p := segment{op: op(s.Op)}
		for i, a := range s.Args[:p.op.points()] {
			p.at[i] = point{float64(a.X) / t.em, -float64(a.Y) / t.em}
		}
		g.outline = append(g.outline, p)
	}
	g.bounds = g.outline.bounds()
	known, _ := t.glyphs.LoadOrStore(id, g)
	return known.(*glyph)
}

// The operators have the values of the font library's outlines.
const (
	moveTo  = op(opentype.SegmentOpMoveTo)
	lineTo  = op(opentype.SegmentOpLineTo)
	quadTo  = op(opentype.SegmentOpQuadTo)
	cubicTo = op(opentype.SegmentOpCubeTo)
)

// inkBounds returns the box that the glyphs of a word cover, in em from its
// left edge on the base line.
func (w word) inkBounds() box {
	b := box{x0: math.Inf(1), y0: math.Inf(1), x1: math.Inf(-1), y1: math.Inf(-1)}
	for _, g := range w.glyphs {
		if len(g.outline) > 0 {
			b = b.union(g.bounds.shift(g.x, g.y))
		}
	}
	if b.x0 > b.x1 {
		return box{}
	}
	return b
}
