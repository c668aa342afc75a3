package connection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"fanfare/internal/clock"
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
	s    *Syncer
	c    *Connection
	run  *Run
	ring PlatformCredentials
	// shared are the grants that other connections have too.
	shared map[string]bool
	// entities are what accounts have, by their ids; they are read anew in
	// every attempt.
	entities map[string]*Entities
	links    linkage
	// tokens counts how often the tokens were renewed, last at renewedAt.
	tokens    int
	renewedAt clock.Instant
	// busy are the accounts that are being read. held are those whose platform
	// asked for time, until when.
	busy map[string]bool
	held map[string]clock.Instant
}

// run goes on with a run until it is over, has to wait, or is taken away.
// Everything that it has to remember is stored with every part, so it can end
// anywhere.
func (s *Syncer) run(ctx context.Context, run *Run) (*clock.Instant, error) {
	ctx, done, ok := s.hands.take(ctx, run.ID)
	if !ok {
		return nil, errLost
	}
	defer done()
	c, err := s.store.Load(ctx, run.WorkspaceID, run.ConnectionID)
	if err != nil {
		return nil, err
	}
	e := &execution{s: s, c: c, run: run, entities: map[string]*Entities{}, links: linkage{}, busy: map[string]bool{}, held: map[string]clock.Instant{}}
	if e.c, e.ring, err = s.freshCredentials(ctx, c, false); err != nil {
		return e.broken(ctx, err)
	}
	if err := e.findShared(ctx); err != nil {
		return nil, err
	}
	if run.Plan == nil {
		if err := e.discover(ctx); err != nil {
			return e.broken(ctx, err)
		}
		if err := e.saveAccounts(ctx); err != nil {
			return nil, err
		}
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
	if e.brief() {
		return nil
	}
	var calls atomic.Int64
	defer func() { e.run.Totals.APICalls += calls.Load() }()
	ctx = WithCalls(ctx, &calls)
	err := e.s.discover(ctx, e.c, e.ring)
	if ClassOf(err) == Expired {
		if err = e.renew(ctx); err == nil {
			err = e.s.discover(ctx, e.c, e.ring)
		}
	}
	return err
}

// saveAccounts stores the accounts that were found. The run can go on elsewhere,
// which does not look at them again.
func (e *execution) saveAccounts(ctx context.Context) error {
	if e.brief() {
		return nil
	}
	_, err := record.Retry(ctx, func() (record.Doc, error) {
		c, err := e.s.store.Load(ctx, e.run.WorkspaceID, e.run.ConnectionID)
		if err != nil {
			return record.Doc{}, err
		}
		if c.Sync.CurrentRunID == nil || *c.Sync.CurrentRunID != e.run.ID {
			return record.Doc{}, errLost
		}
		now := clock.At(e.s.now())
		c.relist(e.c)
		c.coverSwitchedOff(now)
		c.Touch(now, 0)
		return e.s.apply(ctx, &Change{Cause: system(c), At: now, Connection: c})
	})
	return err
}

// renewAgain is the time after which tokens that the platform calls expired are
// renewed once more. Tokens that are younger are not good for anything.
const renewAgain = time.Minute

// renew gets other tokens.
func (e *execution) renew(ctx context.Context) (err error) {
	e.tokens, e.renewedAt = e.tokens+1, clock.At(e.s.now())
	e.c, e.ring, err = e.s.freshCredentials(ctx, e.c, true)
	return err
}

// accountsAtOnce is the number of accounts that a run reads at the same time.
//
// Choice: platforms answer within seconds, so four accounts keep a run busy and
// stay far below the limits that platforms have for one app.
const accountsAtOnce = 4

// work does the parts that are left: it reads several accounts at once, one part
// of each, and writes what was read one after the other.
func (e *execution) work(ctx context.Context) (*clock.Instant, error) {
	reading, cancel := context.WithCancel(ctx)
	r := &reader{e: e, cancel: cancel, results: make(chan *readPart)}
	defer r.stop()
	for {
		waits, err := e.startReads(reading, r)
		switch {
		case err != nil:
			return nil, err
		case r.running == 0 && waits:
			return nil, e.yield(ctx)
		case r.running == 0:
			i, until := e.pick(clock.At(e.s.now()))
			switch {
			case i >= 0: // its account was held until now
				continue
			case until == 0:
				return nil, e.end(ctx, e.run.outcome(), nil)
			}
			return e.park(ctx, until.Time())
		}
		done := r.next()
		if err := e.settle(ctx, done); err != nil {
			if ctx.Err() != nil || errors.Is(err, errLost) {
				return nil, fmt.Errorf("sync %s: %w", e.run.ID, errors.Join(errLost, ctx.Err(), e.orphaned(ctx, &done.part)))
			}
			if again, stop, err := e.failed(ctx, done, err); stop || err != nil {
				return again, err
			}
		}
		if err := e.save(ctx); err != nil {
			return nil, errors.Join(err, e.orphaned(ctx, &done.part))
		}
	}
}

// startReads starts reading parts of accounts that may be asked. waits is true if
// the run reads history and another run waits for its turn.
func (e *execution) startReads(ctx context.Context, r *reader) (waits bool, err error) {
	for r.running < accountsAtOnce {
		now := clock.At(e.s.now())
		// History takes as long as it takes: it goes on where it ended.
		if e.run.Trigger != TriggerBackfill && e.run.StartedAt.Add(longestRun+time.Duration(e.run.Totals.ThrottledSeconds)*time.Second) < now {
			e.giveUp()
		}
		i, _ := e.pick(now)
		if i < 0 {
			return false, nil
		}
		if e.run.Trigger == TriggerBackfill {
			if waits, err := e.othersWait(ctx); waits || err != nil {
				return waits, err
			}
		}
		e.busy[e.run.Plan[i].Account] = true
		r.start(ctx, &e.run.Plan[i])
	}
	return false, nil
}

// pick finds the next part of an account that may be asked; -1 where there is
// none, with the moment at which there will be, 0 for never.
func (e *execution) pick(now clock.Instant) (int, clock.Instant) {
	var until clock.Instant
	for i, p := range e.run.Plan {
		switch at := e.held[p.Account]; {
		case p.Status != partPending || e.busy[p.Account]:
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

// othersWait reports whether other runs of the connection wait, or one is due.
func (e *execution) othersWait(ctx context.Context) (bool, error) {
	c, err := e.s.store.Load(ctx, e.run.WorkspaceID, e.run.ConnectionID)
	if err != nil {
		return false, err
	}
	return len(c.Private.Queue) > 0 || c.isDue(clock.At(e.s.now())), nil
}

// isDue reports whether the time of the next scheduled run has come.
func (c *Connection) isDue(now clock.Instant) bool {
	return c.Sync.NextRunAt != nil && *c.Sync.NextRunAt <= now
}

// yield puts a run for history back behind others that wait.
func (e *execution) yield(ctx context.Context) error {
	c, err := e.s.store.Load(ctx, e.run.WorkspaceID, e.run.ConnectionID)
	if err != nil {
		return err
	}
	now := clock.At(e.s.now())
	if !c.isDue(now) || len(c.Private.Queue) > 0 {
		return e.put(ctx, c, now)
	}
	r := e.s.newRun(c, system(c), Request{Mode: ModeIncremental}, TriggerScheduled, now)
	c.Private.Queue = append(c.Private.Queue, r.ID)
	next := now.Add(c.interval())
	c.Sync.NextRunAt = &next
	return e.put(ctx, c, now, RunChange{Run: r})
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

// client finds who speaks to the platform of an account, and with what.
func (e *execution) client(account string) (Client, Credentials, bool) {
	return e.s.clientFor(e.c, e.ring, account)
}

// failed decides what becomes of a part that did not work: again, smaller,
// later, or not at all; and whether the whole run has to stop.
func (e *execution) failed(ctx context.Context, done *readPart, err error) (again *clock.Instant, stop bool, _ error) {
	i := e.find(&done.part)
	p := &e.run.Plan[i]
	class := ClassOf(err)
	if class == Expired && done.tokens < e.tokens {
		// Another part has found the same and got other tokens.
		return nil, false, nil
	}
	if class == Expired && (e.renewedAt == 0 || e.renewedAt.Add(renewAgain) < clock.At(e.s.now())) {
		if err = e.renew(ctx); err == nil {
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

// find returns the index of a part in the plan.
func (e *execution) find(part *SyncPart) int {
	return slices.IndexFunc(e.run.Plan, func(p SyncPart) bool {
		return p.Account == part.Account && p.Entities == part.Entities && p.Family == part.Family && p.First == part.First && p.Last == part.Last
	})
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
