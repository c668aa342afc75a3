package microsoft

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// campaignTypes are all types of campaigns: without them a list has Search
// campaigns only. adTypes and audienceTypes are needed in the same way. Source:
// PyPI msads 13.0.30.1, openapi_client/models/campaign.
const (
	campaignTypes = "Search, Shopping, DynamicSearchAds, Audience, Hotel, PerformanceMax, App, ObjectiveBased"
	audienceTypes = "RemarketingList, Custom, InMarket, Product, SimilarRemarketingList, CombinedList, CustomerList, ImpressionBasedRemarketingList, CustomSegment"
)

var adTypes = []string{"Text", "Image", "Product", "AppInstall", "ExpandedText", "DynamicSearch", "ResponsiveAd", "ResponsiveSearch", "Hotel"}

// channels maps campaign types to the channels of facts, without regard to case
// and spaces: reports write them in words of their own. All others are other.
var channels = map[string]string{
	"search": "search", "search&content": "search", "shopping": "search", "dynamicsearchads": "search", "dynamicsearch": "search", "hotel": "search",
	"audience": "display", "performancemax": "display",
}

func channelOf(campaignType string) string {
	return cmp.Or(channels[strings.ToLower(strings.ReplaceAll(campaignType, " ", ""))], "other")
}

type campaign struct {
	ID           string `json:"Id"`
	Name         string
	Status       string
	CampaignType string
}

// hasAssetGroups reports whether a campaign has asset groups instead of ads.
func (c *campaign) hasAssetGroups() bool { return c.CampaignType == "PerformanceMax" }

// assetGroupPrefix marks the ids of asset groups, which Microsoft numbers
// separately from ads.
const assetGroupPrefix = "asset_group:"

// maxGroups is the number of ad groups up to which ads and audiences are listed.
//
// Choice: Microsoft lists them for one ad group per call. In larger accounts the
// rows of further ad groups have the names of ads and no audiences, and a note
// says so.
const maxGroups = 1000

// Entities implements connection.Client.
func (c *Client) Entities(ctx context.Context, creds connection.Credentials, account string) (*connection.Entities, error) {
	l := &lister{client: c, creds: creds, account: account, entities: &connection.Entities{Groups: map[string]string{}}}
	var answer struct{ Campaigns []*campaign }
	if err := l.query(ctx, "Campaigns/QueryByAccountId", map[string]any{"AccountId": account, "CampaignType": campaignTypes}, &answer); err != nil {
		return nil, err
	}
	if err := l.addAudiences(ctx); err != nil {
		return nil, err
	}
	for _, of := range answer.Campaigns {
		if of == nil {
			continue
		}
		l.entities.Campaigns = append(l.entities.Campaigns, connection.Entity{
			External: of.ID, Name: of.Name, Status: of.Status, Runs: isRunning(of.Status), Channel: channelOf(of.CampaignType),
		})
		read := l.addGroups
		if of.hasAssetGroups() {
			read = l.addAssetGroups
		}
		// A campaign can be deleted meanwhile.
		if err := read(ctx, of); err != nil && connection.ClassOf(err) != connection.Gone {
			return nil, err
		}
	}
	return l.entities, nil
}

// lister lists the entities of an account.
type lister struct {
	client   *Client
	creds    connection.Credentials
	account  string
	entities *connection.Entities
	groups   int
}

func (l *lister) query(ctx context.Context, path string, body, out any) error {
	return l.client.callAccount(ctx, l.client.campaigns, l.creds, l.account, transport.Call{Method: http.MethodPost, Path: campaignPath + path, JSON: body}, out)
}

func (l *lister) addAudiences(ctx context.Context) error {
	var answer struct {
		Audiences []*struct {
			ID         string `json:"Id"`
			Name       string
			SearchSize *string
		}
	}
	if err := l.query(ctx, "Audiences/QueryByIds", map[string]any{"Type": audienceTypes, "AudienceIds": nil}, &answer); err != nil {
		return err
	}
	for _, a := range answer.Audiences {
		if a == nil {
			continue
		}
		e := connection.Entity{External: a.ID, Name: a.Name, Status: statusActive, Runs: true}
		if a.SearchSize != nil {
			if n, err := strconv.ParseInt(*a.SearchSize, 10, 64); err == nil {
				e.Size = &n
			}
		}
		l.entities.Audiences = append(l.entities.Audiences, e)
	}
	return nil
}

