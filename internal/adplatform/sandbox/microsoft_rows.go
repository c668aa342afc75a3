package sandbox

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/fact"
)

// microsoftMeasures are the columns with numbers that the sandbox has. Other
// columns of the SDK are empty.
var microsoftMeasures = map[string]func(v *fact.Values) string{
	"Impressions": func(v *fact.Values) string { return strconv.FormatInt(v.V[fact.Impressions], 10) },
	"Clicks":      func(v *fact.Values) string { return strconv.FormatInt(v.V[fact.Clicks], 10) },
	"Spend":       func(v *fact.Values) string { return microsoftDecimal(v.V[fact.Spend]) },
	"Revenue":     func(v *fact.Values) string { return microsoftDecimal(v.V[fact.Revenue]) },
	// Conversions are whole, qualified ones are fractions. All conversions have
	// those of goals that the advertiser leaves out too.
	"Conversions":             func(v *fact.Values) string { return strconv.FormatInt(v.V[fact.Conversions]/million, 10) },
	"ConversionsQualified":    func(v *fact.Values) string { return microsoftDecimal(v.V[fact.Conversions]) },
	"AllConversions":          func(v *fact.Values) string { return strconv.FormatInt(v.V[fact.Conversions]/million*5/4, 10) },
	"AllConversionsQualified": func(v *fact.Values) string { return microsoftDecimal(v.V[fact.Conversions] / 4 * 5) },
	"AllRevenue":              func(v *fact.Values) string { return microsoftDecimal(v.V[fact.Revenue] / 4 * 5) },
	"VideoViews":              func(v *fact.Values) string { return strconv.FormatInt(v.V[fact.VideoViews], 10) },
	"CompletedVideoViews":     func(v *fact.Values) string { return strconv.FormatInt(v.V[fact.VideoCompletions], 10) },
	"AveragePosition":         func(*fact.Values) string { return "0" },
}

// microsoftDecimal writes millionths with two to six decimals.
func microsoftDecimal(n int64) string {
	text := fmt.Sprintf("%d.%06d", n/million, n%million)
	return strings.TrimRight(text[:len(text)-4], " ") + strings.TrimRight(text[len(text)-4:], "0")
}

// microsoftLevel is the source of the rows of a report: the level with columns of
// a breakdown, and which rows the report leaves out.
type microsoftLevel struct {
	level   Level
	omitted func(r *Row) bool
}

var microsoftLevels = map[string]microsoftLevel{
	"AccountPerformanceReportRequest":      {ByCampaign, func(*Row) bool { return false }},
	"CampaignPerformanceReportRequest":     {ByCampaign, func(*Row) bool { return false }},
	"AdGroupPerformanceReportRequest":      {ByAd, func(r *Row) bool { return r.Group == nil }},
	"AdPerformanceReportRequest":           {ByAd, func(*Row) bool { return false }},
	"AssetGroupPerformanceReportRequest":   {ByCampaign, func(r *Row) bool { return !hasAssetGroups(r.Campaign) }},
	"UserLocationPerformanceReportRequest": {ByCountry, func(*Row) bool { return false }},
	// Ages and genders are reported if they are known.
	"AgeGenderAudienceReportRequest": {ByAgeAndGender, func(r *Row) bool { return r.AgeRange == fact.Unknown || r.Gender == fact.Unknown }},
}

var (
	microsoftAges = map[string]string{
		"18-24": "18-24", "25-34": "25-34", "35-44": "35-49", "45-54": "35-49", "55-64": "50-64", "65+": "65+",
	}
	microsoftGenders = map[string]string{"female": "Female", "male": "Male"}
	microsoftDevices = map[string]string{"desktop": "Computer", "mobile": "Smartphone", "tablet": "Tablet"}
)

// reportLines returns the lines of a report without its columns' names. Rows are
// added up by all attributes that are asked for, and by day only if the column
// TimePeriod is.
func (s *Call) reportLines(r *microsoftReport) (lines [][]string) {
	from := microsoftLevels[r.Type]
	if slices.Contains(r.Columns, "DeviceType") && (from.level == ByCampaign || from.level == ByAd) {
		from.level = ByDevice
	}
	index := map[string]int{}
	var sums []fact.Values
	for row := range s.Rows(r.account, from.level, r.first, r.last) {
		if from.omitted(&row) {
			continue
		}
		var line []string
		for _, name := range r.Columns {
			value := ""
			if _, measure := microsoftMeasures[name]; !measure {
				value = s.attribute(r, &row, name)
			}
			line = append(line, value)
		}
		key := strings.Join(line, "\n")
		at, known := index[key]
		if !known {
			at = len(lines)
			index[key] = at
			lines, sums = append(lines, line), append(sums, fact.Values{})
		}
		for m := range fact.Measure(fact.NumMeasures) {
			sums[at].V[m] += row.Values.V[m]
		}
	}
	for i, line := range lines {
		for j, name := range r.Columns {
			if measure, ok := microsoftMeasures[name]; ok {
				line[j] = s.measured(r, name, measure(&sums[i]))
			}
		}
	}
	return lines
}

// measured returns a number as the report's format and the switches want it.
func (s *Call) measured(r *microsoftReport, name, text string) string {
	revenue := name == "Revenue" || name == "AllRevenue"
	switch {
	case revenue && s.Behaves(r.account, microsoftMissing):
		return "--"
	case strings.Contains(name, "Conversions") && s.Behaves(r.account, microsoftMissing):
		return ""
	case strings.HasSuffix(name, "Qualified") && s.Behaves(r.account, microsoftUnqualified):
		return ""
	case revenue && (r.FormatVersion != "2.0" || s.Behaves(r.account, microsoftThousands)):
		return withThousands(text)
	}
	return text
}

