package store

import (
	"context"
	"fmt"

	"fanfare/internal/creative"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// BrandKits stores the brand kits of workspaces.
type BrandKits struct{ db *DB }

var _ creative.BrandKits = (*BrandKits)(nil)

// BrandKits returns the store of brand kits.
func (db *DB) BrandKits() *BrandKits { return &BrandKits{db} }

var brandKitTable = newTable(table{
	name: "brand_kit", key: []string{"workspace_id"}, doc: "doc",
	columns: names("workspace_id", "version", "updated_at", "doc", "checksum"),
})

const selectBrandKit = `SELECT doc, checksum FROM brand_kit WHERE workspace_id = $1`

// Load implements creative.BrandKits.
func (s *BrandKits) Load(ctx context.Context, workspace ident.ID) (*creative.BrandKit, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), selectBrandKit, string(workspace))
	if err != nil {
		return nil, toFault(fmt.Errorf("read brand kit: %w", err))
	}
	k := creative.EmptyBrandKit()
	if !rows.Next() {
		return k, nil
	}
	doc, err := readDocument(rows, brandKitTable, string(workspace))
	if err != nil {
		return nil, err
	}
	return k, decode(doc, k)
}

const updateBrandKit = `UPDATE brand_kit SET version = $1, updated_at = $2, doc = $3, checksum = $4 WHERE workspace_id = $5 AND version = $6`

// Save implements creative.BrandKits.
func (s *BrandKits) Save(ctx context.Context, before, now *creative.BrandKit, save record.Save) (record.Doc, error) {
	d, err := now.Doc()
	if err != nil {
		return d, err
	}
	workspace := save.Cause.Workspace
	id := creative.BrandKitID(workspace)
	log, err := s.db.changeLog(save.Cause, save.At, id, d, save.Events)
	if err != nil {
		return d, err
	}
	logos := func(k *creative.BrandKit) []ident.ID {
		if k.LogoAssetID == nil {
			return nil
		}
		return []ident.ID{*k.LogoAssetID}
	}
	return d, s.db.writeTx(Within(ctx, workspace), func(tx Tx) error {
		missing, err := renewAssets(tx, workspace, logos(now), save.At)
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return fault.Invalid([]fault.Detail{fault.MissingRef("logo_asset_id", missing[0])})
		}
		if err := writeBrandKit(tx, workspace, before.Version, d, int64(save.At)); err != nil {
			return err
		}
		if err := moveRefs(tx, workspace, id, refsOf(assetRef, logos(before)), refsOf(assetRef, logos(now))); err != nil {
			return err
		}
		return s.db.writeChangeLog(tx, &log)
	})
}

// writeBrandKit inserts the first kit of a workspace, or replaces the one of a
// version.
func writeBrandKit(tx Tx, workspace ident.ID, version int64, d record.Doc, at int64) error {
	var n int64
	var err error
	if version == 0 {
		n, err = tx.Exec(brandKitTable.insert+` ON CONFLICT (workspace_id) DO NOTHING`, string(workspace), d.Version, at, d.JSON, checksum(d.JSON))
	} else {
		n, err = tx.Exec(updateBrandKit, d.Version, at, d.JSON, checksum(d.JSON), string(workspace), version)
	}
	if err != nil {
		return fmt.Errorf("write brand kit: %w", err)
	}
	if n == 0 {
		return record.ErrRace
	}
	return nil
}
