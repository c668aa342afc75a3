// Package fact defines facts: the daily rows of metrics that platforms report,
// their families and their measures. Imports, the fact store and queries all
// use it.
package fact

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Family is a kind of report. Platforms deliver each breakdown as a separate
// report, so adding up two families would count everything twice.
type Family uint8

// The families.
const (
	Base Family = iota
	Geo
	Demographic
	Device
	// NumFamilies is the number of families.
	NumFamilies = iota
)

// Families has the names of the families, in order.
var Families = []string{"base", "geo", "demographic", "device"}

func (f Family) String() string { return Families[f] }

// Unknown is the value of a breakdown that the platform reports as unknown.
const Unknown = "unknown"

// Allowed values of the breakdowns with a fixed set.
var (
	Channels  = []string{"search", "social", "display", "video", "audio", "email", "sms", "push", "affiliate", "influencer", "direct_mail", "other"}
	AgeRanges = []string{"13-17", "18-24", "25-34", "35-44", "45-54", "55-64", "65+", Unknown}
	Genders   = []string{"female", "male", "other", Unknown}
	Devices   = []string{"desktop", "mobile", "tablet", "tv", "other", Unknown}
)

// Measure is a number that facts have.
type Measure uint8

// The measures. All of them except reach can be added up.
const (
	Impressions Measure = iota
	Clicks
	Spend
	Conversions
	Revenue
	Leads
	Engagements
	VideoViews
	VideoCompletions
	Sends
	Deliveries
	Opens
	Bounces
	Unsubscribes
	Complaints
	Reach
	// NumMeasures is the number of measures.
	NumMeasures = iota
)

// Measures has the names of the measures, in order.
var Measures = []string{
	"impressions", "clicks", "spend", "conversions", "revenue", "leads", "engagements", "video_views", "video_completions",
	"sends", "deliveries", "opens", "bounces", "unsubscribes", "complaints", "reach",
}

// Metrics has the names of all metrics: the measures and the metrics that are
// computed from them. The catalog in analytics defines each of them.
var Metrics = append(slices.Clone(Measures),
	"ctr", "cpc", "cpm", "cpa", "cpl", "cvr", "roas", "roi", "aov", "engagement_rate", "cpe", "cpv",
	"video_completion_rate", "frequency", "delivery_rate", "bounce_rate", "open_rate", "unsubscribe_rate", "complaint_rate", "spend_share", "conversion_share", "pacing",
)

func (m Measure) String() string { return Measures[m] }

// Money reports whether the measure is an amount in the account's currency.
func (m Measure) Money() bool { return m == Spend || m == Revenue }

// Scaled reports whether values are in millionths: amounts, and conversions,
// which platforms attribute in fractions. All others are integers.
func (m Measure) Scaled() bool { return m.Money() || m == Conversions }

// MaxValue is the largest value of a measure in one row, in its own unit. Sums
// over all rows of a workspace fit 128 bits, and realistic sums fit 64.
const MaxValue = 1_000_000_000_000_000

// Values has the measures of one row. Unknown is not zero.
type Values struct {
	V     [NumMeasures]int64
	known uint16
}

// Set sets a measure.
func (v *Values) Set(m Measure, n int64) { v.V[m], v.known = n, v.known|1<<m }

// Get returns a measure and whether it is known.
func (v *Values) Get(m Measure) (int64, bool) { return v.V[m], v.known&(1<<m) != 0 }

// Source is an account on a platform that facts come from. Amounts are in its
// currency, days in its time zone.
type Source struct {
	Connection ident.ID       `json:"connection_id"`
	Platform   string         `json:"platform"`
	Account    string         `json:"account_id"`
	Currency   money.Currency `json:"currency"`
	Zone       string         `json:"timezone"`
}

// Entity is a campaign, an ad or an audience on a platform. Record is the
// linked record, empty if it is not linked. VariantID is the variant of that
// creative, if the ad shows a known one.
type Entity struct {
	ExternalID string
	Name       string
	Record     ident.ID
	VariantID  ident.ID
}

