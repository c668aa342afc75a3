package storetest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

// damage changes the document of a row behind the back of the store.
func (w *Fixture) damage(statement string, args ...any) {
	w.T.Helper()
	w.must(w.Raw.Write(store.Across(w.T.Context()), func(tx store.Tx) error {
		n, err := tx.Exec(statement, args...)
		if err == nil && n != 1 {
			err = fmt.Errorf("%d rows changed by %s", n, statement)
		}
		return err
	}))
}

// recordsDamaged checks that every read of a changed document returns an error
// that names it, and that all other documents are returned.
func recordsDamaged(t *testing.T, w *Fixture) {
	save := w.Save("campaign.created")
	save.Cause.Idempotency = &record.Idempotency{Key: "k", Fingerprint: "f", Status: 201}
	bad, fine := w.Draft("Bad"), w.Draft("Fine")
	_, err := w.DB.Campaigns().Save(t.Context(), bad, save)
	w.must(err)
	w.Insert(fine)
	w.must(w.DB.Links().Found(t.Context(), w.Workspace, "con_1", "1", fact.KindCampaign, []connection.Link{w.link("con_1", "1", "a"), w.link("con_1", "1", "b")}))
	docs := store.New(w.Raw, 0, w.Clock.Now, rand.Reader) // without copies in memory
	all := page.Query{Limit: 10, Sort: "created_at"}
	if report, err := store.VerifyDocuments(t.Context(), w.Raw); err != nil || report.Documents < 5 || report.Count != 0 {
		t.Errorf("before the damage: %+v %v", report, err)
	}
	// The text is still JSON, so only the checksum shows the damage.
	w.damage(`UPDATE campaign SET doc = replace(doc, '"name":"Bad"', '"name":"Bet"') WHERE workspace_id = $1 AND id = $2`, string(w.Workspace), string(bad.ID))
	w.damage(`UPDATE event SET doc = replace(doc, '"name":"Bad"', '"name":"Bet"') WHERE workspace_id = $1 AND resource_id = $2`, string(w.Workspace), string(bad.ID))
	w.damage(`UPDATE once SET doc = replace(doc, '"name":"Bad"', '"name":"Bet"') WHERE workspace_id = $1 AND key = $2`, string(w.Workspace), "k")
	// A link without its record would no longer get the campaign's pause.
	w.damage(`UPDATE link SET record_id = 'cmp_1' WHERE workspace_id = $1 AND external_id = 'a'`, string(w.Workspace))
	_, get := docs.Campaigns().Doc(t.Context(), w.Workspace, bad.ID)
	_, load := docs.Campaigns().Load(t.Context(), w.Workspace, bad.ID)
	_, several := docs.Campaigns().ByIDs(t.Context(), w.Workspace, []ident.ID{bad.ID})
	_, list := docs.Campaigns().List(t.Context(), w.Workspace, all)
	_, events := docs.Events().List(t.Context(), w.Workspace, all)
	_, answer := docs.StoredResponse(t.Context(), w.Workspace, "k")
	for what, err := range map[string]error{"get": get, "load": load, "several": several, "list": list, "events": events, "answer": answer} {
		if !errors.Is(err, store.ErrChecksum) || errors.As(err, new(*fault.Error)) {
			t.Errorf("%s: got %v want %v", what, err, store.ErrChecksum)
		}
	}
	if get == nil || !strings.Contains(get.Error(), "campaign") || !strings.Contains(get.Error(), string(bad.ID)) {
		t.Errorf("%v does not name the table and the id", get)
	}
	if _, err := docs.Campaigns().Doc(t.Context(), w.Workspace, fine.ID); err != nil {
		t.Errorf("another record: %v", err)
	}
	report, err := store.VerifyDocuments(t.Context(), w.Raw)
	if text := strings.Join(report.Damaged, "\n"); err != nil || report.Count != 4 || !strings.Contains(text, "campaign "+string(w.Workspace)+" "+string(bad.ID)) {
		t.Errorf("after the damage: %+v %v", report, err)
	}
	if err := store.Dump(t.Context(), w.Raw, func(store.Chunk, int64) error { return nil }); !errors.Is(err, store.ErrChecksum) {
		t.Errorf("a dump with damaged documents: got %v want %v", err, store.ErrChecksum)
	}
}

