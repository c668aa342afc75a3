package platforms_test

import (
	"slices"
	"strings"
	"testing"

	"fanfare/internal/adplatform/google"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// googleReport is the input of a query of the library.
type googleReport struct {
	Entity      string           `json:"entity"`
	Attributes  []string         `json:"attributes,omitempty"`
	Metrics     []string         `json:"metrics,omitempty"`
	Segments    []string         `json:"segments,omitempty"`
	Constraints []map[string]any `json:"constraints,omitempty"`
	FromDate    string           `json:"from_date,omitempty"`
	ToDate      string           `json:"to_date,omitempty"`
}

// googleLists are the queries of accounts and entities.
func googleLists() []googleReport {
	is := func(key, op string, val any) map[string]any { return map[string]any{"key": key, "op": op, "val": val} }
	return []googleReport{
		{
			Entity:     "customer_client",
			Attributes: prefixed("customer_client.", "id", "descriptive_name", "currency_code", "time_zone", "manager", "status"),
		},
		{
			Entity: "campaign", Attributes: prefixed("campaign.", "id", "name", "status", "advertising_channel_type"),
			Constraints: []map[string]any{is("campaign.status", "!=", "REMOVED")},
		},
		{
			Entity: "ad_group_ad",
			Attributes: append(prefixed("ad_group_ad.", "ad.id", "ad.name", "ad.final_urls", "ad.responsive_search_ad.headlines", "status"),
				"campaign.advertising_channel_type"),
			Constraints: []map[string]any{
				is("ad_group_ad.status", "!=", "REMOVED"), is("ad_group.status", "!=", "REMOVED"), is("campaign.status", "!=", "REMOVED"),
			},
		},
		{
			Entity: "asset_group", Attributes: append(prefixed("asset_group.", "id", "name", "status", "final_urls"), "campaign.advertising_channel_type"),
			Constraints: []map[string]any{is("asset_group.status", "!=", "REMOVED"), is("campaign.status", "!=", "REMOVED")},
		},
		{Entity: "user_list", Attributes: prefixed("user_list.", "id", "name", "membership_status", "size_for_display")},
		{
			Entity: "ad_group_criterion", Attributes: []string{"ad_group.id", "ad_group_criterion.user_list.user_list"},
			Constraints: []map[string]any{
				is("ad_group_criterion.type", "=", "USER_LIST"), is("ad_group_criterion.negative", "=", false), is("ad_group_criterion.status", "!=", "REMOVED"),
			},
		},
	}
}

// googleMetricReports are the queries of reports, by level.
func googleMetricReports(first, last clock.Date) []googleReport {
	campaign := prefixed("campaign.", "id", "name", "advertising_channel_type")
	group := append([]string{"ad_group.id"}, campaign...)
	geo := prefixed("geographic_view.", "country_criterion_id", "location_type")
	reports := []googleReport{
		{Entity: "customer"},
		{Entity: "campaign", Attributes: campaign},
		{Entity: "ad_group_ad", Attributes: append(prefixed("ad_group_ad.ad.", "id", "name", "responsive_search_ad.headlines"), group...)},
		{Entity: "asset_group", Attributes: append(prefixed("asset_group.", "id", "name"), campaign...)},
		{Entity: "geographic_view", Attributes: append(slices.Clone(geo), group...)},
		{Entity: "geographic_view", Attributes: append(slices.Clone(geo), campaign...)},
		{Entity: "campaign", Attributes: campaign},
		{Entity: "age_range_view", Attributes: append([]string{"ad_group_criterion.age_range.type"}, group...)},
		{Entity: "campaign", Attributes: campaign},
		{Entity: "ad_group", Attributes: group, Segments: []string{"segments.device"}},
		{Entity: "campaign", Attributes: campaign, Segments: []string{"segments.device"}},
		{Entity: "campaign", Attributes: campaign},
	}
	for i := range reports {
		r := &reports[i]
		r.Segments = append(r.Segments, "segments.date")
		r.Metrics = prefixed("metrics.", "impressions", "clicks", "cost_micros", "conversions", "conversions_value", "video_trueview_views")
		r.FromDate, r.ToDate = first.String(), last.String()
	}
	return reports
}

func prefixed(prefix string, names ...string) []string {
	list := []string{}
	for _, name := range names {
		list = append(list, prefix+name)
	}
	return list
}

// normalizeQuery normalizes a query: the order of fields and conditions, the
// kind of quotes and the form of date ranges have no meaning.
func normalizeQuery(_ string, parameters map[string]string) {
	query, ok := parameters["query"]
	if !ok {
		return
	}
	fields, rest, _ := strings.Cut(strings.TrimPrefix(query, "SELECT "), " FROM ")
	from, where, _ := strings.Cut(strings.ReplaceAll(rest, `"`, "'"), " WHERE ")
	if before, days, ok := strings.Cut(where, "segments.date BETWEEN "); ok {
		first, last, _ := strings.Cut(days, " AND ")
		where = before + "segments.date >= " + first + " AND segments.date <= " + last
	}
	list, conditions := strings.Split(fields, ", "), strings.Split(strings.ToLower(where), " and ")
	slices.Sort(list)
	slices.Sort(conditions)
	parameters["query"] = strings.Join(list, ", ") + " FROM " + from + " WHERE " + strings.Join(conditions, " and ")
}

// TestGoogle compares a library for Google Ads with the client.
func TestGoogle(t *testing.T) {
	t.Parallel()
	s := openSandbox(t, sandbox.GoogleAds)
	last := clock.MakeDate(2026, 10, 20)
	first := last - 29
	client := google.New(s.clientOptions("/google"))
	cred, err := client.Refresh(t.Context(), s.credentials().App, s.credentials())
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := client.Accounts(t.Context(), cred)
	if err != nil {
		t.Fatal(err)
	}
	entities, err := client.Entities(t.Context(), cred, accounts[0].ExternalID)
	if err != nil {
		t.Fatal(err)
	}
	q := connection.Report{Account: accounts[0].ExternalID, First: first, Last: last, Entities: entities}
	impressions := map[connection.Level]int64{}
	for _, level := range client.About().Levels {
		q.Level = level
		err := client.Report(t.Context(), cred, q, func(rows []fact.Row) error {
			for _, row := range rows {
				impressions[level] += row.Values.V[fact.Impressions]
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	asked := s.journal(t)
	if err := client.SetStatus(t.Context(), cred, q.Account, entities.Campaigns[0].External, false); err != nil {
		t.Fatal(err)
	}
	pushed := s.journal(t)

	// The library lists accounts and changes campaigns only over gRPC.
	list := slices.IndexFunc(asked, func(c call) bool { return strings.HasSuffix(c.Path, ":listAccessibleCustomers") })
	if list < 0 || len(pushed) != 1 {
		t.Fatalf("got %v and %v want a list of accounts and one change", callLines(asked), callLines(pushed))
	}
	intent := map[string]any{
		"queries": queries(t, asked), "reports": append(googleLists(), googleMetricReports(first, last)...),
		"list": callForScript(asked[list]), "mutate": callForScript(pushed[0]),
	}
	var answered struct {
		Asked       int
		Impressions []int64
	}
	s.runScript(t, "google.mjs", intent, &answered)
	sdk := s.journal(t)
	compareCalls(t, slices.Delete(asked, list, list+1), sdk[:answered.Asked], comparison{
		headers: []string{"Content-Type", "Authorization"}, normalize: normalizeQuery,
	})
	// The library's sums of whole views equal the client's sums by family.
	whole := map[connection.Level][]int{
		connection.LevelAccount: {0}, connection.LevelCampaign: {1}, connection.LevelAd: {2, 3},
		connection.LevelGeo: {5}, connection.LevelDemographic: {8}, connection.LevelDevice: {10},
	}
	for level, views := range whole {
		want := int64(0)
		for _, i := range views {
			want += answered.Impressions[i]
		}
		if got := impressions[level]; got != want || got == 0 {
			t.Errorf("level %d: got %d impressions want %d, as the library has read them", level, got, want)
		}
	}
}

// queries returns the queries in the bodies of calls.
func queries(t *testing.T, calls []call) []string {
	t.Helper()
	list := []string{}
	for _, c := range calls {
		if query, ok := parameters(t, c)["query"]; ok {
			list = append(list, query)
		}
	}
	return list
}

// callForScript returns a call in the format of a script.
func callForScript(c call) map[string]any {
	return map[string]any{"method": c.Method, "path": c.Path, "body": c.Body}
}
