// Package transport sends the calls of platform clients: within the rate
// limits, with retries, and without secrets in errors. The clients interpret
// the answers.
package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/connection"
	"fanfare/internal/outbound"
)

// Doer sends a request: an outbound client, or a sandbox in this process.
type Doer interface {
	Do(req *http.Request) (*http.Response, error)
}

// Options are the settings of a Transport.
type Options struct {
	// Base is the prefix of all paths, without a final slash.
	Base string
	Do   Doer
	// Name names the client in Budgets, where nodes share the budgets of
	// accounts. Without Budgets, this process is the only one that calls.
	Name    string
	Budgets BudgetStore
	// PerSecond is the number of calls per second and account, 0 for no limit.
	PerSecond float64
	// AppPerSecond is the number of calls per second of an OAuth client, AppPerDay
	// that per day of the operator's, both 0 for no known limit.
	AppPerSecond float64
	AppPerDay    int64
	// ReadError returns the error of an answer, nil if there is none. The
	// transport sets members that it leaves empty.
	ReadError func(status int, header http.Header, body []byte, now time.Time) *connection.Error
	// Log receives warnings for operators, nil for none.
	Log *slog.Logger
	Now func() time.Time
	// Sleep waits; nil means the function Sleep.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Transport sends the calls of one client.
type Transport struct {
	o     Options
	pacer *pacer
}

// New returns a transport.
func New(o Options) *Transport {
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	return &Transport{o: o, pacer: newPacer(&o)}
}

// Sleep waits for d or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Call is one request.
type Call struct {
	Method string
	// Path follows the base and begins with a slash. A complete URL must begin
	// with the base.
	Path string
	// Query is encoded by url.Values; RawQuery, if set, is sent unchanged.
	Query    url.Values
	RawQuery string
	Header   http.Header
	// Form or JSON is the body, if one of them is set.
	Form url.Values
	JSON any
	// Account is the account whose limits apply. Urgent calls do not wait and
	// are not retried, because the caller's request can change in between.
	Account string
	Urgent  bool
}

const (
	maxAttempts    = 6
	firstRetryWait = time.Second
	maxRetryWait   = time.Minute
	// MaxThrottleWait is how long a call waits for a platform that names the
	// time of the next call. For a longer wait it returns an error, so that the
	// caller can do other work.
	MaxThrottleWait = time.Minute
)

// File receives the body of an answer that is not JSON.
type File []byte

// Do sends a call and decodes the JSON answer, whose status must be 200, into
// out, unless out is nil. A *File receives the body as it is. It tries six times
// if errors are transient.
func (t *Transport) Do(ctx context.Context, c Call, out any) (http.Header, error) {
	for attempt := 1; ; attempt++ {
		header, err := t.sendOnce(ctx, &c, out)
		if err == nil {
			return header, nil
		}
		failed := t.platformError(ctx, err)
		wait, again := t.retryWait(failed, attempt)
		if !again || c.Urgent || ctx.Err() != nil {
			return header, failed
		}
		if err := t.o.Sleep(ctx, wait); err != nil {
			return header, failed
		}
	}
}

// retryWait returns how long to wait before the next attempt, and whether there
// is one.
func (t *Transport) retryWait(e *connection.Error, attempt int) (time.Duration, bool) {
	if attempt >= maxAttempts || e.Class != connection.Transient && e.Class != connection.Throttled {
		return 0, false
	}
	if !e.Until.IsZero() {
		d := e.Until.Sub(t.o.Now())
		return max(d, 0), d <= MaxThrottleWait
	}
	most := min(maxRetryWait, firstRetryWait<<(attempt-1))
	return time.Duration(rand.Int64N(int64(most))) + time.Millisecond, true
}

// platformError converts any error to a *connection.Error.
func (t *Transport) platformError(ctx context.Context, err error) *connection.Error {
	if e, ok := errors.AsType[*connection.Error](err); ok {
		return e
	}
	e := &connection.Error{Class: connection.Transient, Code: "unreachable", Message: "The platform could not be reached, or broke off.", Cause: err}
	switch {
	case ctx.Err() != nil:
		e.Code, e.Message = "canceled", "The call was broken off."
	case errors.Is(err, outbound.ErrForbidden):
		e.Class, e.Code, e.Message = connection.Refused, "address_not_allowed", "The address of the platform is not one that the server may go to."
	case errors.Is(err, outbound.ErrTooLong):
		e.Class, e.Code, e.Message = connection.TooLarge, "answer_too_long", "The platform's answer is too long."
	}
	return e
}

// sendOnce sends a call once.
func (t *Transport) sendOnce(ctx context.Context, c *Call, out any) (http.Header, error) {
	if err := t.pacer.waitForCall(ctx, t, c); err != nil {
		return nil, err
	}
	req, err := t.request(ctx, c)
	if err != nil {
		return nil, err
	}
	connection.CountCall(ctx)
	resp, err := t.o.Do.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.Header, fmt.Errorf("read answer: %w", err)
	}
	if e := t.o.ReadError(resp.StatusCode, resp.Header, body, t.o.Now()); e != nil {
		if at, stated := parseRetryAfter(resp.Header, t.o.Now()); stated && e.Class == connection.Throttled {
			e.Until, e.Stated = at, true
		}
		e.Message = redact(e.Message, c, req)
		e.Code = redact(e.Code, c, req)
		t.pacer.recordAnswer(ctx, c.Account, e, t.o.Now())
		return resp.Header, e
	}
	t.pacer.recordAnswer(ctx, c.Account, nil, t.o.Now())
	if out == nil {
		return resp.Header, nil
	}
	if resp.StatusCode != http.StatusOK {
		// Platforms document 200 for every answer with content. Content of
		// another status, such as 202, can be out of date or incomplete.
		return resp.Header, &connection.Error{Class: connection.Transient, Code: "malformed", Message: fmt.Sprintf("The platform answered with status %d instead of 200.", resp.StatusCode)}
	}
	if file, ok := out.(*File); ok {
		*file = body
		return resp.Header, nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		// A partial answer is useless. The decoder's error is omitted, because
		// it can quote the answer.
		return resp.Header, &connection.Error{Class: connection.Transient, Code: "malformed", Message: "The platform's answer is not the JSON that it should be."}
	}
	return resp.Header, nil
}

