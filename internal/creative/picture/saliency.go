package picture

import (
	"image"
	"math"

	"golang.org/x/image/draw"
)

// saliency is how much there is to see in each column and row of a photo, from
// one side to the other.
//
// Choice: edges, strong colors and skin on a coarse grid. It needs no model, and
// a crop only slides along one side, where this finds subjects away from the
// center.
type saliency struct{ columns, rows []float64 }

// saliencyGrid is the longest side of the grid.
const saliencyGrid = 96

func measureSaliency(p *image.NRGBA) saliency {
	size := p.Rect.Size()
	shrink := min(1, saliencyGrid/float64(max(size.X, size.Y)))
	w, h := max(3, int(float64(size.X)*shrink)), max(3, int(float64(size.Y)*shrink))
	grid := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.BiLinear.Scale(grid, grid.Rect, p, p.Rect, draw.Src, nil)
	s := saliency{make([]float64, w), make([]float64, h)}
	light := func(x, y int) float64 {
		c := grid.NRGBAAt(min(max(x, 0), w-1), min(max(y, 0), h-1))
		return (0.3*float64(c.R) + 0.59*float64(c.G) + 0.11*float64(c.B)) * float64(c.A) / (255 * 255)
	}
	for y := range h {
		for x := range w {
			edge := math.Abs(4*light(x, y) - light(x-1, y) - light(x+1, y) - light(x, y-1) - light(x, y+1))
			c := grid.NRGBAAt(x, y)
			weight := edge + pixelWeight(rgb{c.R, c.G, c.B})*float64(c.A)/255
			s.columns[x] += weight / float64(h)
			s.rows[y] += weight / float64(w)
		}
	}
	return s
}

// pixelWeight returns how much a color attracts the eye.
func pixelWeight(c rgb) float64 {
	tone := c.lch()
	weight := 0.8 * max(0, tone.c-0.08)
	// Skin of all shades has about one hue.
	if tone.h > 0.5 && tone.h < 1.25 && tone.c > 0.03 && tone.c < 0.15 && tone.l > 0.35 && tone.l < 0.92 {
		weight += 0.12
	}
	return weight
}

// slide returns where a part of a photo should start, from 0 to 1 of the room
// that it has. share is the length of the part.
func (s saliency) slide(across bool, share float64) float64 {
	list := s.rows
	if across {
		list = s.columns
	}
	n := len(list)
	part := max(1, int(math.Round(share*float64(n))))
	if part >= n {
		return 0.5
	}
	var total float64
	for _, v := range list {
		total += v
	}
	if total == 0 {
		return 0.5
	}
	// Of parts with as much to see, the one in the middle is best; in height the
	// one above it, where faces are.
	middle := 0.5
	if !across {
		middle = 0.42
	}
	best, at := math.Inf(-1), 0
	for start := range n - part + 1 {
		var seen float64
		for i, v := range list[start : start+part] {
			// What is near the edge of the part counts less.
			edge := min(float64(i), float64(part-1-i)) / max(1, float64(part)/4)
			seen += v * (0.6 + 0.4*min(1, edge))
		}
		away := math.Abs(float64(start)/float64(n-part) - middle)
		if score := seen/total - 0.08*away; score > best {
			best, at = score, start
		}
	}
	return float64(at) / float64(n-part)
}

// share returns how much of what there is to see is between two positions, from
// 0 to 1.
func (s saliency) share(across bool, from, to float64) float64 {
	list := s.rows
	if across {
		list = s.columns
	}
	var total, inside float64
	for i, v := range list {
		at := (float64(i) + 0.5) / float64(len(list))
		total += v
		if at >= from && at <= to {
			inside += v
		}
	}
	if total == 0 {
		return 0
	}
	return inside / total
}
