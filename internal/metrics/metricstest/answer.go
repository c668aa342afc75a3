package metricstest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// tagged is a fact with one of its tags, if any.
type tagged struct {
	*fact.Row
	tag string
}

// Begin implements analytics.Facts. Everything may run at once.
func (n *Naive) Begin(ctx context.Context, _ ident.ID, _ time.Duration, _ ...*analytics.Plan) (context.Context, func(), error) {
	return ctx, func() {}, nil
}

// Query implements metrics.Engine.
func (n *Naive) Query(ctx context.Context, p *analytics.Plan) ([]analytics.Group, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.space(p.Workspace)
	groups := map[string]*group{}
	for _, r := range s.facts() {
		if r.Family != p.Family || r.Date < p.First || r.Date > p.Last {
			continue
		}
		for _, r := range s.tagged(p, r.Row) {
			if p.Where != nil && !s.holds(p, p.Where, r) {
				continue
			}
			g := newGroup(s, p, r)
			if known := groups[g.key()]; known != nil {
				g = known
			}
			groups[g.key()] = g
			g.rows = append(g.rows, r)
		}
	}
	if len(groups) > p.MaxGroups {
		return nil, analytics.ErrTooMany
	}
	var list []analytics.Group
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		g := groups[key]
		for i, d := range p.Dimensions {
			if isID(d) {
				g.Values[i].Label = s.label(g, d)
			}
		}
		for _, m := range p.Measures {
			sum, err := s.sum(p, m, g.rows)
			if err != nil {
				return nil, err
			}
			g.Sums = append(g.Sums, sum)
		}
		list = append(list, g.Group)
	}
	return list, nil
}

// tagged returns the row once, or once for every tag if the plan groups by tag.
func (s *space) tagged(p *analytics.Plan, r *fact.Row) []tagged {
	tags := s.tags(r)
	if !slices.Contains(p.Dimensions, "tag") || len(tags) == 0 {
		return []tagged{{r, ""}}
	}
	var list []tagged
	for _, tag := range tags {
		list = append(list, tagged{r, tag})
	}
	return list
}

// tags returns the different tags of the row's campaign.
func (s *space) tags(r *fact.Row) []string {
	tags := slices.Clone(s.record(r, fact.KindCampaign).Tags)
	slices.Sort(tags)
	return slices.DeleteFunc(slices.Compact(tags), func(tag string) bool { return tag == "" })
}

// known returns the current state of an entity.
func (s *space) known(r *fact.Row, kind string) fact.Entity {
	e := map[string]fact.Entity{fact.KindCampaign: r.Campaign, fact.KindCreative: r.Creative, fact.KindAudience: r.Audience}[kind]
	if !e.IsSet() {
		return fact.Entity{}
	}
	return s.entities[entityKey{r.Source.Connection, kind, e.Key()}]
}

// record returns the record that the entity is linked to, empty if none.
func (s *space) record(r *fact.Row, kind string) fact.Record {
	return s.records[s.known(r, kind).Record]
}

func isID(dimension string) bool {
	return dimension == "campaign_id" || dimension == "creative_id" || dimension == "audience_id"
}

// text returns a dimension's value, "" for none.
func (s *space) text(r tagged, dimension string) string {
	kind, _, _ := strings.Cut(dimension, "_")
	switch dimension {
	case "campaign_id", "creative_id", "audience_id":
		return string(s.known(r.Row, kind).Record)
	case "campaign_name", "creative_name", "audience_name":
		return cmp.Or(s.record(r.Row, kind).Name, s.known(r.Row, kind).Name)
	case "campaign_status":
		return s.record(r.Row, kind).Status
	case "objective":
		return s.record(r.Row, fact.KindCampaign).Objective
	case analytics.DimensionVariant:
		return string(s.known(r.Row, fact.KindCreative).VariantID)
	case "creative_type":
		return s.record(r.Row, kind).Type
	case "tag":
		return r.tag
	case "channel":
		return r.Channel
	case "platform":
		return s.sourceOf(r.Row).Platform
	case "connection_id":
		return string(r.Source.Connection)
	case "account_id":
		return r.Source.Account
	case "country":
		return r.Country
	case "age_range":
		return r.AgeRange
	case "gender":
		return r.Gender
	case "device":
		return r.Device
	case "weekday":
		return strings.ToLower(r.Date.Time().Weekday().String())
	}
	panic("no dimension " + dimension)
}

// sourceOf returns the current state of a source.
func (s *space) sourceOf(r *fact.Row) fact.Source {
	for _, known := range s.sources {
		if known.Connection == r.Source.Connection && known.Account == r.Source.Account {
			return known
		}
	}
	return *r.Source
}

// holds reports whether a condition is true for a row.
func (s *space) holds(p *analytics.Plan, c *analytics.Condition, r tagged) bool {
	switch {
	case len(c.And) > 0:
		return !slices.ContainsFunc(c.And, func(c analytics.Condition) bool { return !s.holds(p, &c, r) })
	case len(c.Or) > 0:
		return slices.ContainsFunc(c.Or, func(c analytics.Condition) bool { return s.holds(p, &c, r) })
	case c.Not != nil:
		return !s.holds(p, c.Not, r)
	}
	texts := []string{s.text(r, c.Dimension)}
	if c.Dimension == "tag" && !slices.Contains(p.Dimensions, "tag") {
		texts = s.tags(r.Row)
	}
	texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" })
	one := func(fits func(text, value string) bool) bool {
		return slices.ContainsFunc(texts, func(text string) bool {
			return slices.ContainsFunc(c.Values, func(value string) bool { return fits(text, value) })
		})
	}
	switch c.Op {
	case analytics.Equal, analytics.In:
		return one(func(text, value string) bool { return text == value })
	case analytics.NotEqual, analytics.NotIn:
		return !one(func(text, value string) bool { return text == value })
	case analytics.Contains:
		return one(func(text, value string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(value)) })
	case analytics.NotContains:
		return !one(func(text, value string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(value)) })
	case analytics.StartsWith:
		return one(func(text, value string) bool { return strings.HasPrefix(strings.ToLower(text), strings.ToLower(value)) })
	case analytics.Greater:
		return one(func(text, value string) bool { return text > value })
	case analytics.AtLeast:
		return one(func(text, value string) bool { return text >= value })
	case analytics.Less:
		return one(func(text, value string) bool { return text < value })
	case analytics.AtMost:
		return one(func(text, value string) bool { return text <= value })
	case analytics.Between:
		return slices.ContainsFunc(texts, func(text string) bool { return text >= c.Values[0] && text <= c.Values[1] })
	case analytics.IsNull:
		return len(texts) == 0
	case analytics.IsNotNull:
		return len(texts) > 0
	}
	panic("no operator " + string(c.Op))
}

