// Package app connects the packages; it is the only one that imports them all.
// A server, a single command and a test create the same App.
package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"time"

	"fanfare"
	"fanfare/api"
	"fanfare/internal/account"
	"fanfare/internal/adplatform/registry"
	"fanfare/internal/analytics"
	"fanfare/internal/asset"
	"fanfare/internal/assetfiles"
	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/connection"
	"fanfare/internal/console"
	"fanfare/internal/creative"
	"fanfare/internal/docs"
	"fanfare/internal/factsfile"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/job"
	"fanfare/internal/llm/provider"
	"fanfare/internal/mail"
	"fanfare/internal/memory"
	"fanfare/internal/metrics"
	"fanfare/internal/page"
	"fanfare/internal/ratelimit"
	"fanfare/internal/rates"
	"fanfare/internal/record"
	"fanfare/internal/seal"
	"fanfare/internal/signin"
	"fanfare/internal/store"
	"fanfare/internal/store/postgres"
	"fanfare/internal/store/sqlite"
	"fanfare/internal/storefile"
)

// Config configures an App.
type Config struct {
	// Store is a postgres:// URL, or the path of a SQLite file.
	Store           string
	Limits          map[account.Plan]ratelimit.Limits
	KeepExposedKeys bool
	HSTS            bool
	// MasterKey is the file of the key that encrypts stored secrets. Open
	// creates it if it is missing. Without it no language model can be set up.
	MasterKey string
	// Assets is the folder for asset files, or the s3:// URL of a bucket. All
	// nodes share it.
	Assets string
	// Facts is the folder for the facts file. Metrics is the postgres:// or
	// clickhouse+https:// URL of the facts that nodes share; without it they are
	// in the file.
	Facts, Metrics string
	// ReplacingFacts says that the facts are about to be replaced, so that those
	// of another installation are no error.
	ReplacingFacts bool
	// AcceptMasterKey says that MasterKey is about to become that of all nodes.
	AcceptMasterKey bool
	// OAuth has the operator's OAuth clients, PlatformURLs replaces API
	// addresses of platforms. The keys of both are platforms.
	OAuth        map[string]connection.OAuthClient
	PlatformURLs map[string]string
	// PlatformCalls is how many calls a day the operator's OAuth clients may
	// make, by platform.
	PlatformCalls map[string]int64
	// Sandbox is the URL of an external sandbox. If empty, this process runs
	// one, with its state in the file SandboxState.
	Sandbox, SandboxState string
	// PublicURL is the server's address for browsers.
	PublicURL string
	// Authority is the file of the server's own certificate authority, if any.
	Authority string
	// HistoryDays is how many days of history new connections import.
	HistoryDays int
	// SignIn configures sign-in and email.
	SignIn SignInConfig
	// MaxWorkspaces is how many workspaces a user may create in the console;
	// with 0 only the operator creates workspaces.
	MaxWorkspaces int64
	// MaxAssetBytes is how many bytes the pictures of a workspace may have, 0
	// for any number.
	MaxAssetBytes int64
	// Fonts are folders with fonts for scripts that the embedded ones lack.
	Fonts []fs.FS
	// MaxInFlight is the largest number of requests that the node works on.
	MaxInFlight int64
	// Progress returns the connection of a request, for a server.
	Progress func(context.Context) httpapi.Progress
	// Memory has the memory limits; 0 selects a default.
	Memory memory.Limits
	// CachedRecords is the number of records in the cache.
	CachedRecords int
	CORSOrigins   []string
	Changelog     []byte
	Build         string
	Now           func() time.Time
	Random        io.Reader
	Log           *slog.Logger
	// Sleep, if set, replaces waiting between calls to platforms, for tests.
	Sleep func(ctx context.Context, d time.Duration) error
	// Engine, if set, replaces the engine of Store, and FactsEngine that of
	// Facts, for tests.
	Engine      store.Engine
	FactsEngine metrics.Engine
}

