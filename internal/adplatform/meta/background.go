package meta

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

const (
	firstPoll = time.Second
	lastPoll  = 30 * time.Second
	// deadline limits the time of a background report. Meta says that one can
	// take up to an hour including its own retries
	// (developers.facebook.com/documentation/ads-commerce/marketing-api/
	// insights/best-practices).
	deadline = 65 * time.Minute
	// maxRuns is how often a background report is started.
	maxRuns = 2
)

// runBackgroundReport makes a report in the background and returns its path. It
// starts a report that fails once more: the next one often succeeds.
func (c *Client) runBackgroundReport(ctx context.Context, cred connection.Credentials, s *reportSlice, path string) (string, error) {
	for run := 1; ; run++ {
		at, err := c.startBackgroundReport(ctx, cred, s, path)
		if err != nil {
			return "", err
		}
		failed, err := c.awaitReport(ctx, cred, s.q.Account, at)
		if err != nil {
			return "", err
		}
		if failed == nil {
			return at + "/insights", nil
		}
		if run == maxRuns {
			return "", failed.err()
		}
	}
}

func (c *Client) startBackgroundReport(ctx context.Context, cred connection.Credentials, s *reportSlice, path string) (string, error) {
	var run struct {
		ID string `json:"report_run_id"`
	}
	if err := c.call(ctx, cred, transport.Call{Method: http.MethodPost, Path: path, JSON: s.params(), Account: s.q.Account}, &run); err != nil {
		return "", err
	}
	if run.ID == "" {
		return "", malformedError("the report has no id")
	}
	return "/" + url.PathEscape(run.ID), nil
}

// reportState is the state of a background report.
type reportState struct {
	Status  string `json:"async_status"`
	Code    int    `json:"error_code"`
	Subcode int    `json:"error_subcode"`
	Message string `json:"error_user_msg"`
}

// reportFields are the fields of reportState. The errors exist since version 25.
const reportFields = "async_status,async_percent_completion,error_code,error_subcode,error_user_msg"

// err returns the error of a report that has failed.
//
// Choice: without a reason it is too much data. That is the usual one, and
// smaller windows solve it.
func (s *reportState) err() *connection.Error {
	e := &connection.Error{Class: connection.TooLarge, Code: "job_failed", Message: "Meta could not create the report (" + s.Status + "). " + s.Message}
	if s.Subcode != 0 {
		e.Code = strconv.Itoa(s.Code) + "/" + strconv.Itoa(s.Subcode)
		// The code of a report is negative or general; the subcode counts.
		errorTable.Find("", "/"+strconv.Itoa(s.Subcode)).Apply(e)
	}
	e.Message = strings.TrimSpace(e.Message)
	return e
}

// awaitReport waits for a background report. It returns the state of one that
// has failed, nil for one that is complete.
func (c *Client) awaitReport(ctx context.Context, cred connection.Credentials, account, at string) (failed *reportState, err error) {
	wait := firstPoll
	for waited := time.Duration(0); waited < deadline; waited += wait {
		var state reportState
		err := c.call(ctx, cred, transport.Call{Method: http.MethodGet, Path: at, Query: url.Values{"fields": {reportFields}}, Account: account}, &state)
		switch {
		case err != nil:
			return nil, worthRetry(err)
		case state.Status == "Job Completed":
			return nil, nil
		case state.Status == "Job Failed" || state.Status == "Job Skipped":
			return &state, nil
		}
		if err := c.sleep(ctx, wait); err != nil {
			return nil, &connection.Error{Class: connection.Transient, Code: "canceled", Message: "The call was broken off.", Cause: err}
		}
		wait = min(2*wait, lastPoll)
	}
	return nil, &connection.Error{Class: connection.Transient, Code: "job_stuck", Message: "Meta has not finished the report in more than an hour."}
}
