package sandbox_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"fanfare/internal/adplatform/sandbox"
)

const metaInsights = "/v26.0/ACCOUNT/insights"

// rows asks for a report and returns its rows.
func (w metaClient) rows(t *testing.T, path string, changes ...string) []map[string]any {
	t.Helper()
	status, got := w.ask(t, http.MethodGet, path, metaTestParams(changes...), "")
	if status != http.StatusOK {
		t.Fatalf("%v: got %d %+v", changes, status, got.Error)
	}
	return got.Data
}

// metaSum adds up a metric of rows.
func metaSum(t *testing.T, rows []map[string]any, name string) (sum float64) {
	t.Helper()
	for _, row := range rows {
		text, _ := row[name].(string)
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("%s: %v in %v", name, err, row)
		}
		sum += n
	}
	return sum
}

// TestMetaReportParameters checks that parameters of Meta's SDK have their
// effect.
func TestMetaReportParameters(t *testing.T) {
	t.Parallel()
	w := newMetaClient(t)
	all := w.rows(t, metaInsights)
	total := metaSum(t, all, "impressions")
	for _, days := range []string{"3", "7", "monthly", "all_days"} {
		rows := w.rows(t, metaInsights, "time_increment", days)
		if got := metaSum(t, rows, "impressions"); got != total || len(rows) >= len(all) {
			t.Errorf("time_increment %s: got %v in %d rows want %v in fewer than %d", days, got, len(rows), total, len(all))
		}
	}
	for _, breakdown := range []string{"publisher_platform", "platform_position", "region", "hourly_stats_aggregated_by_advertiser_time_zone", "device_platform", "age", "gender", "dma", "product_id"} {
		rows := w.rows(t, metaInsights, "breakdowns", breakdown)
		if got := metaSum(t, rows, "impressions"); got != total || rows[0][breakdown] == nil {
			t.Errorf("%s: got %v in rows such as %v want %v", breakdown, got, rows[0], total)
		}
	}
	ads := metaSum(t, w.rows(t, metaInsights, "level", "ad"), "impressions")
	if got := metaSum(t, w.rows(t, metaInsights, "level", "ad", "breakdowns", "country"), "impressions"); got != ads {
		t.Errorf("ads by country: got %v want %v", got, ads)
	}
	sorted := w.rows(t, metaInsights, "sort", `["spend_descending"]`)
	for i := 1; i < len(sorted); i++ {
		if metaSum(t, sorted[i:i+1], "spend") > metaSum(t, sorted[i-1:i], "spend") {
			t.Fatalf("row %d has more spend than the one before", i)
		}
	}
	id, _ := all[0]["campaign_id"].(string)
	one := w.rows(t, metaInsights, "filtering", `[{"field":"campaign.id","operator":"IN","value":["`+id+`"]}]`)
	others := w.rows(t, metaInsights, "filtering", `[{"field":"campaign.id","operator":"NOT_IN","value":["`+id+`"]}]`)
	if len(one) == 0 || len(others) == 0 || metaSum(t, one, "impressions")+metaSum(t, others, "impressions") != total {
		t.Errorf("got %d and %d rows want all rows in two parts", len(one), len(others))
	}
	if none := w.rows(t, metaInsights, "filtering", `[{"field":"impressions","operator":"GREATER_THAN","value":1000000000}]`); len(none) > 0 {
		t.Errorf("got %d rows want none with so many impressions", len(none))
	}
	if own := w.rows(t, "/v26.0/"+id+"/insights"); metaSum(t, own, "impressions") != metaSum(t, one, "impressions") {
		t.Error("the insights of the campaign are not those of its rows")
	}
}

// TestMetaPresets checks the days of presets on a Tuesday.
func TestMetaPresets(t *testing.T) {
	t.Parallel()
	w := newMetaClient(t)
	for preset, want := range map[string][2]string{
		"": {"2026-09-20", "2026-10-19"}, "last_7d": {"2026-10-13", "2026-10-19"}, "this_month": {"2026-10-01", "2026-10-20"},
		"last_month": {"2026-09-01", "2026-09-30"}, "last_quarter": {"2026-07-01", "2026-09-30"}, "last_year": {"2025-01-01", "2025-12-31"},
		"last_week_mon_sun": {"2026-10-12", "2026-10-18"}, "last_week_sun_sat": {"2026-10-11", "2026-10-17"}, "this_week_sun_today": {"2026-10-18", "2026-10-20"},
	} {
		_, got := w.ask(t, http.MethodGet, metaInsights, url.Values{"date_preset": {preset}}, "")
		if len(got.Data) != 1 || got.Data[0]["date_start"] != want[0] || got.Data[0]["date_stop"] != want[1] || got.Data[0]["impressions"] == nil {
			t.Errorf("%q: got %v want %v", preset, got.Data, want)
		}
	}
}

