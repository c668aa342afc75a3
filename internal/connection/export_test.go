package connection

import (
	"context"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
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

// Answers is for tests of what connections with one grant share.
type Answers struct{ shared answers }

// Get reads a report, unless another one with the grant has. It returns its number
// of rows.
func (s *Answers) Get(ctx context.Context, grant string, since clock.Instant, read func() (rows int, err error)) (rows int, err error) {
	a := s.shared.get(ctx, answerKey{grant: grant}, since, time.Now, func(a *answer) {
		n, err := read()
		a.report, a.err = &bag{rows: make([]fact.Row, n)}, err
	})
	if a.err != nil {
		return 0, a.err
	}
	return len(a.report.rows), nil
}

// Held returns the number of answers and of their rows.
func (s *Answers) Held() (answers, rows int) { return len(s.shared.order), s.shared.rows }

// ForList returns the calls for a list of accounts.
func (c *CallCost) ForList(accounts int64) int64 { return c.list(accounts) }
