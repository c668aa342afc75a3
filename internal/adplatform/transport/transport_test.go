package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/outbound"
)

const base = "https://platform.example/api"

var startTime = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// answer is the answer to one call.
type answer struct {
	status int
	body   string
	err    error
}

// scriptedPlatform returns prepared answers in order and repeats the last one.
// Time passes only when a caller waits.
type scriptedPlatform struct {
	answers []answer
	asked   []*http.Request
	now     time.Time
	waits   []time.Duration
	// readyAt is the time that a throttling platform names.
	readyAt time.Time
	// retryAfter is the Retry-After header of every answer, if set.
	retryAfter string
}

func (p *scriptedPlatform) Do(req *http.Request) (*http.Response, error) {
	a := p.answers[min(len(p.asked), len(p.answers)-1)]
	p.asked = append(p.asked, req)
	if a.err != nil {
		return nil, a.err
	}
	header := http.Header{}
	if p.retryAfter != "" {
		header.Set("Retry-After", p.retryAfter)
	}
	return &http.Response{StatusCode: a.status, Header: header, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// readError uses the body as the error class.
func (p *scriptedPlatform) readError(status int, _ http.Header, body []byte, _ time.Time) *connection.Error {
	classes := map[int]connection.Class{429: connection.Throttled, 500: connection.Transient, 401: connection.Expired, 400: connection.Refused}
	if status == http.StatusOK {
		return nil
	}
	e := &connection.Error{Class: classes[status], Code: "code " + string(body), Message: "It says: " + string(body)}
	if e.Class == connection.Throttled {
		e.Until = p.readyAt
	}
	return e
}

func (p *scriptedPlatform) transport(perSecond float64) *transport.Transport {
	p.now = startTime
	return transport.New(transport.Options{
		Base: base, Do: p, PerSecond: perSecond, ReadError: p.readError, Now: func() time.Time { return p.now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			p.waits = append(p.waits, d)
			p.now = p.now.Add(d)
			return ctx.Err()
		},
	})
}

func getCall(path string) transport.Call {
	return transport.Call{Method: http.MethodGet, Path: path, Account: "1"}
}

// TestRetries checks which errors are retried.
func TestRetries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		answers []answer
		asked   int
		class   connection.Class
		code    string
	}{
		{"at once", []answer{{status: 200, body: `{"n":1}`}}, 1, "", ""},
		{"after failures", []answer{{status: 500}, {err: io.ErrUnexpectedEOF}, {status: 200, body: `{"n":`}, {status: 200, body: `[]`}, {status: 200, body: `{"n":1}`}}, 5, "", ""},
		{"never", []answer{{status: 500, body: "x"}}, 6, connection.Transient, "code x"},
		{"half an answer", []answer{{status: 200, body: `{"n":`}}, 6, connection.Transient, "malformed"},
		{"out of reach", []answer{{err: io.ErrUnexpectedEOF}}, 6, connection.Transient, "unreachable"},
		{"expired", []answer{{status: 401, body: "x"}}, 1, connection.Expired, "code x"},
		{"refused", []answer{{status: 400, body: "x"}}, 1, connection.Refused, "code x"},
		{"forbidden", []answer{{err: fmt.Errorf("dial: %w", outbound.ErrForbidden)}}, 1, connection.Refused, "address_not_allowed"},
		{"too long", []answer{{err: fmt.Errorf("read: %w", outbound.ErrTooLong)}}, 1, connection.TooLarge, "answer_too_long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := &scriptedPlatform{answers: test.answers}
			var out struct {
				N int `json:"n"`
			}
			_, err := p.transport(0).Do(t.Context(), getCall("/x"), &out)
			if len(p.asked) != test.asked {
				t.Errorf("got %d calls want %d", len(p.asked), test.asked)
			}
			if test.class == "" {
				if err != nil || out.N != 1 {
					t.Errorf("got %v, %v want 1", out, err)
				}
				return
			}
			e, ok := errors.AsType[*connection.Error](err)
			if !ok || e.Class != test.class || e.Code != test.code {
				t.Errorf("got %v want %s %s", err, test.class, test.code)
			}
			for i, d := range p.waits {
				if most := min(time.Minute, time.Second<<i); d <= 0 || d > most+time.Millisecond {
					t.Errorf("wait %d: got %s want at most %s", i, d, most)
				}
			}
		})
	}
}

