package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/campaign"
	"fanfare/internal/creative"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Creatives stores creatives and their variants.
type Creatives struct {
	records[creative.Creative, *creative.Creative]
}

var (
	_ creative.Store      = (*Creatives)(nil)
	_ campaign.References = (*Creatives)(nil)
)

// Creatives returns the store of creatives.
func (db *DB) Creatives() *Creatives {
	return &Creatives{records[creative.Creative, *creative.Creative]{db, creativeTable}}
}

var creativeTable = newRecords[creative.Creative](table{
	name:   "creative",
	shape:  4,
	hidden: archived,
	columns: []column{
		index("status", func(c *creative.Creative) any { return string(c.Status) }),
		index("name", func(c *creative.Creative) any { return strings.ToLower(c.Name) }),
		index("type", func(c *creative.Creative) any { return c.Type }),
		index("source", func(c *creative.Creative) any { return c.Source }),
		index("approval", func(c *creative.Creative) any { return c.Approval.Status }),
	},
	sorts: map[string]sorting{
		"created_at": {column: "created_at"},
		"updated_at": {column: "updated_at"},
		"name":       {column: "name", text: true},
	},
	filters: map[string]string{
		"type":     ` AND type IN (%s)`,
		"source":   ` AND source IN (%s)`,
		"approval": ` AND approval IN (%s)`,
		"channel":  refFilter("channel"),
		"tag":      refFilter("tag"),
		"q":        ` AND name LIKE %s ESCAPE '\'`,
	},
})

var variantTable = newRecords[creative.Variant](table{
	name:   "variant",
	shape:  5,
	hidden: archived,
	columns: []column{
		index("status", func(v *creative.Variant) any { return string(v.Status) }),
		index("creative_id", func(v *creative.Variant) any { return string(v.CreativeID) }),
		index("position", func(v *creative.Variant) any { return v.Position }),
		index("name", func(v *creative.Variant) any { return strings.ToLower(v.Name) }),
	},
	sorts: map[string]sorting{
		"position":   {column: "position"},
		"created_at": {column: "created_at"},
		"name":       {column: "name", text: true},
	},
	filters: map[string]string{"creative_id": ` AND creative_id IN (%s)`},
})

// Variants lists the variants of a creative.
func (s *Creatives) Variants(ctx context.Context, workspace, id ident.ID, q page.Query) (page.Page, error) {
	q.Filters = append(slices.Clone(q.Filters), page.Filter{Name: "creative_id", Values: []string{string(id)}})
	p, err := variantTable.list(ctx, s.db.engine, workspace, q)
	return p, toFault(err)
}

// Variant reads one variant.
func (s *Creatives) Variant(ctx context.Context, workspace, id ident.ID) (*creative.Variant, error) {
	d, err := s.db.doc(ctx, variantTable, workspace, id)
	if err != nil {
		return nil, err
	}
	v := &creative.Variant{}
	return v, decode(d.JSON, v)
}

// VariantDoc reads the document of one variant.
func (s *Creatives) VariantDoc(ctx context.Context, workspace, id ident.ID) (record.Doc, error) {
	return s.db.doc(ctx, variantTable, workspace, id)
}

// Save inserts a new creative, or updates one that is unchanged since it was
// loaded. In the same transaction it writes variants and model spend.
func (s *Creatives) Save(ctx context.Context, c *creative.Creative, save creative.Save) (record.Doc, error) {
	before, err := stored[creative.Creative](&c.Common)
	if err != nil {
		return record.Doc{}, err
	}
	r, err := creativeTable.row(c.ID, &c.Common, c)
	if err != nil {
		return record.Doc{}, err
	}
	rows, media, err := variantRows(c.WorkspaceID, save)
	if err != nil {
		return record.Doc{}, err
	}
	var answer *answered
	if v := save.Answer; v != nil {
		r, err := variantRow(c.WorkspaceID, v)
		if err != nil {
			return record.Doc{}, err
		}
		answer = &answered{id: v.ID, doc: record.Doc{Stamp: r.stamp, JSON: r.doc}}
	}
	refs := func(c *creative.Creative) []ref {
		return slices.Concat(refsOf("channel", c.Channels), refsOf("tag", c.Tags), refsOf(assetRef, c.Photos()))
	}
	return s.db.save(ctx, recordWrite{
		table: creativeTable, row: r, common: &c.Common, save: save.Save,
		before: append(refs(&before), refsOf(assetRef, save.OldMedia)...), now: append(refs(c), refsOf(assetRef, media)...),
		had: creativeWords(&before), words: creativeWords(c),
		answer: answer,
		also: func(tx Tx) error {
			if err := s.saveVariants(tx, c, save, rows, append(media, c.Photos()...)); err != nil {
				return err
			}
			return addModelSpend(tx, c.WorkspaceID, save)
		},
	})
}

