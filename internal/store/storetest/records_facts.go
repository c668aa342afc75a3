package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/money"
	"fanfare/internal/page"
	"fanfare/internal/rates"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

// Import makes a record that is not stored yet.
func (w *Fixture) Import(file, source, sum string, status ingest.Status) *ingest.Import {
	return &ingest.Import{
		ID: ident.New(ident.Import, w.Clock.Now(), rand.Reader), Status: status, Source: source, File: ingest.File{Name: file, SHA256: sum},
		Common: record.Common{WorkspaceID: w.Workspace, Version: 1, CreatedBy: record.System, CreatedAt: w.Now(), UpdatedAt: w.Now()},
	}
}

// friday is 2026-11-13, before the day on which a test begins.
const friday = clock.Date(20_770)

func (w *Fixture) factSteps() []Step {
	tries := 0
	var imported, result ident.ID
	every := []money.Currency{"USD", "JPY"}
	return []Step{
		{"import.create", false, func(ctx context.Context) error {
			i := w.Import("Spend.csv", "shop", "00ff", ingest.StatusReady)
			imported = i.ID
			_, err := w.DB.Imports().Save(ctx, i, w.Save("import.created"))
			return err
		}},
		{"import.commit", false, func(ctx context.Context) error {
			i, err := w.DB.Imports().Load(ctx, w.Workspace, imported)
			if err != nil {
				return err
			}
			i.Status = ingest.StatusCommitted
			i.Touch(w.Now(), 1)
			_, err = w.DB.Imports().Save(ctx, i, w.Save("import.committed"))
			return err
		}},
		{"import.same", false, func(ctx context.Context) error {
			id, err := w.DB.Imports().Same(ctx, w.Workspace, "shop", "00ff")
			if err == nil && id != imported {
				err = fmt.Errorf("got %s want %s", id, imported)
			}
			return err
		}},
		{"import.list", false, func(ctx context.Context) error {
			for _, sort := range importSorts {
				for name, value := range map[string]string{"source": "shop", "q": "spend"} {
					q := page.Query{Limit: 1, Sort: sort, After: &page.Position{ID: "imp_0"}, Filters: []page.Filter{{Name: name, Values: []string{value}}}}
					if _, err := w.DB.Imports().List(ctx, w.Workspace, q); err != nil {
						return err
					}
				}
			}
			return nil
		}},
		{"rates.put", false, func(ctx context.Context) error {
			tries++
			cause := w.Cause()
			cause.Idempotency = &record.Idempotency{Key: fmt.Sprintf("rates-%d", tries), Fingerprint: "f", Status: 200}
			_, err := w.Rates().Put(ctx, cause, w.Workspace, []rates.Rate{{Date: friday, Currency: "USD", PerEuro: 116_000_000}, {Date: friday, Currency: "JPY", PerEuro: 18_000_000_000}})
			return w.withoutSpend(ctx, err)
		}},
		{"rates.list", false, func(ctx context.Context) error {
			first, last := friday-100, friday+100
			for _, q := range []rates.Query{{Limit: 1}, {Limit: 2, Currencies: every, First: &first, Last: &last, After: &page.Position{Int: int64(friday), ID: "JPY"}}} {
				if _, err := w.Rates().List(ctx, w.Workspace, q); err != nil {
					return err
				}
			}
			_, err := w.DB.Rates().Rates(ctx, w.Workspace, every, first, last)
			return err
		}},
		{"mirror", false, func(ctx context.Context) error {
			_, err := w.DB.EventCount(ctx, w.Workspace, w.Now())
			for _, since := range []clock.Instant{0, w.Now()} {
				_, failed := w.DB.Changed(ctx, w.Workspace, since)
				err = errors.Join(err, failed)
			}
			for _, kind := range []string{fact.KindCampaign, fact.KindCreative, fact.KindAudience, ingest.KindVariant} {
				_, all := w.DB.Records(ctx, w.Workspace, kind, nil)
				_, some := w.DB.Records(ctx, w.Workspace, kind, []ident.ID{imported})
				_, there := w.DB.Find(ctx, w.Workspace, kind, []ident.ID{imported})
				err = errors.Join(err, all, some, there)
			}
			return err
		}},
		{"result.keep", false, func(ctx context.Context) error {
			k := w.result(1200)
			result = k.ID
			return w.DB.Results().Save(ctx, w.Workspace, k)
		}},
		{"result.page", false, func(ctx context.Context) error {
			_, _, _, err := w.DB.Results().Page(ctx, w.Workspace, result, 400, 200)
			return err
		}},
	}
}

