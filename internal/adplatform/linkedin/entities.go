package linkedin

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// statusActive means that the campaign is switched on. LinkedIn may still not
// deliver it, for example for lack of budget.
const statusActive = "ACTIVE"

const statusPaused = "PAUSED"

// stoppedStatuses are the statuses of a campaign that does not deliver.
var stoppedStatuses = map[string]bool{
	statusPaused: true, "ARCHIVED": true, "CANCELED": true, "COMPLETED": true, "DRAFT": true, "PENDING_DELETION": true, "REMOVED": true,
}

// deletedStatuses are the statuses of what LinkedIn keeps for its numbers only.
var deletedStatuses = map[string]bool{"PENDING_DELETION": true, "REMOVED": true}

// creativeStatuses and campaignStatuses are all statuses. Lists without them
// leave some out, whose earlier numbers would then have no name.
var (
	creativeStatuses = []string{statusActive, statusPaused, "ARCHIVED", "CANCELED", "DRAFT", "PENDING_DELETION", "REMOVED"}
	campaignStatuses = append(slices.Clip(creativeStatuses), "COMPLETED")
)

// Prefixes of URNs.
const (
	accountURN  = "urn:li:sponsoredAccount:"
	campaignURN = "urn:li:sponsoredCampaign:"
	creativeURN = "urn:li:sponsoredCreative:"
	segmentURN  = "urn:li:adSegment:"
	geoURN      = "urn:li:geo:"
)

type campaign struct {
	ID int64 `json:"id"`
	// Account is a URN.
	Account   string `json:"account"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	Targeting struct {
		Include struct {
			And []struct {
				Or map[string][]string `json:"or"`
			} `json:"and"`
		} `json:"include"`
	} `json:"targetingCriteria"`
}

// audienceID returns the audience of the campaign, empty if there is none.
//
// Choice: a campaign with several audiences counts as one without, because
// LinkedIn does not report the metrics of each.
func (c *campaign) audienceID() string {
	found := ""
	for _, all := range c.Targeting.Include.And {
		for _, any := range all.Or {
			for _, urn := range any {
				id, is := strings.CutPrefix(urn, segmentURN)
				if is && found != "" {
					return ""
				}
				if is {
					found = id
				}
			}
		}
	}
	return found
}

type creative struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"intendedStatus"`
}

type segment struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Size *int64 `json:"approximateMemberCount"`
}

// Entities implements connection.Client.
func (c *Client) Entities(ctx context.Context, cr connection.Credentials, account string) (*connection.Entities, error) {
	below := accountPath(account)
	query := "q=search&search=(status:(values:" + wordList(campaignStatuses) + "))&pageSize=1000"
	campaigns, err := readAllPages(ctx, c, cr, account, below+"/adCampaigns", query, func(x campaign) int64 { return x.ID })
	if err != nil {
		return nil, err
	}
	// LinkedIn's server fails on larger pages of creatives.
	query = "q=criteria&intendedStatuses=" + wordList(creativeStatuses) + "&pageSize=100"
	creatives, err := readAllPages(ctx, c, cr, account, below+"/creatives", query, func(x creative) string { return x.ID })
	if err != nil {
		return nil, err
	}
	segments, err := c.readSegments(ctx, cr, account)
	if err != nil {
		return nil, err
	}
	found := &connection.Entities{Groups: map[string]string{}}
	for _, x := range campaigns {
		id := strconv.FormatInt(x.ID, 10)
		found.Campaigns = append(found.Campaigns, connection.Entity{External: id, Name: x.Name, Status: x.Status, Runs: x.Status == statusActive, Deleted: deletedStatuses[x.Status], Channel: channel})
		if audience := x.audienceID(); audience != "" {
			found.Groups[id] = audience
		}
	}
	for _, x := range creatives {
		id := strings.TrimPrefix(x.ID, creativeURN)
		// The name is optional
		// (learn.microsoft.com/en-us/linkedin/marketing/integrations/recent-changes,
		// October 2024, Creative Naming Support).
		found.Ads = append(found.Ads, connection.Entity{External: id, Name: cmp.Or(x.Name, id), Status: x.Status, Runs: x.Status == statusActive, Deleted: deletedStatuses[x.Status], Channel: channel})
	}
	for _, x := range segments {
		found.Audiences = append(found.Audiences, connection.Entity{External: strconv.FormatInt(x.ID, 10), Name: x.Name, Size: x.Size})
	}
	return found, nil
}

