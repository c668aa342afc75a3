package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
)

// FactsMark is what the store knows of the facts that belong to it: which file
// they are in, and how far that was at least. A file of another id is foreign,
// one that is less far is an older copy.
type FactsMark struct {
	ID         string
	Generation int64
}

// factsSetting keeps the mark. It is of no use in a backup, because restored
// facts are in another file.
const factsSetting = "facts"

// ErrFactsMoved says that the facts of the store are in another file by now.
var ErrFactsMoved = errors.New("the facts of this store are in another file")

// FactsMark reads the mark, the zero value where there is none yet.
func (db *DB) FactsMark(ctx context.Context) (m FactsMark, err error) {
	rows, err := db.engine.Query(ctx, `SELECT value FROM setting WHERE name = $1`, factsSetting)
	if err != nil {
		return m, translate(fmt.Errorf("read mark of facts: %w", err))
	}
	if !rows.Next() {
		return m, nil
	}
	return parseFactsMark(rows.Text())
}

func parseFactsMark(text string) (m FactsMark, err error) {
	id, generation, _ := strings.Cut(text, " ")
	m.ID = id
	if m.Generation, err = strconv.ParseInt(generation, 10, 64); err != nil {
		return m, fmt.Errorf("read mark of facts: %w", err)
	}
	return m, nil
}

// SetFactsMark makes a file the one that has the facts of this store, whichever
// it was before.
func (db *DB) SetFactsMark(ctx context.Context, m FactsMark) error {
	return db.write(ctx, func(tx Tx) error { return putFactsMark(tx, m, int64(clock.At(db.now()))) })
}

// RaiseFactsMark notes how far the file is, or takes it into use where no file
// is yet. It returns ErrFactsMoved where another file has the facts.
func (db *DB) RaiseFactsMark(ctx context.Context, m FactsMark) error {
	return db.write(ctx, func(tx Tx) error { return db.raiseFactsMark(tx, m) })
}

func (db *DB) raiseFactsMark(tx Tx, m FactsMark) error {
	rows, err := tx.Query(`SELECT value FROM setting WHERE name = $1 `+db.engine.Traits().RowLock, factsSetting)
	if err != nil {
		return fmt.Errorf("read mark of facts: %w", err)
	}
	if rows.Next() {
		was, err := parseFactsMark(rows.Text())
		switch {
		case err != nil:
			return err
		case was.ID != m.ID:
			return ErrFactsMoved
		case was.Generation >= m.Generation:
			return nil
		}
	}
	return putFactsMark(tx, m, int64(clock.At(db.now())))
}

// TellFacts registers who knows how far the facts are; ok is false where there
// are none.
func (db *DB) TellFacts(f func() (m FactsMark, ok bool)) { db.facts = f }

// fed goes with every change that says that facts have come in: it notes how
// far they are, so that no acknowledged fact can go unnoticed, and plans that
// campaigns are brought up to date.
func (db *DB) fed(tx Tx, workspace ident.ID, at clock.Instant) error {
	if db.facts != nil {
		if m, ok := db.facts(); ok {
			if err := db.raiseFactsMark(tx, m); err != nil {
				return err
			}
		}
	}
	return db.planSpend(tx, workspace, at)
}

func putFactsMark(tx Tx, m FactsMark, at int64) error {
	_, err := tx.Exec(upsertSetting, factsSetting, m.ID+" "+strconv.FormatInt(m.Generation, 10), at)
	if err != nil {
		return fmt.Errorf("write mark of facts: %w", err)
	}
	return nil
}

// HadFacts reports whether a connection has ever brought facts in.
func (db *DB) HadFacts(ctx context.Context) (bool, error) {
	rows, err := db.engine.Query(ctx, `SELECT 1 FROM connection WHERE last_success_at IS NOT NULL LIMIT 1`)
	if err != nil {
		return false, translate(fmt.Errorf("look for connections: %w", err))
	}
	had := rows.Next()
	if had {
		rows.Int()
	}
	return had, nil
}
