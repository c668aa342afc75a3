package analytics

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Warning is information that a reader needs to interpret the metrics.
type Warning struct {
	Code        string         `json:"code"`
	Message     string         `json:"message"`
	Metric      string         `json:"metric,omitzero"`
	Dimension   string         `json:"dimension,omitzero"`
	Currency    money.Currency `json:"currency,omitzero"`
	Days        []clock.Date   `json:"days,omitzero"`
	DayCount    int            `json:"day_count,omitzero"`
	Timezones   []string       `json:"timezones,omitzero"`
	Platforms   []string       `json:"platforms,omitzero"`
	Connections []ident.ID     `json:"connection_ids,omitzero"`
	Amounts     []Amount       `json:"amounts,omitzero"`
}

// Amount is how much of a metric is at stake in an account.
type Amount struct {
	Account  string         `json:"account_id"`
	Metric   string         `json:"metric"`
	Amount   fact.Number    `json:"amount"`
	Currency money.Currency `json:"currency"`
}

// freshness says how current the metrics are.
type freshness struct {
	dataThrough, finalThrough *clock.Date
	stale                     []ident.ID
}

func (f freshness) append(b []byte) []byte {
	through := func(d *clock.Date) {
		if d != nil {
			b = appendDate(b, *d)
		} else {
			b = append(b, "null"...)
		}
	}
	b = append(b, `{"data_through":`...)
	through(f.dataThrough)
	b = append(b, `,"final_through":`...)
	through(f.finalThrough)
	b = append(b, `,"stale_connections":[`...)
	for _, id := range f.stale {
		b = append(appendWord(b, id), ',')
	}
	return append(closeList(b), '}')
}

// sourcesOf returns the sources that may have facts for the query in a span. It
// omits sources that the conditions exclude.
func (e *evaluation) sourcesOf(days span) []fact.Coverage {
	var list []fact.Coverage
	for i := range e.state.Sources {
		source := &e.state.Sources[i]
		yes, _ := e.r.where.canMatch(func(d string) ([]string, bool) {
			switch d {
			case "platform":
				return []string{source.Platform}, true
			case "connection_id":
				return []string{string(source.Connection)}, true
			case "account_id":
				return []string{source.Account}, true
			}
			return nil, false
		})
		if yes && covers(source, days) {
			list = append(list, *source)
		}
	}
	return list
}

// platforms returns the distinct platforms that may have facts for the query,
// sorted.
func (e *evaluation) platforms() []string {
	return distinct(e.sources, func(c fact.Coverage) string { return c.Platform })
}

