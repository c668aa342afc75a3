package campaign

import (
	"context"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// pending says that a state is on its way to a platform.
const pending = "pending"

// Refer notes where else a campaign is, and tells when somebody there has
// changed what was written.
func (s *Service) Refer(ctx context.Context, workspace, id ident.ID, refs []record.ExternalRef, drifted bool) error {
	_, err := s.settleWith(ctx, workspace, id, func(c *Campaign, _ clock.Instant) ([]record.Event, error) {
		was := slices.ContainsFunc(c.ExternalRefs, func(r record.ExternalRef) bool { return r.Push != nil && *r.Push == "drifted" })
		previous := map[string]any{"external_refs": c.ExternalRefs}
		c.ExternalRefs = refs
		if drifted && !was {
			return []record.Event{{Type: "campaign.drifted", Previous: previous}}, nil
		}
		return nil, nil
	})
	return err
}

// push marks that platforms which are written to have to hear of a new state.
func (c *Campaign) push() {
	refs := slices.Clone(c.ExternalRefs)
	for i := range refs {
		if refs[i].Push != nil {
			word := pending
			refs[i].Push = &word
		}
	}
	c.ExternalRefs = refs
}

// Runs reports whether platforms are to deliver the campaign.
func (c *Campaign) Runs() bool { return c.Status == StatusActive }

// Connections lists the connections that delivery depends on: those that the
// caller names and those of linked platform campaigns.
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
		return x.ConnectionID == y.ConnectionID && x.ExternalID == y.ExternalID && equal(x.ExternalStatus, y.ExternalStatus) && equal(x.Enabled, y.Enabled) &&
			equal(x.Channel, y.Channel) && equal(x.URL, y.URL) && equal(x.Push, y.Push) && x.SyncedAt == y.SyncedAt
	})
}
