package google_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/adplatform/google"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/secret"
)

// scriptedAnswers returns prepared answers in order and records the calls.
type scriptedAnswers struct {
	answers []answer
	asked   []*http.Request
	bodies  []string
}

type answer struct {
	status int
	body   string
}

func (s *scriptedAnswers) Do(req *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, req)
	body := ""
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	s.bodies = append(s.bodies, body)
	next := s.answers[min(len(s.asked), len(s.answers))-1]
	return &http.Response{StatusCode: next.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(next.body))}, nil
}

// newScriptedClient returns a client whose calls get prepared answers.
func newScriptedClient(s *scriptedAnswers) *google.Client {
	f := &testSandbox{now: time.Unix(1_800_000_000, 0)}
	return google.New(transport.Options{Do: s, Now: f.clock, Sleep: f.sleep})
}

var creds = connection.Credentials{Access: secret.New("ya29.very-secret")}

// TestAccountsOfManagers checks that accounts below a manager are called
// through it, unless there is direct access.
func TestAccountsOfManagers(t *testing.T) {
	t.Parallel()
	client := func(id, manager, status string) string {
		return `{"customerClient":{"id":"` + id + `","descriptiveName":"A` + id + `","currencyCode":"EUR","timeZone":"UTC","manager":` + manager + `,"status":"` + status + `"}}`
	}
	s := &scriptedAnswers{answers: []answer{
		{200, `{"resourceNames":["customers/3","customers/2","customers/1"]}`},
		{200, `[{"results":[` + strings.Join([]string{client("1", "true", "ENABLED"), client("2", "false", "ENABLED"), client("4", "false", "ENABLED"), client("5", "false", "CANCELED")}, ",") + `]}]`},
		{403, `[{"error":{"code":403,"status":"PERMISSION_DENIED","details":[{"errors":[{"errorCode":{"authorizationError":"CUSTOMER_NOT_ENABLED"}}]}]}}]`},
		{200, `[]`},
	}}
	c := newScriptedClient(s)
	accounts, err := c.Accounts(t.Context(), creds)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, a := range accounts {
		id := a.ExternalID
		if a.Problem != nil {
			id += " " + a.Problem.Code
		}
		ids = append(ids, id)
	}
	if want := []string{"2", "4@1", "5@1 CANCELED", "3 CUSTOMER_NOT_ENABLED"}; !slices.Equal(ids, want) {
		t.Errorf("got accounts %v want %v", ids, want)
	}
	if _, err := c.Entities(t.Context(), creds, "4@1"); err != nil {
		t.Fatal(err)
	}
	last := s.asked[len(s.asked)-1]
	if got := last.URL.Host + last.URL.Path; got != "googleads.googleapis.com/v26/customers/4/googleAds:searchStream" || last.Header.Get("Login-Customer-Id") != "1" {
		t.Errorf("got %s through %q", got, last.Header.Get("Login-Customer-Id"))
	}
	if _, err := c.Entities(t.Context(), creds, "4/../5"); connection.ClassOf(err) != connection.Gone {
		t.Errorf("got %v want %s", err, connection.Gone)
	}
}

// TestErrorClasses has errors that the sandbox does not return.
func TestErrorClasses(t *testing.T) {
	t.Parallel()
	failure := func(status, kind, code, more string) string {
		return `[{"error":{"status":"` + status + `","message":"m","details":[{"@type":"t","requestId":"r1","errors":[{"errorCode":{"` + kind + `":"` + code + `"},"message":"about ya29.very-secret"` + more + `}]}]}}]`
	}
	for _, test := range []struct {
		name   string
		answer answer
		want   connection.Class
		wait   time.Duration
	}{
		{"long quota", answer{429, failure("RESOURCE_EXHAUSTED", "quotaError", "EXCESSIVE_LONG_TERM_QUERY_RESOURCE_CONSUMPTION", "")}, connection.Throttled, time.Hour},
		{"daily quota", answer{429, failure("RESOURCE_EXHAUSTED", "quotaError", "RESOURCE_EXHAUSTED", `,"details":{"quotaErrorDetails":{"retryDelay":"40000s"}}`)}, connection.Throttled, 40000 * time.Second},
		{"prohibited", answer{403, failure("PERMISSION_DENIED", "quotaError", "ACCESS_PROHIBITED", "")}, connection.Forbidden, 0},
		{"project", answer{403, failure("PERMISSION_DENIED", "authorizationError", "CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION", "")}, connection.Forbidden, 0},
		{"removed campaign", answer{400, failure("INVALID_ARGUMENT", "contextError", "OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE", "")}, connection.Gone, 0},
		{"deadline", answer{504, failure("DEADLINE_EXCEEDED", "internalError", "DEADLINE_EXCEEDED", "")}, connection.TooLarge, 0},
		{"plain 401", answer{401, `{"error":{"code":401,"message":"m","status":"UNAUTHENTICATED"}}`}, connection.Expired, 0},
		{"no such version", answer{404, "<html>"}, connection.Sunset, 0},
		{"expired page", answer{400, failure("INVALID_ARGUMENT", "requestError", "EXPIRED_PAGE_TOKEN", "")}, connection.PagesDisagree, 0},
		{"wrong query", answer{400, failure("INVALID_ARGUMENT", "queryError", "UNRECOGNIZED_FIELD", "")}, connection.Refused, 0},
		{"broken", answer{502, "<html>"}, connection.Transient, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := newScriptedClient(&scriptedAnswers{answers: []answer{test.answer}}).Status(t.Context(), creds, "1", "2")
			e, ok := errors.AsType[*connection.Error](err)
			if !ok || e.Class != test.want {
				t.Fatalf("got %v want %s", err, test.want)
			}
			if strings.Contains(err.Error(), "very-secret") {
				t.Errorf("got %v, which shows the token", err)
			}
			if test.wait > 0 && e.Until.Sub(time.Unix(1_800_000_000, 0)) != test.wait {
				t.Errorf("got until %s want after %s", e.Until, test.wait)
			}
		})
	}
}

