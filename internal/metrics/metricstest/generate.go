package metricstest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Generator creates random writes to a few sources and days, so that rows
// replace each other often. The same seed creates the same writes.
type Generator struct {
	R          *rand.Rand
	Workspaces []ident.ID
	Sources    []*fact.Source
	// First and Last are the first and last day of facts.
	First, Last clock.Date
	// rows and imports are those of earlier batches.
	rows    []fact.Row
	imports []brought
}

type brought struct{ workspace, imported ident.ID }

// NewGenerator returns a generator.
func NewGenerator(seed uint64) *Generator {
	return &Generator{
		R:          rand.New(rand.NewPCG(seed, 1)),
		Workspaces: []ident.ID{"wks_one", "wks_two"},
		Sources: []*fact.Source{
			{Connection: "con_a", Platform: "meta", Account: "1", Currency: "EUR", Zone: "Europe/Berlin"},
			{Connection: "con_a", Platform: "meta", Account: "2", Currency: "USD", Zone: "America/New_York"},
			{Connection: "con_b", Platform: "google_ads", Account: "1", Currency: "JPY", Zone: "Asia/Tokyo"},
			{Connection: "con_c", Platform: "ga4", Account: "9", Currency: "EUR", Zone: "UTC"},
		},
		First: clock.MakeDate(2023, 12, 18), Last: clock.MakeDate(2024, 3, 9),
	}
}

// odd are texts that caused errors before.
var odd = []string{"Brand", "brand 100%", "a_b", `back\slash`, "O'Brien", `"quoted"`, "Ünïçödé ÀÉ", "'; DROP TABLE base; --", "日本", "?", "$1", "line\nbreak"}

var currencies = []money.Currency{"EUR", "USD", "JPY"}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (w *Generator) chance(percent int) bool { return w.R.IntN(100) < percent }

// Day returns a random day.
func (w *Generator) Day() clock.Date { return w.First + clock.Date(w.R.IntN(int(w.Last-w.First)+1)) }

// span returns two days in order, which may lie outside.
func (w *Generator) span(most int) (first, last clock.Date) {
	first = w.Day() - 3
	return first, first + clock.Date(w.R.IntN(most))
}

func (w *Generator) entity(kind, prefix string, n int) fact.Entity {
	if w.chance(15) {
		return fact.Entity{}
	}
	i := w.R.IntN(n)
	e := fact.Entity{ExternalID: fmt.Sprintf("%s%d", kind, i)}
	if w.chance(40) {
		e.Name = pick(w.R, odd)
	}
	if w.chance(20) {
		// Entities of two platforms are often linked to one record.
		e.Record = ident.ID(fmt.Sprintf("%s_%d", prefix, i/2))
	}
	if e.Record != "" && prefix == "crv" && w.chance(50) {
		e.VariantID = ident.ID(fmt.Sprintf("var_%d", i))
	}
	if e.Record != "" && w.chance(20) {
		e.ExternalID = ""
	}
	return e
}

func (w *Generator) values() (v fact.Values) {
	for m := range fact.Measure(fact.NumMeasures) {
		if w.chance(30) {
			continue
		}
		n := w.R.Int64N(5_000_000)
		if m.Scaled() && w.chance(10) {
			n = -n
		}
		if w.chance(10) {
			n = 0
		}
		v.Set(m, n)
	}
	return v
}

func maybe(w *Generator, list []string) string {
	if w.chance(20) {
		return ""
	}
	return pick(w.R, list[:min(3, len(list))])
}

// Row returns a random row of a source and family.
func (w *Generator) Row(s *fact.Source, f fact.Family, d clock.Date) fact.Row {
	r := fact.Row{
		Source: s, Family: f, Date: d, Channel: pick(w.R, fact.Channels[:4]),
		Campaign: w.entity("c", "cmp", 5), Audience: w.entity("a", "aud", 3), Values: w.values(),
	}
	switch f {
	case fact.Geo:
		r.Country = maybe(w, []string{"DE", "US", "FR"})
	case fact.Demographic:
		r.AgeRange, r.Gender = maybe(w, fact.AgeRanges), maybe(w, fact.Genders)
	case fact.Device:
		r.Device = maybe(w, fact.Devices)
	default:
		r.Creative = w.entity("v", "crv", 5)
	}
	return r
}