// addGroups adds the ads of a campaign and the audiences of its ad groups.
func (l *lister) addGroups(ctx context.Context, of *campaign) error {
	if l.groups >= l.client.groups {
		l.entities.Cut = true
		return nil
	}
	var answer struct {
		AdGroups []*struct {
			ID string `json:"Id"`
		}
	}
	if err := l.query(ctx, "AdGroups/QueryByCampaignId", map[string]string{"CampaignId": of.ID}, &answer); err != nil {
		return err
	}
	for _, g := range answer.AdGroups {
		if g == nil {
			continue
		}
		if l.groups >= l.client.groups {
			l.entities.Cut = true
			return nil
		}
		l.groups++
		if err := l.addAds(ctx, of, g.ID); err != nil {
			return err
		}
		if len(l.entities.Audiences) == 0 {
			continue
		}
		if err := l.addTarget(ctx, g.ID); err != nil {
			return err
		}
	}
	return nil
}

type ad struct {
	ID              string `json:"Id"`
	Status          string
	FinalURLs       []string `json:"FinalUrls"`
	PromotionalText string
	TitlePart1      string
	Headline        string
	Headlines       []struct {
		Asset struct{ Text string }
	}
}

// name returns a text of the ad: ads have no names.
func (a *ad) name() string {
	if len(a.Headlines) > 0 {
		return a.Headlines[0].Asset.Text
	}
	return cmp.Or(a.Headline, a.TitlePart1, a.PromotionalText)
}

func (l *lister) addAds(ctx context.Context, of *campaign, group string) error {
	var answer struct{ Ads []*ad }
	if err := l.query(ctx, "Ads/QueryByAdGroupId", map[string]any{"AdGroupId": group, "AdTypes": adTypes}, &answer); err != nil {
		return err
	}
	for _, a := range answer.Ads {
		if a != nil {
			l.addAd(of, a.ID, a.name(), a.Status, a.FinalURLs)
		}
	}
	return nil
}

func (l *lister) addAd(of *campaign, id, name, status string, urls []string) {
	e := connection.Entity{External: id, Name: name, Status: status, Runs: status == statusActive, Channel: channelOf(of.CampaignType)}
	if len(urls) > 0 {
		e.URL = urls[0]
	}
	l.entities.Ads = append(l.entities.Ads, e)
}

// addAssetGroups adds the asset groups of a campaign as its ads.
func (l *lister) addAssetGroups(ctx context.Context, of *campaign) error {
	var answer struct {
		AssetGroups []*struct {
			ID        string `json:"Id"`
			Name      string
			Status    string
			FinalURLs []string `json:"FinalUrls"`
		}
	}
	if err := l.query(ctx, "AssetGroups/QueryByCampaignId", map[string]string{"CampaignId": of.ID}, &answer); err != nil {
		return err
	}
	for _, g := range answer.AssetGroups {
		if g != nil {
			l.addAd(of, assetGroupPrefix+g.ID, g.Name, g.Status, g.FinalURLs)
		}
	}
	return nil
}

// addTarget sets the audience of an ad group.
//
// Choice: an ad group with several audiences counts as one without, because
// reports do not tell them apart.
func (l *lister) addTarget(ctx context.Context, group string) error {
	var answer struct {
		Criterions []*struct {
			Type      string
			Criterion struct {
				AudienceID string `json:"AudienceId"`
			}
		} `json:"AdGroupCriterions"`
	}
	if err := l.query(ctx, "AdGroupCriterions/QueryByIds", map[string]any{"AdGroupId": group, "CriterionType": "Audience", "AdGroupCriterionIds": nil}, &answer); err != nil {
		return err
	}
	var targets []string
	for _, t := range answer.Criterions {
		if t != nil && t.Type == "BiddableAdGroupCriterion" && t.Criterion.AudienceID != "" {
			targets = append(targets, t.Criterion.AudienceID)
		}
	}
	if len(targets) == 1 {
		l.entities.Groups[group] = targets[0]
	}
	return nil
}
