// Package connection holds the connection: a platform, or a source of the
// caller's own, that facts come from, with the accounts on it and how far its
// numbers have come. It knows no HTTP, no SQL and no fact itself. What it needs
// from a store is in store.go.
package connection

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Limits of what a caller names.
const (
	MaxName      = 200
	MaxAccountID = 200
	// MaxAccounts is how many accounts a connection may have.
	MaxAccounts = 1000
	// MinInterval and MaxInterval limit the minutes between syncs, MinLookback
	// and MaxLookback the past days that each reads again.
	MinInterval = 15
	MaxInterval = 1440
	MinLookback = 1
	MaxLookback = 90
)

// The platforms. Those of others are synced; csv and api take what callers bring
// themselves, as files and by request; a sandbox plays all those of others.
const (
	PlatformGoogleAds    = "google_ads"
	PlatformMetaAds      = "meta_ads"
	PlatformTikTokAds    = "tiktok_ads"
	PlatformLinkedInAds  = "linkedin_ads"
	PlatformGA4          = "ga4"
	PlatformMicrosoftAds = "microsoft_ads"
	PlatformCSV          = "csv"
	PlatformAPI          = "api"
	PlatformSandbox      = "sandbox"
)

// Platforms lists what is built, Played what a sandbox plays, and Connectable
// what can be connected by asking for it.
var (
	Played      = []string{PlatformGoogleAds, PlatformMetaAds, PlatformTikTokAds, PlatformLinkedInAds, PlatformGA4, PlatformMicrosoftAds}
	Platforms   = slices.Concat(Played, []string{PlatformCSV, PlatformAPI, PlatformSandbox})
	Connectable = slices.Concat(Played, []string{PlatformSandbox})
)

// Status says whether a connection can be used.
type Status string

// The statuses.
const (
	StatusPending        Status = "pending"
	StatusConnected      Status = "connected"
	StatusReauthRequired Status = "reauth_required"
	StatusError          Status = "error"
	StatusDisconnected   Status = "disconnected"
)

// Usability returns whether campaigns can use the connection.
func (c *Connection) Usability() record.Usability {
	u := record.Usability{OwnData: c.Platform == PlatformAPI || c.Platform == PlatformCSV}
	switch c.Status {
	case StatusPending:
		u.Issue = "no_connection"
	case StatusReauthRequired:
		u.Issue = "connection_reauth_required"
	case StatusError:
		u.Issue = "connection_error"
	case StatusDisconnected:
		u.Issue, u.Archived = "no_connection", true
	case StatusConnected:
	}
	return u
}

// Statuses lists all statuses in the order of a life. Disconnected is the end.
var Statuses = []string{string(StatusPending), string(StatusConnected), string(StatusReauthRequired), string(StatusError), string(StatusDisconnected)}

// What can be done through a connection.
const (
	CapabilityReadMetrics    = "read_metrics"
	CapabilityReadCampaigns  = "read_campaigns"
	CapabilityWriteCampaigns = "write_campaigns"
	CapabilityReadAudiences  = "read_audiences"
	CapabilityReadCreative   = "read_creative"
)

// States of syncing: nothing to do, something to do, being done.
const (
	SyncIdle    = "idle"
	SyncQueued  = "queued"
	SyncRunning = "running"
)

// Connection is the whole record as the API answers it.
type Connection struct {
	ID           ident.ID `json:"id"`
	Platform     string   `json:"platform"`
	Name         string   `json:"name"`
	Status       Status   `json:"status"`
	StatusReason *Reason  `json:"status_reason"`
	// DataLostAt is when facts of the connection were last lost, nil if all are
	// stored.
	DataLostAt *clock.Instant `json:"data_lost_at"`
	Accounts   []Account      `json:"accounts"`

	Capabilities        []string       `json:"capabilities"`
	ScopesGranted       []string       `json:"scopes_granted"`
	ScopesMissing       []string       `json:"scopes_missing"`
	CredentialsExpireAt *clock.Instant `json:"credentials_expire_at"`
	Config              Config         `json:"config"`
	// WriteEnabled says that states of campaigns are written to the platform,
	// LinkByName that syncs link what has a record's name.
	WriteEnabled bool `json:"write_enabled"`
	LinkByName   bool `json:"link_by_name"`
	// ConversionEvents are the platform's names of the events that count as
	// conversions, empty for the choice that each account has made on the
	// platform.
	ConversionEvents []string `json:"conversion_events"`
	// AccountSelection says which accounts are synced.
	AccountSelection Selection `json:"account_selection"`

	Sync   Sync   `json:"sync"`
	Health Health `json:"health"`
	// AuthorizationURL is where a person grants access, ReauthURL the page on
	// which that begins.
	AuthorizationURL *string `json:"authorization_url"`
	ReauthURL        *string `json:"reauth_url"`

	record.Common

	// Private is what the service remembers and nobody is shown.
	Private Private `json:"-"`
}

// Config is what a connection was made with, beside secrets.
type Config struct {
	Seed     *int64         `json:"seed,omitzero"`
	Currency money.Currency `json:"currency,omitzero"`
	Timezone string         `json:"timezone,omitzero"`
}

