package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/page"
	"fanfare/internal/rates"
	"fanfare/internal/record"
)

// Rates stores exchange rates, for all workspaces and for single ones.
type Rates struct{ db *DB }

var (
	_ rates.Store          = (*Rates)(nil)
	_ analytics.RateReader = (*Rates)(nil)
)

// Rates returns the store of rates.
func (db *DB) Rates() *Rates { return &Rates{db} }

var rateTable = newTable(table{
	name: "rate", key: []string{"workspace_id", "currency", "day"},
	columns: names("workspace_id", "currency", "day", "per_euro", "carried", "updated_at"),
})

// everyWorkspace is the workspace_id of the rates that apply to all workspaces.
const everyWorkspace = ident.ID("")

// storedRate is a row of the table rate.
type storedRate struct {
	rates.Rate
	carried bool
	own     bool
}

// before compares in the order of lists: newest day first, then currency.
func (a storedRate) before(b storedRate) int {
	return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(a.Currency, b.Currency))
}

// overrides reports whether a applies rather than b, which has the same day and
// currency: published before carried, then the workspace's own.
func (a storedRate) overrides(b storedRate) bool {
	if a.carried != b.carried {
		return b.carried
	}
	return a.own
}

// Rates returns the rates that apply to a workspace on these days.
func (s *Rates) Rates(ctx context.Context, workspace ident.ID, currencies []money.Currency, first, last clock.Date) ([]analytics.DayRate, error) {
	if len(currencies) == 0 {
		return nil, nil
	}
	list, err := s.effective(ctx, workspace, rates.Query{Currencies: currencies, First: &first, Last: &last})
	if err != nil {
		return nil, err
	}
	days := make([]analytics.DayRate, len(list))
	for i, r := range list {
		days[i] = analytics.DayRate{Currency: r.Currency, Date: r.Date, PerEuro: int64(r.PerEuro)}
	}
	return days, nil
}

// List reads one page of the rates that apply to a workspace.
func (s *Rates) List(ctx context.Context, workspace ident.ID, q rates.Query) (page.Page, error) {
	var p page.Page
	limit := q.Limit
	q.Limit++
	list, err := s.effective(ctx, workspace, q)
	if err != nil {
		return p, err
	}
	if len(list) > limit {
		list = list[:limit]
		last := list[limit-1]
		p.Next = &page.Position{Int: int64(last.Date), ID: string(last.Currency)}
	}
	for _, r := range list {
		shown := rates.ListedRate{Rate: r.Rate, Base: rates.Base, Source: rates.SourceServer, Carried: r.carried}
		if r.own {
			shown.Source = rates.SourceWorkspace
		}
		doc, err := encode(shown)
		if err != nil {
			return p, err
		}
		p.Docs = append(p.Docs, record.Doc{JSON: doc})
	}
	return p, nil
}

// effective reads the rates that apply to a workspace, in the order of lists.
// It reads up to the limit from each owner, so that the merged list has at
// least the first rates up to the limit.
func (s *Rates) effective(ctx context.Context, workspace ident.ID, q rates.Query) ([]storedRate, error) {
	list, err := s.of(ctx, everyWorkspace, q)
	if err != nil || workspace == everyWorkspace {
		return list, err
	}
	own, err := s.of(ctx, workspace, q)
	if err != nil {
		return nil, err
	}
	list = append(list, own...)
	slices.SortFunc(list, func(a, b storedRate) int {
		if order := a.before(b); order != 0 {
			return order
		}
		if a.overrides(b) {
			return -1
		}
		return 1
	})
	return slices.CompactFunc(list, func(a, b storedRate) bool { return a.before(b) == 0 }), nil
}

// of reads the rates of one owner, in the order of lists.
func (s *Rates) of(ctx context.Context, owner ident.ID, q rates.Query) ([]storedRate, error) {
	b := newStatement(`SELECT day, currency, per_euro, carried FROM rate WHERE workspace_id = `, owner)
	if len(q.Currencies) > 0 {
		in(b, `currency`, q.Currencies)
	}
	if q.First != nil {
		b.and(`day >=`, int64(*q.First))
	}
	if q.Last != nil {
		b.and(`day <=`, int64(*q.Last))
	}
	if q.After != nil {
		b.and(`day <=`, q.After.Int)
		b.add(` AND (day < `)
		b.value(q.After.Int)
		b.add(` OR currency > `)
		b.value(q.After.ID)
		b.add(`)`)
	}
	b.add(` ORDER BY day DESC, currency`)
	if q.Limit > 0 {
		b.add(` LIMIT `)
		b.value(q.Limit)
	}
	rows, err := b.query(ctx, s.db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("read rates: %w", err))
	}
	var list []storedRate
	for rows.Next() {
		r := storedRate{own: owner != everyWorkspace}
		r.Date, r.Currency = clock.Date(rows.Int()), money.Currency(rows.Text())
		r.PerEuro, r.carried = rates.Decimal(rows.Int()), rows.Int() != 0
		list = append(list, r)
	}
	return list, nil
}