// TestInconsistentReports checks that rows that contradict each other are refused,
// and that parts above their campaign are kept with a note.
func TestInconsistentReports(t *testing.T) {
	t.Parallel()
	row := func(group, device, clicks string) string {
		return `{"campaign":{"id":"1","advertisingChannelType":"SEARCH"},"adGroup":{"id":"` + group + `"},"segments":{"date":"2026-10-01","device":"` + device + `"},"metrics":{"clicks":"` + clicks + `","conversions":1e-06}}`
	}
	day := clock.MakeDate(2026, time.October, 1)
	for _, test := range []struct {
		name          string
		groups, whole string
		want          map[string]int64
		// note is the difference that a note has, 0 for no note.
		note int64
	}{
		{"twice the same", row("9", "DESKTOP", "3") + "," + row("9", "DESKTOP", "3"), row("", "DESKTOP", "5"), map[string]int64{"": 2, "8": 3}, 0},
		{"twice with others", row("9", "DESKTOP", "3") + "," + row("9", "DESKTOP", "4"), row("", "DESKTOP", "5"), nil, 0},
		{"more than there is", row("9", "DESKTOP", "6"), row("", "DESKTOP", "5"), map[string]int64{"8": 6}, -1},
		{"all for one", row("9", "DESKTOP", "5"), row("", "DESKTOP", "5"), map[string]int64{"8": 5}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			total := `[{"results":[` + row("", "", "5") + `]}]`
			c := newScriptedClient(&scriptedAnswers{answers: []answer{{200, `[{"results":[` + test.groups + `]}]`}, {200, `[{"results":[` + test.whole + `]}]`}, {200, total}}})
			got, noted := map[string]int64{}, int64(0)
			err := c.Report(t.Context(), creds, connection.Report{
				Account: "1", Level: connection.LevelDevice, First: day, Last: day, Entities: &connection.Entities{Groups: map[string]string{"9": "8"}},
				Note: func(n connection.Note) {
					if n.Code != connection.NoteTotalDiffers || n.Measure != fact.Clicks || n.First != day || n.Last != day {
						t.Errorf("got note %+v", n)
					}
					noted += *n.Amount
				},
			}, func(rows []fact.Row) error {
				for _, r := range rows {
					got[r.Audience.ExternalID] = r.Values.V[fact.Clicks]
				}
				return nil
			})
			if test.want == nil {
				if connection.ClassOf(err) != connection.PagesDisagree {
					t.Errorf("got %v want %s", err, connection.PagesDisagree)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" || noted != test.note {
				t.Errorf("got %v, a note of %d want %d, clicks by audience differ (-want +got):\n%s", err, noted, test.note, diff)
			}
		})
	}
}

// TestConversionActionsWithOneName checks that two conversion actions with one name
// are added.
func TestConversionActionsWithOneName(t *testing.T) {
	t.Parallel()
	day := clock.MakeDate(2026, time.October, 1)
	row := func(action, metrics string) string {
		return `{"segments":{"date":"2026-10-01","conversionAction":"` + action + `","conversionActionName":"Lead"},"metrics":{` + metrics + `}}`
	}
	c := newScriptedClient(&scriptedAnswers{answers: []answer{
		{200, `[{"results":[{"segments":{"date":"2026-10-01"},"metrics":{"clicks":"9"}}]}]`},
		{200, `[{"results":[` + row("customers/1/conversionActions/2", `"allConversions":1.5,"allConversionsValue":10`) + `,` + row("customers/1/conversionActions/3", `"allConversions":2,"allConversionsValue":0.5`) + `]}]`},
	}})
	var rows []fact.Row
	err := c.Report(t.Context(), creds, connection.Report{Account: "1", First: day, Last: day, Conversions: []string{"Lead"}}, func(some []fact.Row) error {
		rows = append(rows, some...)
		return nil
	})
	if err != nil || len(rows) != 1 || rows[0].Values.V[fact.Conversions] != 3_500_000 || rows[0].Values.V[fact.Revenue] != 10_500_000 || rows[0].Values.V[fact.Clicks] != 9 {
		t.Errorf("got %+v, %v want both actions added", rows, err)
	}
}
