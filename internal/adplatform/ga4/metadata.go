package ga4

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// metadata is what Google says about a report: ResponseMetaData of
// google-analytics-data 0.23.3, data_v1beta/types/data.py.
type metadata struct {
	DataLossFromOtherRow  bool         `json:"dataLossFromOtherRow"`
	SubjectToThresholding bool         `json:"subjectToThresholding"`
	Sampling              []sampling   `json:"samplingMetadatas"`
	Restriction           restriction  `json:"schemaRestrictionResponse"`
	Truncation            []truncation `json:"dataTruncationReasons"`
	EmptyReason           string       `json:"emptyReason"`
	CurrencyCode          string       `json:"currencyCode"`
	TimeZone              string       `json:"timeZone"`
}

type sampling struct {
	Read  int64 `json:"samplesReadCount,string"`
	Space int64 `json:"samplingSpaceSize,string"`
}

type restriction struct {
	Active []struct {
		MetricName string `json:"metricName"`
	} `json:"activeMetricRestrictions"`
}

type truncation struct {
	Message string `json:"dataTruncationMessage"`
	// Date is the first day that is complete.
	Date   string `json:"dataTruncationDate"`
	Ranges []days `json:"dataTruncationDateRanges"`
}

// merge adds the metadata of a further page or request of the same report.
func (m *metadata) merge(next *metadata) (*metadata, error) {
	if m == nil {
		return next, nil
	}
	if m.CurrencyCode != next.CurrencyCode || m.TimeZone != next.TimeZone {
		return nil, googleauth.ReportChanged("changed_property", "The currency or the time zone of the property changed while the report was read.")
	}
	sum := *m
	sum.DataLossFromOtherRow = m.DataLossFromOtherRow || next.DataLossFromOtherRow
	sum.SubjectToThresholding = m.SubjectToThresholding || next.SubjectToThresholding
	if !m.sampled() {
		sum.Sampling = next.Sampling
	}
	sum.Restriction.Active = slices.Concat(m.Restriction.Active, next.Restriction.Active)
	if len(m.Truncation) == 0 {
		sum.Truncation = next.Truncation
	}
	if sum.EmptyReason == "" {
		sum.EmptyReason = next.EmptyReason
	}
	return &sum, nil
}

func (m *metadata) sampled() bool {
	return slices.ContainsFunc(m.Sampling, func(s sampling) bool { return s.Read < s.Space })
}

// restricts reports whether the role of the person who connected hides one of
// the metrics. Google reports it as 0.
func (m *metadata) restricts(metrics ...string) bool {
	for _, r := range m.Restriction.Active {
		if slices.Contains(metrics, r.MetricName) {
			return true
		}
	}
	return false
}

// maxSampledDays is how many days are read at once if Google samples them.
// Choice: fewer days are sampled less, but each request takes tokens.
const maxSampledDays = 7

// checkSampling asks for fewer days at once if Google has estimated the values
// from a part of the events.
func checkSampling(q *connection.Report, m *metadata) error {
	if m.sampled() && q.Last-q.First >= maxSampledDays {
		return &connection.Error{Class: connection.TooLarge, Code: "sampled", Message: "Google Analytics estimates the numbers of so many days from a part of the events."}
	}
	return nil
}

// checkProperty refuses numbers in another currency or of other days than the
// query expects: an administrator can change both.
func (m *metadata) checkProperty(q *connection.Report) error {
	if q.Currency != "" && m.CurrencyCode != string(q.Currency) || q.Zone != "" && m.TimeZone != q.Zone {
		return connection.AccountChanged()
	}
	return nil
}

// addNotes passes on what a reader of the numbers should know.
func (c *Client) addNotes(ctx context.Context, creds connection.Credentials, q *connection.Report, read *reading) {
	m := read.info
	note := func(code connection.NoteCode, message string) {
		q.AddNote(connection.Note{Code: code, First: q.First, Last: q.Last, Message: message})
	}
	if m.SubjectToThresholding {
		c.addWithheld(ctx, creds, q, read)
	}
	if m.DataLossFromOtherRow {
		q.AddNote(connection.Note{
			Code: connection.NoteOther, First: q.First, Last: q.Last, Measure: fact.Conversions, Amount: read.other,
			Message: `Google Analytics put the smallest rows together as "(other)", because the property has too many different values.`,
		})
	}
	for _, s := range m.Sampling {
		if s.Read < s.Space {
			note(connection.NoteSampled, "Google Analytics estimated the numbers from "+percent(s.Read, s.Space)+" of the events.")
			break
		}
	}
	if m.restricts(metricRevenue) {
		q.AddNote(connection.Note{
			Code: connection.NoteWithheld, First: q.First, Last: q.Last, Measure: fact.Revenue,
			Message: "The role of the person who connected hides revenue. Ask an administrator of the property to remove the data restriction under Admin, Property access management.",
		})
	}
	if m.EmptyReason != "" {
		note(connection.NoteNotIncluded, "Google Analytics returned no rows: "+m.EmptyReason)
	}
	addTruncated(q, m)
}

