package meta

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// errorAnswer is an error of Meta.
type errorAnswer struct {
	Message string `json:"message"`
	Code    int    `json:"code"`
	Subcode int    `json:"error_subcode"`
	// Transient is Meta's own advice to try again.
	Transient bool   `json:"is_transient"`
	Trace     string `json:"fbtrace_id"`
}

// readError returns the error of an answer, nil if there is none. Meta can send
// one with status 200, alone or beside data.
func readError(status int, header http.Header, body []byte, now time.Time) *connection.Error {
	success := status < http.StatusBadRequest
	if success && !bytes.Contains(body, []byte(`"error"`)) {
		return nil
	}
	var answer struct {
		Error *errorAnswer `json:"error"`
	}
	var members map[string]jsontext.Value
	err := json.Unmarshal(body, &answer) // without JSON the status is enough
	if err == nil {
		err = json.Unmarshal(body, &members)
	}
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
		Class: f.class(status), Code: strconv.Itoa(cmp.Or(f.Code, status)), Message: f.Message,
		RequestID: cmp.Or(f.Trace, header.Get("X-Fb-Trace-Id")),
	}
	if f.Subcode != 0 {
		e.Code += "/" + strconv.Itoa(f.Subcode)
	}
	errorTable.Find(f.Message, strconv.Itoa(f.Code)+"/"+strconv.Itoa(f.Subcode)).Apply(e)
	if e.Class == connection.Refused && e.Remedy == "" {
		// A code such as 100 says less than the status and Meta's own advice.
		e.Class = f.class(status)
	}
	if e.Class == connection.Throttled {
		u := readUsage(header)
		e.Until, e.Stated = now.Add(u.throttleWait()), u.regainAfter > 0
	}
	if success && len(members) > 1 {
		return transport.ErrorBeside(e)
	}
	return e
}

// GrantError implements connection.GrantExplainer.
func (c *Client) GrantError(code string) *connection.Error { return errorTable.Explain(code, code) }

// class returns the class of an error whose code does not determine it.
func (f *errorAnswer) class(status int) connection.Class {
	switch {
	case status == http.StatusTooManyRequests:
		return connection.Throttled
	case f.Transient || status >= http.StatusInternalServerError:
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

// worthRetry turns the error of too much data into one that is tried again, for
// calls whose answer cannot be smaller.
func worthRetry(err error) error {
	if e, ok := errors.AsType[*connection.Error](err); ok && e.Class == connection.TooLarge {
		again := *e
		again.Class = connection.Transient
		return &again
	}
	return err
}

func malformedError(what string) *connection.Error {
	return &connection.Error{Class: connection.Transient, Code: "malformed", Message: "Meta's answer is not what it should be: " + what + "."}
}
