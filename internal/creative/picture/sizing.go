package picture

import "math"

// sizing has the lengths of a picture that do not depend on the size of the
// headline.
type sizing struct {
	// unit is the length that other lengths are a share of.
	unit   float64
	margin float64
	// headMax and headMin limit the size of the headline; textMin is the
	// smallest size of other text.
	headMax, headMin, textMin float64
	// labelMin is the smallest size of a label with a very long word.
	labelMin float64
	// bodyMin is the smallest size of the body, which is dropped if it does not
	// fit.
	bodyMin float64
	// termsSize is the size of small print.
	termsSize            float64
	headLines, bodyLines int
	// smallTextFactor enlarges small text in pictures of little height.
	smallTextFactor float64
	// breakWords allows breaking words that are too wide for the picture at
	// legibleSize.
	breakWords bool
	// radius of the button's corners, as a share of its height.
	radius float64
}

// legibleSize is the size in pixels below which a word is broken instead of
// made smaller.
const legibleSize = 6

// newScale returns the sizing of a picture.
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
	// Choice: below 10.5 pixels Inter is hard to read. Large pictures are
	// usually shown smaller, on a phone 400 points wide.
	c.textMin = max(10.5, short*0.027)
	c.labelMin = c.textMin
	c.bodyMin = max(12, short*0.029)
	// Choice: small print has 9 pixels or more.
	c.termsSize = max(9, short*0.021)
	c.headMin = c.textMin * 1.15
	c.headMax = max(c.headMax, c.headMin)
	return c
}

// textSizes are the sizes of all parts around a headline of size head.
type textSizes struct{ head, body, label, brand, price, gap float64 }

func (c sizing) textSizes(head float64) textSizes {
	// A size grows with the headline between a comfortable and a largest size.
	// It is below the comfortable size only if the headline is small too.
	follow := func(share, good, most float64) float64 {
		least := max(c.textMin, min(c.unit*good, head*0.6))
		return min(max(head*share*c.smallTextFactor, least), max(least, c.unit*most*c.smallTextFactor))
	}
	s := textSizes{
		head:  head,
		body:  max(c.bodyMin, follow(0.38, 0.037, 0.047)),
		label: follow(0.36, 0.036, 0.041),
		brand: follow(0.36, 0.032, 0.038),
		price: max(c.textMin*1.5, min(head*1.2, c.unit*0.13)),
		gap:   min(max(head*0.75, c.unit*0.045), c.unit*0.07),
	}
	if f := head / c.headMinLongWord(); f < 1 {
		s.body, s.label, s.brand, s.gap = s.body*f, s.label*f, s.brand*f, s.gap*f
	}
	return s
}

// headMinLongWord returns the smallest size of a headline with a very long word
// before all parts shrink.
func (c sizing) headMinLongWord() float64 { return c.headMin * 0.58 }
