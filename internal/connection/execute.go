package connection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/record"
)

const (
	// partAttempts is how often a part is tried before it is given up.
	partAttempts = 3
	// longestRun is how long a run may take, without the time that it waits.
	longestRun = 2 * time.Hour
	// mostFailures is after how many failed runs in a row a connection has an
	// error.
	mostFailures = 3
)

// execution is one attempt at a run.
type execution struct {
	s    *Service
	c    *Connection
	run  *Run
	ring PlatformCredentials
	// entities are what accounts have, by their ids; they are read anew in
	// every attempt.
	entities map[string]*Entities
	links    linkage
	renewed  bool
	// held are accounts whose platform asked for time, until when.
	held map[string]clock.Instant
	// off are the accounts that discovery switched off, on those that it
	// switched on again.
	off, on []string
}

// run goes on with a run until it is over, has to wait, or is taken away.
// Everything that it has to remember is stored with every part, so it can end
// anywhere.
func (s *Service) run(ctx context.Context, run *Run) (*clock.Instant, error) {
	ctx, done, ok := s.hands.take(ctx, run.ID)
	if !ok {
		return nil, errLost
	}
	defer done()
	c, err := s.store.Load(ctx, run.WorkspaceID, run.ConnectionID)
	if err != nil {
		return nil, err
	}
	e := &execution{s: s, c: c, run: run, entities: map[string]*Entities{}, links: linkage{}, held: map[string]clock.Instant{}}
	if e.c, e.ring, err = s.freshCredentials(ctx, c, false); err != nil {
		return e.broken(ctx, err)
	}
	if run.Plan == nil {
		enabled, unlisted := c.enabled(), slices.Clone(c.Private.Unlisted)
		if err := e.discover(ctx); err != nil {
			return e.broken(ctx, err)
		}
		e.on = slices.DeleteFunc(unlisted, func(id string) bool { return !e.c.account(id).Enabled })
		e.off = slices.DeleteFunc(enabled, func(id string) bool { return e.c.account(id).Enabled })
		e.plan()
		if err := e.save(ctx); err != nil {
			return nil, err
		}
	}
	return e.work(ctx)
}

// enabled are the ids of the accounts that are switched on.
func (c *Connection) enabled() (ids []string) {
	for _, a := range c.Accounts {
		if a.Enabled {
			ids = append(ids, a.ExternalID)
		}
	}
	return ids
}

// discover looks at the accounts, with other tokens where the platform calls
// those that are there expired.
func (e *execution) discover(ctx context.Context) error {
	err := e.s.discover(ctx, e.c, e.ring)
	if ClassOf(err) != Expired {
		return err
	}
	e.renewed = true
	if e.c, e.ring, err = e.s.freshCredentials(ctx, e.c, true); err != nil {
		return err
	}
	return e.s.discover(ctx, e.c, e.ring)
}

// work does the parts that are left.
func (e *execution) work(ctx context.Context) (*clock.Instant, error) {
	for {
		now := clock.At(e.s.now())
		i, until := e.pick(now)
		switch {
		case i < 0 && until == 0:
			return nil, e.end(ctx, e.run.outcome(), nil)
		case i < 0:
			return e.park(ctx, until.Time())
		}
		if e.run.Trigger == TriggerBackfill {
			if yields, err := e.yields(ctx); yields || err != nil {
				return nil, err
			}
		}
		// History takes as long as it takes: it goes on where it ended.
		if e.run.Trigger != TriggerBackfill && e.run.StartedAt.Add(longestRun+time.Duration(e.run.Totals.ThrottledSeconds)*time.Second) < now {
			e.giveUp()
			continue
		}
		err := e.syncPart(ctx, &e.run.Plan[i])
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, errLost) {
				return nil, fmt.Errorf("sync %s: %w", e.run.ID, errors.Join(errLost, ctx.Err()))
			}
			if again, stop, err := e.failed(ctx, i, err); stop || err != nil {
				return again, err
			}
		}
		if err := e.save(ctx); err != nil {
			return nil, err
		}
	}
}

