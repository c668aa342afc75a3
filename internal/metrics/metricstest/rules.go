package metricstest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
	"fanfare/internal/money"
)

const space1, space2 = ident.ID("wks_1"), ident.ID("wks_2")

var (
	euro   = &fact.Source{Connection: "con_1", Platform: "meta", Account: "1", Currency: "EUR", Zone: "UTC"}
	dollar = &fact.Source{Connection: "con_2", Platform: "google_ads", Account: "1", Currency: "USD", Zone: "UTC"}
	monday = clock.MakeDate(2026, 11, 2)
)

// ruleTest is a test of one rule on an empty engine.
type ruleTest struct {
	*testing.T
	e metrics.Engine
}

// rules are the rules for every engine. Each runs on an empty one.
var rules = map[string]func(ruleTest){
	"Nothing":              ruleTest.nothing,
	"UnknownIsNotZero":     ruleTest.unknownIsNotZero,
	"Reach":                ruleTest.reach,
	"Rounding":             ruleTest.rounding,
	"MissingRate":          ruleTest.missingRate,
	"DenyingKeepsNulls":    ruleTest.denyingKeepsNulls,
	"Tags":                 ruleTest.tags,
	"LinkedLater":          ruleTest.linkedLater,
	"LinkedByHand":         ruleTest.linkedByHand,
	"FamiliesAreApart":     ruleTest.familiesAreApart,
	"ReplaceEmptiesWindow": ruleTest.replaceEmptiesWindow,
	"UndoChains":           ruleTest.undoChains,
	"NewerStays":           ruleTest.newerStays,
	"ImportOnce":           ruleTest.importOnce,
	"Workspaces":           ruleTest.workspacesAreApart,
	"Buckets":              ruleTest.bucketsBegin,
	"TooLarge":             ruleTest.tooLarge,
	"TooMany":              ruleTest.tooMany,
	"Hostile":              ruleTest.hostile,
	"Cancelled":            ruleTest.cancelled,
	"Generation":           ruleTest.generation,
}

// fact1 is a base row with one measure.
func fact1(s *fact.Source, d clock.Date, campaign fact.Entity, m fact.Measure, n int64) fact.Row {
	r := fact.Row{Source: s, Date: d, Channel: "social", Campaign: campaign}
	r.Values.Set(m, n)
	return r
}

func (t ruleTest) write(b *fact.Batch) {
	t.Helper()
	if b.Workspace == "" {
		b.Workspace = space1
	}
	if err := t.e.Write(t.Context(), b); err != nil {
		t.Fatalf("write: %v", err)
	}
}

func (t ruleTest) writeRows(rows ...fact.Row) {
	t.Helper()
	t.write(&fact.Batch{Rows: rows})
}

func (t ruleTest) mirror(records ...fact.Record) {
	t.Helper()
	if err := t.e.Mirror(t.Context(), space1, records, 1000); err != nil {
		t.Fatalf("mirror: %v", err)
	}
}

func (t ruleTest) undo(imported ident.ID, want int64) {
	t.Helper()
	got, err := t.e.Undo(t.Context(), space1, imported)
	if err != nil || got != want {
		t.Fatalf("undo of %s: got %d, %v want %d", imported, got, err, want)
	}
}

func state(t *testing.T, e metrics.Engine, id ident.ID) analytics.State {
	t.Helper()
	s, err := e.State(t.Context(), id)
	if err != nil {
		t.Fatalf("state: %v", err)
	}
	return sortSources(s)
}