// TestThrottled checks that a short wait is waited for, a long one is returned
// to the caller, and other calls are held until then.
func TestThrottled(t *testing.T) {
	t.Parallel()
	soon := &scriptedPlatform{answers: []answer{{status: 429}, {status: 200, body: `{}`}}, readyAt: startTime.Add(20 * time.Second)}
	if _, err := soon.transport(0).Do(t.Context(), getCall("/x"), nil); err != nil || !slices.Equal(soon.waits, []time.Duration{20 * time.Second}) {
		t.Errorf("got %v, waited %v want 20s", err, soon.waits)
	}
	late := &scriptedPlatform{answers: []answer{{status: 429}, {status: 200, body: `{}`}}, readyAt: startTime.Add(transport.MaxThrottleWait + time.Second)}
	tr := late.transport(0)
	for range 2 {
		_, err := tr.Do(t.Context(), getCall("/x"), nil)
		if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Throttled || !e.Until.Equal(late.readyAt) {
			t.Errorf("got %v want throttled until %s", err, late.readyAt)
		}
	}
	if other := getCall("/x"); len(late.asked) == 1 {
		other.Account = "2"
		if _, err := tr.Do(t.Context(), other, nil); err != nil {
			t.Errorf("another account: got %v want an answer", err)
		}
	} else {
		t.Errorf("got %d calls want 1: the platform asked to be left alone", len(late.asked))
	}
	late.now = late.readyAt
	if _, err := tr.Do(t.Context(), getCall("/x"), nil); err != nil {
		t.Errorf("when it is ready: got %v want an answer", err)
	}
	tr.Hold(t.Context(), "1", late.now.Add(time.Hour))
	if _, err := tr.Do(t.Context(), getCall("/x"), nil); connection.ClassOf(err) != connection.Throttled {
		t.Errorf("held: got %v want throttled", err)
	}
	urgent := getCall("/x")
	urgent.Urgent = true
	if _, err := tr.Do(t.Context(), urgent, nil); err != nil {
		t.Errorf("held by ourselves, urgent: got %v want an answer", err)
	}
}

// TestUrgentCallsDoNotRetry checks that urgent calls neither wait nor retry.
func TestUrgentCallsDoNotRetry(t *testing.T) {
	t.Parallel()
	urgent := getCall("/x")
	urgent.Urgent = true
	p := &scriptedPlatform{answers: []answer{{status: 500}}}
	tr := p.transport(0)
	for i := range 12 {
		if _, err := tr.Do(t.Context(), urgent, nil); connection.ClassOf(err) != connection.Transient || len(p.asked) != i+1 {
			t.Fatalf("call %d: got %v after %d calls want one call each", i, err, len(p.asked))
		}
	}
	tr.Hold(t.Context(), "1", p.now.Add(time.Hour))
	p.answers = []answer{{status: 200, body: `{}`}}
	if _, err := tr.Do(t.Context(), urgent, nil); err != nil {
		t.Errorf("in a rest and held: got %v want an answer", err)
	}
	p.answers, p.readyAt = []answer{{status: 429}}, p.now.Add(time.Hour)
	for range 2 {
		if _, err := tr.Do(t.Context(), urgent, nil); connection.ClassOf(err) != connection.Throttled {
			t.Errorf("throttled: got %v want throttled", err)
		}
	}
	p.answers = []answer{{status: 200, body: `{}`}}
	if _, err := tr.Do(t.Context(), urgent, nil); err != nil {
		t.Errorf("after a moment was named: got %v want an answer", err)
	}
}