// Batch returns a random batch: some replace windows, some single rows, some can
// be undone.
func (w *Generator) Batch() *fact.Batch {
	b := &fact.Batch{Workspace: pick(w.R, w.Workspaces)}
	if w.chance(50) {
		b.Import = ident.ID(fmt.Sprintf("imp_%d", len(w.imports)))
		if len(w.imports) > 0 && w.chance(20) {
			b.Import = pick(w.R, w.imports).imported
		}
		w.imports = append(w.imports, brought{b.Workspace, b.Import})
	}
	if w.chance(50) {
		for range 1 + w.R.IntN(2) {
			first, last := w.span(25)
			b.Replace = append(b.Replace, fact.Window{Source: pick(w.R, w.Sources), Family: w.family(), First: first, Last: last})
		}
	}
	taken := map[rowKey]bool{}
	for range w.R.IntN(60) {
		source, family, day := pick(w.R, w.Sources), w.family(), w.Day()
		if len(b.Replace) > 0 {
			in := pick(w.R, b.Replace)
			source, family, day = in.Source, in.Family, in.First+clock.Date(w.R.IntN(int(in.Last-in.First)+1))
		}
		r := w.Row(source, family, day)
		if len(w.rows) > 0 && w.chance(50) {
			// The same key once more, with other values.
			again := pick(w.R, w.rows)
			again.Values = r.Values
			if len(b.Replace) == 0 || slices.ContainsFunc(b.Replace, func(in fact.Window) bool {
				return again.Source == in.Source && again.Family == in.Family && again.Date >= in.First && again.Date <= in.Last
			}) {
				r = again
			}
		}
		w.rows = append(w.rows, r)
		if !taken[keyOf(&r)] {
			taken[keyOf(&r)] = true
			b.Rows = append(b.Rows, r)
		}
	}
	return b
}

func (w *Generator) family() fact.Family {
	if w.chance(50) {
		return fact.Base
	}
	return fact.Family(w.R.IntN(len(fact.Families)))
}

// Import returns an import of a workspace, or one that never existed.
func (w *Generator) Import() (workspace, imported ident.ID) {
	if len(w.imports) == 0 || w.chance(5) {
		return pick(w.R, w.Workspaces), "imp_none"
	}
	b := pick(w.R, w.imports)
	return b.workspace, b.imported
}

// Records returns random records.
func (w *Generator) Records() []fact.Record {
	var list []fact.Record
	for range w.R.IntN(4) {
		i := w.R.IntN(3)
		switch w.R.IntN(3) {
		case 0:
			r := fact.Record{ID: ident.ID(fmt.Sprintf("cmp_%d", i)), Kind: fact.KindCampaign, Name: pick(w.R, odd), Status: pick(w.R, []string{"active", "paused"}), Objective: pick(w.R, []string{"", "sales"})}
			for range w.R.IntN(4) {
				r.Tags = append(r.Tags, pick(w.R, []string{"black-friday", "O'Tag", "Ärger", "x"}))
			}
			list = append(list, r)
		case 1:
			list = append(list, fact.Record{ID: ident.ID(fmt.Sprintf("crv_%d", i)), Kind: fact.KindCreative, Name: pick(w.R, odd), Status: "ready", Type: pick(w.R, []string{"image", "video"})})
		default:
			list = append(list, fact.Record{ID: ident.ID(fmt.Sprintf("aud_%d", i)), Kind: fact.KindAudience, Name: pick(w.R, odd), Status: "active"})
		}
	}
	return list
}

// Dimensions are the dimensions of a family.
func Dimensions(f fact.Family) []string {
	only := map[string]fact.Family{
		"creative_id": fact.Base, "creative_name": fact.Base, "creative_type": fact.Base,
		"country": fact.Geo, "age_range": fact.Demographic, "gender": fact.Demographic, "device": fact.Device,
	}
	var list []string
	for _, d := range analytics.Dimensions {
		if family, bound := only[d.Name]; !bound || family == f {
			list = append(list, d.Name)
		}
	}
	if f == fact.Base {
		list = append(list, analytics.DimensionVariant)
	}
	return list
}

