package microsoft

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// codeRule is the class of a code and what a person can do about it.
type codeRule struct {
	class  connection.Class
	remedy string
}

// Codes that the client handles itself.
const (
	codeCredentials    = "105"
	codeForbidden      = "106"
	codeUnknownReport  = "2100"
	codeExpiredURL     = "url_expired"
	codeUnknownVersion = "unknown_version"
)

// Remedies of several codes.
const (
	askRole    = "Ask a super admin of the account in Microsoft Advertising to give the connected user access to it, with the role Standard or higher to change campaigns."
	signInWork = "Connect again and sign in with the work account that has access to Microsoft Advertising."
	askServer  = "The server sends a request that Microsoft does not accept. Update the server, or report the message to its developers."
)

// codeRules are the codes of errors. Source:
// learn.microsoft.com/advertising/guides/operation-error-codes, as of November
// 2024. Other codes are refusals.
var codeRules = map[int]codeRule{
	0:    {connection.Transient, ""},
	100:  {connection.Refused, askServer},
	105:  {connection.Revoked, "Connect again. If that does not help, the operator checks the developer token in FANFARE_OAUTH: it must be one for production, of an active user."},
	106:  {connection.Forbidden, askRole},
	109:  {connection.Expired, ""},
	113:  {connection.Refused, askServer},
	116:  {connection.Refused, "The operator checks that FANFARE_OAUTH has a developer token: microsoft_ads=ID:SECRET:DEVELOPER_TOKEN."},
	117:  {connection.Throttled, ""},
	120:  {connection.Revoked, "Connect again and sign in with the primary login of this user in Microsoft Advertising."},
	122:  {connection.Revoked, signInWork},
	123:  {connection.Revoked, "Connect again and sign in with the personal Microsoft account that has access to Microsoft Advertising."},
	124:  {connection.Revoked, signInWork},
	125:  {connection.Revoked, signInWork},
	207:  {connection.Throttled, ""},
	1100: {connection.Gone, "The campaign was deleted in Microsoft Advertising, or belongs to another account."},
	1102: {connection.Gone, "The account was deleted in Microsoft Advertising. Turn it off here; its past metrics stay."},
	1120: {connection.Refused, "Microsoft does not allow this change of the campaign's status. Check the campaign in Microsoft Advertising."},
	2003: {connection.Forbidden, askRole},
	2004: {connection.Transient, ""},
	2030: {connection.TooLarge, ""},
	2100: {connection.Transient, ""},
	4204: {connection.Throttled, ""},
	6133: {connection.Refused, "The campaign belongs to an experiment. Change the experiment in Microsoft Advertising."},
}

// waits are how long calls wait after a code. Microsoft names no times: calls are
// counted in 60 seconds, reports end after minutes, and bulk limits last for up
// to 15 minutes (learn.microsoft.com/advertising/guides/services-protocol).
var waits = map[int]time.Duration{117: time.Minute, 207: 30 * time.Second, 4204: 15 * time.Minute}

// fault is an error in an answer, in any of Microsoft's formats.
type fault struct {
	Code      int
	ErrorCode string
	Message   string
	Details   string
	Detail    string
	Index     int
}

// err returns the error of a fault.
func (f *fault) err(tracking string, now time.Time) *connection.Error {
	e := &connection.Error{Class: connection.Refused, Code: strconv.Itoa(f.Code), Message: f.Message, RequestID: tracking}
	if more := cmp.Or(f.Details, f.Detail); more != "" {
		e.Message += " " + more
	}
	if e.Message == "" {
		e.Message = cmp.Or(f.ErrorCode, "Microsoft refused the call.")
	}
	if rule, ok := codeRules[f.Code]; ok {
		e.Class, e.Remedy = rule.class, rule.remedy
	}
	if e.Class == connection.Throttled {
		e.Until = now.Add(cmp.Or(waits[f.Code], time.Minute))
	}
	return e
}

