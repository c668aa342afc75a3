package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
)

// FactsMark is what the store knows of the facts file that belongs to it.
type FactsMark struct {
	// ID is the id of the file, empty where no file has been taken into use.
	ID string
	// Generation is the lowest generation that the file can have: what it had
	// when the store last noted it.
	Generation int64
	// Next is the id that the file is about to get, empty for none. After a
	// crash the file has either id.
	Next string
}

// factsSetting keeps the mark. A backup does not have it, because restored
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
	return parseFactsMark(rows.Text()), nil
}

// noFacts stands for an empty id in the stored text.
const noFacts = "-"

// parseFactsMark reads a mark. A damaged one matches no file.
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
	return db.write(ctx, func(tx Tx) error { return putFactsMark(tx, m, int64(clock.At(db.now()))) })
}

// ChangeFactsMark replaces the mark was. It returns ErrFactsMoved where that is
// not the mark anymore, apart from the generation.
func (db *DB) ChangeFactsMark(ctx context.Context, was, to FactsMark) error {
	return db.write(ctx, func(tx Tx) error {
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

// RaiseFactsMark notes the generation of the file. Where the file has taken the
// next id, that becomes the id. It returns ErrFactsMoved where another file has
// the facts.
func (db *DB) RaiseFactsMark(ctx context.Context, m FactsMark) error {
	return db.write(ctx, func(tx Tx) error { return db.raiseFactsMark(tx, m) })
}

// factsMark reads the mark inside a transaction that changes it.
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

// TellFacts registers a function that returns the id and the generation of the
// facts; ok is false where there are none.
func (db *DB) TellFacts(f func() (m FactsMark, ok bool)) { db.facts = f }

// noteFacts goes with every transaction. Whatever a caller is told after it, the
// store knows the generation of the facts by then, so that a file that lost
// something is recognized. It returns what is noted once the transaction is
// committed.
func (db *DB) noteFacts(tx Tx) (noted *FactsMark, err error) {
	if db.facts == nil {
		return nil, nil
	}
	m, ok := db.facts()
	if known := db.noted.Load(); !ok || known != nil && *known == m {
		return nil, nil
	}
	switch err := db.raiseFactsMark(tx, m); {
	case errors.Is(err, ErrFactsMoved):
		return nil, nil // whoever needs facts finds out
	case err != nil:
		return nil, err
	}
	return &m, nil
}

// NotedFacts is the generation of the file with an id that this process knows to
// be noted in the store, 0 for none.
func (db *DB) NotedFacts(id string) int64 {
	if m := db.noted.Load(); m != nil && m.ID == id {
		return m.Generation
	}
	return 0
}

// fed goes with every change that acknowledges facts: it fails where the facts
// have gone to another file, and plans that campaigns are brought up to date.
func (db *DB) fed(tx Tx, workspace ident.ID, at clock.Instant) error {
	if err := db.planSpend(tx, workspace, at); err != nil {
		return err
	}
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
