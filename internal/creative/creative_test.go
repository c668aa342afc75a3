package creative_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
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

const (
	collection = "/v1/creative"
	// async is the header of callers who do not wait.
	async = "Prefer: respond-async"
)

func generate(c *fanfaretest.Tenant, body any, headers ...string) *fanfaretest.Response {
	return c.Do("POST", collection+"/generate", body, headers...)
}

func read(c *fanfaretest.Tenant, id string) map[string]any {
	return c.Do("GET", collection+"/"+id, nil).Want(200).Record()
}

func patch(c *fanfaretest.Tenant, id string, body any) *fanfaretest.Response {
	return c.Do("PATCH", collection+"/"+id, body)
}

// loadCreative reads a creative as a Go value.
func loadCreative(c *fanfaretest.Tenant, id string) *creative.Creative {
	var v creative.Creative
	c.Do("GET", collection+"/"+id, nil).Want(200).Data(&v)
	return &v
}

// variants reads all variants of a creative.
func variants(c *fanfaretest.Tenant, id string) []creative.Variant {
	var list []creative.Variant
	c.Do("GET", collection+"/"+id+"/variants?limit=100", nil).Want(200).Data(&list)
	return list
}

// runJob does the work of a creative, as the job does, a moment after what was
// before.
func runJob(t testing.TB, c *fanfaretest.Tenant, id string) {
	t.Helper()
	c.World.Clock.Advance(time.Millisecond)
	if err := c.World.App.Creatives.Run(t.Context(), c.Workspace, ident.ID(id)); err != nil {
		t.Fatal(err)
	}
}

// runJobs runs the background jobs until the test ends.
func runJobs(t testing.TB, c *fanfaretest.Tenant) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.World.App.Jobs.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// queryInt runs a query that returns one number.
func queryInt(t testing.TB, c *fanfaretest.Tenant, query string, args ...any) int64 {
	t.Helper()
	rows, err := c.World.App.Engine.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	if !rows.Next() {
		return 0
	}
	return rows.Int()
}

// countJobs counts the queued jobs of a kind for a record.
func countJobs(t testing.TB, c *fanfaretest.Tenant, kind, id string) int64 {
	t.Helper()
	return queryInt(t, c, `SELECT count(*) FROM job WHERE workspace_id = $1 AND kind = $2 AND args = $3`, string(c.Workspace), kind, id)
}

func eventsOf(c *fanfaretest.Tenant, id string) []map[string]any {
	return c.Do("GET", "/v1/events?order=asc&limit=100&resource_id="+id, nil).Want(200).List().Data
}

func eventTypes(c *fanfaretest.Tenant, id string) []string {
	types := []string{}
	for _, e := range eventsOf(c, id) {
		types = append(types, strings.TrimPrefix(e["type"].(string), "creative."))
	}
	return types
}

func want(t testing.TB, what string, wanted, got any) {
	t.Helper()
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// wantDetail checks that a fault has a detail.
func wantDetail(t testing.TB, res *fanfaretest.Response, field, code string) {
	t.Helper()
	e := res.WantError(422, "validation_failed")
	for _, d := range e.Details {
		if d.Field == field && d.Code == code && d.In == "body" {
			return
		}
	}
	t.Errorf("got details %+v want %s at %s", e.Details, code, field)
}

// tea is a prompt with enough facts for every channel.
const tea = "Mountain green tea from Leaf & Co, hand-picked in spring, 20% off until Sunday. For people who love a quiet morning."

// fakeProvider is a provider that does what a test says, and the catalogue that
// knows it under the name of openai, beside the built-in one.
type fakeProvider struct {
	creative.ProviderCatalog
	unpriced bool
	write    func(ctx context.Context, b *creative.Brief) (*creative.Result, error)
	paint    func(ctx context.Context, b *creative.Brief, s creative.Shape, format string) (*creative.Picture, creative.Usage, error)
}

// useFakeProvider replaces the models by a fake provider.
func useFakeProvider(c *fanfaretest.Tenant) *fakeProvider {
	a := &fakeProvider{ProviderCatalog: c.World.App.Creatives.Providers}
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		return &creative.Result{Language: "en", Model: "author-1", Drafts: draftsOf(b, "One", "Two", "Three")}, nil
	}
	c.World.App.Creatives.Providers = a
	return a
}