// plan returns a plan for everything; change may limit it.
func plan(m fact.Measure, change ...func(*analytics.Plan)) *analytics.Plan {
	p := &analytics.Plan{
		Workspace: space1, First: monday - 1000, Last: monday + 1000, Granularity: analytics.Whole, Measures: []fact.Measure{m}, Currency: "EUR", MaxGroups: 1000,
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func by(dimensions ...string) func(*analytics.Plan) {
	return func(p *analytics.Plan) { p.Dimensions = dimensions }
}

func where(dimension string, op analytics.Op, values ...string) func(*analytics.Plan) {
	return func(p *analytics.Plan) { p.Where = &analytics.Condition{Dimension: dimension, Op: op, Values: values} }
}

func in(c money.Currency, rates ...analytics.Rate) func(*analytics.Plan) {
	return func(p *analytics.Plan) { p.Currency, p.Rates = c, rates }
}

func (t ruleTest) query(p *analytics.Plan) []analytics.Group {
	t.Helper()
	groups, err := t.e.Query(t.Context(), p)
	if err != nil {
		t.Fatalf("query: %v", err)
	}
	return groups
}

// wants compares the result of a plan without granularity.
func (t ruleTest) wants(what string, p *analytics.Plan, want ...analytics.Group) {
	t.Helper()
	if d := Diff(t.query(p), want); d != "" {
		t.Errorf("%s:\n%s", what, d)
	}
}

// total is the one group of a plan without dimensions.
func total(n int64) analytics.Group { return one(analytics.Sum{N: n, Known: true}) }

func one(s analytics.Sum, values ...analytics.Value) analytics.Group {
	return analytics.Group{Values: values, Sums: []analytics.Sum{s}}
}

func known(n int64, values ...analytics.Value) analytics.Group {
	return one(analytics.Sum{N: n, Known: true}, values...)
}

func (t ruleTest) nothing() {
	t.wants("no workspace", plan(fact.Clicks))
	if got := state(t.T, t.e, space1); !reflect.DeepEqual(got, analytics.State{}) {
		t.Errorf("state of nothing: got %+v", got)
	}
	t.undo("imp_1", 0)
	t.write(&fact.Batch{Replace: []fact.Window{{Source: euro, First: monday, Last: monday}}})
	t.wants("an empty window", plan(fact.Clicks))
	t.wants("an empty window by channel", plan(fact.Clicks, by("channel")))
}

func (t ruleTest) unknownIsNotZero() {
	t.writeRows(fact1(euro, monday, fact.Entity{ExternalID: "c"}, fact.Clicks, 0))
	t.wants("zero is known", plan(fact.Clicks), total(0))
	t.wants("an unknown measure has no sum", plan(fact.Leads), one(analytics.Sum{}))
	t.writeRows(fact1(euro, monday+1, fact.Entity{ExternalID: "c"}, fact.Leads, 3))
	t.wants("what one told is", plan(fact.Leads), total(3))
}

func (t ruleTest) reach() {
	t.writeRows(fact1(euro, monday, fact.Entity{ExternalID: "c"}, fact.Reach, 7))
	t.wants("one row", plan(fact.Reach), total(7))
	t.writeRows(fact1(euro, monday+1, fact.Entity{ExternalID: "c"}, fact.Clicks, 1))
	t.wants("two rows, one known", plan(fact.Reach), one(analytics.Sum{Mixed: true}))
	t.wants("the other alone", plan(fact.Reach, where("weekday", analytics.Equal, "tuesday")), one(analytics.Sum{}))
	t.writeRows(fact1(euro, monday+2, fact.Entity{ExternalID: "d"}, fact.Clicks, 1), fact1(euro, monday+3, fact.Entity{ExternalID: "d"}, fact.Clicks, 1))
	t.wants("two rows, none known", plan(fact.Reach, by("campaign_id")),
		one(analytics.Sum{Mixed: true}, analytics.Value{Null: true, External: "c"}), one(analytics.Sum{}, analytics.Value{Null: true, External: "d"}))
}

func (t ruleTest) rounding() {
	for i, test := range []struct{ amount, over, under, want int64 }{
		{1, 1, 2, 1},
		{-1, 1, 2, -1},
		{3, 1, 2, 2},
		{-3, 1, 2, -2},
		{1, 49, 100, 0},
		{-1, 49, 100, 0},
		{5, 3, 10, 2},
		{-5, 3, 10, -2},
		{fact.MaxValue, 9_000_000_000_000_000_000, 9_000_000_000_000_000_000, fact.MaxValue},
		{-fact.MaxValue, 1, 3, -333_333_333_333_333},
		{7, 0, 1, 0},
	} {
		day := monday + clock.Date(i)
		t.writeRows(fact1(dollar, day, fact.Entity{}, fact.Spend, test.amount))
		p := plan(fact.Spend, in("EUR", analytics.Rate{Currency: "USD", Date: day, Over: test.over, Under: test.under}))
		p.First, p.Last = day, day
		t.wants("rounding", p, total(test.want))
	}
	// Each of two halves is rounded.
	day := monday + 100
	t.writeRows(fact1(dollar, day, fact.Entity{ExternalID: "a"}, fact.Revenue, 1), fact1(dollar, day, fact.Entity{ExternalID: "b"}, fact.Revenue, 1))
	t.wants("two halves", plan(fact.Revenue, in("EUR", analytics.Rate{Currency: "USD", Date: day, Over: 1, Under: 2})), total(2))
	t.wants("no conversion", plan(fact.Revenue, in("USD")), total(2))
}

func (t ruleTest) missingRate() {
	t.writeRows(fact1(dollar, monday, fact.Entity{ExternalID: "a"}, fact.Spend, 10), fact1(euro, monday, fact.Entity{ExternalID: "a"}, fact.Spend, 5),
		fact1(dollar, monday+1, fact.Entity{ExternalID: "a"}, fact.Clicks, 4), fact1(dollar, monday+2, fact.Entity{ExternalID: "a"}, fact.Spend, 0))
	rate := analytics.Rate{Currency: "USD", Date: monday, Over: 2, Under: 1}
	t.wants("none at all", plan(fact.Spend), one(analytics.Sum{NoRate: true}))
	t.wants("a day without, even for zero", plan(fact.Spend, in("EUR", rate)), one(analytics.Sum{NoRate: true}))
	t.wants("the day with", plan(fact.Spend, in("EUR", rate), where("weekday", analytics.In, "monday", "tuesday")), total(25))
	t.wants("only that platform", plan(fact.Spend, by("platform")), known(5, analytics.Value{ID: "meta"}), one(analytics.Sum{NoRate: true}, analytics.Value{ID: "google_ads"}))
	t.wants("clicks need none", plan(fact.Clicks), total(4))
}

func (t ruleTest) denyingKeepsNulls() {
	named := fact1(euro, monday, fact.Entity{ExternalID: "a", Name: "50% of A_B"}, fact.Clicks, 1)
	bare := fact1(euro, monday, fact.Entity{ExternalID: "b"}, fact.Clicks, 10)
	none := fact1(euro, monday, fact.Entity{}, fact.Clicks, 100)
	t.writeRows(named, bare, none)
	for _, test := range []struct {
		op     analytics.Op
		values []string
		want   int64
	}{
		{analytics.Equal, []string{"50% of A_B"}, 1},
		{analytics.NotEqual, []string{"50% of A_B"}, 110},
		{analytics.NotEqual, []string{"x"}, 111},
		{analytics.NotIn, []string{"x", "50% of A_B"}, 110},
		{analytics.Contains, []string{"0% OF a_"}, 1},
		{analytics.NotContains, []string{"%"}, 110},
		{analytics.NotContains, []string{"A%B"}, 111},
		{analytics.StartsWith, []string{"50% OF"}, 1},
		{analytics.IsNull, nil, 110},
		{analytics.IsNotNull, nil, 1},
		{analytics.Greater, []string{"5"}, 1},
		{analytics.Between, []string{"5", "6"}, 1},
	} {
		t.wants(string(test.op), plan(fact.Clicks, where("campaign_name", test.op, test.values...)), total(test.want))
		leaf := analytics.Condition{Dimension: "campaign_name", Op: test.op, Values: test.values}
		p := plan(fact.Clicks)
		p.Where = &analytics.Condition{Not: &leaf}
		want := []analytics.Group{total(111 - test.want)}
		if test.want == 111 {
			want = nil
		}
		t.wants("not "+string(test.op), p, want...)
	}
}

func (t ruleTest) tags() {
	t.writeRows(fact1(euro, monday, fact.Entity{ExternalID: "a", Record: "cmp_1"}, fact.Clicks, 1),
		fact1(euro, monday, fact.Entity{ExternalID: "b", Record: "cmp_2"}, fact.Clicks, 10), fact1(euro, monday, fact.Entity{ExternalID: "c"}, fact.Clicks, 100))
	t.mirror(fact.Record{ID: "cmp_1", Kind: fact.KindCampaign, Name: "One", Tags: []string{"x", "y", "x"}}, fact.Record{ID: "cmp_2", Kind: fact.KindCampaign, Name: "Two", Tags: []string{"y"}})
	x, y, null := analytics.Value{ID: "x"}, analytics.Value{ID: "y"}, analytics.Value{Null: true}
	t.wants("by tag", plan(fact.Clicks, by("tag")), known(1, x), known(11, y), known(100, null))
	t.wants("by tag, one of them", plan(fact.Clicks, by("tag"), where("tag", analytics.Equal, "y")), known(11, y))
	t.wants("by tag, not one of them", plan(fact.Clicks, by("tag"), where("tag", analytics.NotEqual, "y")), known(1, x), known(100, null))
	t.wants("any tag", plan(fact.Clicks, where("tag", analytics.Equal, "y")), total(11))
	t.wants("not that tag", plan(fact.Clicks, where("tag", analytics.NotEqual, "x")), total(110))
	t.wants("no tag", plan(fact.Clicks, where("tag", analytics.IsNull)), total(100))
	t.mirror(fact.Record{ID: "cmp_1", Kind: fact.KindCampaign, Name: "One"})
	t.wants("tags gone", plan(fact.Clicks, by("tag")), known(10, y), known(101, null))
}

func (t ruleTest) replaceEmptiesWindow() {
	a, b := fact.Entity{ExternalID: "a"}, fact.Entity{ExternalID: "b"}
	geo := fact1(euro, monday, a, fact.Clicks, 5)
	geo.Family, geo.Country = fact.Geo, "DE"
	t.writeRows(fact1(euro, monday, a, fact.Clicks, 1), fact1(euro, monday, b, fact.Clicks, 10), fact1(euro, monday+1, a, fact.Clicks, 100), fact1(dollar, monday, a, fact.Clicks, 1000), geo)
	window := []fact.Window{{Source: euro, First: monday, Last: monday}}
	for range 2 {
		t.write(&fact.Batch{Replace: window, Rows: []fact.Row{fact1(euro, monday, a, fact.Clicks, 2)}})
		t.wants("replaced", plan(fact.Clicks), total(1102))
	}
	outside := &fact.Batch{Workspace: space1, Replace: window, Rows: []fact.Row{fact1(euro, monday+1, a, fact.Clicks, 2)}}
	if err := t.e.Write(t.Context(), outside); err == nil {
		t.Error("a row outside the windows: got no error")
	}
	p := plan(fact.Clicks)
	p.Family = fact.Geo
	t.wants("another family", p, total(5))
	t.write(&fact.Batch{Replace: window})
	t.wants("emptied", plan(fact.Clicks), total(1100))
	for _, c := range state(t.T, t.e, space1).Sources {
		want := [fact.NumFamilies]fact.Extent{fact.Base: {Rows: 1, First: monday + 1, Last: monday + 1}, fact.Geo: {Rows: 1, First: monday, Last: monday}}
		if c.Connection == euro.Connection && (c.First != monday || c.Last != monday+1 || c.Families != want) {
			t.Errorf("coverage: got %s to %s, %v want %s to %s, %v", c.First, c.Last, c.Families, monday, monday+1, want)
		}
	}
}

func (t ruleTest) workspacesAreApart() {
	row := fact1(euro, monday, fact.Entity{ExternalID: "a", Record: "cmp_1"}, fact.Clicks, 1)
	t.writeRows(row)
	t.write(&fact.Batch{Workspace: space2, Import: "imp_1", Rows: []fact.Row{fact1(euro, monday, fact.Entity{ExternalID: "a", Name: "Two"}, fact.Clicks, 10)}})
	t.mirror(fact.Record{ID: "cmp_1", Kind: fact.KindCampaign, Name: "One"})
	t.wants("one", plan(fact.Clicks, by("campaign_id")), known(1, analytics.Value{ID: "cmp_1", Label: "One"}))
	other := plan(fact.Clicks, by("campaign_id"))
	other.Workspace = space2
	t.wants("two", other, known(10, analytics.Value{Null: true, External: "a", Label: "Two"}))
	t.undo("imp_1", 0)
	t.wants("an import of another workspace", other, known(10, analytics.Value{Null: true, External: "a", Label: "Two"}))
}

func (t ruleTest) bucketsBegin() {
	for _, day := range []clock.Date{clock.MakeDate(2023, 12, 31), clock.MakeDate(2024, 2, 29), clock.MakeDate(2025, 6, 30), clock.MakeDate(1969, 12, 28), 0} {
		t.writeRows(fact1(euro, day, fact.Entity{}, fact.Clicks, 1))
		for _, g := range analytics.Granularities {
			p := plan(fact.Clicks)
			p.First, p.Last, p.Granularity = day, day, g
			want := bucket(day, g)
			if got := t.query(p); len(got) != 1 || got[0].Bucket != want {
				t.Errorf("%s by %s: got %v want %s", day, g, got, want)
			}
		}
	}
}

func (t ruleTest) tooLarge() {
	var rows []fact.Row
	for i := range 9500 {
		rows = append(rows, fact1(euro, monday+clock.Date(i%90), fact.Entity{ExternalID: string(rune('a' + i/90%100))}, fact.Spend, fact.MaxValue))
	}
	// Keys must differ: the rest of the number is the channel.
	for i := range rows {
		rows[i].Channel = fact.Channels[i/9000]
	}
	t.writeRows(rows...)
	if _, err := t.e.Query(t.Context(), plan(fact.Spend)); !errors.Is(err, analytics.ErrTooLarge) {
		t.Errorf("got %v want %v", err, analytics.ErrTooLarge)
	}
	p := plan(fact.Spend)
	p.Last = monday
	t.wants("what fits", p, total(106*fact.MaxValue))
	for i := range rows {
		rows[i].Campaign.Record = "cmp_large"
		if rows[i].Campaign.ExternalID == "a" {
			rows[i].Campaign.Record = "cmp_small"
		}
	}
	t.writeRows(rows...)
	p = plan(fact.Spend, by("campaign_id"))
	p.UnknownIfTooLarge = true
	t.wants("what fits beside what does not", p, known(180*fact.MaxValue, analytics.Value{ID: "cmp_small"}), one(analytics.Sum{}, analytics.Value{ID: "cmp_large"}))
}

func (t ruleTest) tooMany() {
	var rows []fact.Row
	for i := range 10 {
		rows = append(rows, fact1(euro, monday+clock.Date(i), fact.Entity{}, fact.Clicks, 1))
	}
	t.writeRows(rows...)
	p := plan(fact.Clicks)
	p.Granularity, p.MaxGroups = analytics.Day, 10
	if got := t.query(p); len(got) != 10 {
		t.Errorf("got %d groups want 10", len(got))
	}
	p.MaxGroups = 9
	if _, err := t.e.Query(t.Context(), p); !errors.Is(err, analytics.ErrTooMany) {
		t.Errorf("got %v want %v", err, analytics.ErrTooMany)
	}
}

// hostile writes every odd text to every field with text, and queries it.
func (t ruleTest) hostile() {
	naive := NewNaive()
	ops := []analytics.Op{analytics.Equal, analytics.NotIn, analytics.Contains, analytics.StartsWith, analytics.AtMost}
	for i, s := range append(slices.Clip(odd), "') OR 1=1 --", "\x00", "a\x00b", "%", "_", "null", "{}", "[]", "🙂", "\u202e", "COPY base TO '/tmp/x'") {
		id := ident.ID(s)
		source := &fact.Source{Connection: id, Platform: s, Account: s, Currency: money.Currency(s), Zone: s}
		row := fact1(source, monday, fact.Entity{ExternalID: s, Name: s, Record: id}, fact.Clicks, 1)
		row.Creative, row.Audience, row.Channel, row.Country = row.Campaign, row.Campaign, s, s
		b := &fact.Batch{Workspace: id, Import: id, Rows: []fact.Row{row}}
		record := fact.Record{ID: id, Kind: fact.KindCampaign, Name: s, Status: s, Objective: s, Type: s, Tags: []string{s}}
		for _, e := range []metrics.Engine{naive, t.e} {
			if err := e.Write(t.Context(), b); err != nil {
				t.Fatalf("write %q: %v", s, err)
			}
			if err := e.Mirror(t.Context(), id, []fact.Record{record}, 1); err != nil {
				t.Fatalf("mirror %q: %v", s, err)
			}
		}
		// Every dimension but the day of the week has the text.
		dimensions := slices.DeleteFunc(Dimensions(fact.Base), func(d string) bool { return d == "weekday" })
		all := &analytics.Condition{}
		for _, d := range dimensions {
			all.And = append(all.And, analytics.Condition{Dimension: d, Op: ops[i%len(ops)], Values: []string{s, s}})
		}
		p := plan(fact.Clicks, by(dimensions[i%12:i%12+3]...))
		p.Workspace, p.Currency, p.Where = id, money.Currency(s), all
		sameAnswer(t.T, p, naive, t.e)
		for _, name := range []func(*analytics.Plan){by(s), where(s, analytics.Equal), where("channel", analytics.Op(s)), func(p *analytics.Plan) { p.Granularity = analytics.Granularity(s) }} {
			if _, err := t.e.Query(t.Context(), plan(fact.Clicks, name, func(p *analytics.Plan) { p.Workspace = id })); err == nil {
				t.Errorf("%q as a name: got no error", s)
			}
		}
	}
	p := plan(fact.Clicks, where("campaign_name", analytics.NotEqual, "\xff\xfe"))
	p.Workspace = ident.ID(odd[0])
	t.wants("what is no text", p, total(1))
}

func (t ruleTest) cancelled() {
	t.writeRows(fact1(euro, monday, fact.Entity{}, fact.Clicks, 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := t.e.Query(ctx, plan(fact.Clicks)); !errors.Is(err, context.Canceled) {
		t.Errorf("query: got %v want %v", err, context.Canceled)
	}
	if err := t.e.Write(ctx, &fact.Batch{Workspace: space1, Rows: []fact.Row{fact1(euro, monday, fact.Entity{}, fact.Clicks, 2)}}); !errors.Is(err, context.Canceled) {
		t.Errorf("write: got %v want %v", err, context.Canceled)
	}
	t.wants("nothing has changed", plan(fact.Clicks), total(1))
}

func (t ruleTest) generation() {
	last := state(t.T, t.e, space1).Generation
	for name, change := range map[string]func(){
		"write": func() {
			t.write(&fact.Batch{Import: "imp_1", Rows: []fact.Row{fact1(euro, monday, fact.Entity{}, fact.Clicks, 1)}})
		},
		"mirror": func() { t.mirror(fact.Record{ID: "cmp_1", Kind: fact.KindCampaign}) },
	} {
		change()
		if got := state(t.T, t.e, space1).Generation; got <= last {
			t.Errorf("generation after %s: got %d want more than %d", name, got, last)
		}
		last = state(t.T, t.e, space1).Generation
	}
	t.undo("imp_1", 1)
	if got := state(t.T, t.e, space1); got.Generation <= last || got.Mirrored != 1000 {
		t.Errorf("after undo: got generation %d, mirrored %d want more than %d, 1000", got.Generation, got.Mirrored, last)
	}
	if other := state(t.T, t.e, space2); other.Generation != 0 {
		t.Errorf("generation of another workspace: got %d want 0", other.Generation)
	}
}
