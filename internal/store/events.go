package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// EventLife is how long events can be read.
const EventLife = 30 * 24 * 60 * 60 * 1_000_000

// maxSnapshot is the largest record an event carries whole.
const maxSnapshot = 20_000

var events = newTable(table{
	name:  "event",
	shape: 1,
	log:   true,
	sorts: map[string]sorting{"created_at": {column: "created_at"}},
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
	p, err := events.list(ctx, s.db.engine, workspace, q)
	return p, translate(err)
}

// Doc reads one event. Restricted ones are there only for those who may see
// them.
func (s *Events) Doc(ctx context.Context, workspace, id ident.ID, restricted bool) (record.Doc, error) {
	t := *events
	if !restricted {
		t.get += ` AND restricted = 0`
	}
	d, err := t.doc(ctx, s.db.engine, workspace, id)
	return d, translate(err)
}

type eventDoc struct {
	ID          ident.ID       `json:"id"`
	Type        string         `json:"type"`
	Timestamp   clock.Instant  `json:"timestamp"`
	APIVersion  string         `json:"api_version"`
	WorkspaceID ident.ID       `json:"workspace_id"`
	Actor       eventActor     `json:"actor"`
	RequestID   *ident.ID      `json:"request_id"`
	Data        jsontext.Value `json:"data"`
	Previous    map[string]any `json:"previous"`
}

type eventActor struct {
	Type string    `json:"type"`
	ID   *ident.ID `json:"id"`
}

const insertEvent = `INSERT INTO event (workspace_id, id, created_at, type, resource_id, restricted, doc) VALUES ($1, $2, $3, $4, $5, $6, $7)`

// emit writes an event into the outbox.
func (db *DB) emit(tx Tx, cause record.Cause, at clock.Instant, resource ident.ID, d record.Doc, ev record.Event) error {
	doc := eventDoc{
		ID: ident.New(ident.Event, db.now(), db.random), Type: ev.Type, Timestamp: at, APIVersion: "v1",
		WorkspaceID: cause.Workspace, Actor: eventActor{cause.Actor.Type, optional(cause.Actor.ID)},
		RequestID: optional(cause.RequestID), Data: d.JSON, Previous: ev.Previous,
	}
	if len(d.JSON) > maxSnapshot {
		doc.Data = fmt.Appendf(nil, `{"id":%q,"version":%d,"truncated":true}`, resource, d.Version)
	}
	b, err := encode(doc)
	if err != nil {
		return err
	}
	restricted := 0
	if ev.Restricted {
		restricted = 1
	}
	if _, err := tx.Exec(insertEvent, string(cause.Workspace), string(doc.ID), int64(at), ev.Type, string(resource), restricted, b); err != nil {
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

// Prune removes what is older than it is kept: remembered answers, events and
// the daily counts of keys. It returns how many rows went.
func (db *DB) Prune(ctx context.Context) (int64, error) {
	now := int64(clock.At(db.now()))
	gone := int64(0)
	for _, old := range []struct {
		statement string
		before    int64
	}{
		{`DELETE FROM once WHERE created_at <= $1`, now - OnceLife},
		{`DELETE FROM event WHERE created_at <= $1`, now - EventLife},
		{`DELETE FROM api_key_use WHERE day < $1`, now/86_400_000_000 - 31},
	} {
		err := db.write(ctx, func(tx Tx) error {
			n, err := tx.Exec(old.statement, old.before)
			gone += n
			return err
		})
		if err != nil {
			return gone, fmt.Errorf("prune: %w", err)
		}
	}
	return gone, nil
}

// EmitDaily writes an event of the system that happens at most once a day in a
// workspace, whatever number of nodes want to write it.
func (db *DB) EmitDaily(ctx context.Context, workspace ident.ID, kind string, data map[string]any) error {
	now := db.now()
	day := now.UTC().Truncate(24 * time.Hour)
	sum := sha256.Sum256([]byte(string(workspace) + "\n" + kind + "\n" + day.Format(time.DateOnly)))
	id := ident.New(ident.Event, day, bytes.NewReader(sum[:]))
	b, err := encode(data)
	if err != nil {
		return err
	}
	doc, err := encode(eventDoc{
		ID: id, Type: kind, Timestamp: clock.At(now), APIVersion: "v1", WorkspaceID: workspace,
		Actor: eventActor{Type: record.ActorSystem}, Data: b,
	})
	if err != nil {
		return err
	}
	return db.write(ctx, func(tx Tx) error {
		_, err := tx.Exec(insertEvent+` ON CONFLICT (workspace_id, id) DO NOTHING`, string(workspace), string(id), int64(clock.At(now)), kind, string(workspace), 0, doc)
		return err
	})
}
