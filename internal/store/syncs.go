package store

import (
	"context"
	"errors"
	"fmt"

	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Runs stores sync runs.
type Runs struct {
	records[connection.Run, *connection.Run]
}

var _ connection.Runs = (*Runs)(nil)

// Runs returns the store of sync runs.
func (db *DB) Runs() *Runs {
	return &Runs{records[connection.Run, *connection.Run]{db, runTable}}
}

// RunRetention is how long a run is kept, in microseconds.
const RunRetention = 90 * 24 * 60 * 60 * 1_000_000

var runTable = newRecords[connection.Run](table{
	name:  "sync_run",
	shape: 2,
	columns: []column{
		index("status", func(r *connection.Run) any { return string(r.Status) }),
		index("connection_id", func(r *connection.Run) any { return string(r.ConnectionID) }),
		private("plan", func(r *connection.Run) any {
			if r.Plan == nil {
				return nil
			}
			return r.Plan
		}),
	},
	sorts: map[string]sorting{
		"created_at": {column: "created_at"},
		"updated_at": {column: "updated_at"},
	},
	filters: map[string]string{"connection_id": ` AND connection_id = %s`},
})

// Load reads a sync run with its plan, in order to change it.
func (s *Runs) Load(ctx context.Context, workspace, id ident.ID) (*connection.Run, error) {
	r, err := s.records.Load(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	return r, s.db.readColumn(ctx, `SELECT plan FROM sync_run WHERE workspace_id = $1 AND id = $2`, workspace, id, &r.Plan)
}

func runWrite(r *connection.Run, save record.Save) (recordWrite, error) {
	row, err := runTable.row(r.ID, &r.Common, r)
	return recordWrite{table: runTable, row: row, common: &r.Common, save: save}, err
}

// Apply writes a connection and its sync runs with their events and jobs in one
// transaction. It returns the document for the response.
func (s *Connections) Apply(ctx context.Context, ch *connection.Change) (record.Doc, error) {
	if ch.Answer != nil {
		return s.answer(ctx, ch)
	}
	var list []recordWrite
	var answer int
	workspace, id := ch.Cause.Workspace, ident.ID("")
	if c := ch.Connection; c != nil {
		w, err := connectionWrite(c, record.Save{Cause: ch.Cause, At: ch.At, Events: ch.Events})
		if err != nil {
			return record.Doc{}, err
		}
		list, workspace, id = append(list, w), c.WorkspaceID, c.ID
	}
	if ch.AnswerRun {
		answer = len(list)
	}
	for _, r := range ch.Runs {
		w, err := runWrite(r.Run, record.Save{Cause: ch.Cause, At: ch.At, Events: r.Events})
		if err != nil {
			return record.Doc{}, err
		}
		list, workspace, id = append(list, w), r.Run.WorkspaceID, r.Run.ConnectionID
	}
	logs := make([]changeLog, len(list))
	for i, w := range list {
		var err error
		d := record.Doc{Stamp: w.row.stamp, JSON: w.row.doc}
		if logs[i], err = s.db.changeLog(ch.Cause, ch.At, w.row.id, d, w.save.Events); err != nil {
			return record.Doc{}, err
		}
		if i != answer {
			logs[i].cause.Idempotency = nil
		}
	}
	err := s.db.writeTx(Within(ctx, workspace), func(tx Tx) error {
		if ch.Forget {
			if _, err := tx.Exec(`DELETE FROM once WHERE workspace_id = $1 AND resource_id = $2`, string(workspace), string(id)); err != nil {
				return fmt.Errorf("forget answers: %w", err)
			}
		}
		for i := range list {
			if err := s.db.saveIn(tx, &list[i], &logs[i]); err != nil {
				return err
			}
		}
		if err := s.db.enqueue(tx, ch.Jobs); err != nil {
			return err
		}
		if ch.Grants != nil {
			if err := setGrants(tx, id, ch.Grants); err != nil {
				return err
			}
		}
		if ch.Push {
			if err := s.db.enqueuePushes(tx, workspace, id, ch.At); err != nil {
				return err
			}
		}
		if ch.FactsWritten {
			return s.db.factsWritten(tx)
		}
		return nil
	})
	if _, taken := errors.AsType[*UniqueError](err); taken {
		err = fmt.Errorf("%w: %w", record.ErrRace, err)
	}
	if err != nil {
		return record.Doc{}, err
	}
	return logs[answer].answer, nil
}

// answer stores a run as the response under the idempotency key.
func (s *Connections) answer(ctx context.Context, ch *connection.Change) (record.Doc, error) {
	text, err := encode(ch.Answer)
	if err != nil {
		return record.Doc{}, err
	}
	d := record.Doc{Stamp: ch.Answer.Stamp(), JSON: text}
	if ch.Cause.Idempotency == nil {
		return d, nil
	}
	return d, s.db.writeTx(Within(ctx, ch.Cause.Workspace), func(tx Tx) error { return storeResponse(tx, ch.Cause, ch.At, ch.Answer.ID, d) })
}
