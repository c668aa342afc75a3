package creative_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/job"
	"fanfare/internal/llm/provider"
	"fanfare/internal/outbound"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

// fixture is a workspace with the services that creatives need.
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
	return &fixture{w, creative.New(creative.Deps{
		Store: w.DB.Creatives(), Kits: w.DB.BrandKits(), Providers: providers, Painter: provider.NewPainter(), Assets: w.Assets, Records: w.DB.CreativeReferences(), Now: w.Clock.Now, Random: rand.Reader,
	})}
}

// another returns another workspace of the same store.
func (c *fixture) another() *fixture { return &fixture{c.Another(), c.Creatives} }

// begin starts a generation that a job does.
func begin(c *fixture, body any) string {
	c.T.Helper()
	a := generate(c, body)
	if status := a.Record()["status"]; status != "generating" {
		c.T.Fatalf("got status %v want generating", status)
	}
	return a.ID()
}

// answerWithStatus fails the test if a status is not that of the document.
func answerWithStatus(c *fixture, d record.Doc, status creative.Status, err error) *storetest.Answer {
	c.T.Helper()
	if got := creative.StatusOf(d.JSON); got != status {
		c.T.Errorf("got status %q, but %q in the document", status, got)
	}
	return c.Answer(d, err)
}

func generate(c *fixture, body any) *storetest.Answer {
	d, status, err := c.Creatives.Generate(c.T.Context(), c.Cause(), storetest.Sent(c.T, body))
	return answerWithStatus(c, d, status, err)
}

func post(c *fixture, body any) *storetest.Answer {
	return c.Answer(c.Creatives.Create(c.T.Context(), c.Cause(), storetest.Sent(c.T, body)))
}

func get(c *fixture, id string) *storetest.Answer {
	return c.Answer(c.Creatives.Get(c.T.Context(), c.Workspace, ident.ID(id))).OK()
}

func read(c *fixture, id string) map[string]any { return get(c, id).Record() }

func patch(c *fixture, id string, body any) *storetest.Answer {
	return c.Answer(c.Creatives.Update(c.T.Context(), c.Cause(), ident.ID(id), record.Match{}, storetest.Sent(c.T, body)))
}

func archive(c *fixture, id string, match ...string) *storetest.Answer {
	return c.Answer(c.Creatives.Archive(c.T.Context(), c.Cause(), ident.ID(id), record.ParseMatch(match)))
}

func restore(c *fixture, id string, match ...string) *storetest.Answer {
	return c.Answer(c.Creatives.Restore(c.T.Context(), c.Cause(), ident.ID(id), record.ParseMatch(match)))
}

func retry(c *fixture, id string, match ...string) *storetest.Answer {
	d, status, err := c.Creatives.Regenerate(c.T.Context(), c.Cause(), ident.ID(id), record.ParseMatch(match))
	return answerWithStatus(c, d, status, err)
}

// list returns the creatives that are not archived.
func list(c *fixture, filters ...page.Filter) []map[string]any {
	return c.Members(c.Creatives.List(c.T.Context(), c.Workspace, page.Query{Limit: 100, Sort: "created_at", Filters: filters}))
}

// listAll returns all creatives.
func listAll(c *fixture) []map[string]any {
	return c.Members(c.Creatives.List(c.T.Context(), c.Workspace, page.Query{Limit: 100, Sort: "created_at", Status: []string{}}))
}

// by is a filter.
func by(name string, values ...string) page.Filter { return page.Filter{Name: name, Values: values} }

// loadCreative reads a creative as a Go value.
func loadCreative(c *fixture, id string) *creative.Creative {
	var v creative.Creative
	get(c, id).Decode(&v)
	return &v
}

// variants reads all variants of a creative.
func variants(c *fixture, id string) []creative.Variant {
	p, err := c.Creatives.Variants(c.T.Context(), c.Workspace, ident.ID(id), page.Query{Limit: 100, Sort: "position"})
	if err != nil {
		c.T.Fatal(err)
	}
	list := make([]creative.Variant, len(p.Docs))
	for i, d := range p.Docs {
		c.Answer(d, nil).Decode(&list[i])
	}
	return list
}

