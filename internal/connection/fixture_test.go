package connection_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fanfare/internal/adplatform/registry"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/analytics"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/metricstest"
	"fanfare/internal/page"
	"fanfare/internal/seal"
	"fanfare/internal/secret"
	"fanfare/internal/store/storetest"
)

// syncFixture is a workspace with the services that connections need and a
// sandbox. A test can inspect its calls to platforms and make them fail.
type syncFixture struct {
	*storetest.Fixture
	t           *testing.T
	id          string
	connections *connection.Service
	analytics   *analytics.Service
	imports     *ingest.Service
	registry    *registry.Registry
	// platforms is the address of the sandbox that simulates all platforms.
	platforms string
	// log contains the log lines of the service.
	log    bytes.Buffer
	faults *platformFaults
}

// platformFaults makes the clients of platforms fail. It is the registry that
// the service gets its clients from.
type platformFaults struct {
	connection.PlatformRegistry
	// report, status and refresh are called before the client. If one returns
	// an error, so does the client.
	report func(ctx context.Context, q connection.Report) error
	status func(account, campaign string, run bool) error
	// rows replaces the rows of a report, if it is set.
	rows func(q connection.Report, rows []fact.Row) []fact.Row
	// accounts is called before the client lists accounts; hidden is a platform
	// that lists none.
	accounts func(ctx context.Context)
	hidden   string
	// entities is called after the client has listed the entities of an
	// account.
	entities func()
	// seen replaces what the client reads back, if it is set.
	seen func(connection.Observed) (connection.Observed, error)
	// hangs makes writes of states block until their context ends.
	hangs bool
	// forgets makes the client accept states without writing them.
	forgets bool
	refresh func(platform string) (*connection.Credentials, error)
	// configuration is that of the OAuth client for Meta.
	configuration string
	// exchanged is called after the client has traded a code.
	exchanged func()
}

func (c *platformFaults) Client(platform string, sandbox bool) (connection.Client, bool) {
	client, ok := c.PlatformRegistry.Client(platform, sandbox)
	return &faultyClient{client, client.(connection.Grantor), c, platform}, ok
}

func (c *platformFaults) App(platform string) (connection.OAuthClient, bool) {
	a, ok := c.PlatformRegistry.App(platform)
	if platform == connection.PlatformMetaAds {
		a.Configuration = c.configuration
	}
	return a, ok
}

type faultyClient struct {
	connection.Client
	connection.Grantor
	faults   *platformFaults
	platform string
}

func (c *faultyClient) Report(ctx context.Context, k connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	if c.faults.report != nil {
		if err := c.faults.report(ctx, q); err != nil {
			return err
		}
	}
	if c.faults.rows == nil {
		return c.Client.Report(ctx, k, q, each)
	}
	return c.Client.Report(ctx, k, q, func(rows []fact.Row) error { return each(c.faults.rows(q, rows)) })
}

func (c *faultyClient) SetStatus(ctx context.Context, k connection.Credentials, account, campaign string, run bool) error {
	if c.faults.status != nil {
		if err := c.faults.status(account, campaign, run); err != nil {
			return err
		}
	}
	if c.faults.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if c.faults.forgets {
		return nil
	}
	return c.Client.SetStatus(ctx, k, account, campaign, run)
}

func (c *faultyClient) Status(ctx context.Context, k connection.Credentials, account, campaign string) (connection.Observed, error) {
	o, err := c.Client.Status(ctx, k, account, campaign)
	if err == nil && c.faults.seen != nil {
		return c.faults.seen(o)
	}
	return o, err
}

func (c *faultyClient) Accounts(ctx context.Context, k connection.Credentials) ([]connection.Account, error) {
	if c.faults.accounts != nil {
		c.faults.accounts(ctx)
	}
	if c.faults.hidden == c.platform {
		return nil, nil
	}
	return c.Client.Accounts(ctx, k)
}

func (c *faultyClient) Entities(ctx context.Context, k connection.Credentials, account string) (*connection.Entities, error) {
	found, err := c.Client.Entities(ctx, k, account)
	if c.faults.entities != nil {
		c.faults.entities()
	}
	return found, err
}

