package connection

import (
	"context"
	"fanfare/internal/clock"

	"fanfare/internal/ident"
)

// OpenTokens returns the credentials of a connection, renewed if they are due.
func (s *Service) OpenTokens(ctx context.Context, workspace, id ident.ID) (PlatformCredentials, error) {
	c, err := s.store.Load(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	_, ring, err := s.freshCredentials(ctx, c, false)
	return ring, err
}

// Read and Unread are for tests of what a report says about its days.
func (r *AccountReport) Read(first, last clock.Date, lacks []Gap) { r.read(first, last, lacks) }

func (r *AccountReport) Unread(first, last clock.Date, why *RunError) { r.unread(first, last, why) }

// Offered is for tests of what is stored for linking.
func (it *Entity) Offered(account, kind string, was *Link, synced func(account string) bool) bool {
	return it.offered(account, kind, was, synced)
}