// Private is what belongs to a connection and is not answered.
type Private struct {
	// Sealed are the credentials, SealVersion counts how often they were set.
	Sealed      string `json:"sealed,omitzero"`
	SealVersion int64  `json:"seal_version,omitzero"`
	// Phase is a time that connections with the same grant have in common, so that
	// they are synced together; 0 without a grant.
	Phase clock.Instant `json:"phase,omitzero"`
	// Granting is an authorization that has begun.
	Granting *Granting `json:"granting,omitzero"`
	// Queue are the runs that wait for their turn, by id.
	Queue []ident.ID `json:"queue,omitzero"`
	// Unlisted are the accounts that were switched off because the platform no
	// longer listed them, by external id.
	Unlisted []string `json:"unlisted,omitzero"`
	// Changed are the accounts that were switched off because they have another
	// currency or time zone than before, by external id.
	Changed []string `json:"changed,omitzero"`
	// Denied are the accounts that the platform lists and does not let us read,
	// by external id, with its message.
	Denied map[string]string `json:"denied,omitzero"`
	// DeniedRemedies are what a person can do about it, by the same ids.
	DeniedRemedies map[string]string `json:"denied_remedies,omitzero"`
	// Active are the last days on which accounts showed ads, by external id.
	Active map[string]clock.Date `json:"active,omitzero"`
	// Whole is when all days were last read that may still change, Deep when
	// those far back were.
	Whole clock.Instant `json:"whole,omitzero"`
	Deep  clock.Instant `json:"deep,omitzero"`
	// ReadAgainAt is when numbers got another meaning. Runs that began before do
	// not count.
	ReadAgainAt clock.Instant `json:"read_again_at,omitzero"`
	// History says that the past is read: the first sync was done, not canceled.
	History bool `json:"history,omitzero"`
	// Unread are the lost days that a platform has to be asked for again.
	Unread *Unread `json:"unread,omitzero"`
	// Purged says that the caller had all facts erased for good.
	Purged bool `json:"purged,omitzero"`
	// HadFacts says that facts were stored before a loss. They may be there
	// again without a sync or a call: from a backup.
	HadFacts bool `json:"had_facts,omitzero"`
	// Failures counts failed runs in a row; Outcomes are the runs of a week.
	Failures int64     `json:"failures,omitzero"`
	Outcomes []Outcome `json:"outcomes,omitzero"`
}

// Outcome is how a run ended.
type Outcome struct {
	At clock.Instant `json:"at"`
	OK bool          `json:"ok"`
}

// Read reads a record as it is answered.
func Read(d record.Doc) (*Connection, error) {
	c := &Connection{}
	if err := json.Unmarshal(d.JSON, c); err != nil {
		return nil, fmt.Errorf("read connection: %w", err)
	}
	return c, nil
}

// Lister lists the connections of a workspace. Store implements it.
type Lister interface {
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
}

// All reads all connections of a workspace, including disconnected ones.
func All(ctx context.Context, from Lister, workspace ident.ID) ([]*Connection, error) {
	var all []*Connection
	q := page.Query{Sort: "created_at", Status: []string{}, Limit: page.MaxLimit}
	for {
		p, err := from.List(ctx, workspace, q)
		if err != nil {
			return nil, err
		}
		for _, d := range p.Docs {
			c, err := Read(d)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
		if p.Next == nil {
			return all, nil
		}
		q.After = p.Next
	}
}

// Reason is why a connection has its status.
type Reason struct {
	Code        string        `json:"code"`
	Message     string        `json:"message"`
	Since       clock.Instant `json:"since"`
	Remediation *string       `json:"remediation"`
}

// Account is an account on the platform. Its amounts are in its currency, its
// days are those of its zone; neither ever changes, because facts rely on both.
type Account struct {
	ExternalID string         `json:"external_id"`
	Platform   string         `json:"platform"`
	Name       string         `json:"name"`
	Currency   money.Currency `json:"currency"`
	Timezone   string         `json:"timezone"`
	URL        *string        `json:"url"`
	Enabled    bool           `json:"enabled"`
	// Reports say which days were read and what they lack, for platforms.
	Reports []AccountReport `json:"reports"`
	// Problem is why a platform lists the account and does not let us read it,
	// nil if it can be read.
	Problem *Error `json:"-"`
}

// Sync is how far the numbers have come and when more are fetched. Where
// callers bring them, nothing is fetched and the members about that are null.
type Sync struct {
	State           string         `json:"state"`
	CurrentRunID    *ident.ID      `json:"current_run_id"`
	LastRunID       *ident.ID      `json:"last_run_id"`
	LastSuccessAt   *clock.Instant `json:"last_success_at"`
	LastError       *RunError      `json:"last_error"`
	NextRunAt       *clock.Instant `json:"next_run_at"`
	IntervalMinutes *int64         `json:"interval_minutes"`
	// LookbackDays is for how long a day's numbers may still change by
	// themselves.
	LookbackDays int64 `json:"lookback_days"`
	// DataThrough is the last day with numbers, BackfilledSince the first.
	DataThrough     *clock.Date `json:"data_through"`
	BackfilledSince *clock.Date `json:"backfilled_since"`
}

// RunError is why fetching did not work.
type RunError struct {
	Class     string `json:"class"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
	// Remediation is what a person can do, nil if it goes away by itself.
	Remediation *string `json:"remediation"`
}

// Health is how reliable the connection is.
type Health struct {
	SuccessRate7d *float64 `json:"success_rate_7d"`
	// LagSeconds is how long after the end of the last day with numbers the
	// latest ones came.
	LagSeconds *int64 `json:"lag_seconds"`
}
