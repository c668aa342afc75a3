package app

import (
	"context"
	"errors"
	"fmt"

	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/record"
)

// FactsReplaced is the result of replacing the facts.
type FactsReplaced struct {
	// Resyncing is how many connections are synced again from their platforms.
	Resyncing int `json:"resyncing"`
	// SendAgain lists the connections whose own data must be sent again.
	SendAgain []ident.ID `json:"send_again"`
	// Gone lists the disconnected connections, whose facts nobody can restore.
	Gone []ident.ID `json:"gone"`
	// Kept is the file with the previous facts, empty if none existed.
	Kept string `json:"kept"`
}

// ReplaceFacts replaces the facts by empty ones or by those that fill writes.
// It starts a new sync of all connections, because a backup lacks later facts.
// See factsfile.File.Replace.
func (a *App) ReplaceFacts(ctx context.Context, cause record.Cause, fill func(*duckdb.Engine) error) (r FactsReplaced, err error) {
	if a.factsFile == nil {
		return r, errors.New("this server has no file of facts")
	}
	lose := func() (err error) {
		r, err = a.loseFacts(ctx, cause)
		return err
	}
	kept, err := a.factsFile.Replace(ctx, lose, fill)
	r.Kept = kept
	if err != nil {
		return r, err
	}
	a.config.Log.WarnContext(ctx, "facts replaced", "resyncing", r.Resyncing, "send_again", len(r.SendAgain), "gone", len(r.Gone), "kept", r.Kept)
	return r, nil
}

// loseFacts marks the data of all connections of all workspaces as lost.
func (a *App) loseFacts(ctx context.Context, cause record.Cause) (r FactsReplaced, err error) {
	r.SendAgain, r.Gone = []ident.ID{}, []ident.ID{}
	workspaces, err := a.Accounts.Workspaces(ctx)
	if err != nil {
		return r, err
	}
	for _, w := range workspaces {
		cause.Workspace = w.ID
		connections, err := a.DB.Analytics().Connections(ctx, w.ID)
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
			case lost && c.Status == string(connection.StatusDisconnected):
				r.Gone = append(r.Gone, c.ID)
			case lost:
				r.SendAgain = append(r.SendAgain, c.ID)
			}
		}
	}
	return r, nil
}
