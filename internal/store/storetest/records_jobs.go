package storetest

import (
	"errors"
	"fmt"
	"testing"

	"fanfare/internal/audience"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/money"
	"fanfare/internal/rates"
	"fanfare/internal/record"
)

// recordsSavedJobs checks that the jobs of a save are written in its transaction,
// for everything that takes jobs, and that a save that fails writes none.
func recordsSavedJobs(t *testing.T, w *Fixture) {
	for name, save := range w.savesWithJobs() {
		t.Run(name, func(t *testing.T) {
			kept, ended := ident.ID(name+"-kept"), ident.ID(name+"-ended")
			jobs := func() (at clock.Instant, canceled bool) {
				const query = `SELECT coalesce(max(run_at), 0) FROM job WHERE workspace_id = $1 AND kind = 'test' AND args = $2`
				return clock.Instant(w.Int(query, string(w.Workspace), string(kept))), w.Int(query, string(w.Workspace), string(ended)) == 0
			}
			effects := func(key string, at clock.Instant, cancel bool) record.Save {
				s := w.Save()
				s.Cause.Idempotency = &record.Idempotency{Key: name + key, Fingerprint: "f", Status: 200}
				s.Jobs = []record.Job{
					{Kind: "test", Workspace: w.Workspace, ID: kept, At: at},
					{Kind: "test", Workspace: w.Workspace, ID: ended, At: 9, Cancel: cancel},
				}
				return s
			}
			w.must(save(effects("-1", 5, false)))
			if at, canceled := jobs(); at != 5 || canceled {
				t.Errorf("after the first save: due at %d, canceled %t", at, canceled)
			}
			if err := save(effects("-1", 6, true)); !errors.Is(err, record.ErrKeyUsed) {
				t.Errorf("the same idempotency key: got %v want %v", err, record.ErrKeyUsed)
			}
			if at, canceled := jobs(); at != 5 || canceled {
				t.Errorf("a save that failed wrote jobs: due at %d, canceled %t", at, canceled)
			}
			w.must(save(effects("-2", 7, true)))
			if at, canceled := jobs(); at != 7 || !canceled {
				t.Errorf("after the second save: due at %d, canceled %t", at, canceled)
			}
		})
	}
}

// savesWithJobs has every write that takes jobs. Each call writes a new record.
func (w *Fixture) savesWithJobs() map[string]func(record.Save) error {
	ctx := w.T.Context()
	list, err := w.Audiences.CreateSpec(ctx, w.Cause(), audienceSpec("List", audience.TypeCustomerList))
	w.must(err)
	n := 0
	synced := func() (*connection.Connection, *connection.Run) {
		n++
		return w.Synced(fmt.Sprint("Connection ", n))
	}
	rate := rates.Decimal(100_000_000)
	return map[string]func(record.Save) error{
		"campaign": func(s record.Save) error {
			_, err := w.DB.Campaigns().Save(ctx, w.Draft("Due"), s)
			return err
		},
		"audience": func(s record.Save) error {
			a, err := w.DB.Audiences().Load(ctx, w.Workspace, list.ID())
			w.must(err)
			_, err = w.DB.Audiences().Save(ctx, a, s)
			return err
		},
		"creative": func(s record.Save) error {
			_, err := w.DB.Creatives().Save(ctx, w.Creative("Due", creative.StatusReady), creative.Save{Save: s})
			return err
		},
		"import": func(s record.Save) error {
			_, err := w.DB.Imports().Save(ctx, w.Import("Spend.csv", "shop", "00ff", ingest.StatusReady), s)
			return err
		},
		"connection": func(s record.Save) error {
			c, _ := synced()
			_, err := w.DB.Connections().Save(ctx, c, s)
			return err
		},
		"facts": func(s record.Save) error {
			c, _ := synced()
			return w.DB.Connections().SaveAfterFacts(ctx, c, []byte("{}"), s)
		},
		"sync": func(s record.Save) error {
			c, r := synced()
			ch := w.applied(c, r, "")
			ch.Cause, ch.Jobs = s.Cause, s.Jobs
			_, err := w.DB.Connections().Apply(ctx, ch)
			return err
		},
		"links": func(s record.Save) error {
			return w.DB.Links().Put(ctx, "con_1", []connection.Link{w.link("con_1", "1", "a")}, []byte("{}"), s)
		},
		"rates": func(s record.Save) error {
			rate++
			u := rates.UpdateResult{Currencies: []money.Currency{"USD"}, StartDate: friday, EndDate: friday}
			_, err := w.DB.Rates().Put(ctx, []rates.Rate{{Date: friday, Currency: "USD", PerEuro: rate}}, u, s)
			return err
		},
	}
}
