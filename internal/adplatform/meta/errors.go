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
	class, remedy := f.classify(status)
	e := &connection.Error{
		Class: class, Code: strconv.Itoa(cmp.Or(f.Code, status)), Message: withRemedy(f.Message, remedy),
		RequestID: cmp.Or(f.Trace, header.Get("X-Fb-Trace-Id")),
	}
	if f.Subcode != 0 {
		e.Code += "/" + strconv.Itoa(f.Subcode)
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

// errorKind is what an error means and what a person can do about it.
type errorKind struct {
	// code and subcode identify the error; last is the end of a range of codes.
	// A subcode of 0 means all.
	code, last, subcode int
	// text is a part of the message, in lower case. Empty means any message.
	text   string
	class  connection.Class
	remedy string
}

const (
	askAgain     = "Connect the account again."
	askAtMeta    = "Log in at www.facebook.com with the profile that connected the account, follow the instructions there, then connect the account again."
	fewerDays    = "Fanfare asks for fewer days at once."
	grantAgain   = "Ask an administrator of the ad account for the permission, then connect the account again. Meta takes a permission away that was not used for 90 days."
	fromAnyCode  = 0
	everySubcode = 0
)

// errorKinds are the documented errors, the most specific first: a text or a
// subcode is more specific than the code, and the code more than the status,
// because even throttling is a 400.
//
// Sources: developers.facebook.com/documentation/ads-commerce/marketing-api/
// insights/error-codes and insights/best-practices for the subcodes of
// insights, developers.facebook.com/docs/graph-api/guides/error-handling for
// those of tokens and permissions, developers.facebook.com/docs/marketing-api/
// overview/rate-limiting for throttling, and the error handling of Airbyte's
// source-facebook-marketing (streams/common.py) for the texts.
var errorKinds = []errorKind{
	// Too much data for one answer.
	{fromAnyCode, 0, 1504018, "", connection.TooLarge, fewerDays},
	{fromAnyCode, 0, 1504038, "", connection.TooLarge, fewerDays},
	{fromAnyCode, 0, 1487534, "", connection.TooLarge, fewerDays},
	{fromAnyCode, 0, everySubcode, "reduce the amount of data", connection.TooLarge, fewerDays},
	{fromAnyCode, 0, everySubcode, "after cursor specified exceeds the max limit", connection.TooLarge, fewerDays},
	{1, 0, everySubcode, "an unknown error occurred", connection.TooLarge, fewerDays},
	// These have a code that is usually transient and stay.
	{2, 0, 1504041, "", connection.Refused, "Meta has no data for this breakdown."},
	{2, 0, 1504042, "", connection.Refused, "A custom metric of the ad account cannot be computed."},
	// Throttling.
	{4, 0, everySubcode, "", connection.Throttled, ""},
	{17, 0, everySubcode, "", connection.Throttled, ""},
	{32, 0, everySubcode, "", connection.Throttled, ""},
	{341, 0, everySubcode, "", connection.Throttled, ""},
	{613, 0, everySubcode, "", connection.Throttled, ""},
	{80000, 80014, everySubcode, "", connection.Throttled, ""},
	// Tokens.
	{190, 0, 463, "", connection.Expired, askAgain},
	{190, 0, 458, "", connection.Revoked, "The person has removed the app. " + askAgain},
	{190, 0, 459, "", connection.Revoked, askAtMeta},
	{190, 0, 460, "", connection.Revoked, "The password has changed. " + askAgain},
	{190, 0, 464, "", connection.Revoked, askAtMeta},
	{190, 0, 492, "", connection.Revoked, "The person has no role on the Page any more. " + askAgain},
	{190, 0, everySubcode, "", connection.Revoked, askAgain},
	{102, 0, everySubcode, "", connection.Revoked, askAgain},
	// Permissions and objects.
	{100, 0, everySubcode, "appsecret_proof", connection.Forbidden, "Set the app secret of the Meta app in the server's settings, or give it with the access token."},
	{10, 0, everySubcode, "", connection.Forbidden, grantAgain},
	{200, 299, everySubcode, "", connection.Forbidden, grantAgain},
	{100, 0, 33, "", connection.Forbidden, "Check that it exists, and that the person who connected the account has a role in it."},
	{803, 0, everySubcode, "", connection.Gone, ""},
	{2635, 0, everySubcode, "", connection.Sunset, ""},
	// Faults that end by themselves. 368 is a block for a while.
	{1, 2, everySubcode, "", connection.Transient, ""},
	{104, 0, everySubcode, "", connection.Transient, ""},
	{368, 0, everySubcode, "", connection.Transient, ""},
	{fromAnyCode, 0, 99, "", connection.Transient, ""},
}

func (k *errorKind) matches(f *errorAnswer) bool {
	return (k.code == fromAnyCode || f.Code >= k.code && f.Code <= max(k.code, k.last)) &&
		(k.subcode == everySubcode || f.Subcode == k.subcode) && strings.Contains(strings.ToLower(f.Message), k.text)
}

// classify returns the class of an error and its remedy.
func (f *errorAnswer) classify(status int) (class connection.Class, remedy string) {
	for i := range errorKinds {
		if k := &errorKinds[i]; k.matches(f) {
			return k.class, k.remedy
		}
	}
	switch {
	case status == http.StatusTooManyRequests:
		return connection.Throttled, ""
	case f.Transient || status >= http.StatusInternalServerError:
		return connection.Transient, ""
	}
	return connection.Refused, ""
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

// withRemedy adds what to do to a message of Meta, which often has no period.
func withRemedy(message, remedy string) string {
	if remedy == "" {
		return message
	}
	if message != "" && !strings.HasSuffix(message, ".") {
		message += "."
	}
	return strings.TrimSpace(message + " " + remedy)
}
