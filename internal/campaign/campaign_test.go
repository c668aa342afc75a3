package campaign_test

import (
	"context"
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/campaign"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
	"fanfare/internal/record"
	"fanfare/internal/store/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// highLimits sets limits that no test reaches.
func highLimits(c *app.Config) {
	c.Limits = map[account.Plan]ratelimit.Limits{account.Growth: {}}
}

// each runs a test on every engine, with its own workspace.
func each(t *testing.T, test func(t *testing.T, c *fanfaretest.Tenant)) {
	t.Helper()
	t.Parallel()
	for name, open := range fanfaretest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fanfaretest.New(t, open(t), highLimits).Tenant(account.Growth))
		})
	}
}

const collection = "/v1/campaigns"

func create(c *fanfaretest.Tenant, body any) string {
	return c.Do("POST", collection, body).Want(201).ID()
}

func read(c *fanfaretest.Tenant, id string) map[string]any {
	return c.Do("GET", collection+"/"+id, nil).Want(200).Record()
}

// settle applies the schedule.
func settle(t testing.TB, c *fanfaretest.Tenant, id string) *time.Time {
	t.Helper()
	next, err := c.World.App.Campaigns.Settle(t.Context(), c.Workspace, ident.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	if next == nil {
		return nil
	}
	at := next.Time()
	return &at
}

func in(d time.Duration) string { return fanfaretest.Start.Add(d).Format(time.RFC3339) }

// createInStatus creates a campaign in a status. "gone" is archived
// after a launch, "archived" without one. The clock moves by three hours and a
// second.
func createInStatus(t testing.TB, c *fanfaretest.Tenant, status string) string {
	t.Helper()
	now := c.World.Clock.Now()
	at := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	schedule := map[string]any{"end_at": at(1000 * time.Hour)}
	if status == "completed" {
		schedule["end_at"] = at(2 * time.Hour)
	}
	id := create(c, map[string]any{"name": "One", "schedule": schedule, "budget": map[string]any{"type": "daily", "amount": "10"}})
	do := map[string][]string{
		"draft": nil, "active": {"launch"}, "paused": {"launch", "pause"}, "completed": {"launch"}, "archived": {"delete"}, "gone": {"launch", "delete"},
	}
	for _, step := range do[status] {
		c.World.Clock.Advance(time.Minute)
		if step == "delete" {
			c.Do("DELETE", collection+"/"+id, nil).Want(200)
		} else {
			c.Do("POST", collection+"/"+id+"/"+step, nil).Want(200)
		}
	}
	c.World.Clock.Advance(3*time.Hour - time.Duration(len(do[status]))*time.Minute)
	settle(t, c, id)
	c.World.Clock.Advance(time.Second)
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

func eventsOf(c *fanfaretest.Tenant, id string) []map[string]any {
	return c.Do("GET", "/v1/events?order=asc&limit=100&resource_id="+id, nil).Want(200).List().Data
}

func eventTypes(c *fanfaretest.Tenant, id string) []string {
	types := []string{}
	for _, e := range eventsOf(c, id) {
		types = append(types, e["type"].(string))
	}
	return types
}

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

func newRefService(c *fanfaretest.Tenant) *refService {
	s, f := &fakeRefs{}, newFakeSpend(c)
	refs := map[string]campaign.References{"audience_ids": s, "creative_ids": s, "connection_ids": s}
	return &refService{
		Service: campaign.New(c.World.App.DB.Campaigns(), refs, f, c.World.Clock.Now, rand.Reader), refs: s, spend: f,
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
