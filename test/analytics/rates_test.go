package analytics_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/fanfaretest"
)

// TestRates: amounts are converted to any currency with a rate, each fact
// rounded separately; without a rate the metric is null, and a warning names
// the rate.
func TestRates(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	ingestAnswer(c.Do("POST", feedTarget+"?source=a&currency=SEK", `[{"date":"2026-11-02","channel":"email","spend":"0.000015","clicks":2},{"date":"2026-11-02","channel":"sms","spend":"0.000015"},{"date":"2026-11-04","channel":"sms","spend":"1"}]`))
	ask := func(currency string) *queryReply {
		return readReply(t, c.Do("POST", "/v1/analytics/query",
			`{"metrics":["spend","clicks","cpc"],"granularity":"day","currency":"`+currency+`","date_range":{"start_date":"2026-11-02","end_date":"2026-11-04"}}`).Want(200).Body)
	}
	figure := func(a *queryReply) string {
		list := []string{}
		for _, r := range a.Data {
			list = append(list, formatNumber(r.Metrics["spend"]))
		}
		list = append(list, formatNumber(a.Meta.Totals.Metrics["spend"]), formatNumber(a.Meta.Totals.Metrics["clicks"]))
		return strings.ReplaceAll(strings.Join(list, " "), "null", "?")
	}
	warns := func(a *queryReply) string {
		for _, w := range a.Meta.Warnings {
			if w.Code == "missing_rate" {
				return w.Currency
			}
		}
		return ""
	}
	for _, step := range []struct{ rates, currency, want, missing string }{
		{"", "SEK", "0.00003 0 1 1.00003 2", ""},
		{"", "EUR", "? 0 ? ? 2", "SEK"},
		{`{"date":"2026-11-02","currency":"SEK","rate":"10"}`, "EUR", "0.000004 0 ? ? 2", "SEK"},
		{`{"date":"2026-11-04","currency":"SEK","rate":"8"}`, "EUR", "0.000004 0 0.125 0.125004 2", ""},
		{"", "USD", "? 0 ? ? 2", "SEK"},
		{`{"date":"2026-11-02","currency":"USD","rate":1.1},{"date":"2026-11-04","currency":"USD","rate":"1.2"}`, "USD", "0.000004 0 0.15 0.150004 2", ""},
	} {
		if step.rates != "" {
			c.Do("POST", "/v1/rates", `{"rates":[`+step.rates+`]}`).Want(200)
		}
		a := ask(step.currency)
		if got := figure(a); got != step.want || warns(a) != step.missing {
			t.Errorf("%s after %s: got %s, missing %q want %s, missing %q", step.currency, step.rates, got, warns(a), step.want, step.missing)
		}
	}
	for _, bad := range []string{`{"rates":[]}`, `{"rates":[{"date":"2026-11-02","currency":"EUR","rate":"1"}]}`, `{"rates":[{"date":"2026-11-02","currency":"USD","rate":"0"}]}`, `{"rates":[{"date":"2026-11-02","currency":"usd","rate":"1"}]}`, `{"rates":[{"date":"2026-11-02","currency":"USD","rate":"1"},{"date":"2026-11-02","currency":"USD","rate":"2"}]}`} {
		c.Do("POST", "/v1/rates", bad).WantError(422, "validation_failed")
	}
	if got, want := figure(ask("USD")), "0.000004 0 0.15 0.150004 2"; got != want {
		t.Errorf("after refused rates: got %s want %s", got, want)
	}
}

// campaignAmount returns an amount of a campaign.
func campaignAmount(c *fanfaretest.Client, id, field string) string {
	v, _ := c.Do("GET", "/v1/campaigns/"+id, nil).Want(200).Record()[field].(map[string]any)
	if v == nil {
		return "null"
	}
	return fmt.Sprint(v["amount"], " ", v["currency"])
}

func deliveryIssues(c *fanfaretest.Client, id string) []string {
	d := c.Do("GET", "/v1/campaigns/"+id, nil).Want(200).Record()["delivery"].(map[string]any)
	var list []string
	for _, i := range d["issues"].([]any) {
		list = append(list, i.(map[string]any)["code"].(string))
	}
	return list
}

