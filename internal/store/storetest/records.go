package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/asset"
	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

// Records checks the promises of the record store on an engine. open returns a
// new engine on an empty database and closes it when the test ends.
func Records(t *testing.T, open func(t *testing.T) store.Engine) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, w *Fixture)
	}{
		{"insert and read", recordsInsert},
		{"update if unchanged", recordsUpdate},
		{"refs follow", recordsRefs},
		{"lists of every kind", recordsListAll},
		{"lists of large records", recordsListLarge},
		{"lists by chance", recordsListRandom},
		{"lists by a ranking", recordsListRanked},
		{"lists of events", recordsListEvents},
		{"lists of audiences", recordsAudienceLists},
		{"members", recordsMembers},
		{"members by many", recordsMembersRace},
		{"overlaps", recordsOverlaps},
		{"campaigns follow audiences", recordsFollow},
		{"campaigns that spend", recordsSpend},
		{"assets", recordsAssets},
		{"assets are swept", recordsAssetSweep},
		{"assets are swept or referred to", recordsAssetSweepRace},
		{"lists of creatives", recordsCreativeLists},
		{"lists of variants", recordsVariants},
		{"creatives with all that goes with them", recordsCreativeSaves},
		{"usability of creatives", recordsUsability},
		{"providers", recordsProviders},
		{"lists of connections", recordsConnectionLists},
		{"one connection of many callers", recordsSourceRace},
		{"names of connections", recordsNames},
		{"lists of runs", recordsRunLists},
		{"runs with their connections", recordsRuns},
		{"runs go after their life", recordsRunsGo},
		{"links", recordsLinks},
		{"names of what is linked", recordsLinkNames},
		{"imports", recordsImports},
		{"results", recordsResults},
		{"workspaces of analytics", recordsAnalyticsWorkspace},
		{"rates", recordsRates},
		{"rates by many", recordsRatesRace},
		{"lists of rates", recordsRateLists},
		{"brand kits", recordsBrandKits},
		{"every failure leaves nothing", recordsNothingLeft},
		{"a run in vain leaves nothing", recordsTwice},
		{"one launch of 64", recordsLaunch},
		{"no update is lost", recordsNoLostUpdate},
		{"one answer per key", recordsOnce},
		{"a key after its life", recordsOnceExpires},
		{"plan and drop", recordsJobs},
		{"prune", recordsPrune},
		{"jobs of saves", recordsSavedJobs},
		{"private and shared records", recordsReports},
		{"notes and moments", recordsAnnotations},
		{"words follow", recordsSearch},
		{"a word of many", recordsSearchMany},
		{"words are added", recordsIndexWords},
		{"reshape", recordsReshape},
		{"reshape columns", recordsReshapeColumns},
		{"damaged documents", recordsDamaged},
		{"mark of facts", recordsFactsMark},
		{"changes are counted", recordsWitness},
		{"checksums are added", recordsChecksums},
		{"links change together", recordsLinkRaces},
		{"ready while writes work", recordsReady},
		{"cursor keys", recordsCursorKeys},
		{"once a day", recordsDaily},
		{"quotas", recordsQuotas},
		{"call budgets", recordsCallBudgets},
		{"platform grants", recordsGrants},
		{"skew", recordsSkew},
		{"accounts", recordsAccounts},
		{"limits of accounts", recordsAccountLimits},
		{"accounts by many", recordsAccountsTogether},
		{"sign-ins", recordsSignIn},
		{"joining", recordsJoin},
		{"tokens by many", recordsTokens},
		{"sign-ins end", recordsEnd},
		{"database errors", recordsErrors},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, NewFixture(t, open(t)))
		})
	}
}

// Start is when every test begins.
var Start = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// Clock is a clock that the test sets.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock with a fixed time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the time.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Fixture is a store with its services, and a workspace in it.
type Fixture struct {
	T      *testing.T
	Clock  *Clock
	Engine *Wrapped
	// Raw is the engine without wrappers, for the test's own statements.
	Raw       store.Engine
	DB        *store.DB
	Accounts  *account.Service
	Campaigns *campaign.Service
	Audiences *audience.Service
	Assets    *asset.Service
	Files     *asset.Folder
	Workspace ident.ID
	Owner     ident.ID
	// Secret is the first key of the workspace.
	Secret string
}

