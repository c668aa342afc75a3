package analytics

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"pgregory.net/rapid"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// memoryFacts has facts and records in memory. Every query reads every row.
type memoryFacts struct {
	mu          sync.Mutex
	rows        []fact.Row
	records     map[ident.ID]fact.Record
	rates       []DayRate
	flights     map[ident.ID]Flight
	connections []Connection
	stored      map[ident.ID]*StoredResult
	plans       int
	generation  int64
	// begin runs while a request waits for its turn.
	begin func(wait time.Duration) error
	// before runs ahead of every plan, after behind it.
	before func(ctx context.Context, p *Plan) error
	after  func(p *Plan)
	now    time.Time
}

var (
	wks       = Workspace{ID: ident.Make(ident.Workspace, time.UnixMilli(1), 1), Timezone: "UTC", Currency: "EUR"}
	noon      = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	campaigns = manyIDs(ident.Campaign, 4)
	creatives = manyIDs(ident.Creative, 3)
	audiences = manyIDs(ident.Audience, 2)
	conns     = manyIDs(ident.Connection, 3)
	metaAds   = &fact.Source{Connection: conns[0], Platform: "meta_ads", Account: "act_1", Currency: "EUR", Zone: "Europe/Berlin"}
	googleAds = &fact.Source{Connection: conns[1], Platform: "google_ads", Account: "123", Currency: "USD", Zone: "America/New_York"}
	ga4       = &fact.Source{Connection: conns[2], Platform: "ga4", Account: "G-1", Currency: "EUR", Zone: "Europe/Berlin"}
)

func manyIDs(prefix string, n int) []ident.ID {
	var list []ident.ID
	for i := range n {
		list = append(list, ident.Make(prefix, time.UnixMilli(1000), uint64(i+1)<<2))
	}
	return list
}

func newMemoryFacts() *memoryFacts {
	m := &memoryFacts{records: map[ident.ID]fact.Record{}, flights: map[ident.ID]Flight{}, stored: map[ident.ID]*StoredResult{}, now: noon}
	for i, id := range campaigns {
		m.records[id] = fact.Record{ID: id, Kind: fact.KindCampaign, Name: fmt.Sprintf("Campaign %d", i), Status: []string{"active", "paused"}[i%2], Objective: "sales", Tags: []string{"black-friday", "brand"}[:i%3]}
	}
	for i, id := range creatives {
		m.records[id] = fact.Record{ID: id, Kind: fact.KindCreative, Name: fmt.Sprintf("Creative %d", i), Status: []string{"ready", "archived"}[i%2], Type: "image"}
	}
	for i, id := range audiences {
		m.records[id] = fact.Record{ID: id, Kind: fact.KindAudience, Name: fmt.Sprintf("Audience %d", i), Status: "ready"}
	}
	for i, s := range []*fact.Source{metaAds, googleAds, ga4} {
		m.connections = append(m.connections, Connection{ID: s.Connection, Name: fmt.Sprintf("Connection %d", i), Platform: s.Platform, Status: "connected", LookbackDays: 28})
	}
	return m
}

func (m *memoryFacts) service() *Service {
	return New(Deps{
		Facts: m, Rates: m, Results: m, Flights: m, Records: m,
		Workspace: func(context.Context, ident.ID) (Workspace, error) { return wks, nil },
		Catchup:   func(context.Context, ident.ID) error { return nil },
		Seal:      func(w ident.ID, plain []byte) string { return hex.EncodeToString(append([]byte(w+"|"), plain...)) },
		Open: func(w ident.ID, text string) ([]byte, bool) {
			b, err := hex.DecodeString(text)
			rest, ok := bytes.CutPrefix(b, []byte(w+"|"))
			return rest, err == nil && ok
		},
		Now:    func() time.Time { return m.now },
		Random: rand.NewChaCha8([32]byte{1}),
	})
}

func (m *memoryFacts) State(context.Context, ident.ID) (State, error) {
	s := State{Generation: m.generation}
	for i := range m.rows {
		r := &m.rows[i]
		at := slices.IndexFunc(s.Sources, func(c fact.Coverage) bool { return c.Source == *r.Source })
		if at < 0 {
			at = len(s.Sources)
			s.Sources = append(s.Sources, fact.Coverage{Source: *r.Source, First: r.Date, Last: r.Date})
		}
		c := &s.Sources[at]
		c.First, c.Last = min(c.First, r.Date), max(c.Last, r.Date)
		c.Families[r.Family].Add(1, r.Date, r.Date)
	}
	return s, nil
}

