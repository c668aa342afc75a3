package campaign_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// TestSpendOnRecord checks the spend and the issues of all kinds of budgets.
func TestSpendOnRecord(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	for _, tt := range []struct {
		name   string
		budget *campaign.Budget
		facts  []daySpend
		want   string
	}{
		{"no facts", budget("lifetime", 100, 0, "USD"), nil, "none, none left, active/delivering []"},
		{"no budget", nil, []daySpend{usd(today, 5), usd(yesterday, 6)}, "11.00 USD, none left, active/limited [no_budget]"},
		{"lifetime", budget("lifetime", 100, 0, "USD"), []daySpend{usd(today, 5), usd(yesterday, 6)}, "11.00 USD, 89.00 USD left, active/delivering []"},
		{"daily", budget("daily", 100, 0, "USD"), []daySpend{usd(today, 5), usd(yesterday, 60)}, "65.00 USD, 95.00 USD left, active/delivering []"},
		{"daily, spent", budget("daily", 100, 0, "USD"), []daySpend{usd(today, 100)}, "100.00 USD, 0.00 USD left, active/limited [daily_cap_reached]"},
		{"daily, overspent", budget("daily", 100, 0, "USD"), []daySpend{usd(today, 120)}, "120.00 USD, 0.00 USD left, active/limited [daily_cap_reached]"},
		{"daily, spent yesterday", budget("daily", 100, 0, "USD"), []daySpend{usd(yesterday, 100)}, "100.00 USD, 100.00 USD left, active/delivering []"},
		{"cap reached", budget("lifetime", 100, 10, "USD"), []daySpend{usd(today, 10)}, "10.00 USD, 90.00 USD left, active/limited [daily_cap_reached]"},
		{"cap below a daily budget", budget("daily", 100, 10, "USD"), []daySpend{usd(today, 10)}, "10.00 USD, 90.00 USD left, active/limited [daily_cap_reached]"},
		{"lifetime, spent", budget("lifetime", 100, 10, "USD"), []daySpend{usd(today, 100)}, "100.00 USD, 0.00 USD left, completed/ended []"},
		{"lifetime, overspent", budget("lifetime", 100, 0, "USD"), []daySpend{usd(yesterday, 101)}, "101.00 USD, 0.00 USD left, completed/ended []"},
		{"paid back", budget("lifetime", 100, 0, "USD"), []daySpend{usd(yesterday, -7)}, "-7.00 USD, 100.00 USD left, active/delivering []"},
		{"budget in another currency", budget("lifetime", 100, 0, "EUR"), []daySpend{usd(yesterday, 100)}, "50.00 EUR, 50.00 EUR left, active/delivering []"},
		{"spent in another currency", budget("lifetime", 100, 0, "USD"), []daySpend{{yesterday, 50, "EUR"}}, "100.00 USD, 0.00 USD left, completed/ended []"},
		{"no rate", budget("lifetime", 100, 0, "USD"), []daySpend{usd(yesterday, 500), {yesterday, 50, "JPY"}}, "none, none left, active/limited [currency_mismatch]"},
		{"no rate for the budget", budget("daily", 100, 0, "CHF"), []daySpend{usd(today, 500)}, "none, none left, active/limited [currency_mismatch]"},
	} {
		id := l.active(t, completeSpec(tt.budget))
		l.spend.set(id, tt.facts...)
		for range 2 {
			l.updateSpend(t)
			want(t, tt.name, tt.want, spendAndStatus(c, id))
		}
		if sum, ok := read(c, string(id))["spend_to_date"].(map[string]any); ok {
			want(t, tt.name+": as of", any("2026-11-15T12:00:00.000Z"), sum["as_of"])
		}
	}
	var sums []any
	for _, rec := range c.Members(c.Campaigns.List(t.Context(), c.Workspace, page.Query{Limit: 4, Sort: "spend", Desc: true})) {
		sums = append(sums, rec["spend_to_date"].(map[string]any)["amount"])
	}
	want(t, "sorted by spend", []any{"120.00", "101.00", "100.00", "100.00"}, sums)
}