// TestRetryAfter checks that the header overrides the client's estimate.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		after  string
		until  time.Time
		stated bool
	}{
		{"5", startTime.Add(5 * time.Second), true},
		{"0", startTime, true},
		{startTime.Add(time.Minute).Format(http.TimeFormat), startTime.Add(time.Minute), true},
		{"", startTime.Add(10 * time.Minute), false},
		{"soon", startTime.Add(10 * time.Minute), false},
		{"-5", startTime.Add(10 * time.Minute), false},
	} {
		p := &scriptedPlatform{answers: []answer{{status: 429}}, readyAt: startTime.Add(10 * time.Minute), retryAfter: test.after}
		call := getCall("/x")
		call.Urgent = true
		_, err := p.transport(0).Do(t.Context(), call, nil)
		e, _ := errors.AsType[*connection.Error](err)
		if e == nil || !e.Until.Equal(test.until) || e.Stated != test.stated {
			t.Errorf("Retry-After %q: got %+v want %v, stated %v", test.after, e, test.until, test.stated)
		}
		if !p.asked[0].Close {
			t.Error("got an urgent call on a connection that the next one may use too")
		}
	}
}

// TestWaivedHolds checks that calls that a person waits for ignore the client's
// own holds, but not the time that the platform has named.
func TestWaivedHolds(t *testing.T) {
	t.Parallel()
	p := &scriptedPlatform{answers: []answer{{status: 200}, {status: 429}, {status: 200}}}
	c := p.transport(0)
	c.Hold(t.Context(), "1", startTime.Add(10*time.Minute))
	waived := connection.WaiveHolds(t.Context())
	if _, err := c.Do(t.Context(), getCall("/x"), nil); connection.ClassOf(err) != connection.Throttled {
		t.Errorf("got %v want to be held back", err)
	}
	if _, err := c.Do(waived, getCall("/x"), nil); err != nil {
		t.Errorf("got %v want no hold", err)
	}
	p.readyAt = startTime.Add(time.Hour)
	for range 2 {
		if _, err := c.Do(waived, getCall("/x"), nil); connection.ClassOf(err) != connection.Throttled {
			t.Errorf("got %v want to wait for the platform", err)
		}
	}
	if len(p.asked) != 2 {
		t.Errorf("got %d calls want 2", len(p.asked))
	}
}

// TestPauseAfterFailures checks that calls pause for a minute after repeated
// failures.
func TestPauseAfterFailures(t *testing.T) {
	t.Parallel()
	p := &scriptedPlatform{answers: []answer{{status: 500}}}
	tr := p.transport(0)
	for range 2 {
		if _, err := tr.Do(t.Context(), getCall("/x"), nil); err == nil {
			t.Fatal("got an answer want none")
		}
	}
	asked := len(p.asked)
	if asked < 10 {
		t.Fatalf("got %d calls want at least 10", asked)
	}
	p.answers = []answer{{status: 200, body: `{}`}}
	if _, err := tr.Do(t.Context(), getCall("/x"), nil); err != nil {
		t.Errorf("after the rest: got %v want an answer", err)
	}
	if waited := p.now.Sub(startTime); waited < time.Minute {
		t.Errorf("got %s want a rest of a minute", waited)
	}
}

