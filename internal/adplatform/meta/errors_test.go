package meta

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/secret"
)

var now = time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)

func TestReadError(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status, code, subcode int
		message               string
		want                  connection.Class
		wantCode              string
	}{
		{400, 4, 0, "", connection.Throttled, "4"},
		{400, 17, 2446079, "", connection.Throttled, "17/2446079"},
		{400, 32, 0, "", connection.Throttled, "32"},
		{400, 613, 0, "", connection.Throttled, "613"},
		{400, 80000, 0, "", connection.Throttled, "80000"},
		{400, 80014, 0, "", connection.Throttled, "80014"},
		{400, 80015, 0, "", connection.Refused, "80015"},
		{429, 0, 0, "", connection.Throttled, "429"},
		{400, 190, 463, "", connection.Expired, "190/463"},
		{400, 190, 458, "", connection.Revoked, "190/458"},
		{400, 190, 460, "", connection.Revoked, "190/460"},
		{400, 190, 467, "", connection.Revoked, "190/467"},
		{401, 190, 0, "", connection.Revoked, "190"},
		{400, 10, 0, "", connection.Forbidden, "10"},
		{403, 200, 0, "", connection.Forbidden, "200"},
		{403, 299, 0, "", connection.Forbidden, "299"},
		{400, 100, 33, "", connection.Forbidden, "100/33"},
		{400, 100, 0, "", connection.Refused, "100"},
		{400, 803, 0, "", connection.Gone, "803"},
		{400, 341, 0, "", connection.Throttled, "341"},
		{400, 613, 1996, "", connection.Throttled, "613/1996"},
		{400, 100, 1504018, "", connection.TooLarge, "100/1504018"},
		{500, 2, 1504038, "", connection.TooLarge, "2/1504038"},
		{400, 100, 1487534, "", connection.TooLarge, "100/1487534"},
		{500, 1, 0, "An unknown error occurred", connection.TooLarge, "1"},
		{400, 2, 1504041, "", connection.Refused, "2/1504041"},
		{400, 2, 1504042, "", connection.Refused, "2/1504042"},
		{400, 2, 1504043, "", connection.Transient, "2/1504043"},
		{400, 100, 99, "", connection.Transient, "100/99"},
		{400, 104, 0, "", connection.Transient, "104"},
		{400, 368, 0, "", connection.Transient, "368"},
		{400, 2635, 0, "", connection.Sunset, "2635"},
		{500, 1, 99, "Please reduce the amount of data you're asking for", connection.TooLarge, "1/99"},
		{400, 1, 0, "", connection.Transient, "1"},
		{500, 2, 0, "", connection.Transient, "2"},
		{502, 0, 0, "", connection.Transient, "502"},
	} {
		body := fmt.Sprintf(`{"error":{"message":%q,"code":%d,"error_subcode":%d,"fbtrace_id":"A1"}}`, test.message, test.code, test.subcode)
		e := readError(test.status, http.Header{}, []byte(body), now)
		if e == nil || e.Class != test.want || e.Code != test.wantCode || e.RequestID != "A1" {
			t.Errorf("%+v: got %+v", test, e)
			continue
		}
		if want := test.want == connection.Throttled; e.Until.IsZero() == want {
			t.Errorf("%+v: got until %v", test, e.Until)
		}
	}
	if e := readError(http.StatusBadRequest, http.Header{}, []byte(`{"error":{"code":9000,"is_transient":true}}`), now); e.Class != connection.Transient {
		t.Errorf("Meta says that it passes: got %+v", e)
	}
	if e := readError(http.StatusServiceUnavailable, http.Header{"X-Fb-Trace-Id": {"B2"}}, []byte("<html>"), now); e.Class != connection.Transient || e.RequestID != "B2" {
		t.Errorf("no JSON: got %+v", e)
	}
	if e := readError(http.StatusOK, nil, nil, now); e != nil {
		t.Errorf("nothing wrong: got %+v", e)
	}
}

// usageAnswer is a platform that reports how much of its quota is used.
type usageAnswer struct {
	header http.Header
	calls  int
}

func (f *usageAnswer) Do(*http.Request) (*http.Response, error) {
	f.calls++
	return &http.Response{StatusCode: http.StatusOK, Header: f.header, Body: io.NopCloser(bytes.NewReader([]byte(`{"status":"ACTIVE"}`)))}, nil
}