// pick finds the next part of an account that may be asked; -1 where there is
// none, with the moment at which there will be, 0 for never.
func (e *execution) pick(now clock.Instant) (int, clock.Instant) {
	var until clock.Instant
	for i, p := range e.run.Plan {
		switch at := e.held[p.Account]; {
		case p.Status != partPending:
		case at <= now:
			return i, 0
		case until == 0 || at < until:
			until = at
		}
	}
	return -1, until
}

// giveUp fails what is left of a run that takes too long.
func (e *execution) giveUp() {
	for i := range e.run.Plan {
		if e.run.Plan[i].Status == partPending {
			e.run.Plan[i].Status = partFailed
			e.run.Plan[i].Error = &RunError{Class: string(Transient), Code: "too_long", Message: "The run took longer than two hours.", Retryable: true}
		}
	}
}

// yields puts a run for history back behind others that wait.
func (e *execution) yields(ctx context.Context) (bool, error) {
	c, err := e.s.store.Load(ctx, e.run.WorkspaceID, e.run.ConnectionID)
	if err != nil {
		return false, err
	}
	now := clock.At(e.s.now())
	due := c.Sync.NextRunAt != nil && *c.Sync.NextRunAt <= now
	if len(c.Private.Queue) == 0 && !due {
		return false, nil
	}
	if due && len(c.Private.Queue) == 0 {
		r := e.s.newRun(c, system(c), Request{Mode: ModeIncremental}, TriggerScheduled, now)
		c.Private.Queue = append(c.Private.Queue, r.ID)
		next := now.Add(c.interval())
		c.Sync.NextRunAt = &next
		return true, e.put(ctx, c, now, RunChange{Run: r})
	}
	return true, e.put(ctx, c, now)
}

// put lays the run aside and writes it and others with the connection.
func (e *execution) put(ctx context.Context, c *Connection, now clock.Instant, more ...RunChange) error {
	e.run.Status = RunQueued
	e.run.Touch(now, 1)
	c.Private.Queue = append(slices.Clip(c.Private.Queue), e.run.ID)
	c.Sync.CurrentRunID, c.Sync.State = nil, SyncQueued
	c.Touch(now, 0)
	_, err := e.s.apply(ctx, &Change{Cause: system(c), At: now, Connection: c, Runs: append(more, RunChange{Run: e.run})})
	return lost(err)
}

func lost(err error) error {
	if errors.Is(err, record.ErrRace) {
		return errLost
	}
	return err
}

// save stores how far the run has come. A run that somebody else has changed
// meanwhile is lost.
func (e *execution) save(ctx context.Context) error {
	now := clock.At(e.s.now())
	e.run.progress()
	e.run.Touch(now, 0)
	d, err := e.s.apply(ctx, &Change{Cause: system(e.c), At: now, Runs: []RunChange{{Run: e.run}}, AnswerRun: true})
	if err != nil {
		return lost(err)
	}
	e.run.SetStored(e.run.WorkspaceID, d)
	return nil
}

// plan cuts the run into parts: first what accounts have, then their figures,
// the newest days first, so that a dashboard is useful in the first minute.
func (e *execution) plan() {
	plan := []SyncPart{}
	now := clock.At(e.s.now())
	for _, a := range e.c.Accounts {
		if _, _, ok := e.client(a.ExternalID); ok && a.Enabled {
			plan = append(plan, SyncPart{Account: a.ExternalID, Entities: true, Status: partPending})
		}
	}
	if !slices.ContainsFunc(e.run.Streams, func(s *Stream) bool { return s.Name == StreamMetrics }) {
		e.run.Plan = plan
		return
	}
	var figures []SyncPart
	for _, p := range plan {
		client, _, _ := e.client(p.Account)
		first, last := e.window(client.About(), e.c.account(p.Account), now)
		for _, level := range client.About().Levels {
			family, its := Families[level]
			if !its {
				continue
			}
			from, to := e.reportWindow(p.Account, family, first, last, now)
			figures = append(figures, chunks(p.Account, family, from, to, client.About().WindowDays)...)
			figures = append(figures, e.missed(p.Account, family, first, client.About().WindowDays)...)
		}
	}
	slices.SortStableFunc(figures, func(a, b SyncPart) int { return int(b.Last - a.Last) })
	e.run.Plan = slices.Concat(plan, figures)
}

