package connection_test

import (
	"slices"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
)

// TestSelection connects a login that opens several accounts: nothing is read
// before someone has chosen, and later accounts are added only on request.
func TestSelection(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		selection any
		// first are the accounts that are synced at once, later those that are
		// synced after the login opens a fourth.
		first, later []int
		reason       string
	}{
		"none chosen":            {nil, []int{}, []int{}, "choose_accounts"},
		"all":                    {map[string]any{"mode": "all"}, []int{0, 1, 2}, []int{0, 1, 2, 3}, ""},
		"all without new ones":   {map[string]any{"mode": "all", "auto_add": false}, []int{0, 1, 2}, []int{0, 1, 2}, ""},
		"selected":               {map[string]any{"mode": "selected", "ids": []string{"#1"}}, []int{1}, []int{1}, ""},
		"selected with new ones": {map[string]any{"mode": "selected", "ids": []string{"#1"}, "auto_add": true}, []int{1}, []int{1, 3}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSyncFixture(t)
			ids := s.agency(4)
			s.openAccounts(3)
			spec := map[string]any{"platform": "meta_ads", "name": "Agency", "credentials": map[string]any{"access_token": s.metaToken()}}
			if m, ok := tt.selection.(map[string]any); ok {
				if list, ok := m["ids"].([]string); ok {
					list[0] = ids[1]
				}
				spec["account_selection"] = m
			}
			s.id = s.connect(spec).OK().ID()
			want(t, "accounts", pick(ids, tt.first), s.synced())
			reason := ""
			if r := s.connection().StatusReason; r != nil {
				reason = r.Code
			}
			want(t, "reason", tt.reason, reason)
			want(t, "runs", min(1, len(tt.first)), len(s.runs()))
			if len(tt.first) == 0 {
				return
			}
			s.cancel(s.runs()[0].ID).OK()
			s.openAccounts(4)
			s.sync(recent)
			want(t, "accounts later", pick(ids, tt.later), s.synced())
		})
	}
}

// TestChooseAccounts chooses an account, which is then read from the beginning,
// and turns it off with its metrics.
func TestChooseAccounts(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	ids := s.agency(3)
	s.openAccounts(3)
	s.id = s.connect(map[string]any{"platform": "meta_ads", "name": "Agency", "credentials": map[string]any{"access_token": s.metaToken()}}).OK().ID()
	s.request(nil).Fault("invalid_state")
	s.patch(`{"accounts":[{"external_id":"` + ids[1] + `","enabled":true}]}`).OK()
	want(t, "run", "initial", s.runs()[0].Trigger)
	s.Sync(s.id)
	if c := s.connection(); c.StatusReason != nil {
		t.Errorf("got reason %+v want none", c.StatusReason)
	}
	sums, _ := s.spendBy("account_id")
	if sums[ids[1]] == "" || len(sums) != 1 {
		t.Errorf("got spend of accounts %v want that of %s", sums, ids[1])
	}
	s.patch(`{"accounts":[{"external_id":"` + ids[1] + `","enabled":false,"delete_metrics":true}]}`).OK()
	if sums, _ := s.spendBy("account_id"); len(sums) != 0 {
		t.Errorf("got spend of accounts %v want none", sums)
	}
	want(t, "reports", 0, len(s.connection().Accounts[1].Reports))
	s.Clock.Advance(2 * time.Hour)
}

// agency returns the ids of the accounts that the sandbox's Meta login opens.
func (s *syncFixture) agency(n int) (ids []string) {
	s.t.Helper()
	s.openAccounts(n)
	server := s.registry.Server()
	granted, err := server.Grant(sandboxAccounts)
	s.must(err)
	ids = server.AccountIDs(sandbox.MetaAds, granted[sandbox.MetaAds].AccessToken)
	if len(ids) != n {
		s.t.Fatalf("got accounts %v want %d", ids, n)
	}
	return ids
}

// openAccounts sets how many accounts a login opens.
func (s *syncFixture) openAccounts(n int) {
	s.t.Helper()
	s.must(s.registry.Server().TurnOn(sandbox.BehaviorRule{Platform: sandbox.MetaAds, Switch: sandbox.BehaviorAccounts, Value: string(rune('0' + n))}))
}

// metaToken returns a token of the sandbox's Meta login.
func (s *syncFixture) metaToken() string {
	s.t.Helper()
	granted, err := s.registry.Server().Grant(sandboxAccounts)
	s.must(err)
	return granted[sandbox.MetaAds].AccessToken
}

// synced returns the ids of the accounts that are synced.
func (s *syncFixture) synced() []string {
	s.t.Helper()
	ids := []string{}
	for _, a := range s.connection().Accounts {
		if a.Enabled {
			ids = append(ids, a.ExternalID)
		}
	}
	slices.Sort(ids)
	return ids
}

// pick returns some elements of a list, sorted.
func pick(list []string, at []int) []string {
	some := []string{}
	for _, i := range at {
		some = append(some, list[i])
	}
	slices.Sort(some)
	return some
}
