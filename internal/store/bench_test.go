package store_test

import (
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/campaign"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/money"
)

// BenchmarkCreate measures durable creates by 64 writers that share commits.
func BenchmarkCreate(b *testing.B) {
	// The clock must advance, or random ids of one instant would scatter over
	// the indexes.
	w := fanfaretest.New(b, nil, func(c *app.Config) { c.Now = time.Now })
	t := w.Tenant(account.Enterprise)
	cause := fanfaretest.Operator
	cause.Workspace = t.Workspace
	objective := "sales"
	spec := campaign.Spec{
		Name: "Bench", Objective: &objective, Channels: []string{"search", "social"},
		Budget:   &campaign.Budget{Type: "daily", Amount: money.Amount{Micros: 150_000_000, Digits: 2}, Currency: "USD", Pacing: "even"},
		Schedule: campaign.Schedule{Timezone: "UTC"}, Attribution: campaign.DefaultAttribution,
	}
	b.SetParallelism(32)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := w.App.Campaigns.CreateSpec(b.Context(), cause, spec); err != nil {
				b.Error(err)
			}
		}
	})
}
