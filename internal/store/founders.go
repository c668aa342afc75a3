package store

import (
	"context"
	"fmt"

	"fanfare/internal/account"
	"fanfare/internal/ident"
)

// becomeFounder makes a user the founder of the workspaces that the user
// creates from now on.
func becomeFounder(tx Tx, user ident.ID) error {
	if _, err := tx.Exec(`UPDATE account_user SET founder = '' WHERE id = $1`, string(user)); err != nil {
		return fmt.Errorf("make founder: %w", err)
	}
	return nil
}

// addUserTo is addUser for a user who joins a workspace: a new one has its
// founder.
func addUserTo(tx Tx, workspace ident.ID, u account.User) (account.User, error) {
	rows, err := tx.Query(selectFounder, string(workspace))
	if err != nil {
		return u, fmt.Errorf("read founder: %w", err)
	}
	if rows.Next() {
		u.Founder = ident.ID(rows.Text())
	}
	return addUser(tx, u)
}

const selectFounder = `SELECT founder FROM workspace WHERE id = $1`

// Founder returns the founder of a workspace, empty if it is not known.
func (s *Accounts) Founder(ctx context.Context, workspace ident.ID) (ident.ID, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), selectFounder, string(workspace))
	if err != nil {
		return "", toFault(fmt.Errorf("read founder: %w", err))
	}
	if !rows.Next() {
		return "", nil
	}
	return ident.ID(rows.Text()), nil
}