// readError implements transport.Options.ReadError. The code in the body counts,
// because Microsoft does not document the status of most errors.
func readError(status int, _ http.Header, body []byte, now time.Time) *connection.Error {
	if status < http.StatusBadRequest {
		return nil
	}
	var said struct {
		TrackingID                           string `json:"TrackingId"`
		Errors, OperationErrors, BatchErrors []fault
	}
	_ = json.Unmarshal(body, &said) // an answer that is not JSON has no code
	if list := slices.Concat(said.Errors, said.OperationErrors, said.BatchErrors); len(list) > 0 {
		return list[0].err(said.TrackingID, now)
	}
	e := &connection.Error{
		Class: transport.ClassOf(status), Code: strconv.Itoa(status), Message: fmt.Sprintf("Microsoft answered with status %d.", status), RequestID: said.TrackingID,
	}
	switch e.Class {
	case connection.Gone:
		// All requested paths exist in version 13.
		e.Class, e.Code, e.Message = connection.Sunset, codeUnknownVersion, "Microsoft does not know version 13 of its API any more."
	case connection.Throttled:
		e.Until = now.Add(time.Minute)
	default:
	}
	return e
}

// partialError returns the error that an answer with status 200 has inside, nil
// if there is none.
func partialError(list []*fault, now time.Time) error {
	for _, f := range list {
		if f != nil {
			return f.err("", now)
		}
	}
	return nil
}

// hasCode reports whether an error has a code.
func hasCode(err error, code string) bool {
	e, ok := errors.AsType[*connection.Error](err)
	return ok && e.Code == code
}

// consentRules are the errors of the token endpoint by their number. Source:
// learn.microsoft.com/advertising/guides/handle-service-errors-exceptions and
// learn.microsoft.com/entra/identity-platform/reference-error-codes.
var consentRules = map[int]codeRule{
	50011:   {connection.Refused, "The operator adds the redirect address of this server to the app's registration in Microsoft Entra."},
	650052:  {connection.Forbidden, "An admin of the organization allows the app to use Microsoft Advertising, then connect again."},
	700016:  {connection.Forbidden, "The operator checks the client ID in FANFARE_OAUTH and that the app allows accounts of all organizations and personal accounts."},
	7000215: {connection.Forbidden, "The operator checks the client secret in FANFARE_OAUTH."},
	7000222: {connection.Forbidden, "The client secret has expired. The operator creates a new one in Microsoft Entra and sets it in FANFARE_OAUTH."},
}

// readTokenError returns the error of the token endpoint.
func readTokenError(status int, _ http.Header, body []byte, now time.Time) *connection.Error {
	if status < http.StatusBadRequest {
		return nil
	}
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
		Codes       []int  `json:"error_codes"`
		Trace       string `json:"trace_id"`
	}
	_ = json.Unmarshal(body, &said) // an answer that is not JSON has no code
	e := &connection.Error{Class: connection.Refused, Code: said.Error, Message: said.Description, RequestID: said.Trace}
	if len(said.Codes) > 0 {
		if rule, ok := consentRules[said.Codes[0]]; ok {
			e.Class, e.Remedy, e.Code = rule.class, rule.remedy, fmt.Sprintf("AADSTS%d", said.Codes[0])
			return e
		}
	}
	switch {
	case said.Error == "invalid_grant" || said.Error == "interaction_required" || said.Error == "consent_required":
		e.Class, e.Remedy = connection.Revoked, "Connect again: the access has ended, was taken back, or the password was changed."
	case said.Error == "invalid_client" || said.Error == "unauthorized_client" || said.Error == "access_denied":
		e.Class = connection.Forbidden
	case status == http.StatusTooManyRequests:
		e.Class, e.Until = connection.Throttled, now.Add(time.Minute)
	case status >= http.StatusInternalServerError || said.Error == "temporarily_unavailable":
		e.Class = connection.Transient
	}
	e.Code = cmp.Or(e.Code, strconv.Itoa(status))
	e.Message = cmp.Or(e.Message, fmt.Sprintf("Microsoft answered with status %d.", status))
	return e
}

// readFileError returns the error of the storage that has report files. A refusal
// means that the URL has ended, which a new URL solves.
func readFileError(status int, _ http.Header, _ []byte, _ time.Time) *connection.Error {
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusForbidden || status == http.StatusNotFound || status == http.StatusUnauthorized:
		return &connection.Error{Class: connection.Gone, Code: codeExpiredURL, Message: "The URL of the report has ended."}
	}
	return &connection.Error{Class: connection.Transient, Code: strconv.Itoa(status), Message: fmt.Sprintf("The storage of reports answered with status %d.", status)}
}
