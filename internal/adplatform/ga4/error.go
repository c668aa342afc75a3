package ga4

import (
	"net/http"
	"strings"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/connection"
)

// codePermissionDenied is the status of missing rights.
const codePermissionDenied = "PERMISSION_DENIED"

// quotaEnds are the quotas by words of the first sentence of a refusal, with the
// time at which they are renewed. Source of the quotas and their renewal:
// developers.google.com/analytics/devguides/reporting/data/v1/quotas; source of
// the words: api_quota.py of Airbyte's source-google-analytics-data-api. A
// refusal with none of the words, such as that of concurrent requests, is for a
// short time.
var quotaEnds = []struct {
	words string
	end   func(now time.Time) time.Time
}{
	{"per day", nextDay},
	{"per hour", nextHour},
	{"thresholded requests", nextHour},
	{"server errors", nextHour},
}

// readError returns the error of an answer, nil if there is none.
func readError(status int, _ http.Header, body []byte, now time.Time) *connection.Error {
	e, said := googleauth.ReadError(errorTable, status, body, now)
	if e == nil {
		return nil
	}
	if e.Class == connection.Throttled && !e.Stated {
		// If Google names no time, the message names the exhausted quota.
		first, _, _ := strings.Cut(strings.ToLower(said.Message), ". ")
		for _, q := range quotaEnds {
			if strings.Contains(first, q.words) {
				e.Until = q.end(now)
				break
			}
		}
	}
	if e.Class == connection.Forbidden && said.Status != codePermissionDenied {
		// Only this status is about rights. Others, such as the page of a proxy,
		// go away (changelog 2.9.31 of Airbyte's source-google-analytics-data-api).
		e.Class, e.Remedy = connection.Transient, ""
	}
	return e
}

func nextHour(now time.Time) time.Time { return now.Truncate(time.Hour).Add(time.Hour) }

// nextDay returns when daily quotas restart: at midnight in California, in
// standard time (PST) all year.
func nextDay(now time.Time) time.Time {
	const pst = -8 * 60 * 60
	year, month, day := now.In(time.FixedZone("PST", pst)).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, time.FixedZone("PST", pst))
}