// Put writes published rates and the rates carried from them. On a shared
// engine the lock of the audit chain makes writers of one owner wait for each
// other, so that each carries from all published rates.
func (s *Rates) Put(ctx context.Context, published []rates.Rate, u rates.UpdateResult, save record.Save) (answer record.Doc, err error) {
	entry, err := s.db.audit(save.Cause, save.At, "rates.updated", "rates", 0)
	if err != nil {
		return record.Doc{}, err
	}
	owner := save.Cause.Workspace
	ids := s.db.eventIDs(len(save.Events))
	scope := Within(ctx, owner)
	if owner == "" {
		// The operator's rates are for all workspaces, and so are the jobs.
		scope = Across(ctx)
	}
	err = s.db.writeTx(scope, func(tx Tx) error {
		end, err := s.db.lockChain(tx, string(owner))
		if err != nil {
			return err
		}
		u := u
		if u.Written, err = putRates(tx, owner, published, 0, save.At); err != nil {
			return err
		}
		all, err := publishedAround(tx, owner, u)
		if err != nil {
			return err
		}
		if u.Carried, err = putRates(tx, owner, rates.Carry(all), 1, save.At); err != nil {
			return err
		}
		if answer.JSON, err = encode(u); err != nil {
			return err
		}
		if u.Written+u.Carried > 0 {
			if err := end.extend(tx, entry); err != nil {
				return err
			}
			if err := s.writeEvents(tx, ids, answer, save); err != nil {
				return err
			}
			if err := s.db.enqueue(tx, save.Jobs); err != nil {
				return err
			}
		}
		return storeResponse(tx, save.Cause, save.At, owner, answer)
	})
	return answer, err
}

// writeEvents writes events with the result of an update as their data.
func (s *Rates) writeEvents(tx Tx, ids []ident.ID, d record.Doc, save record.Save) error {
	for i, ev := range save.Events {
		row, err := s.db.outbox(ids[i], save.Cause, save.At, save.Cause.Workspace, d, ev)
		if err != nil {
			return err
		}
		if err := row.insert(tx); err != nil {
			return err
		}
	}
	return nil
}

const selectPublished = `SELECT currency, day, per_euro FROM rate WHERE workspace_id = $1 AND carried = 0 AND day >= $2 AND day <= $3 AND currency IN (`

// publishedAround reads the published rates that can be carried to or from the
// rates just written, in the order that Carry expects.
func publishedAround(tx Tx, owner ident.ID, u rates.UpdateResult) ([]rates.Rate, error) {
	reach := clock.Date(rates.MaxGap + 1)
	rows, err := tx.Query(selectPublished+numbered(4, len(u.Currencies))+`) ORDER BY currency, day`,
		with([]any{string(owner), int64(u.StartDate - reach), int64(u.EndDate + reach)}, u.Currencies)...)
	if err != nil {
		return nil, fmt.Errorf("read published rates: %w", err)
	}
	var list []rates.Rate
	for rows.Next() {
		list = append(list, rates.Rate{Currency: money.Currency(rows.Text()), Date: clock.Date(rows.Int()), PerEuro: rates.Decimal(rows.Int())})
	}
	return list, nil
}

// A published rate replaces every other rate, a carried rate only another
// carried one. The same rate again is no change.
const conflictRates = ` ON CONFLICT (workspace_id, currency, day) DO UPDATE SET per_euro = excluded.per_euro, carried = excluded.carried, updated_at = excluded.updated_at
WHERE rate.carried > excluded.carried OR rate.carried = excluded.carried AND rate.per_euro <> excluded.per_euro`

// putRates writes rates in batches whose sizes are powers of two, to limit the
// number of prepared statements. It returns how many rates were new or changed.
func putRates(tx Tx, owner ident.ID, list []rates.Rate, carried int, at clock.Instant) (written int64, err error) {
	for size := maxBatch; len(list) > 0; {
		if len(list) < size {
			size /= 2
			continue
		}
		args := make([]any, 0, len(rateTable.columns)*size)
		for _, r := range list[:size] {
			args = append(args, string(owner), string(r.Currency), int64(r.Date), int64(r.PerEuro), carried, int64(at))
		}
		n, err := tx.Exec(rateTable.insertRows(size)+conflictRates, args...)
		if err != nil {
			return 0, fmt.Errorf("write rates: %w", err)
		}
		written, list = written+n, list[size:]
	}
	return written, nil
}

// Workspaces lists all workspaces.
func (s *Rates) Workspaces(ctx context.Context) ([]ident.ID, error) { return s.db.workspaceIDs(ctx) }
