package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

const workspace ident.ID = "wks_01kjprzb00ek89wwe7jc37sr24"

var (
	today = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	home  = connection.WorkspaceDefaults{Currency: "EUR", Zone: "Europe/Berlin"}
	cause = record.Cause{Workspace: workspace, Actor: record.Actor{Type: record.ActorKey, ID: "key_1", Name: "Shop"}}

	ourCampaign = ident.Make(ident.Campaign, today, 1)
	ourCreative = ident.Make(ident.Creative, today, 2)
	ourVariant  = ident.Make(ident.Variant, today, 3)
	ourAudience = ident.Make(ident.Audience, today, 4)
)

// fakeDeps implements the dependencies of the service in memory. steps lists
// the calls in order. A step with an entry in fail returns that error, which
// stops the service there, as a crash would.
type fakeDeps struct {
	*ingest.Service
	mu sync.Mutex
	// noted protects fields that callers change with or without mu. It is never
	// held while waiting.
	noted    sync.Mutex
	now      time.Time
	rows     map[string]fact.Row
	by       map[string]ident.ID
	written  map[ident.ID]bool
	accounts map[string]fact.Source
	imports  map[ident.ID]record.Doc
	// next is when the job of an import runs, 0 for none.
	next    map[ident.ID]clock.Instant
	files   map[string][]byte
	put     map[string]time.Time
	answers map[string][]byte
	events  []string
	steps   []string
	fail    map[string]error
	random  byte
	// during, if set, is called when a source is fed.
	during  func(step string)
	parquet func([]byte, func([]string, [][]string) error) error
}

func newFakeDeps(t testing.TB) *fakeDeps {
	t.Helper()
	w := &fakeDeps{
		now: today, rows: map[string]fact.Row{}, by: map[string]ident.ID{}, written: map[ident.ID]bool{}, accounts: map[string]fact.Source{}, imports: map[ident.ID]record.Doc{}, next: map[ident.ID]clock.Instant{},
		files: map[string][]byte{}, put: map[string]time.Time{}, answers: map[string][]byte{}, fail: map[string]error{},
	}
	w.Service = ingest.New(ingest.Deps{
		Facts: facts{w}, Sources: w, Records: w, Imports: imports{w}, Files: files{w}, Parquet: parquet{w},
		Now: w.clock, Random: w,
	})
	return w
}

func (w *fakeDeps) clock() time.Time { return w.now }

func (w *fakeDeps) step(format string, args ...any) error {
	name := fmt.Sprintf(format, args...)
	w.noted.Lock()
	defer w.noted.Unlock()
	w.steps = append(w.steps, name)
	return w.fail[strings.Fields(name)[0]]
}

// Read makes ids that differ.
func (w *fakeDeps) Read(b []byte) (int, error) {
	w.noted.Lock()
	defer w.noted.Unlock()
	w.random++
	for i := range b {
		b[i] = w.random
	}
	return len(b), nil
}

func key(r *fact.Row) string {
	return strings.Join([]string{
		string(r.Source.Connection), r.Source.Account, r.Family.String(), r.Date.String(), r.Channel, r.Campaign.Key(), r.Creative.Key(), r.Audience.Key(),
		r.Country, r.AgeRange, r.Gender, r.Device,
	}, "|")
}

func (w facts) Write(_ context.Context, b *fact.Batch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.step("write %d", len(b.Rows)); err != nil {
		return err
	}
	if b.Import != "" {
		if w.written[b.Import] {
			return w.fail["written"]
		}
		w.written[b.Import] = true
	}
	for _, win := range b.Replace {
		maps.DeleteFunc(w.rows, func(_ string, r fact.Row) bool {
			return *r.Source == *win.Source && r.Family == win.Family && r.Date >= win.First && r.Date <= win.Last
		})
	}
	for _, r := range b.Rows {
		w.rows[key(&r)], w.by[key(&r)] = r, b.Import
	}
	return w.fail["written"]
}

func (w facts) Undo(_ context.Context, _, imported ident.ID) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.step("undo"); err != nil {
		return 0, err
	}
	before := len(w.rows)
	maps.DeleteFunc(w.rows, func(k string, _ fact.Row) bool { return w.by[k] == imported })
	return int64(before - len(w.rows)), nil
}

func (w *fakeDeps) Source(_ context.Context, c record.Cause, s connection.Source) (connection.KnownSource, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.Idempotency != nil {
		return connection.KnownSource{}, errors.New("a source is not the answer to be remembered")
	}
	if err := w.step("source %s/%s", s.Name, s.Account); err != nil {
		return connection.KnownSource{}, err
	}
	w.noted.Lock()
	defer w.noted.Unlock()
	id := s.ID
	if id == "" {
		id = ident.ID("con_" + s.Platform + "_" + strings.ToLower(s.Name))
	}
	if a, there := w.accounts[string(id)+"/"+s.Account]; there {
		if s.Currency != "" && s.Currency != a.Currency {
			return connection.KnownSource{}, fault.Invalid([]fault.Detail{{Field: "currency", Code: "currency_mismatch", Message: "other currency"}})
		}
		return connection.KnownSource{Source: a}, nil
	}
	a := fact.Source{Connection: id, Platform: s.Platform, Account: s.Account, Currency: s.Currency, Zone: s.Zone}
	if a.Currency == "" {
		a.Currency = s.Default.Currency
	}
	if a.Zone == "" {
		a.Zone = s.Default.Zone
	}
	w.accounts[string(id)+"/"+s.Account] = a
	return connection.KnownSource{Source: a}, nil
}

func (w *fakeDeps) Begin(context.Context, ident.ID, ident.ID) error { return w.step("begin") }