// recordsChecksums checks that rows of an older program get their checksum, and
// that until then only valid JSON is returned.
func recordsChecksums(t *testing.T, w *Fixture) {
	var ids []ident.ID
	for i := range 3 {
		c := w.Draft(fmt.Sprintf("Old %d", i))
		ids = append(ids, c.ID)
		w.Insert(c)
	}
	w.must(w.Raw.Write(store.Across(t.Context()), func(tx store.Tx) error {
		return errors.Join(tx.Script(`UPDATE campaign SET checksum = NULL`), tx.Script(`UPDATE event SET checksum = NULL`))
	}))
	w.damage(`UPDATE campaign SET doc = replace(doc, '"name":"Old 2"', '"name"!"Old 2"') WHERE workspace_id = $1 AND id = $2`, string(w.Workspace), string(ids[2]))
	docs := store.New(w.Raw, 0, w.Clock.Now, rand.Reader)
	_, err := docs.Campaigns().Doc(t.Context(), w.Workspace, ids[0])
	w.must(err)
	if _, err := docs.Campaigns().Doc(t.Context(), w.Workspace, ids[2]); !errors.Is(err, store.ErrChecksum) {
		t.Errorf("what is no JSON: got %v want %v", err, store.ErrChecksum)
	}
	w.must(reshapeAll(t.Context(), w.DB))
	w.Count(1, `SELECT count(*) FROM campaign WHERE checksum IS NULL`)
	w.Count(0, `SELECT count(*) FROM event WHERE checksum IS NULL`)
	_, err = docs.Campaigns().Doc(t.Context(), w.Workspace, ids[0])
	w.must(err)
	w.damage(`UPDATE campaign SET doc = replace(doc, '"name":"Old 0"', '"name":"Odd 0"') WHERE workspace_id = $1 AND id = $2`, string(w.Workspace), string(ids[0]))
	if _, err := docs.Campaigns().Doc(t.Context(), w.Workspace, ids[0]); !errors.Is(err, store.ErrChecksum) {
		t.Errorf("damage after the checksum was added: got %v want %v", err, store.ErrChecksum)
	}
}

// recordsReady checks that a store whose writes fail is not ready until a write
// succeeds, although reads work, and that not every check writes.
func recordsReady(t *testing.T, w *Fixture) {
	w.must(w.DB.Ready(t.Context()))
	tries := 0
	w.Engine.Statement = func(query string, inside bool) error {
		if !inside || strings.HasPrefix(query, "SELECT") {
			return nil
		}
		tries++
		return store.ErrUnavailable
	}
	if _, err := w.Campaigns.CreateSpec(t.Context(), w.Cause(), w.Draft("Never").Spec); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("got %v want unavailable", err)
	}
	_, err := w.DB.Campaigns().List(t.Context(), w.Workspace, page.Query{Limit: 1, Sort: "name"})
	w.must(err)
	tries = 0
	for range 5 {
		if err := w.DB.Ready(t.Context()); !fault.Is(err, fault.Unavailable) {
			t.Errorf("ready while writes fail: %v", err)
		}
	}
	if tries != 1 {
		t.Errorf("%d probes within a second, want 1", tries)
	}
	w.Engine.Statement = nil
	w.Clock.Advance(time.Second)
	w.must(w.DB.Ready(t.Context()))
}

// generation grows with the time of the test.
func (w *Fixture) generation() int64 { return w.Clock.Now().UnixNano() }

// recordsFactsMark checks that the mark of the facts only grows, belongs to one
// file, and is not in a backup.
func recordsFactsMark(t *testing.T, w *Fixture) {
	mark := func(want store.FactsMark) {
		t.Helper()
		if got, err := w.DB.FactsMark(t.Context()); err != nil || got != want {
			t.Errorf("got %+v, %v want %+v", got, err, want)
		}
	}
	mark(store.FactsMark{})
	if had, err := w.DB.HasSynced(t.Context()); had || err != nil {
		t.Errorf("a new store had facts: %v %v", had, err)
	}
	one, two := store.FactsMark{ID: "fct_1", Generation: 3}, store.FactsMark{ID: "fct_2", Generation: 9}
	if err := w.DB.RaiseFactsMark(t.Context(), one); !errors.Is(err, store.ErrFactsMoved) {
		t.Errorf("a file that was not noted: got %v want %v", err, store.ErrFactsMoved)
	}
	// The next id is noted first, and becomes the id once the file has it.
	next := store.FactsMark{Next: "fct_1"}
	w.must(w.DB.ChangeFactsMark(t.Context(), store.FactsMark{}, next))
	mark(next)
	if err := w.DB.ChangeFactsMark(t.Context(), store.FactsMark{}, store.FactsMark{Next: "fct_9"}); !errors.Is(err, store.ErrFactsMoved) {
		t.Errorf("another node noted the next id: got %v want %v", err, store.ErrFactsMoved)
	}
	w.must(w.DB.RaiseFactsMark(t.Context(), one))
	mark(one)
	w.must(w.DB.ChangeFactsMark(t.Context(), one, store.FactsMark{ID: "fct_1", Generation: 3, Next: "fct_5"}))
	w.must(w.DB.RaiseFactsMark(t.Context(), store.FactsMark{ID: "fct_1", Generation: 4}))
	mark(store.FactsMark{ID: "fct_1", Generation: 4, Next: "fct_5"})
	w.must(w.DB.SetFactsMark(t.Context(), one))
	if err := w.DB.RaiseFactsMark(t.Context(), two); !errors.Is(err, store.ErrFactsMoved) {
		t.Errorf("another file: got %v want %v", err, store.ErrFactsMoved)
	}
	w.must(w.DB.RaiseFactsMark(t.Context(), store.FactsMark{ID: "fct_1", Generation: 2}))
	mark(one)
	w.must(w.DB.SetFactsMark(t.Context(), two))
	mark(two)
	if err := w.DB.RaiseFactsMark(t.Context(), one); !errors.Is(err, store.ErrFactsMoved) {
		t.Errorf("the file of before: got %v want %v", err, store.ErrFactsMoved)
	}
	mark(two)
	// A commit that acknowledges facts records their generation.
	told := store.FactsMark{ID: "fct_2", Generation: 12}
	w.DB.SetFactsSource(func() (store.FactsMark, bool) { return told, true })
	c, _ := w.Synced("Own data")
	w.must(w.DB.Connections().SaveAfterFacts(t.Context(), c, []byte("{}"), w.Save("connection.connected")))
	mark(told)
	// So does every other change: it may depend on facts that were written.
	told.Generation = 14
	c, r := w.Synced("Another")
	if _, err := w.DB.Connections().Apply(t.Context(), w.applied(c, r, "")); err != nil {
		t.Fatal(err)
	}
	mark(told)
	told.ID = "fct_3"
	c, _ = w.Synced("More data")
	if err := w.DB.Connections().SaveAfterFacts(t.Context(), c, []byte("{}"), w.Save("connection.connected")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("facts that went to another file: got %v want unavailable", err)
	}
}

