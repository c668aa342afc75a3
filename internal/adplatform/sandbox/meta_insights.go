package sandbox

import (
	"cmp"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// insightsOf answers with a page of a report about one object.
func (c metaCall) insightsOf(a *Account, object any) {
	kind := ""
	switch object.(type) {
	case *Campaign:
		kind = "campaign"
	case *Group:
		kind = "adset"
	case *Ad:
		kind = "ad"
	}
	params := maps.Clone(c.params)
	if !params.Has("level") {
		params.Set("level", kind)
	}
	report, refused := c.readReport(a, params)
	id, _ := c.nodeOf(a, object)["id"].(string)
	report.filters = append(report.filters, metaFilter{object: kind, field: "id", operator: "EQUAL", values: []string{id}})
	// The object itself has an answer although it is deleted.
	if report.level == kind {
		report.filters = append(report.filters, metaFilter{object: kind, field: "effective_status", operator: "IN", values: metaStatuses[kind]})
	}
	c.writeReport(a, report, refused, false)
}

// insights answers with a page of a report about an account.
func (c metaCall) insights(a *Account, params url.Values, background bool) {
	report, refused := c.readReport(a, params)
	c.writeReport(a, report, refused, background)
}

// writeReport answers with a page of a report.
func (c metaCall) writeReport(a *Account, report metaReport, refused *metaError, background bool) {
	if refused == nil {
		refused = c.refuseReport(a, &report, background)
	}
	if refused != nil {
		c.writeError(refused)
		return
	}
	from, limit, second, refused := c.pagePosition()
	if refused == nil && !background && c.Behaves(a, metaCursorLimit) && from.period > metaFewDays {
		refused = metaInvalid("The After Cursor specified exceeds the max limit supported by this endpoint")
	}
	if refused != nil {
		c.writeError(refused)
		return
	}
	limit, suffix := c.shortenPage(a, limit, second)
	rows, next, more := c.page(a, &report, from, limit)
	data, e := []any{}, c.newEncoder(a, &report)
	for _, row := range rows {
		data = append(data, e.encodeRow(row.Row, row.days, report.fields))
	}
	answer := map[string]any{"data": data}
	if more && limit > 0 {
		switch {
		case c.Fault(FaultDuplicatePage):
			next = from
		case c.Fault(FaultSkipPage):
			_, next, _ = c.page(a, &report, next, limit)
		}
	}
	answer["paging"] = c.paging(metaCursor(from.text()), metaCursor(next.text()+suffix), more)
	if len(report.summary) > 0 {
		total := c.totalRow(a, &report)
		if n, ok := total.Values.Get(fact.Impressions); ok && c.Fault(FaultDriftingTotal) {
			total.Values.Set(fact.Impressions, n+1)
		}
		answer["summary"] = e.encodeRow(total, metaSpan{report.first, report.last}, report.summary)
	}
	c.writeAnswer(answer)
}

// refuseReport returns the error of a report that is valid but not answered,
// nil if it is answered.
func (c metaCall) refuseReport(a *Account, r *metaReport, background bool) *metaError {
	device := slices.Contains(r.breakdowns, "impression_device")
	large := c.Behavior(a, metaTooLargeSwitch)
	switch {
	case c.Behaves(a, metaReportError):
		return metaReportErrors[c.Behavior(a, metaReportError)]
	case device && c.Behavior(a, metaDeviceOptIn) == "refused":
		return metaInvalid("The breakdown impression_device is not available for this ad account")
	case large == "1487534" && c.rowCount(a, r) > metaFewRows:
		return metaTooLargeErrors[large]
	case background:
		return nil
	case large != "" && large != "1487534" && r.level != "account" && r.last-r.first >= metaFewDays:
		return metaTooLargeErrors[large]
	case c.Fault(FaultTooLarge), c.rowCount(a, r) > metaMaxRows:
		return metaTooLarge
	}
	return nil
}

// metaPosition is the start of a page: a period and the index of its row.
type metaPosition struct{ period, row int }

func (p metaPosition) text() string { return strconv.Itoa(p.period) + " " + strconv.Itoa(p.row) }

// pagePosition returns the start of the requested page, its length, and whether
// it follows an empty page.
func (c metaCall) pagePosition() (from metaPosition, limit int, second bool, refused *metaError) {
	limit, refused = c.limit()
	text, err := readMetaCursor(c.params.Get("after"))
	if err != nil || refused != nil {
		return from, limit, false, cmp.Or(refused, metaBadCursor)
	}
	text, second = strings.CutSuffix(text, metaSecondPage)
	if text == "" {
		return from, limit, second, nil
	}
	period, row, _ := strings.Cut(text, " ")
	from.period, err = strconv.Atoi(period)
	if err == nil {
		from.row, err = strconv.Atoi(row)
	}
	if err != nil || from.period < 0 || from.row < 0 {
		return from, limit, second, metaBadCursor
	}
	return from, limit, second, nil
}

// metaReportRow is a row with its days.
type metaReportRow struct {
	Row
	days metaSpan
}

// page returns the rows from a position, and the next position.
func (c metaCall) page(a *Account, r *metaReport, from metaPosition, limit int) (rows []metaReportRow, next metaPosition, more bool) {
	if len(r.sort) > 0 {
		all := c.sortedRows(a, r)
		end := min(from.row+limit, len(all))
		return all[min(from.row, end):end], metaPosition{0, end}, end < len(all)
	}
	periods := r.periods()
	for at := from; at.period < len(periods); at = (metaPosition{at.period + 1, 0}) {
		some := c.periodRows(a, r, periods[at.period])
		for ; at.row < len(some); at.row++ {
			if len(rows) == limit {
				return rows, at, true
			}
			rows = append(rows, metaReportRow{some[at.row], periods[at.period]})
		}
	}
	return rows, metaPosition{len(periods), 0}, false
}

// sortedRows returns all rows by the first field of sort. Fields that are not
// metrics keep the order of days.
func (c metaCall) sortedRows(a *Account, r *metaReport) (rows []metaReportRow) {
	for _, days := range r.periods() {
		for _, row := range c.periodRows(a, r, days) {
			rows = append(rows, metaReportRow{row, days})
		}
	}
	name, descending := strings.CutSuffix(r.sort[0], "_descending")
	m, ok := metaScalars[strings.TrimSuffix(name, "_ascending")]
	if !ok {
		return rows
	}
	slices.SortStableFunc(rows, func(x, y metaReportRow) int {
		n, _ := x.Values.Get(m)
		k, _ := y.Values.Get(m)
		if descending {
			n, k = k, n
		}
		return cmp.Compare(n, k)
	})
	return rows
}

// rowCount estimates the number of rows of the report.
func (c metaCall) rowCount(a *Account, r *metaReport) int {
	last := min(r.last, c.Today(a))
	return len(c.dayRows(a, r, last)) * int(r.last-r.first+1) / max(r.days, 1)
}

// totalRow returns the totals of the report. Meta does not document whether
// they contain deleted objects: by default they are the sum of the rows.
func (c metaCall) totalRow(a *Account, r *metaReport) (total Row) {
	whole := *r
	whole.breakdowns = nil
	full := !slices.ContainsFunc(r.filters, func(f metaFilter) bool {
		return f.field != "effective_status" || f.operator != "IN" || len(f.values) < len(metaStatuses[f.object])
	})
	switch mode := c.Behavior(a, metaSummaryDeleted); {
	case mode == "with", mode == "" && r.level != "ad" && len(r.filters) > 0 && full:
		// The account has the same total and is added up faster.
		whole.level = "account"
	case mode == "without":
		whole.filters = slices.DeleteFunc(slices.Clone(r.filters), func(f metaFilter) bool { return f.field == "effective_status" })
	}
	for _, span := range r.spans {
		for day := span.First; day <= span.Last; day++ {
			for _, row := range c.dayRows(a, &whole, day) {
				addMetaValues(&total.Values, row.Values)
			}
		}
	}
	return total
}

// periodRows returns the rows of a period.
func (c metaCall) periodRows(a *Account, r *metaReport, days metaSpan) []Row {
	if days.First == days.Last {
		return c.dayRows(a, r, days.First)
	}
	var rows []Row
	at := map[Row]int{}
	for day := days.First; day <= days.Last; day++ {
		for _, row := range c.dayRows(a, r, day) {
			row.Date = days.First
			addMetaRow(&rows, at, row)
		}
	}
	return rows
}

// dayRows returns the rows of a day that pass the filters.
func (c metaCall) dayRows(a *Account, r *metaReport, day clock.Date) []Row {
	if slices.Contains(r.breakdowns, "impression_device") && c.Behavior(a, metaDeviceOptIn) == "empty" {
		return nil
	}
	return slices.DeleteFunc(r.splitParts(a, c.allDayRows(a, r, day)), func(row Row) bool { return !c.keeps(a, r, row) })
}

func (c metaCall) allDayRows(a *Account, r *metaReport, day clock.Date) []Row {
	level, plain := metaLevels[r.level]
	broken, split := r.breakdownLevel()
	if !split && plain {
		rows := slices.Collect(c.Rows(a, level, day, day))
		if r.level == "ad" && c.Behaves(a, metaDeletedHidden) {
			rows = append(rows, c.deletedAds(a, rows, day)...)
		}
		return rows
	}
	// Ad sets have no level of their own: they are the sums of a breakdown by
	// ad set.
	level = ByDevice
	if split {
		level = broken
	}
	var rows []Row
	at := map[Row]int{}
	if r.level == "ad" {
		for part := range c.adBreakdown(a, level, day) {
			addMetaRow(&rows, at, r.reduceRow(part))
		}
	} else {
		for row := range c.Rows(a, level, day, day) {
			addMetaRow(&rows, at, r.reduceRow(row))
		}
	}
	if split && c.Behaves(a, metaBreakdownEstimated) {
		for i := range rows {
			estimateMetaRow(a, &rows[i])
		}
	}
	return rows
}

// deletedAds returns what campaigns have beyond the rows of their ads: the rows of
// ads in ad sets that were deleted. Meta returns them if a filter names DELETED.
func (c metaCall) deletedAds(a *Account, ads []Row, day clock.Date) (rows []Row) {
	at := map[*Campaign]*Row{}
	rows = slices.Collect(c.Rows(a, ByCampaign, day, day))
	for i := range rows {
		whole := rows[i].Values
		rows[i].Values = fact.Values{}
		addMetaValues(&rows[i].Values, whole)
		at[rows[i].Campaign] = &rows[i]
	}
	for _, ad := range ads {
		rest := at[ad.Campaign]
		for m := range fact.Measure(fact.NumMeasures) {
			if n, known := ad.Values.Get(m); known && rest != nil && m != fact.Reach {
				rest.Values.Set(m, rest.Values.V[m]-n)
			}
		}
	}
	return slices.DeleteFunc(rows, func(row Row) bool { return row.Values.V == [fact.NumMeasures]int64{} })
}

// adBreakdown returns the rows of a breakdown by ad.
func (c metaCall) adBreakdown(a *Account, level Level, day clock.Date) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for row := range c.Rows(a, ByAd, day, day) {
			split := dayReader{account: a}
			if !split.splitRow(row, cellsOf(a, row.Campaign, level), row.Ad.key, func(part Row) bool {
				part.Ad = row.Ad
				return yield(part)
			}) {
				return
			}
		}
	}
}

