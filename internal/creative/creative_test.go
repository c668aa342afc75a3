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

// ample are limits that no test meets by accident.
func ample(c *app.Config) {
	c.Limits = map[account.Plan]ratelimit.Limits{account.Growth: {}}
}

// each runs a test on every engine, with a workspace of its own.
func each(t *testing.T, test func(t *testing.T, c *fanfaretest.Tenant)) {
	t.Helper()
	t.Parallel()
	for name, open := range fanfaretest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fanfaretest.New(t, open(t), ample).Tenant(account.Growth))
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

// full reads a creative as the service has it.
func full(c *fanfaretest.Tenant, id string) *creative.Creative {
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

// run does the work of a creative, as the job does, a moment after what was
// before.
func run(t testing.TB, c *fanfaretest.Tenant, id string) {
	t.Helper()
	c.World.Clock.Advance(time.Millisecond)
	if err := c.World.App.Creatives.Run(t.Context(), c.Workspace, ident.ID(id)); err != nil {
		t.Fatal(err)
	}
}

// background lets the jobs run until the test ends.
func background(t testing.TB, c *fanfaretest.Tenant) {
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

// number asks the database for one.
func number(t testing.TB, c *fanfaretest.Tenant, query string, args ...any) int64 {
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

// planned is how many jobs of a kind wait for a record.
func planned(t testing.TB, c *fanfaretest.Tenant, kind, id string) int64 {
	t.Helper()
	return number(t, c, `SELECT count(*) FROM job WHERE workspace_id = $1 AND kind = $2 AND args = $3`, string(c.Workspace), kind, id)
}

func eventsOf(c *fanfaretest.Tenant, id string) []map[string]any {
	return c.Do("GET", "/v1/events?order=asc&limit=100&resource_id="+id, nil).Want(200).List().Data
}

func typesOf(c *fanfaretest.Tenant, id string) []string {
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

// wantDetail wants one problem among those of a refused body.
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

// tea is a prompt with enough in it for every channel.
const tea = "Mountain green tea from Leaf & Co, hand-picked in spring, 20% off until Sunday. For people who love a quiet morning."

// author is a provider that does what a test says, and the catalogue that
// knows it under the name of openai, beside the built-in one.
type author struct {
	creative.Catalogue
	unpriced bool
	write    func(ctx context.Context, b *creative.Brief) (*creative.Result, error)
	paint    func(ctx context.Context, b *creative.Brief, s creative.Shape, format string) (*creative.Picture, creative.Usage, error)
}

// scripted puts an author in the place of the models.
func scripted(c *fanfaretest.Tenant) *author {
	a := &author{Catalogue: c.World.App.Creatives.Catalogue}
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		return &creative.Result{Language: "en", Model: "author-1", Drafts: written(b, "One", "Two", "Three")}, nil
	}
	c.World.App.Creatives.Catalogue = a
	return a
}

// fails lets the author fail.
func (a *author) fails(err error) {
	a.write = func(context.Context, *creative.Brief) (*creative.Result, error) { return nil, err }
}

// writes lets the author hand in drafts.
func (a *author) writes(drafts func(b *creative.Brief) []creative.Draft) {
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		return &creative.Result{Language: "en", Model: "author-1", Drafts: drafts(b)}, nil
	}
}

func (a *author) Names(context.Context, ident.ID) ([]string, error) {
	return []string{creative.BuiltIn, "openai"}, nil
}

func (a *author) Open(ctx context.Context, workspace ident.ID, name string) (creative.Work, error) {
	if name == creative.BuiltIn {
		return a.Catalogue.Open(ctx, workspace, name)
	}
	return creative.Work{Provider: a, Priced: !a.unpriced}, nil
}

func (a *author) Write(ctx context.Context, b *creative.Brief) (*creative.Result, error) {
	return a.write(ctx, b)
}

func (a *author) Paint(ctx context.Context, b *creative.Brief, _ *creative.Draft, s creative.Shape, format string) (*creative.Picture, creative.Usage, error) {
	if a.paint == nil {
		return nil, creative.Usage{}, creative.ErrNoPictures
	}
	return a.paint(ctx, b, s, format)
}

// written makes a draft of each text: it is what every field of every channel
// starts with.
func written(b *creative.Brief, texts ...string) []creative.Draft {
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

// byModel is a request that the author gets.
const byModel = `{"prompt":"Mountain green tea","provider":"openai","channels":["social"]}`

// reach makes a creative and brings it to a status; "gone ready" is archived
// after it was ready, and so on.
func reach(t testing.TB, c *fanfaretest.Tenant, a *author, status string) string {
	t.Helper()
	status, gone := strings.CutPrefix(status, "gone ")
	writes := a.write
	id := generate(c, byModel, async).Want(202).ID()
	switch status {
	case "ready":
		run(t, c, id)
	case "failed":
		a.fails(creative.Fail(creative.FailProvider, true, "The provider is away."))
		run(t, c, id)
	}
	a.write = writes
	if gone {
		c.World.Clock.Advance(time.Minute)
		c.Do("DELETE", collection+"/"+id, nil).Want(200)
	}
	return id
}

var statuses = []string{"generating", "ready", "failed", "gone generating", "gone ready", "gone failed"}

// shown is the status that the API gives for one of reach's.
func shown(status string) string {
	if strings.HasPrefix(status, "gone ") {
		return "archived"
	}
	return status
}

// generating is how many jobs there are to generate a creative.
func generating(t testing.TB, c *fanfaretest.Tenant, id string) int64 {
	t.Helper()
	return planned(t, c, creative.JobGenerate, id)
}
