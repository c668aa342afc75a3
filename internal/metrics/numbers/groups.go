package numbers

import (
	"encoding/binary"
	"slices"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// Groups collects the rows of a result as groups of texts.
type Groups struct {
	plan       *analytics.Plan
	dimensions []dimension
	index      map[groupKey]int
	// list has the groups. sums has the sums of each group's measures, and values
	// the values of its dimensions, one group after the other.
	list   []group
	sums   []Sum
	values []analytics.Value
	// incomplete means that a row had a number without a text.
	incomplete bool
}

type group struct {
	bucket clock.Date
	facts  int64
}

// groupKey has the bucket of a group and the identities of its values.
type groupKey [1 + maxDimensions]int32

// dimension is a dimension of the plan, with the values of its numbers.
type dimension struct {
	name string
	// column is the position of the number in a row.
	column int
	texts  *Texts
	// values and identities are by the position of a number among its texts.
	// Numbers with the same identity are one group; 0 is not known yet.
	values     []analytics.Value
	identities []int32
	byText     map[string]int32
	text       []byte
}

// NewGroups returns an empty collection for a question that Translate returned.
func NewGroups(p *analytics.Plan, q *Question, t *Texts) *Groups {
	g := &Groups{plan: p, index: map[groupKey]int{}}
	for _, d := range p.Dimensions {
		g.dimensions = append(g.dimensions, dimension{name: d, column: slices.Index(q.Columns, columnOf(d)), texts: t, byText: map[string]int32{}})
	}
	return g
}

// Add adds a row. The caller may reuse the row. A row without facts is the result
// of a query that groups by nothing and finds nothing.
func (g *Groups) Add(r *Row) error {
	if r.Facts == 0 {
		return nil
	}
	key := groupKey{int32(r.Bucket)}
	var positions [maxDimensions]int
	for i := range g.dimensions {
		d := &g.dimensions[i]
		position, found := d.position(r.Values[d.column])
		if !found {
			g.incomplete = true
		}
		positions[i], key[i+1] = position, d.identities[position]
	}
	i, found := g.index[key]
	if !found {
		if len(g.list) == g.plan.MaxGroups {
			return analytics.ErrTooMany
		}
		g.index[key] = len(g.list)
		g.list = append(g.list, group{r.Bucket, r.Facts})
		g.sums = append(g.sums, r.Sums...)
		for i := range g.dimensions {
			g.values = append(g.values, g.dimensions[i].values[positions[i]])
		}
		return nil
	}
	// Entities of one record may have several names. The group shows the first one
	// in alphabetical order, so that every engine returns the same.
	for j := range g.dimensions {
		if x, y := &g.values[i*len(g.dimensions)+j].Label, g.dimensions[j].values[positions[j]].Label; *x == "" || y != "" && y < *x {
			*x = y
		}
	}
	g.list[i].facts += r.Facts
	for j := range r.Sums {
		s := &g.sums[i*len(r.Sums)+j]
		s.Total, s.Known, s.Unrated = s.Total.Add(r.Sums[j].Total), s.Known+r.Sums[j].Known, s.Unrated+r.Sums[j].Unrated
	}
	return nil
}

// Incomplete reports whether a row had a number that the texts do not have. Then
// the facts are newer than the texts.
func (g *Groups) Incomplete() bool { return g.incomplete }

// position returns the position of a number among its texts, and sets its value
// and identity. A number without a text has the position of 0.
func (d *dimension) position(n int32) (position int, found bool) {
	position, found = d.texts.position(d.name, n)
	if position >= len(d.identities) {
		d.identities = append(d.identities, make([]int32, position+1-len(d.identities))...)
		d.values = append(d.values, make([]analytics.Value, position+1-len(d.values))...)
	}
	if d.identities[position] != 0 {
		return position, found
	}
	v := d.texts.value(d.name, position)
	d.text = d.text[:0]
	for _, text := range []string{v.ID, v.External} {
		d.text = append(binary.AppendUvarint(d.text, uint64(len(text))), text...)
	}
	if v.Null {
		d.text = append(d.text, v.Label...)
	}
	identity, known := d.byText[string(d.text)]
	if !known {
		identity = int32(len(d.byText) + 1)
		d.byText[string(d.text)] = identity
	}
	d.values[position], d.identities[position] = v, identity
	return position, found
}

// List returns the groups.
func (g *Groups) List() ([]analytics.Group, error) {
	if len(g.list) == 0 {
		return nil, nil
	}
	out := make([]analytics.Group, len(g.list))
	sums, measures, dimensions := make([]analytics.Sum, len(g.sums)), len(g.plan.Measures), len(g.dimensions)
	for i := range g.list {
		first, end := i*measures, (i+1)*measures
		for j, m := range g.plan.Measures {
			s, err := g.sum(m, g.list[i].facts, &g.sums[first+j])
			if err != nil {
				return nil, err
			}
			sums[first+j] = s
		}
		out[i] = analytics.Group{
			Bucket: g.list[i].bucket, Values: g.values[i*dimensions : (i+1)*dimensions : (i+1)*dimensions], Sums: sums[first:end:end],
		}
	}
	return out, nil
}

func (g *Groups) sum(m fact.Measure, facts int64, s *Sum) (analytics.Sum, error) {
	n, fits := s.Total.Int64()
	switch {
	case m == fact.Reach && facts > 1:
		return analytics.Sum{Mixed: s.Known > 0}, nil
	case s.Unrated > 0:
		return analytics.Sum{NoRate: true}, nil
	case s.Known == 0:
		return analytics.Sum{}, nil
	case fits:
		return analytics.Sum{N: n, Known: true}, nil
	case g.plan.UnknownIfTooLarge:
		return analytics.Sum{}, nil
	}
	return analytics.Sum{}, analytics.ErrTooLarge
}