// group is a group while it is built.
type group struct {
	analytics.Group
	rows []tagged
}

func newGroup(s *space, p *analytics.Plan, r tagged) *group {
	g := &group{Group: analytics.Group{Bucket: bucket(r.Date, p.Granularity), Values: []analytics.Value{}, Sums: []analytics.Sum{}}}
	for _, d := range p.Dimensions {
		text := s.text(r, d)
		v := analytics.Value{ID: text, Null: text == ""}
		if kind, _, _ := strings.Cut(d, "_"); isID(d) && v.Null {
			e := s.known(r.Row, kind)
			v.External, v.Label = e.ExternalID, e.Name
		}
		g.Values = append(g.Values, v)
	}
	return g
}

// key identifies a group.
func (g *group) key() string {
	var b strings.Builder
	fmt.Fprint(&b, g.Bucket)
	for _, v := range g.Values {
		fmt.Fprintf(&b, "|%q %v %q %q", v.ID, v.Null, v.External, v.Label)
	}
	return b.String()
}

// label returns the name of the record, else the first of the platforms' names in
// alphabetical order.
func (s *space) label(g *group, dimension string) string {
	kind, _, _ := strings.Cut(dimension, "_")
	var ours, theirs string
	for _, r := range g.rows {
		ours = s.record(r.Row, kind).Name
		if name := s.known(r.Row, kind).Name; name != "" && (theirs == "" || name < theirs) {
			theirs = name
		}
	}
	return cmp.Or(ours, theirs)
}

// bucket returns the first day of a day's bucket.
func bucket(d clock.Date, g analytics.Granularity) clock.Date {
	year, month, _ := d.Calendar()
	switch g {
	case analytics.Day:
		return d
	case analytics.Week:
		for d.Time().Weekday() != time.Monday {
			d--
		}
		return d
	case analytics.Month:
		return clock.MakeDate(year, month, 1)
	case analytics.Quarter:
		return clock.MakeDate(year, (month-1)/3*3+1, 1)
	case analytics.Year:
		return clock.MakeDate(year, time.January, 1)
	default:
		return 0
	}
}

func (s *space) sum(p *analytics.Plan, m fact.Measure, rows []tagged) (analytics.Sum, error) {
	total, known, noRate := new(big.Int), 0, false
	for _, r := range rows {
		v, ok := r.Values.Get(m)
		if !ok {
			continue
		}
		known++
		amount := big.NewInt(v)
		if currency := s.sourceOf(r.Row).Currency; m.Money() && currency != p.Currency {
			i := slices.IndexFunc(p.Rates, func(rate analytics.Rate) bool { return rate.Currency == currency && rate.Date == r.Date })
			if i < 0 {
				noRate = true
				continue
			}
			amount = convert(v, p.Rates[i])
		}
		total.Add(total, amount)
	}
	switch {
	case m == fact.Reach && len(rows) > 1:
		return analytics.Sum{Mixed: known > 0}, nil
	case noRate:
		return analytics.Sum{NoRate: true}, nil
	case known == 0:
		return analytics.Sum{}, nil
	case !total.IsInt64() && p.UnknownIfTooLarge:
		return analytics.Sum{}, nil
	case !total.IsInt64():
		return analytics.Sum{}, analytics.ErrTooLarge
	}
	return analytics.Sum{N: total.Int64(), Known: true}, nil
}

// convert multiplies by a rate and rounds half away from zero.
func convert(v int64, rate analytics.Rate) *big.Int {
	exact := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(v), big.NewInt(rate.Over)), big.NewInt(rate.Under))
	text := exact.FloatString(0) // rounds half away from zero
	n, _ := new(big.Int).SetString(text, 10)
	return n
}

// Diff describes how two results differ, "" if they are the same. Order does not
// matter.
func Diff(got, want []analytics.Group) string {
	lines := func(groups []analytics.Group) map[string]int {
		m := map[string]int{}
		for _, g := range groups {
			m[(&group{Group: g}).key()+fmt.Sprintf(" = %+v", g.Sums)]++
		}
		return m
	}
	g, w := lines(got), lines(want)
	var b strings.Builder
	for _, line := range slices.Sorted(maps.Keys(g)) {
		if g[line] != w[line] {
			fmt.Fprintf(&b, "got  %d × %s\n", g[line], line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(w)) {
		if g[line] != w[line] {
			fmt.Fprintf(&b, "want %d × %s\n", w[line], line)
		}
	}
	return b.String()
}

// sortSources sorts a state for a comparison.
func sortSources(s analytics.State) analytics.State {
	slices.SortFunc(s.Sources, func(a, b fact.Coverage) int {
		return cmp.Or(strings.Compare(string(a.Connection), string(b.Connection)), strings.Compare(a.Account, b.Account))
	})
	return s
}