// TestSpendWritesNoEvent checks that new sums change no version, no event and
// no updated_at, and that equal sums are not written.
func TestSpendWritesNoEvent(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	id := l.active(t, completeSpec(budget("lifetime", 100, 0, "USD")))
	other := l.active(t, completeSpec(nil))
	stamps := func() string {
		t.Helper()
		var list []string
		for _, id := range ids(id, other) {
			d, err := l.Get(t.Context(), c.Workspace, id)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, d.ETag())
		}
		return fmt.Sprint(list)
	}
	updated, events := read(c, string(id))["updated_at"], eventTypes(c, string(id))
	l.updateSpend(t)
	want(t, "stamps without facts", `["2.0" "2.0"]`, stamps())
	for i, day := range []string{today, tomorrow} {
		c.Clock.Advance(time.Hour)
		l.spend.set(id, usd(day, int64(i+1)))
		for range 3 {
			l.updateSpend(t)
			want(t, "stamps after facts", fmt.Sprintf(`["2.%d" "2.0"]`, i+1), stamps())
			c.Clock.Advance(time.Hour)
		}
	}
	l.spend.set(id)
	l.updateSpend(t)
	want(t, "without facts again", "none, none left, active/delivering []", spendAndStatus(c, id))
	want(t, "stamps", `["2.3" "2.0"]`, stamps())
	l.spend.set(id, daySpend{today, 1, "JPY"})
	l.updateSpend(t)
	want(t, "without a rate", "none, none left, active/limited [currency_mismatch]", spendAndStatus(c, id))
	l.spend.set(id)
	l.updateSpend(t)
	want(t, "without what had no rate", "none, none left, active/delivering []", spendAndStatus(c, id))
	want(t, "stamps", `["2.5" "2.0"]`, stamps())
	want(t, "updated_at", updated, read(c, string(id))["updated_at"])
	want(t, "events", append(events, "campaign.delivery_changed", "campaign.delivery_changed"), eventTypes(c, string(id)))
	want(t, "another workspace", error(nil), l.UpdateSpend(t.Context(), c.another().Workspace))
}

