package connection_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/connection"
)

// purchases are the event of Meta that the sandbox's accounts have.
const purchases = "offsite_conversion.fb_pixel_purchase"

// TestConversionEvents chooses which events count as conversions. Every report
// asks for them, and a change has all days read again.
func TestConversionEvents(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.openAccounts(1)
	s.id = s.connect(map[string]any{
		"platform": "meta_ads", "name": "Shop", "credentials": map[string]any{"access_token": s.metaToken()}, "conversion_events": []string{purchases},
	}).OK().ID()
	s.Sync(s.id)
	bought := s.conversions()
	want(t, "events", []string{purchases}, s.connection().ConversionEvents)
	s.patch(`{"conversion_events":["` + purchases + `"]}`).OK()
	runs := len(s.runs())
	s.patch(`{"conversion_events":[]}`).OK()
	want(t, "runs", runs+1, len(s.runs()))
	for _, a := range s.connection().Accounts {
		for _, r := range a.Reports {
			if r.Since != nil || r.Through != nil {
				t.Errorf("got report %+v want no days that were read", r)
			}
		}
	}
	s.Sync(s.id)
	if own := s.conversions(); bought == "" || own == "" || own == bought {
		t.Errorf("got %q purchases and %q conversions of the account's own choice want others", bought, own)
	}
	s.patch(`{"conversion_events":["a","a"]}`).Fault("validation_failed")
}

// TestConversionEventsMeanwhile changes the events while a run reads: what that run
// has read does not count.
func TestConversionEventsMeanwhile(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.openAccounts(1)
	s.id = s.connect(map[string]any{"platform": "meta_ads", "name": "Shop", "credentials": map[string]any{"access_token": s.metaToken()}}).OK().ID()
	var asked [][]string
	s.faults.report = func(_ context.Context, q connection.Report) error {
		if asked = append(asked, q.Conversions); len(asked) == 1 {
			s.Clock.Advance(time.Second)
			s.patch(`{"conversion_events":["lead"]}`).OK()
		}
		return nil
	}
	s.Sync(s.id)
	want(t, "reports after the run that began before", 0, len(s.connection().Accounts[0].Reports))
	s.Sync(s.id)
	last := asked[len(asked)-1]
	if len(asked[0]) != 0 || !slices.Equal(last, []string{"lead"}) {
		t.Errorf("got events %v at first and %v at last want none and lead", asked[0], last)
	}
	if since := *s.report(sandbox.MetaAds, "base").Since; since > day(9, 1) {
		t.Errorf("got days since %s want all of the first 90 days", since)
	}
}

// TestConversionEventsOfSandbox chooses events of one of the sandbox's platforms.
// The others are read too, with unknown conversions or their own.
func TestConversionEventsOfSandbox(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.id = s.connect(map[string]any{"platform": "sandbox", "name": "All", "conversion_events": []string{purchases}}).OK().ID()
	s.cancel(s.runs()[0].ID).OK()
	want(t, "status", connection.RunSucceeded, s.sync(recent).Status)
	if s.conversions() == "" {
		t.Error("got no conversions want the purchases of Meta")
	}
}

// TestConversionEventsOfOwnData refuses events where no platform reports any.
func TestConversionEventsOfOwnData(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.ingest("newsletter", `[{"date":"2026-11-13","clicks":1}]`).OK()
	s.id = s.ownData()
	s.patch(`{"conversion_events":["lead"]}`).Fault("validation_failed")
	s.patch(`{"conversion_events":[]}`).OK()
}

// conversions returns all conversions of the workspace.
func (s *syncFixture) conversions() string {
	s.t.Helper()
	sums, _ := s.sumsIn("conversions", "2026-08-01", "2026-12-31", "platform")
	return sums[sandbox.MetaAds]
}