func (w *fakeDeps) RecordFeed(_ context.Context, c record.Cause, _ ident.ID, f connection.FeedResult) error {
	if err := w.step("fed %d", f.Rows); err != nil {
		return err
	}
	if w.during != nil {
		w.during(fmt.Sprintf("fed %d", f.Rows))
	}
	if c.Idempotency != nil {
		if f.Answer == nil {
			return errors.New("there is no answer to be remembered")
		}
		w.noted.Lock()
		defer w.noted.Unlock()
		w.answers[c.Idempotency.Key] = f.Answer
	}
	return nil
}

func (w *fakeDeps) Find(_ context.Context, _ ident.ID, kind string, ids []ident.ID) (map[ident.ID]ident.ID, error) {
	if len(ids) > ingest.MaxLookup {
		return nil, fmt.Errorf("got %d ids at once want at most %d", len(ids), ingest.MaxLookup)
	}
	ours := map[string]map[ident.ID]ident.ID{
		fact.KindCampaign: {ourCampaign: ourCampaign}, fact.KindCreative: {ourCreative: ourCreative},
		ingest.KindVariant: {ourVariant: ourCreative}, fact.KindAudience: {ourAudience: ourAudience},
	}[kind]
	found := map[ident.ID]ident.ID{}
	for _, id := range ids {
		if record, there := ours[id]; there {
			found[id] = record
		}
	}
	return found, w.fail["exist"]
}

type facts struct{ *fakeDeps }

type imports struct{ *fakeDeps }

func (w imports) Save(_ context.Context, i *ingest.Import, save record.Save) (record.Doc, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.step("save %s", i.Status); err != nil {
		return record.Doc{}, err
	}
	if was, there := w.imports[i.ID]; there && was.Stamp != i.Stored().Stamp {
		return record.Doc{}, record.ErrRace
	}
	b, err := json.Marshal(i, json.Deterministic(true))
	if err != nil {
		return record.Doc{}, err
	}
	d := record.Doc{Stamp: i.Stamp(), JSON: b}
	w.imports[i.ID] = d
	for _, j := range save.Jobs {
		if w.next[j.ID] = j.At; j.Cancel {
			w.next[j.ID] = 0
		}
	}
	for _, e := range save.Events {
		w.events = append(w.events, e.Type)
	}
	if o := save.Cause.Idempotency; o != nil {
		if w.answers[o.Key] != nil {
			return record.Doc{}, record.ErrKeyUsed
		}
		w.answers[o.Key] = b
	}
	return d, nil
}

func (w imports) Doc(_ context.Context, _, id ident.ID) (record.Doc, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d, there := w.imports[id]
	if !there {
		return d, fault.Missing()
	}
	return d, nil
}

func (w imports) Load(ctx context.Context, workspace, id ident.ID) (*ingest.Import, error) {
	d, err := w.Doc(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	i := &ingest.Import{}
	if err := json.Unmarshal(d.JSON, i); err != nil {
		return nil, err
	}
	i.SetStored(workspace, d)
	return i, nil
}

func (w imports) List(context.Context, ident.ID, page.Query) (page.Page, error) {
	return page.Page{Docs: slices.Collect(maps.Values(w.imports))}, nil
}

func (w imports) Same(ctx context.Context, workspace ident.ID, source, sum string) (ident.ID, error) {
	for id := range w.imports {
		if i, err := w.Load(ctx, workspace, id); err == nil && i.Source == source && i.File.SHA256 == sum && i.Status == ingest.StatusCommitted {
			return id, nil
		}
	}
	return "", nil
}

type files struct{ *fakeDeps }

func (w files) Put(_ ident.ID, sum string, b []byte) error {
	w.noted.Lock()
	w.files[sum], w.put[sum] = slices.Clone(b), w.now
	w.noted.Unlock()
	return w.step("put")
}

func (w files) Open(_ ident.ID, sum string) (io.ReadCloser, int64, error) {
	w.noted.Lock()
	defer w.noted.Unlock()
	b, there := w.files[sum]
	if !there {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}

func (w files) Old(_ context.Context, before time.Time, each func(ident.ID, string) error) error {
	for sum, at := range w.put {
		if at.Before(before) {
			if err := each(workspace, sum); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w files) Remove(_ ident.ID, sum string, _ time.Time) error {
	delete(w.files, sum)
	return nil
}

type parquet struct{ *fakeDeps }

func (w parquet) ReadParquet(_ context.Context, b []byte, _ fact.FileLimits, each func([]string, [][]string) error) error {
	return w.parquet(b, each)
}

// ingested sends rows and returns the answer.
func (w *fakeDeps) ingested(t testing.TB, f ingest.Feed) ingest.FeedResult {
	t.Helper()
	f.Defaults = home
	b, err := w.Ingest(t.Context(), cause, f)
	if err != nil {
		t.Fatal(err)
	}
	var a ingest.FeedResult
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func (w *fakeDeps) uploaded(t testing.TB, u ingest.Upload) *ingest.Import {
	t.Helper()
	u.Defaults = home
	d, err := w.Upload(t.Context(), cause, u)
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, d)
}

func decoded(t testing.TB, d record.Doc) *ingest.Import {
	t.Helper()
	i := &ingest.Import{}
	if err := json.Unmarshal(d.JSON, i); err != nil {
		t.Fatal(err)
	}
	return i
}

func day(s string) *clock.Date {
	d, ok := clock.ParseDate(s)
	if !ok {
		panic(s)
	}
	return &d
}

func details(err error) (list []fault.Detail) {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		list = f.Details
	}
	return list
}
