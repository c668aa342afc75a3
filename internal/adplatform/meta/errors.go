package meta

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// errorAnswer is an error of Meta.
type errorAnswer struct {
	Message string `json:"message"`
	Code    int    `json:"code"`
	Subcode int    `json:"error_subcode"`
	Trace   string `json:"fbtrace_id"`
}

// readError returns the error of an answer, nil if there is none. Meta can send
// one beside data, with status 200.
func readError(status int, header http.Header, body []byte, now time.Time) *connection.Error {
	success := status < http.StatusBadRequest
	if success && !bytes.Contains(body, []byte(`"error"`)) {
		return nil
	}
	var answer struct {
		Error *errorAnswer `json:"error"`
	}
	err := json.Unmarshal(body, &answer) // without JSON the status is enough
	f := answer.Error
	switch {
	case success && err != nil:
		return malformedError("its error cannot be read")
	case success && f == nil:
		return nil
	}
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
	if success {
		return transport.ErrorBeside(e)
	}
	return e
}

// classOf returns the class of an error. The code is more specific than the
// status: even throttling is a 400.
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

// requireNewConsent turns an expired token, which could be refreshed, into a
// revoked one, which needs a new consent.
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

// callUsage is how much of the call quota is used, in percent, and when Meta
// restores a part of it.
type callUsage struct {
	percent     float64
	regainAfter time.Duration
}

const (
	slowFromPercent = 75
	stopFromPercent = 95
	// defaultWait is the wait if Meta names none.
	//
	// Choice: quotas are over an hour and refill slowly; ten minutes restore a
	// large part.
	defaultWait = 10 * time.Minute
)

// readUsage reads the usage headers. There are four kinds; the highest value
// counts.
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

// throttleWait returns how long to wait after a refusal.
func (u callUsage) throttleWait() time.Duration { return cmp.Or(u.regainAfter, defaultWait) }

// nextCall returns the time of the next call.
//
// Choice: from 75 % on every call waits, from 3 seconds up to a minute, so that
// the quota lasts.
func (u callUsage) nextCall(now time.Time) time.Time {
	switch {
	case u.percent >= stopFromPercent:
		return now.Add(u.throttleWait())
	case u.percent >= slowFromPercent:
		return now.Add(time.Duration(u.percent-slowFromPercent+1) * 3 * time.Second)
	}
	return now
}