// values returns the values of a row in a dimension: none, one, or all its
// tags.
func (m *memoryFacts) values(r *fact.Row, dimension string) []Value {
	entity := map[string]fact.Entity{"campaign": r.Campaign, "creative": r.Creative, "audience": r.Audience}
	for kind, e := range entity {
		record, linked := m.records[e.Record]
		switch dimension {
		case kind + "_id":
			switch {
			case linked:
				return []Value{{ID: string(e.Record), Label: record.Name}}
			case e.IsSet():
				return []Value{{Null: true, External: e.ExternalID, Label: e.Name}}
			}
			return nil
		case kind + "_name":
			if linked {
				return text(record.Name)
			}
			return text(e.Name)
		case kind + "_status":
			return text(record.Status)
		case kind + "_type":
			return text(record.Type)
		}
	}
	own := m.records[r.Campaign.Record]
	switch dimension {
	case "objective":
		return text(own.Objective)
	case "tag":
		var list []Value
		for _, t := range own.Tags {
			list = append(list, Value{ID: t})
		}
		return list
	case "weekday":
		return text(strings.ToLower(r.Date.Time().Weekday().String()))
	}
	return text(map[string]string{
		"channel": r.Channel, "platform": r.Source.Platform, "connection_id": string(r.Source.Connection), "account_id": r.Source.Account,
		"country": r.Country, "age_range": r.AgeRange, "gender": r.Gender, "device": r.Device,
	}[dimension])
}

func text(s string) []Value {
	if s == "" {
		return nil
	}
	return []Value{{ID: s}}
}

// satisfies reports whether a row, as part of a group by tag, is asked for.
func (m *memoryFacts) satisfies(r *fact.Row, c *Condition, tag *Value) bool {
	switch {
	case c == nil:
		return true
	case c.And != nil:
		return !slices.ContainsFunc(c.And, func(c Condition) bool { return !m.satisfies(r, &c, tag) })
	case c.Or != nil:
		return slices.ContainsFunc(c.Or, func(c Condition) bool { return m.satisfies(r, &c, tag) })
	case c.Not != nil:
		return !m.satisfies(r, c.Not, tag)
	}
	var have []string
	for _, v := range m.values(r, c.Dimension) {
		if !v.Null {
			have = append(have, v.ID)
		}
	}
	if c.Dimension == "tag" && tag != nil {
		have = nil
		if !tag.Null {
			have = []string{tag.ID}
		}
	}
	found := false
	for _, h := range have {
		for i, w := range c.Values {
			switch c.Op {
			case Equal, In, NotEqual, NotIn:
				found = found || h == w
			case Contains, NotContains:
				found = found || strings.Contains(strings.ToLower(h), strings.ToLower(w))
			case StartsWith:
				found = found || strings.HasPrefix(strings.ToLower(h), strings.ToLower(w))
			case Greater:
				found = found || h > w
			case AtLeast:
				found = found || h >= w
			case Less:
				found = found || h < w
			case AtMost:
				found = found || h <= w
			case Between:
				found = found || i == 0 && h >= w && h <= c.Values[1]
			case IsNull, IsNotNull:
			}
		}
	}
	switch c.Op {
	case IsNull:
		return len(have) == 0
	case IsNotNull:
		return len(have) > 0
	case NotEqual, NotIn, NotContains:
		return !found
	default:
		return found
	}
}

func (m *memoryFacts) Begin(ctx context.Context, _ ident.ID, wait time.Duration, _ ...*Plan) (context.Context, func(), error) {
	if m.begin != nil {
		if err := m.begin(wait); err != nil {
			return nil, nil, err
		}
	}
	return ctx, func() {}, nil
}

