package connection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

const (
	// stateTime is the default of Parts.StateTime.
	// Choice: platforms answer such calls within a second or two; one that
	// hangs is tried again soon, because a pause stops spend.
	stateTime = 15 * time.Second
	// lateTime is how long after it was sent a write without an answer may
	// still take effect on the platform.
	lateTime = 90 * time.Second
	// checkEvery is how often a confirmed state is read again while an earlier
	// write of the other state may still take effect.
	checkEvery = 10 * time.Second
)

// errOvertaken says that another state was requested before one was sent.
var errOvertaken = errors.New("another state was requested")

// late is until when a write of the state that is not requested may still take
// effect, 0 where there is none.
func (l *Link) late() clock.Instant {
	if *l.Wanted {
		return l.Private.PauseUntil
	}
	return l.Private.EnableUntil
}

// doubtful reports whether a confirmed state has to be read again.
func (l *Link) doubtful() bool {
	return l.Wanted != nil && l.Push != nil && *l.Push == record.PushApplied && l.late() != 0
}

// sent notes until when a write of the requested state may take effect.
func (p *LinkPrivate) sent(enable bool, until clock.Instant) {
	if enable {
		p.EnableUntil = max(p.EnableUntil, until)
	} else {
		p.PauseUntil = max(p.PauseUntil, until)
	}
}

// settled drops the writes that can no longer take effect.
func (p *LinkPrivate) settled(now clock.Instant) {
	if p.EnableUntil <= now {
		p.EnableUntil = 0
	}
	if p.PauseUntil <= now {
		p.PauseUntil = 0
	}
}

// write writes the requested state and reads it back.
func (s *Pusher) write(ctx context.Context, workspace ident.ID, client Client, c *Connection, l *Link) (observed Observed, err error) {
	written := false
	err = s.withAccess(ctx, c, func(ring PlatformCredentials) (err error) {
		written = false
		if err := s.send(ctx, workspace, client, ring[l.Platform], l); err != nil {
			return err
		}
		written = true
		observed, err = s.observe(ctx, client, ring[l.Platform], l)
		return err
	})
	if written && ClassOf(err) == Gone || err == nil && !observed.Confirms(*l.Wanted) {
		err = errNotConfirmed
	}
	return observed, err
}

// send writes the requested state. That a write may still take effect is stored
// before it is sent and dropped once the platform has answered: the answer may
// never come, and this process may end.
func (s *Pusher) send(ctx context.Context, workspace ident.ID, client Client, k Credentials, l *Link) error {
	l.Private.settled(clock.At(s.now()))
	before := l.Private
	l.Private.sent(*l.Wanted, clock.At(s.now()).Add(lateTime))
	noted, err := s.Links.Sending(ctx, workspace, l)
	switch {
	// A pause that takes effect late spends nothing, so it is sent anyway.
	case err != nil && *l.Wanted:
		return fmt.Errorf("note that a state is written: %w", err)
	case err == nil && !noted:
		return errOvertaken
	}
	err = s.bounded(ctx, func(ctx context.Context) error {
		return client.SetStatus(s.appContext(ctx, l.Platform, k), k, l.AccountID, l.ExternalID, *l.Wanted)
	})
	if err == nil || ClassOf(err) != Transient {
		l.Private = before
	}
	return err
}

// observe reads the state of a platform campaign.
func (s *Pusher) observe(ctx context.Context, client Client, k Credentials, l *Link) (observed Observed, err error) {
	err = s.bounded(ctx, func(ctx context.Context) (err error) {
		observed, err = client.Status(s.appContext(ctx, l.Platform, k), k, l.AccountID, l.ExternalID)
		return err
	})
	return observed, err
}

// bounded makes a call that ends after StateTime.
func (s *Pusher) bounded(ctx context.Context, call func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, s.StateTime)
	defer cancel()
	err := call(within)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return &Error{Class: Transient, Code: "timeout", Message: fmt.Sprintf("The platform did not answer within %v.", s.StateTime), Cause: err}
	}
	return err
}

// readState reads the state of a platform campaign.
func (s *Pusher) readState(ctx context.Context, client Client, c *Connection, l *Link) (observed Observed, err error) {
	err = s.withAccess(ctx, c, func(ring PlatformCredentials) (err error) {
		observed, err = s.observe(ctx, client, ring[l.Platform], l)
		return err
	})
	return observed, err
}

// recheck reads a confirmed state again, because an earlier write of the other
// state was never answered and may have taken effect since, and writes the
// state again where it did. A state that cannot be read for longer than such a
// write may take is not confirmed any more.
func (s *Pusher) recheck(ctx context.Context, workspace ident.ID, client Client, c *Connection, l *Link, attempt int64) (again *clock.Instant, err error) {
	now := clock.At(s.now())
	observed, err := s.readState(ctx, client, c, l)
	switch {
	case err != nil && now < l.late().Add(longestWait):
		at := now.Add(checkEvery)
		return &at, nil
	case err == nil && !observed.Confirms(*l.Wanted):
		s.Log.Warn("campaign state changed by a late write, writing it again", "connection", c.ID, "external_id", l.ExternalID, "status", observed.Status)
		observed, err = s.write(ctx, workspace, client, c, l)
		return s.pushed(ctx, workspace, l, attempt, observed, err)
	}
	l.Private.settled(now)
	return s.pushed(ctx, workspace, l, attempt, observed, err)
}
