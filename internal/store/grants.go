package store

import (
	"context"
	"fmt"

	"fanfare/internal/ident"
)

// grantTable has the grants at ad platforms that connections use. It belongs to
// no workspace: one grant can be used by connections of several, and its hash
// tells nothing about any of them.
var grantTable = newTable(table{name: "platform_grant", key: []string{"connection_id", "hash"}, columns: names("connection_id", "hash")})

// setGrants replaces the grants that a connection uses.
func setGrants(tx Tx, connection ident.ID, hashes []string) error {
	if _, err := tx.Exec(`DELETE FROM platform_grant WHERE connection_id = $1`, string(connection)); err != nil {
		return fmt.Errorf("delete grants: %w", err)
	}
	for _, hash := range hashes {
		if _, err := tx.Exec(grantTable.insert, string(connection), hash); err != nil {
			return fmt.Errorf("insert grant: %w", err)
		}
	}
	return nil
}

// GrantUsers counts the connections of all workspaces, except one, that use a
// grant with one of these hashes.
func (s *Connections) GrantUsers(ctx context.Context, hashes []string, except ident.ID) (int64, error) {
	b := &builder{}
	b.add(`SELECT count(DISTINCT connection_id) FROM platform_grant WHERE connection_id <> `)
	b.value(string(except))
	in(b, `hash`, hashes)
	rows, err := s.db.engine.Query(ctx, b.text.String(), b.args...)
	if err != nil {
		return 0, toFault(fmt.Errorf("count users of grant: %w", err))
	}
	rows.Next()
	return rows.Int(), nil
}