// TestSpendTooLarge: spend that is too large to be exact is null, and does not
// affect other campaigns' budgets.
func TestSpendTooLarge(t *testing.T) {
	t.Parallel()
	w := startService(t)
	c := w.Tenant("enterprise")
	made := make([]string, 2)
	for i := range made {
		made[i] = c.Do("POST", "/v1/campaigns", `{"name":"x","budget":{"type":"lifetime","amount":"100","currency":"USD"}}`).Want(201).ID()
		c.Do("POST", "/v1/campaigns/"+made[i]+"/launch", nil).Want(200)
	}
	creative := c.Do("POST", "/v1/creative/generate", `{"prompt":"Trail shoes for runners who like mud","variants":2}`).Want(201).ID()
	if err := w.App.Creatives.Run(t.Context(), c.Workspace, mustID(creative)); err != nil {
		t.Fatal(err)
	}
	rows := []string{`{"date":"2026-11-01","campaign_id":"` + made[1] + `","spend":"100"}`}
	for i := range 9300 {
		rows = append(rows, fmt.Sprintf(`{"date":"2026-11-%02d","campaign_id":%q,"creative_id":%q,"external_audience_id":"%d","spend":"999999999.999999"}`, 1+i%2, made[0], creative, i))
	}
	ingestAnswer(c.Do("POST", feedTarget+"?atomic=true", "["+strings.Join(rows, ",")+"]"))
	if err := w.App.Campaigns.UpdateSpend(t.Context(), c.Workspace); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"null active", "100.00 USD completed"} {
		if got := campaignAmount(c.Client, made[i], "spend_to_date") + " " + c.Do("GET", "/v1/campaigns/"+made[i], nil).Record()["status"].(string); got != want {
			t.Errorf("got %s want %s", got, want)
		}
	}
	list := c.Do("GET", "/v1/creative/"+creative+"/variants?include=metrics", nil).Want(200).List()
	if figures, _ := list.Data[0]["metrics"].(map[string]any); len(figures) == 0 || figures["spend"] != nil {
		t.Errorf("got %v want figures that are null", figures)
	}
}

// TestBudgets: spend in facts changes the status of campaigns.
func TestBudgets(t *testing.T) {
	t.Parallel()
	w := startService(t)
	c := w.Tenant("enterprise")
	launch := func(budget string) string {
		id := c.Do("POST", "/v1/campaigns", `{"name":"x","budget":`+budget+`}`).Want(201).ID()
		c.Do("POST", "/v1/campaigns/"+id+"/launch", nil).Want(200)
		return id
	}
	settle := func() {
		if err := w.App.Campaigns.UpdateSpend(t.Context(), c.Workspace); err != nil {
			t.Fatal(err)
		}
	}
	want := func(id, spent, left, status string) {
		t.Helper()
		if got := campaignAmount(c.Client, id, "spend_to_date"); got != spent {
			t.Errorf("spend_to_date: got %s want %s", got, spent)
		}
		if got := campaignAmount(c.Client, id, "budget_remaining"); got != left {
			t.Errorf("budget_remaining: got %s want %s", got, left)
		}
		if got := c.Do("GET", "/v1/campaigns/"+id, nil).Record()["status"]; got != status {
			t.Errorf("status: got %v want %s", got, status)
		}
	}
	total := launch(`{"type":"lifetime","amount":"100","currency":"USD"}`)
	daily := launch(`{"type":"daily","amount":"10","currency":"USD"}`)
	euro := launch(`{"type":"lifetime","amount":"100","currency":"EUR"}`)
	none := launch(`null`)
	feed := func(rows string) {
		ingestAnswer(c.Do("POST", feedTarget+"?atomic=true", strings.NewReplacer("TOTAL", total, "DAILY", daily, "EURO", euro, "NONE", none).Replace(rows)))
		settle()
	}
	feed(`[{"date":"2026-11-14","campaign_id":"TOTAL","spend":"40.25"},{"date":"2026-11-14","campaign_id":"DAILY","spend":30},{"date":"2026-11-15","campaign_id":"DAILY","spend":4},{"date":"2026-11-14","campaign_id":"EURO","spend":11},{"date":"2026-11-14","campaign_id":"NONE","spend":1}]`)
	want(total, "40.25 USD", "59.75 USD", "active")
	want(daily, "34.00 USD", "6.00 USD", "active")
	want(euro, "null", "null", "active")
	want(none, "1.00 USD", "null", "active")
	if !slices.Contains(deliveryIssues(c.Client, euro), "currency_mismatch") {
		t.Errorf("got %v want currency_mismatch", deliveryIssues(c.Client, euro))
	}
	c.Do("POST", "/v1/rates", `{"rates":[{"date":"2026-11-14","currency":"USD","rate":"1.1"}]}`).Want(200)
	// Facts count in every breakdown, but only once.
	feed(`[{"date":"2026-11-15","campaign_id":"TOTAL","spend":"59.75"},{"date":"2026-11-15","campaign_id":"TOTAL","country":"DE","spend":"59.75"},{"date":"2026-11-15","campaign_id":"DAILY","spend":10}]`)
	want(total, "100.00 USD", "0.00 USD", "completed")
	want(daily, "40.00 USD", "0.00 USD", "active")
	want(euro, "10.00 EUR", "90.00 EUR", "active")
	if !slices.Contains(deliveryIssues(c.Client, daily), "daily_cap_reached") {
		t.Errorf("got %v want daily_cap_reached", deliveryIssues(c.Client, daily))
	}
	events := c.Do("GET", "/v1/events?type=campaign.completed", nil).Want(200).List()
	if len(events.Data) != 1 {
		t.Errorf("got %d campaign.completed want 1", len(events.Data))
	}
	e := c.Do("PATCH", "/v1/campaigns/"+total, `{"budget":{"amount":"99"}}`).WantError(422, "validation_failed")
	if e.Details[0].Field != "budget.amount" || e.Details[0].Code != "too_small" {
		t.Errorf("got %+v want budget.amount too small", e.Details)
	}
	c.Do("PATCH", "/v1/campaigns/"+total, `{"budget":{"amount":"150"}}`).Want(200)
	want(total, "100.00 USD", "50.00 USD", "paused")
	// A correction reduces spend.
	feed(`[{"date":"2026-11-15","campaign_id":"TOTAL","spend":"-0.5"}]`)
	want(total, "39.75 USD", "110.25 USD", "paused")
	w.Clock.Advance(24 * time.Hour)
	settle()
	want(daily, "40.00 USD", "10.00 USD", "active")
}