func (c *faultyClient) GrantError(code string) *connection.Error {
	if explainer, ok := c.Client.(connection.GrantExplainer); ok {
		return explainer.GrantError(code)
	}
	return nil
}

func (c *faultyClient) Exchange(ctx context.Context, a connection.OAuthClient, g connection.Grant, code string) (connection.Credentials, error) {
	k, err := c.Grantor.Exchange(ctx, a, g, code)
	if c.faults.exchanged != nil {
		c.faults.exchanged()
	}
	return k, err
}

func (c *faultyClient) Refresh(ctx context.Context, a connection.OAuthClient, k connection.Credentials) (connection.Credentials, error) {
	if c.faults.refresh != nil {
		if fresh, err := c.faults.refresh(c.platform); fresh != nil || err != nil {
			return *fresh, err
		}
	}
	return c.Grantor.Refresh(ctx, a, k)
}

// sandboxAccounts defines the accounts of every sandbox in these tests.
var sandboxAccounts = sandbox.AccountSet{Seed: 7, Currency: "USD", Timezone: "UTC"}

// withSyncFixture runs a test with a sandbox connection whose first run was
// canceled, so that a test syncs only the days that it is about. If platforms
// are given, only their accounts are enabled.
func withSyncFixture(t *testing.T, test func(t *testing.T, s *syncFixture), platforms ...string) {
	t.Helper()
	t.Parallel()
	s := newSyncFixture(t)
	s.id = s.connect(map[string]any{"platform": "sandbox", "name": "Sandbox", "config": map[string]any{"seed": sandboxAccounts.Seed}}).OK().ID()
	s.cancel(s.runs()[0].ID).OK()
	if len(platforms) > 0 {
		s.only(platforms...)
	}
	test(t, s)
}

// home is the currency and the time zone of the workspace.
var home = connection.WorkspaceDefaults{Currency: "USD", Zone: "UTC"}

func newSyncFixture(t *testing.T) *syncFixture {
	t.Helper()
	s := &syncFixture{Fixture: newFixture(t), t: t}
	facts, now := metricstest.NewNaive(), s.Clock.Now
	sealer, err := page.NewSealer([][]byte{make([]byte, page.KeySize)}, rand.Reader)
	s.must(err)
	s.analytics = analytics.New(analytics.Deps{
		Facts: facts, Rates: s.DB.Rates(), Results: s.DB.Results(), Flights: s.DB.Analytics(), Records: s.DB.Analytics(),
		Workspace: func(context.Context, ident.ID) (analytics.Workspace, error) { return s.workspace(), nil },
		Catchup:   metrics.NewMirror(facts, s.DB, now).CatchUp, Now: now, Random: rand.Reader,
		Seal: func(_ ident.ID, plain []byte) string { return sealer.SealBytes("result", plain) },
		Open: func(_ ident.ID, text string) ([]byte, bool) { return sealer.OpenBytes("result", text) },
	})
	refs := map[string]campaign.References{"audience_ids": s.DB.Audiences(), "creative_ids": s.DB.Creatives(), "connection_ids": s.DB.Connections()}
	s.Campaigns = campaign.New(s.DB.Campaigns(), refs, s.analytics, now, rand.Reader)
	s.registry = s.servePlatforms()
	ring, _, err := seal.OpenOrCreate(filepath.Join(t.TempDir(), "master.key"), rand.Reader)
	s.must(err)
	s.faults = &platformFaults{PlatformRegistry: s.registry}
	s.connections = connection.New(connection.Parts{
		Store: s.DB.Connections(), Lock: s.DB.Lock, Runs: s.DB.Runs(), Links: s.DB.Links(), Facts: metrics.Connections{Engine: facts},
		Campaigns: s.Campaigns, Audiences: s.Audiences, Find: s.DB.Find, Registry: s.faults, Sandbox: s.registry, Vault: registry.Vault{Ring: ring},
		PublicURL: "https://fanfare.test", HistoryDays: 730, Now: now, Random: rand.Reader, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
		SealState: func(plain []byte) string { return sealer.SealBytes("grant", plain) },
		OpenState: func(text string) ([]byte, bool) { return sealer.OpenBytes("grant", text) },
	})
	t.Cleanup(s.connections.Wait)
	s.Campaigns.Platforms = s.connections
	s.imports = ingest.New(ingest.Deps{Facts: facts, Sources: s.connections, Records: s.DB, Imports: s.DB.Imports(), Files: s.Files, Now: now, Random: rand.Reader})
	return s
}