// reportWindow returns the days to read of one report. One that was never read
// gets the days of a first sync, and history goes on where it ended.
func (e *execution) reportWindow(account string, f fact.Family, first, last clock.Date, now clock.Instant) (from, to clock.Date) {
	a := e.c.account(account)
	reached, ok := a.report(f).reached()
	switch {
	case !ok && e.run.Trigger == TriggerScheduled:
		first = min(first, a.today(now)-fullDays+1)
	case ok && e.run.Trigger == TriggerBackfill && e.c.Private.Unread == nil:
		last = min(last, reached-1)
	}
	return first, last
}

// maxMissed is the largest number of parts with missed days that a scheduled run
// reads of one report.
const maxMissed = 5

// missed returns parts for days before first that earlier runs could not read,
// for a scheduled run. Where a person has to do something first, the days are
// tried once a day.
func (e *execution) missed(account string, f fact.Family, first clock.Date, window int) (list []SyncPart) {
	if e.run.Trigger != TriggerScheduled {
		return nil
	}
	daily := e.run.Window.EndDate-e.run.Window.StartDate >= clock.Date(e.c.Sync.LookbackDays)
	r := e.c.account(account).report(f)
	for i := len(r.Gaps) - 1; i >= 0 && len(list) < maxMissed; i-- {
		if g := &r.Gaps[i]; g.Missing && g.StartDate < first && (daily || g.Remediation == nil) {
			list = append(list, chunks(account, f, g.StartDate, min(g.EndDate, first-1), window)...)
		}
	}
	return list[:min(len(list), maxMissed)]
}

// chunks cuts days into parts, the newest first.
func chunks(account string, family fact.Family, first, last clock.Date, days int) (list []SyncPart) {
	if days <= 0 {
		days = fullDays
	}
	for last >= first {
		from := max(first, last-clock.Date(days)+1)
		list = append(list, SyncPart{Account: account, Family: family, First: from, Last: last, Status: partPending})
		last = from - 1
	}
	return list
}

// window are the days to read of an account: none after its own today, none
// before the platform has any, and for a platform that corrects figures for
// longer than others, as many as it may correct.
func (e *execution) window(about About, a *Account, now clock.Instant) (first, last clock.Date) {
	today := a.today(now)
	first, last = e.run.Window.StartDate, min(e.run.Window.EndDate, today)
	if e.run.Mode == ModeIncremental && e.run.Window.EndDate-first > recentDays && about.DeepDays > 0 && e.deep(now) {
		first = today - clock.Date(about.DeepDays) + 1
	}
	if about.HistoryDays > 0 {
		first = max(first, today-clock.Date(about.HistoryDays)+1)
	}
	return first, last
}

// deep reports whether days far back are due.
func (e *execution) deep(now clock.Instant) bool {
	return e.c.Private.Deep != 0 && e.c.Private.Deep.Add(7*24*time.Hour) <= now
}

// client finds who speaks to the platform of an account, and with what.
func (e *execution) client(account string) (Client, Credentials, bool) {
	a := e.c.account(account)
	if a == nil {
		return nil, Credentials{}, false
	}
	k, there := e.ring[a.Platform]
	client, known := e.s.Registry.Client(a.Platform, e.c.Platform == PlatformSandbox)
	return client, k, there && known
}