// Contradiction returns the error of an answer whose parts contradict each other
// or the request. It confirms nothing and is worth another try.
func Contradiction(message string) *connection.Error {
	return &connection.Error{Class: connection.Transient, Code: "contradictory", Message: message}
}

// ErrorBeside changes the error that an answer with a status of success has. It
// is worth another try unless it names a wait or asks for fewer days: the status
// says that the request and its access are right.
func ErrorBeside(e *connection.Error) *connection.Error {
	if e.Class != connection.Throttled && e.Class != connection.TooLarge {
		e.Class, e.Remedy = connection.Transient, ""
	}
	return e
}

// ClassOf returns the class of an error whose answer has nothing more specific
// than its status.
func ClassOf(status int) connection.Class {
	switch {
	case status == http.StatusUnauthorized:
		return connection.Expired
	case status == http.StatusForbidden:
		return connection.Forbidden
	case status == http.StatusNotFound:
		return connection.Gone
	case status == http.StatusTooManyRequests:
		return connection.Throttled
	case status >= http.StatusInternalServerError:
		return connection.Transient
	}
	return connection.Refused
}

// parseRetryAfter parses the Retry-After header, in seconds or as a date.
func parseRetryAfter(header http.Header, now time.Time) (at time.Time, stated bool) {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil && seconds >= 0 {
		return now.Add(time.Duration(seconds) * time.Second), true
	}
	at, err := http.ParseTime(text)
	return at, err == nil
}

func (t *Transport) request(ctx context.Context, c *Call) (*http.Request, error) {
	to := t.o.Base + c.Path
	switch {
	case strings.HasPrefix(c.Path, t.o.Base+"/"):
		to = c.Path
	case !strings.HasPrefix(c.Path, "/"):
		// Such a path could extend the host name of the base and send the token
		// to another host.
		return nil, &connection.Error{Class: connection.Refused, Code: "invalid_url", Message: "The platform names an address that is not its own."}
	}
	query := c.RawQuery
	if query == "" {
		query = c.Query.Encode()
	}
	if query != "" {
		to += "?" + query
	}
	var body io.Reader
	kind := ""
	switch {
	case c.Form != nil:
		body, kind = strings.NewReader(c.Form.Encode()), "application/x-www-form-urlencoded"
	case c.JSON != nil:
		b, err := json.Marshal(c.JSON, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("write request: %w", err)
		}
		body, kind = bytes.NewReader(b), "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, to, body)
	if err != nil {
		return nil, &connection.Error{Class: connection.Refused, Code: "invalid_url", Message: "The platform's address is not a URL."}
	}
	if c.Header != nil {
		req.Header = c.Header.Clone()
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	req.Header.Set("Accept", "application/json")
	// A hanging connection must not be reused for the next attempt, as HTTP/2
	// would do.
	req.Close = c.Urgent
	return req, nil
}

// secretNames are the headers and parameters with secrets.
var secretNames = []string{
	"Authorization", "Access-Token", "Developer-Token", "DeveloperToken", "access_token", "refresh_token", "client_secret", "secret", "code", "auth_code", "code_verifier",
	"fb_exchange_token", "appsecret_proof", "token", "assertion",
}

// redact removes the secrets of a call from a text.
func redact(text string, c *Call, req *http.Request) string {
	for _, name := range secretNames {
		for _, value := range []string{strings.TrimPrefix(req.Header.Get(name), "Bearer "), c.Query.Get(name), c.Form.Get(name)} {
			if value != "" {
				text = strings.ReplaceAll(text, value, "[sealed]")
			}
		}
	}
	return text
}
