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
	// pushAttempts is the number of attempts before a push is reported as failed.
	// Retries continue.
	pushAttempts = 8
	// longestWait is how long a push waits for a platform that names a later
	// moment. One that names none is asked again as after any failure.
	// Choice: a platform may be closed for reports until midnight and still
	// take a pause.
	longestWait = 5 * time.Minute
)

// Refs lists the platform campaigns, or audiences, that a record is linked to.
func (s *Linker) Refs(ctx context.Context, workspace ident.ID, kind string, id ident.ID) ([]record.ExternalRef, error) {
	links, err := s.Links.OfRecord(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	refs := make([]record.ExternalRef, len(links))
	for i := range links {
		refs[i] = links[i].ref(kind)
	}
	return refs, nil
}

// Request returns the refs of a campaign that is to be enabled or paused, with a
// pending push where the state must be written. The caller stores that together
// with the campaign, so that the request is known before anything is tried.
//
// Choice: a pause is requested too where states cannot be written and the
// platform campaign is not known to be paused. The push then fails with the
// reason, so that spend which goes on is reported.
func (s *Pusher) Request(ctx context.Context, workspace, campaign ident.ID, enable bool) ([]record.ExternalRef, error) {
	links, err := s.Links.OfRecord(ctx, workspace, campaign)
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
		_, why := s.writes(c, l)
		repeated := l.Unconfirmed() && *l.Wanted == enable
		stray := l.Runs || l.Unconfirmed()
		if l.Push = nil; why == nil || !enable && stray {
			l.Push = some(record.PushPending)
		}
		if !repeated {
			l.PushError = nil
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

// writes returns the client that writes the state of a link's campaign, and why
// it must not, nil where it may.
func (s *Pusher) writes(c *Connection, l *Link) (Client, *Error) {
	client, there := s.Registry.Client(l.Platform, c.Platform == PlatformSandbox)
	switch {
	case c.Status == StatusDisconnected:
		return client, &Error{Class: Refused, Code: "connection_disconnected", Message: "The connection is disconnected, so states cannot be written.", Remedy: "Change the campaign on the ad platform. To write states again, connect the platform again and link the campaign."}
	case !there || l.Kind != fact.KindCampaign || !slices.Contains(client.About().Capabilities, CapabilityWriteCampaigns):
		return client, &Error{Class: Refused, Code: "not_writable", Message: "States of campaigns cannot be written to this platform.", Remedy: "Change the campaign on the ad platform."}
	case !c.WriteEnabled:
		return client, &Error{Class: Refused, Code: codeWriteDisabled, Message: "write_enabled is off on the connection, so states are not written.", Remedy: "Set write_enabled on the connection; the state is then written. Or change the campaign on the ad platform; the next sync finds that."}
	}
	return client, nil
}

// codeWriteDisabled says that the connection does not let states be written.
const codeWriteDisabled = "write_disabled"

// Push writes the requested state of a campaign to every linked platform
// campaign that has not confirmed it, and reads it back. It returns when it
// wants to be called again, nil for not before access returns or the next sync.
// It may be called at any time and any number of times.
func (s *Pusher) Push(ctx context.Context, workspace, campaign ident.ID, attempt int64) (again *clock.Instant, failed error) {
	// One at a time: an older request must not reach the platform after a
	// newer one.
	ctx, unlock, err := s.Lock(record.WithUrgent(ctx), "push "+string(campaign))
	if err != nil {
		return nil, err
	}
	defer unlock()
	links, err := s.Links.OfRecord(ctx, workspace, campaign)
	if err != nil {
		return nil, err
	}
	for i := range links {
		if links[i].confirmed() && !links[i].doubtful() {
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
	return l.Wanted == nil || l.Push == nil || *l.Push == record.PushApplied || *l.Push == record.PushDrifted
}

// Unconfirmed reports whether a requested state has not been confirmed by the
// platform.
func (l *Link) Unconfirmed() bool { return !l.confirmed() }

// errNotConfirmed says that a platform took a state and does not report it.
var errNotConfirmed = &Error{Class: Transient, Code: "not_confirmed", Message: "The platform does not report the requested state yet."}

// pushLink writes a state to one platform campaign and stores the result,
// unless another state was requested meanwhile.
func (s *Pusher) pushLink(ctx context.Context, workspace ident.ID, l *Link, attempt int64) (again *clock.Instant, err error) {
	c, err := s.store.Load(ctx, workspace, l.Connection)
	if err != nil {
		return nil, err
	}
	client, why := s.writes(c, l)
	var observed Observed
	switch {
	case why != nil && why.Code != codeWriteDisabled:
		err = why
	case c.Status == StatusReauthRequired || c.Status == StatusPending:
		err = &Error{Class: Revoked, Code: "connection_reauth_required", Message: "Access to the platform has ended."}
	case why != nil:
		// People may have changed the state on the platform.
		if observed, err = s.readState(ctx, client, c, l); err != nil || !observed.Confirms(*l.Wanted) {
			err = why
		}
	case l.confirmed():
		return s.recheck(ctx, workspace, client, c, l, attempt)
	default:
		observed, err = s.write(ctx, workspace, client, c, l)
	}
	return s.pushed(ctx, workspace, l, attempt, observed, err)
}

// pushed stores the result of a push and returns when it wants to be called
// again.
func (s *Pusher) pushed(ctx context.Context, workspace ident.ID, l *Link, attempt int64, observed Observed, failed error) (again *clock.Instant, err error) {
	switch {
	case errors.Is(failed, errOvertaken):
		return nil, nil
	case failed != nil:
		s.Log.Warn("campaign state not written", "connection", l.Connection, "external_id", l.ExternalID, "attempt", attempt, "error", failed)
		return s.unpushed(ctx, workspace, l, attempt, failed)
	}
	now := clock.At(s.now())
	l.Status, l.Runs, l.SyncedAt = some(observed.Status), observed.Runs, now
	if _, err := s.Links.Pushed(ctx, workspace, l, some(record.PushApplied), nil); err != nil {
		return nil, err
	}
	if l.late() == 0 {
		return nil, nil
	}
	at := min(now.Add(checkEvery), max(l.late(), now.Add(time.Second)))
	return &at, nil
}

// unpushed stores why a state was not confirmed, and decides when it is tried
// again.
func (s *Pusher) unpushed(ctx context.Context, workspace ident.ID, l *Link, attempt int64, failed error) (again *clock.Instant, err error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("write state of %s: %w", l.ExternalID, failed)
	}
	now := clock.At(s.now())
	push, class := record.PushPending, ClassOf(failed)
	switch {
	case class == Throttled:
		if e, ok := errors.AsType[*Error](failed); ok && e.Stated {
			at := min(max(clock.At(e.Until), now.Add(time.Second)), now.Add(longestWait))
			again = &at
		}
	case class != Transient || attempt >= pushAttempts:
		push = record.PushFailed
	}
	why := &record.PushError{Code: "internal", Message: "The state could not be written.", Since: now}
	if e, ok := errors.AsType[*Error](failed); ok {
		why.Code, why.Message, why.Remediation = e.Code, e.Message, Remediation(e)
	}
	if l.PushError != nil {
		why.Since = l.PushError.Since
	}
	if _, err := s.Links.Pushed(ctx, workspace, l, &push, why); err != nil {
		return nil, err
	}
	if class == Transient || class == Throttled && again == nil {
		return nil, fmt.Errorf("write state of %s: %w", l.ExternalID, failed)
	}
	return again, nil
}
