package picture

import "math"

// sizing is the measure of a picture: all lengths that do not follow the
// headline.
type sizing struct {
	// unit is the length that sizes are shares of.
	unit   float64
	margin float64
	// headMax and headMin bound the headline; small is the least size of other
	// text.
	headMax, headMin, textMin float64
	// labelMin is what the label with a very long word may come down to.
	labelMin             float64
	headLines, bodyLines int
	// smallTextFactor enlarges small text where the headline has little height.
	smallTextFactor float64
	// breakWords breaks words that are too wide for the picture even at the legible
	// size.
	breakWords bool
	// radius of the button's corners, as a share of its height.
	radius float64
}

// legibleSize is the size in pixels at which a word is rather broken than made
// smaller.
const legibleSize = 6

// newScale is the measure of a picture of a size.
func newScale(w, h float64) sizing {
	short, aspect := min(w, h), w/h
	reach := 1.25
	c := sizing{headLines: 4, bodyLines: 4, smallTextFactor: 1}
	switch {
	case aspect >= 4.5:
		reach, c.headLines, c.bodyLines = 2.6, 2, 1
	case aspect >= 2.5:
		reach, c.headLines, c.bodyLines = 1.75, 3, 2
	case aspect < 0.7:
		reach, c.headLines, c.bodyLines = 1.4, 5, 6
	}
	if aspect < 0.4 {
		c.headLines = 7
	}
	if aspect >= 2.5 && h < 160 {
		c.smallTextFactor = 1.4
	}
	c.unit = min(math.Sqrt(w*h), reach*short)
	c.margin = math.Round(c.unit * 0.075)
	c.headMax = c.unit * 0.155
	if aspect >= 4.5 {
		c.headMax = c.unit * 0.135
	}
	// Choice: below 10.5 pixels Inter is hard to read; large pictures are shown
	// smaller than they are, on a phone of 400 points.
	c.textMin = max(10.5, short*0.027)
	c.labelMin = c.textMin
	c.headMin = c.textMin * 1.15
	c.headMax = max(c.headMax, c.headMin)
	return c
}

// textSizes of everything around a headline of size head.
type textSizes struct{ head, body, label, brand, gap float64 }

func (c sizing) textSizes(head float64) textSizes {
	// A size follows the headline between a comfortable and a most size, and
	// goes below the comfortable one only together with the headline.
	follow := func(share, good, most float64) float64 {
		least := max(c.textMin, min(c.unit*good, head*0.6))
		return min(max(head*share*c.smallTextFactor, least), max(least, c.unit*most*c.smallTextFactor))
	}
	s := textSizes{
		head:  head,
		body:  follow(0.38, 0.037, 0.047),
		label: follow(0.36, 0.036, 0.041),
		brand: follow(0.36, 0.032, 0.038),
		gap:   min(max(head*0.75, c.unit*0.045), c.unit*0.07),
	}
	if f := head / c.headMinLongWord(); f < 1 {
		s.body, s.label, s.brand, s.gap = s.body*f, s.label*f, s.brand*f, s.gap*f
	}
	return s
}

// headMinLongWord is what a headline with a very long word may come down to before
// everything shrinks.
func (c sizing) headMinLongWord() float64 { return c.headMin * 0.58 }
