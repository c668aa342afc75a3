// Package metricstest has the tests that every engine of facts must pass: a suite
// of rules, and random work whose results are compared exactly with those of an
// engine that is simple enough to be obviously right.
package metricstest

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
)

var _ metrics.Engine = (*Naive)(nil)

// Naive keeps every batch in memory and reads all of them for every query.
type Naive struct {
	mu     sync.Mutex
	spaces map[ident.ID]*space
}

// NewNaive returns an empty engine.
func NewNaive() *Naive { return &Naive{spaces: map[ident.ID]*space{}} }

type space struct {
	generation int64
	mirrored   clock.Instant
	batches    []*fact.Batch
	// left has the facts after the first applied batches.
	left     map[rowKey]stored
	applied  int
	sources  []fact.Source
	entities map[entityKey]fact.Entity
	records  map[ident.ID]fact.Record
	// imports were written, some undone since.
	imports map[ident.ID]bool
}

type entityKey struct {
	connection     ident.ID
	kind, external string
}

type rowKey struct {
	connection                                                               ident.ID
	account                                                                  string
	family                                                                   fact.Family
	date                                                                     clock.Date
	channel, campaign, creative, audience, country, ageRange, gender, device string
}

// stored is a row and the import that wrote it.
type stored struct {
	*fact.Row
	imported ident.ID
}

func keyOf(r *fact.Row) rowKey {
	return rowKey{
		r.Source.Connection, r.Source.Account, r.Family, r.Date, r.Channel, r.Campaign.Key(), r.Creative.Key(), r.Audience.Key(), r.Country, r.AgeRange, r.Gender, r.Device,
	}
}

func (n *Naive) space(id ident.ID) *space {
	s := n.spaces[id]
	if s == nil {
		s = &space{entities: map[entityKey]fact.Entity{}, records: map[ident.ID]fact.Record{}, imports: map[ident.ID]bool{}}
		n.spaces[id] = s
	}
	return s
}

// facts returns the facts after all batches.
func (s *space) facts() map[rowKey]stored {
	if s.applied == 0 {
		s.left = map[rowKey]stored{}
	}
	facts := s.left
	for _, b := range s.batches[s.applied:] {
		s.applied++
		for key := range facts {
			for _, w := range b.Replace {
				if key.connection == w.Source.Connection && key.account == w.Source.Account && key.family == w.Family && key.date >= w.First && key.date <= w.Last {
					delete(facts, key)
				}
			}
		}
		for i := range b.Rows {
			facts[keyOf(&b.Rows[i])] = stored{&b.Rows[i], b.Import}
		}
	}
	return facts
}

// Write implements metrics.Engine.
func (n *Naive) Write(ctx context.Context, b *fact.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.space(b.Workspace)
	if b.Import != "" {
		if s.imports[b.Import] {
			return nil
		}
		s.imports[b.Import] = true
	}
	kept := *b
	kept.Rows, kept.Replace = slices.Clone(b.Rows), slices.Clone(b.Replace)
	s.batches = append(s.batches, &kept)
	s.generation++
	for _, w := range kept.Replace {
		s.source(*w.Source)
	}
	for _, r := range kept.Rows {
		s.source(*r.Source)
		s.entity(r.Source.Connection, fact.KindCampaign, r.Campaign)
		s.entity(r.Source.Connection, fact.KindCreative, r.Creative)
		s.entity(r.Source.Connection, fact.KindAudience, r.Audience)
	}
	for _, l := range b.Links {
		s.entity(l.Connection, l.Kind, l.Entity)
		key := entityKey{l.Connection, l.Kind, l.Entity.Key()}
		known := s.entities[key]
		known.Record, known.VariantID = l.Entity.Record, l.Entity.VariantID
		s.entities[key] = known
	}
	return nil
}

func (s *space) source(source fact.Source) {
	for i, known := range s.sources {
		if known.Connection == source.Connection && known.Account == source.Account {
			s.sources[i] = source
			return
		}
	}
	s.sources = append(s.sources, source)
}

func (s *space) entity(connection ident.ID, kind string, e fact.Entity) {
	if !e.IsSet() {
		return
	}
	key := entityKey{connection, kind, e.Key()}
	known := s.entities[key]
	known.ExternalID = e.Key()
	if e.Name != "" {
		known.Name = e.Name
	}
	if e.Record != "" {
		known.Record = e.Record
	}
	if e.VariantID != "" {
		known.VariantID = e.VariantID
	}
	s.entities[key] = known
}

// Undo implements metrics.Engine.
func (n *Naive) Undo(_ context.Context, workspace, imported ident.ID) (int64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.space(workspace)
	var gone int64
	for _, r := range s.facts() {
		if r.imported == imported {
			gone++
		}
	}
	s.batches = slices.DeleteFunc(s.batches, func(b *fact.Batch) bool { return b.Import == imported })
	s.applied = 0
	s.generation++
	return gone, nil
}

// Mirror implements metrics.Engine.
func (n *Naive) Mirror(_ context.Context, workspace ident.ID, records []fact.Record, through clock.Instant) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.space(workspace)
	for _, r := range records {
		s.records[r.ID] = r
	}
	s.generation++
	s.mirrored = through
	return nil
}

// State implements metrics.Engine.
func (n *Naive) State(_ context.Context, workspace ident.ID) (analytics.State, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.space(workspace)
	state := analytics.State{Generation: s.generation, Mirrored: s.mirrored}
	facts := s.facts()
	for _, source := range s.sources {
		c := fact.Coverage{Source: source}
		found := false
		for key := range facts {
			if key.connection != source.Connection || key.account != source.Account {
				continue
			}
			if !found || key.date < c.First {
				c.First = key.date
			}
			if !found || key.date > c.Last {
				c.Last = key.date
			}
			x := &c.Families[key.family]
			if x.Rows == 0 || key.date < x.First {
				x.First = key.date
			}
			if x.Rows == 0 || key.date > x.Last {
				x.Last = key.date
			}
			x.Rows++
			found = true
		}
		if found {
			state.Sources = append(state.Sources, c)
		}
	}
	return state, nil
}

// Dump is not supported.
func (n *Naive) Dump(context.Context, io.Writer) error { return errors.ErrUnsupported }

// Fill is not supported.
func (n *Naive) Fill(context.Context, io.Reader) error { return errors.ErrUnsupported }

// Close implements metrics.Engine.
func (n *Naive) Close() error { return nil }
