package meta

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// callUsage is how much of the call quota is used, in percent, and when Meta
// restores a part of it.
type callUsage struct {
	percent     float64
	regainAfter time.Duration
}

const (
	slowFromPercent = 75
	stopFromPercent = 95
	// throttledPercent is the usage at which Meta refuses calls.
	throttledPercent = 100
	// defaultWait is the wait if Meta names none.
	//
	// Choice: quotas are over an hour and refill slowly; ten minutes restore a
	// large part.
	defaultWait = 10 * time.Minute
)

// looseNumber is a number that Meta sometimes sends as a text. A text that is no
// number counts as zero.
type looseNumber float64

// UnmarshalJSON implements json.Unmarshaler.
func (n *looseNumber) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil {
		f = 0
	}
	*n = looseNumber(f)
	return nil
}

// readUsage reads the usage headers. There are four kinds; the highest value
// counts.
func readUsage(header http.Header) callUsage {
	var u callUsage
	var cases map[string][]struct {
		Calls  looseNumber `json:"call_count"`
		CPU    looseNumber `json:"total_cputime"`
		Time   looseNumber `json:"total_time"`
		Regain looseNumber `json:"estimated_time_to_regain_access"`
	}
	if json.Unmarshal([]byte(header.Get("X-Business-Use-Case-Usage")), &cases) == nil {
		for _, list := range cases {
			for _, c := range list {
				u.percent = max(u.percent, float64(max(c.Calls, c.CPU, c.Time)))
				u.regainAfter = max(u.regainAfter, time.Duration(float64(c.Regain)*float64(time.Minute)))
			}
		}
	}
	for _, name := range []string{"X-App-Usage", "X-Ad-Account-Usage", "X-Fb-Ads-Insights-Throttle"} {
		var app struct {
			Calls   looseNumber `json:"call_count"`
			CPU     looseNumber `json:"total_cputime"`
			Time    looseNumber `json:"total_time"`
			Account looseNumber `json:"acc_id_util_pct"`
			Reset   looseNumber `json:"reset_time_duration"`
			App     looseNumber `json:"app_id_util_pct"`
		}
		if json.Unmarshal([]byte(header.Get(name)), &app) == nil {
			u.percent = max(u.percent, float64(max(app.Calls, app.CPU, app.Time, app.Account, app.App)))
			if app.Account >= throttledPercent {
				u.regainAfter = max(u.regainAfter, time.Duration(float64(app.Reset)*float64(time.Second)))
			}
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
