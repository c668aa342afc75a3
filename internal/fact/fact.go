// Package fact is the vocabulary of facts: what a platform reports for a day,
// in which family of reports, with which measures. Whoever brings facts in,
// keeps them or asks about them speaks these words.
package fact

import (
	"cmp"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Family is a kind of report. Platforms deliver each breakdown as a report of
// its own, so adding up two families would count everything twice.
type Family uint8

// The families.
const (
	Base Family = iota
	Geo
	Demographic
	Device
	// NumFamilies is how many there are.
	NumFamilies = iota
)

// Families are their names, in order.
var Families = []string{"base", "geo", "demographic", "device"}

func (f Family) String() string { return Families[f] }

// Unknown is the value of a breakdown where the platform says that it does not
// know.
const Unknown = "unknown"

// Values of the breakdowns that have a fixed set.
var (
	Channels  = []string{"search", "social", "display", "video", "audio", "email", "sms", "push", "affiliate", "influencer", "direct_mail", "other"}
	AgeRanges = []string{"13-17", "18-24", "25-34", "35-44", "45-54", "55-64", "65+", Unknown}
	Genders   = []string{"female", "male", "other", Unknown}
	Devices   = []string{"desktop", "mobile", "tablet", "tv", "other", Unknown}
)

// Measure is something that is counted.
type Measure uint8

// The measures. Reach is the only one that cannot be added up.
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
	// NumMeasures is how many there are.
	NumMeasures = iota
)

// Measures are their names, in order.
var Measures = []string{
	"impressions", "clicks", "spend", "conversions", "revenue", "leads", "engagements", "video_views", "video_completions",
	"sends", "deliveries", "opens", "bounces", "unsubscribes", "complaints", "reach",
}

func (m Measure) String() string { return Measures[m] }

// Money reports whether the measure is an amount in the account's currency.
func (m Measure) Money() bool { return m == Spend || m == Revenue }

// Scaled reports whether values are millionths: amounts, and conversions,
// which platforms credit in parts. All others are whole numbers.
func (m Measure) Scaled() bool { return m.Money() || m == Conversions }

// MaxValue is the largest value of one measure in one row, in its own unit:
// sums over all rows that a workspace can have still fit 128 bits, and sums of
// what is true fit 64.
const MaxValue = 1_000_000_000_000_000

// Values are the measures of one row. What is not known is not zero.
type Values struct {
	V     [NumMeasures]int64
	known uint16
}

// Set sets a measure.
func (v *Values) Set(m Measure, n int64) { v.V[m], v.known = n, v.known|1<<m }

// Get returns a measure and whether it is known.
func (v *Values) Get(m Measure) (int64, bool) { return v.V[m], v.known&(1<<m) != 0 }

// Source is an account on a platform that facts come from. Amounts are in its
// currency, days are those of its zone.
type Source struct {
	Connection ident.ID       `json:"connection_id"`
	Platform   string         `json:"platform"`
	Account    string         `json:"account_id"`
	Currency   money.Currency `json:"currency"`
	Zone       string         `json:"timezone"`
}

// Entity is something on a platform: a campaign, an ad, an audience. Record is
// ours that it is linked to, empty where there is none; Part is the variant of
// that creative, where the ad shows a known one.
type Entity struct {
	External string
	Name     string
	Record   ident.ID
	Part     ident.ID
}

// There reports whether the row has such an entity at all.
func (e Entity) There() bool { return e.External != "" || e.Record != "" }

// Key identifies the entity within its connection. Rows that name only our
// record have that as their key.
func (e Entity) Key() string {
	return cmp.Or(e.External, string(e.Part), string(e.Record))
}

// Row is one daily fact. Its key is everything but names, links and values;
// within a source and family there is one row per key.
type Row struct {
	Source   *Source
	Family   Family
	Date     clock.Date
	Channel  string
	Campaign Entity
	// Creative is nil in every family but Base.
	Creative Entity
	Audience Entity
	// Country belongs to Geo, AgeRange and Gender to Demographic, Device to
	// Device; empty is unknown.
	Country, AgeRange, Gender, Device string
	Values                            Values
}

// Window is what a replacement empties: the days of one family of one account.
type Window struct {
	Source      *Source
	Family      Family
	First, Last clock.Date
}

// Batch is what one write brings into the facts of a workspace, all of it or
// nothing.
type Batch struct {
	Workspace ident.ID
	// Import, if set, marks the rows so that they can be taken out again.
	Import ident.ID
	// Replace are emptied first; every row is in one of them. Without any, a
	// row replaces only the one that has its key.
	Replace []Window
	// Rows have no two with one key.
	Rows []Row
	// Links say which records entities are from now on, or that they are none
	// of ours any more. Facts that are there follow.
	Links []Link
}

// Link is which record of ours an entity on a connection is.
type Link struct {
	Connection ident.ID
	Kind       string
	Entity     Entity
}

// News marks the events of a workspace since some moment. Two equal marks mean
// that nothing has happened in between.
type News struct {
	Events int64
	Last   string
}

// Kinds of records that entities are linked to.
const (
	KindCampaign = "campaign"
	KindCreative = "creative"
	KindAudience = "audience"
)

// Record is what facts need to know about one of ours to be grouped and
// filtered by it.
type Record struct {
	ID        ident.ID
	Kind      string
	Name      string
	Status    string
	Objective string
	Type      string
	Tags      []string
}

// Coverage is a source and the days that it has facts for.
type Coverage struct {
	Source
	First, Last clock.Date
	// Families is what there is of each family.
	Families [NumFamilies]Extent
}

// Extent is how many facts of a family there are, and their first and last
// day. It is zero where there are none.
type Extent struct {
	Rows        int64
	First, Last clock.Date
}

// Add counts facts of some days.
func (x *Extent) Add(rows int64, first, last clock.Date) {
	if x.Rows == 0 {
		x.First, x.Last = first, last
	}
	x.Rows, x.First, x.Last = x.Rows+rows, min(x.First, first), max(x.Last, last)
}

// Covers reports whether there may be facts in a run of days, both included.
func (x *Extent) Covers(first, last clock.Date) bool {
	return x.Rows > 0 && x.First <= last && x.Last >= first
}
