package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fanfare/internal/campaign"
	"fanfare/internal/connection"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Connections stores connections.
type Connections struct {
	records[connection.Connection, *connection.Connection]
}

var (
	_ connection.Store    = (*Connections)(nil)
	_ campaign.References = (*Connections)(nil)
)

// Connections returns the store of connections.
func (db *DB) Connections() *Connections {
	return &Connections{records[connection.Connection, *connection.Connection]{db, connectionTable}}
}

var connectionTable = newRecords[connection.Connection](table{
	name:   "connection",
	shape:  5,
	hidden: string(connection.StatusDisconnected),
	columns: []column{
		index("status", func(c *connection.Connection) any { return string(c.Status) }),
		index("name", func(c *connection.Connection) any { return strings.ToLower(c.Name) }),
		index("platform", func(c *connection.Connection) any { return c.Platform }),
		index("last_success_at", func(c *connection.Connection) any { return instant(c.Sync.LastSuccessAt) }),
		private("private", func(c *connection.Connection) any { return c.Private }),
	},
	sorts: map[string]sorting{
		"created_at":           {column: "created_at"},
		"updated_at":           {column: "updated_at"},
		"platform":             {column: "platform", text: true},
		"sync.last_success_at": {column: "last_success_at", null: true},
	},
	filters: map[string]string{
		"platform": ` AND platform IN (%s)`,
		"q":        ` AND name LIKE %s ESCAPE '\'`,
	},
})

// Load reads a connection with its private part, in order to change it. If
// another write happens between the two reads, the following Save fails with
// record.ErrRace, because the private part never changes without the record.
func (s *Connections) Load(ctx context.Context, workspace, id ident.ID) (*connection.Connection, error) {
	c, err := s.records.Load(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	return c, s.db.readColumn(ctx, `SELECT private FROM connection WHERE workspace_id = $1 AND id = $2`, workspace, id, &c.Private)
}

// readColumn decodes an additional column of a record into a value, if the
// column is not empty.
func (db *DB) readColumn(ctx context.Context, query string, workspace, id ident.ID, into any) error {
	rows, err := db.engine.Query(Within(ctx, workspace), query, string(workspace), string(id))
	if err != nil {
		return toFault(fmt.Errorf("read what belongs to %s: %w", id, err))
	}
	if !rows.Next() {
		return fault.Missing()
	}
	if text := rows.Bytes(); len(text) > 0 {
		return decode(text, into)
	}
	return nil
}

const selectNamed = `SELECT id FROM connection WHERE workspace_id = $1 AND platform = $2 AND name = $3 AND status <> 'disconnected'`

// Named loads the connection of a platform with a name, unless it is
// disconnected.
func (s *Connections) Named(ctx context.Context, workspace ident.ID, platform, name string) (*connection.Connection, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), selectNamed, string(workspace), platform, strings.ToLower(name))
	if err != nil {
		return nil, toFault(fmt.Errorf("find connection by name: %w", err))
	}
	if !rows.Next() {
		return nil, fault.Missing()
	}
	return s.Load(ctx, workspace, ident.ID(rows.Text()))
}

// Save inserts a new record, or updates one that is unchanged since it was
// loaded. If the name is taken, it returns record.ErrRace.
func (s *Connections) Save(ctx context.Context, c *connection.Connection, save record.Save) (record.Doc, error) {
	w, err := connectionWrite(c, save)
	if err != nil {
		return record.Doc{}, err
	}
	d, err := s.db.save(ctx, w)
	if _, taken := errors.AsType[*UniqueError](err); taken {
		err = fmt.Errorf("%w: %w", record.ErrRace, err)
	}
	return d, err
}

func connectionWrite(c *connection.Connection, save record.Save) (recordWrite, error) {
	before, err := stored[connection.Connection](&c.Common)
	if err != nil {
		return recordWrite{}, err
	}
	r, err := connectionTable.row(c.ID, &c.Common, c)
	return recordWrite{table: connectionTable, row: r, common: &c.Common, had: connectionWords(&before), words: connectionWords(c), save: save}, err
}

// SaveAfterFacts writes a connection after facts were stored, and stores the
// response under the idempotency key.
func (s *Connections) SaveAfterFacts(ctx context.Context, c *connection.Connection, answer []byte, save record.Save) error {
	w, err := connectionWrite(c, save)
	if err != nil {
		return err
	}
	t, err := s.db.changeLog(save.Cause, save.At, c.ID, record.Doc{JSON: answer}, nil)
	if err != nil {
		return err
	}
	return s.db.writeTx(Within(ctx, c.WorkspaceID), func(tx Tx) error {
		if err := s.db.saveIn(tx, &w, &t); err != nil {
			return err
		}
		if err := s.db.countFed(tx); err != nil {
			return err
		}
		return s.db.factsWritten(tx)
	})
}

// Enqueue schedules a job.
func (s *Connections) Enqueue(ctx context.Context, j record.Job) error {
	return s.db.writeTx(Within(ctx, j.Workspace), func(tx Tx) error { return s.db.enqueue(tx, []record.Job{j}) })
}

// Usability returns the usability of connections.
func (s *Connections) Usability(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]record.Usability, error) {
	b := newStatement(`SELECT id, status, platform FROM connection WHERE workspace_id = `, workspace)
	in(b, `id`, ids)
	rows, err := b.query(ctx, s.db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("look at connections: %w", err))
	}
	found := map[ident.ID]record.Usability{}
	for rows.Next() {
		id := ident.ID(rows.Text())
		c := connection.Connection{Status: connection.Status(rows.Text()), Platform: rows.Text()}
		found[id] = c.Usability()
	}
	return found, nil
}
