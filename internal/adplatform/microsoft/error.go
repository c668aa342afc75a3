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

// Codes that the client handles itself.
const (
	codeCredentials    = "105"
	codeForbidden      = "106"
	codeUnknownReport  = "2100"
	codeExpiredURL     = "url_expired"
	codeUnknownVersion = "unknown_version"
)

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
	errorTable.Find(e.Message, e.Code).Apply(e)
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
		if code := fmt.Sprintf("AADSTS%d", said.Codes[0]); errorTable.Find(e.Message, code) != nil {
			e.Code = code
		}
	}
	known := errorTable.Find(e.Message, e.Code)
	known.Apply(e)
	switch {
	case known != nil:
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
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusForbidden, http.StatusNotFound, http.StatusUnauthorized:
		return &connection.Error{Class: connection.Gone, Code: codeExpiredURL, Message: "The URL of the report has ended."}
	}
	return &connection.Error{Class: connection.Transient, Code: strconv.Itoa(status), Message: fmt.Sprintf("The storage of reports answered with status %d.", status)}
}
