package store

import (
	"context"
	"fmt"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Providers stores the settings of language model providers.
type Providers struct{ db *DB }

var _ creative.Setups = (*Providers)(nil)

// Providers returns the store of model providers.
func (db *DB) Providers() *Providers { return &Providers{db} }

// The workspace's own providers come first: their workspace_id sorts after the
// empty one of the server's providers.
const selectProviders = `SELECT workspace_id, kind, settings, sealed FROM model_provider WHERE workspace_id IN ($1, '') ORDER BY workspace_id DESC, kind`

// Setups lists the providers of a workspace and of the server.
func (s *Providers) Setups(ctx context.Context, workspace ident.ID) ([]creative.Setup, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), selectProviders, string(workspace))
	if err != nil {
		return nil, toFault(fmt.Errorf("list providers: %w", err))
	}
	var list []creative.Setup
	for rows.Next() {
		p := creative.Setup{Workspace: ident.ID(rows.Text()), Kind: rows.Text()}
		if err := decode(rows.Bytes(), &p.Settings); err != nil {
			return nil, fmt.Errorf("settings of %s: %w", p.Kind, err)
		}
		p.Sealed = rows.Text()
		list = append(list, p)
	}
	return list, nil
}

var providerTable = newTable(table{
	name: "model_provider", key: []string{"workspace_id", "kind"},
	columns: names("workspace_id", "kind", "settings", "sealed", "updated_at"),
})

var upsertProvider = providerTable.upsert("workspace_id", "kind")

// Put writes a provider with an audit entry.
func (s *Providers) Put(ctx context.Context, p creative.Setup, cause record.Cause, at clock.Instant) error {
	settings, err := encode(p.Settings)
	if err != nil {
		return err
	}
	_, err = s.writeAudited(Within(ctx, cause.Workspace), cause, at, "model_provider.set", p.Kind, func(tx Tx) (int64, error) {
		return tx.Exec(upsertProvider, string(p.Workspace), p.Kind, settings, p.Sealed, int64(at))
	})
	return err
}

// Drop removes a provider and its API key, with an audit entry.
func (s *Providers) Drop(ctx context.Context, workspace ident.ID, kind string, cause record.Cause, at clock.Instant) (bool, error) {
	return s.writeAudited(Within(ctx, cause.Workspace), cause, at, "model_provider.removed", kind, func(tx Tx) (int64, error) {
		return tx.Exec(`DELETE FROM model_provider WHERE workspace_id = $1 AND kind = $2`, string(workspace), kind)
	})
}

// writeAudited runs a statement and appends an audit entry if it changed rows.
func (s *Providers) writeAudited(ctx context.Context, cause record.Cause, at clock.Instant, action, kind string, fn func(Tx) (int64, error)) (changed bool, err error) {
	entry, err := s.db.audit(cause, at, action, ident.ID(kind), 1)
	if err != nil {
		return false, err
	}
	err = s.db.writeTx(ctx, func(tx Tx) error {
		n, err := fn(tx)
		changed = n > 0
		if err != nil || !changed {
			return err
		}
		return s.db.appendAudit(tx, entry)
	})
	return changed, err
}

// Sealed returns all sealed secrets of all workspaces.
func (db *DB) Sealed(ctx context.Context) ([]string, error) {
	var list []string
	rows, err := db.engine.Query(Across(ctx), `SELECT sealed FROM model_provider`)
	if err != nil {
		return nil, toFault(fmt.Errorf("list sealed keys: %w", err))
	}
	for rows.Next() {
		list = append(list, rows.Text())
	}
	if rows, err = db.engine.Query(ctx, `SELECT sealed FROM credential WHERE sealed <> ''`); err != nil {
		return nil, toFault(fmt.Errorf("list sealed seeds: %w", err))
	}
	for rows.Next() {
		list = append(list, rows.Text())
	}
	if rows, err = db.engine.Query(Across(ctx), `SELECT private FROM connection WHERE private <> ''`); err != nil {
		return nil, toFault(fmt.Errorf("list sealed credentials: %w", err))
	}
	for rows.Next() {
		var p connection.Private
		if err := decode(rows.Bytes(), &p); err != nil {
			return nil, err
		}
		if p.Sealed != "" {
			list = append(list, p.Sealed)
		}
	}
	return list, nil
}
