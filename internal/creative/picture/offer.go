package picture

import "math"

// The sizes of the parts of a price and a badge, as shares of the largest.
const (
	priceNoteShare    = 0.44
	previousShare     = 0.52
	badgeNoteShare    = 0.36
	badgeFill         = 0.88
	strikeThickness   = 0.07
	strikeHeightInCap = 0.46
)

// textBlock returns a text as a block on one line or several.
func (c sizing) textBlock(t text, s textStyle) *block {
	b := c.fitText(t, s)
	if b != nil {
		t.shrinkToLines(b, s)
	}
	return b
}

// priceBlock returns a price: the amount large, with what belongs to it on the
// same base line, and the previous one struck through. What does not fit beside
// the amount is below it.
func (c sizing) priceBlock(p priceText, size, width float64, centered bool) *block {
	note := max(c.textMin, size*priceNoteShare)
	old := max(c.textMin, size*previousShare)
	rows := c.priceRows(p, size, note, old, width)
	if rows == nil {
		return nil
	}
	b := &block{lines: len(rows)}
	rowGap := size * 0.24
	for i, r := range rows {
		b.w = max(b.w, r.width)
		b.h += r.height
		if i > 0 {
			b.h += rowGap
		}
		b.descent = r.descent
	}
	b.place = func(at box, on surface, out *arrangement) {
		y := at.y0
		for _, r := range rows {
			x := at.x0
			if centered {
				x += (at.w() - r.width) / 2
			}
			r.place(x, math.Round(y+r.height), on, out)
			y += r.height + rowGap
		}
	}
	return b
}

// priceRow is a line of texts in different sizes on one base line.
type priceRow struct {
	items                  []priceItem
	width, height, descent float64
}

type priceItem struct {
	text   text
	size   float64
	struck bool
	muted  bool
}

func (r *priceRow) add(items ...priceItem) {
	for _, it := range items {
		if it.text.empty() {
			continue
		}
		if n := len(r.items); n > 0 {
			r.width += gapBetween(r.items[n-1], it)
		}
		r.items = append(r.items, it)
		r.width += it.text.width() * it.size
		r.height = max(r.height, it.text.ascent*it.size)
		r.descent = max(r.descent, it.text.descent*it.size)
	}
}

// gapBetween returns the space between two parts of a price: a space of the
// smaller one.
func gapBetween(a, b priceItem) float64 { return 0.36 * min(a.size, b.size) }

func (r *priceRow) place(x, y float64, on surface, out *arrangement) {
	for i, it := range r.items {
		if i > 0 {
			x += gapBetween(r.items[i-1], it)
		}
		style := textStyle{role: RolePrice, size: it.size}
		ink := on.accent
		if it.muted {
			ink = on.muted
		}
		w := it.text.width() * it.size
		lines := []line{{words: it.text.words, width: it.text.width()}}
		b := it.text.placeLines(style, lines, box{x, y - it.text.ascent*it.size, x + w, y}, ink)
		if it.struck {
			middle := y - it.size*capHeight*strikeHeightInCap
			half := max(0.6, it.size*strikeThickness/2)
			b.strike = &box{x - it.size*0.08, middle - half, x + w + it.size*0.08, middle + half}
			b.box = b.box.union(*b.strike)
		}
		out.texts = append(out.texts, b)
		x += w
	}
}

// priceRows divides a price into rows, nil if it does not fit.
func (c sizing) priceRows(p priceText, size, note, old, width float64) []*priceRow {
	before, after := priceItem{text: p.before, size: note, muted: true}, priceItem{text: p.after, size: note, muted: true}
	amount, previous := priceItem{text: p.amount, size: size}, priceItem{text: p.previous, size: old, struck: true, muted: true}
	for _, division := range [][][]priceItem{
		{{before, amount, after, previous}},
		{{before, amount, previous}, {after}},
		{{before, amount, after}, {previous}},
		{{before, amount}, {after, previous}},
		{{before, amount}, {after}, {previous}},
	} {
		var rows []*priceRow
		fits := true
		for _, items := range division {
			r := &priceRow{}
			r.add(items...)
			if len(r.items) > 0 {
				rows = append(rows, r)
				fits = fits && r.width+0.16*size <= width
			}
		}
		if fits {
			return rows
		}
	}
	return nil
}

// pillBlock returns an offer as a label on a colored ground.
func (c sizing) pillBlock(t text, size, width float64) *block {
	padX, padY := size*0.75, size*0.5
	s := textStyle{role: RoleOffer, size: size, width: width - 2*padX, maxLines: 2, balanced: true, centered: true}
	if s.width <= 0 {
		return nil
	}
	label := c.textBlock(t, s)
	if label == nil {
		return nil
	}
	b := &block{w: math.Ceil(label.w + 2*padX), h: math.Round(label.h + 2*padY), solid: true}
	b.place = func(at box, on surface, out *arrangement) {
		at = at.roundToPixels()
		badge := on.badge()
		out.fills = append(out.fills, fill{path: roundedRectangle(at, min(size*0.35, at.h()/2)), from: badge.fill, to: badge.fill, role: RoleOffer, box: at})
		label.place(at.inset((at.w()-label.w)/2, (at.h()-label.h)/2), badge, out)
	}
	return b
}

