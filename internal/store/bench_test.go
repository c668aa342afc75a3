package store_test

import (
	"crypto/rand"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/campaign"
	"fanfare/internal/money"
	"fanfare/internal/store"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

// BenchmarkCreate measures durable creates by 64 writers that share commits.
func BenchmarkCreate(b *testing.B) {
	// The clock must advance, or random ids of one instant would scatter over
	// the indexes.
	e := sqlitetest.Open(b)
	if _, err := store.Migrate(b.Context(), e, time.Now); err != nil {
		b.Fatal(err)
	}
	db := store.New(e, 1024, time.Now, rand.Reader)
	cause := storetest.Operator
	made, err := account.New(db.Accounts(), time.Now, rand.Reader).CreateWorkspace(b.Context(), cause, account.NewWorkspace{
		Name: "Bench", Plan: "enterprise", Owner: "owner@example.com", Currency: "USD", Timezone: "UTC",
	})
	if err != nil {
		b.Fatal(err)
	}
	cause.Workspace = made.WorkspaceID
	campaigns := campaign.New(db.Campaigns(), nil, nil, time.Now, rand.Reader)
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
			if _, err := campaigns.CreateSpec(b.Context(), cause, spec); err != nil {
				b.Error(err)
			}
		}
	})
}
