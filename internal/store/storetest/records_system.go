package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"fanfare/internal/account"
	"fanfare/internal/campaign"
	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

func recordsPrune(t *testing.T, w *Fixture) {
	other, _, _ := w.AddWorkspace("other@example.com")
	create := func(workspace ident.ID, key string) {
		cause := w.Cause()
		cause.Workspace, cause.Idempotency = workspace, &record.Idempotency{Key: key, Fingerprint: "f", Status: 201}
		_, err := w.Campaigns.CreateSpec(t.Context(), cause, w.Draft("Old").Spec)
		w.must(err)
		w.must(w.DB.Accounts().AddUses(t.Context(), []account.Use{{WorkspaceID: workspace, KeyID: "key_1", Day: w.Clock.Now().Unix() / 86400, Count: 1, At: w.Now()}}))
	}
	prune := func(want int64) {
		t.Helper()
		n, err := w.DB.Prune(t.Context())
		if err != nil || n != want {
			t.Errorf("%d rows went, want %d: %v", n, want, err)
		}
	}
	create(w.Workspace, "k")
	create(other, "k")
	w.Clock.Advance(time.Millisecond)
	create(w.Workspace, "later")
	prune(0)
	w.Clock.Advance(store.IdempotencyTTL*time.Microsecond - time.Millisecond)
	prune(2)
	w.Count(1, `SELECT count(*) FROM once`)
	w.Clock.Advance(29 * 24 * time.Hour)
	prune(1 + 2 + 2) // a key; two creations; the events of the workspaces' first keys
	w.Count(1, `SELECT count(*) FROM event`)
	w.Clock.Advance(2 * 24 * time.Hour)
	prune(1 + 2) // the last event, and the two counts of the first day
	w.Count(0, `SELECT count(*) FROM event`)
	w.Count(3, `SELECT count(*) FROM campaign`)
	w.Count(5, `SELECT count(*) FROM audit`)
}

// old stores a document of an older shape: a member is missing, and the others
// are in another order.
func (w *Fixture) old(c *campaign.Campaign) []byte {
	w.T.Helper()
	d := w.Insert(c)
	var members map[string]any
	w.must(json.Unmarshal(d.JSON, &members))
	delete(members, "description")
	doc, err := json.Marshal(members, json.Deterministic(true))
	w.must(err)
	w.must(w.Raw.Write(store.Across(w.T.Context()), func(tx store.Tx) error {
		tx.Touch("campaign/" + string(c.WorkspaceID) + "/" + string(c.ID))
		_, err := tx.Exec(`UPDATE campaign SET shape = 0, doc = $1, checksum = NULL WHERE workspace_id = $2 AND id = $3`, doc, string(c.WorkspaceID), string(c.ID))
		return err
	}))
	return d.JSON
}

func recordsReshape(t *testing.T, w *Fixture) {
	const many = 520 // more than one round
	ids, want := make([]ident.ID, many), make([][]byte, many)
	together(many, func(i int) {
		c := w.Draft(fmt.Sprintf("Old %d", i))
		ids[i] = c.ID
		if i < 20 {
			want[i] = w.old(c)
		} else {
			w.Insert(c)
		}
	})
	w.must(w.Raw.Write(store.Across(t.Context()), func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE campaign SET shape = 0`)
		return err
	}))
	read := func() {
		t.Helper()
		for i, text := range want[:20] {
			d, err := w.DB.Campaigns().Doc(t.Context(), w.Workspace, ids[i])
			if err != nil || !bytes.Equal(d.JSON, text) {
				t.Fatalf("got %s, %v want %s", d.JSON, err, text)
			}
		}
	}
	read()
	// A change of an old record makes it new.
	if _, err := w.Campaigns.Transition(t.Context(), w.Cause(), ids[0], record.Match{}, campaign.Launch); err != nil {
		t.Fatal(err)
	}
	w.Count(many-1, `SELECT count(*) FROM campaign WHERE shape = 0`)
	want[0] = docOf(t, w, ids[0])
	w.Count(0, `SELECT count(*) FROM setting WHERE name = $1`, "shape:campaign")
	w.must(reshapeAll(t.Context(), w.DB))
	w.Count(0, `SELECT count(*) FROM campaign WHERE shape = 0`)
	read()
	for i, text := range want[:20] {
		rows, err := w.Raw.Query(store.Across(t.Context()), `SELECT doc, version FROM campaign WHERE id = $1`, string(ids[i]))
		w.must(err)
		rows.Next()
		if stored, version := rows.Bytes(), rows.Int(); !bytes.Equal(stored, text) || version != 1 && i > 0 {
			t.Fatalf("stored %s version %d want %s", stored, version, text)
		}
	}
	// What was done is not done again.
	w.must(w.Raw.Write(store.Across(t.Context()), func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE campaign SET shape = 0 WHERE id = $1`, string(ids[1]))
		return err
	}))
	w.must(reshapeAll(t.Context(), w.DB))
	w.Count(1, `SELECT count(*) FROM campaign WHERE shape = 0`)
	// Every table of documents is done, not only this one.
	w.must(w.Raw.Snapshot(store.Across(t.Context()), func(tx store.Tx) error {
		columns, err := Columns(tx, w.Raw.Traits().Name)
		for table, names := range columns {
			if slices.Contains(names, "shape") {
				w.Count(1, `SELECT count(*) FROM setting WHERE name = $1`, "shape:"+table)
			}
		}
		return err
	}))
}

