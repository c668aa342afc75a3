// Package campaign defines campaigns: their fields, their state machine and
// their delivery issues. It uses no HTTP and no SQL; store.go declares the
// interfaces that it needs.
package campaign

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

// Limits of the writable fields. The OpenAPI contract has the same limits.
// Amounts are limited by money.MaxUnits, which body.Reader.Amount checks, and by
// readBudget and checkBudgetCoversSpend.
const (
	MaxName        = 200
	MaxDescription = 2000
	MaxAudiences   = 50
	MaxCreatives   = 100
	MaxConnections = 20
	MaxUTM         = 200
	// MaxMinConversions limits experiment.min_conversions.
	MaxMinConversions = 1_000_000_000
)

// Allowed values of the enumerated fields.
var (
	Objectives  = []string{"awareness", "traffic", "engagement", "leads", "app_promotion", "sales"}
	Channels    = fact.Channels
	BudgetTypes = []string{daily, lifetime}
	Pacings     = []string{"even", "asap", "front_loaded"}
	Directions  = []string{"at_most", "at_least"}
	Models      = []string{"platform", "last_touch", "first_touch", "linear", "time_decay"}
	ClickDays   = []int64{1, 7, 14, 28, 30, 90}
	ViewDays    = []int64{0, 1}
	Splits      = []string{"even", "weighted"}
	Macros      = []string{"campaign.id", "campaign.name", "creative.id", "creative.name", "audience.id", "audience.name", "channel", "platform"}
	Metrics     = fact.Metrics
)

// Campaign is the whole record as the API returns it.
type Campaign struct {
	ID     ident.ID `json:"id"`
	Status Status   `json:"status"`

	Spec

	Delivery        Delivery             `json:"delivery"`
	AllowedActions  []Action             `json:"allowed_actions"`
	ExternalRefs    []record.ExternalRef `json:"external_refs"`
	SpendToDate     *Sum                 `json:"spend_to_date"`
	BudgetRemaining *Sum                 `json:"budget_remaining"`
	LaunchedAt      *clock.Instant       `json:"launched_at"`
	PausedAt        *clock.Instant       `json:"paused_at"`
	CompletedAt     *clock.Instant       `json:"completed_at"`

	record.Common

	// dailyCapReached means that spend has reached the daily limit. rateMissing
	// means that spend has no exchange rate to the campaign's currency. Between
	// two queries of the facts, the delivery issues store both flags.
	dailyCapReached, rateMissing bool
	// lostBy are the connections whose lost facts may include spend of the
	// campaign. The delivery issues store them too.
	lostBy []ident.ID
	// requestPause means that a caller stops the campaign while a platform
	// campaign may still run. The service then requests the pause even if the
	// campaign was not running.
	requestPause bool
}

// Read parses a stored document.
func Read(d record.Doc) (*Campaign, error) {
	c := &Campaign{}
	if err := json.Unmarshal(d.JSON, c); err != nil {
		return nil, fmt.Errorf("read campaign: %w", err)
	}
	return c, nil
}

// Spec has the fields that a caller can write.
type Spec struct {
	Name                string            `json:"name"`
	Description         *string           `json:"description"`
	Objective           *string           `json:"objective"`
	Channels            []string          `json:"channels"`
	Budget              *Budget           `json:"budget"`
	Schedule            Schedule          `json:"schedule"`
	AudienceIDs         []ident.ID        `json:"audience_ids"`
	ExcludedAudienceIDs []ident.ID        `json:"excluded_audience_ids"`
	CreativeIDs         []ident.ID        `json:"creative_ids"`
	ConnectionIDs       []ident.ID        `json:"connection_ids"`
	Goal                *Goal             `json:"goal"`
	Attribution         Attribution       `json:"attribution"`
	Tracking            *Tracking         `json:"tracking"`
	Experiment          *Experiment       `json:"experiment"`
	Tags                []string          `json:"tags"`
	Metadata            map[string]string `json:"metadata"`
}

// Budget limits the spend of a campaign.
type Budget struct {
	Type     string         `json:"type"`
	Amount   money.Amount   `json:"amount"`
	Currency money.Currency `json:"currency"`
	Pacing   string         `json:"pacing"`
	DailyCap *money.Amount  `json:"daily_cap"`
}

// Schedule is the time range in which the campaign may deliver.
type Schedule struct {
	StartAt  *clock.Instant `json:"start_at"`
	EndAt    *clock.Instant `json:"end_at"`
	Timezone string         `json:"timezone"`
}

// Goal is the metric target of the campaign.
type Goal struct {
	Metric    string  `json:"metric"`
	Target    float64 `json:"target"`
	Direction string  `json:"direction"`
}

// Attribution selects the conversions that count.
type Attribution struct {
	ClickDays int64  `json:"click_days"`
	ViewDays  int64  `json:"view_days"`
	Model     string `json:"model"`
}

// Tracking is the landing URL and how its clicks are tagged.
type Tracking struct {
	LandingURL *string `json:"landing_url"`
	UTM        UTM     `json:"utm"`
	AutoTag    bool    `json:"auto_tag"`
}

// UTM has the UTM parameters of the landing URL.
type UTM struct {
	Source   *string `json:"source"`
	Medium   *string `json:"medium"`
	Campaign *string `json:"campaign"`
	Content  *string `json:"content"`
	Term     *string `json:"term"`
}

// Experiment defines how variants are compared.
type Experiment struct {
	Split          string         `json:"split"`
	WinnerMetric   string         `json:"winner_metric"`
	MinConversions int64          `json:"min_conversions"`
	EndsAt         *clock.Instant `json:"ends_at"`
}

// Sum is an amount and the time for which it is valid.
type Sum struct {
	Amount   money.Amount   `json:"amount"`
	Currency money.Currency `json:"currency"`
	AsOf     clock.Instant  `json:"as_of"`
}

// DefaultAttribution applies if the caller sends no attribution.
var DefaultAttribution = Attribution{ClickDays: 7, ViewDays: 1, Model: "platform"}

// Flight returns the first and the last day on which the campaign is planned to
// spend, in the campaign's time zone. A nil day means no limit. The first day
// is never before the launch.
func (c *Campaign) Flight() (first, last *clock.Date, err error) {
	zone, err := clock.Zone(c.Schedule.Timezone)
	if err != nil {
		return nil, nil, err
	}
	day := func(at *clock.Instant) *clock.Date {
		if at == nil {
			return nil
		}
		d := clock.DateIn(at.Time(), zone)
		return &d
	}
	start := c.Schedule.StartAt
	if c.LaunchedAt != nil && (start == nil || *start < *c.LaunchedAt) {
		start = c.LaunchedAt
	}
	return day(start), day(c.Schedule.EndAt), nil
}
