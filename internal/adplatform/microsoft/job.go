package microsoft

import (
	"context"
	"net/http"
	"sync"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
)

const (
	// firstPoll and lastPoll are the shortest and the longest wait between polls.
	//
	// Choice: the first poll follows at once, because small reports are often
	// finished by then.
	firstPoll = 2 * time.Second
	lastPoll  = 30 * time.Second
	// deadline limits the time of a report: Microsoft says that most take minutes
	// and suggests to give up after an hour
	// (learn.microsoft.com/advertising/guides/request-download-report).
	deadline = time.Hour
	// maxRuns is how often a report is submitted, maxDownloads how often its file
	// is asked for.
	maxRuns      = 2
	maxDownloads = 3
	// reportsAtOnce is the number of unfinished reports of a customer. Choice:
	// Microsoft does not publish its limit.
	reportsAtOnce = 2
)

// slotTable limits the unfinished reports of each customer.
type slotTable struct {
	mu    sync.Mutex
	slots map[string]chan struct{}
}

// take waits until a customer may have another report. The caller has to call
// the function that it returns.
func (t *slotTable) take(ctx context.Context, customer string) (release func(), err error) {
	t.mu.Lock()
	if t.slots == nil {
		t.slots = map[string]chan struct{}{}
	}
	slots := t.slots[customer]
	if slots == nil {
		slots = make(chan struct{}, reportsAtOnce)
		t.slots[customer] = slots
	}
	t.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, brokenOff(ctx.Err())
	}
}

func brokenOff(cause error) error {
	return &connection.Error{Class: connection.Transient, Code: "canceled", Message: "The call was broken off.", Cause: cause}
}

// reportRequest is the body of a submitted report (PyPI msads 13.0.30.1,
// openapi_client/models/reporting).
type reportRequest struct {
	Type                   string
	ReportName             string
	Format                 string
	FormatVersion          string
	ReturnOnlyCompleteData bool
	ExcludeReportHeader    bool
	ExcludeReportFooter    bool
	ExcludeColumnHeaders   bool
	Aggregation            string
	Columns                []string
	Scope                  struct {
		AccountIDs []string `json:"AccountIds"`
	}
	Time struct {
		Start          reportDate `json:"CustomDateRangeStart"`
		End            reportDate `json:"CustomDateRangeEnd"`
		ReportTimeZone string     `json:",omitzero"`
	}
}

type reportDate struct{ Day, Month, Year int }

func dateOf(d clock.Date) reportDate {
	year, month, day := d.Calendar()
	return reportDate{day, int(month), year}
}

// reportZones are the time zones that reports name otherwise than accounts do
// (openapi_client/models/reporting/report_time_zone.py).
var reportZones = map[string]string{
	"SolomonIslandNewCaledonia": "MagadanSolomonIslandNewCaledonia", "IslamabadKarachiTashkent": "IslandamabadKarachiTashkent",
	"AthensBuckarestIstanbul": "AthensIslandanbulMinsk", "MidwayIslandAndSamoa": "MidwayIslandandSamoa",
}

// newRequest returns the request of a report. Format 2.0 has no separators of
// thousands. The header is kept: only it has the zone, the completeness and the
// number of rows.
func newRequest(q *connection.Report, kind string, columns []string, zone string) *reportRequest {
	r := &reportRequest{
		Type: kind, ReportName: "fanfare", Format: "Csv", FormatVersion: "2.0", ExcludeReportFooter: true, Aggregation: "Daily", Columns: columns,
	}
	r.Scope.AccountIDs = []string{q.Account}
	r.Time.Start, r.Time.End, r.Time.ReportTimeZone = dateOf(q.First), dateOf(q.Last), zone
	if other, ok := reportZones[zone]; ok {
		r.Time.ReportTimeZone = other
	}
	return r
}

// runReport makes a report and returns its file, nil if it has no rows. It
// submits a report that fails once more.
func (c *Client) runReport(ctx context.Context, creds connection.Credentials, account string, r *reportRequest) (*reportFile, error) {
	o, _, err := c.ownerOf(ctx, creds, account, false)
	if err != nil {
		return nil, err
	}
	release, err := c.slots.take(ctx, o.customer)
	if err != nil {
		return nil, err
	}
	defer release()
	for run := 1; ; run++ {
		id, err := c.submit(ctx, creds, account, r)
		if err != nil {
			return nil, err
		}
		file, err := c.fetch(ctx, creds, account, id, r.Columns)
		lost := hasCode(err, codeFailed) || hasCode(err, codeUnknownReport)
		if !lost || run == maxRuns {
			return file, err
		}
	}
}

func (c *Client) submit(ctx context.Context, creds connection.Credentials, account string, r *reportRequest) (string, error) {
	var answer struct {
		ID string `json:"ReportRequestId"`
	}
	err := c.callAccount(ctx, c.reports, creds, account, transport.Call{
		Method: http.MethodPost, Path: reportingPath + "GenerateReport/Submit", JSON: map[string]any{"ReportRequest": r},
	}, &answer)
	if err == nil && answer.ID == "" {
		err = malformed("The report has no id.")
	}
	return answer.ID, err
}

// fetch waits for a report and downloads it. A URL that has ended, or a file that
// is not whole, needs a new URL and no new report.
func (c *Client) fetch(ctx context.Context, creds connection.Credentials, account, id string, columns []string) (*reportFile, error) {
	for try := 1; ; try++ {
		url, err := c.await(ctx, creds, account, id)
		if err != nil || url == "" {
			return nil, err
		}
		var body transport.File
		// The URL is the access. It gets no header of ours.
		_, err = c.files.Do(ctx, transport.Call{Method: http.MethodGet, Path: url, Account: account}, &body)
		var file *reportFile
		if err == nil {
			file, err = parseFile(body, columns)
		}
		if err == nil || !hasCode(err, codeExpiredURL) && !hasCode(err, codeMalformed) {
			return file, err
		}
		if try == maxDownloads {
			return nil, malformed("The file of the report could not be read: " + err.Error())
		}
	}
}

const (
	codeFailed    = "job_failed"
	codeMalformed = "malformed"
)

func malformed(message string) *connection.Error {
	return &connection.Error{Class: connection.Transient, Code: codeMalformed, Message: message}
}

// await polls a report until it is finished. It returns the URL of the file,
// empty if the report has no rows.
func (c *Client) await(ctx context.Context, creds connection.Credentials, account, id string) (string, error) {
	wait := firstPoll
	for waited := time.Duration(0); waited < deadline; waited += wait {
		var answer struct {
			ReportRequestStatus struct {
				Status string
				URL    *string `json:"ReportDownloadUrl"`
			}
		}
		err := c.callAccount(ctx, c.reports, creds, account, transport.Call{
			Method: http.MethodPost, Path: reportingPath + "GenerateReport/Poll", JSON: map[string]string{"ReportRequestId": id},
		}, &answer)
		switch state := answer.ReportRequestStatus; {
		case err != nil:
			return "", err
		case state.Status == "Success" && state.URL == nil:
			return "", nil
		case state.Status == "Success":
			return *state.URL, nil
		case state.Status == "Error":
			// Choice: Microsoft gives no reason. A smaller window is the only thing
			// that can be changed.
			return "", &connection.Error{Class: connection.TooLarge, Code: codeFailed, Message: "Microsoft could not create the report."}
		}
		if err := c.sleep(ctx, wait); err != nil {
			return "", brokenOff(err)
		}
		wait = min(2*wait, lastPoll)
	}
	return "", &connection.Error{Class: connection.Transient, Code: "job_stuck", Message: "Microsoft has not finished the report in an hour."}
}
