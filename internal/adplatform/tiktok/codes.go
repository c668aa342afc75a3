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

// codeRule is the class of a code and what a person can do about it.
type codeRule struct {
	class  connection.Class
	remedy string
}

// Remedies of several codes.
const (
	askAccount  = "Ask an admin of the ad account to give the TikTok user who connected it access to the account, with the role Operator or Admin to change campaigns, then reconnect."
	askOperator = "This concerns the TikTok app of this server, not the ad account: the operator has to check the app in TikTok's developer portal."
	connectNew  = "Reconnect the account: open the connection and grant access again."
	startAgain  = "The code of the consent page is used up or too old. Start the connection again."
)

// codeRules are TikTok's codes. Other codes are classified by their first digit.
// Source: business-api.tiktok.com/portal/docs?id=1737172488964097, "Return
// codes". 40067 is not in the list; connectors report it for reports that are
// too large.
var codeRules = map[int]codeRule{
	40001: {connection.Forbidden, askAccount},
	40106: {connection.Forbidden, askAccount},
	40119: {connection.Forbidden, askAccount},
	40118: {connection.Forbidden, "TikTok offers this only to accounts that it has allowed. Ask your TikTok representative."},
	40125: {connection.Forbidden, "The TikTok app of this server lacks a permission. The operator has to request it in TikTok's developer portal; then reconnect."},
	40113: {connection.Forbidden, askOperator},
	40124: {connection.Forbidden, askOperator},
	41000: {connection.Forbidden, "TikTok does not accept calls from the country of this server. The operator has to use an address in another country."},
	// Tokens do not expire by themselves, so an invalid one needs a new consent.
	40102: {connection.Revoked, connectNew},
	40104: {connection.Revoked, connectNew},
	40105: {connection.Revoked, connectNew},
	40101: {connection.Refused, startAgain},
	40110: {connection.Refused, startAgain},
	40115: {connection.Refused, startAgain},
	40007: {connection.Gone, ""},
	40300: {connection.Gone, "The ad account was deleted. Remove it from the connection; its past metrics stay."},
	40301: {connection.Gone, "The ad account was deleted. Remove it from the connection; its past metrics stay."},
	40067: {connection.TooLarge, ""},
	40016: {connection.Throttled, ""},
	40100: {connection.Throttled, ""},
	40132: {connection.Throttled, ""},
	40133: {connection.Throttled, ""},
	40200: {connection.Transient, ""},
	40201: {connection.Transient, ""},
	40202: {connection.Transient, ""},
	40700: {connection.Transient, ""},
	60001: {connection.Transient, "TikTok is in maintenance. The sync continues by itself."},
	40006: {connection.Sunset, ""},
	40051: {connection.Sunset, ""},
	41001: {connection.Sunset, ""},
}

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
	switch rule, known := codeRules[code]; {
	case known:
		e.Class = rule.class
		e.Message = strings.TrimSpace(e.Message + " " + rule.remedy)
	case code >= 40000 && code < 50000:
		e.Class = connection.Refused
	case code != 0 || status >= http.StatusInternalServerError:
	case status == http.StatusNotFound:
		// Choice: TikTok does not document the answer of a version that has
		// ended. All requested paths exist, so an unknown path means that.
		e.Class, e.Message = connection.Sunset, "TikTok does not have version "+version+" of its API any more."
	case status == http.StatusTooManyRequests:
		e.Class = connection.Throttled
	case status >= http.StatusBadRequest:
		e.Class = connection.Refused
	}
	switch {
	case e.Class == connection.Throttled:
		e.Until = retryTime(e.Message, now)
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
