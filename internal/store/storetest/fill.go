package storetest

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const fillStatement = `INSERT INTO campaign (workspace_id, id, created_at, version, rev, shape, status, updated_at, name, delivery_status, objective, doc, checksum)
VALUES ($1, $2, $3, 1, 0, 2, 'draft', $4, $5, 'not_launched', 'sales', $6, $7)`

// Fill inserts n copies of a campaign that the service created, without events
// and audit entries, to measure a large store. It returns every every-th id.
func Fill(ctx context.Context, e store.Engine, workspace ident.ID, model record.Doc, n, every int, start time.Time, random io.Reader) ([]ident.ID, error) {
	id, created, name, err := members(model.JSON)
	if err != nil {
		return nil, err
	}
	var ids []ident.ID
	for from := 0; from < n; from += 10_000 {
		err := e.Write(store.Across(ctx), func(tx store.Tx) error {
			for i := from; i < min(n, from+10_000); i++ {
				at := start.Add(time.Duration(i) * time.Millisecond)
				own := ident.New(ident.Campaign, at, random)
				called := fmt.Sprintf("Campaign %08d", i)
				doc := bytes.Replace(model.JSON, id, []byte(own), 1)
				doc = bytes.ReplaceAll(doc, created, []byte(clock.At(at).String()))
				doc = bytes.Replace(doc, name, []byte(`"name":"`+called+`"`), 1)
				micros := int64(clock.At(at))
				if _, err := tx.Exec(fillStatement, string(workspace), string(own), micros, micros, strings.ToLower(called), doc, int64(crc32.Checksum(doc, castagnoli))); err != nil {
					return err
				}
				if i%every == 0 {
					ids = append(ids, own)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("fill: %w", err)
		}
	}
	return ids, nil
}

// members finds the bytes of the model that differ from record to record.
func members(doc []byte) (id, created, name []byte, err error) {
	cut := func(before string) []byte {
		_, rest, ok := bytes.Cut(doc, []byte(before))
		if !ok {
			err = fmt.Errorf("model has no %s", before)
			return nil
		}
		v, _, _ := bytes.Cut(rest, []byte(`"`))
		return v
	}
	id, created, name = cut(`"id":"`), cut(`"created_at":"`), cut(`"name":"`)
	return id, created, []byte(`"name":"` + string(name) + `"`), err
}

// Model returns a record of typical size for Fill.
func Model() record.Doc {
	return record.Doc{JSON: []byte(`{"id":"cmp_0","name":"Model","description":"` + strings.Repeat("Some text. ", 60) + `","created_at":"2026-11-15T12:00:00Z","updated_at":"2026-11-15T12:00:00Z"}`)}
}