func (m *memoryFacts) Query(ctx context.Context, p *Plan) ([]Group, error) {
	m.mu.Lock()
	m.plans++
	m.mu.Unlock()
	if m.before != nil {
		if err := m.before(ctx, p); err != nil {
			return nil, err
		}
	}
	byKey := map[string]int{}
	var groups []Group
	var members [][]*fact.Row
	for i := range m.rows {
		r := &m.rows[i]
		if p.Workspace != wks.ID || r.Family != p.Family || r.Date < p.First || r.Date > p.Last {
			continue
		}
		tags := []*Value{nil}
		if slices.Contains(p.Dimensions, "tag") {
			tags = nil
			for _, v := range m.values(r, "tag") {
				tags = append(tags, &v)
			}
			if tags == nil {
				tags = []*Value{{Null: true}}
			}
		}
		for _, tag := range tags {
			if !m.satisfies(r, p.Where, tag) {
				continue
			}
			g := Group{}
			if p.Granularity != Whole {
				g.Bucket = p.Granularity.start(r.Date)
			}
			for _, d := range p.Dimensions {
				v := Value{Null: true}
				if d == "tag" {
					v = *tag
				} else if list := m.values(r, d); list != nil {
					v = list[0]
				}
				g.Values = append(g.Values, v)
			}
			key := fmt.Sprint(g)
			at, there := byKey[key]
			if !there {
				at = len(groups)
				byKey[key] = at
				groups, members = append(groups, g), append(members, nil)
			}
			members[at] = append(members[at], r)
		}
	}
	if len(groups) > p.MaxGroups {
		return nil, ErrTooMany
	}
	for i := range groups {
		for _, measure := range p.Measures {
			sum, err := sumUp(p, measure, members[i])
			if err != nil {
				return nil, err
			}
			groups[i].Sums = append(groups[i].Sums, sum)
		}
	}
	if m.after != nil {
		m.after(p)
	}
	rand.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	return groups, nil
}

func sumUp(p *Plan, measure fact.Measure, rows []*fact.Row) (Sum, error) {
	total, s := new(big.Int), Sum{}
	for _, r := range rows {
		n, known := r.Values.Get(measure)
		if !known {
			continue
		}
		v := big.NewInt(n)
		if measure.Money() && r.Source.Currency != p.Currency {
			at := slices.IndexFunc(p.Rates, func(rate Rate) bool { return rate.Currency == r.Source.Currency && rate.Date == r.Date })
			if at < 0 {
				s.NoRate = true
				continue
			}
			v = rounded(new(big.Rat).SetFrac(v.Mul(v, big.NewInt(p.Rates[at].Over)), big.NewInt(p.Rates[at].Under)))
		}
		total.Add(total, v)
		s.Known = true
	}
	if measure == fact.Reach && len(rows) > 1 {
		return Sum{Mixed: s.Known}, nil
	}
	if !total.IsInt64() {
		if p.UnknownIfTooLarge {
			return Sum{NoRate: s.NoRate}, nil
		}
		return s, ErrTooLarge
	}
	s.N, s.Known = total.Int64(), s.Known && !s.NoRate
	return s, nil
}

// rounded is half away from zero.
func rounded(r *big.Rat) *big.Int {
	half := big.NewRat(int64(r.Sign()), 2)
	sum := new(big.Rat).Add(r, half)
	return new(big.Int).Quo(sum.Num(), sum.Denom())
}

func (m *memoryFacts) Rates(_ context.Context, _ ident.ID, currencies []money.Currency, first, last clock.Date) ([]DayRate, error) {
	var list []DayRate
	for _, r := range m.rates {
		if slices.Contains(currencies, r.Currency) && r.Date >= first && r.Date <= last {
			list = append(list, r)
		}
	}
	return list, nil
}

func (m *memoryFacts) Save(_ context.Context, _ ident.ID, k *StoredResult) error {
	m.stored[k.ID] = k
	return nil
}

func (m *memoryFacts) Page(_ context.Context, _, id ident.ID, offset, limit int) ([][]byte, []byte, int, error) {
	k := m.stored[id]
	if k == nil || clock.At(m.now) >= k.ExpiresAt {
		return nil, nil, 0, fault.Missing()
	}
	return k.Rows[offset:min(offset+limit, len(k.Rows))], k.Meta, len(k.Rows), nil
}

func (m *memoryFacts) Flights(_ context.Context, _ ident.ID, ids []ident.ID) (map[ident.ID]Flight, error) {
	found := map[ident.ID]Flight{}
	for _, id := range ids {
		if f, there := m.flights[id]; there {
			found[id] = f
		}
	}
	return found, nil
}

func (m *memoryFacts) Connections(context.Context, ident.ID) ([]Connection, error) {
	return m.connections, nil
}

func (m *memoryFacts) Records(_ context.Context, _ ident.ID, kind string, ids []ident.ID) ([]fact.Record, error) {
	var list []fact.Record
	for id, r := range m.records {
		if r.Kind == kind && (slices.Contains(ids, id) || ids == nil && r.Status != "archived") {
			list = append(list, r)
		}
	}
	return list, nil
}

// day parses a valid day.
func day(t rapid.TB, s string) clock.Date {
	t.Helper()
	d, ok := clock.ParseDate(s)
	if !ok {
		t.Fatalf("%q is not a day", s)
	}
	return d
}

// measures makes values of names and numbers.
func measures(pairs map[fact.Measure]int64) (v fact.Values) {
	for m, n := range pairs {
		v.Set(m, n)
	}
	return v
}