// App is the service without its listener.
type App struct {
	DB        *store.DB
	Engine    store.Engine
	Accounts  *account.Service
	Campaigns *campaign.Service
	Assets    *asset.Service
	Files     assetfiles.Files
	Creatives *creative.Service
	Providers *provider.Service
	Audiences *audience.Service
	Keys      *account.KeyCache
	API       *httpapi.API
	Console   *console.Console
	Jobs      *job.Runner
	// Keyring seals cursors, links and the state of sign-ins and grants.
	Keyring *page.Keyring
	// MasterKey replaces the key that encrypts stored secrets.
	MasterKey seal.Rotation

	// Facts stores the metrics, separate from records. FactsFile is nil if
	// they are not in a file of this node. FactsReplacement replaces them.
	// Uploads stores uploaded files of own data.
	Facts            metrics.Engine
	FactsFile        *factsfile.File
	FactsReplacement factsfile.Replacement
	Uploads          assetfiles.Files
	Connections      *connection.Service
	Platforms        *registry.Registry
	Analytics        *analytics.Service
	Ingest           *ingest.Service
	Rates            *rates.Service

	// SignIn signs users in. Mail is nil if the server sends no email.
	SignIn *signin.Service
	Mail   *mail.Sender
	// Handler serves all requests that arrive over TLS.
	Handler http.Handler

	config    Config
	storeFile storefile.Guard
	// replaceable are the facts for FactsReplacement.
	replaceable factsfile.Facts
	quota       *ratelimit.NodeCounter
	ring        *seal.Ring
}

// diskReserve is the disk space reserved for urgent writes, enough for
// thousands of them.
const diskReserve = 16 << 20

