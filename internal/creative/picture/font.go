package picture

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"sync"
	"unicode"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/harfbuzz"
)

// Choice: Inter, because it is made for screens, is legible at 10 pixels and
// covers Latin, Greek and Cyrillic with kerning; see fonts/LICENSE. Two weights
// are enough to set headline and text apart.
var (
	//go:embed fonts/Inter-Bold.ttf
	boldTTF []byte
	//go:embed fonts/Inter-Medium.ttf
	mediumTTF []byte

	bold   = sync.OnceValue(func() *typeface { return parseFont(boldTTF) })
	medium = sync.OnceValue(func() *typeface { return parseFont(mediumTTF) })
)

// capHeight is the height of an H in Inter, in em, which readers perceive as
// the height of a line.
const capHeight = 0.727

// typeface is a parsed font. It is safe for concurrent use.
type typeface struct {
	em      float64
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
	t := &typeface{em: float64(face.Upem())}
	t.shapers.New = func() any {
		own := font.NewFace(face.Font)
		return &shaper{face: own, font: harfbuzz.NewFont(own), buf: harfbuzz.NewBuffer()}
	}
	return t
}

// placedGlyph is a glyph of a word with its offset from the word's start, in
// em.
type placedGlyph struct {
	*glyph
	x, y float64
	// cluster is the number of runes before it. A combining mark has the
	// cluster of its letter.
	cluster int
}

// word is a piece of text that a line break does not split.
type word struct {
	text   string
	glyphs []placedGlyph
	// width is in em.
	width float64
}

// shape converts a word to glyphs. Its error names the first character that the
// font lacks.
func (t *typeface) shape(text string, tracking float64) (word, error) {
	s := t.shapers.Get().(*shaper)
	defer t.shapers.Put(s)
	runes := []rune(text)
	for _, r := range runes {
		if _, ok := s.face.NominalGlyph(r); !ok && !unicode.Is(unicode.Mn, r) {
			return word{}, missingGlyphError(r)
		}
	}
	s.buf.Clear()
	s.buf.AddRunes(runes, 0, -1)
	s.buf.GuessSegmentProperties()
	s.buf.Shape(s.font, nil)
	w := word{text: text, glyphs: make([]placedGlyph, 0, len(runes))}
	last := -1
	for i, info := range s.buf.Info {
		if info.Glyph == 0 {
			return word{}, missingGlyphError(runes[info.Cluster])
		}
		if info.Cluster != last && last >= 0 {
			w.width += tracking
		}
		last = info.Cluster
		at := s.buf.Pos[i]
		w.glyphs = append(w.glyphs, placedGlyph{
			glyph: t.glyph(s.face, info.Glyph), cluster: info.Cluster,
			x: w.width + float64(at.XOffset)/t.em, y: -float64(at.YOffset) / t.em,
		})
		w.width += float64(at.XAdvance) / t.em
	}
	return w, nil
}

func missingGlyphError(r rune) error {
	return fmt.Errorf("%w: no font has %q (%U); write the text without it", ErrScript, r, r)
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
// start on the base line.
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