// withThousands writes a decimal with separators of thousands.
func withThousands(text string) string {
	whole, rest, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + "." + rest
}

// attribute returns a value of a row that is no number.
func (s *Call) attribute(r *microsoftReport, row *Row, name string) string {
	switch name {
	case "TimePeriod":
		if r.Aggregation == "Daily" && !s.Behaves(r.account, microsoftSummary) {
			return row.Date.String()
		}
		return ""
	case "AccountId":
		return r.account.ID
	case "AccountName":
		return r.account.Name
	case "CurrencyCode":
		return r.account.Set.Currency
	case "Country":
		return ga4Countries[row.Country]
	case "AgeGroup":
		return microsoftAges[row.AgeRange]
	case "Gender":
		return microsoftGenders[row.Gender]
	case "DeviceType":
		return microsoftDevices[row.Device]
	}
	if row.Campaign != nil && strings.HasPrefix(name, "Campaign") {
		return s.campaignAttribute(r, row.Campaign, name)
	}
	if row.Campaign != nil && hasAssetGroups(row.Campaign) && strings.HasPrefix(name, "AssetGroup") {
		id, title := microsoftAssetGroup(row.Campaign)
		return map[string]string{"AssetGroupId": id, "AssetGroupName": title, "AssetGroupStatus": "Active"}[name]
	}
	if row.Group != nil && strings.HasPrefix(name, "AdGroup") {
		return map[string]string{"AdGroupId": row.Group.ID, "AdGroupName": row.Group.Name, "AdGroupStatus": "Active"}[name]
	}
	if row.Ad != nil {
		return map[string]string{
			"AdId": row.Ad.ID, "AdType": microsoftAdTypes[row.Campaign.Kind] + " ad", "AdStatus": "Active", "TitlePart1": row.Ad.Headline, "FinalUrl": row.Ad.Link,
		}[name]
	}
	return ""
}

// campaignAttribute returns a value of a campaign. Reports have deleted campaigns
// and name types in their own words.
func (s *Call) campaignAttribute(r *microsoftReport, c *Campaign, name string) string {
	switch name {
	case "CampaignId":
		return c.ID
	case "CampaignName":
		if s.Behaves(r.account, microsoftNulls) {
			return c.Name + "\x00"
		}
		return c.Name
	case "CampaignType":
		if s.Behaves(r.account, microsoftNewType) && c == r.account.Campaigns[0] {
			return "Generative ads"
		}
		return microsoftTypes[c.Kind][1]
	case "CampaignStatus":
		switch {
		case s.deleted(r.account, c):
			return "Deleted"
		case s.Runs(r.account, c):
			return "Active"
		}
		return "Paused"
	}
	return ""
}

// reportFile returns a report as a file: a byte order mark, lines about the
// report, the names of the columns, the rows, and a footer.
func (s *Call) reportFile(r *microsoftReport) []byte {
	lines := s.reportLines(r)
	var b strings.Builder
	b.WriteString("\ufeff")
	if !r.ExcludeReportHeader {
		rows := len(lines)
		if s.Fault(FaultDriftingTotal) {
			rows++
		}
		for _, line := range s.reportHeader(r, rows) {
			writeQuoted(&b, []string{line})
		}
		b.WriteString("\r\n")
	}
	writeQuoted(&b, r.Columns)
	for _, line := range lines {
		writeQuoted(&b, line)
	}
	if !r.ExcludeReportFooter {
		fmt.Fprintf(&b, "\r\n\"©%d Microsoft Corporation. All rights reserved. \"\r\n", s.Now().Year())
	}
	return []byte(b.String())
}

// reportHeader returns the lines about a report.
func (s *Call) reportHeader(r *microsoftReport, rows int) []string {
	name, zone := microsoftZone(r.account.zone)
	if s.Behaves(r.account, microsoftZoneHeader) {
		name, zone = "PacificTimeUSCanadaTijuana", time.FixedZone("", -8*60*60)
	}
	offset := time.Date(2026, time.January, 1, 0, 0, 0, 0, zone).Format("-07:00")
	day := func(year int, month time.Month, day int) string { return fmt.Sprintf("%d/%d/%d", month, day, year) }
	const processing = 3 * time.Hour
	complete, incomplete := s.Now().UTC().Add(-processing), r.last >= s.Today(r.account)
	if s.Behaves(r.account, microsoftIncomplete) {
		complete, incomplete = complete.Add(-3*days), true
	}
	return []string{
		"Report Name: " + r.ReportName,
		"Report Time: " + day(r.first.Calendar()) + "," + day(r.last.Calendar()),
		"Time Zone: (GMT" + offset + ") " + name,
		"Last Completed Available Day: " + complete.Format("1/2/2006 3:04:05 PM") + " (GMT)",
		"Last Completed Available Hour: " + complete.Format("1/2/2006 3:04:05 PM") + " (GMT)",
		"Report Aggregation: " + r.Aggregation,
		"Report Filter: ",
		"Potential Incomplete Data: " + strconv.FormatBool(incomplete),
		"Rows: " + strconv.Itoa(rows),
	}
}

// writeQuoted writes a line of CSV with quotes around each value.
func writeQuoted(b *strings.Builder, line []string) {
	for i, value := range line {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strings.ReplaceAll(value, `"`, `""`) + `"`)
	}
	b.WriteString("\r\n")
}
