package connection_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

func newFixture(t *testing.T) *storetest.Fixture {
	t.Helper()
	return storetest.NewFixture(t, sqlitetest.Open(t))
}

func shop() connection.Source {
	return connection.Source{Platform: connection.PlatformAPI, Name: "Shop", Account: "default", Currency: "EUR", Zone: "Europe/Berlin"}
}

func find(t *testing.T, w *storetest.Fixture, src connection.Source) connection.KnownSource {
	t.Helper()
	f, err := w.Connections().Source(t.Context(), w.Cause(), src)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// read returns a record as it is answered.
func read(t *testing.T, w *storetest.Fixture, id ident.ID) (members map[string]any, stamp record.Stamp) {
	t.Helper()
	d, err := w.Connections().Get(t.Context(), w.Workspace, id)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(d.JSON, &members); err != nil {
		t.Fatal(err)
	}
	return members, d.Stamp
}

func want(t testing.TB, what string, wanted, got any) {
	t.Helper()
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// TestSource makes a connection, finds it again, and adds an account to it.
func TestSource(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	first := find(t, w, shop())
	want(t, "source", fact.Source{Connection: first.Connection, Platform: "api", Account: "default", Currency: "EUR", Zone: "Europe/Berlin"}, first.Source)
	got, stamp := read(t, w, first.Connection)
	want(t, "stamp", first.Stamp, stamp)
	account := map[string]any{"external_id": "default", "platform": "api", "name": "default", "currency": "EUR", "timezone": "Europe/Berlin", "url": nil, "enabled": true, "reports": []any{}}
	want(t, "record", map[string]any{
		"id": string(first.Connection), "platform": "api", "name": "Shop", "status": "connected", "status_reason": nil, "data_lost_at": nil,
		"accounts": []any{account}, "capabilities": []any{"read_metrics"}, "scopes_granted": []any{}, "scopes_missing": []any{}, "credentials_expire_at": nil,
		"config": map[string]any{}, "write_enabled": false, "link_by_name": false, "conversion_events": []any{}, "account_selection": map[string]any{"mode": "all", "ids": []any{}, "auto_add": true}, "authorization_url": nil,
		"sync": map[string]any{
			"state": "idle", "current_run_id": nil, "last_run_id": nil, "last_success_at": nil, "last_error": nil, "next_run_at": nil,
			"interval_minutes": nil, "lookback_days": 0.0, "data_through": nil, "backfilled_since": nil,
		},
		"health": map[string]any{"success_rate_7d": nil, "lag_seconds": nil}, "reauth_url": nil,
		"version": 1.0, "created_by": map[string]any{"type": "api_key", "id": "key_1", "name": "Key"},
		"created_at": "2026-11-15T12:00:00.000Z", "updated_at": "2026-11-15T12:00:00.000Z", "archived_at": nil,
	}, got)

	w.Clock.Advance(time.Minute)
	for name, change := range map[string]func(*connection.Source){
		"the same":     func(*connection.Source) {},
		"another case": func(s *connection.Source) { s.Name = " sHOP " },
		"its id":       func(s *connection.Source) { s.ID, s.Name = first.Connection, "" },
		"whatever it has": func(s *connection.Source) {
			s.Currency, s.Zone, s.Default = "", "", connection.WorkspaceDefaults{Currency: "USD", Zone: "UTC"}
		},
		"another platform": func(s *connection.Source) { s.ID, s.Platform = first.Connection, "csv" },
	} {
		src := shop()
		change(&src)
		want(t, name, first, find(t, w, src))
	}
	want(t, "events", []string{"connection.created"}, w.EventTypes(string(first.Connection)))

	second := find(t, w, connection.Source{
		Platform: "api", Name: "shop", Account: "us", AccountName: "United States", Default: connection.WorkspaceDefaults{Currency: "USD", Zone: "America/New_York"},
	})
	want(t, "second", connection.KnownSource{
		Source: fact.Source{Connection: first.Connection, Platform: "api", Account: "us", Currency: "USD", Zone: "America/New_York"}, Stamp: record.Stamp{Version: 2},
	}, second)
	got, _ = read(t, w, first.Connection)
	want(t, "accounts", []any{account, map[string]any{
		"external_id": "us", "platform": "api", "name": "United States", "currency": "USD", "timezone": "America/New_York", "url": nil, "enabled": true, "reports": []any{},
	}}, got["accounts"])
	want(t, "updated_at", any("2026-11-15T12:01:00.000Z"), got["updated_at"])
	want(t, "events", []string{"connection.created", "connection.updated"}, w.EventTypes(string(first.Connection)))
}

// TestSourceRefusals wants every refusal to name what would be right, and to
// change nothing.
func TestSourceRefusals(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	there := find(t, w, shop())
	gone := find(t, w, connection.Source{Platform: "csv", Name: "Gone", Account: "a", Currency: "EUR", Zone: "UTC"})
	c, err := w.DB.Connections().Load(t.Context(), w.Workspace, gone.Connection)
	if err != nil {
		t.Fatal(err)
	}
	c.Status = connection.StatusDisconnected
	c.Touch(w.Now(), 1)
	if _, err := w.DB.Connections().Save(t.Context(), c, w.Save("connection.disconnected")); err != nil {
		t.Fatal(err)
	}
	own, mine := w.Workspace, w.Cause()
	w.Workspace, _, _ = w.AddWorkspace("other@example.com")
	foreign := find(t, w, shop()).Connection
	w.Workspace = own
	before := storetest.State(t, w.Raw)
	for name, tt := range map[string]struct {
		change func(*connection.Source)
		want   string
		meta   fault.Meta
	}{
		"another currency": {func(s *connection.Source) { s.Currency = "USD" }, "currency currency_mismatch", fault.Meta{"account_id": "default", "currency": there.Currency}},
		"another zone":     {func(s *connection.Source) { s.Zone = "UTC" }, "timezone invalid_value", fault.Meta{"account_id": "default", "timezone": "Europe/Berlin"}},
		"both":             {func(s *connection.Source) { s.Zone, s.Currency = "UTC", "USD" }, "currency currency_mismatch, timezone invalid_value", nil},
		"unknown":          {func(s *connection.Source) { s.ID = "con_01h455vb4pex5vsknk084sn02q" }, "source not_found", fault.Meta{"id": ident.ID("con_01h455vb4pex5vsknk084sn02q")}},
		"foreign":          {func(s *connection.Source) { s.ID = foreign }, "source not_found", fault.Meta{"id": foreign}},
		"nonsense":         {func(s *connection.Source) { s.ID = "con_" }, "source not_found", nil},
		"disconnected":     {func(s *connection.Source) { s.ID = gone.Connection }, "source archived", fault.Meta{"id": gone.Connection}},
		"no name":          {func(s *connection.Source) { s.Name = " " }, "source required", nil},
		"no account":       {func(s *connection.Source) { s.Account = "" }, "account_id required", nil},
		"long name":        {func(s *connection.Source) { s.Name = strings.Repeat("é", 201) }, "source too_long", fault.Meta{"maximum": 200, "actual": 201}},
		"long account":     {func(s *connection.Source) { s.Account = strings.Repeat("a", 201) }, "account_id too_long", fault.Meta{"maximum": 200, "actual": 201}},
	} {
		src := shop()
		tt.change(&src)
		_, err := w.Connections().Source(t.Context(), mine, src)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != fault.ValidationFailed {
			t.Errorf("%s: got %v want %s", name, err, tt.want)
			continue
		}
		var list []string
		for _, d := range f.Details {
			list = append(list, d.Field+" "+d.Code)
		}
		want(t, name, tt.want, strings.Join(list, ", "))
		if tt.meta != nil {
			want(t, name+" meta", tt.meta, f.Details[0].Meta)
		}
	}
	want(t, "store", before, storetest.State(t, w.Raw))
}

// TestAccountLimit fills a connection.
func TestAccountLimit(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	f := find(t, w, shop())
	c, err := w.DB.Connections().Load(t.Context(), w.Workspace, f.Connection)
	if err != nil {
		t.Fatal(err)
	}
	for i := range connection.MaxAccounts - 1 {
		c.Accounts = append(c.Accounts, connection.Account{ExternalID: fmt.Sprint(i), Currency: "EUR", Timezone: "UTC"})
	}
	c.Touch(w.Now(), 1)
	if _, err := w.DB.Connections().Save(t.Context(), c, w.Save("connection.updated")); err != nil {
		t.Fatal(err)
	}
	src := shop()
	src.Account = "one more"
	if _, err := w.Connections().Source(t.Context(), w.Cause(), src); !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("got %v want validation_failed", err)
	}
	find(t, w, shop())
}

// TestRecordFeed follows what is noted when facts come in.
func TestRecordFeed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.Connections()
	f := find(t, w, shop())
	day := func(text string) clock.Date {
		d, ok := clock.ParseDate(text)
		if !ok {
			t.Fatalf("%s is no day", text)
		}
		return d
	}
	// It is noon of 2026-11-15 in UTC, 13:00 in Berlin.
	for i, tt := range []struct {
		first, last    string
		rows           int64
		since, through any
		lag            any
	}{
		{"2026-11-01", "2026-11-01", 0, nil, nil, nil},
		{"2026-11-10", "2026-11-13", 5, "2026-11-10", "2026-11-13", 37.0 * 3600},
		{"2026-11-12", "2026-11-14", 5, "2026-11-10", "2026-11-14", 13.0*3600 + 60},
		{"2026-10-01", "2026-10-02", 5, "2026-10-01", "2026-11-14", 13.0*3600 + 120},
		{"2026-11-15", "2026-11-15", 5, "2026-10-01", "2026-11-15", 0.0},
		{"2027-11-15", "2027-11-15", 0, "2026-10-01", "2026-11-15", 0.0},
	} {
		cause := w.Cause()
		cause.Idempotency = &record.Idempotency{Key: fmt.Sprint(i), Fingerprint: "f", Status: 200}
		answer := fmt.Appendf(nil, `{"accepted":%d}`, tt.rows)
		if err := s.RecordFeed(t.Context(), cause, f.Connection, connection.FeedResult{First: day(tt.first), Last: day(tt.last), Rows: tt.rows, Answer: answer}); err != nil {
			t.Fatal(err)
		}
		got, stamp := read(t, w, f.Connection)
		sync := got["sync"].(map[string]any)
		want(t, fmt.Sprint("sync ", i), []any{w.Now().String(), tt.since, tt.through}, []any{sync["last_success_at"], sync["backfilled_since"], sync["data_through"]})
		want(t, fmt.Sprint("lag ", i), tt.lag, got["health"].(map[string]any)["lag_seconds"])
		want(t, fmt.Sprint("stamp ", i), record.Stamp{Version: 1, Rev: int64(i + 1)}, stamp)
		want(t, fmt.Sprint("updated_at ", i), any("2026-11-15T12:00:00.000Z"), got["updated_at"])
		if a, err := w.DB.StoredResponse(t.Context(), w.Workspace, fmt.Sprint(i)); err != nil || a == nil || !bytes.Equal(a.Doc.JSON, answer) || a.Doc.Stamp != (record.Stamp{}) {
			t.Errorf("%d: got remembered %v, %v want %s", i, a, err, answer)
		}
		w.Count(int64(w.Now()), `SELECT run_at FROM job WHERE workspace_id = $1 AND kind = $2 AND args = $3`, string(w.Workspace), record.JobSpend, string(w.Workspace))
		if i > 0 {
			w.Clock.Advance(time.Minute)
		}
	}
	want(t, "events", []string{"connection.created"}, w.EventTypes(string(f.Connection)))

	// A key that was used does nothing at all.
	before := storetest.State(t, w.Raw)
	cause := w.Cause()
	cause.Idempotency = &record.Idempotency{Key: "1", Fingerprint: "f", Status: 200}
	if err := s.RecordFeed(t.Context(), cause, f.Connection, connection.FeedResult{First: 1, Last: 30_000, Rows: 1, Answer: []byte(`{}`)}); !errors.Is(err, record.ErrKeyUsed) {
		t.Errorf("the same key again: got %v want %v", err, record.ErrKeyUsed)
	}
	cause.Workspace, cause.Idempotency = "wks_other", nil
	if err := s.RecordFeed(t.Context(), cause, f.Connection, connection.FeedResult{Rows: 1}); !fault.Is(err, fault.NotFound) {
		t.Errorf("from another workspace: got %v want not_found", err)
	}
	want(t, "store", before, storetest.State(t, w.Raw))
}