// TestCallRate checks the interval between calls of an account, except for
// urgent ones.
func TestCallRate(t *testing.T) {
	t.Parallel()
	p := &scriptedPlatform{answers: []answer{{status: 200, body: `{}`}}}
	tr := p.transport(10)
	for range 3 {
		if _, err := tr.Do(t.Context(), getCall("/x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if want := []time.Duration{125 * time.Millisecond, 125 * time.Millisecond}; !slices.Equal(p.waits, want) {
		t.Errorf("got %v want %v", p.waits, want)
	}
	c := getCall("/x")
	c.Urgent = true
	if _, err := tr.Do(t.Context(), c, nil); err != nil || len(p.waits) != 2 {
		t.Errorf("urgent: got %v after %v want no wait", err, p.waits)
	}
}

// TestPathsStayOnPlatform checks that no path leads to another host.
func TestPathsStayOnPlatform(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ path, want string }{
		{"/v1/x", base + "/v1/x"},
		{base + "/next?after=1", base + "/next?after=1"},
		{"//evil.example/x", base + "//evil.example/x"},
		{"/@evil.example/x", base + "/@evil.example/x"},
		{"/https://evil.example/x", base + "/https://evil.example/x"},
		{"", ""},
		{"x", ""},
		{".evil.example/x", ""},
		{"@evil.example/x", ""},
		{":443@evil.example/x", ""},
		{"?x", ""},
		{"#x", ""},
		{"\\@evil.example", ""},
		{"https://evil.example/x", ""},
		{base + ".evil.example/x", ""},
		{base + "@evil.example/x", ""},
		{"http://platform.example/api/x", ""},
		{"HTTPS://evil.example/api/x", ""},
	} {
		p := &scriptedPlatform{answers: []answer{{status: 200, body: `{}`}}}
		_, err := p.transport(0).Do(t.Context(), getCall(test.path), nil)
		if test.want == "" {
			if len(p.asked) > 0 || connection.ClassOf(err) != connection.Refused {
				t.Errorf("%q: got %v and %d calls want a refusal", test.path, err, len(p.asked))
			}
			continue
		}
		if err != nil || len(p.asked) != 1 || p.asked[0].URL.String() != test.want || p.asked[0].URL.Host != "platform.example" {
			t.Errorf("%q: got %v, %v want %s", test.path, p.asked, err, test.want)
		}
	}
}

// TestErrorsOmitSecrets has a platform that repeats every request in its
// answer.
func TestErrorsOmitSecrets(t *testing.T) {
	t.Parallel()
	const canary = "canary-0123456789"
	for name, set := range map[string]func(*transport.Call){
		"bearer":       func(c *transport.Call) { c.Header = http.Header{"Authorization": {"Bearer " + canary}} },
		"access token": func(c *transport.Call) { c.Header = http.Header{"Access-Token": {canary}} },
		"query":        func(c *transport.Call) { c.Query = url.Values{"access_token": {canary}} },
		"exchange": func(c *transport.Call) {
			c.Query = url.Values{"fb_exchange_token": {canary}, "client_secret": {canary}}
		},
		"code":          func(c *transport.Call) { c.Form = url.Values{"code": {canary}, "code_verifier": {canary}} },
		"refresh token": func(c *transport.Call) { c.Form = url.Values{"refresh_token": {canary}, "client_secret": {canary}} },
		"revoked token": func(c *transport.Call) { c.Form = url.Values{"token": {canary}} },
	} {
		for _, a := range []answer{
			{status: 400, body: "no such token: " + canary},
			{status: 500, body: canary},
			{status: 200, body: `{"n":"` + canary},
			{err: &url.Error{Op: "Get", URL: base, Err: io.ErrUnexpectedEOF}},
		} {
			p := &scriptedPlatform{answers: []answer{a}}
			c := getCall("/x")
			set(&c)
			var out struct {
				N int `json:"n"`
			}
			_, err := p.transport(0).Do(t.Context(), c, &out)
			if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), canary) {
				t.Errorf("%s, %d: got %v want an error without the secret", name, a.status, err)
			}
		}
	}
}

// TestCanceledCall checks that a call ends with its context.
func TestCanceledCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &scriptedPlatform{answers: []answer{{err: context.Canceled}}}
	_, err := p.transport(0).Do(ctx, getCall("/x"), nil)
	if e, ok := errors.AsType[*connection.Error](err); !ok || e.Code != "canceled" || len(p.asked) != 1 {
		t.Errorf("got %v after %d calls want canceled after 1", err, len(p.asked))
	}
}

func TestClassOf(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]connection.Class{
		400: connection.Refused, 401: connection.Expired, 403: connection.Forbidden, 404: connection.Gone, 409: connection.Refused, 429: connection.Throttled, 499: connection.Refused, 500: connection.Transient, 503: connection.Transient,
	} {
		if got := transport.ClassOf(status); got != want {
			t.Errorf("%d: got %v want %v", status, got, want)
		}
	}
}
