package connection_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/secret"
)

// stage is a tenant with a sandbox, all of whose calls to platforms a test can
// look at and spoil.
type stage struct {
	*fanfaretest.Tenant
	t      *testing.T
	id     string
	tricks *tricks
}

// tricks stands between the service and the clients.
type tricks struct {
	connection.Catalogue
	// report, status and refresh are called before the client is; an error of
	// theirs is what the client says.
	report func(ctx context.Context, q connection.Report) error
	status func(account, campaign string, run bool) error
	// accounts is called before the client lists accounts; hidden is a platform
	// that lists none.
	accounts func(ctx context.Context)
	hidden   string
	// entities is called after the client has listed what an account has.
	entities func()
	// seen replaces what the client reads back, if it is set.
	seen func(connection.Observed) (connection.Observed, error)
	// hangs has writes of states take until their caller gives them up.
	hangs bool
	// forgets has the client take states and not write them.
	forgets bool
	refresh func(platform string) (*connection.Credentials, error)
}

func (c *tricks) Client(platform string, sandbox bool) (connection.Client, bool) {
	client, ok := c.Catalogue.Client(platform, sandbox)
	return &tricked{client, client.(connection.Grantor), c, platform}, ok
}

type tricked struct {
	connection.Client
	connection.Grantor
	tricks   *tricks
	platform string
}

func (c *tricked) Report(ctx context.Context, k connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	if c.tricks.report != nil {
		if err := c.tricks.report(ctx, q); err != nil {
			return err
		}
	}
	return c.Client.Report(ctx, k, q, each)
}

func (c *tricked) SetStatus(ctx context.Context, k connection.Credentials, account, campaign string, run bool) error {
	if c.tricks.status != nil {
		if err := c.tricks.status(account, campaign, run); err != nil {
			return err
		}
	}
	if c.tricks.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if c.tricks.forgets {
		return nil
	}
	return c.Client.SetStatus(ctx, k, account, campaign, run)
}

func (c *tricked) Status(ctx context.Context, k connection.Credentials, account, campaign string) (connection.Observed, error) {
	o, err := c.Client.Status(ctx, k, account, campaign)
	if err == nil && c.tricks.seen != nil {
		return c.tricks.seen(o)
	}
	return o, err
}

func (c *tricked) Accounts(ctx context.Context, k connection.Credentials) ([]connection.Account, error) {
	if c.tricks.accounts != nil {
		c.tricks.accounts(ctx)
	}
	if c.tricks.hidden == c.platform {
		return nil, nil
	}
	return c.Client.Accounts(ctx, k)
}

func (c *tricked) Entities(ctx context.Context, k connection.Credentials, account string) (*connection.Entities, error) {
	found, err := c.Client.Entities(ctx, k, account)
	if c.tricks.entities != nil {
		c.tricks.entities()
	}
	return found, err
}

func (c *tricked) Refresh(ctx context.Context, a connection.App, k connection.Credentials) (connection.Credentials, error) {
	if c.tricks.refresh != nil {
		if fresh, err := c.tricks.refresh(c.platform); fresh != nil || err != nil {
			return *fresh, err
		}
	}
	return c.Grantor.Refresh(ctx, a, k)
}

// world is what every sandbox here is made from.
var world = sandbox.World{Seed: 7, Currency: "USD", Timezone: "UTC"}

// onStage runs a test on both engines, with a sandbox whose first run was
// canceled, so that a test reads only the days that it is about. Where
// platforms are named, only their accounts are switched on.
func onStage(t *testing.T, test func(t *testing.T, s *stage), platforms ...string) {
	t.Helper()
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.World) {
		s := newStage(t, w)
		s.id = s.Do("POST", "/v1/connections", map[string]any{"platform": "sandbox", "name": "Sandbox", "config": map[string]any{"seed": world.Seed}}).Want(201).ID()
		s.Do("POST", "/v1/syncs/"+string(s.runs()[0].ID)+"/cancel", nil).Want(200)
		if len(platforms) > 0 {
			s.only(platforms...)
		}
		test(t, s)
	})
}

func newStage(t *testing.T, w *fanfaretest.World) *stage {
	s := &stage{Tenant: w.Tenant(account.Enterprise), t: t, tricks: &tricks{Catalogue: w.App.Connections.Catalogue}}
	w.App.Connections.Catalogue = s.tricks
	return s
}

// path is where the connection is.
func (s *stage) path(more string) string { return "/v1/connections/" + s.id + more }

// only switches off all accounts but those of some platforms.
func (s *stage) only(platforms ...string) {
	s.t.Helper()
	var list []map[string]any
	for _, a := range s.connection().Accounts {
		list = append(list, map[string]any{"external_id": a.ExternalID, "enabled": slices.Contains(platforms, a.Platform)})
	}
	s.Do("PATCH", s.path(""), map[string]any{"accounts": list}).Want(200)
}

// connection reads the connection.
func (s *stage) connection() (c connection.Connection) {
	s.t.Helper()
	s.Do("GET", s.path(""), nil).Want(200).Data(&c)
	return c
}

