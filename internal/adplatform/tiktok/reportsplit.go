package tiktok

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// readByCampaigns reads a part of the report for some campaigns at a time.
func (r *reportReader) readByCampaigns(ctx context.Context, part reportPart) error {
	if r.q.Entities != nil {
		ids := []string{}
		for _, x := range r.q.Entities.Campaigns {
			ids = append(ids, x.External)
		}
		return r.readIDs(ctx, part, "campaign_ids", ids)
	}
	campaigns, err := readAllKinds(ctx, r.client, r.access, r.q.Account, "/campaign/get/", campaignFields, "CAMPAIGN_STATUS_ALL", func(x campaign) string { return x.ID })
	if err != nil {
		return err
	}
	ids := []string{}
	for _, x := range campaigns {
		ids = append(ids, x.ID)
	}
	return r.readIDs(ctx, part, "campaign_ids", ids)
}

// readIDs reads the rows of some campaigns or ad groups.
func (r *reportReader) readIDs(ctx context.Context, part reportPart, field string, ids []string) error {
	for some := range slices.Chunk(ids, maxIDs) {
		only := in(field, some...)
		read, err := r.readScope(ctx, part, &only)
		switch {
		case err == nil:
			r.add(read)
		case r.mustSplit(err):
			err = r.readFewer(ctx, part, field, some, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readFewer reads what is still too much: half of it, or the ad groups of a
// campaign.
func (r *reportReader) readFewer(ctx context.Context, part reportPart, field string, ids []string, tooMuch error) error {
	if half := len(ids) / 2; half > 0 {
		if err := r.readIDs(ctx, part, field, ids[:half]); err != nil {
			return err
		}
		return r.readIDs(ctx, part, field, ids[half:])
	}
	if field != "campaign_ids" {
		return tooMuch
	}
	groups, err := readList(ctx, r.client, r.access, r.q.Account, "/adgroup/get/", listFilter{CampaignIDs: ids, Secondary: "ADGROUP_STATUS_ALL"}.query(groupFields), 1000, func(x group) string { return x.ID })
	if err != nil {
		return err
	}
	if len(groups) == 0 {
		return tooMuch
	}
	found := []string{}
	for _, x := range groups {
		found = append(found, x.ID)
	}
	if r.data == "CAMPAIGN" {
		return r.readCampaignByGroups(ctx, part, found)
	}
	return r.readIDs(ctx, part, "adgroup_ids", found)
}

// readCampaignByGroups reads the ad groups of a campaign and adds them up.
func (r *reportReader) readCampaignByGroups(ctx context.Context, part reportPart, groups []string) error {
	byGroup := *r
	byGroup.levelQuery = levelQuery{basicReport, "ADGROUP", []string{"adgroup_id"}, []string{"campaign_id", "campaign_name", skanMetric}, "adgroup_status"}
	byGroup.rows, byGroup.seen = nil, map[string]bool{}
	if err := byGroup.readIDs(ctx, part, "adgroup_ids", groups); err != nil {
		return err
	}
	r.fields, r.skan = byGroup.fields, byGroup.skan
	for _, row := range byGroup.rows {
		row.Audience = fact.Entity{}
		r.addUp(row)
	}
	return nil
}

// noteSKAN notes the conversions that only Apple's SKAdNetwork reports.
func (r *reportReader) noteSKAN() {
	if r.skan > 0 && len(r.q.Conversions) == 0 {
		r.q.AddNote(r.note(connection.NoteExcluded, fact.Conversions, &r.skan, "Conversions that Apple's SKAdNetwork reports are not included, because TikTok can have counted the same ones. Choose skan_conversion to count them instead."))
	}
}

// noteGMVMax notes what GMV Max campaigns spent, which no list or report of
// campaigns has.
//
// Choice: TikTok has another report with metrics by shop and product, which do
// not fit those of campaigns. So they are told, not added.
func (r *reportReader) noteGMVMax(ctx context.Context) error {
	spend, found := int64(0), false
	err := readPages(ctx, r.client, r.access, transport.Call{Method: http.MethodGet, Path: "/report/integrated/get/", Account: r.q.Account, Query: url.Values{
		"advertiser_id": {r.q.Account}, "service_type": {buyingAuction}, "report_type": {"TT_SHOP"}, "data_level": {"AUCTION_ADVERTISER"},
		"dimensions": {jsonList([]string{"advertiser_id", "stat_time_day"})}, "metrics": {jsonList([]string{"spend"})},
		"start_date": {r.q.First.String()}, "end_date": {r.q.Last.String()},
	}}, 1000, func(page *listPage[reportItem], _ http.Header) error {
		for _, it := range page.List {
			if n, ok := transport.ParseMetric(it.Metrics["spend"], fact.Spend); ok {
				spend, found = spend+n, found || n != 0
			}
		}
		return nil
	})
	switch {
	case err != nil && isRefusal(err):
		return r.noteGMVMaxCampaigns(ctx)
	case err != nil:
		return err
	case found:
		r.q.AddNote(r.note(connection.NoteExcluded, fact.Spend, &spend, "GMV Max campaigns are not included: TikTok reports them separately. The amount is what they spent."))
	}
	return nil
}

// noteGMVMaxCampaigns notes that there are GMV Max campaigns. An account that may
// not list them has none.
func (r *reportReader) noteGMVMaxCampaigns(ctx context.Context) error {
	got, err := callAPI[listPage[campaign]](ctx, r.client, r.access, transport.Call{Method: http.MethodGet, Path: "/gmv_max/campaign/get/", Account: r.q.Account, Query: url.Values{
		"advertiser_id": {r.q.Account}, "filtering": {`{"gmv_max_promotion_types":["PRODUCT_GMV_MAX","LIVE_GMV_MAX"]}`}, "page": {"1"}, "page_size": {"10"},
	}})
	if err != nil && isRefusal(err) {
		return nil
	}
	if err == nil && got.PageInfo.TotalNumber > 0 {
		r.q.AddNote(r.note(connection.NoteExcluded, fact.Spend, nil, "GMV Max campaigns are not included: TikTok reports them separately. The account has "+strconv.Itoa(got.PageInfo.TotalNumber)+" of them."))
	}
	return err
}
