package meta

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/connection"
)

// errorAnswer is what Meta says when something is wrong.
type errorAnswer struct {
	Message string `json:"message"`
	Code    int    `json:"code"`
	Subcode int    `json:"error_subcode"`
	Trace   string `json:"fbtrace_id"`
}

// readError tells what is wrong with an answer.
func readError(status int, header http.Header, body []byte, now time.Time) *connection.Error {
	if status < http.StatusBadRequest {
		return nil
	}
	var answer struct {
		Error *errorAnswer `json:"error"`
	}
	_ = json.Unmarshal(body, &answer) // an answer without a reason has its status
	f := answer.Error
	if f == nil {
		f = &errorAnswer{Message: "Meta answered with status " + strconv.Itoa(status) + "."}
	}
	e := &connection.Error{
		Class: f.classOf(status), Code: strconv.Itoa(cmp.Or(f.Code, status)), Message: f.Message,
		RequestID: cmp.Or(f.Trace, header.Get("X-Fb-Trace-Id")),
	}
	if f.Subcode != 0 {
		e.Code += "/" + strconv.Itoa(f.Subcode)
	}
	if e.Class == connection.Throttled {
		u := readUsage(header)
		e.Until, e.Stated = now.Add(u.throttleWait()), u.regainAfter > 0
	}
	return e
}

// classOf sorts what Meta says. Codes say more than statuses: being asked too
// often is a 400 like everything else.
func (f *errorAnswer) classOf(status int) connection.Class {
	switch {
	case strings.Contains(strings.ToLower(f.Message), "reduce the amount of data"):
		return connection.TooLarge
	case f.Code == 4 || f.Code == 17 || f.Code == 32 || f.Code == 613 || f.Code >= 80000 && f.Code <= 80014 || status == http.StatusTooManyRequests:
		return connection.Throttled
	case f.Code == 190 && f.Subcode == 463:
		return connection.Expired
	case f.Code == 190 || f.Code == 102:
		return connection.Revoked
	case f.Code == 2635:
		return connection.Sunset
	case f.Code == 10 || f.Code >= 200 && f.Code <= 299 || f.Code == 100 && f.Subcode == 33:
		return connection.Forbidden
	case f.Code == 803:
		return connection.Gone
	case f.Code == 1 || f.Code == 2 || status >= http.StatusInternalServerError:
		return connection.Transient
	}
	return connection.Refused
}

// requireNewConsent turns an end that a new token would help with into one that only a
// person can.
func requireNewConsent(err error) error {
	if e, ok := errors.AsType[*connection.Error](err); ok && e.Class == connection.Expired {
		ended := *e
		ended.Class = connection.Revoked
		return &ended
	}
	return err
}

func malformedError(what string) *connection.Error {
	return &connection.Error{Class: connection.Transient, Code: "malformed", Message: "Meta's answer is not what it should be: " + what + "."}
}

// callUsage is how much of the budget of calls is used up, in percent, and when
// there will be some of it again.
type callUsage struct {
	percent     float64
	regainAfter time.Duration
}

const (
	slowFromPercent = 75
	stopFromPercent = 95
	// defaultWait is how long the platform is left alone when it does not say.
	//
	// Choice: budgets are counted over an hour and run empty slowly; ten
	// minutes give back a good part of one.
	defaultWait = 10 * time.Minute
)

// readUsage reads the headers that tell about it. There are four kinds; whichever
// is fullest counts.
func readUsage(header http.Header) callUsage {
	var u callUsage
	var cases map[string][]struct {
		Calls  float64 `json:"call_count"`
		CPU    float64 `json:"total_cputime"`
		Time   float64 `json:"total_time"`
		Regain float64 `json:"estimated_time_to_regain_access"`
	}
	if json.Unmarshal([]byte(header.Get("X-Business-Use-Case-Usage")), &cases) == nil {
		for _, list := range cases {
			for _, c := range list {
				u.percent = max(u.percent, c.Calls, c.CPU, c.Time)
				u.regainAfter = max(u.regainAfter, time.Duration(c.Regain*float64(time.Minute)))
			}
		}
	}
	for _, name := range []string{"X-App-Usage", "X-Ad-Account-Usage", "X-Fb-Ads-Insights-Throttle"} {
		var app struct {
			Calls   float64 `json:"call_count"`
			CPU     float64 `json:"total_cputime"`
			Time    float64 `json:"total_time"`
			Account float64 `json:"acc_id_util_pct"`
			App     float64 `json:"app_id_util_pct"`
		}
		if json.Unmarshal([]byte(header.Get(name)), &app) == nil {
			u.percent = max(u.percent, app.Calls, app.CPU, app.Time, app.Account, app.App)
		}
	}
	return u
}

// throttleWait is how long to wait once the platform refuses.
func (u callUsage) throttleWait() time.Duration { return cmp.Or(u.regainAfter, defaultWait) }

// nextCall is when the next call should come.
//
// Choice: from 75 % on every call waits, 3 seconds at first and a minute before
// the end, so that a budget is stretched rather than overdrawn.
func (u callUsage) nextCall(now time.Time) time.Time {
	switch {
	case u.percent >= stopFromPercent:
		return now.Add(u.throttleWait())
	case u.percent >= slowFromPercent:
		return now.Add(time.Duration(u.percent-slowFromPercent+1) * 3 * time.Second)
	}
	return now
}