// TestBegin checks that the job of a begun write survives the workspace's own
// job.
func TestBegin(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, jobs := w.Connections(), w.DB.Jobs()
	f := find(t, w, shop())
	recordFeed := func() {
		t.Helper()
		if err := s.RecordFeed(t.Context(), w.Cause(), f.Connection, connection.FeedResult{}); err != nil {
			t.Fatal(err)
		}
	}
	recordFeed()
	if err := s.Begin(t.Context(), w.Workspace, f.Connection); err != nil {
		t.Fatal(err)
	}
	due := func(want int) {
		t.Helper()
		list, err := jobs.Claim(t.Context(), w.Now(), w.Now().Add(time.Second), 10)
		if err != nil || len(list) != want {
			t.Fatalf("got %v, %v want %d jobs", list, err, want)
		}
		for _, j := range list {
			if j.Kind != record.JobSpend || j.WorkspaceID != w.Workspace {
				t.Errorf("got %+v", j)
			}
			if err := jobs.Done(t.Context(), j); err != nil {
				t.Fatal(err)
			}
		}
	}
	due(1)
	w.Clock.Advance(9 * time.Minute)
	due(0)
	w.Clock.Advance(time.Minute)
	due(1)
	due(0)
}

// TestFedOnlyGoesOn feeds days in any order and wants the first and the last of
// them.
func TestFedOnlyGoesOn(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		src := shop()
		src.Name = fmt.Sprint("Shop ", n)
		f, err := w.Connections().Source(t.Context(), w.Cause(), src)
		if err != nil {
			rt.Fatal(err)
		}
		least, most := clock.Date(1<<30), clock.Date(-1)
		for range rapid.IntRange(1, 6).Draw(rt, "times") {
			first := clock.Date(rapid.Int32Range(15_000, 25_000).Draw(rt, "first"))
			last := first + clock.Date(rapid.Int32Range(0, 1000).Draw(rt, "length"))
			least, most = min(least, first), max(most, last)
			w.Clock.Advance(time.Duration(rapid.IntRange(-1000, 1000).Draw(rt, "later")) * time.Second)
			if err := w.Connections().RecordFeed(t.Context(), w.Cause(), f.Connection, connection.FeedResult{First: first, Last: last, Rows: 1}); err != nil {
				rt.Fatal(err)
			}
		}
		c, err := w.DB.Connections().Load(t.Context(), w.Workspace, f.Connection)
		if err != nil {
			rt.Fatal(err)
		}
		if c.Sync.LastSuccessAt == nil || *c.Sync.BackfilledSince != least || *c.Sync.DataThrough != most || *c.Health.LagSeconds < 0 {
			rt.Fatalf("got %s to %s, %d behind, want %s to %s", c.Sync.BackfilledSince, c.Sync.DataThrough, *c.Health.LagSeconds, least, most)
		}
	})
}
