package store

import (
	"context"
	"fmt"

	"fanfare/internal/account"
	"fanfare/internal/ident"
)

var selectMembers = `SELECT ` + workspaceColumns + `, ` + userColumns + `, m.role, m.inactive_at
FROM member m
JOIN account_user u ON u.id = m.user_id
JOIN workspace w ON w.id = m.workspace_id `

func (s *Accounts) queryCallers(ctx context.Context, where string, args ...any) ([]*account.Caller, error) {
	rows, err := s.db.engine.Query(ctx, selectMembers+where, args...)
	if err != nil {
		return nil, toFault(fmt.Errorf("read members: %w", err))
	}
	var list []*account.Caller
	for rows.Next() {
		list = append(list, &account.Caller{Workspace: readWorkspace(rows), User: readUser(rows), Role: account.Role(rows.Text()), InactiveAt: readInstant(rows)})
	}
	return list, nil
}

// WorkspacesOf lists the workspaces where a user is an active member.
func (s *Accounts) WorkspacesOf(ctx context.Context, user ident.ID) ([]account.WorkspaceRole, error) {
	callers, err := s.queryCallers(Across(ctx), `WHERE m.user_id = $1 AND m.inactive_at IS NULL ORDER BY m.workspace_id`, string(user))
	if err != nil {
		return nil, err
	}
	list := []account.WorkspaceRole{}
	for _, c := range callers {
		list = append(list, account.WorkspaceRole{Workspace: c.Workspace, Role: c.Role})
	}
	return list, nil
}

// MemberCaller returns a user's membership in a workspace, nil if the user is
// no member.
func (s *Accounts) MemberCaller(ctx context.Context, workspace, user ident.ID) (*account.Caller, error) {
	list, err := s.queryCallers(Within(ctx, workspace), `WHERE m.workspace_id = $1 AND m.user_id = $2`, string(workspace), string(user))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// KeyUse returns the daily use counts of a workspace's keys after a day.
func (s *Accounts) KeyUse(ctx context.Context, workspace ident.ID, after int64) ([]account.Use, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), `SELECT key_id, day, count FROM api_key_use WHERE workspace_id = $1 AND day > $2`, string(workspace), after)
	if err != nil {
		return nil, toFault(fmt.Errorf("read key use: %w", err))
	}
	var list []account.Use
	for rows.Next() {
		list = append(list, account.Use{WorkspaceID: workspace, KeyID: ident.ID(rows.Text()), Day: rows.Int(), Count: rows.Int()})
	}
	return list, nil
}
