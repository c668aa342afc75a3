package connection_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/secret"
)

// otherNode returns the service as another node has it: with the same store and
// none of the state in memory.
func (s *syncFixture) otherNode() *connection.Service {
	n := connection.New(s.connections.Parts)
	s.t.Cleanup(n.Wait)
	return n
}

// TestPurgeOnAnotherNode disconnects and purges a connection on one node while
// the other has read a report that it is about to write.
func TestPurgeOnAnotherNode(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.faults.report = func(ctx context.Context, _ connection.Report) error {
			s.faults.report = nil
			_, err := s.otherNode().Disconnect(ctx, s.Cause(), ident.ID(s.id), record.Match{}, true)
			return err
		}
		s.ask(recent)
		if _, err := s.work(t.Context()); err != nil {
			t.Fatal(err)
		}
		sums, _ := s.spendBy("platform")
		want(t, "figures after the purge", map[string]string{}, sums)
	}, "google_ads")
}

// TestRunTakenOver has a second node do a run while the first one, which has lost
// its lease, still works on it. The first one writes no facts any more.
func TestRunTakenOver(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		counted := &countedFacts{Facts: s.connections.Facts}
		s.connections.Facts = counted
		writes := int64(0)
		s.faults.report = func(ctx context.Context, _ connection.Report) error {
			s.faults.report = nil
			_, err := s.otherNode().Work(ctx, s.Workspace, ident.ID(s.id))
			writes = counted.writes.Load()
			return err
		}
		run := s.ask(recent)
		if _, err := s.work(t.Context()); err != nil {
			t.Fatal(err)
		}
		want(t, "run", connection.RunSucceeded, s.run(run).Status)
		want(t, "writes after those of the other node", writes, counted.writes.Load())
		if writes == 0 {
			t.Error("the other node wrote nothing")
		}
	}, "google_ads")
}

// countedFacts counts the writes.
type countedFacts struct {
	connection.Facts
	writes atomic.Int64
}

func (c *countedFacts) Write(ctx context.Context, b *fact.Batch) error {
	c.writes.Add(1)
	return c.Facts.Write(ctx, b)
}

// TestRefreshOnTwoNodes has two nodes find the same tokens due. Only one of them
// renews these: a platform may end a refresh token at its first use.
func TestRefreshOnTwoNodes(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		var refreshes, running atomic.Int64
		s.faults.refresh = func(string) (*connection.Credentials, error) {
			refreshes.Add(1)
			if running.Add(1) > 1 {
				t.Error("two nodes renew tokens at once")
			}
			defer running.Add(-1)
			at := s.now()
			end := at.Add(time.Hour)
			return &connection.Credentials{Access: secret.New("new-access"), IssuedAt: at, ExpiresAt: &end}, nil
		}
		s.Clock.Advance(50 * time.Minute)
		nodes := []*connection.Service{s.connections, s.otherNode(), s.otherNode()}
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				if _, err := nodes[i%len(nodes)].OpenTokens(t.Context(), s.Workspace, ident.ID(s.id)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		want(t, "renewals of Google Ads, GA4 and Microsoft Advertising", int64(3), refreshes.Load())
	}, "google_ads")
}
