package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// dumpedTable is a table with its key and its columns.
type dumpedTable struct {
	name    string
	key     []string
	columns []string
}

// dumped lists every table of a backup with its key and columns, in an order in
// which a restore can fill them. A test compares it with the schema.
var dumped = []dumpedTable{
	{"setting", []string{"name"}, []string{"name", "value", "updated_at"}},
	{"workspace", []string{"id"}, []string{"id", "name", "plan", "timezone", "currency", "suspended", "created_at", "require_approval", "model_budget", "endless_keys"}},
	{"account_user", []string{"id"}, []string{"id", "email", "name", "service", "created_at"}},
	{"member", []string{"workspace_id", "user_id"}, []string{"workspace_id", "user_id", "role", "inactive_at"}},
	{"api_key", []string{"workspace_id", "id"}, []string{"workspace_id", "id", "user_id", "hash", "name", "last4", "scopes", "addresses", "created_at", "expires_at", "revoked_at", "revoke_reason", "notified", "last_used_at", "last_address", "last_agent", "exposed_at"}},
	{"api_key_use", []string{"workspace_id", "key_id", "day"}, []string{"workspace_id", "key_id", "day", "count"}},
	{"credential", []string{"kind", "id"}, []string{"kind", "id", "user_id", "rev", "doc", "sealed"}},
	{"session", []string{"hash"}, []string{"hash", "id", "user_id", "current_workspace", "method", "created_at", "used_at", "expires_at", "proved_at", "address", "agent"}},
	{"token", []string{"hash"}, []string{"hash", "id", "kind", "workspace_id", "subject", "doc", "tries", "created_at", "expires_at"}},
	{"quota", []string{"workspace_id"}, []string{"workspace_id", "opened_at", "minute", "day_of", "day"}},
	{"campaign", []string{"workspace_id", "id"}, []string{"workspace_id", "id", "version", "rev", "shape", "status", "created_at", "updated_at", "name", "delivery_status", "objective", "start_at", "end_at", "launched_at", "spend", "doc", "checksum"}},
	{"audience", []string{"workspace_id", "id"}, []string{"workspace_id", "id", "version", "rev", "shape", "status", "created_at", "updated_at", "name", "type", "size", "doc", "checksum"}},
	{"audience_member", []string{"workspace_id", "audience_id", "hash"}, []string{"workspace_id", "audience_id", "hash"}},
	{"creative", []string{"workspace_id", "id"}, []string{"workspace_id", "id", "version", "rev", "shape", "status", "created_at", "updated_at", "name", "type", "source", "approval", "doc", "checksum"}},
	{"variant", []string{"workspace_id", "id"}, []string{"workspace_id", "id", "version", "rev", "shape", "status", "created_at", "updated_at", "creative_id", "position", "name", "doc", "checksum"}},
	{"asset", []string{"workspace_id", "id"}, []string{"workspace_id", "id", "sha256", "touched_at", "doc", "checksum"}},
	{"model_provider", []string{"workspace_id", "kind"}, []string{"workspace_id", "kind", "settings", "sealed", "updated_at"}},
	{"model_spend", []string{"workspace_id", "month"}, []string{"workspace_id", "month", "micros"}},
	{"connection", []string{"workspace_id", "id"}, []string{"workspace_id", "id", "version", "rev", "shape", "status", "created_at", "updated_at", "name", "platform", "last_success_at", "doc", "private", "checksum"}},
	{"sync_run", []string{"workspace_id", "id"}, []string{"workspace_id", "id", "version", "rev", "shape", "status", "created_at", "updated_at", "connection_id", "plan", "doc", "checksum"}},
	{"link", []string{"workspace_id", "connection_id", "kind", "external_id"}, []string{"workspace_id", "connection_id", "kind", "external_id", "account_id", "record_id", "name", "runs", "wanted", "doc", "checksum"}},
	{"import", []string{"workspace_id", "id"}, []string{"workspace_id", "id", "version", "rev", "shape", "status", "created_at", "updated_at", "name", "source", "sha256", "doc", "checksum"}},
	{"rate", []string{"workspace_id", "currency", "day"}, []string{"workspace_id", "currency", "day", "per_euro", "carried", "updated_at"}},
	{"result", []string{"workspace_id", "id"}, []string{"workspace_id", "id", "hash", "meta", "total", "expires_at", "checksum"}},
	{"result_rows", []string{"workspace_id", "id", "chunk"}, []string{"workspace_id", "id", "chunk", "expires_at", "doc", "checksum"}},
	{"ref", []string{"workspace_id", "kind", "value", "record_id"}, []string{"workspace_id", "kind", "value", "record_id"}},
	{"event", []string{"workspace_id", "id"}, []string{"workspace_id", "id", "created_at", "type", "resource_id", "restricted", "doc", "checksum"}},
	{"once", []string{"workspace_id", "key"}, []string{"workspace_id", "key", "fingerprint", "status", "resource_id", "version", "rev", "doc", "created_at", "checksum"}},
	{"audit", []string{"workspace_id", "seq"}, []string{"workspace_id", "seq", "at", "entry", "hash"}},
	{"audit_head", []string{"workspace_id"}, []string{"workspace_id", "seq", "hash"}},
	{"job", []string{"id"}, []string{"id", "workspace_id", "kind", "args", "uniq", "run_at", "attempt", "last_error"}},
}

