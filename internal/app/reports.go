package app

import (
	"context"
	"fmt"

	"fanfare/internal/account"
	"fanfare/internal/analytics"
	"fanfare/internal/body"
	"fanfare/internal/ident"
	"fanfare/internal/report"
)

// buildReports creates the service of saved views, dashboards and annotations.
func (a *App) buildReports() *report.Service {
	return report.New(report.Deps{
		Views: a.DB.SavedViews(), Dashboards: a.DB.Dashboards(), Annotations: a.DB.Annotations(), Moments: a.DB.Annotations(), Queries: queries{a.Analytics, a.Accounts},
		Presets: analytics.Presets, Now: a.config.Now, Random: a.config.Random,
	})
}

// queries checks analytics queries with the settings of their workspace.
type queries struct {
	analytics *analytics.Service
	accounts  *account.Service
}

func (q queries) Checker(ctx context.Context, workspace ident.ID) (report.CheckQuery, error) {
	w, err := q.accounts.Workspace(ctx, workspace)
	if err != nil {
		return nil, fmt.Errorf("read settings of workspace: %w", err)
	}
	settings := analytics.NewWorkspace(w.ID, w.Timezone, w.Currency)
	return func(query *body.Value) error { return q.analytics.CheckQuery(settings, query) }, nil
}
