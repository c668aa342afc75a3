package store

import (
	"context"
	"fmt"

	"fanfare/internal/asset"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Assets stores the records of assets, not their files.
type Assets struct{ db *DB }

var (
	_ asset.Store = (*Assets)(nil)
	_ asset.Sums  = (*Assets)(nil)
)

// Assets returns the store of assets.
func (db *DB) Assets() *Assets { return &Assets{db} }

var assetTable = newTable(table{
	name: "asset", key: workspaceID, doc: "doc", shape: 1, log: true,
	columns: names("workspace_id", "id", "sha256", "touched_at", "bytes", "doc", "checksum"),
})

// assetRef is the kind of reference that protects an asset from removal.
const assetRef = "asset_id"

var upsertAsset = assetTable.insert + `
ON CONFLICT (workspace_id, sha256) DO UPDATE SET touched_at = excluded.touched_at RETURNING id, doc, checksum`

// Save inserts an asset, or returns the existing one with the same bytes and
// updates its touched_at.
func (s *Assets) Save(ctx context.Context, a *asset.Asset, cause record.Cause) (record.Doc, error) {
	doc, err := encode(a)
	if err != nil {
		return record.Doc{}, err
	}
	entry, err := s.db.audit(cause, a.CreatedAt, "asset.created", a.ID, 0)
	if err != nil {
		return record.Doc{}, err
	}
	var d record.Doc
	err = s.db.writeTx(Within(ctx, a.WorkspaceID), func(tx Tx) error {
		rows, err := tx.Query(upsertAsset, string(a.WorkspaceID), string(a.ID), a.SHA256, int64(a.CreatedAt), a.Bytes, doc, checksum(doc))
		if err != nil {
			return fmt.Errorf("insert asset: %w", err)
		}
		rows.Next()
		id := ident.ID(rows.Text())
		stored, err := readDocument(rows, assetTable, string(id))
		if err != nil {
			return err
		}
		d = record.Doc{JSON: stored}
		if id == a.ID {
			if err := s.db.appendAudit(tx, entry); err != nil {
				return err
			}
		}
		return storeResponse(tx, cause, a.CreatedAt, id, d)
	})
	return d, err
}

// ByID reads the assets that exist, ordered by id.
func (s *Assets) ByID(ctx context.Context, workspace ident.ID, ids []ident.ID) ([]*asset.Asset, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := s.db.engine.Query(Within(ctx, workspace), `SELECT id, doc, checksum FROM asset WHERE workspace_id = $1 AND id IN (`+numbered(2, len(ids))+`) ORDER BY id`,
		with([]any{string(workspace)}, ids)...)
	if err != nil {
		return nil, toFault(fmt.Errorf("read assets: %w", err))
	}
	var list []*asset.Asset
	for rows.Next() {
		a := &asset.Asset{WorkspaceID: workspace}
		doc, err := readDocument(rows, assetTable, rows.Bytes())
		if err != nil {
			return nil, err
		}
		if err := decode(doc, a); err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// with appends a list to the arguments of a statement.
func with[T ~string](args []any, list []T) []any {
	for _, v := range list {
		args = append(args, string(v))
	}
	return args
}

// Used returns the space that the assets of a workspace use. Each counts for
// least bytes or more.
func (s *Assets) Used(ctx context.Context, workspace ident.ID, least int64) (int64, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), `SELECT CAST(coalesce(sum(CASE WHEN bytes < $1 THEN $2 ELSE bytes END), 0) AS BIGINT) FROM asset WHERE workspace_id = $3`, least, least, string(workspace))
	if err != nil {
		return 0, toFault(fmt.Errorf("sum up assets: %w", err))
	}
	rows.Next()
	return rows.Int(), nil
}

// Linked records that a link was issued.
func (s *Assets) Linked(ctx context.Context, id ident.ID, link record.Doc, at clock.Instant, cause record.Cause) error {
	entry, err := s.db.audit(cause, at, "asset.linked", id, 0)
	if err != nil {
		return err
	}
	return s.db.writeTx(Within(ctx, cause.Workspace), func(tx Tx) error {
		if err := s.db.appendAudit(tx, entry); err != nil {
			return err
		}
		return storeResponse(tx, cause, at, id, link)
	})
}

// Workspaces lists all workspaces.
func (s *Assets) Workspaces(ctx context.Context) ([]ident.ID, error) { return s.db.workspaceIDs(ctx) }

// Touch renews the retention of assets as if they were uploaded now. It returns
// the ids that do not exist.
func (s *Assets) Touch(ctx context.Context, workspace ident.ID, ids []ident.ID) (missing []ident.ID, err error) {
	err = s.db.writeTx(Within(ctx, workspace), func(tx Tx) error {
		missing, err = renewAssets(tx, workspace, ids, clock.At(s.db.now()))
		return err
	})
	return missing, err
}

// renewAssets is Touch inside the transaction of a record that refers to
// assets. Call it before the references are written: then an asset that it
// finds cannot be removed before the commit, and the reference protects it
// afterwards.
func renewAssets(tx Tx, workspace ident.ID, ids []ident.ID, at clock.Instant) (missing []ident.ID, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := tx.Query(`UPDATE asset SET touched_at = $1 WHERE workspace_id = $2 AND id IN (`+numbered(3, len(ids))+`) RETURNING id`,
		with([]any{int64(at), string(workspace)}, ids)...)
	if err != nil {
		return nil, fmt.Errorf("touch assets: %w", err)
	}
	there := map[ident.ID]bool{}
	for rows.Next() {
		there[ident.ID(rows.Text())] = true
	}
	for _, id := range ids {
		if !there[id] {
			missing = append(missing, id)
		}
	}
	return missing, nil
}

const (
	selectIdle = `SELECT id, sha256 FROM asset WHERE workspace_id = $1 AND touched_at <= $2
AND NOT EXISTS (SELECT 1 FROM ref WHERE workspace_id = $3 AND kind = '` + assetRef + `' AND value = asset.id) ORDER BY touched_at LIMIT $4`

	// If another transaction touches the row at the same time, PostgreSQL waits
	// and evaluates the conditions again.
	deleteIdle = `DELETE FROM asset WHERE workspace_id = $1 AND id = $2 AND touched_at <= $3
AND NOT EXISTS (SELECT 1 FROM ref WHERE workspace_id = $4 AND kind = '` + assetRef + `' AND value = asset.id)`
)

// Idle lists assets that were not touched since a time and that no record
// refers to.
func (s *Assets) Idle(ctx context.Context, workspace ident.ID, before clock.Instant, most int) ([]asset.Idle, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), selectIdle, string(workspace), int64(before), string(workspace), most)
	if err != nil {
		return nil, toFault(fmt.Errorf("find idle assets: %w", err))
	}
	var list []asset.Idle
	for rows.Next() {
		list = append(list, asset.Idle{ID: ident.ID(rows.Text()), SHA256: rows.Text()})
	}
	return list, nil
}

