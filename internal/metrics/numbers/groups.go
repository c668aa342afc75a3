package numbers

import (
	"encoding/binary"
	"slices"

	"fanfare/internal/analytics"
	"fanfare/internal/fact"
)

// Source is a source and its number.
type Source struct {
	Key int32
	fact.Source
}

// Entity has the texts of an entity: those of the platform, and those of its
// record if it is linked to one.
type Entity struct {
	Key                     int32
	Kind                    string
	External, Name          string
	Record, Variant         string
	RecordName              string
	Status, Objective, Type string
	// Tags are indexes of Texts.Tags.
	Tags []int32
}

// name returns the record's name, else the platform's.
func (e *Entity) name() string {
	if e.RecordName != "" {
		return e.RecordName
	}
	return e.Name
}

// Texts has the texts of a workspace's numbers. It is never changed.
type Texts struct {
	// Words and Tags are by number; number 0 is the empty text.
	Words, Tags []string
	Sources     []Source
	// Entities are sorted by key.
	Entities []Entity
}

func (t *Texts) entity(key int32) *Entity {
	i, found := slices.BinarySearchFunc(t.Entities, key, func(e Entity, key int32) int { return int(e.Key) - int(key) })
	if !found {
		return &Entity{}
	}
	return &t.Entities[i]
}

func (t *Texts) source(key int32) *Source {
	i := slices.IndexFunc(t.Sources, func(s Source) bool { return s.Key == key })
	if i < 0 {
		return &Source{}
	}
	return &t.Sources[i]
}

// value returns the value of a dimension for the number of its column.
func (t *Texts) value(dimension string, n int32) (v analytics.Value) {
	switch a, isAttribute := attributes[dimension]; {
	case isAttribute:
		e := t.entity(n)
		v.ID = a.text(e)
		switch dimension {
		case "campaign_id", "creative_id", "audience_id":
			v.Label = e.name()
			if v.ID == "" {
				v.External, v.Label = e.External, e.Name
			}
		}
	case sourceTexts[dimension] != nil:
		v.ID = sourceTexts[dimension](t.source(n))
	case dimension == "tag":
		v.ID = t.Tags[n]
	case dimension == "weekday":
		v.ID = analytics.Weekdays[n]
	default:
		v.ID = t.Words[n]
	}
	v.Null = v.ID == ""
	return v
}

// Groups collects the rows of a result as groups of texts.
type Groups struct {
	plan     *analytics.Plan
	question *Question
	texts    *Texts
	// columns has the position of each dimension's number in a row.
	columns []int
	index   map[string]int
	list    []group
	key     []byte
}

type group struct {
	analytics.Group
	facts int64
	sums  []Sum
}

// NewGroups returns an empty collection for a question that Translate returned.
func NewGroups(p *analytics.Plan, q *Question, t *Texts) *Groups {
	g := &Groups{plan: p, question: q, texts: t, index: map[string]int{}}
	for _, d := range p.Dimensions {
		g.columns = append(g.columns, slices.Index(q.Columns, columnOf(d)))
	}
	return g
}

// Add adds a row. The caller may reuse the row.
func (g *Groups) Add(r *Row) error {
	values := make([]analytics.Value, len(g.columns))
	g.key = binary.AppendVarint(g.key[:0], int64(r.Bucket))
	for i, d := range g.plan.Dimensions {
		v := g.texts.value(d, r.Values[g.columns[i]])
		values[i] = v
		for _, text := range []string{v.ID, v.External} {
			g.key = append(binary.AppendUvarint(g.key, uint64(len(text))), text...)
		}
		if v.Null {
			g.key = append(g.key, v.Label...)
		}
		g.key = append(g.key, 0)
	}
	i, found := g.index[string(g.key)]
	if !found {
		if len(g.list) == g.plan.MaxGroups {
			return analytics.ErrTooMany
		}
		g.index[string(g.key)] = len(g.list)
		g.list = append(g.list, group{analytics.Group{Bucket: r.Bucket, Values: values}, r.Facts, slices.Clone(r.Sums)})
		return nil
	}
	into := &g.list[i]
	// Entities of one record may have several names. The group shows the first one
	// in alphabetical order, so that every engine returns the same.
	for j := range values {
		if x, y := &into.Values[j].Label, values[j].Label; *x == "" || y != "" && y < *x {
			*x = y
		}
	}
	into.facts += r.Facts
	for j := range r.Sums {
		s := &into.sums[j]
		s.Total, s.Known, s.Unrated = s.Total.Add(r.Sums[j].Total), s.Known+r.Sums[j].Known, s.Unrated+r.Sums[j].Unrated
	}
	return nil
}

// List returns the groups.
func (g *Groups) List() ([]analytics.Group, error) {
	var out []analytics.Group
	for i := range g.list {
		from := &g.list[i]
		from.Sums = make([]analytics.Sum, len(from.sums))
		for j, m := range g.plan.Measures {
			s, err := g.sum(m, from.facts, &from.sums[j])
			if err != nil {
				return nil, err
			}
			from.Sums[j] = s
		}
		out = append(out, from.Group)
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