func variantRow(workspace ident.ID, v *creative.Variant) (row, error) {
	return variantTable.rowOf(row{
		workspace: workspace, id: v.ID, stamp: record.Stamp{Version: v.Version}, created: int64(v.CreatedAt), updated: int64(v.UpdatedAt),
	}, v)
}

// variantRows encodes the variants to write, the new ones first, and lists the
// assets that they add.
func variantRows(workspace ident.ID, save creative.Save) (rows []row, media []ident.ID, err error) {
	media = slices.Clone(save.NewMedia)
	for i := range save.Variants {
		v := &save.Variants[i]
		r, err := variantRow(workspace, v)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, r)
		for _, id := range v.Assets() {
			if !slices.Contains(media, id) {
				media = append(media, id)
			}
		}
	}
	for _, v := range save.Changed {
		r, err := variantRow(workspace, v)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, r)
	}
	return rows, media, nil
}

func (s *Creatives) saveVariants(tx Tx, c *creative.Creative, save creative.Save, rows []row, media []ident.ID) error {
	missing, err := renewAssets(tx, c.WorkspaceID, media, save.At)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fault.Invalid([]fault.Detail{{
			Field: "content.media", Code: "not_found", Message: "content.media names an asset that is gone; upload it again.", Meta: fault.Meta{"id": missing[0]},
		}})
	}
	for i, r := range rows {
		if i < len(save.Variants) {
			if err := variantTable.add(tx, r); err != nil {
				return err
			}
			continue
		}
		ok, err := variantTable.updateRecord(tx, r, record.Stamp{Version: r.stamp.Version - 1})
		if err != nil {
			return err
		}
		if !ok {
			return record.ErrRace
		}
	}
	return nil
}

var modelSpendTable = newTable(table{
	name: "model_spend", key: []string{"workspace_id", "month"}, columns: names("workspace_id", "month", "micros"),
})

var addSpend = modelSpendTable.insert + `
ON CONFLICT (workspace_id, month) DO UPDATE SET micros = model_spend.micros + excluded.micros`

func addModelSpend(tx Tx, workspace ident.ID, save creative.Save) error {
	if save.Spend == 0 {
		return nil
	}
	if _, err := tx.Exec(addSpend, string(workspace), save.Month, save.Spend); err != nil {
		return fmt.Errorf("add model spend: %w", err)
	}
	return nil
}

const amendOnce = `UPDATE once SET status = $1, version = $2, rev = $3, doc = $4, checksum = $5 WHERE workspace_id = $6 AND key = $7 AND fingerprint = $8 AND resource_id = $9`

// ReplaceResponse replaces the response that is stored under the idempotency
// key.
func (s *Creatives) ReplaceResponse(ctx context.Context, cause record.Cause, id ident.ID, d record.Doc) error {
	once := cause.Idempotency
	if once == nil {
		return nil
	}
	return s.db.writeTx(Within(ctx, cause.Workspace), func(tx Tx) error {
		_, err := tx.Exec(amendOnce, once.Status, d.Version, d.Rev, d.JSON, checksum(d.JSON), string(cause.Workspace), once.Key, once.Fingerprint, string(id))
		return err
	})
}

// ModelSpend returns the spend of a workspace on models in a month, in micros.
func (s *Creatives) ModelSpend(ctx context.Context, workspace ident.ID, month string) (int64, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), `SELECT micros FROM model_spend WHERE workspace_id = $1 AND month = $2`, string(workspace), month)
	if err != nil || !rows.Next() {
		return 0, toFault(err)
	}
	return rows.Int(), nil
}

// Usability returns the usability of creatives.
func (s *Creatives) Usability(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]record.Usability, error) {
	b := newStatement(`SELECT id, status, approval FROM creative WHERE workspace_id = `, workspace)
	in(b, `id`, ids)
	rows, err := b.query(ctx, s.db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("look at creatives: %w", err))
	}
	found := map[ident.ID]record.Usability{}
	for rows.Next() {
		id := ident.ID(rows.Text())
		found[id] = creative.Usability(creative.Status(rows.Text()), rows.Text())
	}
	return found, nil
}