// TestCallsSlowDown checks that calls slow down and stop before the platform
// refuses them.
func TestCallsSlowDown(t *testing.T) {
	t.Parallel()
	const cases = "X-Business-Use-Case-Usage"
	for _, test := range []struct {
		header, value string
		waits         []time.Duration
		until         time.Duration
	}{
		{cases, `{"1":[{"call_count":74,"total_cputime":20,"total_time":10}]}`, nil, 0},
		{cases, `{"1":[{"call_count":20,"total_cputime":80,"total_time":10}]}`, []time.Duration{18 * time.Second}, 0},
		{cases, `{"1":[{"call_count":95,"estimated_time_to_regain_access":7}]}`, nil, 7 * time.Minute},
		{cases, `not JSON`, nil, 0},
		{"X-App-Usage", `{"call_count":10,"total_time":75}`, []time.Duration{3 * time.Second}, 0},
		{"X-Ad-Account-Usage", `{"acc_id_util_pct":94.9}`, []time.Duration{time.Minute}, 0},
		{"X-Ad-Account-Usage", `{"acc_id_util_pct":"100","reset_time_duration":300}`, nil, 5 * time.Minute},
		{"X-Fb-Ads-Insights-Throttle", `{"app_id_util_pct":100,"acc_id_util_pct":1}`, nil, 10 * time.Minute},
	} {
		at := now
		var waits []time.Duration
		platform := &usageAnswer{header: http.Header{test.header: {test.value}}}
		c := New(transport.Options{Do: platform, Now: func() time.Time { return at }, Sleep: func(_ context.Context, d time.Duration) error {
			at, waits = at.Add(d), append(waits, d)
			return nil
		}})
		var err error
		credentials := connection.Credentials{Access: secret.New("token-1")}
		for range 2 {
			err = c.call(t.Context(), credentials, transport.Call{Method: http.MethodGet, Path: "/2", Account: "1"}, &objectStatus{})
		}
		if !slices.Equal(waits, test.waits) {
			t.Errorf("%s: got waits %v want %v", test.value, waits, test.waits)
		}
		if test.until == 0 {
			if err != nil || platform.calls != 2 {
				t.Errorf("%s: got %v after %d calls want none after 2", test.value, err, platform.calls)
			}
			continue
		}
		e, ok := errors.AsType[*connection.Error](err)
		if !ok || e.Class != connection.Throttled || !e.Until.Equal(now.Add(test.until)) || platform.calls != 1 {
			t.Errorf("%s: got %+v after %d calls want to be held back for %v after 1", test.value, e, platform.calls, test.until)
		}
		if err := c.SetStatus(t.Context(), credentials, "1", "2", false); err != nil {
			t.Errorf("%s: got %v for a pause want it to go through", test.value, err)
		}
	}
}

// echoingPlatform repeats every request in its error.
type echoingPlatform struct{}

func (echoingPlatform) Do(r *http.Request) (*http.Response, error) {
	asked := r.URL.Query()
	body := fmt.Sprintf(`{"error":{"message":%q,"code":100}}`, fmt.Sprint(asked))
	return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func TestErrorsOmitSecrets(t *testing.T) {
	t.Parallel()
	c := New(transport.Options{Do: echoingPlatform{}, Now: func() time.Time { return now }})
	app := connection.OAuthClient{ID: "app-1", Secret: secret.New("secret-1")}
	cred := connection.Credentials{Access: secret.New("token-1"), App: app}
	_, read := c.Accounts(t.Context(), cred)
	_, refreshed := c.Refresh(t.Context(), app, cred)
	_, traded := c.Exchange(t.Context(), app, connection.Grant{Redirect: "https://fanfare.test", Verifier: "verifier-1"}, "code-1")
	for name, err := range map[string]error{
		"read": read, "write": c.SetStatus(t.Context(), cred, "1", "2", true), "refresh": refreshed, "exchange": traded, "revoke": c.Revoke(t.Context(), app, cred),
	} {
		if err == nil {
			t.Errorf("%s: got no error", name)
			continue
		}
		for _, hidden := range []string{"token-1", "secret-1", "verifier-1", "code-1"} {
			if strings.Contains(err.Error(), hidden) {
				t.Errorf("%s: got %q, which has %s in it", name, err, hidden)
			}
		}
	}
}

// TestUrgentCallsDoNotWait checks that writing and reading a status does not
// wait.
func TestUrgentCallsDoNotWait(t *testing.T) {
	t.Parallel()
	waits := 0
	c := New(transport.Options{Do: &usageAnswer{}, PerSecond: 1, Now: func() time.Time { return now }, Sleep: func(context.Context, time.Duration) error {
		waits++
		return nil
	}})
	for i, call := range []func() error{
		func() error { _, err := c.Status(t.Context(), connection.Credentials{}, "1", "2"); return err },
		func() error { return c.SetStatus(t.Context(), connection.Credentials{}, "1", "2", false) },
		func() error { _, err := c.Status(t.Context(), connection.Credentials{}, "1", "2"); return err },
	} {
		if err := call(); err != nil {
			t.Fatal(err)
		}
		if waits != 0 {
			t.Errorf("call %d: got %d waits want none", i, waits)
		}
	}
}

// TestAnswerWithoutList checks that an answer without a list is an error and
// not an empty list.
func TestAnswerWithoutList(t *testing.T) {
	t.Parallel()
	c := New(transport.Options{Do: &usageAnswer{}, Now: func() time.Time { return now }})
	_, err := c.Accounts(t.Context(), connection.Credentials{})
	if e, ok := errors.AsType[*connection.Error](err); !ok || e.Code != "malformed" {
		t.Errorf("got %v want malformed", err)
	}
}

// TestReportStateErrors checks the errors of background reports that have
// failed twice.
func TestReportStateErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		state reportState
		class connection.Class
		code  string
	}{
		{reportState{Status: "Job Skipped"}, connection.TooLarge, "job_failed"},
		{reportState{Status: "Job Failed", Code: 100, Subcode: 1487534}, connection.TooLarge, "100/1487534"},
		{reportState{Status: "Job Failed", Code: -2, Subcode: 2490547}, connection.Transient, "-2/2490547"},
	} {
		if e := test.state.err(); e.Class != test.class || e.Code != test.code {
			t.Errorf("%+v: got %+v", test.state, e)
		}
	}
}

// TestUrgentCallsAreNeverTooLarge checks that a pause whose answer is an unknown
// error is tried again.
func TestUrgentCallsAreNeverTooLarge(t *testing.T) {
	t.Parallel()
	c := New(transport.Options{Do: fixedAnswer{500, `{"error":{"code":1,"message":"An unknown error occurred"}}`}, Now: func() time.Time { return now }})
	if err := c.SetStatus(t.Context(), connection.Credentials{}, "1", "2", false); connection.ClassOf(err) != connection.Transient {
		t.Errorf("got %v want %s", err, connection.Transient)
	}
}
