package connection_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/secret"
)

// TestCallCost makes the calls of each client for one account and one window of
// days, and compares them with what the client says that they cost. The call plan
// relies on it.
func TestCallCost(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	granted, err := s.registry.Server().Grant(sandboxAccounts)
	s.must(err)
	for _, about := range s.registry.About() {
		client, _ := s.registry.Client(about.Platform, true)
		k := connection.Credentials{Access: secret.New(granted[about.Platform].AccessToken), App: connection.OAuthClient{ID: "sandbox", Secret: secret.New("sandbox")}}
		account := granted[about.Platform].AccountID
		count := func(call func(ctx context.Context) error) int64 {
			var n atomic.Int64
			s.must(call(connection.WithCalls(t.Context(), &n)))
			return n.Load()
		}
		var found *connection.Entities
		got := connection.CallCost{Reports: map[connection.Level]int64{}}
		got.Entities = count(func(ctx context.Context) (err error) {
			found, err = client.Entities(ctx, k, account)
			return err
		})
		days := about.WindowDays
		if days == 0 {
			days = 30
		}
		report := func(level connection.Level, events ...string) int64 {
			return count(func(ctx context.Context) error {
				q := connection.Report{
					Account: account, Level: level, First: today - clock.Date(days) + 1, Last: today, Entities: found, Conversions: events, Note: func(connection.Note) {},
				}
				return client.Report(ctx, k, q, func([]fact.Row) error { return nil })
			})
		}
		event := map[string]string{sandbox.MetaAds: purchases, sandbox.GA4: "purchase"}[about.Platform]
		for _, level := range about.Levels {
			got.Reports[level] = report(level)
			planned := max(about.Calls.Reports[level], about.Calls.Chosen[level])
			if n := report(level, event); n > planned {
				t.Errorf("%s level %d: got %d calls with chosen events want at most %d", about.Platform, level, n, planned)
			}
		}
		want(t, about.Platform, []any{about.Calls.Entities, about.Calls.Reports}, []any{got.Entities, got.Reports})
		for n := int64(1); n <= 300; n += 299 {
			s.must(s.registry.Server().TurnOn(sandbox.BehaviorRule{Platform: about.Platform, Switch: sandbox.BehaviorAccounts, Value: strconv.FormatInt(n, 10)}))
			listed := count(func(ctx context.Context) error {
				_, err := client.Accounts(ctx, k)
				return err
			})
			s.registry.Server().TurnAllOff()
			if planned := about.Calls.ForList(n); listed > planned {
				t.Errorf("%s: got %d calls for a list of %d accounts want at most %d", about.Platform, listed, n, planned)
			}
		}
	}
}

// TestCallPlan plans the calls of a connection and makes them: the first sync
// takes as many as planned.
func TestCallPlan(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		plans, err := s.connections.CallPlan(t.Context(), s.Workspace, ident.ID(s.id))
		s.must(err)
		want(t, "plans", []any{1, "google_ads", int64(1), plans[0].Daily}, []any{len(plans), plans[0].Platform, plans[0].Accounts, plans[0].WorkspaceDaily})
		before := s.calls(func(e sandbox.Entry) bool { return e.Platform == sandbox.GoogleAds })
		r := s.sync(`{"mode":"full"}`)
		made := int64(s.calls(func(e sandbox.Entry) bool { return e.Platform == sandbox.GoogleAds }) - before)
		if planned := plans[0].FirstSync; made > planned || made < planned*9/10 || r.Totals.APICalls < made {
			t.Errorf("got %d calls and %d in the run, planned %d", made, r.Totals.APICalls, planned)
		}
	}, "google_ads")
}

// TestCallPlanQuotas plans the accounts of an agency: those that do not fit
// Google's lowest access level fit the next one.
func TestCallPlanQuotas(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.must(s.registry.Server().TurnOn(sandbox.BehaviorRule{Platform: "google_ads", Switch: sandbox.BehaviorAccounts, Value: "20"}))
	s.withToken("google_ads")
	plans, err := s.connections.CallPlan(t.Context(), s.Workspace, ident.ID(s.id))
	s.must(err)
	fits := map[string]bool{}
	for _, q := range plans[0].Quotas {
		fits[q.Name] = q.Fits
	}
	want(t, "what fits", map[string]bool{"Explorer access": false, "Basic access": true}, fits)
	want(t, "accounts before any is chosen", int64(20), plans[0].Accounts)
}
