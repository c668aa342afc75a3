package connection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

const (
	// pushAttempts is after how many attempts in a row a push is reported as
	// failed. It is tried further on.
	pushAttempts = 8
	// throttledWait is how long a push waits for a platform that names no
	// moment, longestWait how long for one that names a later one.
	// Choice: a platform may be closed for reports until midnight and still
	// take a pause, so that is tried every five minutes.
	throttledWait = time.Minute
	longestWait   = 5 * time.Minute
)

// Refs lists the platform campaigns, or audiences, that a record is linked to.
func (s *Service) Refs(ctx context.Context, workspace ident.ID, kind string, id ident.ID) ([]record.ExternalRef, error) {
	links, err := s.Links.For(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	refs := make([]record.ExternalRef, len(links))
	for i := range links {
		refs[i] = links[i].ref(kind)
	}
	return refs, nil
}

// Request is Refs for a campaign whose state changes: where the state has to be
// written, the push is pending. The caller stores that together with the state,
// so that the request is known before anything is tried.
func (s *Service) Request(ctx context.Context, workspace, campaign ident.ID) ([]record.ExternalRef, error) {
	links, err := s.Links.For(ctx, workspace, campaign)
	if err != nil {
		return nil, err
	}
	refs := make([]record.ExternalRef, len(links))
	for i := range links {
		l := &links[i]
		c, err := s.store.Load(ctx, workspace, l.Connection)
		if err != nil {
			return nil, err
		}
		l.Push, l.PushError = nil, nil
		if _, can := s.writes(c, l); can {
			l.Push = some(PushPending)
		}
		refs[i] = l.ref(fact.KindCampaign)
	}
	return refs, nil
}

// ref is a link as the record shows it.
func (l *Link) ref(kind string) record.ExternalRef {
	r := record.ExternalRef{
		ConnectionID: l.Connection, Platform: l.Platform, ExternalID: l.ExternalID, ExternalStatus: l.Status, URL: l.URL,
		Push: l.Push, PushError: l.PushError, SyncedAt: l.SyncedAt,
	}
	if kind == fact.KindCampaign {
		r.Enabled, r.Channel = &l.Runs, l.Channel
	}
	return r
}

// writes returns the client that writes the state of a link's campaign; false
// where the connection or the platform does not allow that.
func (s *Service) writes(c *Connection, l *Link) (Client, bool) {
	client, there := s.Catalogue.Client(l.Platform, c.Platform == PlatformSandbox)
	can := there && l.Kind == fact.KindCampaign && c.WriteEnabled && c.Status != StatusDisconnected &&
		slices.Contains(client.About().Capabilities, CapabilityWriteCampaigns)
	return client, can
}

// Push writes the requested state of a campaign to every linked platform
// campaign that has not confirmed it, and reads it back. It returns when it
// wants to be called again, nil for not before access returns or the next sync.
// It may be called at any time and any number of times.
func (s *Service) Push(ctx context.Context, workspace, campaign ident.ID, attempt int64) (again *clock.Instant, failed error) {
	// One at a time: an older request must not reach the platform after a
	// newer one.
	defer s.hands.renewing(campaign)()
	ctx = record.Urgent(ctx)
	links, err := s.Links.For(ctx, workspace, campaign)
	if err != nil {
		return nil, err
	}
	for i := range links {
		if links[i].confirmed() {
			continue
		}
		// A platform that fails keeps no other from being told.
		at, err := s.pushLink(ctx, workspace, &links[i], attempt)
		if err != nil {
			failed = err
		}
		if at != nil && (again == nil || *at < *again) {
			again = at
		}
	}
	if len(links) > 0 {
		if err := s.tell(ctx, workspace, fact.KindCampaign, campaign); err != nil {
			return nil, err
		}
	}
	return again, failed
}

// confirmed reports whether nothing is left to be written.
func (l *Link) confirmed() bool {
	return l.Wanted == nil || l.Push == nil || *l.Push == PushApplied || *l.Push == PushDrifted
}

// Unconfirmed reports whether a requested state has not been confirmed by the
// platform.
func (l *Link) Unconfirmed() bool { return !l.confirmed() }

// errNotConfirmed says that a platform took a state and does not report it.
var errNotConfirmed = &Error{Class: Transient, Code: "not_confirmed", Message: "The platform does not report the requested state yet."}

// pushLink writes a state to one platform campaign and stores the result,
// unless another state was requested meanwhile.
func (s *Service) pushLink(ctx context.Context, workspace ident.ID, l *Link, attempt int64) (again *clock.Instant, err error) {
	c, err := s.store.Load(ctx, workspace, l.Connection)
	if err != nil {
		return nil, err
	}
	client, can := s.writes(c, l)
	switch {
	case !can:
		_, err := s.Links.Pushed(ctx, workspace, l, nil, nil)
		return nil, err
	case c.Status == StatusReauthRequired || c.Status == StatusPending:
		err = &Error{Class: Revoked, Code: "connection_reauth_required", Message: "Access to the platform has ended."}
	default:
		var observed Observed
		if observed, err = s.write(ctx, client, c, l); err == nil {
			l.Status, l.Runs, l.SyncedAt = some(observed.Status), observed.Runs, clock.At(s.now())
			_, err := s.Links.Pushed(ctx, workspace, l, some(PushApplied), nil)
			return nil, err
		}
		s.Log.Warn("campaign state not written", "connection", c.ID, "external_id", l.ExternalID, "attempt", attempt, "error", err)
	}
	return s.unpushed(ctx, workspace, l, attempt, err)
}

// unpushed stores why a state was not confirmed, and decides when it is tried
// again.
func (s *Service) unpushed(ctx context.Context, workspace ident.ID, l *Link, attempt int64, failed error) (again *clock.Instant, err error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("write state of %s: %w", l.ExternalID, failed)
	}
	now := clock.At(s.now())
	push, class := PushPending, ClassOf(failed)
	switch {
	case class == Throttled:
		at := now.Add(throttledWait)
		if e, ok := errors.AsType[*Error](failed); ok && !e.Until.IsZero() {
			at = min(max(clock.At(e.Until), now.Add(time.Second)), now.Add(longestWait))
		}
		again = &at
	case class != Transient || attempt >= pushAttempts:
		push = PushFailed
	}
	why := &record.PushError{Code: "internal", Message: "The state could not be written.", Since: now}
	if e, ok := errors.AsType[*Error](failed); ok {
		why.Code, why.Message = e.Code, e.Message
	}
	if l.PushError != nil {
		why.Since = l.PushError.Since
	}
	if _, err := s.Links.Pushed(ctx, workspace, l, &push, why); err != nil {
		return nil, err
	}
	if class == Transient {
		return nil, fmt.Errorf("write state of %s: %w", l.ExternalID, failed)
	}
	return again, nil
}