// TestInsights: an audience's insights equal what was sent.
func TestInsights(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	id := c.Do("POST", "/v1/audiences", `{"name":"Cyclists"}`).Want(201).ID()
	ad := c.Do("POST", "/v1/creative", `{"name":"Poster","type":"text","content":{"headline":"Ride","body":"Now."}}`).Want(201).ID()
	cmp := c.Do("POST", "/v1/campaigns", `{"name":"Trails"}`).Want(201).ID()
	rows := strings.NewReplacer("AUD", id, "AD", ad, "CMP", cmp).Replace(`[
		{"date":"2026-11-02","channel":"social","campaign_id":"CMP","creative_id":"AD","audience_id":"AUD","impressions":1000,"clicks":100,"conversions":5,"spend":20,"revenue":60},
		{"date":"2026-11-03","channel":"search","campaign_id":"CMP","audience_id":"AUD","impressions":1000,"clicks":20,"conversions":1,"spend":10,"revenue":30},
		{"date":"2026-11-03","channel":"search","impressions":2000,"clicks":40,"conversions":2,"spend":10,"revenue":10},
		{"date":"2026-11-02","country":"DE","audience_id":"AUD","impressions":1500},{"date":"2026-11-02","country":"FR","audience_id":"AUD","impressions":500},
		{"date":"2026-11-02","country":"FR","impressions":2000}]`)
	ingestAnswer(c.Do("POST", feedTarget+"?atomic=true", rows))
	var in struct {
		Trend []struct {
			Date        string       `json:"date"`
			Impressions *json.Number `json:"impressions"`
			Spend       *json.Number `json:"spend"`
		} `json:"trend"`
		Composition map[string][]struct {
			Value       string      `json:"value"`
			Impressions json.Number `json:"impressions"`
			Share       json.Number `json:"share"`
			Index       json.Number `json:"index"`
		} `json:"composition"`
		Performance struct {
			Metrics map[string]*json.Number `json:"metrics"`
			Versus  map[string]*json.Number `json:"versus_workspace"`
		} `json:"performance"`
		TopCreatives []struct {
			ID  string      `json:"creative_id"`
			CTR json.Number `json:"ctr"`
		} `json:"top_creatives"`
		Campaigns []struct {
			ID    string      `json:"campaign_id"`
			Spend json.Number `json:"spend"`
		} `json:"campaigns"`
		Warnings []struct{ Code string } `json:"warnings"`
	}
	res := c.Do("GET", "/v1/audiences/"+id+"/insights", nil).Want(200)
	var envelope struct{ Data json.RawMessage }
	if err := json.Unmarshal(res.Body, &envelope); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(envelope.Data, &in); err != nil {
		t.Fatal(err)
	}
	if len(in.Trend) != 30 || in.Trend[0].Date != "2026-10-16" || formatNumber(in.Trend[17].Impressions) != "1000" || formatNumber(in.Trend[17].Spend) != "20" || formatNumber(in.Trend[0].Spend) != "0" {
		t.Errorf("trend: got %s", envelope.Data)
	}
	// 1500 of 2000 here, 1500 of 4000 in the workspace.
	if de := in.Composition["country"]; len(de) != 2 || de[0].Value != "DE" || de[0].Share != "0.75" || de[0].Index != "200" || de[1].Index != "40" {
		t.Errorf("composition: got %+v want DE at 0.75 and 200", de)
	}
	p := in.Performance
	for name, want := range map[string]string{"impressions": "2000", "clicks": "120", "spend": "30", "ctr": "0.06", "cpc": "0.25", "roas": "3"} {
		if got := formatNumber(p.Metrics[name]); got != want {
			t.Errorf("%s: got %s want %s", name, got, want)
		}
	}
	// The workspace has a click-through rate of 160 in 4000.
	if got := formatNumber(p.Versus["ctr"]); got != "1.5" {
		t.Errorf("ctr against the workspace: got %s want 1.5", got)
	}
	if len(in.TopCreatives) != 1 || in.TopCreatives[0].ID != ad || in.TopCreatives[0].CTR != "0.1" || len(in.Campaigns) != 1 || in.Campaigns[0].Spend != "30" {
		t.Errorf("got %+v and %+v want the poster and 30 for the campaign", in.TopCreatives, in.Campaigns)
	}
	codes := []string{}
	for _, w := range in.Warnings {
		codes = append(codes, w.Code)
	}
	if !slices.Contains(codes, "no_breakdown") || slices.Contains(codes, "no_facts") {
		t.Errorf("got warnings %v want no_breakdown for what no row told", codes)
	}
}