// account finds the account of a platform.
func (s *stage) account(platform string) string {
	s.t.Helper()
	for _, a := range s.connection().Accounts {
		if a.Platform == platform {
			return a.ExternalID
		}
	}
	s.t.Fatalf("there is no account of %s", platform)
	return ""
}

// runs lists the runs, the newest first.
func (s *stage) runs() (list []connection.Run) {
	s.t.Helper()
	s.Do("GET", s.path("/syncs?limit=100"), nil).Want(200).Data(&list)
	return list
}

func (s *stage) run(id ident.ID) (r connection.Run) {
	s.t.Helper()
	s.Do("GET", "/v1/syncs/"+string(id), nil).Want(200).Data(&r)
	return r
}

// today is the day on which every world begins.
const today = clock.Date(20_772)

// recent asks for the last three days.
const recent = `{"mode":"backfill","start_date":"2026-11-13","end_date":"2026-11-15"}`

// sync asks for a sync, has it done and returns the run.
func (s *stage) sync(options string) connection.Run {
	s.t.Helper()
	id := s.ask(options)
	s.Sync(s.id)
	return s.run(id)
}

// ask asks for a sync.
func (s *stage) ask(options string) ident.ID {
	s.t.Helper()
	return ident.ID(s.Do("POST", s.path("/sync"), options).Want(202).ID())
}

// now is the time as records have it.
func (s *stage) now() clock.Instant { return clock.At(s.World.Clock.Now()) }

// work does what is due.
func (s *stage) work(ctx context.Context) (at *time.Time, err error) {
	again, err := s.World.App.Connections.Work(ctx, s.Workspace, ident.ID(s.id))
	if again != nil {
		t := again.Time()
		at = &t
	}
	return at, err
}

// figures are sums of spend by a dimension, and the codes of the
// warnings.
func (s *stage) figures(dimension string) (sums map[string]string, warnings []string) {
	s.t.Helper()
	var answer struct {
		Data []struct {
			Dimensions map[string]*string     `json:"dimensions"`
			Metrics    map[string]json.Number `json:"metrics"`
		} `json:"data"`
		Meta struct {
			Warnings []struct {
				Code string `json:"code"`
			} `json:"warnings"`
		} `json:"meta"`
	}
	res := s.Do("POST", "/v1/analytics/query", map[string]any{
		"metrics": []string{"spend"}, "dimensions": []string{dimension}, "date_range": map[string]string{"start_date": "2026-11-01", "end_date": "2026-12-31"}, "limit": 1000,
	}).Want(200)
	if err := json.Unmarshal(res.Body, &answer); err != nil {
		s.t.Fatal(err)
	}
	sums = map[string]string{}
	for _, row := range answer.Data {
		name := "none"
		if d := row.Dimensions[dimension]; d != nil {
			name = *d
		}
		sums[name] = row.Metrics["spend"].String()
	}
	for _, w := range answer.Meta.Warnings {
		warnings = append(warnings, w.Code)
	}
	return sums, warnings
}

// truth is what a platform has spent since a day.
func (s *stage) truth(platform string, first clock.Date) string {
	s.t.Helper()
	sum := int64(0)
	a, ok := s.World.Sandbox().Account(s.account(platform))
	if !ok {
		s.t.Fatalf("the sandbox does not know the account of %s", platform)
	}
	for _, d := range s.World.Sandbox().Truth(a, first, today).Families["base"] {
		sum += *d.SpendMicros
	}
	return fact.Millionths(sum).String()
}

// events lists the types of what has happened to a record, by name: much
// happens at the same moment here.
func (s *stage) events(id string) (types []string) {
	s.t.Helper()
	for _, e := range s.Do("GET", "/v1/events?limit=100&resource_id="+id, nil).Want(200).List().Data {
		types = append(types, e["type"].(string))
	}
	slices.Sort(types)
	return types
}

// strike has the sandbox play a fault.
func (s *stage) strike(r sandbox.Rule) {
	s.t.Helper()
	if err := s.World.Sandbox().Strike(r); err != nil {
		s.t.Fatal(err)
	}
}

// calls counts what the sandbox was asked.
func (s *stage) calls(match func(e sandbox.Entry) bool) (n int) {
	for _, e := range s.World.Sandbox().Journal() {
		if match(e) {
			n++
		}
	}
	return n
}

// stranger returns a Meta client with the tokens of another user who has access
// to the same accounts.
func (s *stage) stranger() (connection.Client, connection.Credentials) {
	s.t.Helper()
	granted, err := s.World.Sandbox().Grant(world)
	if err != nil {
		s.t.Fatal(err)
	}
	client, _ := s.tricks.Catalogue.Client("meta_ads", true)
	return client, connection.Credentials{Access: secret.New(granted["meta_ads"].AccessToken), App: connection.App{ID: "sandbox", Secret: secret.New("sandbox")}}
}

// metricsOf is how far the figures of a run have come.
func metricsOf(t *testing.T, r connection.Run) connection.Stream {
	t.Helper()
	i := slices.IndexFunc(r.Streams, func(s *connection.Stream) bool { return s.Name == connection.StreamMetrics })
	if i < 0 {
		t.Fatalf("got streams %+v want figures among them", r.Streams)
	}
	return *r.Streams[i]
}
