// Package connection holds the connection: a platform, or a source of the
// caller's own, that facts come from, with the accounts on it and how far its
// numbers have come. It knows no HTTP, no SQL and no fact itself. What it needs
// from a store is in store.go.
package connection

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

// Limits of what a caller names.
const (
	MaxName      = 200
	MaxAccountID = 200
	// MaxAccounts is how many accounts a connection may have.
	MaxAccounts = 1000
)

// The platforms. Both take what callers bring themselves: rows by request, and
// files.
const (
	PlatformAPI = "api"
	PlatformCSV = "csv"
)

// Platforms lists what is built.
var Platforms = []string{PlatformAPI, PlatformCSV}

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

// Statuses lists all statuses in the order of a life. Disconnected is the end.
var Statuses = []string{string(StatusPending), string(StatusConnected), string(StatusReauthRequired), string(StatusError), string(StatusDisconnected)}

// CapabilityReadMetrics says that numbers come through the connection.
const CapabilityReadMetrics = "read_metrics"

// SyncIdle is the state of a connection that nothing is fetched from at the
// moment.
const SyncIdle = "idle"

// Connection is the whole record as the API answers it.
type Connection struct {
	ID           ident.ID  `json:"id"`
	Platform     string    `json:"platform"`
	Name         string    `json:"name"`
	Status       Status    `json:"status"`
	StatusReason *Reason   `json:"status_reason"`
	Accounts     []Account `json:"accounts"`

	Capabilities        []string       `json:"capabilities"`
	ScopesGranted       []string       `json:"scopes_granted"`
	ScopesMissing       []string       `json:"scopes_missing"`
	CredentialsExpireAt *clock.Instant `json:"credentials_expire_at"`

	Sync      Sync    `json:"sync"`
	Health    Health  `json:"health"`
	ReauthURL *string `json:"reauth_url"`

	record.Common
}

// Read reads a record as it is answered.
func Read(d record.Doc) (*Connection, error) {
	c := &Connection{}
	if err := json.Unmarshal(d.JSON, c); err != nil {
		return nil, fmt.Errorf("read connection: %w", err)
	}
	return c, nil
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
	Name       string         `json:"name"`
	Currency   money.Currency `json:"currency"`
	Timezone   string         `json:"timezone"`
	URL        *string        `json:"url"`
	Enabled    bool           `json:"enabled"`
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
}

// Health is how reliable the connection is.
type Health struct {
	SuccessRate7d *float64 `json:"success_rate_7d"`
	// LagSeconds is how long after the end of the last day with numbers the
	// latest ones came.
	LagSeconds *int64 `json:"lag_seconds"`
}