// OpenEngine opens the database of a store setting.
func OpenEngine(ctx context.Context, setting string) (store.Engine, error) {
	if postgres.IsURL(setting) {
		e, err := postgres.Open(ctx, setting, postgres.Options{})
		if err != nil {
			return nil, err
		}
		return e, nil
	}
	e, err := sqlite.Open(setting, sqlite.Options{Reserve: diskReserve})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Open opens the store, migrates its schema and builds the service.
func Open(ctx context.Context, c Config) (*App, error) {
	engine := c.Engine
	if engine == nil {
		var err error
		if engine, err = OpenEngine(ctx, c.Store); err != nil {
			return nil, err
		}
	}
	a := &App{Engine: engine, config: c}
	if err := a.build(ctx); err != nil {
		if a.Facts != nil {
			err = errors.Join(err, a.Facts.Close())
		}
		return nil, errors.Join(err, engine.Close())
	}
	return a, nil
}

func (a *App) build(ctx context.Context) error {
	c := a.config
	a.DB = store.New(a.Engine, c.CachedRecords, c.Now, c.Random)
	a.storeFile = storefile.Guard{Path: c.Store, Engine: a.Engine, DB: a.DB, Now: c.Now, Log: c.Log}
	steps, err := store.Migrate(ctx, a.Engine, c.Now)
	if err != nil {
		return err
	}
	if len(steps) > 0 {
		c.Log.Info("database schema migrated", "steps", strings.Join(steps, ", "))
	}
	left, err := store.FindPending(ctx, a.Engine)
	if err != nil {
		return err
	}
	if len(left.Contract) > 0 {
		c.Log.Warn("database schema steps wait: run `fanfare migrate --contract` when every node runs this release", "steps", strings.Join(left.Contract, ", "))
	}
	if err := a.DB.CheckComplete(ctx); err != nil {
		return err
	}
	a.Accounts = account.New(a.DB.Accounts(), c.Now, c.Random)
	a.Keys = account.NewKeyCache(a.DB.Accounts(), a.Accounts, !a.Engine.Traits().Exclusive, c.Now)
	a.DB.OnAuth(a.Keys.Forget)
	if a.Keyring, err = page.NewKeyring(ctx, a.DB.CursorKeys, c.Random); err != nil {
		return err
	}
	if a.ring, err = seal.Open(ctx, seal.Options{Path: c.MasterKey, Alone: a.Engine.Traits().Exclusive, Accept: c.AcceptMasterKey, Notes: a.DB, Random: c.Random, Log: c.Log}); err != nil {
		return err
	}
	if err := a.buildSignIn(); err != nil {
		return err
	}
	if err := a.openMetrics(ctx); err != nil {
		return err
	}
	if err := a.buildSlices(ctx); err != nil {
		return err
	}
	if a.quota, err = ratelimit.OpenCounter(ctx, a.DB.Quotas(), a.Engine.Traits().Exclusive); err != nil {
		return err
	}
	documents, err := docs.New(docs.Sources{Contract: api.YAML, Changelog: c.Changelog, Files: fanfare.Guides, Build: c.Build, Start: c.Now()})
	if err != nil {
		return err
	}
	a.API = httpapi.New(httpapi.Deps{
		Campaigns: a.Campaigns, Creatives: a.Creatives, Assets: a.Assets, Audiences: a.Audiences, Analytics: a.Analytics, Ingest: a.Ingest, Rates: a.Rates, Search: a.buildSearch(documents), Reports: a.buildReports(),
		Connections: a.Connections, Events: a.DB.Events(), Answers: a.DB, Accounts: a.Accounts, Keys: a.Keys,
		Quota: a.quota, QuotaEvents: a.DB, Limits: c.Limits, Cursors: a.Keyring.Sealer, Ready: a.DB.Ready, FactsFault: a.FactsFile.Problem, ChangesLost: a.storeFile.ChangesLost, Refusal: a.storeFile.Refusal,
		Contract: api.YAML, Docs: documents, Build: c.Build, PublicURL: c.PublicURL, HSTS: c.HSTS, KeepExposedKeys: c.KeepExposedKeys,
		MaxInFlight: c.MaxInFlight, Progress: c.Progress, MaxUploads: c.Memory.Uploads, CORSOrigins: c.CORSOrigins, Now: c.Now, RequestSeed: mathrand.Uint64, Log: c.Log,
	})
	if err := a.buildConsole(); err != nil {
		return err
	}
	a.registerJobs()
	a.Platforms.WarnOfSunsets(c.Now(), c.Log)
	a.MasterKey = a.rotation()
	if err := a.MasterKey.WarnMissing(ctx, c.Log); err != nil {
		return err
	}
	return a.storeFile.Open(ctx)
}

// buildSlices creates the slices, each before those that use it.
func (a *App) buildSlices(ctx context.Context) (err error) {
	c := a.config
	if err := assetfiles.Check(ctx, c.Assets, c.Now, c.Random); err != nil {
		return err
	}
	a.buildAnalytics()
	a.Audiences = audience.New(a.DB.Audiences(), a.Analytics, c.Now, c.Random)
	refs := map[string]campaign.References{"audience_ids": a.DB.Audiences(), "creative_ids": a.DB.Creatives(), "connection_ids": a.DB.Connections()}
	a.Campaigns = campaign.New(a.DB.Campaigns(), refs, a.Analytics, c.Now, c.Random)
	if err := a.buildConnections(); err != nil {
		return err
	}
	a.Campaigns.Platforms = a.Connections
	if err := a.buildIngest(); err != nil {
		return err
	}
	if a.Files, err = assetfiles.Open(c.Assets, "", c.Now, c.Random); err != nil {
		return err
	}
	a.Assets = asset.New(a.DB.Assets(), a.Files, a.Keyring.Sealer, a.Accounts.Founder, c.MaxAssetBytes, c.Now, c.Random)
	return a.buildCreatives()
}

// rotation covers the secrets of models, connections and users.
func (a *App) rotation() seal.Rotation {
	return seal.Rotation{Ring: a.ring, Store: a.DB, Rewraps: []seal.Rewrap{
		a.Providers.RewrapShared, seal.RewrapEach(a.Accounts.WorkspaceIDs, a.Providers.Rewrap),
		seal.RewrapEach(a.Accounts.WorkspaceIDs, func(ctx context.Context, _ record.Cause, workspace ident.ID) (int, error) {
			return a.Connections.Rewrap(ctx, workspace, a.ring.Rewrap)
		}),
		func(ctx context.Context, _ record.Cause) (int, error) {
			return a.DB.SignIn().Rewrap(ctx, a.ring.Rewrap)
		},
	}}
}

// Run runs the background jobs until ctx ends.
func (a *App) Run(ctx context.Context) {
	tasks := job.Tasks{Log: a.config.Log}
	tasks.Go(func() { a.Jobs.RunAlways(ctx) })
	tasks.Go(func() { a.storeFile.CheckThoroughly(ctx) })
	tasks.Every(ctx, storefile.WatchEvery, "watch database file", a.storeFile.Watch)
	tasks.Every(ctx, ratelimit.SaveEvery, "save request counters", a.quota.Save)
	tasks.Every(ctx, account.FlushEvery, "write key use", a.Keys.Flush)
	tasks.Every(ctx, factsfile.RecordEvery, "note generation of facts", a.FactsFile.RecordGeneration)
	tasks.Every(ctx, page.RefreshEvery, "refresh cursor keys", a.Keyring.Refresh)
	tasks.Wait()
}

// Close stores what is only in memory and closes the store.
func (a *App) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	a.Connections.Wait()
	a.SignIn.Wait()
	a.Console.Wait()
	return errors.Join(a.FactsFile.RecordGeneration(ctx), a.quota.Save(ctx), a.Keys.Flush(ctx), a.Files.Close(), a.Uploads.Close(), a.Facts.Close(), a.Engine.Close(), a.DB.CloseChangeCounter())
}