var importSorts = []string{"created_at", "updated_at", "name"}

// recordsImports follows imports through their store.
func recordsImports(t *testing.T, w *Fixture) {
	other, _, _ := w.AddWorkspace("other@example.com")
	save := func(i *ingest.Import) ident.ID {
		t.Helper()
		w.Clock.Advance(time.Second)
		s := w.Save("import.created")
		s.Cause.Workspace = i.WorkspaceID
		d, err := w.DB.Imports().Save(t.Context(), i, s)
		w.must(err)
		if got, err := w.DB.Imports().Doc(t.Context(), i.WorkspaceID, i.ID); err != nil || !bytes.Equal(got.JSON, d.JSON) {
			t.Errorf("got %s, %v want %s", got.JSON, err, d.JSON)
		}
		return i.ID
	}
	old := save(w.Import("a.csv", "shop", "sum", ingest.StatusCommitted))
	newest := save(w.Import("B.csv", "shop", "sum", ingest.StatusCommitted))
	save(w.Import("c.csv", "shop", "sum", ingest.StatusUndone))
	save(w.Import("d.csv", "shop", "other sum", ingest.StatusCommitted))
	elsewhere := save(w.Import("e.csv", "another", "sum", ingest.StatusCommitted))
	foreign := w.Import("f.csv", "shop", "foreign", ingest.StatusCommitted)
	foreign.WorkspaceID = other
	save(foreign)
	for _, tt := range []struct {
		source, sum string
		want        ident.ID
	}{{"shop", "sum", newest}, {"another", "sum", elsewhere}, {"shop", "none", ""}, {"none", "sum", ""}, {"shop", "foreign", ""}} {
		if got, err := w.DB.Imports().Same(t.Context(), w.Workspace, tt.source, tt.sum); err != nil || got != tt.want {
			t.Errorf("%s to %s: got %s, %v want %s", tt.sum, tt.source, got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		q    page.Query
		want string
	}{
		{page.Query{Sort: "name"}, "a.csv B.csv c.csv d.csv e.csv"},
		{page.Query{Sort: "created_at", Desc: true}, "e.csv d.csv c.csv B.csv a.csv"},
		{page.Query{Sort: "name", Status: []string{"undone"}}, "c.csv"},
		{page.Query{Sort: "name", Filters: []page.Filter{{Name: "source", Values: []string{"another"}}}}, "e.csv"},
		{page.Query{Sort: "name", Filters: []page.Filter{{Name: "q", Values: []string{"b."}}}}, "B.csv"},
	} {
		tt.q.Limit = 10
		p, err := w.DB.Imports().List(t.Context(), w.Workspace, tt.q)
		w.must(err)
		var names []string
		for _, d := range p.Docs {
			var i ingest.Import
			w.must(json.Unmarshal(d.JSON, &i))
			names = append(names, i.File.Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: got %s want %s", show(tt.q), got, tt.want)
		}
	}
	if _, err := w.DB.Imports().Load(t.Context(), other, old); !fault.Is(err, fault.NotFound) {
		t.Errorf("of another workspace: got %v want not_found", err)
	}
}

// result is an answer of n rows.
func (w *Fixture) result(n int) *analytics.StoredResult {
	k := &analytics.StoredResult{
		ID: ident.New("res", w.Clock.Now(), rand.Reader), Hash: "hash", Meta: []byte(`{"n":1}`), ExpiresAt: w.Now().Add(15 * time.Minute),
	}
	for i := range n {
		k.Rows = append(k.Rows, fmt.Appendf(nil, `{"row":%d,"text":"a\nb"}`, i))
	}
	return k
}

// recordsResults reads pages of results until they expire.
func recordsResults(t *testing.T, w *Fixture) {
	other, _, _ := w.AddWorkspace("other@example.com")
	for _, n := range []int{0, 1, 499, 500, 501, 1000, 1234} {
		k := w.result(n)
		w.must(w.DB.Results().Save(t.Context(), w.Workspace, k))
		for _, from := range []int{0, 1, 498, 499, 500, 501, 999, 1000, n - 1, n, n + 1} {
			for _, limit := range []int{1, 2, 500, 1001, 5000} {
				if from < 0 {
					continue
				}
				rows, meta, total, err := w.DB.Results().Page(t.Context(), w.Workspace, k.ID, from, limit)
				want := k.Rows[min(n, from):min(n, from+limit)]
				if err != nil || total != n || !bytes.Equal(meta, k.Meta) || !slices.EqualFunc(rows, want, bytes.Equal) {
					t.Fatalf("%d rows from %d of %d: got %d rows of %d with %s, %v", limit, from, n, len(rows), total, meta, err)
				}
			}
		}
	}
	k := w.result(600)
	w.must(w.DB.Results().Save(t.Context(), w.Workspace, k))
	missing := func(workspace, id ident.ID) {
		t.Helper()
		if rows, _, _, err := w.DB.Results().Page(t.Context(), workspace, id, 0, 10); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s in %s: got %d rows, %v want not_found", id, workspace, len(rows), err)
		}
	}
	missing(other, k.ID)
	missing(w.Workspace, "res_none")
	w.Clock.Advance(15*time.Minute - time.Millisecond)
	_, err := w.DB.Prune(t.Context())
	w.must(err)
	if _, _, total, err := w.DB.Results().Page(t.Context(), w.Workspace, k.ID, 500, 10); err != nil || total != 600 {
		t.Errorf("just before the end: got %d, %v want 600", total, err)
	}
	w.Clock.Advance(time.Millisecond)
	missing(w.Workspace, k.ID)
	_, err = w.DB.Prune(t.Context())
	w.must(err)
	w.Count(0, `SELECT count(*) FROM result`)
	w.Count(0, `SELECT count(*) FROM result_rows`)
}

// Rates is the service over the fixture's store.
func (w *Fixture) Rates() *rates.Service { return rates.New(w.DB.Rates(), w.Clock.Now) }

// put writes rates and returns what that did.
func (w *Fixture) put(workspace ident.ID, list ...rates.Rate) rates.UpdateResult {
	w.T.Helper()
	d, err := w.Rates().Put(w.T.Context(), w.Cause(), workspace, list)
	w.must(err)
	var u rates.UpdateResult
	w.must(json.Unmarshal(d.JSON, &u))
	return u
}

func usd(day clock.Date, value rates.Decimal) rates.Rate {
	return rates.Rate{Date: day, Currency: "USD", PerEuro: value}
}

// book returns the rates that apply to a workspace, by day offset from the
// Friday.
func (w *Fixture) book(workspace ident.ID) map[clock.Date]int64 {
	w.T.Helper()
	list, err := w.DB.Rates().Rates(w.T.Context(), workspace, []money.Currency{"USD"}, friday-20, friday+20)
	w.must(err)
	found := map[clock.Date]int64{}
	for _, r := range list {
		if _, twice := found[r.Date-friday]; twice || r.Currency != "USD" {
			w.T.Errorf("got %v among %v", r, list)
		}
		found[r.Date-friday] = r.PerEuro
	}
	return found
}

// recordsAnalyticsWorkspace reads the settings that analytics needs.
func recordsAnalyticsWorkspace(t *testing.T, w *Fixture) {
	got, err := w.DB.Analytics().Workspace(t.Context(), w.Workspace)
	if want := analytics.NewWorkspace(w.Workspace, "Europe/Berlin", "EUR"); err != nil || got != want {
		t.Errorf("got %+v, %v want %+v", got, err, want)
	}
	if _, err := w.DB.Analytics().Workspace(t.Context(), "wks_none"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown workspace: got %v want not found", err)
	}
}

// recordsRates follows rates as they are published, corrected and carried.
func recordsRates(t *testing.T, w *Fixture) {
	other, _, _ := w.AddWorkspace("other@example.com")
	check := func(what string, got rates.UpdateResult, written, carried int64, workspace ident.ID, want map[clock.Date]int64) {
		t.Helper()
		if got.Written != written || got.Carried != carried {
			t.Errorf("%s: got %d written and %d carried want %d and %d", what, got.Written, got.Carried, written, carried)
		}
		if diff := cmp.Diff(want, w.book(workspace)); diff != "" {
			t.Errorf("%s: rates differ (-want +got):\n%s", what, diff)
		}
	}
	check("thursday", w.put("", usd(friday-1, 10)), 1, 0, other, map[clock.Date]int64{-1: 10})
	check("friday", w.put("", usd(friday, 11)), 1, 2, other, map[clock.Date]int64{-1: 10, 0: 11, 1: 11, 2: 11})
	check("again", w.put("", usd(friday, 11)), 0, 0, other, map[clock.Date]int64{-1: 10, 0: 11, 1: 11, 2: 11})
	check("corrected", w.put("", usd(friday, 12)), 1, 2, other, map[clock.Date]int64{-1: 10, 0: 12, 1: 12, 2: 12})
	check("after a holiday", w.put("", usd(friday+4, 14)), 1, 1, other, map[clock.Date]int64{-1: 10, 0: 12, 1: 12, 2: 12, 3: 12, 4: 14})
	check("no holiday after all", w.put("", usd(friday+3, 13)), 1, 0, other, map[clock.Date]int64{-1: 10, 0: 12, 1: 12, 2: 12, 3: 13, 4: 14})
	check("before", w.put("", usd(friday-4, 9)), 1, 2, other, map[clock.Date]int64{-4: 9, -3: 9, -2: 9, -1: 10, 0: 12, 1: 12, 2: 12, 3: 13, 4: 14})

	// A workspace's own rate applies only to that workspace. A published rate
	// replaces a carried one.
	server := w.book(other)
	own := map[clock.Date]int64{-4: 9, -3: 9, -2: 9, -1: 10, 0: 20, 1: 20, 2: 20, 3: 13, 4: 24}
	check("own friday", w.put(w.Workspace, usd(friday, 20), usd(friday+4, 24)), 2, 3, w.Workspace, own)
	if diff := cmp.Diff(server, w.book(other)); diff != "" {
		t.Errorf("the rates of another workspace have changed:\n%s", diff)
	}
	if list, err := w.DB.Rates().Rates(t.Context(), w.Workspace, nil, friday, friday); err != nil || len(list) != 0 {
		t.Errorf("of no currency: got %v, %v", list, err)
	}
	w.Count(1, `SELECT count(*) FROM event WHERE workspace_id = $1 AND type = $2`, string(w.Workspace), "rates.updated")
	w.Count(0, `SELECT count(*) FROM event WHERE workspace_id = $1`, "")
	w.Count(6, `SELECT seq FROM audit_head WHERE workspace_id = $1`, "") // one was no change
	cause := w.Cause()
	cause.Idempotency = &record.Idempotency{Key: "rates", Fingerprint: "f", Status: 200}
	d, err := w.Rates().Put(t.Context(), cause, w.Workspace, []rates.Rate{usd(friday, 20)})
	w.must(err)
	if a, err := w.DB.StoredResponse(t.Context(), w.Workspace, "rates"); err != nil || a == nil || !bytes.Equal(a.Doc.JSON, d.JSON) || !bytes.Contains(d.JSON, []byte(`"written":0`)) {
		t.Errorf("got remembered %v, %v want %s", a, err, d.JSON)
	}
	report, err := w.DB.VerifyAudit(t.Context(), func(int64) {})
	if err != nil || len(report.Faults) > 0 {
		t.Errorf("audit: %v %v", report.Faults, err)
	}
	for want, list := range map[string][]rates.Rate{
		"rates too_few_items":             nil,
		"rates[0].currency invalid_value": {{Date: friday, Currency: "EUR", PerEuro: 1}},
		"rates[1].currency invalid_value": {usd(friday, 1), {Date: friday, Currency: "XAU", PerEuro: 1}},
		"rates[0].rate invalid_value":     {usd(friday, 0)},
		"rates[1] duplicate_item":         {usd(friday, 1), usd(friday, 2)},
	} {
		_, err := w.Rates().Put(t.Context(), w.Cause(), w.Workspace, list)
		if got := details(err); got != want {
			t.Errorf("got %q want %q", got, want)
		}
	}
}

// recordsRatesRace publishes the days of weeks concurrently. The carried rates
// do not depend on the order.
func recordsRatesRace(t *testing.T, w *Fixture) {
	var all []rates.Rate
	for i := range clock.Date(28) {
		if d := friday - 28 + i; d.Weekday() < 5 {
			all = append(all, usd(d, rates.Decimal(1000+i)))
		}
	}
	together(len(all), func(i int) {
		if _, err := w.Rates().Put(t.Context(), w.Cause(), w.Workspace, all[i:i+1]); err != nil {
			t.Error(err)
		}
	})
	got, err := w.DB.Rates().Rates(t.Context(), w.Workspace, []money.Currency{"USD"}, friday-28, friday)
	w.must(err)
	want := map[clock.Date]int64{}
	for _, r := range slices.Concat(all, rates.Carry(all)) {
		want[r.Date] = int64(r.PerEuro)
	}
	found := map[clock.Date]int64{}
	for _, r := range got {
		found[r.Date] = r.PerEuro
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("rates differ (-want +got):\n%s", diff)
	}
}

// recordsRateLists reads pages of every size and puts them together.
func recordsRateLists(t *testing.T, w *Fixture) {
	r := mathrand.New(mathrand.NewPCG(7, 1))
	other, _, _ := w.AddWorkspace("other@example.com")
	currencies := []money.Currency{"AUD", "JPY", "USD"}
	type key struct {
		date     clock.Date
		currency money.Currency
	}
	published, own := map[key]rates.Decimal{}, map[key]rates.Decimal{}
	for owner, into := range map[ident.ID]map[key]rates.Decimal{"": published, w.Workspace: own, other: {}} {
		var list []rates.Rate
		for i := range clock.Date(40) {
			for _, c := range currencies {
				if r.IntN(2) == 0 {
					one := rates.Rate{Date: friday + 10*i, Currency: c, PerEuro: rates.Decimal(r.IntN(1_000_000_000) + 1)}
					list, into[key{one.Date, c}] = append(list, one), one.PerEuro
				}
			}
		}
		w.put(owner, list...)
	}
	var want []rates.ListedRate
	for i := range clock.Date(410) {
		for _, c := range currencies {
			k := key{friday + 409 - i, c}
			// Far days are no gap, but a weekend follows each Friday.
			shown := rates.ListedRate{Base: "EUR", Rate: rates.Rate{Date: k.date, Currency: c}}
			for _, carried := range []clock.Date{0, 1, 2} {
				k := key{k.date - carried, c}
				if shown.PerEuro != 0 || carried > 0 && k.date.Weekday() != 4 {
					continue
				}
				if v := published[k]; v != 0 {
					shown.PerEuro, shown.Source, shown.Carried = v, "server", carried > 0
				}
				if v := own[k]; v != 0 {
					shown.PerEuro, shown.Source, shown.Carried = v, "workspace", carried > 0
				}
			}
			if shown.PerEuro != 0 {
				want = append(want, shown)
			}
		}
	}
	read := func(q rates.Query) (got []rates.ListedRate) {
		for {
			p, err := w.Rates().List(t.Context(), w.Workspace, q)
			w.must(err)
			if len(p.Docs) > q.Limit || p.Next != nil && len(p.Docs) != q.Limit {
				t.Fatalf("got a page of %d want %d", len(p.Docs), q.Limit)
			}
			for _, d := range p.Docs {
				var l rates.ListedRate
				w.must(json.Unmarshal(d.JSON, &l))
				got = append(got, l)
			}
			if q.After = p.Next; p.Next == nil {
				return got
			}
		}
	}
	first, last := friday+50, friday+222
	for _, limit := range []int{1, 7, 100, 1000} {
		for _, q := range []rates.Query{{}, {Currencies: currencies[:1]}, {First: &first}, {Last: &last}, {Currencies: currencies[1:], First: &first, Last: &last}} {
			q.Limit = limit
			kept := slices.DeleteFunc(slices.Clone(want), func(l rates.ListedRate) bool {
				return q.First != nil && l.Date < *q.First || q.Last != nil && l.Date > *q.Last || len(q.Currencies) > 0 && !slices.Contains(q.Currencies, l.Currency)
			})
			if diff := cmp.Diff(kept, read(q)); diff != "" {
				t.Fatalf("pages of %d of %+v differ (-want +got):\n%s", limit, q, diff)
			}
		}
	}
}

// details returns the fields and codes of a fault as text.
func details(err error) string {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return fmt.Sprint(err)
	}
	var list []string
	for _, d := range f.Details {
		list = append(list, d.Field+" "+d.Code)
	}
	return strings.Join(list, ", ")
}

// withoutSpend removes the jobs about spend that a step has planned, because other
// steps would find them.
func (w *Fixture) withoutSpend(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return w.Raw.Write(store.Across(ctx), func(tx store.Tx) error {
		_, err := tx.Exec(`DELETE FROM job WHERE kind = $1`, record.JobSpend)
		return err
	})
}