// TestLifetimeBudgetCompletes checks which campaigns a spent budget completes.
func TestLifetimeBudgetCompletes(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	draft := l.create(t, completeSpec(budget("lifetime", 10, 0, "USD")))
	running, paused, gone := l.active(t, completeSpec(budget("lifetime", 10, 0, "USD"))), l.active(t, completeSpec(budget("lifetime", 10, 0, "USD"))), l.active(t, completeSpec(budget("lifetime", 10, 0, "USD")))
	l.act(t, paused, campaign.Pause)
	act(c, string(gone), "archive").OK()
	all := ids(draft, running, paused, gone)
	check := func(what string, wanted ...string) {
		t.Helper()
		for i, id := range all {
			want(t, what+": "+wanted[i], "10.00 USD, 0.00 USD left, "+wanted[i], spendAndStatus(c, id))
		}
	}
	c.Clock.Advance(time.Minute)
	for _, id := range all {
		l.spend.set(id, usd(today, 10))
	}
	l.updateSpend(t)
	check("spent", "draft/not_launched [budget_exhausted]", "completed/ended []", "completed/ended []", "archived/archived []")
	for id, was := range map[ident.ID]string{running: "active", paused: "paused"} {
		last := eventsOf(c, string(id))
		e := last[len(last)-1]
		want(t, "event", []any{"campaign.completed", map[string]any{"status": was}, "system"}, []any{e["type"], e["previous"], e["actor"].(map[string]any)["type"]})
		rec := read(c, string(id))
		want(t, "completed at", []any{"2026-11-15T12:01:00.000Z", rec["updated_at"]}, []any{rec["completed_at"], rec["completed_at"]})
	}
	// A launch is a launch, and what is spent ends right after it.
	l.act(t, draft, campaign.Launch)
	if _, err := l.Restore(t.Context(), l.cause, gone, record.Match{}); err != nil {
		t.Fatal(err)
	}
	check("launched", "active/blocked [budget_exhausted]", "completed/ended []", "completed/ended []", "paused/paused [budget_exhausted]")
	want(t, "settled next", int64(2), c.Int(`SELECT count(*) FROM job WHERE workspace_id = $1 AND kind = $2 AND run_at = $3`,
		string(c.Workspace), campaign.JobSettle, int64(clock.At(c.Clock.Now()))))
	for _, id := range ids(draft, gone) {
		if next, err := l.Settle(t.Context(), c.Workspace, id); next != nil || err != nil {
			t.Errorf("got next moment %v, %v want none", next, err)
		}
	}
	check("settled", "completed/ended []", "completed/ended []", "completed/ended []", "completed/ended []")
	// What an archived one cannot show is there again once it is back.
	l.spend.set(gone, daySpend{today, 1, "JPY"})
	act(c, string(gone), "archive").OK()
	l.updateSpend(t)
	want(t, "archived", "none, none left, archived/archived []", spendAndStatus(c, gone))
	if _, err := l.Restore(t.Context(), l.cause, gone, record.Match{}); err != nil {
		t.Fatal(err)
	}
	want(t, "restored", "none, none left, paused/paused [currency_mismatch]", spendAndStatus(c, gone))
	// Platforms restate their metrics. That does not resume a campaign.
	l.spend.set(running, usd(today, 9))
	l.updateSpend(t)
	want(t, "corrected", "9.00 USD, 1.00 USD left, completed/ended []", spendAndStatus(c, running))
}