// servePlatforms simulates every platform, also the real ones, with a sandbox.
func (s *syncFixture) servePlatforms() *registry.Registry {
	s.t.Helper()
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.registry.Server().ServeHTTP(w, r) }))
	s.t.Cleanup(outside.Close)
	s.platforms = outside.URL
	o := registry.Options{
		Apps: map[string]connection.OAuthClient{}, URLs: map[string]string{}, Now: s.Clock.Now,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	for _, p := range (&sandbox.Server{}).Addresses() {
		o.Apps[p.Platform] = connection.OAuthClient{ID: "client", Secret: secret.New("client-secret")}
		o.URLs[p.Platform] = outside.URL + p.Prefix
	}
	c, err := registry.New(o)
	s.must(err)
	return c
}

func (s *syncFixture) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *syncFixture) workspace() analytics.Workspace {
	return analytics.NewWorkspace(s.Workspace, home.Zone, home.Currency)
}

// only switches off all accounts but those of some platforms.
func (s *syncFixture) only(platforms ...string) {
	s.t.Helper()
	var list []map[string]any
	for _, a := range s.connection().Accounts {
		list = append(list, map[string]any{"external_id": a.ExternalID, "enabled": slices.Contains(platforms, a.Platform)})
	}
	s.patch(map[string]any{"accounts": list}).OK()
}

// connection reads the connection.
func (s *syncFixture) connection() (c connection.Connection) {
	s.t.Helper()
	s.Answer(s.connections.Get(s.t.Context(), s.Workspace, ident.ID(s.id))).Decode(&c)
	return c
}

