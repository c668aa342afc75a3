package ga4

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// Requested dimensions.
const (
	byDate     = "date"
	byCampaign = "sessionCampaignName"
	byChannel  = "sessionDefaultChannelGroup"
	byAd       = "sessionManualAdContent"
	byCountry  = "countryId"
	byAge      = "userAgeBracket"
	byGender   = "userGender"
	byDevice   = "deviceCategory"
)

// otherRow is the value of dimensions in the row that GA4 puts small rows
// together in.
const otherRow = "(other)"

// levelDimensions are the dimensions of each level besides the day. All of them
// are of sessions, because other scopes have other totals.
//
// Choice: there is no breakdown by audience. A user can be in several audiences
// and counts for each, so rows by audience add up to more than the total.
var levelDimensions = map[connection.Level][]string{
	connection.LevelAccount:     {byDate},
	connection.LevelCampaign:    {byDate, byCampaign, byChannel},
	connection.LevelAd:          {byDate, byCampaign, byChannel, byAd},
	connection.LevelGeo:         {byDate, byCampaign, byChannel, byCountry},
	connection.LevelDemographic: {byDate, byCampaign, byChannel, byAge, byGender},
	connection.LevelDevice:      {byDate, byCampaign, byChannel, byDevice},
}

// Requested metrics.
//
// Choice: advertiserAdCost is not requested. The ad platforms report it
// themselves, so spend would count twice. GA4 also drops it after 36 months.
// Users are not requested either: GA4 estimates them, and they do not add up.
const (
	metricKeyEvents = "keyEvents"
	metricRevenue   = "totalRevenue"
)

// maxMetrics is the number of metrics that a request takes.
const maxMetrics = 10

// column is a metric and the measure that it is added to.
type column struct {
	metric  string
	measure fact.Measure
}

// reportColumns returns the metrics for chosen events, or for all key events of
// the property if none are chosen.
func reportColumns(chosen []string) []column {
	if len(chosen) == 0 {
		return []column{{metricKeyEvents, fact.Conversions}, {metricRevenue, fact.Revenue}}
	}
	return eventColumns(chosen)
}

// eventColumns returns the metrics for events, without conversions if there are
// none.
func eventColumns(events []string) (list []column) {
	for _, e := range slices.Compact(slices.Sorted(slices.Values(events))) {
		list = append(list, column{metricKeyEvents + ":" + e, fact.Conversions})
	}
	return append(list, column{metricRevenue, fact.Revenue})
}

// readRow is a row without values, and its values.
type readRow struct {
	fact.Row
	values [fact.NumMeasures]int64
}

// reading is a report that was read.
type reading struct {
	columns []column
	rows    []readRow
	info    *metadata
	// totals are of all rows, also of those that do not belong to the level.
	totals [fact.NumMeasures]int64
	// other is the number of conversions in the rows put together as other, nil
	// if there are none.
	other *int64
}

// hidden reports whether the values of a measure were not asked for or are not to
// be seen.
func (r *reading) hidden(m fact.Measure) bool {
	return !slices.ContainsFunc(r.columns, func(c column) bool { return c.measure == m }) ||
		slices.ContainsFunc(r.columns, func(c column) bool { return c.measure == m && r.info.restricts(c.metric) })
}

