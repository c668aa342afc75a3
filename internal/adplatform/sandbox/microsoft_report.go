package sandbox

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"fanfare/internal/clock"
)

// microsoftDownload is the path of report files.
const microsoftDownload = "/Reports/"

const (
	// microsoftURLLife is for how long a download URL works.
	microsoftURLLife = 5 * time.Minute
	// microsoftReportLife is for how long a report can be polled.
	microsoftReportLife = 2 * days
	// microsoftConcurrent is the number of unfinished reports of a customer with
	// the switch on. Microsoft does not publish its limit.
	microsoftConcurrent = 1
	// microsoftRetention is the number of months of daily metrics.
	microsoftRetention = 36
)

// microsoftRequest is a request of a report.
type microsoftRequest struct {
	Type                   string
	ReportName             string
	Format, FormatVersion  string
	ReturnOnlyCompleteData bool
	ExcludeReportHeader    bool
	ExcludeReportFooter    bool
	Aggregation            string
	Columns                []string
	Scope                  struct {
		AccountIDs []string `json:"AccountIds"`
	}
	Time struct {
		Start          *microsoftDate `json:"CustomDateRangeStart"`
		End            *microsoftDate `json:"CustomDateRangeEnd"`
		PredefinedTime *string
		ReportTimeZone *string
	}
}

type microsoftDate struct{ Day, Month, Year int }

// date returns the day, false for one that does not exist.
func (d *microsoftDate) date() (clock.Date, bool) {
	if d == nil {
		return 0, false
	}
	return clock.ParseDate(fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day))
}

// microsoftReport is a requested report.
type microsoftReport struct {
	microsoftRequest
	account     *Account
	customer    string
	token       int64
	at          time.Time
	first, last clock.Date
	// downloads is the number of attempts to download it.
	downloads int
}

// submitReport starts a report.
func (c *microsoftCall) submitReport() (any, *microsoftError) {
	var in struct{ ReportRequest microsoftRequest }
	if refused := c.read(&in); refused != nil {
		return nil, refused
	}
	report := &microsoftReport{microsoftRequest: in.ReportRequest, account: c.account, customer: microsoftCustomerID(c.account), at: c.Now()}
	if refused := c.checkReport(report); refused != nil {
		return nil, refused
	}
	claims, _ := readToken(c.token) // it was valid just now
	report.token = claims.Grant
	s := &c.server.microsoft
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Behaves(c.account, microsoftConcurrency) && s.unfinished(report.customer, c.pendingTime(c.account), c.Now()) >= microsoftConcurrent {
		return nil, microsoftRefusal(microsoftTooManyReport, "")
	}
	if s.reports == nil {
		s.reports = map[string]*microsoftReport{}
	}
	for id, old := range s.reports {
		if c.Now().Sub(old.at) > microsoftReportLife {
			delete(s.reports, id)
		}
	}
	s.serial++
	id := strconv.FormatInt(30_000_000_000+s.serial, 10)
	s.reports[id] = report
	return map[string]any{"ReportRequestId": id}, nil
}

// unfinished returns the number of a customer's reports that are not finished.
func (s *microsoftState) unfinished(customer string, pending time.Duration, now time.Time) (n int) {
	for _, r := range s.reports {
		if r.customer == customer && now.Sub(r.at) < pending {
			n++
		}
	}
	return n
}

// pendingTime returns how long reports of an account take.
func (s *Call) pendingTime(a *Account) time.Duration {
	return time.Duration(s.server.behaviors.number(MicrosoftAds, a.ID, microsoftPending, 0)) * time.Second
}