func percent(part, whole int64) string {
	share := new(big.Rat).SetFrac64(100*part, max(whole, 1))
	return share.FloatString(1) + " %"
}

// addWithheld passes on how much of the property is missing in a report of which
// Google leaves small rows out. Nothing is missing if all rows are large enough.
// If the total is withheld too, or cannot be read, the amount is unknown.
func (c *Client) addWithheld(ctx context.Context, creds connection.Credentials, q *connection.Report, read *reading) {
	n := connection.Note{
		Code: connection.NoteWithheld, First: q.First, Last: q.Last,
		Message: "Google Analytics leaves out rows with few users, to protect people.",
	}
	if q.Level == connection.LevelAccount {
		n.Message = "Google Analytics leaves out days with few users, to protect people."
		q.AddNote(n)
		return
	}
	total := *q
	total.Level, total.Note = connection.LevelAccount, nil
	whole, err := c.read(ctx, creds, &total, read.columns)
	if err != nil || whole.info.SubjectToThresholding || whole.info.sampled() || read.info.sampled() {
		q.AddNote(n)
		return
	}
	for _, measure := range []fact.Measure{fact.Conversions, fact.Revenue} {
		if missing := whole.totals[measure] - read.totals[measure]; missing != 0 {
			n.Measure, n.Amount = measure, &missing
			q.AddNote(n)
		}
	}
}

// addTruncated passes on which days of the report Google has cut off.
func addTruncated(q *connection.Report, m *metadata) {
	for _, t := range m.Truncation {
		ranges := [][2]clock.Date{{q.First, q.Last}}
		if date, ok := clock.ParseDate(t.Date); ok {
			ranges[0][1] = date - 1
		} else if len(t.Ranges) > 0 {
			ranges = nil
			for _, r := range t.Ranges {
				first, okFirst := clock.ParseDate(r.StartDate)
				last, okLast := clock.ParseDate(r.EndDate)
				if okFirst && okLast {
					ranges = append(ranges, [2]clock.Date{first, last})
				}
			}
		}
		for _, r := range ranges {
			first, last := max(r[0], q.First), min(r[1], q.Last)
			if first <= last {
				q.AddNote(connection.Note{
					Code: connection.NoteNotIncluded, First: first, Last: last,
					Message: "Google Analytics no longer has all data of these days. " + t.Message,
				})
			}
		}
	}
}

// keyEvent is an event that counts as a conversion: KeyEvent of
// google-analytics-admin 0.30.2, admin_v1beta/types/resources.py.
type keyEvent struct {
	EventName      string `json:"eventName"`
	CreateTime     string `json:"createTime"`
	CountingMethod string `json:"countingMethod"`
}

// keyEvents lists the key events of a property.
func (c *Client) keyEvents(ctx context.Context, creds connection.Credentials, property string) ([]keyEvent, error) {
	var all []keyEvent
	token := ""
	for {
		var page struct {
			KeyEvents []keyEvent `json:"keyEvents"`
			Next      string     `json:"nextPageToken"`
		}
		query := map[string][]string{"pageSize": {maxPage}}
		if token != "" {
			query["pageToken"] = []string{token}
		}
		if err := c.get(ctx, creds, "properties/"+property+"/keyEvents", query, &page); err != nil {
			return nil, err
		}
		all = append(all, page.KeyEvents...)
		if token = page.Next; token == "" {
			return all, nil
		}
	}
}

// addKeyEvents passes on which key events count only from a day inside or after
// the report: Google does not count events of the time before they were marked.
// It does nothing if the list of key events cannot be read, because the numbers
// are right without it.
func (c *Client) addKeyEvents(ctx context.Context, creds connection.Credentials, q *connection.Report, read *reading) {
	if q.Level != connection.LevelAccount || q.Note == nil || len(read.rows) == 0 {
		return
	}
	events, err := c.keyEvents(ctx, creds, q.Account)
	if err != nil {
		return
	}
	first := slices.MinFunc(read.rows, func(a, b readRow) int { return int(a.Date - b.Date) }).Date
	for _, e := range events {
		created, ok := dayIn(e.CreateTime, read.info.TimeZone)
		chosen := len(q.Conversions) == 0 || slices.Contains(q.Conversions, e.EventName)
		if ok && chosen && created > first {
			q.AddNote(connection.Note{
				Code: connection.NoteNotIncluded, First: first, Last: min(created-1, q.Last), Measure: fact.Conversions,
				Message: fmt.Sprintf("Conversions include the event %s only from %s, when it was marked as a key event.", strconv.Quote(e.EventName), created),
			})
		}
	}
}
