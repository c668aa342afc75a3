package pgtables

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/pgdriver"
)

// Transaction starts transactions inside another one.
type Transaction struct{ pgx.Tx }

// BeginTx starts a transaction that has the isolation of the outer one.
func (t Transaction) BeginTx(ctx context.Context, _ pgx.TxOptions) (pgx.Tx, error) {
	return t.Begin(ctx)
}

// SetNewID is the last step of replacing all facts: it sets their id, and
// versions that no node has read before.
func SetNewID(ctx context.Context, tx pgx.Tx, id string, now clock.Instant) error {
	if _, err := ListWorkspaces(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE metrics_workspace SET texts = texts + $1, generation = generation + $1", int64(now)); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "UPDATE metrics_format SET id = $1, begin = $2", id, int64(now))
	return err
}

// Database has the facts of all workspaces in a database. Engines embed it.
type Database struct{ DB DB }

// CurrentID returns the id of the facts in the database: another node may have
// replaced them.
func (f Database) CurrentID(ctx context.Context) (id string, err error) {
	err = pgdriver.Transact(ctx, f.DB, func(tx pgx.Tx) (err error) {
		_, id, err = ReadFormat(ctx, tx)
		return err
	})
	return id, ToFault(ctx, err)
}

// SetID gives the facts another id.
func (f Database) SetID(ctx context.Context, id string) error {
	err := pgdriver.Transact(ctx, f.DB, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE metrics_format SET id = $1", id)
		return err
	})
	return ToFault(ctx, err)
}

// Workspaces returns the workspaces that have facts or had them, none if there are
// no tables.
func (f Database) Workspaces(ctx context.Context) (ids []ident.ID, err error) {
	err = pgdriver.Transact(ctx, f.DB, func(tx pgx.Tx) error {
		if _, err := ListWorkspaces(ctx, tx); err != nil {
			return err
		}
		return EachPair(ctx, tx, func(_ int32, id []byte) error {
			ids = append(ids, ident.ID(id))
			return nil
		}, "SELECT key, id FROM metrics_workspace ORDER BY key")
	})
	if pgdriver.NoTable(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list workspaces: %w", ToFault(ctx, err))
	}
	return ids, nil
}

// ReadID returns the id of the facts in a database, empty if it has none. It
// changes nothing.
func ReadID(ctx context.Context, config *pgxpool.Config) (id string, err error) {
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	err = pgdriver.Transact(ctx, pool, func(tx pgx.Tx) (err error) {
		if err := pgdriver.CheckRole(ctx, tx); err != nil {
			return err
		}
		_, id, err = ReadFormat(ctx, tx)
		return err
	})
	return id, err
}
