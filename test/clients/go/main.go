// Command go creates campaigns, launches one, sends numbers, queries them and
// pages through the campaigns, with a client that oapi-codegen generated.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"

	"fanfare/test/clients/go/fanfare"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// pointer is for optional members.
func pointer[T any](v T) *T { return &v }

// refused makes an error of any answer but the wanted one.
func refused(what string, res *http.Response, body []byte) error {
	return fmt.Errorf("%s: %s: %s", what, res.Status, body)
}

func run(ctx context.Context) error {
	client, err := fanfare.NewClientWithResponses(os.Getenv("FANFARE_URL"), fanfare.WithRequestEditorFn(
		func(_ context.Context, req *http.Request) error {
			req.Header.Set("Authorization", "Bearer "+os.Getenv("FANFARE_API_KEY"))
			return nil
		}))
	if err != nil {
		return err
	}
	var first fanfare.Campaign
	for i := range 3 {
		res, err := client.CreateCampaignWithResponse(ctx, &fanfare.CreateCampaignParams{IdempotencyKey: pointer(fmt.Sprintf("go-%d", i))}, fanfare.CampaignCreate{
			Name:     fmt.Sprintf("Go %d", i),
			Channels: &fanfare.ChannelsInput{fanfare.ChannelInputSearch},
			Budget:   &fanfare.BudgetCreate{Type: fanfare.BudgetTypeInputDaily, Amount: "150.00", Currency: pointer("EUR")},
		})
		if err != nil {
			return err
		}
		if res.JSON201 == nil {
			return refused("create", res.HTTPResponse, res.Body)
		}
		if i == 0 {
			first = res.JSON201.Data
		}
	}
	launched, err := client.LaunchCampaignWithResponse(ctx, first.Id, nil, fanfare.LaunchOptions{})
	if err != nil {
		return err
	}
	if launched.JSON200 == nil {
		return refused("launch", launched.HTTPResponse, launched.Body)
	}
	ingested, err := client.IngestMetricsWithResponse(ctx, &fanfare.IngestMetricsParams{Source: pointer("go"), Currency: pointer("EUR")}, fanfare.FactRows{
		{Date: "2026-11-01", CampaignId: &first.Id, Clicks: pointer[fanfare.Count]("7"), Spend: pointer[fanfare.Quantity]("12345678.25")},
	})
	if err != nil {
		return err
	}
	if ingested.JSON200 == nil || ingested.JSON200.Data.Accepted != 1 {
		return refused("ingest", ingested.HTTPResponse, ingested.Body)
	}
	var days fanfare.DateRange
	if err := days.FromDaysRange(fanfare.DaysRange{StartDate: "2026-11-01", EndDate: "2026-11-02"}); err != nil {
		return err
	}
	answer, err := client.QueryAnalyticsWithResponse(ctx, fanfare.AnalyticsQuery{
		Metrics:    []fanfare.MetricInput{fanfare.MetricInputSpend, fanfare.MetricInputClicks},
		Dimensions: &[]fanfare.DimensionNameInput{fanfare.DimensionNameInputCampaignId},
		DateRange:  &days, Currency: pointer("EUR"),
	})
	if err != nil {
		return err
	}
	if answer.JSON200 == nil || len(answer.JSON200.Data) != 1 {
		return refused("query", answer.HTTPResponse, answer.Body)
	}
	row := answer.JSON200.Data[0]
	var names []string
	params := &fanfare.ListCampaignsParams{Limit: pointer(2), Order: pointer(fanfare.ListCampaignsParamsOrderAsc)}
	for {
		page, err := client.ListCampaignsWithResponse(ctx, params)
		if err != nil {
			return err
		}
		if page.JSON200 == nil {
			return refused("list", page.HTTPResponse, page.Body)
		}
		for _, c := range page.JSON200.Data {
			names = append(names, c.Name)
		}
		if !page.JSON200.HasMore {
			break
		}
		params.Cursor = page.JSON200.NextCursor
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"status": launched.JSON200.Data.Status, "amount": launched.JSON200.Data.Budget.Amount,
		"linked": *row.Dimensions["campaign_id"] == first.Id, "clicks": row.Metrics["clicks"], "spend": row.Metrics["spend"], "names": names,
	})
}
