package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/metrics"
)

// TestLostFacts loses all facts permanently. Every response with metrics has a
// warning, and none has a 0 that may be wrong, until the caller accepts the
// loss.
func TestLostFacts(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c := w.Tenant(account.Growth)
		campaign := create(c, `{"name":"Sale","channels":["email"],"budget":{"type":"lifetime","amount":"100","currency":"USD"},"schedule":{"end_at":"2027-01-01T00:00:00Z"}}`)
		c.Do("POST", "/v1/campaigns/"+campaign+"/launch", nil).Want(200)
		creative := c.Do("POST", "/v1/creative", `{"name":"Tea","type":"text","content":{"body":"Tea"}}`).Want(201).ID()
		audience := c.Do("POST", "/v1/audiences", `{"name":"Readers","definition":{"countries":["DE"]}}`).Want(201).ID()
		send := func(spend string, days ...string) {
			t.Helper()
			var rows []string
			for _, day := range days {
				rows = append(rows, fmt.Sprintf(`{"date":%q,"channel":"email","campaign_id":%q,"clicks":5,"spend":%s}`, day, campaign, spend))
			}
			c.Do("POST", "/v1/ingest/metrics?source=shop", "["+strings.Join(rows, ",")+"]").Want(200)
			if err := w.App.Campaigns.UpdateSpend(t.Context(), c.Workspace); err != nil {
				t.Fatal(err)
			}
		}
		send("30", "2026-11-11", "2026-11-12", "2026-11-13")
		source := c.Do("GET", "/v1/connections?platform=api", nil).Want(200).List().Data[0]["id"].(string)

		// check looks at all answers with metrics. bucket is the spend of a day
		// without rows.
		check := func(when string, lost bool, bucket string) {
			t.Helper()
			body := `{"metrics":["spend","clicks"],"granularity":"day","date_range":{"start_date":"2026-11-11","end_date":"2026-11-14"}}`
			for _, accept := range []string{"application/json", "text/csv", "application/x-ndjson"} {
				res := c.Do("POST", "/v1/analytics/query", body, "Accept: "+accept).Want(200)
				if got := strings.Contains(res.Header.Get("X-Warnings"), "data_lost"); got != lost {
					t.Errorf("%s: %s: got X-Warnings %q", when, accept, res.Header.Get("X-Warnings"))
				}
			}
			res := c.Do("POST", "/v1/analytics/query", body).Want(200)
			var answer struct {
				Data []struct{ Metrics map[string]*json.Number }
				Meta struct {
					Totals struct{ Metrics map[string]*json.Number }
				}
			}
			if err := json.Unmarshal(res.Body, &answer); err != nil {
				t.Fatal(err)
			}
			if got := text(answer.Data[3].Metrics["spend"]); got != bucket {
				t.Errorf("%s: got spend %s on a day without rows, want %s", when, got, bucket)
			}
			for _, path := range []string{
				"/v1/analytics/overview", "/v1/analytics/campaigns", "/v1/analytics/channels", "/v1/analytics/creative", "/v1/analytics/audiences",
				"/v1/audiences/" + audience + "/insights", "/v1/creative/" + creative + "/variants?include=metrics", "/v1/campaigns?sort=metric",
				"/v1/connections/" + source,
			} {
				if res := c.Do("GET", path, nil).Want(200); strings.Contains(string(res.Body), `"code":"data_lost"`) != lost {
					t.Errorf("%s: %s: got %s", when, path, res.Body)
				}
			}
			// Another connection is not concerned.
			res = c.Do("POST", "/v1/analytics/query", `{"metrics":["spend"],"filters":{"field":"connection_id","op":"eq","values":["con_01m7f7rg8reaarpph9r5d079kw"]}}`).Want(200)
			if res.Header.Get("X-Warnings") != "" || !strings.Contains(string(res.Body), `"metrics":{"spend":0}`) {
				t.Errorf("%s: got %s for another connection", when, res.Body)
			}
			if got := slices.Contains(issuesOf(c, campaign), "data_lost"); got != lost {
				t.Errorf("%s: got issues %v", when, issuesOf(c, campaign))
			}
		}
		spent := func() string {
			sum, _ := c.Do("GET", "/v1/campaigns/"+campaign, nil).Want(200).Record()["spend_to_date"].(map[string]any)
			return fmt.Sprint(sum["amount"])
		}
		pacing := func() string {
			var answer struct {
				Data []struct{ Metrics map[string]*json.Number }
			}
			res := c.Do("POST", "/v1/analytics/query", `{"metrics":["pacing","spend"],"dimensions":["campaign_id"],"date_range":{"start_date":"2026-11-11","end_date":"2026-11-16"}}`).Want(200)
			if err := json.Unmarshal(res.Body, &answer); err != nil {
				t.Fatal(err)
			}
			return text(answer.Data[0].Metrics["pacing"])
		}
		w.Clock.Advance(3 * 24 * time.Hour)
		check("before", false, "0")
		if got := spent() + " " + pacing(); !strings.HasPrefix(got, "90.00 ") || strings.HasSuffix(got, "null") {
			t.Errorf("before: got spend and pacing %s", got)
		}

		r, err := w.App.FactsReplacement.Replace(t.Context(), fanfaretest.Operator, func(metrics.ReplaceableEngine, string) error { return nil })
		if err != nil || len(r.SendAgain) != 1 || string(r.SendAgain[0]) != source {
			t.Fatalf("got %+v, %v want %s to be sent again", r, err, source)
		}
		if err := w.App.Campaigns.UpdateSpend(t.Context(), c.Workspace); err != nil {
			t.Fatal(err)
		}
		check("after the loss", true, "null")
		send("30", "2026-11-13")
		check("after one row", true, "null")
		if got := spent() + " " + pacing(); got != "90.00 null" {
			t.Errorf("after one row: got spend and pacing %s", got)
		}
		c.Do("PATCH", "/v1/connections/"+source, `{"data_lost_at":null}`).Want(200)
		if err := w.App.Campaigns.UpdateSpend(t.Context(), c.Workspace); err != nil {
			t.Fatal(err)
		}
		check("after the loss was accepted", false, "0")
		if got := spent() + " " + pacing(); !strings.HasPrefix(got, "30.00 ") || strings.HasSuffix(got, "null") {
			t.Errorf("after the loss was accepted: got spend and pacing %s", got)
		}
	})
}

// text is a metric as it is answered.
func text(n *json.Number) string {
	if n == nil {
		return "null"
	}
	return n.String()
}

// issuesOf returns the codes of a campaign's delivery issues.
func issuesOf(c *fanfaretest.Tenant, id string) (codes []string) {
	delivery := c.Do("GET", "/v1/campaigns/"+id, nil).Want(200).Record()["delivery"].(map[string]any)
	for _, issue := range delivery["issues"].([]any) {
		codes = append(codes, issue.(map[string]any)["code"].(string))
	}
	return codes
}
