package campaign_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/campaign"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/job"
	"fanfare/internal/llm/provider"
	"fanfare/internal/outbound"
	"fanfare/internal/record"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

// fixture is a workspace with the services that campaigns need. Its audiences
// and creatives are real, what its campaigns spend is a fake.
type fixture struct {
	*storetest.Fixture
	Creatives *creative.Service
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := storetest.NewFixture(t, sqlitetest.Open(t))
	providers, err := provider.New(w.DB.Providers(), nil, outbound.Trusted(), w.Clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	c := &fixture{w, creative.New(creative.Deps{
		Store: w.DB.Creatives(), Providers: providers, Painter: provider.NewPainter(), Assets: w.Assets, Records: w.DB.CreativeReferences(), Now: w.Clock.Now, Random: rand.Reader,
	})}
	refs := map[string]campaign.References{"audience_ids": w.DB.Audiences(), "creative_ids": w.DB.Creatives(), "connection_ids": w.DB.Connections()}
	w.Campaigns = campaign.New(w.DB.Campaigns(), refs, newFakeSpend(c), w.Clock.Now, rand.Reader)
	return c
}

// another returns another workspace of the same store.
func (c *fixture) another() *fixture { return &fixture{c.Another(), c.Creatives} }

// run starts the background jobs of campaigns. stop waits until they have
// ended.
func (c *fixture) run(t *testing.T) (done chan error, stop func()) {
	t.Helper()
	jobs := job.New(c.DB.Jobs(), c.Clock.Now, slog.New(slog.DiscardHandler))
	jobs.Register(c.Campaigns.JobHandlers(), func() time.Duration { return 0 })
	c.DB.OnJob(jobs.Wake)
	ctx, cancel := context.WithCancel(t.Context())
	done = make(chan error, 1)
	go func() { done <- jobs.Run(ctx) }()
	return done, func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// defaults are those of the workspace.
var defaults = campaign.Defaults{Timezone: "UTC", Currency: "USD"}

func post(c *fixture, body any) *storetest.Answer {
	return c.Answer(c.Campaigns.Create(c.T.Context(), c.Cause(), storetest.Sent(c.T, body), defaults))
}

func create(c *fixture, body any) string { return post(c, body).OK().ID() }

func get(c *fixture, id string) *storetest.Answer {
	return c.Answer(c.Campaigns.Get(c.T.Context(), c.Workspace, ident.ID(id))).OK()
}

func read(c *fixture, id string) map[string]any { return get(c, id).Record() }

func patch(c *fixture, id string, body any) *storetest.Answer {
	return c.Answer(c.Campaigns.Update(c.T.Context(), c.Cause(), ident.ID(id), record.Match{}, storetest.Sent(c.T, body), defaults))
}

func duplicate(c *fixture, id, body string, match ...string) *storetest.Answer {
	return c.Answer(c.Campaigns.Duplicate(c.T.Context(), c.Cause(), ident.ID(id), record.ParseMatch(match), storetest.Sent(c.T, body)))
}

// act takes an action of transitions.
func act(c *fixture, id, action string) *storetest.Answer {
	ctx, cause, at := c.T.Context(), c.Cause(), ident.ID(id)
	switch action {
	case "archive":
		return c.Answer(c.Campaigns.Archive(ctx, cause, at, record.Match{}))
	case "restore":
		return c.Answer(c.Campaigns.Restore(ctx, cause, at, record.Match{}))
	case "update":
		return patch(c, id, `{"name":"Two"}`)
	case "duplicate":
		return duplicate(c, id, "{}")
	}
	return c.Answer(c.Campaigns.Transition(ctx, cause, at, record.Match{}, campaign.Action(action)))
}

// settle applies the schedule.
func settle(t testing.TB, c *fixture, id string) *time.Time {
	t.Helper()
	next, err := c.Campaigns.Settle(t.Context(), c.Workspace, ident.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	if next == nil {
		return nil
	}
	at := next.Time()
	return &at
}

func in(d time.Duration) string { return storetest.Start.Add(d).Format(time.RFC3339) }

// createInStatus creates a campaign in a status. "gone" is archived
// after a launch, "archived" without one. The clock moves by three hours and a
// second.
func createInStatus(t testing.TB, c *fixture, status string) string {
	t.Helper()
	now := c.Clock.Now()
	at := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	schedule := map[string]any{"end_at": at(1000 * time.Hour)}
	if status == "completed" {
		schedule["end_at"] = at(2 * time.Hour)
	}
	id := create(c, map[string]any{"name": "One", "schedule": schedule, "budget": map[string]any{"type": "daily", "amount": "10"}})
	do := map[string][]string{
		"draft": nil, "active": {"launch"}, "paused": {"launch", "pause"}, "completed": {"launch"}, "archived": {"archive"}, "gone": {"launch", "archive"},
	}
	for _, step := range do[status] {
		c.Clock.Advance(time.Minute)
		act(c, id, step).OK()
	}
	c.Clock.Advance(3*time.Hour - time.Duration(len(do[status]))*time.Minute)
	settle(t, c, id)
	c.Clock.Advance(time.Second)
	return id
}

var statuses = []string{"draft", "active", "paused", "completed", "archived", "gone"}

// apiStatus returns the status in the API for a status of createInStatus.
func apiStatus(status string) string {
	if status == "gone" {
		return "archived"
	}
	return status
}

func eventsOf(c *fixture, id string) []map[string]any { return c.Events("resource_id", id) }

func eventTypes(c *fixture, id string) []string { return c.EventTypes(id) }

// fakeRefs has the records that campaigns refer to.
type fakeRefs struct {
	archived []ident.ID
	issues   map[ident.ID]string
}

// Usability finds all ids except those that start with x. con_1 is a connection
// for own data.
func (s *fakeRefs) Usability(_ context.Context, _ ident.ID, ids []ident.ID) (map[ident.ID]record.Usability, error) {
	found := map[ident.ID]record.Usability{}
	for _, id := range ids {
		if id[0] != 'x' {
			found[id] = record.Usability{Archived: slices.Contains(s.archived, id), Issue: s.issues[id], OwnData: id == "con_1"}
		}
	}
	return found, nil
}

// refService is a campaign service with fake references and spend.
type refService struct {
	*campaign.Service
	refs  *fakeRefs
	spend *fakeSpend
	cause record.Cause
}

func newRefService(c *fixture) *refService {
	s, f := &fakeRefs{}, newFakeSpend(c)
	refs := map[string]campaign.References{"audience_ids": s, "creative_ids": s, "connection_ids": s}
	return &refService{
		Service: campaign.New(c.DB.Campaigns(), refs, f, c.Clock.Now, rand.Reader), refs: s, spend: f,
		cause: record.Cause{Workspace: c.Workspace, Actor: record.Actor{Type: record.ActorKey, ID: "key_1", Name: "Test"}},
	}
}

// act applies a transition.
func (l *refService) act(t *testing.T, id ident.ID, a campaign.Action) {
	t.Helper()
	if _, err := l.Transition(t.Context(), l.cause, id, record.Match{}, a); err != nil {
		t.Fatal(err)
	}
}

func ids(list ...ident.ID) []ident.ID { return list }

func want(t testing.TB, what string, wanted, got any) {
	t.Helper()
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}