// failWith makes the provider fail.
func (a *fakeProvider) failWith(err error) {
	a.write = func(context.Context, *creative.Brief) (*creative.Result, error) { return nil, err }
}

// respondWith sets the drafts of the provider.
func (a *fakeProvider) respondWith(drafts func(b *creative.Brief) []creative.Draft) {
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		return &creative.Result{Language: "en", Model: "author-1", Drafts: drafts(b)}, nil
	}
}

func (a *fakeProvider) Names(context.Context, ident.ID) ([]string, error) {
	return []string{creative.BuiltIn, "openai"}, nil
}

func (a *fakeProvider) Open(ctx context.Context, workspace ident.ID, name string) (creative.OpenProvider, error) {
	if name == creative.BuiltIn {
		return a.ProviderCatalog.Open(ctx, workspace, name)
	}
	return creative.OpenProvider{Provider: a, Priced: !a.unpriced}, nil
}

func (a *fakeProvider) Write(ctx context.Context, b *creative.Brief) (*creative.Result, error) {
	return a.write(ctx, b)
}

func (a *fakeProvider) Paint(ctx context.Context, b *creative.Brief, _ *creative.Draft, s creative.Shape, format string) (*creative.Picture, creative.Usage, error) {
	if a.paint == nil {
		return nil, creative.Usage{}, creative.ErrNoPictures
	}
	return a.paint(ctx, b, s, format)
}

// draftsOf makes a draft of each text: it is what every field of every channel
// starts with.
func draftsOf(b *creative.Brief, texts ...string) []creative.Draft {
	var list []creative.Draft
	for _, text := range texts {
		d := creative.Draft{Angle: "benefit_first", ByChannel: map[string]policy.Copy{}, CallToAction: "shop_now"}
		for _, channel := range b.Channels {
			var copied policy.Copy
			for _, l := range policy.LimitsOf(channel) {
				var items []string
				for i := range max(l.MinItems, 1) {
					items = append(items, text+strings.Repeat(" tea", i))
				}
				copied.SetTexts(l.Field, items)
			}
			d.ByChannel[channel] = copied
		}
		list = append(list, d)
	}
	return list
}

// byModel is a request for the fake provider.
const byModel = `{"prompt":"Mountain green tea","provider":"openai","channels":["social"]}`

// createInStatus makes a creative and brings it to a status; "gone ready" is
// archived after it was ready, and so on.
func createInStatus(t testing.TB, c *fanfaretest.Tenant, a *fakeProvider, status string) string {
	t.Helper()
	status, gone := strings.CutPrefix(status, "gone ")
	writes := a.write
	id := generate(c, byModel, async).Want(202).ID()
	switch status {
	case "ready":
		runJob(t, c, id)
	case "failed":
		a.failWith(creative.Fail(creative.FailProvider, true, "The provider is away."))
		runJob(t, c, id)
	}
	a.write = writes
	if gone {
		c.World.Clock.Advance(time.Minute)
		c.Do("DELETE", collection+"/"+id, nil).Want(200)
	}
	return id
}

var statuses = []string{"generating", "ready", "failed", "gone generating", "gone ready", "gone failed"}

// apiStatus is the status that the API gives for one of reach's.
func apiStatus(status string) string {
	if strings.HasPrefix(status, "gone ") {
		return "archived"
	}
	return status
}

// countGenerateJobs counts the queued jobs that generate a creative.
func countGenerateJobs(t testing.TB, c *fanfaretest.Tenant, id string) int64 {
	t.Helper()
	return countJobs(t, c, creative.JobGenerate, id)
}
