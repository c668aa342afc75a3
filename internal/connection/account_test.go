package connection_test

import (
	"context"
	"slices"
	"testing"

	"fanfare/internal/connection"
)

// TestReconnectPassesHolds checks that a person who grants access again does
// not wait for holds of the client, but a sync does.
func TestReconnectPassesHolds(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		var waived []bool
		s.faults.accounts = func(ctx context.Context) { waived = append(waived, connection.HoldsWaived(ctx)) }
		s.reconnect(nil).OK()
		if len(waived) == 0 || slices.Contains(waived, false) {
			t.Errorf("reconnect: got %v want holds waived", waived)
		}
		waived = nil
		s.sync(`{"streams":["campaigns"]}`)
		if len(waived) == 0 || slices.Contains(waived, true) {
			t.Errorf("sync: got %v want holds kept", waived)
		}
	}, "meta_ads")
}

// TestUnlistedAccount switches an account on again that the platform did not
// list for a while, unless people have switched it off.
func TestUnlistedAccount(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		look := map[string]func(){
			"sync":      func() { s.sync(`{"streams":["campaigns"]}`) },
			"reconnect": func() { s.reconnect(nil).OK() },
		}
		state := func(what string, enabled bool, reason string) {
			t.Helper()
			c, code := s.connection(), ""
			if c.StatusReason != nil {
				code = c.StatusReason.Code
			}
			for _, a := range c.Accounts {
				if a.Platform == "meta_ads" {
					want(t, what, []any{enabled, reason}, []any{a.Enabled, code})
				} else if a.Enabled != (a.Platform == "tiktok_ads") {
					t.Errorf("%s: got %s switched on or off, which only people may", what, a.Platform)
				}
			}
		}
		// Days that were not read meanwhile are read by the next syncs.
		again := map[string]string{"sync": "partly_synced", "reconnect": ""}
		for how, look := range look {
			s.faults.hidden = "meta_ads"
			look()
			state(how+": not listed", false, "account_not_listed")
			s.faults.hidden = ""
			look()
			state(how+": listed again", true, again[how])
			s.faults.hidden = "meta_ads"
			look()
			s.only("tiktok_ads")
			s.faults.hidden = ""
			look()
			state(how+": switched off by people", false, "")
			s.only("meta_ads", "tiktok_ads")
			look()
		}
	}, "meta_ads", "tiktok_ads")
}