// checkReport validates a report and sets its days.
func (c *microsoftCall) checkReport(r *microsoftReport) *microsoftError {
	columns, known := microsoftColumns[r.Type]
	first, ok1 := r.Time.Start.date()
	last, ok2 := r.Time.End.date()
	today := c.Today(c.account)
	switch {
	case !known:
		return microsoftRefusal(2002, r.Type)
	case len(r.Scope.AccountIDs) != 1 || r.Scope.AccountIDs[0] != c.account.ID:
		return microsoftRefusal(2003, "")
	case len(r.Columns) == 0:
		return microsoftRefusal(2014, "")
	case r.Time.PredefinedTime != nil && r.Time.Start != nil || r.Time.PredefinedTime == nil && r.Time.Start == nil:
		return microsoftRefusal(2008, "")
	case !ok1 || !ok2 || first < c.retentionStart():
		return microsoftRefusal(2009, "")
	case last < first:
		return microsoftRefusal(2011, "")
	case r.ReturnOnlyCompleteData && last >= today:
		return microsoftRefusal(2005, "")
	case r.Aggregation != "Daily" && r.Aggregation != "Summary":
		return microsoftRefusal(2007, "")
	}
	r.first, r.last = first, last
	measured := false
	for i, name := range r.Columns {
		switch {
		case !slices.Contains(columns, name):
			// The request cannot be read, because the column is none of the type.
			return microsoftRefusal(microsoftNullRequest, "Error converting value \""+name+"\" to type '"+r.Type[:len(r.Type)-len("Request")]+"Column'.")
		case slices.Contains(r.Columns[:i], name):
			return microsoftRefusal(2016, name)
		}
		_, measure := microsoftMeasures[name]
		measured = measured || measure
	}
	if !measured {
		return microsoftRefusal(2017, "")
	}
	return nil
}

// retentionStart returns the first day with daily metrics.
func (c *microsoftCall) retentionStart() clock.Date {
	return clock.DateIn(c.Now().UTC().AddDate(0, -microsoftRetention, 0), time.UTC)
}

// pollReport answers with the state of a report. A report without rows is
// finished and has no URL.
func (c *microsoftCall) pollReport() (any, *microsoftError) {
	var in struct {
		ReportRequestID string `json:"ReportRequestId"`
	}
	if refused := c.read(&in); refused != nil {
		return nil, refused
	}
	s := &c.server.microsoft
	s.mu.Lock()
	report := s.reports[in.ReportRequestID]
	s.mu.Unlock()
	claims, _ := readToken(c.token)
	if report == nil || report.token != claims.Grant || c.Now().Sub(report.at) > microsoftReportLife {
		return nil, microsoftRefusal(2100, "")
	}
	status, link := "Success", any(nil)
	switch {
	case c.Fault(FaultAsyncFailed) || c.Fault(FaultTooLarge):
		status = "Error"
	case c.Fault(FaultAsyncStuck) || c.Now().Sub(report.at) < c.pendingTime(report.account):
		status = "Pending"
	case len(c.reportLines(report)) > 0:
		link = fmt.Sprintf("%s%s%s?se=%d&sig=%s", c.Base(), microsoftDownload, in.ReportRequestID, c.Now().Add(microsoftURLLife).Unix(), sign(in.ReportRequestID))
	}
	return map[string]any{"ReportRequestStatus": map[string]any{"Status": status, "ReportDownloadUrl": link}}, nil
}

// serveMicrosoftFile answers with the file of a report. The URL is the access, and
// it ends soon.
func serveMicrosoftFile(s *Call, w http.ResponseWriter, r *http.Request, id string) {
	state := &s.server.microsoft
	state.mu.Lock()
	report := state.reports[id]
	early := false
	if report != nil {
		early = report.downloads == 0 && s.Behaves(report.account, microsoftURLExpired)
		report.downloads++
	}
	state.mu.Unlock()
	until, _ := strconv.ParseInt(r.URL.Query().Get("se"), 10, 64)
	if report == nil || early || r.URL.Query().Get("sig") != sign(id) || s.Now().Unix() >= until {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte("<?xml version=\"1.0\"?><Error><Code>AuthenticationFailed</Code><Message>Server failed to authenticate the request.</Message></Error>"))
		return
	}
	text := s.reportFile(report)
	if s.Behaves(report.account, microsoftUncompressed) {
		w.Header().Set("Content-Type", "text/csv")
		_, _ = w.Write(text)
		return
	}
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	entry, err := archive.Create(id + ".csv")
	if err == nil {
		_, err = entry.Write(text)
	}
	if err != nil || archive.Close() != nil {
		http.Error(w, "the file cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	_, _ = w.Write(file.Bytes())
}