// account finds the account of a platform.
func (s *syncFixture) account(platform string) string {
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
func (s *syncFixture) runs() []connection.Run {
	s.t.Helper()
	p, err := s.connections.ListRuns(s.t.Context(), s.Workspace, ident.ID(s.id), page.Query{Limit: 100, Sort: "created_at", Desc: true})
	s.must(err)
	list := make([]connection.Run, len(p.Docs))
	for i, d := range p.Docs {
		s.Answer(d, nil).Decode(&list[i])
	}
	return list
}

func (s *syncFixture) run(id ident.ID) (r connection.Run) {
	s.t.Helper()
	s.Answer(s.connections.GetRun(s.t.Context(), s.Workspace, id)).Decode(&r)
	return r
}

// today is the day on which every test begins.
const today = clock.Date(20_772)

// recent asks for the last three days.
const recent = `{"mode":"backfill","start_date":"2026-11-13","end_date":"2026-11-15"}`

// sync asks for a sync, has it done and returns the run.
func (s *syncFixture) sync(options string) connection.Run {
	s.t.Helper()
	id := s.ask(options)
	s.Sync(s.id)
	return s.run(id)
}

// Sync does the next thing that is to be done for a connection: a run, if one
// is due.
func (s *syncFixture) Sync(id string) {
	s.t.Helper()
	_, err := s.connections.Work(s.t.Context(), s.Workspace, ident.ID(id))
	s.must(err)
}

// ask asks for a sync.
func (s *syncFixture) ask(options string) ident.ID {
	s.t.Helper()
	return ident.ID(s.request(options).OK().ID())
}

// now is the time as records have it.
func (s *syncFixture) now() clock.Instant { return clock.At(s.Clock.Now()) }

// work runs the work that is due.
func (s *syncFixture) work(ctx context.Context) (at *time.Time, err error) {
	again, err := s.connections.Work(ctx, s.Workspace, ident.ID(s.id))
	if again != nil {
		t := again.Time()
		at = &t
	}
	return at, err
}

// spendBy returns the sums of spend by a dimension, and the codes of the
// warnings.
func (s *syncFixture) spendBy(dimension string) (sums map[string]string, warnings []string) {
	s.t.Helper()
	return s.spendIn("2026-11-01", "2026-12-31", dimension)
}

// warningsOf returns the codes of the warnings about days.
func (s *syncFixture) warningsOf(first, last, dimension string) []string {
	s.t.Helper()
	_, warnings := s.spendIn(first, last, dimension)
	return warnings
}

// spendIn returns the spend on days by a dimension, and the codes of warnings.
func (s *syncFixture) spendIn(first, last, dimension string) (sums map[string]string, warnings []string) {
	s.t.Helper()
	return s.sumsIn("spend", first, last, dimension)
}

// sumsIn returns a metric on days by a dimension, and the codes of warnings. Queries
// leave GA4 out unless they name platforms.
func (s *syncFixture) sumsIn(metric, first, last, dimension string, platforms ...string) (sums map[string]string, warnings []string) {
	s.t.Helper()
	answer := s.query(metric, first, last, dimension, platforms...)
	sums = map[string]string{}
	for _, row := range answer.Data {
		name := "none"
		if d := row.Dimensions[dimension]; d != nil {
			name = *d
		}
		sums[name] = row.Metrics[metric].String()
	}
	for _, w := range answer.Meta.Warnings {
		warnings = append(warnings, w.Code)
	}
	return sums, warnings
}

// queryAnswer is the part of an answer that tests read.
type queryAnswer struct {
	Data []struct {
		Dimensions map[string]*string     `json:"dimensions"`
		Metrics    map[string]json.Number `json:"metrics"`
	} `json:"data"`
	Meta struct {
		Warnings []struct {
			Code    string       `json:"code"`
			Message string       `json:"message"`
			Days    []clock.Date `json:"days"`
			Amounts []struct {
				Account string      `json:"account_id"`
				Metric  string      `json:"metric"`
				Amount  json.Number `json:"amount"`
			} `json:"amounts"`
		} `json:"warnings"`
	} `json:"meta"`
}

// query queries a metric on days by a dimension, without GA4 unless platforms are
// named.
func (s *syncFixture) query(metric, first, last, dimension string, platforms ...string) (answer queryAnswer) {
	s.t.Helper()
	query := map[string]any{
		"metrics": []string{metric}, "dimensions": []string{dimension}, "date_range": map[string]any{"start_date": first, "end_date": last}, "limit": 1000,
	}
	if len(platforms) > 0 {
		query["filters"] = map[string]any{"and": []any{map[string]any{"field": "platform", "op": "in", "values": platforms}}}
	}
	res, err := s.analytics.Query(s.t.Context(), s.workspace(), storetest.Sent(s.t, query))
	s.must(err)
	s.must(json.Unmarshal(res.AppendJSON(nil), &answer))
	return answer
}

// truth returns the spend on a platform since a day.
func (s *syncFixture) truth(platform string, first clock.Date) string {
	s.t.Helper()
	sum := int64(0)
	a, ok := s.registry.Server().Account(s.account(platform))
	if !ok {
		s.t.Fatalf("the sandbox does not know the account of %s", platform)
	}
	for _, d := range s.registry.Server().Truth(a, first, today).Families["base"] {
		sum += *d.SpendMicros
	}
	return fact.Millionths(sum).String()
}

// events returns the types of the events of a record, sorted by name, because
// many events have the same time.
func (s *syncFixture) events(id string) (types []string) {
	s.t.Helper()
	types = s.EventTypes(id)
	slices.Sort(types)
	return types
}

// addFault makes the sandbox simulate a fault.
func (s *syncFixture) addFault(r sandbox.FaultRule) {
	s.t.Helper()
	if err := s.registry.Server().AddFault(r); err != nil {
		s.t.Fatal(err)
	}
}

// calls counts the matching calls to the sandbox.
func (s *syncFixture) calls(match func(e sandbox.Entry) bool) (n int) {
	for _, e := range s.registry.Server().Journal() {
		if match(e) {
			n++
		}
	}
	return n
}

// stranger returns a Meta client with the tokens of another user who has access
// to the same accounts.
func (s *syncFixture) stranger() (connection.Client, connection.Credentials) {
	s.t.Helper()
	granted, err := s.registry.Server().Grant(sandboxAccounts)
	if err != nil {
		s.t.Fatal(err)
	}
	client, _ := s.faults.PlatformRegistry.Client("meta_ads", true)
	return client, connection.Credentials{Access: secret.New(granted["meta_ads"].AccessToken), App: connection.OAuthClient{ID: "sandbox", Secret: secret.New("sandbox")}}
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