// fleeting lists the tables that a backup leaves empty: a restore must restore
// neither an ended session nor a used link.
var fleeting = []string{"session", "token"}

// Chunk is a sequence of packed rows of one table.
type Chunk struct {
	Table   string
	Columns []string
	Rows    int
	Data    []byte
}

const chunkRows = 1000

// Dump reads all tables from one snapshot, chunk by chunk. total is the number
// of rows of all tables. Dump returns ErrChecksum at the first damaged
// document.
func Dump(ctx context.Context, e Engine, each func(c Chunk, total int64) error) error {
	return toFault(e.Snapshot(ctx, func(tx Tx) error {
		var total int64
		for _, t := range dumped {
			if slices.Contains(fleeting, t.name) {
				continue
			}
			rows, err := tx.Query(`SELECT count(*) FROM ` + t.name)
			if err != nil {
				return fmt.Errorf("count %s: %w", t.name, err)
			}
			rows.Next()
			total += rows.Int()
		}
		for _, t := range dumped {
			if slices.Contains(fleeting, t.name) {
				continue
			}
			err := dumpTable(tx, t.name, t.key, t.columns, func(c Chunk) error {
				if err := c.damaged(); err != nil {
					return err
				}
				return each(c, total)
			})
			if err != nil {
				return fmt.Errorf("dump %s: %w", t.name, err)
			}
		}
		return nil
	}))
}

func dumpTable(tx Tx, name string, key, columns []string, each func(Chunk) error) error {
	keys := strings.Join(key, ", ")
	query := `SELECT ` + keys + `, ` + strings.Join(columns, ", ") + ` FROM ` + name
	var last []any
	for {
		text := query
		if last != nil {
			text += ` WHERE (` + keys + `) > (` + numbered(1, len(key)) + `)`
		}
		rows, err := tx.Query(text+fmt.Sprintf(` ORDER BY %s LIMIT %d`, keys, chunkRows), last...)
		if err != nil {
			return err
		}
		c := Chunk{Table: name, Columns: columns}
		for rows.Next() {
			last = make([]any, len(key))
			for i := range key {
				last[i] = rows.Value()
			}
			for range columns {
				c.Data = appendValue(c.Data, rows.Value())
			}
			c.Rows++
		}
		if c.Rows == 0 {
			return nil
		}
		if err := each(c); err != nil {
			return err
		}
	}
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case int64:
		return AppendInt(b, v)
	case string:
		return AppendText(b, v)
	}
	return AppendNull(b)
}

// ErrNotEmpty is returned by a restore into a store that has data, because two
// histories would mix.
var ErrNotEmpty = errors.New("the store is not empty: restore into an empty data folder or database")

// Empty returns nil if nothing is stored, else ErrNotEmpty.
func Empty(ctx context.Context, e Engine) error { return toFault(e.Snapshot(ctx, empty)) }

func empty(tx Tx) error {
	for _, t := range dumped {
		rows, err := tx.Query(`SELECT 1 FROM ` + t.name + ` LIMIT 1`)
		if err != nil {
			return fmt.Errorf("look at %s: %w", t.name, err)
		}
		if rows.Next() {
			rows.Int()
			return fmt.Errorf("%w (table %s)", ErrNotEmpty, t.name)
		}
	}
	return nil
}

// Restore writes all chunks that fill puts into an empty store, in one
// transaction. It may call fill more than once, as an engine may run a
// transaction more than once.
func Restore(ctx context.Context, e Engine, fill func(put func(Chunk) error) error) error {
	return toFault(e.Write(ctx, func(tx Tx) error {
		if err := empty(tx); err != nil {
			return err
		}
		err := fill(func(c Chunk) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := restoreChunk(tx, c); err != nil {
				return fmt.Errorf("fill %s: %w", c.Table, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		// The mark names the old facts file; restored facts are in another one.
		_, err = tx.Exec(`DELETE FROM setting WHERE name = $1`, factsSetting)
		return err
	}))
}

func restoreChunk(tx Tx, c Chunk) error {
	known := false
	for _, t := range dumped {
		known = known || t.name == c.Table && !slices.ContainsFunc(c.Columns, func(column string) bool { return !slices.Contains(t.columns, column) })
	}
	if !known {
		return errors.New("this program has no such table or column; restore with the version that made the backup")
	}
	insert := `INSERT INTO ` + c.Table + ` (` + strings.Join(c.Columns, ", ") + `) VALUES (` + numbered(1, len(c.Columns)) + `)`
	rows := NewRows(c.Data, len(c.Columns))
	args := make([]any, len(c.Columns))
	for rows.Next() {
		for i := range args {
			args[i] = rows.Value()
		}
		if _, err := tx.Exec(insert, args...); err != nil {
			return err
		}
	}
	return nil
}
