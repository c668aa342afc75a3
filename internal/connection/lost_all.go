package connection

import (
	"context"
	"fmt"

	"fanfare/internal/ident"
	"fanfare/internal/page"
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
func (s *Service) LoseAll(ctx context.Context, cause record.Cause, workspaces []ident.ID) (Losses, error) {
	l := Losses{SendAgain: []ident.ID{}, Gone: []ident.ID{}}
	for _, w := range workspaces {
		cause.Workspace = w
		if err := s.loseWorkspace(ctx, cause, &l); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (s *Service) loseWorkspace(ctx context.Context, cause record.Cause, l *Losses) error {
	q := page.Query{Sort: "created_at", Status: []string{}, Limit: page.MaxLimit}
	for {
		p, err := s.store.List(ctx, cause.Workspace, q)
		if err != nil {
			return err
		}
		for _, d := range p.Docs {
			c, err := Read(d)
			if err != nil {
				return err
			}
			lost, resyncs, err := s.Lost(ctx, cause, c.ID)
			switch {
			case err != nil:
				return fmt.Errorf("mark connection %s: %w", c.ID, err)
			case resyncs:
				l.Resyncing++
			case lost && c.Status == StatusDisconnected:
				l.Gone = append(l.Gone, c.ID)
			case lost:
				l.SendAgain = append(l.SendAgain, c.ID)
			}
		}
		if p.Next == nil {
			return nil
		}
		q.After = p.Next
	}
}