// recordsReshapeColumns overwrites the columns that are computed from documents
// and checks that Reshape computes them again, in every table of records.
func recordsReshapeColumns(t *testing.T, w *Fixture) {
	for _, s := range w.Steps() {
		if err := s.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
	}
	var before, after map[string]Sum
	sum := func(into *map[string]Sum) {
		w.must(w.Raw.Snapshot(store.Across(t.Context()), func(tx store.Tx) (err error) {
			*into, err = Sums(tx, w.Raw.Traits().Name)
			return err
		}))
	}
	sum(&before)
	computed := 0
	w.must(w.Raw.Write(store.Across(t.Context()), func(tx store.Tx) error {
		tables, err := Columns(tx, w.Raw.Traits().Name)
		for table, columns := range tables {
			if err != nil || !slices.Contains(columns, "shape") {
				continue
			}
			set := []string{"shape = 0"}
			for _, column := range columns {
				if slices.Contains(notComputed, column) {
					continue
				}
				computed++
				if text, err := isText(tx, table, column); err != nil {
					return err
				} else if text {
					set = append(set, column+" = id")
				} else {
					set = append(set, column+" = 0")
				}
			}
			_, err = tx.Exec(`UPDATE ` + table + ` SET ` + strings.Join(set, ", "))
		}
		if err == nil {
			_, err = tx.Exec(`DELETE FROM setting WHERE name LIKE 'shape:%'`)
		}
		return err
	}))
	w.must(reshapeAll(t.Context(), store.New(w.Engine, 0, w.Clock.Now, rand.Reader)))
	sum(&after)
	delete(before, "setting")
	delete(after, "setting")
	if diff := cmp.Diff(before, after); diff != "" || computed < 20 {
		t.Errorf("%d computed columns; tables differ (-before +after):\n%s", computed, diff)
	}
}

// notComputed lists the columns of records that are not computed from the
// document. future is one of a later release.
var notComputed = []string{"future", "workspace_id", "id", "version", "rev", "shape", "created_at", "updated_at", "private", "plan", "doc", "checksum"}

// isText reports whether a column has text in any row.
func isText(tx store.Tx, table, column string) (bool, error) {
	rows, err := tx.Query(`SELECT ` + column + ` FROM ` + table)
	if err != nil {
		return false, err
	}
	text := false
	for rows.Next() {
		_, is := rows.Value().(string)
		text = text || is
	}
	return text, nil
}

// reshapeAll calls Reshape until nothing is left to do.
func reshapeAll(ctx context.Context, db *store.DB) error {
	for {
		if done, err := db.Reshape(ctx); done || err != nil {
			return err
		}
	}
}

func docOf(t *testing.T, w *Fixture, id ident.ID) []byte {
	t.Helper()
	d, err := w.DB.Campaigns().Doc(t.Context(), w.Workspace, id)
	w.must(err)
	return d.JSON
}

func recordsCursorKeys(t *testing.T, w *Fixture) {
	keys := func(db *store.DB) []string {
		t.Helper()
		list, err := db.CursorKeys(t.Context())
		w.must(err)
		var texts []string
		for _, k := range list {
			if len(k) != 32 {
				t.Fatalf("a key has %d bytes", len(k))
			}
			texts = append(texts, fmt.Sprintf("%x", k))
		}
		return texts
	}
	// Two nodes that start together, and that rotate together.
	agree := func() []string {
		t.Helper()
		var mu sync.Mutex
		var all [][]string
		together(8, func(int) {
			list, err := w.DB.CursorKeys(t.Context())
			var texts []string
			for _, k := range list {
				texts = append(texts, fmt.Sprintf("%x", k))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, texts)
			if err != nil {
				t.Error(err)
			}
		})
		for _, list := range all {
			if !slices.Equal(list, all[0]) {
				t.Errorf("nodes disagree: %v and %v", list, all[0])
			}
		}
		return all[0]
	}
	first := agree()
	if len(first) != 1 {
		t.Fatalf("got %d keys want 1", len(first))
	}
	const life = 30 * 24 * time.Hour
	w.Clock.Advance(life - time.Millisecond)
	if got := keys(w.DB); !slices.Equal(got, first) {
		t.Errorf("the key changed before its time")
	}
	w.Clock.Advance(time.Millisecond)
	had := first
	const settle = 2 * time.Hour
	for n := 2; n < 6; n++ {
		// A new key only opens until every node has it.
		fresh := agree()
		if len(fresh) < 2 || fresh[0] != had[0] || slices.Contains(had, fresh[1]) {
			t.Fatalf("rotation %d: got %v after %v", n, fresh, had)
		}
		w.Clock.Advance(settle - time.Millisecond)
		if got := agree(); !slices.Equal(got, fresh) {
			t.Errorf("rotation %d: got %v want still %v", n, got, fresh)
		}
		w.Clock.Advance(time.Millisecond)
		got := agree()
		want := append([]string{fresh[1]}, had...)
		want = want[:min(3, len(want))]
		if !slices.Equal(got, want) {
			t.Errorf("rotation %d: got %v after %v", n, got, had)
		}
		had = got
		w.Clock.Advance(life - settle)
	}
}