// TestVariants: a variant shows the metrics of its linked ads, which also count
// for its creative.
func TestVariants(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	id := c.Do("POST", "/v1/creative/generate", `{"prompt":"Trail shoes for runners, 20% off until Sunday. They grip in mud. Rated 4.8 by 2,000 runners.","variants":2,"seed":1}`).Want(201).ID()
	if err := c.Service.App.Creatives.Run(t.Context(), c.Workspace, mustID(id)); err != nil {
		t.Fatal(err)
	}
	list := c.Do("GET", "/v1/creative/"+id+"/variants", nil).Want(200).List()
	if len(list.Data) != 2 || list.Data[0]["metrics"] != nil {
		t.Fatalf("got %v want two variants without metrics", list.Data)
	}
	first, _ := list.Data[0]["id"].(string)
	ingestAnswer(c.Do("POST", feedTarget+"?atomic=true", `[{"date":"2026-11-02","creative_id":"`+first+`","impressions":1000,"clicks":50,"conversions":"2.5","spend":10},{"date":"2026-11-03","creative_id":"`+id+`","impressions":10,"clicks":1}]`))
	with := c.Do("GET", "/v1/creative/"+id+"/variants?include=metrics", nil).Want(200).List()
	got := fmt.Sprint(with.Data[0]["metrics"])
	if want := "map[clicks:50 conversions:2.5 cpa:4 ctr:0.05 cvr:0.05 impressions:1000 spend:10]"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
	report := c.Do("GET", "/v1/analytics/creative?metrics=clicks", nil).Want(200)
	var rows struct {
		Data []struct {
			Creative reportSubject `json:"creative"`
			Metrics  metricValues  `json:"metrics"`
		} `json:"data"`
	}
	if err := json.Unmarshal(report.Body, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows.Data) != 1 || rows.Data[0].Creative.ID == nil || *rows.Data[0].Creative.ID != id || formatNumber(rows.Data[0].Metrics["clicks"]) != "51" {
		t.Errorf("got %s want one row of %s with 51 clicks", report.Body, id)
	}
}