// read reads a report, in several requests if it has many metrics. A row that a
// request leaves out has 0 in all its metrics.
func (c *Client) read(ctx context.Context, creds connection.Credentials, q *connection.Report, columns []column) (*reading, error) {
	read := &reading{columns: columns}
	at := map[fact.Row]int{}
	for some := range slices.Chunk(columns, c.metrics) {
		in := query{property: q.Account, dimensions: levelDimensions[q.Level], between: days{q.First.String(), q.Last.String()}, check: func(m *metadata) error { return cmp.Or(m.checkProperty(q), checkSampling(q, m)) }}
		for _, column := range some {
			in.metrics = append(in.metrics, column.metric)
		}
		info, err := c.runReport(ctx, creds, in, func(l reportRow, numbers []int64) error {
			for j, n := range numbers {
				read.totals[some[j].measure] += n
				if l[byCampaign] == otherRow && some[j].measure == fact.Conversions {
					read.addOther(n)
				}
			}
			row, there, err := l.factRow(q.Level)
			if err != nil || !there {
				return err
			}
			// Several of GA4's channels are one channel in facts.
			i, before := at[row]
			if !before {
				i = len(read.rows)
				at[row] = i
				read.rows = append(read.rows, readRow{Row: row})
			}
			for j, n := range numbers {
				read.rows[i].values[some[j].measure] += n
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if read.info, err = read.info.merge(info); err != nil {
			return nil, err
		}
	}
	return read, nil
}

func (r *reading) addOther(n int64) {
	if r.other != nil {
		n += *r.other
	}
	r.other = &n
}

// Report implements connection.Client.
func (c *Client) Report(ctx context.Context, creds connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	read, err := c.read(ctx, creds, &q, reportColumns(q.Conversions))
	if connection.ClassOf(err) == connection.Refused && len(q.Conversions) > 0 {
		read, err = c.readKnownEvents(ctx, creds, &q, err)
	}
	if err != nil {
		return err
	}
	c.addNotes(ctx, creds, &q, read)
	c.addKeyEvents(ctx, creds, &q, read)
	if len(read.rows) == 0 {
		return nil
	}
	rows := make([]fact.Row, len(read.rows))
	for i := range read.rows {
		rows[i] = read.rows[i].Row
		for _, m := range []fact.Measure{fact.Conversions, fact.Revenue} {
			// A hidden value is unknown, not 0.
			if !read.hidden(m) {
				rows[i].Values.Set(m, read.rows[i].values[m])
			}
		}
	}
	return each(rows)
}

// readKnownEvents reads a report that Google refused, without the chosen events
// that are no key events of the property. Conversions are unknown if none of them
// is left. It returns the refusal if the events are not the reason.
func (c *Client) readKnownEvents(ctx context.Context, creds connection.Credentials, q *connection.Report, refusal error) (*reading, error) {
	events, err := c.keyEvents(ctx, creds, q.Account)
	if err != nil {
		return nil, refusal
	}
	var known, unknown []string
	for _, chosen := range q.Conversions {
		if slices.ContainsFunc(events, func(e keyEvent) bool { return e.EventName == chosen }) {
			known = append(known, chosen)
		} else {
			unknown = append(unknown, chosen)
		}
	}
	if len(unknown) == 0 {
		return nil, refusal
	}
	read, err := c.read(ctx, creds, q, eventColumns(known))
	if err == nil {
		q.AddNote(connection.Note{
			Code: connection.NoteNotIncluded, First: q.First, Last: q.Last, Measure: fact.Conversions,
			Message: "The property has no key event " + strings.Join(unknown, ", ") + ". Mark the event as a key event in Google Analytics, or choose other conversions.",
		})
	}
	return read, err
}

// factRow returns the row as a fact without values, and whether it belongs to
// the level.
func (l reportRow) factRow(level connection.Level) (r fact.Row, belongs bool, err error) {
	at, err := time.Parse("20060102", l[byDate])
	if err != nil {
		return r, false, googleauth.MalformedAnswer("A row of the report has no day.")
	}
	r.Date = clock.DateIn(at, time.UTC)
	if level == connection.LevelAccount {
		return r, true, nil
	}
	// Choice: sessions without a campaign, such as (direct), are kept under
	// GA4's name, so that campaigns add up to the property.
	r.Campaign, r.Channel = fact.Entity{ExternalID: l[byCampaign], Name: l[byCampaign]}, channelOf(l[byChannel])
	r.Family = connection.Families[level]
	switch level {
	case connection.LevelAd:
		// Rows without an ad are in the report of campaigns only.
		r.Creative = fact.Entity{ExternalID: l[byAd], Name: l[byAd]}
		return r, !isPlaceholder(l[byAd]), nil
	case connection.LevelGeo:
		if country := l[byCountry]; fact.IsCountry(country) {
			r.Country = country
		}
	case connection.LevelDemographic:
		r.AgeRange, r.Gender = knownOrUnknown(fact.AgeRanges, l[byAge]), knownOrUnknown(fact.Genders, l[byGender])
	case connection.LevelDevice:
		r.Device = knownOrUnknown(fact.Devices, cmp.Or(devices[l[byDevice]], l[byDevice]))
	default:
	}
	return r, true, nil
}

// isPlaceholder reports whether GA4 has no value: it returns a text in
// parentheses instead.
func isPlaceholder(s string) bool { return s == "" || strings.HasPrefix(s, "(") }

// dayIn returns the day of a time in a time zone.
func dayIn(text, zone string) (clock.Date, bool) {
	at, err := time.Parse(time.RFC3339, text)
	in, zoneErr := clock.Zone(zone)
	if err != nil || zoneErr != nil {
		return 0, false
	}
	return clock.DateIn(at, in), true
}