// TestDailyLimitEndsAtMidnight checks that a daily limit applies until midnight
// in the campaign's time zone.
func TestDailyLimitEndsAtMidnight(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	spec := completeSpec(budget("daily", 10, 0, "USD"))
	// It is nine in the morning there, and the 16th begins at 15:00 UTC.
	spec.Schedule.Timezone = "Asia/Tokyo"
	id := l.active(t, spec)
	settled := func(wanted string) {
		t.Helper()
		next, err := l.Settle(t.Context(), c.Workspace, id)
		if err != nil {
			t.Fatal(err)
		}
		got := "never"
		if next != nil {
			got = next.String()
		}
		want(t, "next moment", wanted, got)
	}
	l.spend.set(id, usd(today, 4))
	l.updateSpend(t)
	want(t, "some spent", "4.00 USD, 6.00 USD left, active/delivering []", spendAndStatus(c, id))
	settled("2026-11-15T15:00:00.000Z")
	l.spend.set(id, usd(today, 11))
	l.updateSpend(t)
	want(t, "all spent", "11.00 USD, 0.00 USD left, active/limited [daily_cap_reached]", spendAndStatus(c, id))
	settled("2026-11-15T15:00:00.000Z")
	due, ok, err := c.DB.Jobs().Due(t.Context())
	want(t, "planned", []any{"2026-11-15T15:00:00.000Z", true, error(nil)}, []any{due.String(), ok, err})
	c.Clock.Advance(3*time.Hour - time.Millisecond)
	settled("2026-11-15T15:00:00.000Z")
	want(t, "until midnight", "11.00 USD, 0.00 USD left, active/limited [daily_cap_reached]", spendAndStatus(c, id))
	l.spend.takeQueries()
	c.Clock.Advance(time.Millisecond)
	settled("never")
	want(t, "after midnight", "11.00 USD, 10.00 USD left, active/delivering []", spendAndStatus(c, id))
	want(t, "questions", []int{1}, l.spend.takeQueries())
	settled("never")
	want(t, "questions", []int(nil), l.spend.takeQueries())
	// Figures that were moved from one day to the next are about the next.
	l.spend.set(id, usd(tomorrow, 11))
	l.updateSpend(t)
	want(t, "moved", "11.00 USD, 0.00 USD left, active/limited [daily_cap_reached]", spendAndStatus(c, id))
	settled("2026-11-16T15:00:00.000Z")
	// A day without an update.
	c.Clock.Advance(24 * time.Hour)
	l.spend.set(id, usd("2026-11-17", 11))
	settled("2026-11-17T15:00:00.000Z")
	want(t, "still spent", "11.00 USD, 0.00 USD left, active/limited [daily_cap_reached]", spendAndStatus(c, id))
	// The daily cap of a lifetime budget also ends at midnight, and facts
	// that end before today include no spend of today.
	spec, end := completeSpec(budget("lifetime", 100, 10, "USD")), clock.At(c.Clock.Now().Add(240*time.Hour))
	spec.Schedule.EndAt = &end
	capped := l.active(t, spec)
	l.spend.set(capped, usd(tomorrow, 10))
	l.updateSpend(t)
	want(t, "capped", "10.00 USD, 90.00 USD left, active/limited [daily_cap_reached]", spendAndStatus(c, capped))
	next, err := l.Settle(t.Context(), c.Workspace, capped)
	want(t, "until midnight", []any{"2026-11-17T00:00:00.000Z", error(nil)}, []any{next.String(), err})
	l.spend.age = 24 * time.Hour
	l.spend.set(capped, usd(tomorrow, 11))
	l.updateSpend(t)
	l.spend.age = 0
	next, err = l.Settle(t.Context(), c.Workspace, capped)
	want(t, "until the end", []any{end.String(), error(nil)}, []any{next.String(), err})
	want(t, "from old facts", "11.00 USD, 89.00 USD left, active/delivering []", spendAndStatus(c, capped))
	// An end before midnight comes first, and an ended one keeps no issue.
	if err := l.revise(t, id, func(s *campaign.Spec) {
		at := clock.At(c.Clock.Now().Add(time.Hour))
		s.Schedule.EndAt = &at
	}); err != nil {
		t.Fatal(err)
	}
	settled("2026-11-16T16:00:00.000Z")
	c.Clock.Advance(time.Hour)
	settled("2026-11-17T15:00:00.000Z")
	want(t, "ended", "11.00 USD, 0.00 USD left, completed/ended []", spendAndStatus(c, id))
	c.Clock.Advance(23 * time.Hour)
	settled("never")
	want(t, "the day after", "11.00 USD, 10.00 USD left, completed/ended []", spendAndStatus(c, id))
}

