package connection

import (
	"context"
	"fmt"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// pushAttempts is how often a state is tried to be written before it is given
// up.
const pushAttempts = 8

// Push writes whether a campaign is to run to every platform campaign that is
// linked to it, where the connection allows that, and reads back what became of
// it. It may be called at any time and any number of times.
func (s *Service) Push(ctx context.Context, workspace, campaign ident.ID, attempt int64) error {
	links, err := s.Links.For(ctx, workspace, campaign)
	if err != nil || len(links) == 0 {
		return err
	}
	run, err := s.Records.Runs(ctx, workspace, campaign)
	if err != nil {
		return err
	}
	var failed error
	for i := range links {
		if links[i].Kind != fact.KindCampaign {
			continue
		}
		// One platform that is away keeps no other from being told.
		if err := s.pushLink(ctx, workspace, &links[i], run, attempt); err != nil {
			failed = err
		}
	}
	if err := s.tell(ctx, workspace, fact.KindCampaign, campaign); err != nil {
		return err
	}
	return failed
}

// pushLink writes a state to one platform campaign.
func (s *Service) pushLink(ctx context.Context, workspace ident.ID, l *Link, run bool, attempt int64) error {
	c, err := s.store.Load(ctx, workspace, l.Connection)
	if err != nil {
		return err
	}
	client, there := s.Catalogue.Client(l.Platform, c.Platform == PlatformSandbox)
	if !there || !c.WriteEnabled || c.Status != StatusConnected && c.Status != StatusError || !slices.Contains(client.About().Capabilities, CapabilityWriteCampaigns) {
		return nil
	}
	l.Wanted, l.Push = &run, some(PushPending)
	if err := s.putLink(ctx, workspace, l); err != nil {
		return err
	}
	observed, err := s.write(ctx, client, c, l, run)
	switch {
	case err == nil:
		l.Status, l.Runs, l.SyncedAt = some(observed.Status), observed.Runs, clock.At(s.now())
		l.Push = some(PushApplied)
		if observed.Runs != run {
			l.Push = some(PushDrifted)
		}
	case lasting(err) || attempt >= pushAttempts:
		s.Log.Warn("write state of campaign", "connection", c.ID, "external_id", l.ExternalID, "error", err)
		l.Push = some(PushFailed)
	default:
		return fmt.Errorf("write state of %s: %w", l.ExternalID, err)
	}
	return s.putLink(ctx, workspace, l)
}

// lasting says that trying again does not help.
func lasting(err error) bool {
	return !slices.Contains([]Class{Transient, Throttled, Expired}, ClassOf(err))
}

// write has a platform campaign run or pause, and reads back how it stands.
func (s *Service) write(ctx context.Context, client Client, c *Connection, l *Link, run bool) (Observed, error) {
	for renewed := false; ; renewed = true {
		_, ring, err := s.open(ctx, c, renewed)
		if err != nil {
			return Observed{}, err
		}
		if err = client.SetStatus(ctx, ring[l.Platform], l.AccountID, l.ExternalID, run); err == nil {
			return client.Status(ctx, ring[l.Platform], l.AccountID, l.ExternalID)
		}
		if ClassOf(err) != Expired || renewed {
			return Observed{}, err
		}
	}
}

func (s *Service) putLink(ctx context.Context, workspace ident.ID, l *Link) error {
	return s.Links.Put(ctx, record.Cause{Workspace: workspace}, clock.At(s.now()), l.Connection, []Link{*l}, nil)
}
