package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// EventRetention is how long events are stored, in microseconds.
const EventRetention = 30 * 24 * 60 * 60 * 1_000_000

// maxSnapshot is the size of the largest record that an event contains whole.
const maxSnapshot = 20_000

var eventTable = newTable(table{
	name:    "event",
	key:     workspaceID,
	columns: names("workspace_id", "id", "created_at", "type", "resource_id", "restricted", "doc", "checksum"),
	doc:     "doc",
	shape:   1,
	log:     true,
	sorts:   map[string]sorting{"created_at": {column: "created_at"}},
	filters: map[string]string{
		"type":        ` AND type IN (%s)`,
		"resource_id": ` AND resource_id IN (%s)`,
		"open":        ` AND restricted = 0`,
	},
})

// Events reads the outbox.
type Events struct{ db *DB }

// Events returns the store of events.
func (db *DB) Events() *Events { return &Events{db} }

// List reads one page of events.
func (s *Events) List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
	p, err := eventTable.list(ctx, s.db.engine, workspace, q)
	return p, toFault(err)
}

// Doc reads one event. If restricted is false, restricted events are not found.
func (s *Events) Doc(ctx context.Context, workspace, id ident.ID, restricted bool) (record.Doc, error) {
	t := *eventTable
	if !restricted {
		t.get += ` AND restricted = 0`
	}
	d, err := t.readDoc(ctx, s.db.engine, workspace, id)
	return d, toFault(err)
}

// eventHead is an event without its data. The stored document is appended as
// data, because encoding it again would cost more than the rest of the event.
type eventHead struct {
	ID          ident.ID      `json:"id"`
	Type        string        `json:"type"`
	Timestamp   clock.Instant `json:"timestamp"`
	APIVersion  string        `json:"api_version"`
	WorkspaceID ident.ID      `json:"workspace_id"`
	Actor       eventActor    `json:"actor"`
	RequestID   *ident.ID     `json:"request_id"`
	// Previous is encoded last, after data.
	Previous map[string]any `json:"-"`
}

type eventActor struct {
	Type string    `json:"type"`
	ID   *ident.ID `json:"id"`
}

// encode returns the event with its data.
func (h *eventHead) encode(data []byte) ([]byte, error) {
	b, err := encode(h)
	if err != nil {
		return nil, err
	}
	previous := []byte("{}")
	if len(h.Previous) > 0 {
		if previous, err = encode(h.Previous); err != nil {
			return nil, err
		}
	}
	b = append(b[:len(b)-1], `,"data":`...)
	b = append(append(b, data...), `,"previous":`...)
	return append(append(b, previous...), '}'), nil
}

// outboxRow is an event to be inserted.
type outboxRow struct {
	workspace, id, kind, resource string
	at                            int64
	restricted                    int
	doc                           []byte
}

// eventIDs creates identifiers that sort in the order of the events.
// Identifiers of the same instant do not sort without this.
func (db *DB) eventIDs(n int) []ident.ID {
	ids := make([]ident.ID, n)
	for i := range ids {
		ids[i] = ident.New(ident.Event, db.now(), db.random)
	}
	slices.Sort(ids)
	return ids
}

// outbox prepares an event. Call it before the transaction if possible, because
// on SQLite all transactions share one thread.
func (db *DB) outbox(id ident.ID, cause record.Cause, at clock.Instant, resource ident.ID, d record.Doc, ev record.Event) (outboxRow, error) {
	head := eventHead{
		ID: id, Type: ev.Type, Timestamp: at, APIVersion: "v1",
		WorkspaceID: cause.Workspace, Actor: eventActor{cause.Actor.Type, optional(cause.Actor.ID)},
		RequestID: optional(cause.RequestID), Previous: ev.Previous,
	}
	data := d.JSON
	if len(data) > maxSnapshot {
		data = fmt.Appendf(nil, `{"id":%q,"version":%d,"truncated":true}`, resource, d.Version)
	}
	row := outboxRow{workspace: string(cause.Workspace), id: string(head.ID), kind: ev.Type, resource: string(resource), at: int64(at)}
	if ev.Restricted {
		row.restricted = 1
	}
	var err error
	row.doc, err = head.encode(data)
	return row, err
}

func (r *outboxRow) insert(tx Tx) error {
	if _, err := tx.Exec(eventTable.insert, r.workspace, r.id, r.at, r.kind, r.resource, r.restricted, r.doc, checksum(r.doc)); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}

func optional(id ident.ID) *ident.ID {
	if id == "" {
		return nil
	}
	return &id
}

// Prune deletes expired rows: call budgets, stored responses, events, daily key
// counts, sync runs and results. It returns the number of deleted rows.
func (db *DB) Prune(ctx context.Context) (int64, error) {
	workspaces, err := db.Accounts().Workspaces(ctx)
	if err != nil {
		return 0, err
	}
	now := int64(clock.At(db.now()))
	gone, err := db.pruneBudgets(ctx, now-budgetRetention)
	if err != nil {
		return gone, fmt.Errorf("prune: %w", err)
	}
	for _, w := range workspaces {
		for _, old := range []struct {
			statement string
			before    int64
		}{
			{`DELETE FROM once WHERE workspace_id = $1 AND created_at <= $2`, now - IdempotencyTTL},
			{`DELETE FROM event WHERE workspace_id = $1 AND created_at <= $2`, now - EventRetention},
			{`DELETE FROM api_key_use WHERE workspace_id = $1 AND day < $2`, now/86_400_000_000 - 31},
			{`DELETE FROM sync_run WHERE workspace_id = $1 AND created_at <= $2 AND status NOT IN ('queued', 'running', 'waiting')`, now - RunRetention},
			{`DELETE FROM result WHERE workspace_id = $1 AND expires_at <= $2`, now},
			{pruneResultRows, now},
		} {
			// One transaction deletes few rows of results, because they are long.
			for n := int64(resultChunks); n == resultChunks; gone += n {
				err := db.writeTx(Within(ctx, w.ID), func(tx Tx) (err error) {
					n, err = tx.Exec(old.statement, string(w.ID), old.before)
					return err
				})
				if err != nil {
					return gone, fmt.Errorf("prune: %w", err)
				}
			}
		}
	}
	return gone, nil
}

// EmitDaily writes a system event at most once per day and workspace, even if
// several nodes call it.
func (db *DB) EmitDaily(ctx context.Context, workspace ident.ID, kind string, data map[string]any) error {
	now := db.now()
	b, err := encode(data)
	if err != nil {
		return err
	}
	// The space prevents collisions with idempotency keys of callers.
	mark := kind + " " + now.UTC().Format(time.DateOnly)
	cause := record.Cause{Workspace: workspace, Actor: record.System}
	row, err := db.outbox(db.eventIDs(1)[0], cause, clock.At(now), workspace, record.Doc{JSON: b}, record.Event{Type: kind})
	if err != nil {
		return err
	}
	return db.writeTx(Within(ctx, workspace), func(tx Tx) error {
		n, err := tx.Exec(responseTable.insert+` ON CONFLICT (workspace_id, key) DO NOTHING`, string(workspace), mark, "", 0, "", 0, 0, "", nil, int64(clock.At(now)))
		if err != nil || n == 0 {
			return err
		}
		return row.insert(tx)
	})
}
