package picture

import (
	"math"
	"slices"
)

type point struct{ x, y float64 }

// box is a rectangle from its top left to its bottom right corner.
type box struct{ x0, y0, x1, y1 float64 }

func (b box) w() float64 { return b.x1 - b.x0 }
func (b box) h() float64 { return b.y1 - b.y0 }

func (b box) shift(dx, dy float64) box { return box{b.x0 + dx, b.y0 + dy, b.x1 + dx, b.y1 + dy} }

func (b box) scale(s float64) box { return box{b.x0 * s, b.y0 * s, b.x1 * s, b.y1 * s} }

func (b box) inset(dx, dy float64) box { return box{b.x0 + dx, b.y0 + dy, b.x1 - dx, b.y1 - dy} }

func (b box) union(o box) box {
	return box{min(b.x0, o.x0), min(b.y0, o.y0), max(b.x1, o.x1), max(b.y1, o.y1)}
}

func (b box) intersect(o box) box {
	return box{max(b.x0, o.x0), max(b.y0, o.y0), min(b.x1, o.x1), min(b.y1, o.y1)}
}

// roundToPixels moves the edges to whole pixels, so that they are drawn sharp.
func (b box) roundToPixels() box {
	return box{math.Round(b.x0), math.Round(b.y0), math.Round(b.x1), math.Round(b.y1)}
}

type op uint8

func (o op) points() int {
	switch o {
	case quadTo:
		return 2
	case cubicTo:
		return 3
	default:
		return 1
	}
}

type segment struct {
	op op
	at [3]point
}

// path is a list of closed outlines; a moveTo closes the outline before it.
type path []segment

func (p path) bounds() box {
	if len(p) == 0 {
		return box{}
	}
	b := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, s := range p {
		for _, a := range s.at[:s.op.points()] {
			b = b.union(box{a.x, a.y, a.x, a.y})
		}
	}
	return b
}

func polygon(points ...point) path {
	p := make(path, len(points))
	for i, at := range points {
		p[i] = segment{op: lineTo, at: [3]point{at}}
	}
	p[0].op = moveTo
	return p
}

// mirror returns the path turned around in a picture of a width.
func (p path) mirror(w float64) path {
	turned := make(path, len(p))
	for i, s := range p {
		for j := range s.at {
			s.at[j].x = w - s.at[j].x
		}
		turned[i] = s
	}
	if len(p) == 4 && p.isPixelRectangle() {
		b := turned.bounds()
		return rectangle(b)
	}
	return turned
}

// isPixelRectangle reports whether the path is a rectangle with edges on whole
// pixels.
func (p path) isPixelRectangle() bool {
	b := p.bounds()
	return len(p) == 4 && b == b.roundToPixels() && slices.Equal(p, rectangle(b))
}

func rectangle(b box) path {
	return polygon(point{b.x0, b.y0}, point{b.x1, b.y0}, point{b.x1, b.y1}, point{b.x0, b.y1})
}

// kappa is the distance of the control points at which a cubic curve
// approximates a quarter of a circle.
const kappa = 0.5522847498

func roundedRectangle(b box, r float64) path {
	r = min(r, b.w()/2, b.h()/2)
	if r <= 0 {
		return rectangle(b)
	}
	k := r * (1 - kappa)
	curve := func(c1, c2, to point) segment { return segment{op: cubicTo, at: [3]point{c1, c2, to}} }
	line := func(x, y float64) segment { return segment{op: lineTo, at: [3]point{{x, y}}} }
	return path{
		{op: moveTo, at: [3]point{{b.x0 + r, b.y0}}},
		line(b.x1-r, b.y0), curve(point{b.x1 - k, b.y0}, point{b.x1, b.y0 + k}, point{b.x1, b.y0 + r}),
		line(b.x1, b.y1-r), curve(point{b.x1, b.y1 - k}, point{b.x1 - k, b.y1}, point{b.x1 - r, b.y1}),
		line(b.x0+r, b.y1), curve(point{b.x0 + k, b.y1}, point{b.x0, b.y1 - k}, point{b.x0, b.y1 - r}),
		line(b.x0, b.y0+r), curve(point{b.x0, b.y0 + k}, point{b.x0 + k, b.y0}, point{b.x0 + r, b.y0}),
	}
}

func circle(x, y, r float64) path { return roundedRectangle(box{x - r, y - r, x + r, y + r}, r) }

// ring returns a circle with a hole: the inner circle runs in the other
// direction.
func ring(x, y, r, width float64) path {
	p, hole := circle(x, y, r), circle(x, y, r-width)
	p = append(p, segment{op: moveTo, at: [3]point{endPoint(hole)}})
	for i := len(hole) - 1; i > 0; i-- {
		s, to := hole[i], endPoint(hole[:i])
		if s.op == cubicTo {
			p = append(p, segment{op: cubicTo, at: [3]point{s.at[1], s.at[0], to}})
		} else {
			p = append(p, segment{op: lineTo, at: [3]point{to}})
		}
	}
	return p
}

// endPoint returns the last point of a path.
func endPoint(p path) point {
	s := p[len(p)-1]
	return s.at[s.op.points()-1]
}
