package ingest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// rowKey is the unique key of a row. It is smaller than the 128 bytes that a
// map stores inline: a row has only one of country, age and device.
type rowKey struct {
	source                       *fact.Source
	family                       fact.Family
	date                         clock.Date
	channel                      string
	campaign, creative, audience string
	breakdown, gender            string
}

func rowKeyOf(r *fact.Row) rowKey {
	return rowKey{
		r.Source, r.Family, r.Date, r.Channel, r.Campaign.Key(), r.Creative.Key(), r.Audience.Key(), cmp.Or(r.Country, r.AgeRange, r.Device), r.Gender,
	}
}

// resolveLinks looks up the records and rejects duplicate rows. The remaining
// rows are valid.
func (s *rowSet) resolveLinks(ctx context.Context, workspace ident.ID, records Records) error {
	found, err := s.lookUp(ctx, workspace, records)
	if err != nil {
		return err
	}
	s.listed = 0
	for i := range s.refused {
		r := &s.refused[i]
		s.index, s.problems = r.index, r.problems
		s.link(&r.row, found)
		r.problems = s.problems
	}
	seen := make(map[rowKey]int, len(s.rows))
	n := 0
	for i := range s.rows {
		r := &s.rows[i]
		s.index, s.bad, s.problems = s.at[i], false, nil
		s.link(r, found)
		if !s.bad {
			s.repeated(r, seen)
		}
		if s.bad {
			s.reject(rejectedRow{index: s.index, problems: s.problems})
			continue
		}
		s.rows[n], s.at[n] = *r, s.at[i]
		n++
	}
	s.rows, s.at = s.rows[:n], s.at[:n]
	slices.SortStableFunc(s.refused, func(a, b rejectedRow) int { return a.index - b.index })
	s.refused = s.refused[:min(len(s.refused), s.most)]
	return nil
}

// link rejects ids that do not exist, and links variants to their creatives.
func (s *rowSet) link(r *fact.Row, found map[ident.ID]ident.ID) {
	for i := range links {
		e := links[i].entity(r)
		if e.Record == "" {
			continue
		}
		switch record, there := found[e.Record]; {
		case !there:
			s.missing(links[i].field, e.Record)
		case record != e.Record:
			e.Record, e.VariantID = record, e.Record
		}
	}
}

func (s *rowSet) repeated(r *fact.Row, seen map[rowKey]int) {
	id := rowKeyOf(r)
	first, there := seen[id]
	if !there {
		seen[id] = s.index
		return
	}
	s.refuse("", "duplicate_item", fmt.Sprintf("The row has the same day, account, channel, campaign, creative, audience and breakdown as the one at %s %d. Add them up, or leave one out.", s.indexed, first),
		fault.Meta{"first_" + s.indexed: first})
}

// lookUp looks up the ids of the rows.
func (s *rowSet) lookUp(ctx context.Context, workspace ident.ID, records Records) (map[ident.ID]ident.ID, error) {
	wanted, seen := map[string][]ident.ID{}, map[ident.ID]bool{"": true}
	collect := func(r *fact.Row) {
		for i := range links {
			if id := links[i].entity(r).Record; !seen[id] {
				seen[id] = true
				kind := links[i].kindOf(id)
				wanted[kind] = append(wanted[kind], id)
			}
		}
	}
	for i := range s.rows {
		collect(&s.rows[i])
	}
	for i := range s.refused {
		collect(&s.refused[i].row)
	}
	all := map[ident.ID]ident.ID{}
	for kind, ids := range wanted {
		for batch := range slices.Chunk(ids, MaxLookup) {
			found, err := records.Find(ctx, workspace, kind, batch)
			if err != nil {
				return nil, fmt.Errorf("look up %ss: %w", kind, err)
			}
			maps.Copy(all, found)
		}
	}
	return all, nil
}

// span returns the first and the last day of the rows.
func (s *rowSet) span() (first, last clock.Date) {
	for i := range s.rows {
		d := s.rows[i].Date
		if i == 0 || d < first {
			first = d
		}
		if i == 0 || d > last {
			last = d
		}
	}
	return first, last
}