// TestBudgetChangeAfterSpend changes budgets after spend.
func TestBudgetChangeAfterSpend(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	for _, tt := range []struct {
		name   string
		was    *campaign.Budget
		spent  int64
		change func(*campaign.Spec)
		want   string
	}{
		{"lowered to what is left", budget("lifetime", 100, 0, "USD"), 40, func(s *campaign.Spec) { s.Budget.Amount = amount(41) }, "40.00 USD, 1.00 USD left, active/delivering []"},
		{"lowered to what is spent", budget("lifetime", 100, 0, "USD"), 40, func(s *campaign.Spec) { s.Budget.Amount = amount(40) }, "40.00 USD, 0.00 USD left, active/blocked [budget_exhausted]"},
		{"lowered below", budget("lifetime", 100, 0, "USD"), 40, func(s *campaign.Spec) { s.Budget.Amount = amount(39) }, "40.00"},
		{"made a lifetime budget below", budget("daily", 30, 0, "USD"), 40, func(s *campaign.Spec) { s.Budget.Type = "lifetime" }, "40.00"},
		{"set below", nil, 40, func(s *campaign.Spec) { s.Budget = budget("lifetime", 39, 0, "USD") }, "40.00"},
		{"set in another currency", nil, 39, func(s *campaign.Spec) { s.Budget = budget("lifetime", 19, 0, "EUR") }, "19.50"},
		{"set in a currency without decimals", nil, 39, func(s *campaign.Spec) { s.Budget = budget("lifetime", 19, 0, "KRW") }, "20"},
		{"raised, but not enough", budget("lifetime", 30, 0, "USD"), 40, func(s *campaign.Spec) { s.Budget.Amount = amount(35) }, "40.00"},
		{"raised", budget("lifetime", 30, 0, "USD"), 40, func(s *campaign.Spec) { s.Budget.Amount = amount(50) }, "40.00 USD, 10.00 USD left, paused/paused []"},
		{"raised, and capped", budget("lifetime", 30, 0, "USD"), 40, func(s *campaign.Spec) { s.Budget = budget("lifetime", 50, 20, "USD") }, "40.00 USD, 10.00 USD left, paused/paused [daily_cap_reached]"},
		{"removed", budget("lifetime", 30, 0, "USD"), 40, func(s *campaign.Spec) { s.Budget = nil }, "40.00 USD, none left, paused/paused [no_budget]"},
		{"made daily", budget("lifetime", 30, 0, "USD"), 40, func(s *campaign.Spec) { s.Budget.Type = "daily" }, "40.00 USD, 0.00 USD left, paused/paused [daily_cap_reached]"},
		{"paced otherwise", budget("lifetime", 30, 0, "USD"), 40, func(s *campaign.Spec) { s.Budget.Pacing = "asap" }, "40.00 USD, 0.00 USD left, completed/ended []"},
		{"renamed", budget("lifetime", 30, 0, "USD"), 40, func(s *campaign.Spec) { s.Name = "Two" }, "40.00 USD, 0.00 USD left, completed/ended []"},
		{"end moved", budget("lifetime", 30, 0, "USD"), 40, func(s *campaign.Spec) {
			at := clock.At(c.Clock.Now().Add(time.Hour))
			s.Schedule.EndAt = &at
		}, "40.00 USD, 0.00 USD left, completed/ended []"},
		{"cap raised", budget("daily", 100, 30, "USD"), 40, func(s *campaign.Spec) { s.Budget = budget("daily", 100, 50, "USD") }, "40.00 USD, 60.00 USD left, active/delivering []"},
		{"another day elsewhere", budget("daily", 30, 0, "USD"), 40, func(s *campaign.Spec) { s.Schedule.Timezone = "Pacific/Kiritimati" }, "40.00 USD, 30.00 USD left, active/delivering []"},
	} {
		id := l.active(t, completeSpec(tt.was))
		l.spend.set(id, usd(today, tt.spent))
		l.updateSpend(t)
		before := spendAndStatus(c, id)
		var f *fault.Error
		if err := l.revise(t, id, tt.change); !asFault(err, &f) {
			want(t, tt.name+": error", error(nil), err)
			want(t, tt.name, tt.want, spendAndStatus(c, id))
			continue
		}
		want(t, tt.name+": refused", fault.ValidationFailed, f.Code)
		want(t, tt.name+": detail", []any{"budget.amount", "too_small", tt.want}, []any{f.Details[0].Field, f.Details[0].Code, f.Details[0].Meta["minimum"]})
		want(t, tt.name+": unchanged", before, spendAndStatus(c, id))
	}
}

