package ingest_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ingest"
	"fanfare/internal/record"
)

const oneRow = `[{"date":"2026-11-14","campaign_name":"a","clicks":1}]`

// TestFeedSteps checks that the source is updated before and after the rows are
// stored, and that the response is stored with the second update.
func TestFeedSteps(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	once := cause
	once.Idempotency = &record.Idempotency{Key: "k"}
	b, err := w.Ingest(t.Context(), once, ingest.Feed{Body: []byte(oneRow), Defaults: home})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"source default/default", "begin", "write 1", "fed 1"}
	if !slices.Equal(w.steps, want) {
		t.Errorf("got %v want %v", w.steps, want)
	}
	if !bytes.Equal(w.answers["k"], b) {
		t.Errorf("got %s remembered want %s", w.answers["k"], b)
	}
	if want := `{"accepted":1,"rejected":[],"rejected_count":0,"connection_id":"con_api_default","mode":"upsert","window":null,"families":["base"]}`; string(b) != want {
		t.Errorf("got %s want %s", b, want)
	}
}

// TestFeedAfterCrash wants a call that died anywhere to be repaired by
// repeating it.
func TestFeedAfterCrash(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"source", "begin", "write", "written", "fed", "exist"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w := newFakeDeps(t)
			crash := errors.New("crash")
			w.fail[step] = crash
			f := ingest.Feed{Defaults: home, Body: fmt.Appendf(nil, `[{"date":"2026-11-14","campaign_id":%q,"clicks":1}]`, ourCampaign)}
			if _, err := w.Ingest(t.Context(), cause, f); !errors.Is(err, crash) {
				t.Fatalf("got %v want %v", err, crash)
			}
			w.fail = nil
			if a := w.ingested(t, f); a.Accepted != 1 || len(w.rows) != 1 {
				t.Errorf("got %d accepted and %d rows want 1 and 1", a.Accepted, len(w.rows))
			}
		})
	}
}