// TestMetaOffsiteActions checks that actions outside of Meta are absent by
// region and hour.
func TestMetaOffsiteActions(t *testing.T) {
	t.Parallel()
	w := newMetaClient(t)
	for breakdown, want := range map[string]bool{"country": true, "region": false, "hourly_stats_aggregated_by_advertiser_time_zone": false} {
		rows := w.rows(t, metaInsights, "breakdowns", breakdown, "fields", "impressions,actions,action_values")
		got := slices.ContainsFunc(rows, func(row map[string]any) bool { return row["action_values"] != nil })
		if got != want {
			t.Errorf("%s: got actions outside of Meta %v want %v", breakdown, got, want)
		}
	}
}

// TestMetaFields checks that all fields of Meta's SDK have an answer, and that
// ratios are those of the row.
func TestMetaFields(t *testing.T) {
	t.Parallel()
	w := newMetaClient(t)
	row := w.rows(t, metaInsights, "fields", "spend,clicks,impressions,reach,cpc,cpm,cpp,ctr,frequency,inline_link_clicks,results,quality_ranking,conversions,unique_clicks,video_p50_watched_actions")[0]
	rows := []map[string]any{row}
	for _, ratio := range []struct {
		name, above, below string
		factor             float64
	}{
		{"cpc", "spend", "clicks", 1}, {"cpm", "spend", "impressions", 1000}, {"cpp", "spend", "reach", 1000}, {"ctr", "clicks", "impressions", 100}, {"frequency", "impressions", "reach", 1},
	} {
		want := ratio.factor * metaSum(t, rows, ratio.above) / metaSum(t, rows, ratio.below)
		if got := metaSum(t, rows, ratio.name); got < want-0.00001 || got > want+0.00001 {
			t.Errorf("%s: got %v want %v", ratio.name, got, want)
		}
	}
	if _, there := row["quality_ranking"]; there {
		t.Error("got a ranking, which the account does not have")
	}
}

// TestMetaDefaultFields checks the fields that Meta returns without a request,
// and the list of a grant with several accounts.
func TestMetaDefaultFields(t *testing.T) {
	t.Parallel()
	w := newMetaClient(t)
	if err := w.server.TurnOn(sandbox.BehaviorRule{Platform: sandbox.MetaAds, Switch: sandbox.BehaviorAccounts, Value: "3"}); err != nil {
		t.Fatal(err)
	}
	_, got := w.ask(t, http.MethodGet, "/v26.0/me/adaccounts", url.Values{}, "")
	if len(got.Data) != 3 || got.Data[0]["id"] != "act_"+w.access.AccountID || got.Data[0]["account_id"] != w.access.AccountID || len(got.Data[0]) != 2 {
		t.Errorf("got %v want three accounts with id and account_id", got.Data)
	}
}

// TestMetaDeletedByID checks that a deleted campaign is missing from the account
// and answers by its own id.
func TestMetaDeletedByID(t *testing.T) {
	t.Parallel()
	w := newMetaClient(t)
	before := w.rows(t, metaInsights)
	if err := w.server.TurnOn(sandbox.BehaviorRule{Platform: sandbox.MetaAds, Switch: "deleted_hidden"}); err != nil {
		t.Fatal(err)
	}
	after := w.rows(t, metaInsights)
	account, ok := w.server.Account(w.access.AccountID)
	if !ok {
		t.Fatal("the account is not there")
	}
	own := w.rows(t, "/v26.0/"+account.Campaigns[1].ID+"/insights")
	missing := metaSum(t, before, "impressions") - metaSum(t, after, "impressions")
	if missing == 0 || metaSum(t, own, "impressions") != missing {
		t.Errorf("got %v by its own id want the %v that the account lacks", metaSum(t, own, "impressions"), missing)
	}
}
