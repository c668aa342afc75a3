package picture

import (
	"bytes"
	"image"
	"image/draw"
	"testing"
)

var benchAd = Ad{
	Headline: "Run further this autumn", Body: "Light shoes for wet trails, with a grip that lasts.",
	CallToAction: "Shop now", Brand: "Northwind", Colors: []string{"#0b6e4f", "#f4a259"}, Width: 300, Height: 250, Seed: 1,
}

// BenchmarkPNG300x250 measures the way from an ad to a file. It must take at
// most 1.5 times as long as BenchmarkBare300x250.
func BenchmarkPNG300x250(b *testing.B) {
	for b.Loop() {
		s, err := Draw(benchAd)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.PNG(); err != nil {
			b.Fatal(err)
		}
	}
}

// drawCall is one call of the drawing library: an outline in pixels, or a
// rectangle if path is nil.
type drawCall struct {
	at    image.Rectangle
	path  path
	color *image.Uniform
}

// drawCallsOf returns the drawing calls of a scene.
func drawCallsOf(s *Scene) []drawCall {
	c := newCanvas(s.Width, s.Height)
	var calls []drawCall
	for _, f := range s.fills {
		p := f.path
		if p.isPixelRectangle() {
			p = nil
		}
		calls = append(calls, drawCall{c.pixelBounds(f.path.bounds()), p, image.NewUniform(f.from.rgba())})
	}
	for _, t := range s.texts {
		var all path
		for _, w := range t.words {
			for _, g := range w.glyphs {
				for _, seg := range g.outline {
					for i := range seg.at {
						seg.at[i] = point{w.x + (g.x+seg.at[i].x)*t.size, w.y + (g.y+seg.at[i].y)*t.size}
					}
					all = append(all, seg)
				}
			}
		}
		calls = append(calls, drawCall{c.pixelBounds(t.box.inset(-1, -1)), all, image.NewUniform(t.ink.rgba())})
	}
	return calls
}

// BenchmarkBare300x250 only draws and encodes: the same shapes and glyphs with
// known positions.
func BenchmarkBare300x250(b *testing.B) {
	s, err := Draw(benchAd)
	if err != nil {
		b.Fatal(err)
	}
	calls := drawCallsOf(s)
	for b.Loop() {
		drawCalls(b, s, calls)
	}
}

func drawCalls(tb testing.TB, s *Scene, calls []drawCall) []byte {
	tb.Helper()
	c := newCanvas(s.Width, s.Height)
	for _, f := range calls {
		if f.path == nil {
			draw.Draw(c.picture, f.at, f.color, image.Point{}, draw.Src)
			continue
		}
		c.rasterizer.Reset(f.at.Dx(), f.at.Dy())
		addPath(&c.rasterizer, f.path, 1, -float64(f.at.Min.X), -float64(f.at.Min.Y))
		c.rasterizer.Draw(c.picture, f.at, f.color, image.Point{})
	}
	var out bytes.Buffer
	if err := encoder.Encode(&out, c.picture); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// TestBareDrawingIsEqual checks that both benchmarks draw the same picture.
func TestBareDrawingIsEqual(t *testing.T) {
	t.Parallel()
	s, err := Draw(benchAd)
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.PNG()
	if err != nil {
		t.Fatal(err)
	}
	if got := drawCalls(t, s, drawCallsOf(s)); !bytes.Equal(got, want) {
		t.Errorf("got other bytes than the scene's: %d want %d", len(got), len(want))
	}
}
