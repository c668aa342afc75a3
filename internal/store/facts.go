package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fanfare/internal/clock"
)

// FactsMark identifies the facts file that belongs to the store.
type FactsMark struct {
	// ID is the id of the file, empty if no file is in use yet.
	ID string
	// Generation is the lowest generation that the file can have: the one that
	// the store last recorded.
	Generation int64
	// Next is the id that the file is about to get, empty for none. After a
	// crash the file can have either id.
	Next string
}

// factsSetting is the setting with the mark. A backup omits it, because
// restored facts are in another file.
const factsSetting = "facts"

// SharedFacts ends the id of facts that nodes share in a database.
const SharedFacts = "-shared"

// ErrFactsMoved is returned if the facts of the store are in another file.
var ErrFactsMoved = errors.New("the facts of this store are in another file")

// FactsMark reads the mark. It returns the zero value if none is stored.
func (db *DB) FactsMark(ctx context.Context) (m FactsMark, err error) {
	rows, err := db.engine.Query(ctx, `SELECT value FROM setting WHERE name = $1`, factsSetting)
	if err != nil {
		return m, toFault(fmt.Errorf("read mark of facts: %w", err))
	}
	if !rows.Next() {
		return m, nil
	}
	return parseFactsMark(rows.Text()), nil
}

// noFacts replaces an empty id in the stored text.
const noFacts = "-"

// parseFactsMark parses a mark. A damaged one matches no file.
func parseFactsMark(text string) (m FactsMark) {
	parts := strings.Split(text, " ")
	if len(parts) < 2 || len(parts) > 3 {
		return FactsMark{ID: text}
	}
	generation, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return FactsMark{ID: text}
	}
	m = FactsMark{ID: strings.TrimPrefix(parts[0], noFacts), Generation: generation}
	if len(parts) == 3 {
		m.Next = parts[2]
	}
	return m
}

func (m FactsMark) String() string {
	return strings.TrimSpace(cmp.Or(m.ID, noFacts) + " " + strconv.FormatInt(m.Generation, 10) + " " + m.Next)
}

// SetFactsMark replaces the mark, whatever it was before.
func (db *DB) SetFactsMark(ctx context.Context, m FactsMark) error {
	return db.writeTx(ctx, func(tx Tx) error { return putFactsMark(tx, m, int64(clock.At(db.now()))) })
}

// ChangeFactsMark replaces the mark was by to. It returns ErrFactsMoved if the
// stored id or next id differs from was.
func (db *DB) ChangeFactsMark(ctx context.Context, was, to FactsMark) error {
	return db.writeTx(ctx, func(tx Tx) error {
		now, err := db.factsMark(tx)
		if err != nil {
			return err
		}
		if now.ID != was.ID || now.Next != was.Next {
			return ErrFactsMoved
		}
		return putFactsMark(tx, to, int64(clock.At(db.now())))
	})
}

// RaiseFactsMark records the generation of the file. If the file has the next
// id, that becomes the id. It returns ErrFactsMoved if the facts are in another
// file.
func (db *DB) RaiseFactsMark(ctx context.Context, m FactsMark) error {
	return db.writeTx(ctx, func(tx Tx) error { return db.raiseFactsMark(tx, m) })
}

// factsMark reads and locks the mark in a transaction that changes it.
func (db *DB) factsMark(tx Tx) (m FactsMark, err error) {
	rows, err := tx.Query(`SELECT value FROM setting WHERE name = $1 `+db.engine.Traits().RowLock, factsSetting)
	if err != nil {
		return m, fmt.Errorf("read mark of facts: %w", err)
	}
	if rows.Next() {
		m = parseFactsMark(rows.Text())
	}
	return m, nil
}

func (db *DB) raiseFactsMark(tx Tx, m FactsMark) error {
	was, err := db.factsMark(tx)
	switch {
	case err != nil:
		return err
	case m.ID == "" || was.ID != m.ID && was.Next != m.ID:
		return ErrFactsMoved
	case was.ID == m.ID && was.Generation >= m.Generation:
		return nil
	}
	if was.ID != m.ID {
		was = FactsMark{ID: m.ID, Generation: was.Generation}
	}
	was.Generation = max(was.Generation, m.Generation)
	return putFactsMark(tx, was, int64(clock.At(db.now())))
}

// SetFactsSource registers a function that returns the id and the generation of
// the facts file; ok is false if no file is open.
func (db *DB) SetFactsSource(f func() (m FactsMark, ok bool)) { db.facts = f }

// recordFactsMark runs in every transaction and records the generation of the
// facts, so that the store can detect a file that lost acknowledged data. It
// returns the mark that the commit stores.
func (db *DB) recordFactsMark(tx Tx) (recorded *FactsMark, err error) {
	if db.facts == nil {
		return nil, nil
	}
	m, ok := db.facts()
	if known := db.recorded.Load(); !ok || known != nil && *known == m {
		return nil, nil
	}
	switch err := db.raiseFactsMark(tx, m); {
	case errors.Is(err, ErrFactsMoved):
		return nil, nil // operations that need facts report the error
	case err != nil:
		return nil, err
	}
	return &m, nil
}

// RecordedGeneration returns the generation of a facts file that this process
// has recorded in the store, 0 for none.
func (db *DB) RecordedGeneration(id string) int64 {
	if m := db.recorded.Load(); m != nil && m.ID == id {
		return m.Generation
	}
	return 0
}

// factsWritten runs in every transaction that acknowledges facts. It returns
// ErrFactsMoved if the facts are in another file.
func (db *DB) factsWritten(tx Tx) error {
	if db.facts != nil {
		if m, ok := db.facts(); ok {
			return db.raiseFactsMark(tx, m)
		}
	}
	return nil
}

func putFactsMark(tx Tx, m FactsMark, at int64) error {
	if _, err := tx.Exec(upsertSetting, factsSetting, m.String(), at); err != nil {
		return fmt.Errorf("write mark of facts: %w", err)
	}
	return nil
}

// HasSynced reports whether any connection ever synced successfully.
func (db *DB) HasSynced(ctx context.Context) (bool, error) {
	rows, err := db.engine.Query(Across(ctx), `SELECT 1 FROM connection WHERE last_success_at IS NOT NULL LIMIT 1`)
	if err != nil {
		return false, toFault(fmt.Errorf("look for connections: %w", err))
	}
	had := rows.Next()
	if had {
		rows.Int()
	}
	return had, nil
}