func distinct[T any](list []T, of func(T) string) []string {
	var names []string
	for _, item := range list {
		names = append(names, of(item))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// contributingConnections returns the connections that may have facts for the
// query, sorted by id.
func (e *evaluation) contributingConnections() []Connection {
	ids := distinct(e.sources, func(c fact.Coverage) string { return string(c.Connection) })
	var list []Connection
	for _, c := range e.connections {
		if slices.Contains(ids, string(c.ID)) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b Connection) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return list
}

func (c *Connection) stale(now time.Time) bool {
	return c.StaleAfter > 0 && (c.LastSuccess == nil || now.Sub(c.LastSuccess.Time()) > c.StaleAfter)
}

// freshness returns the freshness of the least current connection.
func (e *evaluation) freshness(now time.Time) freshness {
	var f freshness
	earlier := func(least **clock.Date, d clock.Date) {
		if *least == nil || d < **least {
			*least = &d
		}
	}
	for _, c := range e.contributingConnections() {
		if c.stale(now) {
			f.stale = append(f.stale, c.ID)
		}
		through := clock.Date(0)
		for _, s := range e.sources {
			if s.Connection == c.ID {
				through = max(through, s.Last)
			}
		}
		if c.DataThrough != nil {
			through = *c.DataThrough
		}
		earlier(&f.dataThrough, through)
		earlier(&f.finalThrough, through-clock.Date(c.LookbackDays))
	}
	return f
}

// warnings returns the warnings in a stable order, never nil.
func (e *evaluation) warnings(now time.Time) []Warning {
	list := []Warning{}
	for _, m := range e.r.metrics[:e.r.shown] {
		if slices.Contains(m.needs, fact.Reach) && e.mixed[fact.Reach] {
			list = append(list, Warning{
				Code: "non_additive", Metric: m.Name,
				Message: m.Name + " is null wherever it would need the reach of several rows together: people who are in more than one cannot be told apart.",
			})
		}
	}
	list = append(list, e.missingRates()...)
	list = append(list, e.missingReports()...)
	if zones := distinct(e.sources, func(c fact.Coverage) string { return c.Zone }); len(zones) > 1 {
		list = append(list, Warning{Code: "mixed_timezones", Timezones: zones, Message: "Accounts have different time zones, and a day is the account's own: " + strings.Join(zones, ", ") + "."})
	}
	if slices.Contains(e.r.dimensions, dimensions["tag"]) {
		list = append(list, Warning{Code: "overlapping", Message: "A campaign with several tags is in several rows, so rows may add up to more than the totals; totals are null if the query filters by metrics or excludes tags."})
	}
	if platforms := e.convertingPlatforms(); len(platforms) > 1 {
		list = append(list, Warning{
			Code: "overlapping_conversions", Metric: "conversions", Platforms: platforms,
			Message: "Several platforms report conversions, and each may claim the same one: " + strings.Join(platforms, ", ") + ".",
		})
	}
	list = append(list, e.connectionWarnings(now)...)
	return list
}

// convertingPlatforms returns the platforms that report conversions for the
// query, sorted.
func (e *evaluation) convertingPlatforms() []string {
	var claimed []Group
	for _, g := range e.byPlatform {
		if g.Sums[0].Known && g.Sums[0].N != 0 {
			claimed = append(claimed, g)
		}
	}
	return distinct(claimed, func(g Group) string { return g.Values[0].ID })
}

// codesOf returns the distinct codes of warnings, in their order.
func codesOf(list []Warning) (codes []string) {
	for i := range list {
		if !slices.Contains(codes, list[i].Code) {
			codes = append(codes, list[i].Code)
		}
	}
	return codes
}

// lost returns the connections that may belong to the query and have lost
// facts, sorted. They need not contribute: all of their facts may be lost.
func (e *evaluation) lost() (ids []ident.ID) {
	for _, c := range e.connections {
		if !c.Lost {
			continue
		}
		yes, _ := e.r.where.canMatch(func(d string) ([]string, bool) {
			return []string{string(c.ID)}, d == "connection_id"
		})
		if yes {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// lostOf returns the connections that have lost facts, sorted.
func lostOf(connections []Connection) (ids []ident.ID) {
	for _, c := range connections {
		if c.Lost {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// LostMessage returns the message of the warning data_lost, empty if no
// connection of the workspace has lost facts. It is for responses that have
// metrics and no answer of a query.
func (s *Service) LostMessage(ctx context.Context, workspace ident.ID) (string, error) {
	list, err := s.connections(ctx, workspace)
	if err != nil || len(lostOf(list)) == 0 {
		return "", err
	}
	return lostMessage, nil
}

// lostWarnings returns the warnings about acknowledged changes that are missing
// from the database, own data among them, and about connections that have lost
// facts; nil for none.
func lostWarnings(changes string, ids []ident.ID) (list []Warning) {
	if changes != "" {
		list = append(list, Warning{Code: "changes_lost", Message: changes})
	}
	if len(ids) > 0 {
		list = append(list, Warning{Code: "data_lost", Connections: ids, Message: lostMessage})
	}
	return list
}

func (s *Service) changesLost() string {
	if s.ChangesLost == nil {
		return ""
	}
	return s.ChangesLost()
}

const lostMessage = "Metrics of these connections were lost on the server and are incomplete. Metrics of platforms are read again. Data of your own has to be sent again; then set data_lost_at of the connection to null with PATCH /v1/connections/{id}."

func (e *evaluation) connectionWarnings(now time.Time) (list []Warning) {
	list = lostWarnings(e.changesLost, e.lost())
	var stale, sandbox []ident.ID
	for _, c := range e.contributingConnections() {
		if c.stale(now) {
			stale = append(stale, c.ID)
		}
		if c.Sandbox {
			sandbox = append(sandbox, c.ID)
		}
	}
	list = append(list, e.incomplete()...)
	if len(stale) > 0 {
		list = append(list, Warning{Code: "stale_connections", Connections: stale, Message: fmt.Sprintf("%d connections have not synced for longer than expected; metrics of recent days may be missing.", len(stale))})
	}
	if len(sandbox) > 0 {
		list = append(list, Warning{Code: "sandbox_data", Connections: sandbox, Message: "The answer includes sandbox data. These numbers are simulated."})
	}
	return list
}

// maxWarningDays is the maximum number of days that a warning lists.
const maxWarningDays = 10

// missingRates returns warnings for the currencies and days without an exchange
// rate.
func (e *evaluation) missingRates() (list []Warning) {
	for _, currency := range distinct(e.unpacedCurrencies, func(c string) string { return c }) {
		list = append(list, Warning{
			Code: "missing_rate", Metric: "pacing", Currency: money.Currency(currency),
			Message: fmt.Sprintf("pacing is null for campaigns with a budget in %s whose spend is in another currency: no rate is stored for some of its days.", currency),
		})
	}
	inAmounts := func(m *Metric) bool {
		return m.special != againstPlan && slices.ContainsFunc(m.needs, fact.Measure.Money)
	}
	if !e.noRate[fact.Spend] && !e.noRate[fact.Revenue] || !slices.ContainsFunc(e.r.metrics, inAmounts) {
		return list
	}
	missing := map[money.Currency][]clock.Date{}
	for _, days := range e.r.spans() {
		type key struct {
			currency money.Currency
			date     clock.Date
		}
		known := map[key]bool{}
		for _, r := range e.rates[days] {
			known[key{r.Currency, r.Date}] = true
		}
		for _, s := range e.sourcesOf(days) {
			for d := max(days.first, s.First); d <= min(days.last, s.Last); d++ {
				if s.Currency != e.r.currency && !known[key{s.Currency, d}] {
					missing[s.Currency] = append(missing[s.Currency], d)
				}
			}
		}
	}
	for currency, days := range missing {
		slices.Sort(days)
		days = slices.Compact(days)
		list = append(list, Warning{
			Code: "missing_rate", Currency: currency, Days: days[:min(len(days), maxWarningDays)], DayCount: len(days),
			Message: fmt.Sprintf("No rate is stored to show %s in %s on %d days, the first of them %s. Sums that amounts of these days would be part of are null.", currency, e.r.currency, len(days), days[0]),
		})
	}
	slices.SortStableFunc(list, func(a, b Warning) int { return strings.Compare(string(a.Currency), string(b.Currency)) })
	return list
}

// familyDimensions has the dimension that identifies each breakdown family.
var familyDimensions = [fact.NumFamilies]string{fact.Geo: "country", fact.Demographic: "age_range", fact.Device: "device"}

// missingReports returns warnings for connections that have facts on these
// days, but none in the query's family. The answer does not include their
// metrics.
func (e *evaluation) missingReports() []Warning {
	var ids, others []string
	for _, days := range e.r.spans() {
		for _, c := range e.sourcesOf(days) {
			if c.Families[e.r.family].Covers(days.first, days.last) {
				continue
			}
			for f := range c.Families {
				if c.Families[f].Covers(days.first, days.last) {
					ids, others = append(ids, string(c.Connection)), append(others, familyDimensions[f])
				}
			}
		}
	}
	if ids == nil {
		return nil
	}
	w := Warning{Code: "missing_report"}
	for _, id := range distinct(ids, func(id string) string { return id }) {
		w.Connections = append(w.Connections, ident.ID(id))
	}
	if w.Dimension = familyDimensions[e.r.family]; w.Dimension == "" {
		by := strings.Join(distinct(others, func(d string) string { return d }), " or ")
		w.Message = fmt.Sprintf("Some connections report these days only by %s, so their metrics are not in this answer. Query by %s, or send rows without it.", by, by)
	} else {
		w.Message = fmt.Sprintf("Some connections do not report these days by %s, so their metrics are not in this answer.", w.Dimension)
	}
	return []Warning{w}
}

// estimate returns the resolved query and an upper bound of its rows without
// running it.
func (e *evaluation) estimate(started, now time.Time) *Answer {
	buckets := len(e.r.granularity.buckets(e.r.days))
	if c := e.r.compare; c != nil {
		others := len(e.r.granularity.buckets(c.days))
		if slices.Contains(e.r.dimensions, dimensions["weekday"]) {
			// Buckets without a common weekday become separate rows.
			buckets += others
		}
		buckets = max(buckets, others)
	}
	var facts int64
	for _, days := range e.r.spans() {
		for _, s := range e.sourcesOf(days) {
			x := &s.Families[e.r.family]
			if !x.Covers(days.first, days.last) {
				continue
			}
			covered := span{max(x.First, days.first), min(x.Last, days.last)}.days()
			facts += x.Rows*int64(covered)/int64(span{x.First, x.Last}.days()) + 1
		}
	}
	combinations := int64(1)
	for _, d := range e.r.dimensions {
		size := facts
		switch {
		case d.Allowed != nil:
			size = int64(len(d.Allowed)) + 1
		case d.Name == "platform":
			size = int64(len(e.platforms()))
		case d.Name == "connection_id":
			size = int64(len(e.contributingConnections()))
		}
		combinations = min(combinations*max(size, 0), facts)
	}
	rows := min(combinations*int64(buckets), MaxRows)
	a := &Answer{layout: e.r.layout(), estimated: true}
	a.encodeSharedMeta(e, started, &rows)
	a.encodeMeta(now.Sub(started))
	return a
}
