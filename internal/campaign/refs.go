package campaign

import (
	"context"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// UpdateRefs stores the platform campaigns that look returns. It emits an event
// when a push fails or is delayed, when the platform confirms such a push, and
// when a platform campaign drifts.
func (s *Service) UpdateRefs(ctx context.Context, workspace, id ident.ID, look func(context.Context) ([]record.ExternalRef, error)) error {
	_, err := s.settleWith(ctx, workspace, id, func(c *Campaign, _ clock.Instant) ([]record.Event, error) {
		refs, err := look(ctx)
		if err != nil {
			return nil, err
		}
		events := pushEvents(c.ExternalRefs, refs)
		c.ExternalRefs = refs
		return events, nil
	})
	return err
}

// Runs reports whether platforms should deliver a campaign.
func (s *Service) Runs(ctx context.Context, workspace, id ident.ID) (bool, error) {
	c, err := s.store.Load(ctx, workspace, id)
	if err != nil {
		return false, err
	}
	return c.Runs(), nil
}

// pushEvents compares two lists of platform campaigns and returns the events of
// the pushes that changed.
func pushEvents(before, now []record.ExternalRef) (events []record.Event) {
	some := func(list []record.ExternalRef, is func(*record.ExternalRef) bool) bool {
		return slices.ContainsFunc(list, func(r record.ExternalRef) bool { return is(&r) })
	}
	failed := func(r *record.ExternalRef) bool { return r.Push != nil && *r.Push == record.PushFailed }
	delayed := func(r *record.ExternalRef) bool {
		return r.Push != nil && *r.Push == record.PushPending && r.PushError != nil
	}
	drifted := func(r *record.ExternalRef) bool { return r.Push != nil && *r.Push == record.PushDrifted }
	wrong := func(r *record.ExternalRef) bool { return failed(r) || delayed(r) }
	add := func(happened bool, kind string) {
		if happened {
			events = append(events, record.Event{Type: kind, Previous: map[string]any{"external_refs": before}})
		}
	}
	add(some(now, delayed) && !some(before, wrong), "campaign.push_delayed")
	// A pending push whose link was removed can no longer be written. A failed
	// push was reported before.
	lost := func(r *record.ExternalRef) bool { return pushUnconfirmed(r) && !failed(r) && findRef(now, r) == nil }
	unsettled := func(r *record.ExternalRef) bool {
		is := findRef(now, r)
		return wrong(r) && (is == nil || is.Push == nil || *is.Push != record.PushApplied)
	}
	add((some(now, failed) || some(before, lost)) && !some(before, failed), "campaign.push_failed")
	add(some(before, wrong) && !some(before, unsettled) && !some(now, pushUnconfirmed), "campaign.push_applied")
	add(some(now, drifted) && !some(before, drifted), "campaign.drifted")
	return events
}

// findRef returns the entry for the same platform campaign, or nil.
func findRef(list []record.ExternalRef, r *record.ExternalRef) *record.ExternalRef {
	at := slices.IndexFunc(list, func(o record.ExternalRef) bool {
		return o.ConnectionID == r.ConnectionID && o.ExternalID == r.ExternalID
	})
	if at < 0 {
		return nil
	}
	return &list[at]
}

// pushUnconfirmed reports whether the platform has not confirmed the requested
// state.
func pushUnconfirmed(r *record.ExternalRef) bool {
	return r.Push != nil && (*r.Push == record.PushPending || *r.Push == record.PushFailed)
}

// Runs reports whether platforms should deliver the campaign: it is active and
// its start has passed.
func (c *Campaign) Runs() bool { return c.Status == StatusActive && c.Delivery.Status != PendingStart }

// MayStillRun reports whether a launched campaign has a platform campaign that
// is enabled, or that has a push without confirmation.
func (c *Campaign) MayStillRun() bool {
	return c.LaunchedAt != nil && slices.ContainsFunc(c.ExternalRefs, func(r record.ExternalRef) bool { return isEnabled(&r) || pushUnconfirmed(&r) })
}

// isEnabled reports whether the platform campaign was enabled at the last read.
func isEnabled(r *record.ExternalRef) bool { return r.Enabled != nil && *r.Enabled }

// Connections lists the connections that delivery depends on: those in
// connection_ids and those of linked platform campaigns.
func (c *Campaign) Connections() []ident.ID {
	list := slices.Clone(c.ConnectionIDs)
	for _, r := range c.ExternalRefs {
		if !slices.Contains(list, r.ConnectionID) {
			list = append(list, r.ConnectionID)
		}
	}
	return list
}

func sameRefs(a, b []record.ExternalRef) bool {
	return slices.EqualFunc(a, b, func(x, y record.ExternalRef) bool {
		return x.ConnectionID == y.ConnectionID && x.ExternalID == y.ExternalID && equalPtr(x.ExternalStatus, y.ExternalStatus) && equalPtr(x.Enabled, y.Enabled) &&
			equalPtr(x.Channel, y.Channel) && equalPtr(x.URL, y.URL) && equalPtr(x.Push, y.Push) && x.PushError.Equal(y.PushError) && x.SyncedAt == y.SyncedAt
	})
}