// write has a platform campaign run or pause as requested, and reads back its
// state. Access that the platform has ended is noted on the connection.
func (s *Service) write(ctx context.Context, client Client, c *Connection, l *Link) (observed Observed, err error) {
	for renewed := false; ; renewed = true {
		var ring Keyring
		written := false
		if c, ring, err = s.open(ctx, c, renewed); err == nil {
			if err = client.SetStatus(ctx, ring[l.Platform], l.AccountID, l.ExternalID, *l.Wanted); err == nil {
				written = true
				observed, err = client.Status(ctx, ring[l.Platform], l.AccountID, l.ExternalID)
			}
		}
		switch class := ClassOf(err); {
		case written && class == Gone, err == nil && !observed.Confirms(*l.Wanted):
			return observed, errNotConfirmed
		case err == nil:
			return observed, nil
		case class == Expired && !renewed:
		case class == Expired || class == Revoked:
			return observed, errors.Join(err, s.ended(ctx, c, err))
		default:
			return observed, err
		}
	}
}

// ended notes that the platform has ended the access of a connection, unless
// access was granted anew since.
func (s *Service) ended(ctx context.Context, used *Connection, why error) error {
	_, err := s.change(ctx, system(used), used.ID, record.Match{}, func(c *Connection, ch *Change) error {
		if c.Status != StatusConnected && c.Status != StatusError || c.Private.SealVersion != used.Private.SealVersion {
			return errSame
		}
		reason := runError(why)
		ch.Events = append(ch.Events, record.Event{Type: "connection.reauth_required", Previous: map[string]any{"status": c.Status}})
		c.Status, c.Sync.LastError, c.Sync.NextRunAt = StatusReauthRequired, reason, nil
		c.StatusReason = &Reason{Code: reason.Code, Message: reason.Message, Since: ch.At, Remediation: some("Grant access anew.")}
		url := s.PublicURL + "/connections/" + string(c.ID)
		c.ReauthURL = &url
		return s.stop(ctx, c, ch)
	})
	return err
}
