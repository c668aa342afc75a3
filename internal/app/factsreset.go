package app

import (
	"context"
	"errors"

	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/record"
)

// FactsReplaced is the result of replacing the facts.
type FactsReplaced struct {
	connection.Losses
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
	workspaces, err := a.Accounts.Workspaces(ctx)
	if err != nil {
		return r, err
	}
	ids := make([]ident.ID, len(workspaces))
	for i, w := range workspaces {
		ids[i] = w.ID
	}
	lose := func() (err error) {
		r.Losses, err = a.Connections.LoseAll(ctx, cause, ids)
		return err
	}
	kept, err := a.factsFile.Replace(ctx, lose, fill)
	r.Kept = kept
	if err != nil {
		return r, err
	}
	a.config.Log.WarnContext(ctx, "facts file replaced: send the data of the listed sources again", "resyncing", r.Resyncing, "send_again", len(r.SendAgain), "gone", len(r.Gone), "kept", r.Kept)
	return r, nil
}
