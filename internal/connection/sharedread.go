package connection

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// answerLife is how old an answer may be that another connection gets.
//
// Choice: connections of a grant are synced at the same times, see Phase, so that
// minutes are enough for all of them. Numbers and states are that much older at
// most than those of a call.
const answerLife = 10 * time.Minute

// maxAnswerRows is the number of rows that are kept for other connections, about
// 45 MB. Then the oldest answers are dropped, and the platform is called again.
const maxAnswerRows = 100_000

// answers has what was read with grants that several connections have, often of
// several workspaces, so that each account is read once and not once per
// connection. Whoever asks has opened the grant from its own credentials and has
// chosen the account itself.
//
// What a person waits for is never answered from before the request: see since.
// States that are read back after a change, changes and checks do not come here.
//
// Choice: each process has its own. Connections that are synced on different
// nodes read on their own.
type answers struct {
	mu   sync.Mutex
	held map[answerKey]*answer
	// order has the keys, the oldest first.
	order []answerKey
	rows  int
}

// answerKey is everything that makes an answer another one.
type answerKey struct {
	grant, platform, account string
	// entities is for what the account has, otherwise it is a part of a report.
	entities    bool
	family      fact.Family
	first, last clock.Date
	conversions string
	// currency and zone are those that the reader expects.
	currency money.Currency
	zone     string
}

// answer is what a platform has answered, or will have when done is closed. It is
// not changed afterwards.
type answer struct {
	done chan struct{}
	// at is before the first call.
	at       clock.Instant
	entities *Entities
	report   *bag
	err      error
	// size is the number of rows, 0 before the answer is there.
	size int
}

// get returns an answer that began at since or later. If there is none, it calls
// read, while others who need the same wait. One that failed is for nobody else:
// the next one in line reads.
func (s *answers) get(ctx context.Context, key answerKey, since clock.Instant, now func() time.Time, read func(*answer)) *answer {
	for {
		a, mine := s.claim(key, since, clock.At(now()))
		if mine {
			read(a)
			s.finish(key, a)
			return a
		}
		select {
		case <-a.done:
			if a.err == nil {
				return a
			}
		case <-ctx.Done():
			return &answer{err: ctx.Err()}
		}
	}
}

// claim returns the answer for a key. mine is true if the caller has to read it.
func (s *answers) claim(key answerKey, since, now clock.Instant) (a *answer, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(func(old *answer) bool { return old.at.Add(answerLife) <= now })
	if a := s.held[key]; a != nil {
		if a.at >= since {
			return a, false
		}
		s.forget(key)
	}
	if s.held == nil {
		s.held = map[answerKey]*answer{}
	}
	a = &answer{done: make(chan struct{}), at: now}
	s.held[key], s.order = a, append(s.order, key)
	return a, true
}

// finish gives an answer to those who wait for it, and keeps it for others.
func (s *answers) finish(key answerKey, a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.held[key] != a:
	case a.err != nil:
		s.forget(key)
	default:
		if a.report != nil {
			a.size = len(a.report.rows)
		}
		if e := a.entities; e != nil {
			a.size += len(e.Campaigns) + len(e.Ads) + len(e.Audiences) + len(e.Groups)
		}
		s.rows += a.size
		s.drop(func(*answer) bool { return s.rows > maxAnswerRows })
	}
	close(a.done)
}

// drop forgets the oldest answers as long as a condition is true.
func (s *answers) drop(tooMuch func(*answer) bool) {
	for len(s.order) > 0 && tooMuch(s.held[s.order[0]]) {
		s.forget(s.order[0])
	}
}

func (s *answers) forget(key answerKey) {
	s.rows -= s.held[key].size
	delete(s.held, key)
	s.order = slices.DeleteFunc(s.order, func(k answerKey) bool { return k == key })
}

// ask returns the answer for a key, which has no account. It calls read, unless
// the answer is there.
type ask func(ctx context.Context, key answerKey, read func(*answer)) *answer

// asker returns how the run gets answers about an account. With a grant that
// other connections have too, they share answers.
//
// Choice: a run that a person has requested takes no answer from before the
// request, because the person may have changed something on the platform.
func (e *execution) asker(k *Credentials, a *Account) ask {
	now := e.s.now
	if !e.shared[k.Grant] {
		return func(_ context.Context, _ answerKey, read func(*answer)) *answer {
			got := &answer{at: clock.At(now())}
			read(got)
			return got
		}
	}
	var since clock.Instant
	if e.run.Trigger == TriggerManual {
		since = e.run.CreatedAt
	}
	grant, platform, account := k.Grant, a.Platform, a.ExternalID
	return func(ctx context.Context, key answerKey, read func(*answer)) *answer {
		key.grant, key.platform, key.account = grant, platform, account
		return e.s.answers.get(ctx, key, since, now, read)
	}
}

// findShared finds the grants that other connections have too.
func (e *execution) findShared(ctx context.Context) error {
	e.shared = map[string]bool{}
	for _, k := range e.ring {
		if k.Grant == "" {
			continue
		}
		used, err := e.s.inUse(ctx, e.c, k.Grant)
		if err != nil {
			return err
		}
		e.shared[k.Grant] = used
	}
	return nil
}

// read asks the platform for a part, and for what the account has if that is
// not known.
func (d *readPart) read(ctx context.Context, ask ask, client Client, k Credentials, a *Account, connection ident.ID) {
	if d.entities == nil {
		got := ask(ctx, answerKey{entities: true}, func(got *answer) { got.entities, got.err = client.Entities(ctx, k, a.ExternalID) })
		if d.entities, d.seen, d.err = got.entities, got.at, got.err; d.err != nil {
			return
		}
	}
	if d.part.Entities {
		return
	}
	key := answerKey{
		family: d.part.Family, first: d.part.First, last: d.part.Last, conversions: strings.Join(d.conversions, "\x00"), currency: a.Currency, zone: a.Timezone,
	}
	got := ask(ctx, key, func(got *answer) { got.report, got.err = d.fetch(ctx, client, k, a) })
	if d.err = got.err; d.err == nil {
		d.bag = got.report.of(fact.Source{Connection: connection, Platform: a.Platform, Account: a.ExternalID, Currency: a.Currency, Zone: a.Timezone})
	}
}