// Drop removes those of the assets that are still idle.
func (s *Assets) Drop(ctx context.Context, workspace ident.ID, before clock.Instant, idle []asset.Idle) error {
	return s.db.writeTx(Within(ctx, workspace), func(tx Tx) error {
		for _, i := range idle {
			if _, err := tx.Exec(deleteIdle, string(workspace), string(i.ID), int64(before), string(workspace)); err != nil {
				return fmt.Errorf("drop asset %s: %w", i.ID, err)
			}
		}
		return nil
	})
}

// Sums implements asset.Sums.
func (s *Assets) Sums(ctx context.Context, workspace ident.ID, after string, most int) ([]string, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), `SELECT sha256 FROM asset WHERE workspace_id = $1 AND sha256 > $2 ORDER BY sha256 LIMIT $3`, string(workspace), after, most)
	if err != nil {
		return nil, toFault(fmt.Errorf("list assets: %w", err))
	}
	var list []string
	for rows.Next() {
		list = append(list, rows.Text())
	}
	return list, nil
}

// Named returns which of these hashes belong to an asset.
func (s *Assets) Named(ctx context.Context, workspace ident.ID, sums []string) (map[string]bool, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), `SELECT sha256 FROM asset WHERE workspace_id = $1 AND sha256 IN (`+numbered(2, len(sums))+`)`,
		with([]any{string(workspace)}, sums)...)
	if err != nil {
		return nil, toFault(fmt.Errorf("look for assets: %w", err))
	}
	named := map[string]bool{}
	for rows.Next() {
		named[rows.Text()] = true
	}
	return named, nil
}
