package app

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"fanfare/internal/ident"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

// FactsReplaced says what came of replacing the facts.
type FactsReplaced struct {
	// Resyncing is how many connections are read again from their platforms.
	Resyncing int `json:"resyncing"`
	// SendAgain are the connections whose own data has to be sent again.
	SendAgain []ident.ID `json:"send_again"`
	// Kept is the file with the facts as they were, empty where there was none.
	Kept string `json:"kept"`
}

// replacing keeps two from replacing the facts at once.
var replacing sync.Mutex

// ReplaceFacts begins the facts anew, empty or with what fill puts into them,
// and has all connections read again: facts of a backup lack what came after
// it. The old file is kept beside the new one. Until all is done, facts are
// unavailable, also after a crash; the command can be run again.
func (a *App) ReplaceFacts(ctx context.Context, cause record.Cause, fill func(*duckdb.Engine) error) (r FactsReplaced, err error) {
	f := a.factsFile
	if f == nil {
		return r, errors.New("this server has no file of facts")
	}
	replacing.Lock()
	defer replacing.Unlock()
	if e := f.take(factsReset); e != nil {
		if err := e.Close(); err != nil {
			a.config.Log.Warn("the old facts cannot be closed", "error", err)
		}
	}
	// Every connection says that its metrics are incomplete before the new
	// facts can be seen.
	if r, err = a.loseFacts(ctx, cause); err != nil {
		return r, err
	}
	dir := a.config.Facts
	if duckdb.Exists(dir) {
		r.Kept = duckdb.Retired(dir)
	}
	if err := duckdb.Retire(dir); err != nil {
		return r, err
	}
	e, err := OpenFacts(dir, a.config.Memory.Facts, a.config.Now, a.config.Log)
	if err != nil {
		return r, err
	}
	id := string(ident.New(ident.Facts, a.config.Now(), a.config.Random))
	err = fill(e)
	if err == nil {
		err = e.Adopt(ctx, id)
	}
	if err == nil {
		err = a.DB.SetFactsMark(ctx, store.FactsMark{ID: id, Generation: e.Identity().Generation})
	}
	if err != nil {
		return r, errors.Join(err, e.Close())
	}
	f.put(e, e.Identity().Generation)
	a.config.Log.Warn("facts replaced", "resyncing", r.Resyncing, "send_again", len(r.SendAgain), "kept", r.Kept)
	return r, nil
}

// loseFacts marks all connections of all workspaces.
func (a *App) loseFacts(ctx context.Context, cause record.Cause) (r FactsReplaced, err error) {
	r.SendAgain = []ident.ID{}
	workspaces, err := a.Accounts.Workspaces(ctx)
	if err != nil {
		return r, err
	}
	for _, w := range workspaces {
		cause.Workspace = w.ID
		connections, err := entities{a.DB}.Connections(ctx, w.ID)
		if err != nil {
			return r, err
		}
		for _, c := range connections {
			lost, resyncs, err := a.Connections.Lost(ctx, cause, c.ID)
			switch {
			case err != nil:
				return r, fmt.Errorf("mark connection %s: %w", c.ID, err)
			case resyncs:
				r.Resyncing++
			case lost:
				r.SendAgain = append(r.SendAgain, c.ID)
			}
		}
	}
	return r, nil
}