// NewFixture migrates an empty engine and creates a workspace.
func NewFixture(t *testing.T, e store.Engine) *Fixture {
	t.Helper()
	w := &Fixture{T: t, Clock: NewClock(Start), Engine: &Wrapped{Engine: e}, Raw: e}
	for outer, ok := e.(*Wrapped); ok; outer, ok = w.Raw.(*Wrapped) {
		w.Raw = outer.Engine
	}
	w.DB = store.New(w.Engine, 256, w.Clock.Now, rand.Reader)
	if _, err := store.Migrate(t.Context(), w.Engine, w.Clock.Now); err != nil {
		t.Fatal(err)
	}
	w.Accounts = account.New(w.DB.Accounts(), w.Clock.Now, rand.Reader)
	w.Audiences = audience.New(w.DB.Audiences(), nil, w.Clock.Now, rand.Reader)
	w.Campaigns = campaign.New(w.DB.Campaigns(), map[string]campaign.References{"audience_ids": w.DB.Audiences()}, nil, w.Clock.Now, rand.Reader)
	w.openAssets()
	w.Workspace, w.Owner, w.Secret = w.AddWorkspace("owner@example.com")
	return w
}

// AddWorkspace creates a workspace.
func (w *Fixture) AddWorkspace(owner string) (id, user ident.ID, secret string) {
	w.T.Helper()
	made, err := w.Accounts.CreateWorkspace(w.T.Context(), Operator, account.NewWorkspace{
		Name: "Workspace of " + owner, Plan: "growth", Owner: owner, Currency: "EUR", Timezone: "Europe/Berlin",
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return made.WorkspaceID, made.UserID, made.APIKey
}

// Operator is the actor of set-up.
var Operator = record.Cause{Actor: record.Actor{Type: record.ActorSystem, Name: "operator"}}

// Cause is a request of the workspace's key.
func (w *Fixture) Cause() record.Cause {
	return record.Cause{
		Workspace: w.Workspace, Actor: record.Actor{Type: record.ActorKey, ID: "key_1", Name: "Key"},
		RequestID: ident.New(ident.Request, w.Clock.Now(), rand.Reader), Address: "203.0.113.7",
	}
}

// Now is the time as records have it.
func (w *Fixture) Now() clock.Instant { return clock.At(w.Clock.Now()) }

// Int returns the one number that a query gives.
func (w *Fixture) Int(query string, args ...any) int64 {
	w.T.Helper()
	return engineInt(w.T, w.Raw, query, args...)
}

// Count fails the test unless the query gives this number.
func (w *Fixture) Count(want int64, query string, args ...any) {
	w.T.Helper()
	if got := w.Int(query, args...); got != want {
		w.T.Fatalf("got %d want %d from %s %v", got, want, query, args)
	}
}

// Draft returns a record that is not stored yet.
func (w *Fixture) Draft(name string) *campaign.Campaign {
	now := w.Now()
	return &campaign.Campaign{
		ID: ident.New(ident.Campaign, w.Clock.Now(), rand.Reader), Status: campaign.StatusDraft,
		Spec: campaign.Spec{
			Name: name, Channels: []string{}, AudienceIDs: []ident.ID{}, CreativeIDs: []ident.ID{}, ConnectionIDs: []ident.ID{},
			ExcludedAudienceIDs: []ident.ID{}, Schedule: campaign.Schedule{Timezone: "UTC"}, Attribution: campaign.DefaultAttribution,
			Tags: []string{}, Metadata: map[string]string{},
		},
		Delivery:       campaign.Delivery{Status: campaign.NotLaunched, Issues: []campaign.Issue{}},
		AllowedActions: []campaign.Action{campaign.Launch}, ExternalRefs: []record.ExternalRef{},
		Common: record.Common{WorkspaceID: w.Workspace, Version: 1, CreatedBy: record.System, CreatedAt: now, UpdatedAt: now},
	}
}

// Save returns the effects of a change with these events.
func (w *Fixture) Save(events ...string) record.Save {
	s := record.Save{Cause: w.Cause(), At: w.Now()}
	for _, kind := range events {
		s.Events = append(s.Events, record.Event{Type: kind})
	}
	return s
}

// Insert stores a record.
func (w *Fixture) Insert(c *campaign.Campaign) record.Doc {
	w.T.Helper()
	d, err := w.DB.Campaigns().Save(w.T.Context(), c, w.Save("campaign.created"))
	if err != nil {
		w.T.Fatalf("insert: %v", err)
	}
	return d
}

// Load reads a record to change it.
func (w *Fixture) Load(id ident.ID) *campaign.Campaign {
	w.T.Helper()
	c, err := w.DB.Campaigns().Load(w.T.Context(), w.Workspace, id)
	if err != nil {
		w.T.Fatalf("load: %v", err)
	}
	return c
}

// job returns a job about a record that is due now.
func (w *Fixture) job(kind string, id ident.ID) record.Job {
	return record.Job{Kind: kind, Workspace: w.Workspace, ID: id, At: w.Now()}
}

// must fails the test on an error.
func (w *Fixture) must(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

func recordsInsert(t *testing.T, w *Fixture) {
	other, _, _ := w.AddWorkspace("other@example.com")
	c := w.Draft("Spring sale")
	c.Tags, c.Channels = []string{"eu", "q1"}, []string{"search"}
	next := w.Now().Add(time.Hour)
	save := w.Save("campaign.created")
	save.Jobs = []record.Job{{Kind: campaign.JobSettle, Workspace: w.Workspace, ID: c.ID, At: next}}
	save.Cause.Idempotency = &record.Idempotency{Key: "k", Fingerprint: "f", Status: 201}
	d, err := w.DB.Campaigns().Save(t.Context(), c, save)
	w.must(err)
	for range 2 { // from the store, and from memory where that is used
		got, err := w.DB.Campaigns().Doc(t.Context(), w.Workspace, c.ID)
		w.must(err)
		if string(got.JSON) != string(d.JSON) || got.Stamp != (record.Stamp{Version: 1}) {
			t.Errorf("got %v %s want %s", got.Stamp, got.JSON, d.JSON)
		}
	}
	if again := w.Load(c.ID); again.Name != c.Name || again.WorkspaceID != w.Workspace || again.Stamp() != d.Stamp {
		t.Errorf("loaded %+v", again)
	}
	w.Count(1, `SELECT count(*) FROM event WHERE workspace_id = $1 AND resource_id = $2`, string(w.Workspace), string(c.ID))
	w.Count(3, `SELECT count(*) FROM ref WHERE workspace_id = $1 AND record_id = $2`, string(w.Workspace), string(c.ID))
	w.Count(2, `SELECT count(*) FROM audit WHERE workspace_id = $1`, string(w.Workspace)) // the workspace itself, and this
	w.Count(int64(next), `SELECT run_at FROM job WHERE workspace_id = $1 AND args = $2`, string(w.Workspace), string(c.ID))
	answer, err := w.DB.StoredResponse(t.Context(), w.Workspace, "k")
	if err != nil || answer == nil || answer.Status != 201 || answer.Resource != c.ID || string(answer.Doc.JSON) != string(d.JSON) {
		t.Errorf("got answer %+v, %v", answer, err)
	}
	for _, foreign := range []struct{ workspace, id ident.ID }{{other, c.ID}, {w.Workspace, "cmp_none"}, {"", c.ID}} {
		if _, err := w.DB.Campaigns().Doc(t.Context(), foreign.workspace, foreign.id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%v: got %v want not_found", foreign, err)
		}
	}
	if answer, err := w.DB.StoredResponse(t.Context(), other, "k"); answer != nil || err != nil {
		t.Errorf("the key of another workspace gave %+v, %v", answer, err)
	}
	if _, err := w.DB.Campaigns().Save(t.Context(), c, w.Save("campaign.created")); !errors.As(err, new(*store.UniqueError)) {
		t.Errorf("the same id again: got %v", err)
	}
	w.Count(1, `SELECT count(*) FROM event WHERE workspace_id = $1 AND resource_id = $2`, string(w.Workspace), string(c.ID))
}

func recordsUpdate(t *testing.T, w *Fixture) {
	c := w.Draft("First")
	w.Insert(c)
	change := func(name string, was record.Stamp) error {
		c := w.Load(c.ID)
		c.SetStored(w.Workspace, record.Doc{Stamp: was, JSON: c.Stored().JSON})
		c.Name, c.Version, c.UpdatedAt = name, was.Version+1, w.Now()
		_, err := w.DB.Campaigns().Save(t.Context(), c, w.Save("campaign.updated"))
		return err
	}
	w.must(change("Second", record.Stamp{Version: 1}))
	before := State(t, w.Raw)
	for _, was := range []record.Stamp{{Version: 1}, {Version: 3}, {Version: 2, Rev: 1}} {
		if err := change("Third", was); !errors.Is(err, record.ErrRace) {
			t.Errorf("%v: got %v want %v", was, err, record.ErrRace)
		}
	}
	foreign := w.Load(c.ID)
	foreign.WorkspaceID, _, _ = w.AddWorkspace("other@example.com")
	save := w.Save("campaign.updated")
	save.Cause.Workspace = foreign.WorkspaceID
	if _, err := w.DB.Campaigns().Save(t.Context(), foreign, save); !errors.Is(err, record.ErrRace) {
		t.Errorf("from another workspace: got %v want %v", err, record.ErrRace)
	}
	after := State(t, w.Raw)
	for _, table := range []string{"campaign", "ref", "once", "job"} {
		if before[table] != after[table] {
			t.Errorf("a lost race has written to %s", table)
		}
	}
	w.Count(2, `SELECT count(*) FROM event WHERE workspace_id = $1 AND resource_id = $2`, string(w.Workspace), string(c.ID))
	if got := w.Load(c.ID); got.Name != "Second" || got.Version != 2 {
		t.Errorf("got %s version %d want Second version 2", got.Name, got.Version)
	}
}

func recordsRefs(t *testing.T, w *Fixture) {
	c := w.Draft("Refs")
	c.Tags, c.Channels = []string{"a", "b"}, []string{"search"}
	c.AudienceIDs, c.CreativeIDs = []ident.ID{"aud_1"}, []ident.ID{"crv_1"}
	w.Insert(c)
	other := w.Draft("Other")
	other.Tags = []string{"b"}
	w.Insert(other)
	found := func(filter, value string) string {
		t.Helper()
		p, err := w.DB.Campaigns().List(t.Context(), w.Workspace, page.Query{
			Limit: 10, Sort: "name", Filters: []page.Filter{{Name: filter, Values: []string{value}}},
		})
		w.must(err)
		var names []string
		for _, d := range p.Docs {
			names = append(names, docName(t, d))
		}
		return strings.Join(names, " ")
	}
	check := func(want map[[2]string]string) {
		t.Helper()
		for key, names := range want {
			if got := found(key[0], key[1]); got != names {
				t.Errorf("%s=%s: got %q want %q", key[0], key[1], got, names)
			}
		}
	}
	check(map[[2]string]string{
		{"tag", "a"}: "Refs", {"tag", "b"}: "Other Refs", {"channel", "search"}: "Refs",
		{"audience_id", "aud_1"}: "Refs", {"creative_id", "crv_1"}: "Refs", {"tag", "search"}: "",
	})
	next := w.Load(c.ID)
	next.Tags, next.Channels, next.AudienceIDs, next.CreativeIDs = []string{"b", "c"}, nil, nil, []ident.ID{"crv_2"}
	next.Version++
	_, err := w.DB.Campaigns().Save(t.Context(), next, w.Save("campaign.updated"))
	w.must(err)
	after := map[[2]string]string{
		{"tag", "a"}: "", {"tag", "b"}: "Other Refs", {"tag", "c"}: "Refs", {"channel", "search"}: "",
		{"audience_id", "aud_1"}: "", {"creative_id", "crv_1"}: "", {"creative_id", "crv_2"}: "Refs",
	}
	check(after)
	// A refresh by the system does not change them.
	next = w.Load(c.ID)
	next.Rev++
	_, err = w.DB.Campaigns().Save(t.Context(), next, w.Save("campaign.delivery_changed"))
	w.must(err)
	check(after)
	w.Count(4, `SELECT count(*) FROM ref WHERE workspace_id = $1`, string(w.Workspace))
}

// recordsErrors checks that errors of the database become faults.
func recordsErrors(t *testing.T, w *Fixture) {
	for _, test := range []struct {
		err  error
		code fault.Code
	}{
		{store.ErrUnavailable, fault.Unavailable},
		{context.DeadlineExceeded, fault.Timeout},
	} {
		w.Engine.Statement = func(string, bool) error { return test.err }
		_, create := w.Campaigns.CreateSpec(t.Context(), w.Cause(), w.Draft("Never").Spec)
		_, list := w.DB.Campaigns().List(t.Context(), w.Workspace, page.Query{Limit: 1, Sort: "name"})
		_, get := w.DB.Campaigns().Doc(t.Context(), w.Workspace, "cmp_none")
		_, answer := w.DB.StoredResponse(t.Context(), w.Workspace, "k")
		_, workspaces := w.DB.Accounts().Workspaces(t.Context())
		for what, err := range map[string]error{"create": create, "list": list, "get": get, "answer": answer, "workspaces": workspaces} {
			if !fault.Is(err, test.code) || !errors.Is(err, test.err) {
				t.Errorf("%s: got %v want %s", what, err, test.code)
			}
		}
	}
	w.Engine.Statement = nil
	w.must(w.DB.Ready(t.Context()))
	w.Count(0, `SELECT count(*) FROM campaign WHERE workspace_id = $1`, string(w.Workspace))
}

// sum is an amount for tests.
func sum(micros int64) *campaign.Sum {
	return &campaign.Sum{Amount: money.Amount{Micros: micros, Digits: 2}, Currency: "EUR"}
}
