package campaign

import (
	"context"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// JobHandlers returns the handlers of the background jobs of campaigns.
func (s *Service) JobHandlers() []record.JobHandler {
	return []record.JobHandler{
		{Kind: JobSettle, Run: func(ctx context.Context, workspace, id ident.ID, _ int64) (*clock.Instant, error) {
			return s.Settle(ctx, workspace, id)
		}},
		{Kind: record.JobRefresh, Limit: record.LongJob, Run: func(ctx context.Context, workspace, id ident.ID, _ int64) (*clock.Instant, error) {
			return nil, s.Follow(ctx, workspace, id)
		}},
		{Kind: record.JobSpend, Limit: record.LongJob, NeedsFacts: true, Run: func(ctx context.Context, workspace, _ ident.ID, _ int64) (*clock.Instant, error) {
			return nil, s.UpdateSpend(ctx, workspace)
		}},
	}
}
