package tiktok

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/connection"
)

// codePartly is the code of a call that worked for some of its objects.
const codePartly = 20001

// maintenanceWait is how long a call waits while TikTok is in maintenance, which
// takes minutes to hours.
const maintenanceWait = 5 * time.Minute

// readError implements transport.Options.ReadError. A call that worked in part
// is no error here; sendCall decides.
func readError(status int, _ http.Header, body []byte, now time.Time) *connection.Error {
	var said struct {
		Code      *int   `json:"code"`
		Message   string `json:"message"`
		RequestID string `json:"request_id"`
	}
	err := json.Unmarshal(body, &said)
	code := 0
	if said.Code != nil {
		code = *said.Code
	}
	switch success := status < http.StatusMultipleChoices; {
	case success && (err != nil || said.Code == nil):
		return &connection.Error{Class: connection.Transient, Code: "malformed", Message: "TikTok's answer is not the JSON that it should be."}
	case success && (code == 0 || code == codePartly):
		return nil
	}
	e := &connection.Error{Class: connection.Transient, Code: strconv.Itoa(cmp.Or(code, status)), Message: said.Message, RequestID: said.RequestID}
	key := e.Code
	if code == 0 {
		key = "http/" + e.Code
		if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
			e.Class = connection.Refused
		}
	}
	errorTable.Find(e.Message, key).Apply(e)
	switch {
	case e.Class == connection.Throttled:
		e.Until = retryTime(e.Message, now)
		// 40100 and 40016 count the calls of the app, the others those of an account.
		e.WholeApp = code == 40100 || code == 40016
	case code == 60001:
		e.Until = now.Add(maintenanceWait)
	}
	e.Message = cmp.Or(e.Message, "TikTok answered with status "+strconv.Itoa(status)+".")
	return e
}

// retryTime returns when TikTok accepts calls again. Only the message names the
// limit: the daily one ends at midnight, the one per minute blocks for five
// minutes, the one per second for one second.
func retryTime(message string, now time.Time) time.Time {
	text := strings.ToLower(message)
	switch {
	case strings.Contains(text, "qpd") || strings.Contains(text, "per day"):
		return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	case strings.Contains(text, "qpm") || strings.Contains(text, "per minute"):
		return now.Add(5 * time.Minute)
	}
	return now.Add(time.Second)
}

// appCodes are the codes that concern the app or the server, for all accounts.
var appCodes = []string{"40113", "40124", "40125", "41000"}

// isAppProblem reports whether an error is the same for all accounts.
func isAppProblem(err error) bool {
	e, ok := errors.AsType[*connection.Error](err)
	return ok && slices.Contains(appCodes, e.Code)
}

// isRefusal reports whether TikTok understood a call and does not answer it, so
// that only this call is lost.
func isRefusal(err error) bool {
	class := connection.ClassOf(err)
	return class == connection.Refused || class == connection.Forbidden || class == connection.Gone
}
