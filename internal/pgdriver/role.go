package pgdriver

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Querier runs a query.
type Querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// CheckRole refuses a role that row-level security does not bind. Every table of
// a workspace forces it on its owner too, so that the role may own the tables.
func CheckRole(ctx context.Context, q Querier) error {
	var role string
	var unbound bool
	if err := q.QueryRow(ctx, "SELECT rolname, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user").Scan(&role, &unbound); err != nil {
		return err
	}
	if unbound {
		return fmt.Errorf("the database role %q is a superuser or has BYPASSRLS, so that the database would not keep workspaces apart: create a role with `CREATE ROLE fanfare LOGIN PASSWORD '…'` and a database with `CREATE DATABASE fanfare OWNER fanfare`, and use them in the URL", role)
	}
	return nil
}