func recordsDaily(t *testing.T, w *Fixture) {
	other, _, _ := w.AddWorkspace("other@example.com")
	count := func(workspace ident.ID, kind string, want int64) {
		t.Helper()
		w.Count(want, `SELECT count(*) FROM event WHERE workspace_id = $1 AND type = $2`, string(workspace), kind)
	}
	tell := func(workspace ident.ID, kind string) {
		together(8, func(int) {
			if err := w.DB.EmitDaily(t.Context(), workspace, kind, map[string]any{"used": 80}); err != nil {
				t.Error(err)
			}
		})
	}
	tell(w.Workspace, "quota.warning")
	count(w.Workspace, "quota.warning", 1)
	count(other, "quota.warning", 0)
	tell(other, "quota.warning")
	tell(w.Workspace, "quota.exceeded")
	count(w.Workspace, "quota.warning", 1)
	count(w.Workspace, "quota.exceeded", 1)
	w.Clock.Advance(11*time.Hour + 59*time.Minute) // still the same day
	_, err := w.DB.Prune(t.Context())
	w.must(err)
	tell(w.Workspace, "quota.warning")
	count(w.Workspace, "quota.warning", 1)
	w.Clock.Advance(time.Minute)
	tell(w.Workspace, "quota.warning")
	count(w.Workspace, "quota.warning", 2)
	count(other, "quota.warning", 1)
}

func recordsQuotas(t *testing.T, w *Fixture) {
	other, _, _ := w.AddWorkspace("other@example.com")
	q, limits := w.DB.Quotas(), ratelimit.Limits{PerMinute: 20, PerDay: 30}
	spend := func(n int) (admitted int64, ticket ratelimit.Ticket) {
		t.Helper()
		var ok atomic.Int64
		var mu sync.Mutex
		together(n, func(int) {
			d, err := q.Take(t.Context(), w.Workspace, limits, w.Clock.Now())
			if err != nil {
				t.Error(err)
			}
			if d.OK {
				ok.Add(1)
				mu.Lock()
				ticket = d.Ticket
				mu.Unlock()
			}
		})
		return ok.Load(), ticket
	}
	admitted, ticket := spend(48)
	if admitted != 20 {
		t.Errorf("%d of 48 requests were admitted, want 20", admitted)
	}
	w.must(q.Refund(t.Context(), w.Workspace, ticket, w.Clock.Now()))
	if admitted, _ := spend(4); admitted != 1 {
		t.Errorf("%d requests were admitted after a refund, want 1", admitted)
	}
	w.Clock.Advance(time.Minute)
	if admitted, _ := spend(16); admitted != 10 {
		t.Errorf("%d requests were admitted, want the 10 that the day has left", admitted)
	}
	if d, err := q.Peek(t.Context(), w.Workspace, limits, w.Clock.Now()); err != nil || d.Day.Remaining != 0 || d.Minute.Remaining != 10 {
		t.Errorf("got %+v, %v", d, err)
	}
	if d, err := q.Peek(t.Context(), other, limits, w.Clock.Now()); err != nil || d.Day.Remaining != 30 {
		t.Errorf("of another workspace: got %+v, %v", d, err)
	}
	used := map[ident.ID]ratelimit.Usage{
		other: {Opened: w.Clock.Now(), Minute: 3, DayOf: 20000, Day: 17}, w.Workspace: {Opened: w.Clock.Now().Add(time.Second), Minute: 1, DayOf: 20001, Day: 2},
	}
	w.must(q.SaveUsage(t.Context(), used))
	loaded, err := q.LoadUsage(t.Context())
	w.must(err)
	for id, u := range used {
		got := loaded[id]
		if !got.Opened.Equal(u.Opened) || got.Minute != u.Minute || got.DayOf != u.DayOf || got.Day != u.Day {
			t.Errorf("got %+v want %+v", got, u)
		}
	}
	if len(loaded) != 2 {
		t.Errorf("got %d counters want 2", len(loaded))
	}
}

// recordsSkew moves the clock of the node by a year and wants that difference.
func recordsSkew(t *testing.T, w *Fixture) {
	const year = 365 * 24 * time.Hour
	ahead := store.New(w.Engine, 0, func() time.Time { return time.Now().Add(year) }, rand.Reader)
	skew, err := ahead.Skew(t.Context())
	w.must(err)
	want := -year
	if w.Engine.Traits().Clock == "" {
		want = 0
	}
	if (skew - want).Abs() > 24*time.Hour {
		t.Errorf("got %v want %v", skew, want)
	}
}
