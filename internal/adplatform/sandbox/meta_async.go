package sandbox

import (
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// startReport starts a background report. Its id contains its account, its
// start and its parameters, so that the sandbox stores nothing.
func (c metaCall) startReport(a *Account) {
	if c.Fault(FaultTooLarge) {
		c.writeError(metaTooLarge)
		return
	}
	report, refused := c.readReport(a, c.params)
	if refused == nil {
		refused = c.refuseReport(a, &report, true)
	}
	if refused != nil {
		c.writeError(refused)
		return
	}
	params := url.Values{"account": {a.ID}, "start": {strconv.FormatInt(c.Now().Unix(), 10)}}
	for _, name := range metaReportParams[2:] {
		if c.params.Has(name) {
			params.Set(name, c.params.Get(name))
		}
	}
	c.writeAnswer(map[string]any{"report_run_id": encodeReportID(params)})
}

// metaReportParams are the parameters of a report, without those of its pages.
var metaReportParams = []string{
	"account", "start", "level", "breakdowns", "action_breakdowns", "fields", "summary", "default_summary", "action_attribution_windows", "filtering", "sort",
	"date_preset", "time_range", "time_ranges", "time_increment",
}

// encodeReportID encodes parameters as a number, because ids are numbers.
func encodeReportID(params url.Values) string {
	text := []byte{1}
	for _, name := range metaReportParams {
		text = append(append(text, params.Get(name)...), '\n')
	}
	return new(big.Int).SetBytes(text).String()
}

func decodeReportID(id string) (url.Values, bool) {
	n, ok := new(big.Int).SetString(id, 10)
	if !ok {
		return nil, false
	}
	values := strings.Split(string(n.Bytes()), "\n")
	if len(values) != len(metaReportParams)+1 {
		return nil, false
	}
	params := url.Values{}
	for i, name := range metaReportParams {
		if value := strings.TrimPrefix(values[i], "\x01"); value != "" {
			params.Set(name, value)
		}
	}
	return params, true
}

// reportAccount returns the account of a background report, empty for other
// ids.
func reportAccount(id string) string {
	params, _ := decodeReportID(id)
	return params.Get("account")
}

// serveReport returns the progress of a background report, and its rows when it
// is complete.
func (c metaCall) serveReport(a *Account, id, edge string, report url.Values) {
	switch edge {
	case "":
		answer := map[string]any{"id": id, "account_id": a.ID}
		if asked, refused := c.readReport(a, report); refused == nil {
			answer["date_start"], answer["date_stop"] = asked.first.String(), asked.last.String()
		}
		if start, err := strconv.ParseInt(report.Get("start"), 10, 64); err == nil {
			answer["time_ref"] = start
		}
		answer["async_status"], answer["async_percent_completion"] = c.reportState(a, report)
		if answer["async_status"] == "Job Failed" {
			answer["error_code"], answer["error_subcode"], answer["error_user_msg"] = 100, 1487534, "Please reduce the amount of data you're asking for"
		}
		c.writeAnswer(answer)
	case "insights":
		if c.Behaves(a, metaSummaryParam) && c.params.Has("summary") {
			c.writeError(metaInvalid("Cannot include %s in summary param because they weren't there while creating the report run. All available values are: .", c.params.Get("summary")))
			return
		}
		if c.Behaves(a, metaSummaryParam) {
			report.Del("summary")
		}
		c.insights(a, report, true)
	default:
		c.writeError(metaUnknown)
	}
}

// metaSlowReport is how long a report of an account with async_slow takes.
const metaSlowReport = 55 * time.Minute

// reportState returns the state of a background report and its percentage.
func (c metaCall) reportState(a *Account, params url.Values) (state string, percent int) {
	start, _ := strconv.ParseInt(params.Get("start"), 10, 64)
	age := c.Now().Sub(time.Unix(start, 0))
	report, _ := c.readReport(a, params)
	switch {
	case c.Fault(FaultAsyncFailed):
		return "Job Failed", 30
	case c.Fault(FaultAsyncStuck):
		return "Job Running", 50
	case c.Behaves(a, metaAsyncSkipped) && report.last-report.first >= metaFewDays:
		return "Job Skipped", 0
	case !c.Behaves(a, metaAsyncSlow) || age >= metaSlowReport:
		return "Job Completed", 100
	case age < 10*time.Second:
		return "Job Not Started", 0
	case age < 30*time.Second:
		return "Job Started", 0
	}
	return "Job Running", int(100 * age / metaSlowReport)
}
