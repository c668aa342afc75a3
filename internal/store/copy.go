package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"fanfare/internal/clock"
)

// RowSum is the number of rows and a checksum of them that does not depend on
// their order.
type RowSum struct {
	Rows int64 `json:"rows"`
	// Sum is the sum of the SHA-256 hashes of all rows, modulo 2^256. Unlike with
	// XOR, a row that is there twice counts.
	Sum [4]uint64 `json:"sum"`
}

// Add adds a packed row.
func (s *RowSum) Add(row []byte) {
	s.Rows++
	hash := sha256.Sum256(row)
	var carry uint64
	for i := range s.Sum {
		s.Sum[i], carry = bits.Add64(s.Sum[i], binary.LittleEndian.Uint64(hash[8*i:]), carry)
	}
}

// String returns the checksum in hexadecimal.
func (s RowSum) String() string {
	return fmt.Sprintf("%016x%016x%016x%016x", s.Sum[3], s.Sum[2], s.Sum[1], s.Sum[0])
}

// copySetting has the CopyMark.
const copySetting = "unfinished_copy"

// localSettings belong to the files and nodes of an installation and not to its
// records.
var localSettings = []string{factsSetting, countedSetting, masterKeySetting, probeSetting, copySetting}

// DumpAll reads everything that moves with an installation, from the row after a
// position on. Unlike Dump it includes sessions and links: the source of a move
// is not used any more, so that nothing that has ended comes back.
func DumpAll(ctx context.Context, e Engine, after Position, each func(c Chunk, total int64) error) error {
	list := slices.DeleteFunc(slices.Clone(tables), func(t *table) bool { return t == lockTable })
	return dumpTables(ctx, e, list, after, func(c Chunk, total int64) error {
		if c.Table == settingTable.name {
			c = c.withoutLocal()
		}
		return each(c, total)
	})
}

// withoutLocal returns a chunk of settings without local ones.
func (c Chunk) withoutLocal() Chunk {
	name := slices.Index(c.Columns, "name")
	out := c
	out.Rows, out.Data = 0, nil
	c.EachRow(func(values []any) {
		if text, _ := values[name].(string); slices.Contains(localSettings, text) {
			return
		}
		out.Rows++
		for _, v := range values {
			out.Data = appendValue(out.Data, v)
		}
	})
	return out
}

// EachRow calls f with the values of each row, in the order of Columns. They are
// valid until f returns.
func (c Chunk) EachRow(f func(values []any)) {
	values := make([]any, len(c.Columns))
	for rows := NewRows(c.Data, len(c.Columns)); rows.Next(); {
		for i := range values {
			values[i] = rows.Value()
		}
		f(values)
	}
}

// AddTo adds all rows of a chunk to a sum.
func (c Chunk) AddTo(sum *RowSum) {
	var row []byte
	c.EachRow(func(values []any) {
		row = row[:0]
		for _, v := range values {
			row = appendValue(row, v)
		}
		sum.Add(row)
	})
}

// CopyMark is the progress of copying an installation into a store. While it is
// stored, no server uses the store.
type CopyMark struct {
	// Source identifies the content of the source.
	Source string `json:"source"`
	// At is the last row that was copied, Rows is how many were.
	At   Position `json:"at,omitzero"`
	Rows int64    `json:"rows"`
	// Facts has the sums of the source's facts by table, nil until all facts are
	// copied.
	Facts map[string]RowSum `json:"facts,omitzero"`
}

// ErrUnfinished is returned for a store into which an installation is being
// copied.
var ErrUnfinished = errors.New("the database has an unfinished copy of an installation: run the same `fanfare migrate-store` command again, which goes on with it; or empty the database")

// CheckComplete returns ErrUnfinished if an installation was not copied into the
// store completely.
func (db *DB) CheckComplete(ctx context.Context) error {
	_, _, unfinished, err := db.setting(ctx, copySetting)
	if err == nil && unfinished {
		err = ErrUnfinished
	}
	return err
}

// ErrOtherCopy is returned for a store with the copy of another source.
var ErrOtherCopy = errors.New("the store has an unfinished copy of another source")

// StartCopy marks an empty store, or returns the mark of an unfinished copy of
// the same source. It returns ErrNotEmpty or ErrOtherCopy for any other store.
func (db *DB) StartCopy(ctx context.Context, source string) (m CopyMark, resumed bool, err error) {
	err = db.writeTx(Across(ctx), func(tx Tx) error {
		m, resumed = CopyMark{Source: source}, false
		rows, err := tx.Query(`SELECT value FROM setting WHERE name = $1`, copySetting)
		if err != nil {
			return fmt.Errorf("read mark of copy: %w", err)
		}
		if resumed = rows.Next(); !resumed {
			if err := empty(tx); err != nil {
				return err
			}
			return db.putCopyMark(tx, m)
		}
		if err := decode(rows.Bytes(), &m); err != nil {
			return err
		}
		if m.Source != source {
			return ErrOtherCopy
		}
		return nil
	})
	return m, resumed, err
}

// CopyChunk writes a chunk and the progress after it in one transaction.
func (db *DB) CopyChunk(ctx context.Context, c Chunk, m CopyMark) error {
	return db.writeTx(Across(ctx), func(tx Tx) error {
		if err := restoreChunk(tx, c); err != nil {
			return fmt.Errorf("copy %s: %w", c.Table, err)
		}
		return db.putCopyMark(tx, m)
	})
}

// PutCopyMark writes the progress.
func (db *DB) PutCopyMark(ctx context.Context, m CopyMark) error {
	return db.writeTx(ctx, func(tx Tx) error { return db.putCopyMark(tx, m) })
}

func (db *DB) putCopyMark(tx Tx, m CopyMark) error {
	text, err := encode(m)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(upsertSetting, copySetting, string(text), int64(clock.At(db.now()))); err != nil {
		return fmt.Errorf("write mark of copy: %w", err)
	}
	return nil
}

// EndCopy removes the mark: servers can use the store.
func (db *DB) EndCopy(ctx context.Context) error {
	return db.writeTx(ctx, func(tx Tx) error {
		_, err := tx.Exec(`DELETE FROM setting WHERE name = $1`, copySetting)
		return err
	})
}