// listPage is one page of a list.
type listPage[T any] struct {
	Elements []T `json:"elements"`
	Metadata struct {
		NextPageToken string `json:"nextPageToken"`
	} `json:"metadata"`
	Paging struct {
		Total int `json:"total"`
	} `json:"paging"`
}

// readPage reads one page.
func readPage[T any](ctx context.Context, c *Client, cr connection.Credentials, account, path, query string) (listPage[T], error) {
	var page listPage[T]
	_, err := c.api.Do(ctx, transport.Call{Method: http.MethodGet, Path: path, RawQuery: query, Header: apiHeader(cr, "finder"), Account: account}, &page)
	return page, err
}

// readAllPages reads a list whose pages have a token for the next one. It drops
// duplicates.
func readAllPages[T any, K comparable](ctx context.Context, c *Client, cr connection.Credentials, account, path, query string, id func(T) K) ([]T, error) {
	found, seen := []T{}, map[K]bool{}
	for token := ""; ; {
		asked := query
		if token != "" {
			asked += "&pageToken=" + url.QueryEscape(token)
		}
		page, err := readPage[T](ctx, c, cr, account, path, asked)
		if err != nil {
			return nil, err
		}
		for _, x := range page.Elements {
			if !seen[id(x)] {
				seen[id(x)] = true
				found = append(found, x)
			}
		}
		next := page.Metadata.NextPageToken
		if next == "" {
			return found, nil
		}
		if next == token {
			return nil, reportChanged("A page names itself as the next one.")
		}
		token = next
	}
}

// readSegments reads the audiences. LinkedIn's total can also count audiences
// that the member may not see, so fewer than the total are right if a second
// reading finds the same ones.
func (c *Client) readSegments(ctx context.Context, cr connection.Credentials, account string) ([]segment, error) {
	found, total, err := c.readSegmentPages(ctx, cr, account)
	if err != nil || len(found) == total {
		return found, err
	}
	again, total, err := c.readSegmentPages(ctx, cr, account)
	if err != nil || len(again) == total {
		return again, err
	}
	if !slices.EqualFunc(found, again, func(a, b segment) bool { return a.ID == b.ID }) {
		return nil, reportChanged("The list of audiences changed while it was read.")
	}
	return found, nil
}

// readSegmentPages reads the audiences, whose pages are numbered. A page can be
// short and not the last, so only an empty one beyond the total ends the list.
func (c *Client) readSegmentPages(ctx context.Context, cr connection.Credentials, account string) (found []segment, total int, err error) {
	const size = 100
	found = []segment{}
	seen := map[int64]bool{}
	for start := 0; ; start += size {
		query := "q=accounts&accounts=" + urnList(accountURN, account) + "&start=" + strconv.Itoa(start) + "&count=" + strconv.Itoa(size)
		page, err := readPage[segment](ctx, c, cr, account, "/rest/adSegments", query)
		if err != nil {
			return nil, 0, err
		}
		if start > 0 && page.Paging.Total != total {
			return nil, 0, reportChanged("The list of audiences became longer or shorter while it was read.")
		}
		total = page.Paging.Total
		for _, x := range page.Elements {
			if !seen[x.ID] {
				seen[x.ID] = true
				found = append(found, x)
			}
		}
		if start+size >= total && (len(page.Elements) < size || start+size == total) {
			return found, total, nil
		}
	}
}

// wordList returns words without punctuation as a list.
func wordList(words []string) string { return "List(" + strings.Join(words, ",") + ")" }

// urnList returns ids as a list of URNs. Their colons are escaped, because they
// are not punctuation of Rest.li; the parentheses around them are not escaped.
func urnList(urn string, ids ...string) string {
	urns := make([]string, len(ids))
	for i, id := range ids {
		urns[i] = url.QueryEscape(urn + id)
	}
	return "List(" + strings.Join(urns, ",") + ")"
}