// badgeRow is a line of a badge with its size, as a share of the largest.
type badgeRow struct {
	text text
	size float64
}

// rows divides an offer into at most four lines: what is before and after the
// amount in small letters, or a text without an amount evenly.
func (o offerText) rows() [][]badgeRow {
	if !o.main.empty() && (!o.before.empty() || !o.after.empty() || len(o.main.words) == 1) {
		var list []badgeRow
		add := func(t text, n int) {
			if t.empty() {
				return
			}
			for _, l := range t.breakLines(t.widthFor(n), true) {
				part := t
				part.words = l.words
				list = append(list, badgeRow{part, badgeNoteShare})
			}
		}
		add(o.before, 1)
		list = append(list, badgeRow{o.main, 1})
		if n := len(o.after.words); n > 0 {
			add(o.after, min(2, n))
			one := append([]badgeRow{}, list[:len(list)-min(2, n)]...)
			return [][]badgeRow{append(one, badgeRow{o.after, badgeNoteShare}), list}
		}
		return [][]badgeRow{list}
	}
	var all [][]badgeRow
	for n := 1; n <= min(4, len(o.whole.words)); n++ {
		var list []badgeRow
		for _, l := range o.whole.breakLines(o.whole.widthFor(n), true) {
			part := o.whole
			part.words = l.words
			list = append(list, badgeRow{part, 1})
		}
		all = append(all, list)
	}
	return all
}

// widthFor returns the smallest width at which a text needs at most n lines.
func (t text) widthFor(n int) float64 {
	low, high := t.widestWord(), t.width()
	if k := t.lineCount(low); k > 0 && k <= n {
		return low
	}
	for range 24 {
		middle := (low + high) / 2
		if k := t.lineCount(middle); k > 0 && k <= n {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// badgeSize returns the size of the largest line of a badge whose rows fill a
// circle.
func badgeSize(rows []badgeRow, diameter float64) float64 {
	size := diameter
	height, gaps := 0.0, 0.0
	for i, r := range rows {
		height += r.text.ascent * r.size
		if i > 0 {
			gaps += badgeGap(rows, i)
		}
	}
	for range 60 {
		y := -(height + gaps) / 2 * size
		fits := true
		for i, r := range rows {
			if i > 0 {
				y += badgeGap(rows, i) * size
			}
			half := r.text.width() * r.size * size / 2
			bottom := y + r.text.ascent*r.size*size
			reach := max(math.Abs(y), math.Abs(bottom))
			fits = fits && math.Hypot(half, reach) <= diameter/2*badgeFill
			y = bottom
		}
		if fits {
			return size
		}
		size *= 0.95
	}
	return size
}

// badgeGap returns the distance between two lines of a badge.
func badgeGap(rows []badgeRow, i int) float64 {
	return rows[i-1].text.descent*rows[i-1].size + 0.3*min(rows[i].size, rows[i-1].size)
}

// stickerBlock returns an offer as a round badge. It returns nil if its
// smallest letters would be too small.
func (c sizing) stickerBlock(o offerText, diameter float64) *block {
	var best []badgeRow
	var size float64
	for _, rows := range o.rows() {
		if now := badgeSize(rows, diameter); best == nil || now > size*1.05 {
			best, size = rows, now
		}
	}
	for _, r := range best {
		if r.size*size < c.textMin*0.94 {
			return nil
		}
	}
	if best == nil {
		return nil
	}
	b := &block{w: diameter, h: diameter, solid: true}
	b.place = func(at box, on surface, out *arrangement) {
		at = at.roundToPixels()
		badge := on.badge()
		out.fills = append(out.fills, fill{path: roundedRectangle(at, at.h()/2), from: badge.fill, to: badge.fill, role: RoleOffer, box: at})
		height := 0.0
		for i, r := range best {
			height += r.text.ascent * r.size * size
			if i > 0 {
				height += badgeGap(best, i) * size
			}
		}
		y := (at.y0+at.y1)/2 - height/2
		for i, r := range best {
			if i > 0 {
				y += badgeGap(best, i) * size
			}
			w, h := r.text.width()*r.size*size, r.text.ascent*r.size*size
			x := (at.x0+at.x1)/2 - w/2
			one := line{words: r.text.words, width: r.text.width()}
			out.texts = append(out.texts, r.text.placeLines(textStyle{role: RoleOffer, size: r.size * size}, []line{one}, box{x, y, x + w, y + h}, badge.ink))
			y += h
		}
	}
	return b
}

// badge returns the surface of a badge on another one: in the color of the
// button, or in reverse where that is as the ground.
func (s surface) badge() surface {
	b := surface{fill: s.offer, tint: s.offer, ink: s.labelColor(s.offer)}
	b.muted, b.accent, b.button, b.label = b.ink, b.ink, b.ink, b.fill
	return b
}
