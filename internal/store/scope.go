package store

import (
	"context"

	"fanfare/internal/ident"
)

// scopeKey is the key of contexts with a scope.
type scopeKey struct{}

// The scopes of a context besides one workspace.
const (
	// NoScope is the scope of a context that names none: no row of any
	// workspace.
	NoScope = ""
	// AllWorkspaces is the scope of work that is not for one workspace, such as
	// finding the workspace of a key, or a backup.
	AllWorkspaces = "*"
)

// Within returns a context whose statements see and change only the rows of one
// workspace, whatever they say. Empty is what belongs to the operator. Only an
// engine on a database server enforces it; SQLite relies on the statements.
func Within(ctx context.Context, workspace ident.ID) context.Context {
	return context.WithValue(ctx, scopeKey{}, "."+string(workspace))
}

// Across returns a context whose statements see the rows of all workspaces.
func Across(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, AllWorkspaces)
}

// Scope returns the scope of a context: NoScope, AllWorkspaces, or a dot and the
// workspace.
func Scope(ctx context.Context) string {
	scope, _ := ctx.Value(scopeKey{}).(string)
	return scope
}