// runJob runs the job of a creative. It advances the clock first.
func runJob(t testing.TB, c *fixture, id string) {
	t.Helper()
	c.Clock.Advance(time.Millisecond)
	if err := c.Creatives.Run(t.Context(), c.Workspace, ident.ID(id)); err != nil {
		t.Fatal(err)
	}
}

// runJobs runs the jobs that generate creatives until the test ends.
func runJobs(t testing.TB, c *fixture) *job.Runner {
	t.Helper()
	jobs := job.New(c.DB.Jobs(), c.Clock.Now, slog.New(slog.DiscardHandler))
	jobs.Register(c.Creatives.JobHandlers(), nil)
	c.DB.OnJob(jobs.Wake)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- jobs.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return jobs
}

// countJobs counts the queued jobs of a kind for a record.
func countJobs(t testing.TB, c *fixture, kind, id string) int64 {
	t.Helper()
	return c.Int(`SELECT count(*) FROM job WHERE workspace_id = $1 AND kind = $2 AND args = $3`, string(c.Workspace), kind, id)
}

func eventsOf(c *fixture, id string) []map[string]any { return c.Events("resource_id", id) }

func eventTypes(c *fixture, id string) []string {
	types := c.EventTypes(id)
	for i := range types {
		types[i] = strings.TrimPrefix(types[i], "creative.")
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
func wantDetail(t testing.TB, res *storetest.Answer, field, code string) {
	t.Helper()
	e := res.Fault(fault.ValidationFailed)
	for _, d := range e.Details {
		if d.Field == field && d.Code == code && d.In == "body" {
			return
		}
	}
	t.Errorf("got details %+v want %s at %s", e.Details, code, field)
}

// tea is a prompt with enough facts for every channel.
const tea = "Mountain green tea from Leaf & Co, hand-picked in spring, 20% off until Sunday. For people who love a quiet morning. Rated 4.8 by 2,000 customers."

// fakeProvider is a provider whose behavior a test sets. It is also the
// catalog that returns it under the name openai, beside the built-in
// provider.
type fakeProvider struct {
	creative.ProviderCatalog
	unpriced bool
	// noFallback is the setting of the model.
	noFallback bool
	write      func(ctx context.Context, b *creative.Brief) (*creative.Result, error)
	paint      func(ctx context.Context, b *creative.Brief, s creative.Shape, format string) (*creative.Picture, creative.Usage, error)
}

// useFakeProvider replaces the models by a fake provider.
func useFakeProvider(c *fixture) *fakeProvider {
	a := &fakeProvider{ProviderCatalog: c.Creatives.Providers}
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		return &creative.Result{Language: "en", Model: "author-1", Drafts: draftsOf(b, "One", "Two", "Three")}, nil
	}
	c.Creatives.Providers = a
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
	return creative.OpenProvider{Provider: a, Priced: !a.unpriced, NoFallback: a.noFallback}, nil
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

// draftsOf returns a draft for each text. Every field of every channel starts
// with the text.
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

// byModel is a request for the fake provider alone.
const byModel = `{"prompt":"Mountain green tea","provider":"openai","fallback":"none","channels":["social"]}`

// createInStatus creates a creative and changes it to a status. "gone ready" is
// a creative that was archived when it was ready, and so on.
func createInStatus(t testing.TB, c *fixture, a *fakeProvider, status string) string {
	t.Helper()
	status, gone := strings.CutPrefix(status, "gone ")
	writes := a.write
	id := begin(c, byModel)
	switch status {
	case "ready":
		runJob(t, c, id)
	case "failed":
		a.failWith(creative.Fail(creative.FailProvider, true, "The provider is away."))
		runJob(t, c, id)
	}
	a.write = writes
	if gone {
		c.Clock.Advance(time.Minute)
		archive(c, id).OK()
	}
	return id
}

var statuses = []string{"generating", "ready", "failed", "gone generating", "gone ready", "gone failed"}

// apiStatus returns the status in API responses for one of statuses.
func apiStatus(status string) string {
	if strings.HasPrefix(status, "gone ") {
		return "archived"
	}
	return status
}

// countGenerateJobs counts the queued jobs that generate a creative.
func countGenerateJobs(t testing.TB, c *fixture, id string) int64 {
	t.Helper()
	return countJobs(t, c, creative.JobGenerate, id)
}
