package connection

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"slices"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Parts are what the service works with. Own data needs only Store, Now and
// Random.
type Parts struct {
	Store Store
	// Lock waits until no other worker, on any node, has the lock of this name.
	// The context that it returns ends when the lock is lost.
	Lock      func(ctx context.Context, name string) (held context.Context, unlock func(), err error)
	Runs      Runs
	Links     Links
	Facts     Facts
	Campaigns Campaigns
	Audiences Linkable
	// Find looks up records of a kind, including archived ones, and returns the
	// record that facts link to.
	Find     func(ctx context.Context, workspace ident.ID, kind string, ids []ident.ID) (map[ident.ID]ident.ID, error)
	Registry PlatformRegistry
	Sandbox  Sandbox
	Vault    Vault
	// SealState and OpenState make and read what a person carries to a
	// platform and back; nobody else can make one.
	SealState func(plain []byte) string
	OpenState func(text string) ([]byte, bool)
	// PublicURL is where browsers find the server.
	PublicURL string
	// HistoryDays is how far back the past is read after the first sync.
	HistoryDays int
	// StateTime bounds a call that writes or reads the state of a campaign, 15
	// seconds if it is 0.
	StateTime time.Duration
	Now       func() time.Time
	Random    io.Reader
	Log       *slog.Logger
}

// Service is what can be done with connections. Each part owns one thing and
// names the parts that it uses.
type Service struct {
	*shared
	*Feeds
	*Queue
	*Access
	*Linker
	*Pusher
	*Recovery
	*Syncer
	*Connector
	*Checker
}

// shared is what all parts work with: the stores, the clock, and the records of
// connections.
type shared struct {
	Parts
	store   Store
	now     func() time.Time
	random  io.Reader
	hands   hands
	readers readers
	answers answers
}

// Feeds owns the data that callers bring themselves.
type Feeds struct{ *shared }

// Queue owns the sync runs that wait.
type Queue struct{ *shared }

// Access owns what opens a platform: granting, tokens, and giving access back.
type Access struct {
	*shared
	*Queue
}

// Linker owns which records of ours the things on platforms are.
type Linker struct{ *shared }

// Pusher owns the states of campaigns that are written to platforms.
type Pusher struct {
	*shared
	*Access
	*Linker
}

// Recovery owns what follows when stored facts are lost, or come from a backup.
type Recovery struct {
	*shared
	*Queue
	*Linker
}

// Syncer owns sync runs: when they are due, what they read, and how they end.
type Syncer struct {
	*shared
	*Queue
	*Access
	*Linker
	*Recovery
}

// Connector owns the life of a connection: it is made, changed, granted again and
// ended.
type Connector struct {
	*shared
	*Queue
	*Access
	*Recovery
}

// Checker owns checks of connections, and the plan of their calls.
type Checker struct {
	*shared
	*Access
}

// New makes the service.
func New(p Parts) *Service {
	p.StateTime = cmp.Or(p.StateTime, stateTime)
	all := &shared{Parts: p, store: p.Store, now: p.Now, random: p.Random, hands: hands{held: map[ident.ID]*grip{}}}
	queue, linker := &Queue{all}, &Linker{all}
	access, recovery := &Access{all, queue}, &Recovery{all, queue, linker}
	return &Service{
		shared: all, Feeds: &Feeds{all}, Queue: queue, Access: access, Linker: linker, Pusher: &Pusher{all, access, linker}, Recovery: recovery,
		Syncer: &Syncer{all, queue, access, linker, recovery}, Connector: &Connector{all, queue, access, recovery}, Checker: &Checker{all, access},
	}
}

// Get returns the record as it is stored.
func (s *shared) Get(ctx context.Context, workspace, id ident.ID) (record.Doc, error) {
	return s.store.Doc(ctx, workspace, id)
}

// List returns one page. Where no status is asked for, disconnected ones are
// left out.
func (s *shared) List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
	return s.store.List(ctx, workspace, q)
}

// Begin promises that campaigns will be brought up to date although the caller
// may end between its write of facts and RecordFeed.
//
// Choice: the promise is a job of the connection's own, which RecordFeed leaves alone:
// the workspace's job might run before the facts are written, and one that RecordFeed
// took back might be that of another caller on the same connection. It costs
// one look in vain after the last facts.
func (s *shared) Begin(ctx context.Context, workspace, id ident.ID) error {
	return s.store.Enqueue(ctx, spendJob(workspace, id, clock.At(s.now()).Add(longestWrite)))
}

// longestWrite is how long nobody needs between Begin and RecordFeed.
const longestWrite = 10 * time.Minute

// FeedResult describes facts that were written.
type FeedResult struct {
	// First and Last are the first and the last day of the rows.
	First, Last clock.Date
	Rows        int64
	// Answer is the response of the call. It is stored under the idempotency
	// key, and required if the cause has one.
	Answer []byte
}

// RecordFeed records that facts were written, stores the answer under the
// caller's idempotency key and schedules the update of campaigns, in one
// transaction. It changes neither the version nor updated_at, and emits no
// event. Lost data stays marked as lost: only the sender knows whether this was
// all of it.
func (s *Feeds) RecordFeed(ctx context.Context, cause record.Cause, id ident.ID, f FeedResult) error {
	_, err := record.Retry(ctx, func() (record.Doc, error) {
		c, err := s.store.Load(ctx, cause.Workspace, id)
		if err != nil {
			return record.Doc{}, err
		}
		now := clock.At(s.now())
		c.applyFeed(&f, now)
		c.Touch(now, 0)
		save := record.Save{Cause: cause, At: now, Jobs: []record.Job{spendJob(c.WorkspaceID, c.WorkspaceID, now)}}
		return record.Doc{}, s.store.SaveAfterFacts(ctx, c, f.Answer, save)
	})
	return err
}

// applyFeed records the times and days of facts. They only rise: late facts
// about early days do not set them back.
func (c *Connection) applyFeed(f *FeedResult, now clock.Instant) {
	if last := c.Sync.LastSuccessAt; last == nil || *last < now {
		c.Sync.LastSuccessAt = &now
	}
	if f.Rows == 0 {
		return
	}
	if d := c.Sync.DataThrough; d == nil || *d < f.Last {
		c.Sync.DataThrough = &f.Last
	}
	if d := c.Sync.BackfilledSince; d == nil || *d > f.First {
		c.Sync.BackfilledSince = &f.First
	}
	lag := c.lag(*c.Sync.LastSuccessAt)
	c.Health.LagSeconds = &lag
}

// lag is how long the last day with numbers had been over at a moment.
// Choice: a day ends in the zone of the first account; most connections that
// callers feed have one.
func (c *Connection) lag(at clock.Instant) int64 {
	zone := time.UTC
	if len(c.Accounts) > 0 {
		if z, err := clock.Zone(c.Accounts[0].Timezone); err == nil {
			zone = z
		}
	}
	year, month, day := c.Sync.DataThrough.Calendar()
	over := at.Time().Sub(time.Date(year, month, day+1, 0, 0, 0, 0, zone))
	return max(0, int64(over/time.Second))
}

// account finds an account by the platform's id.
func (c *Connection) account(id string) *Account {
	i := slices.IndexFunc(c.Accounts, func(a Account) bool { return a.ExternalID == id })
	if i < 0 {
		return nil
	}
	return &c.Accounts[i]
}
