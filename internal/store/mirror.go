package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
)

// mirrored lists the tables of records that facts are grouped and filtered by.
var mirrored = []struct {
	table  *table
	prefix string
	kind   string
}{
	{campaignTable, ident.Campaign, fact.KindCampaign},
	{creativeTable, ident.Creative, fact.KindCreative},
	{audienceTable, ident.Audience, fact.KindAudience},
}

const (
	// eventDelay is how much later than its timestamp an event can appear: ids
	// and times are set before the transaction.
	eventDelay = time.Minute
	// eventHorizon is the longest period for which Changed reads events instead
	// of all records. Events are stored a little longer.
	eventHorizon = EventRetention - 24*60*60*1_000_000
)

// EventCount returns the number of events since a time and the id of the last
// one.
func (db *DB) EventCount(ctx context.Context, workspace ident.ID, since clock.Instant) (fact.EventCount, error) {
	rows, err := db.engine.Query(Within(ctx, workspace), `SELECT count(*), max(id) FROM event WHERE workspace_id = $1 AND created_at >= $2`,
		string(workspace), int64(since.Add(-eventDelay)))
	if err != nil {
		return fact.EventCount{}, toFault(fmt.Errorf("look for news: %w", err))
	}
	rows.Next()
	n := fact.EventCount{Events: rows.Int()}
	if n.Events > 0 {
		n.Last = rows.Text()
	}
	return n, nil
}

// Changed returns the campaigns, creatives and audiences that may have changed
// since a time; all of them for 0.
func (db *DB) Changed(ctx context.Context, workspace ident.ID, since clock.Instant) ([]fact.Record, error) {
	if int64(since) < int64(clock.At(db.now()))-eventHorizon {
		return db.allRecords(ctx, workspace)
	}
	rows, err := db.engine.Query(Within(ctx, workspace), `SELECT DISTINCT resource_id FROM event WHERE workspace_id = $1 AND created_at >= $2`,
		string(workspace), int64(since.Add(-eventDelay)))
	if err != nil {
		return nil, toFault(fmt.Errorf("find changed records: %w", err))
	}
	byPrefix := map[string][]ident.ID{}
	for rows.Next() {
		id := rows.Text()
		prefix, _, _ := strings.Cut(id, "_")
		byPrefix[prefix] = append(byPrefix[prefix], ident.ID(id))
	}
	var list []fact.Record
	for _, m := range mirrored {
		more, err := db.namedRecords(ctx, workspace, m.table, m.kind, byPrefix[m.prefix])
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// batchSize is the number of records per statement.
const batchSize = 500

// namedRecords reads the records of a table with these ids.
func (db *DB) namedRecords(ctx context.Context, workspace ident.ID, t *table, kind string, ids []ident.ID) (list []fact.Record, err error) {
	for some := range slices.Chunk(ids, batchSize) {
		b := newStatement(`SELECT `+t.selected()+` FROM `+t.name+` WHERE workspace_id = `, workspace)
		in(b, `id`, some)
		if list, err = db.readRecords(ctx, list, t, kind, b); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// allRecords reads all records of all mirrored tables.
func (db *DB) allRecords(ctx context.Context, workspace ident.ID) (list []fact.Record, err error) {
	for _, m := range mirrored {
		more, err := db.tableRecords(ctx, workspace, m.table, m.kind, "")
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// tableRecords reads the records of a table that match a condition, in batches.
func (db *DB) tableRecords(ctx context.Context, workspace ident.ID, t *table, kind, condition string) (list []fact.Record, err error) {
	for after := ""; ; after = string(list[len(list)-1].ID) {
		b := newStatement(`SELECT `+t.selected()+` FROM `+t.name+` WHERE workspace_id = `, workspace)
		b.add(condition + ` AND id > `)
		b.value(after)
		b.add(` ORDER BY id LIMIT `)
		b.value(batchSize)
		had := len(list)
		if list, err = db.readRecords(ctx, list, t, kind, b); err != nil {
			return nil, err
		}
		if len(list)-had < batchSize {
			return list, nil
		}
	}
}

// readRecords appends the records that a statement selects.
func (db *DB) readRecords(ctx context.Context, list []fact.Record, t *table, kind string, b *builder) ([]fact.Record, error) {
	rows, err := b.query(ctx, db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("read records: %w", err))
	}
	for rows.Next() {
		_, d, err := t.readRecord(rows)
		if err != nil {
			return nil, err
		}
		var r struct {
			ID        ident.ID `json:"id"`
			Name      string   `json:"name"`
			Status    string   `json:"status"`
			Objective string   `json:"objective"`
			Type      string   `json:"type"`
			Tags      []string `json:"tags"`
		}
		if err := decode(d.JSON, &r); err != nil {
			return nil, err
		}
		list = append(list, fact.Record{ID: r.ID, Kind: kind, Name: r.Name, Status: r.Status, Objective: r.Objective, Type: r.Type, Tags: r.Tags})
	}
	return list, nil
}

// Records returns campaigns, creatives or audiences as records of the facts
// engine. If ids is nil, it returns all that are not archived.
func (db *DB) Records(ctx context.Context, workspace ident.ID, kind string, ids []ident.ID) ([]fact.Record, error) {
	for _, m := range mirrored {
		switch {
		case m.kind != kind:
		case ids == nil:
			return db.tableRecords(ctx, workspace, m.table, kind, ` AND status <> 'archived'`)
		default:
			return db.namedRecords(ctx, workspace, m.table, kind, ids)
		}
	}
	return nil, nil
}

// Find looks up records of a kind, including archived ones, and returns the
// records that facts link to: the record itself, or the creative of a variant.
// Callers pass a few hundred ids at once.
func (db *DB) Find(ctx context.Context, workspace ident.ID, kind string, ids []ident.ID) (map[ident.ID]ident.ID, error) {
	name := map[string]string{fact.KindCampaign: campaignTable.name, fact.KindCreative: creativeTable.name, fact.KindAudience: audienceTable.name, ingest.KindVariant: variantTable.name}[kind]
	if name == "" || len(ids) == 0 {
		return nil, nil
	}
	linked := "id"
	if kind == ingest.KindVariant {
		linked = "creative_id"
	}
	b := newStatement(`SELECT id, `+linked+` FROM `+name+` WHERE workspace_id = `, workspace)
	in(b, `id`, ids)
	rows, err := b.query(ctx, db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("look up records: %w", err))
	}
	found := map[ident.ID]ident.ID{}
	for rows.Next() {
		id := ident.ID(rows.Text())
		found[id] = ident.ID(rows.Text())
	}
	return found, nil
}