// Plan returns a random plan.
func (w *Generator) Plan() *analytics.Plan {
	p := &analytics.Plan{
		Workspace: pick(w.R, w.Workspaces), Family: w.family(), Granularity: pick(w.R, analytics.Granularities), Currency: pick(w.R, currencies[:2]), MaxGroups: 100_000, UnknownIfTooLarge: w.chance(20),
	}
	p.First, p.Last = w.span(int(w.Last-w.First) + 10)
	if w.chance(30) {
		p.First, p.Last = w.First-40, w.Last+40
	}
	dimensions := Dimensions(p.Family)
	w.R.Shuffle(len(dimensions), func(i, j int) { dimensions[i], dimensions[j] = dimensions[j], dimensions[i] })
	p.Dimensions = slices.Clone(dimensions[:w.R.IntN(4)])
	for _, m := range w.R.Perm(fact.NumMeasures)[:w.R.IntN(7)] {
		p.Measures = append(p.Measures, fact.Measure(m))
	}
	if w.chance(60) {
		c := w.condition(dimensions, 3)
		p.Where = &c
	}
	complete := w.chance(60)
	for d := w.First; d <= w.Last; d++ {
		for _, c := range currencies {
			if c != p.Currency && (complete || !w.chance(3)) {
				p.Rates = append(p.Rates, analytics.Rate{Currency: c, Date: d, Over: 1 + w.R.Int64N(200_000_000), Under: 1 + w.R.Int64N(200_000_000)})
			}
		}
	}
	if w.chance(5) {
		p.MaxGroups = 1 + w.R.IntN(5)
	}
	return p
}

// condition returns a random condition with at most that many levels.
func (w *Generator) condition(dimensions []string, depth int) analytics.Condition {
	if depth > 1 && w.chance(50) {
		switch w.R.IntN(3) {
		case 0:
			c := w.condition(dimensions, depth-1)
			return analytics.Condition{Not: &c}
		case 1:
			return analytics.Condition{And: w.conditions(dimensions, depth-1)}
		default:
			return analytics.Condition{Or: w.conditions(dimensions, depth-1)}
		}
	}
	ops := []analytics.Op{
		analytics.Equal, analytics.NotEqual, analytics.In, analytics.NotIn, analytics.Contains, analytics.NotContains, analytics.StartsWith,
		analytics.Greater, analytics.AtLeast, analytics.Less, analytics.AtMost, analytics.Between, analytics.IsNull, analytics.IsNotNull,
	}
	c := analytics.Condition{Dimension: pick(w.R, dimensions), Op: pick(w.R, ops)}
	switch c.Op {
	case analytics.IsNull, analytics.IsNotNull:
	case analytics.Between:
		c.Values = []string{w.value(c.Dimension), w.value(c.Dimension)}
	case analytics.Contains, analytics.NotContains, analytics.StartsWith:
		text := []rune(w.value(c.Dimension))
		from := w.R.IntN(len(text))
		if c.Op == analytics.StartsWith {
			from = 0
		}
		c.Values = []string{string(text[from : from+1+w.R.IntN(len(text)-from)])}
	default:
		for range 1 + w.R.IntN(3) {
			c.Values = append(c.Values, w.value(c.Dimension))
		}
	}
	return c
}

func (w *Generator) conditions(dimensions []string, depth int) []analytics.Condition {
	var list []analytics.Condition
	for range 1 + w.R.IntN(3) {
		list = append(list, w.condition(dimensions, depth))
	}
	return list
}

// value returns a value that a dimension often has.
func (w *Generator) value(dimension string) string {
	if w.chance(10) {
		return pick(w.R, odd)
	}
	for _, d := range analytics.Dimensions {
		if d.Name == dimension && len(d.Allowed) > 0 {
			return pick(w.R, d.Allowed[:min(4, len(d.Allowed))])
		}
	}
	switch dimension {
	case "campaign_id", "creative_id", "audience_id":
		return fmt.Sprintf("%s_%d", map[string]string{"campaign_id": "cmp", "creative_id": "crv", "audience_id": "aud"}[dimension], w.R.IntN(3))
	case "campaign_status":
		return pick(w.R, []string{"active", "paused"})
	case "objective":
		return "sales"
	case "creative_type":
		return pick(w.R, []string{"image", "video"})
	case "tag":
		return pick(w.R, []string{"black-friday", "O'Tag", "Ärger", "x"})
	case "platform":
		return pick(w.R, []string{"meta", "google_ads", "ga4"})
	case "connection_id":
		return pick(w.R, []string{"con_a", "con_b", "con_c"})
	case "account_id":
		return pick(w.R, []string{"1", "2", "9"})
	case "country":
		return pick(w.R, []string{"DE", "US", "FR"})
	}
	return pick(w.R, odd)
}
