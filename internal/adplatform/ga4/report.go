package ga4

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
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

// levelDimensions are the dimensions of each level besides the day.
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

// metrics are conversions and revenue.
//
// Choice: advertiserAdCost is not requested. The ad platforms report it
// themselves, so spend would count twice.
var metrics = []name{{"keyEvents"}, {"totalRevenue"}}

type name struct {
	Name string `json:"name"`
}

type request struct {
	Dimensions          []name    `json:"dimensions"`
	Metrics             []name    `json:"metrics"`
	DateRanges          []days    `json:"dateRanges"`
	OrderBys            []orderBy `json:"orderBys"`
	Limit               int       `json:"limit,string"`
	Offset              int       `json:"offset,string,omitzero"`
	ReturnPropertyQuota bool      `json:"returnPropertyQuota"`
}

type days struct {
	StartDate string `json:"startDate"`
	EndDate   string `json:"endDate"`
}

type orderBy struct {
	Dimension struct {
		DimensionName string `json:"dimensionName"`
	} `json:"dimension"`
}

type answer struct {
	Rows []struct {
		Dimensions []value `json:"dimensionValues"`
		Metrics    []value `json:"metricValues"`
	} `json:"rows"`
	RowCount int   `json:"rowCount"`
	Quota    quota `json:"propertyQuota"`
}

type value struct {
	Value string `json:"value"`
}

type quota struct {
	Day         tokens `json:"tokensPerDay"`
	Hour        tokens `json:"tokensPerHour"`
	ProjectHour tokens `json:"tokensPerProjectPerHour"`
}

type tokens struct {
	Remaining *int64 `json:"remaining"`
}

// A tenth of the tokens of a standard property is a reserve. Choice: the API
// does not report the larger quotas of a paid property, so such a property is
// held at less than a tenth of its quota.
const (
	reserveDay         = 20_000
	reserveHour        = 4_000
	reserveProjectHour = 1_400
)

// holdUntil returns until when background calls are held, zero for not at all.
// The last tenth of a quota is reserved for calls that a person waits for.
func (q *quota) holdUntil(now time.Time) time.Time {
	below := func(t tokens, low int64) bool { return t.Remaining != nil && *t.Remaining < low }
	switch {
	case below(q.Day, reserveDay):
		return nextDay(now)
	case below(q.Hour, reserveHour), below(q.ProjectHour, reserveProjectHour):
		return nextHour(now)
	}
	return time.Time{}
}

// reportRow has the values of a row by dimension.
type reportRow map[string]string

// runReport reads a report page by page. It returns an error if pages disagree
// on the number of rows, or if rows are missing.
func (c *Client) runReport(ctx context.Context, creds connection.Credentials, property string, dimensions []string, between days, each func(reportRow, fact.Values) error) error {
	if !isDigits(property) {
		return &connection.Error{Class: connection.Gone, Code: "unknown_account", Message: "A property of Google Analytics has a number, without the G- of its tag."}
	}
	in := request{Metrics: metrics, DateRanges: []days{between}, Limit: c.page, ReturnPropertyQuota: true}
	for _, d := range dimensions {
		in.Dimensions = append(in.Dimensions, name{d})
		order := orderBy{}
		order.Dimension.DimensionName = d
		in.OrderBys = append(in.OrderBys, order)
	}
	seen := googleauth.SeenRows[string]{}
	total := -1
	for {
		var page answer
		_, err := c.data.Do(ctx, transport.Call{
			Method: http.MethodPost, Path: "/" + version + "/properties/" + property + ":runReport",
			Header: googleauth.Bearer(creds), JSON: in, Account: property,
		}, &page)
		if err != nil {
			return err
		}
		if total >= 0 && page.RowCount != total {
			return googleauth.ReportChanged("changed_total", "The number of rows changed while the report was read.")
		}
		total = page.RowCount
		if until := page.Quota.holdUntil(c.now()); !until.IsZero() {
			c.data.Hold(ctx, property, until)
		}
		for i := range page.Rows {
			if err := readRow(seen, dimensions, page.Rows[i].Dimensions, page.Rows[i].Metrics, each); err != nil {
				return err
			}
		}
		in.Offset += c.page
		if in.Offset >= total {
			break
		}
	}
	if len(seen) != total {
		return googleauth.ReportChanged("missing_rows", "The report has other than the "+strconv.Itoa(total)+" rows that it said it has.")
	}
	return nil
}

// readRow parses a row and passes it on unless it is a duplicate.
func readRow(seen googleauth.SeenRows[string], dimensions []string, dimensionValues, metricValues []value, each func(reportRow, fact.Values) error) error {
	if len(dimensionValues) != len(dimensions) || len(metricValues) != len(metrics) {
		return googleauth.MalformedAnswer("A row of the report has not the columns that were asked for.")
	}
	l, key := reportRow{}, ""
	for i, d := range dimensions {
		l[d] = dimensionValues[i].Value
		key += dimensionValues[i].Value + "\x00"
	}
	var v fact.Values
	for i, m := range []fact.Measure{fact.Conversions, fact.Revenue} {
		n, ok := googleauth.Millionths(metricValues[i].Value)
		if !ok {
			return googleauth.MalformedAnswer("A figure in the report is no number.")
		}
		v.Set(m, n)
	}
	fresh, err := seen.Add(key, v)
	if err != nil || !fresh {
		return err
	}
	return each(l, v)
}

// Report implements connection.Client.
func (c *Client) Report(ctx context.Context, creds connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	at := map[fact.Row]int{}
	var rows []fact.Row
	err := c.runReport(ctx, creds, q.Account, levelDimensions[q.Level], days{q.First.String(), q.Last.String()}, func(l reportRow, v fact.Values) error {
		row, there, err := l.factRow(q.Level)
		if err != nil || !there {
			return err
		}
		// Several of GA4's channels are one channel in facts.
		if i, before := at[row]; before {
			for _, m := range []fact.Measure{fact.Conversions, fact.Revenue} {
				rows[i].Values.Set(m, rows[i].Values.V[m]+v.V[m])
			}
			return nil
		}
		at[row] = len(rows)
		row.Values = v
		rows = append(rows, row)
		return nil
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	return each(rows)
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