// failed decides what becomes of a part that did not work: again, smaller,
// later, or not at all; and whether the whole run has to stop.
func (e *execution) failed(ctx context.Context, i int, err error) (again *clock.Instant, stop bool, _ error) {
	p := &e.run.Plan[i]
	class := ClassOf(err)
	if class == Expired && !e.renewed {
		e.renewed = true
		if e.c, e.ring, err = e.s.freshCredentials(ctx, e.c, true); err == nil {
			return nil, false, nil
		}
		class = ClassOf(err)
	}
	switch {
	case class == Expired || class == Revoked:
		again, err := e.broken(ctx, err)
		return again, true, err
	case class == Throttled:
		at := clock.At(e.s.now()).Add(time.Minute)
		if known, ok := errors.AsType[*Error](err); ok && !known.Until.IsZero() {
			at = clock.At(known.Until)
		}
		e.held[p.Account] = at
		return nil, false, nil
	case class == TooLarge && p.First < p.Last:
		e.halve(i)
		return nil, false, nil
	}
	p.Attempts++
	p.Error = runError(err)
	if p.Attempts >= partAttempts || !p.Error.Retryable {
		p.Status = partFailed
		return nil, false, nil
	}
	// Others go first. What p points to is another part once it is deleted.
	moved := *p
	e.run.Plan = append(slices.Delete(e.run.Plan, i, i+1), moved)
	return nil, false, nil
}

// halve puts two parts in the place of one that is too large.
func (e *execution) halve(i int) {
	p := e.run.Plan[i]
	older := p
	older.Last = p.First + (p.Last-p.First)/2
	p.First = older.Last + 1
	e.run.Plan = slices.Replace(e.run.Plan, i, i+1, p, older)
}

// broken ends or parks a run that cannot go on.
func (e *execution) broken(ctx context.Context, err error) (*clock.Instant, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("sync %s: %w", e.run.ID, errors.Join(errLost, ctx.Err()))
	}
	why := runError(err)
	platform, ok := errors.AsType[*Error](err)
	if ok && platform.Class == Throttled {
		return e.park(ctx, platform.Until)
	}
	return nil, e.end(ctx, RunFailed, why)
}

// park lays a run aside until the platform is ready again.
func (e *execution) park(ctx context.Context, until time.Time) (*clock.Instant, error) {
	now := clock.At(e.s.now())
	at := clock.At(until)
	if until.IsZero() || at <= now {
		at = now.Add(time.Minute)
	}
	e.run.Status, e.run.WaitingUntil = RunWaiting, &at
	e.run.progress()
	e.run.Touch(now, 1)
	_, err := e.s.apply(ctx, &Change{Cause: system(e.c), At: now, Runs: []RunChange{{Run: e.run}}})
	return &at, lost(err)
}

// runError is what a run tells of an error.
func runError(err error) *RunError {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return &RunError{Class: "internal", Code: "internal", Message: "Something went wrong here; the log says what.", Retryable: true}
	}
	class := map[Class]string{
		Transient: "transient", Throttled: "rate", Expired: "auth", Revoked: "auth", Forbidden: "permission",
		TooLarge: "validation", Refused: "validation", Sunset: "validation", Gone: "permission", PagesDisagree: "transient",
	}[e.Class]
	retryable := e.Class == Transient || e.Class == Throttled || e.Class == PagesDisagree
	return &RunError{Class: class, Code: e.Code, Message: e.Message, Retryable: retryable, Remediation: Remediation(e)}
}

// Longest is how long work for a connection may take at once; what is left goes
// on afterwards.
const Longest = time.Hour

// StaleAfter is how long a connection may be without news, 0 for those that
// wait for theirs: three times its interval, and no less than six hours, in
// which a platform may have asked for time.
func (c *Connection) StaleAfter() time.Duration {
	if c.Sync.IntervalMinutes == nil {
		return 0
	}
	if c.Status == StatusReauthRequired {
		// Nothing more comes, so whatever is there is old.
		return 1
	}
	return max(3*c.interval(), 6*time.Hour)
}

// interval is how often a connection is synced.
func (c *Connection) interval() time.Duration {
	if c.Sync.IntervalMinutes == nil {
		return defaultInterval
	}
	return time.Duration(*c.Sync.IntervalMinutes) * time.Minute
}
