package numbers

import (
	"iter"
	"slices"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
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
	// Sources are sorted by key.
	Sources []Source
	// Entities are by kind, sorted by key.
	Entities [len(Kinds)][]Entity
}

// position returns the position of a number among the texts of a dimension: 0 for
// the empty text, and from 1 for the others.
func (t *Texts) position(dimension string, n int32) (position int, found bool) {
	if n == 0 {
		return 0, true
	}
	switch a, isAttribute := attributes[dimension]; {
	case isAttribute:
		position, found = slices.BinarySearchFunc(t.Entities[a.kind], n, func(e Entity, key int32) int { return int(e.Key) - int(key) })
		position++
	case sourceTexts[dimension] != nil:
		position, found = slices.BinarySearchFunc(t.Sources, n, func(s Source, key int32) int { return int(s.Key) - int(key) })
		position++
	case dimension == "tag":
		position, found = int(n), int(n) < len(t.Tags)
	case dimension == "weekday":
		position, found = int(n), int(n) < len(analytics.Weekdays)
	default:
		position, found = int(n), int(n) < len(t.Words)
	}
	if !found {
		return 0, false
	}
	return position, true
}

// value returns the value at a position of a dimension.
func (t *Texts) value(dimension string, position int) (v analytics.Value) {
	switch a, isAttribute := attributes[dimension]; {
	case dimension == "weekday":
		v.ID = analytics.Weekdays[position]
	case position == 0:
	case isAttribute:
		e := &t.Entities[a.kind][position-1]
		v.ID = a.text(e)
		switch dimension {
		case "campaign_id", "creative_id", "audience_id":
			v.Label = e.name()
			if v.ID == "" {
				v.External, v.Label = e.External, e.Name
			}
		}
	case sourceTexts[dimension] != nil:
		v.ID = sourceTexts[dimension](&t.Sources[position-1])
	case dimension == "tag":
		v.ID = t.Tags[position]
	default:
		v.ID = t.Words[position]
	}
	v.Null = v.ID == ""
	return v
}

// Part is some facts of one family of a source: their number and their first and
// last day.
type Part struct {
	Family      fact.Family
	Source      int32
	Facts       int64
	First, Last clock.Date
}

// Coverage returns the days of each source that has facts, given its parts.
func Coverage(sources []Source, parts iter.Seq[Part]) (list []fact.Coverage) {
	bySource := map[int32]*fact.Coverage{}
	for p := range parts {
		c := bySource[p.Source]
		if c == nil {
			c = &fact.Coverage{First: p.First, Last: p.Last}
			bySource[p.Source] = c
		}
		c.First, c.Last = min(c.First, p.First), max(c.Last, p.Last)
		c.Families[p.Family].Add(p.Facts, p.First, p.Last)
	}
	for _, s := range sources {
		if c := bySource[s.Key]; c != nil {
			c.Source = s.Source
			list = append(list, *c)
		}
	}
	return list
}