// recordsWitness checks that acknowledged changes are counted in a file, that
// failed changes are not, and that a loss is reported once.
func recordsWitness(t *testing.T, w *Fixture) {
	path := filepath.Join(t.TempDir(), "witness")
	counted := func() int64 {
		t.Helper()
		text, err := os.ReadFile(path)
		w.must(err)
		digits, _, _ := strings.Cut(string(text), " ")
		n, err := strconv.ParseInt(digits, 10, 64)
		w.must(err)
		return n
	}
	open := func() (*store.DB, int64) {
		t.Helper()
		db := store.New(w.Engine, 0, w.Clock.Now, rand.Reader)
		found, err := db.CountChanges(t.Context(), path)
		w.must(err)
		if found.UncountedAt != 0 {
			t.Errorf("the count was missing at %s", found.UncountedAt)
		}
		return db, found.Lost
	}
	db, lost := open()
	if lost != 0 || counted() != 1 { // the workspace
		t.Errorf("at first %d are lost, %d counted", lost, counted())
	}
	save := func(name string) error {
		_, err := db.Campaigns().Save(t.Context(), w.Draft(name), w.Save("campaign.created"))
		return err
	}
	w.must(save("One"))
	w.Engine.Twice = true
	w.must(save("Two"))
	w.Engine.Twice = false
	w.Engine.Statement = func(query string, _ bool) error {
		if strings.HasPrefix(query, "UPDATE audit_head") {
			return store.ErrUnavailable
		}
		return nil
	}
	if save("Never") == nil {
		t.Error("a change was written without its audit entry")
	}
	w.Engine.Statement = nil
	if counted() != 3 {
		t.Errorf("%d changes are counted, want 3", counted())
	}
	if _, lost := open(); lost != 0 {
		t.Errorf("%d are lost of a database that has all", lost)
	}
	w.damage(`UPDATE audit_head SET seq = seq - 2 WHERE workspace_id = $1`, string(w.Workspace))
	db, lost = open()
	if m, err := db.MissingChanges(t.Context()); lost != 2 || m != (store.MissingChanges{Lost: 2, LostAt: w.Now()}) || err != nil {
		t.Errorf("%d are lost; %+v were: %v", lost, m, err)
	}
	if _, lost := open(); lost != 0 {
		t.Errorf("%d are lost again", lost)
	}
	// A count of an earlier version has no checksum.
	w.must(os.WriteFile(path, []byte("00000000000000000003\n"), 0o600))
	if _, lost := open(); lost != 2 {
		t.Errorf("%d are lost by the count of an earlier version, want 2", lost)
	}
	for i, damage := range []func() error{
		func() error { return os.Remove(path) },
		func() error { return os.WriteFile(path, nil, 0o600) },
		func() error { return os.WriteFile(path, []byte("00000000000000000001 00000000\n"), 0o600) },
		func() error { return os.WriteFile(path, []byte("no number, and longer than one is"), 0o600) },
	} {
		w.must(damage())
		w.Clock.Advance(time.Hour)
		db := store.New(w.Engine, 0, w.Clock.Now, rand.Reader)
		found, err := db.CountChanges(t.Context(), path)
		if m, reading := db.MissingChanges(t.Context()); found != (store.MissingChanges{UncountedAt: w.Now()}) || m.UncountedAt != w.Now() || m.Lost != 2 || err != nil || reading != nil {
			t.Errorf("%d: without a count: found %+v, %v; stored %+v, %v", i, found, err, m, reading)
		}
		if _, lost := open(); lost != 0 {
			t.Errorf("%d: %d are lost with a new count", i, lost)
		}
	}
}
