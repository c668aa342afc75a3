package connection

import (
	"context"

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