func TestUpsert(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	for clicks := range 3 {
		w.ingested(t, ingest.Feed{Body: fmt.Appendf(nil, `[{"date":"2026-11-14","clicks":%d},{"date":"2026-11-13","clicks":%d,"country":"DE"}]`, clicks, clicks)})
	}
	if len(w.rows) != 2 {
		t.Fatalf("got %d rows want 2", len(w.rows))
	}
	for _, r := range w.rows {
		if n, _ := r.Values.Get(fact.Clicks); n != 2 {
			t.Errorf("got %d clicks want 2", n)
		}
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	var rows []string
	for d := 1; d <= 10; d++ {
		rows = append(rows, fmt.Sprintf(`{"date":"2026-11-%02d","clicks":1}`, d), fmt.Sprintf(`{"date":"2026-11-%02d","clicks":1,"country":"DE"}`, d), fmt.Sprintf(`{"date":"2026-11-%02d","clicks":1,"account_id":"b"}`, d))
	}
	w.ingested(t, ingest.Feed{Body: []byte("[" + strings.Join(rows, ",") + "]")})
	count := func(want int) {
		t.Helper()
		if len(w.rows) != want {
			t.Errorf("got %d rows want %d", len(w.rows), want)
		}
	}
	count(30)
	feed := ingest.Feed{Mode: ingest.Replace, First: day("2026-11-03"), Last: day("2026-11-05"), Body: []byte(`[{"date":"2026-11-04","clicks":2}]`)}
	a := w.ingested(t, feed)
	count(28) // three base days of one account went, one came
	if a.Window == nil || a.Window.StartDate != *day("2026-11-03") || a.Window.EndDate != *day("2026-11-05") || !slices.Equal(a.Families, []string{"base"}) {
		t.Errorf("got %+v want the window and base", a)
	}
	w.ingested(t, feed)
	count(28)
	feed.Families, feed.Body = []fact.Family{fact.Base, fact.Geo}, []byte(`[]`)
	w.ingested(t, feed)
	count(24) // the one that came, and three days of geo
	feed.Account, feed.Families = "b", nil
	w.ingested(t, feed)
	count(21)

	w.ingested(t, ingest.Feed{Mode: ingest.Replace, First: day("2026-11-06"), Last: day("2026-11-06"), Account: "b", Body: []byte(`[{"date":"2026-11-06","clicks":2,"account_id":"c"}]`)})
	count(21) // an account that is named is emptied also where no row is of it

	feed.Body = []byte(`[{"date":"2026-11-06","clicks":2},{"date":"2026-11-03","clicks":-1}]`)
	_, err := w.Ingest(t.Context(), cause, feed)
	if d := details(err); !fault.Is(err, fault.ValidationFailed) || len(d) != 2 || d[0].Field != "rows[0].date" || d[1].Field != "rows[1].clicks" {
		t.Errorf("got %v %+v want both rows refused", err, d)
	}
	count(21)
	feed.Families, feed.Body = []fact.Family{fact.Geo}, []byte(`[{"date":"2026-11-04","clicks":2}]`)
	if _, err := w.Ingest(t.Context(), cause, feed); !fault.Is(err, fault.ValidationFailed) || details(err)[0].Code != "incompatible_fields" {
		t.Errorf("got %v want incompatible_fields", err)
	}
	for want, f := range map[string]ingest.Feed{
		"start_date required end_date required":                       {Mode: ingest.Replace},
		"end_date invalid_value":                                      {Mode: ingest.Replace, First: day("2026-11-05"), Last: day("2026-11-04")},
		"mode invalid_value":                                          {Mode: "append"},
		"start_date incompatible_fields families incompatible_fields": {First: day("2026-11-05"), Families: []fact.Family{fact.Base}},
	} {
		f.Body, f.Defaults = []byte(oneRow), home
		_, err := w.Ingest(t.Context(), cause, f)
		var got []string
		for _, d := range details(err) {
			got = append(got, d.Field+" "+d.Code)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("got %q want %q", s, want)
		}
	}
}

func TestAtomic(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	_, err := w.Ingest(t.Context(), cause, ingest.Feed{Defaults: home, Atomic: true, Body: []byte(`[{"date":"2026-11-14","clicks":1},{"date":"2026-11-14","clicks":1},{}]`)})
	var got []string
	for _, d := range details(err) {
		got = append(got, d.Field+" "+d.In+" "+d.Code)
	}
	if want := []string{"rows[1] body duplicate_item", "rows[2].date body required", "rows[2] body required"}; !slices.Equal(got, want) {
		t.Errorf("got %q want %q", got, want)
	}
	if len(w.steps) > 0 {
		t.Errorf("got %v want nothing done", w.steps)
	}
}

// TestEmptyFeed checks that a feed without rows writes nothing.
func TestEmptyFeed(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	for _, body := range []string{`[]`, `[{}]`} {
		if a := w.ingested(t, ingest.Feed{Body: []byte(body)}); a.Accepted != 0 || a.ConnectionID != nil || len(w.steps) > 0 {
			t.Errorf("%s: got %+v, %v want nothing", body, a, w.steps)
		}
	}
}

func TestTooMany(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	for _, f := range []ingest.Feed{
		{Body: []byte("[" + strings.Repeat("{},", ingest.MaxRows) + "{}]")},
		{Body: []byte(strings.Repeat("{}\n", ingest.MaxRows+1)), NDJSON: true},
	} {
		f.Defaults = home
		if _, err := w.Ingest(t.Context(), cause, f); !fault.Is(err, fault.ValidationFailed) || details(err)[0].Code != "too_many_items" {
			t.Errorf("got %v want too_many_items", err)
		}
	}
	a := w.ingested(t, ingest.Feed{Body: []byte(strings.Repeat("{}\n", ingest.MaxRows)), NDJSON: true})
	if a.RejectedCount != ingest.MaxRows {
		t.Errorf("got %d rejected want %d", a.RejectedCount, ingest.MaxRows)
	}
	var rows []string
	for i := range ingest.MaxAccounts + 1 {
		rows = append(rows, fmt.Sprintf(`{"date":"2026-11-14","account_id":%d,"clicks":1}`, i))
	}
	if _, err := w.Ingest(t.Context(), cause, ingest.Feed{Defaults: home, Body: []byte("[" + strings.Join(rows, ",") + "]")}); !fault.Is(err, fault.ValidationFailed) || len(w.steps) > 0 {
		t.Errorf("got %v after %v want too many accounts and nothing done", err, w.steps)
	}
}

// TestSources wants all accounts of a call on one connection, found by its id
// or by its name.
func TestSources(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	const id = "con_01m5eyeh80e7arh0dndj97bhsc"
	a := w.ingested(t, ingest.Feed{Source: id, Currency: "USD", Body: []byte(`[{"date":"2026-11-14","account_id":"a","clicks":1},{"date":"2026-11-14","account_id":"b","clicks":1}]`)})
	if a.ConnectionID == nil || *a.ConnectionID != id || len(w.accounts) != 2 {
		t.Errorf("got %+v, %v want two accounts of %s", a, w.accounts, id)
	}
	_, err := w.Ingest(t.Context(), cause, ingest.Feed{Source: id, Currency: "EUR", Account: "a", Defaults: home, Body: []byte(oneRow)})
	if !fault.Is(err, fault.ValidationFailed) || details(err)[0].Code != "currency_mismatch" || len(w.rows) != 2 {
		t.Errorf("got %v want currency_mismatch", err)
	}
	// Who says nothing means the currency that the account has.
	if a := w.ingested(t, ingest.Feed{Source: id, Account: "a", Body: []byte(oneRow)}); a.Accepted != 1 {
		t.Errorf("got %+v want 1 accepted", a)
	}
}

// feedOf returns realistic rows.
func feedOf(rows int) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"date":"2026-%02d-%02d","account_id":"eu","channel":"search","external_campaign_id":"%d","campaign_name":"Campaign %d","external_creative_id":"%d","impressions":%d,"clicks":%d,"spend":%d.%02d,"conversions":%d.5,"revenue":"%d.25"}`,
			1+i/28%10, 1+i%28, i/280, i/280, i%7, i, i/50, i/10, i%100, i%9, i/3)
	}
	b.WriteByte(']')
	return b.Bytes()
}

func BenchmarkIngest50000(b *testing.B) {
	body := feedOf(ingest.MaxRows)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		w := newFakeDeps(b)
		w.fail["write"] = errStop
		_, err := w.Ingest(b.Context(), cause, ingest.Feed{Body: body, Defaults: home})
		if !errors.Is(err, errStop) {
			b.Fatal(err)
		}
	}
}

var errStop = errors.New("stop")