// IsSet reports whether the row has this entity.
func (e Entity) IsSet() bool { return e.ExternalID != "" || e.Record != "" }

// Key identifies the entity within its connection. For rows that name only the
// record, it is the record's id.
func (e Entity) Key() string {
	return cmp.Or(e.ExternalID, string(e.VariantID), string(e.Record))
}

// Row is one daily fact. Its key is everything except names, links and values.
// A source and family have one row per key.
type Row struct {
	Source   *Source
	Family   Family
	Date     clock.Date
	Channel  string
	Campaign Entity
	// Creative is empty in every family except Base.
	Creative Entity
	Audience Entity
	// Country is set in Geo, AgeRange and Gender in Demographic, Device in
	// Device. Empty means unknown.
	Country, AgeRange, Gender, Device string
	Values                            Values
}

// Window is what a replacement deletes: the days of one family of one account.
type Window struct {
	Source      *Source
	Family      Family
	First, Last clock.Date
}

// Batch is one atomic write of a workspace's facts.
type Batch struct {
	Workspace ident.ID
	// Import, if set, marks the rows, so that the import can be undone.
	Import ident.ID
	// Replace lists the windows to delete first; every row is in one of them.
	// Without windows, a row replaces only the row with its key.
	Replace []Window
	// Rows have distinct keys.
	Rows []Row
	// Links set or remove the records of entities. They also apply to stored
	// facts.
	Links []Link
	// MaxWait is how long the write waits for its turn, 0 for as long as its
	// context. A longer wait is an unavailable fault.
	MaxWait time.Duration
}

// Check refuses a batch without a workspace, and a row outside of the windows to
// replace, because such a row would be counted twice.
func (b *Batch) Check() error {
	if b.Workspace == "" {
		return errors.New("the batch names no workspace")
	}
	in := func(w Window, r *Row) bool {
		return w.Family == r.Family && r.Date >= w.First && r.Date <= w.Last && w.Source.Connection == r.Source.Connection && w.Source.Account == r.Source.Account
	}
	last := 0
	for i := range b.Rows {
		r := &b.Rows[i]
		if int(r.Family) >= len(Families) {
			return fmt.Errorf("row %d: there is no family %d", i, r.Family)
		}
		if len(b.Replace) == 0 || in(b.Replace[last], r) {
			continue
		}
		if last = slices.IndexFunc(b.Replace, func(w Window) bool { return in(w, r) }); last < 0 {
			return fmt.Errorf("row %d of %s is in none of the windows to replace: widen a window or leave the row out", i, r.Date)
		}
	}
	return nil
}

// Link assigns an entity of a connection to a record.
type Link struct {
	Connection ident.ID
	Kind       string
	Entity     Entity
}

// EventCount is a position in the events of a workspace. Equal positions mean
// that no event happened in between.
type EventCount struct {
	Events int64
	Last   string
}

// Kinds of records that entities are linked to.
const (
	KindCampaign = "campaign"
	KindCreative = "creative"
	KindAudience = "audience"
)

// Record has the fields of a record that facts are grouped and filtered by.
type Record struct {
	ID        ident.ID
	Kind      string
	Name      string
	Status    string
	Objective string
	Type      string
	Tags      []string
}

// Coverage is a source and the days for which it has facts.
type Coverage struct {
	Source
	First, Last clock.Date
	// Families has the extent of each family.
	Families [NumFamilies]Extent
}

// Extent is the number of facts of a family, and their first and last day. It
// is zero without facts.
type Extent struct {
	Rows        int64
	First, Last clock.Date
}

// Add adds facts of the given days.
func (x *Extent) Add(rows int64, first, last clock.Date) {
	if x.Rows == 0 {
		x.First, x.Last = first, last
	}
	x.Rows, x.First, x.Last = x.Rows+rows, min(x.First, first), max(x.Last, last)
}

// Covers reports whether the family may have facts from first to last, both
// included.
func (x *Extent) Covers(first, last clock.Date) bool {
	return x.Rows > 0 && x.First <= last && x.Last >= first
}