// TestReopenNeedsEndAndBudget checks that a completed campaign reopens only
// with a future end and a remaining budget.
func TestReopenNeedsEndAndBudget(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	spec := completeSpec(budget("lifetime", 10, 0, "USD"))
	end := clock.At(c.Clock.Now().Add(time.Hour))
	spec.Schedule.EndAt = &end
	change := func(id ident.ID, status string, change func(*campaign.Spec)) {
		t.Helper()
		c.Clock.Advance(time.Millisecond)
		if err := l.revise(t, id, change); err != nil {
			t.Fatal(err)
		}
		want(t, "status", any(status), read(c, string(id))["status"])
	}
	later := func(s *campaign.Spec) {
		at := clock.At(c.Clock.Now().Add(time.Hour))
		s.Schedule.EndAt = &at
	}
	more := func(s *campaign.Spec) { s.Budget.Amount = amount(s.Budget.Amount.Micros/1_000_000 + 10) }
	first, second := l.active(t, spec), l.active(t, spec)
	for _, id := range ids(first, second) {
		l.spend.set(id, usd(today, 10))
	}
	l.updateSpend(t)
	c.Clock.Advance(2 * time.Hour)
	change(first, "completed", more)
	change(first, "paused", later)
	change(second, "completed", later)
	change(second, "paused", more)
	events := eventsOf(c, string(second))
	want(t, "previous", any("completed"), events[len(events)-1]["previous"].(map[string]any)["status"])
}

// TestSpendDuringCurrencyChange changes the currency during a query of the
// facts.
func TestSpendDuringCurrencyChange(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	id := l.create(t, completeSpec(budget("lifetime", 100, 0, "USD")))
	l.spend.set(id, usd(today, 10))
	for _, b := range []*campaign.Budget{budget("lifetime", 100, 0, "EUR"), budget("daily", 100, 0, "USD"), nil} {
		l.spend.duringQuery = func() {
			if err := l.revise(t, id, func(s *campaign.Spec) { s.Budget = b }); err != nil {
				t.Error(err)
			}
		}
		l.spend.set(id, usd(today, 10), usd(today, 2))
		l.updateSpend(t)
		got := spendAndStatus(c, id)
		l.updateSpend(t)
		want(t, "after one more look", spendAndStatus(c, id), got)
	}
	want(t, "at last", "12.00 USD, none left, draft/not_launched [no_budget]", spendAndStatus(c, id))
	if err := l.revise(t, id, func(s *campaign.Spec) { s.Budget = budget("lifetime", 100, 0, "EUR") }); err != nil {
		t.Fatal(err)
	}
	l.spend.duringQuery = func() { l.spend.set(id) }
	l.updateSpend(t)
	want(t, "facts that go meanwhile", "none, none left, draft/not_launched []", spendAndStatus(c, id))
}

// TestSpendBatches checks that many campaigns need one query per currency and
// zone, and that only changed ones are written.
func TestSpendBatches(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	const n = 25
	l := newRefService(c)
	var list []ident.ID
	for i := range n {
		c.Clock.Advance(time.Millisecond)
		b := []*campaign.Budget{nil, budget("lifetime", 1000, 0, "USD"), budget("lifetime", 1000, 0, "EUR"), budget("daily", 1000, 0, "USD")}[i%4]
		id := l.create(t, campaign.Spec{Budget: b})
		list = append(list, id)
		l.spend.set(id, usd(today, int64(i+1)))
	}
	revs := func() int64 {
		t.Helper()
		return c.Int(`SELECT CAST(sum(rev) AS BIGINT) FROM campaign WHERE workspace_id = $1`, string(c.Workspace))
	}
	l.spend.takeQueries()
	l.updateSpend(t)
	want(t, "written", int64(n), revs())
	asked := l.spend.takeQueries()
	slices.Sort(asked)
	// Two batches, and in each the dollars of the workspace are told
	// already unless days count.
	want(t, "questions", []int{-1, 1, 1, 5, 5}, asked)
	l.updateSpend(t)
	want(t, "written once more", int64(n), revs())
	l.spend.set(list[7], usd(today, 8), usd(today, 1))
	l.spend.set(list[24])
	l.updateSpend(t)
	want(t, "written for two", int64(n+2), revs())
	want(t, "all spenders", n-1, func() int {
		ids, err := c.DB.Campaigns().WithSpend(t.Context(), c.Workspace)
		if err != nil {
			t.Fatal(err)
		}
		return len(ids)
	}())
}
