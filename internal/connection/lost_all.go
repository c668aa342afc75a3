package connection

import (
	"context"
	"fmt"

	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Losses are the connections whose facts were lost.
type Losses struct {
	// Resyncing is how many connections are synced again from their platforms.
	Resyncing int `json:"resyncing"`
	// SendAgain lists the connections whose own data must be sent again.
	SendAgain []ident.ID `json:"send_again"`
	// Gone lists the disconnected connections, whose facts nobody can restore.
	Gone []ident.ID `json:"gone"`
}

// LoseAll notes that the facts of all connections of the workspaces are gone.
// See Lost.
func (s *Recovery) LoseAll(ctx context.Context, cause record.Cause, workspaces []ident.ID) (Losses, error) {
	l := Losses{SendAgain: []ident.ID{}, Gone: []ident.ID{}}
	for _, w := range workspaces {
		cause.Workspace = w
		all, err := All(ctx, s.store, w)
		if err != nil {
			return l, err
		}
		for _, c := range all {
			lost, resyncs, err := s.Lost(ctx, cause, c.ID)
			switch {
			case err != nil:
				return l, fmt.Errorf("mark connection %s: %w", c.ID, err)
			case resyncs:
				l.Resyncing++
			case lost && c.Status == StatusDisconnected:
				l.Gone = append(l.Gone, c.ID)
			case lost:
				l.SendAgain = append(l.SendAgain, c.ID)
			}
		}
	}
	return l, nil
}