// reduceRow removes from a row what the report does not tell apart.
func (r *metaReport) reduceRow(row Row) Row {
	if r.level != "adset" {
		row.Group = nil
	}
	if r.level == "account" {
		row.Campaign = nil
	}
	switch {
	case r.has("impression_device"):
	case r.has("device_platform"):
		// Meta's names do not separate tablets from phones.
		if row.Device == "tablet" {
			row.Device = "mobile"
		}
	default:
		row.Device = ""
	}
	// A region needs its country until rows are split.
	if !r.has("country") && !r.has(metaRegion) {
		row.Country = ""
	}
	if !r.has("age") {
		row.AgeRange = ""
	}
	if !r.has("gender") {
		row.Gender = ""
	}
	return row
}

// addMetaRow adds a row to the one with the same key.
func addMetaRow(rows *[]Row, at map[Row]int, row Row) {
	values := row.Values
	row.Values = fact.Values{}
	i, there := at[row]
	if !there {
		i = len(*rows)
		at[row] = i
		*rows = append(*rows, row)
	}
	addMetaValues(&(*rows)[i].Values, values)
}

// addMetaValues adds values. It drops reach, because the same people can be in
// both rows.
func addMetaValues(to *fact.Values, values fact.Values) {
	for m := range fact.Measure(fact.NumMeasures) {
		if n, ok := values.Get(m); ok && m != fact.Reach {
			sum, _ := to.Get(m)
			to.Set(m, sum+n)
		}
	}
}

// estimateMetaRow changes the metrics of a row of a breakdown by up to two
// percent, because Meta estimates them.
func estimateMetaRow(a *Account, row *Row) {
	k := seedKey(0).named(row.Country + row.AgeRange + row.Gender + row.Device).numbered(int64(row.Date))
	if row.Campaign != nil {
		k = k.named(row.Campaign.ID)
	}
	for _, m := range []fact.Measure{fact.Impressions, fact.Clicks, fact.Spend} {
		n, _ := row.Values.Get(m)
		step := int64(1)
		if m.Money() {
			step = a.traits.moneyStep
		}
		row.Values.Set(m, applyFactor(n/step, k.numbered(int64(m)).intBetween(980_000, 1_020_000))*step)
	}
}
