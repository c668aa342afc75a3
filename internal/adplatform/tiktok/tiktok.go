// Package tiktok is the client of the TikTok Business API. It reads
// advertisers, entities and metrics, and sets the status of campaigns. TikTok
// returns errors with status 200 and a code in the body. Its pages are not a
// snapshot, so the number of rows is checked.
package tiktok

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

const (
	host    = "https://business-api.tiktok.com"
	version = "v1.3"
	root    = "/open_api/" + version
	// callsPerSecond is the limit of an app in the basic tier.
	callsPerSecond = 10
	channel        = "social"
)

// Client implements connection.Client and connection.Grantor.
type Client struct {
	transport *transport.Transport
	base      string
	now       func() time.Time
}

// New returns a client. Without a base URL it calls TikTok and respects its
// rate limit.
func New(o transport.Options) *Client {
	if o.Base == "" {
		o.Base, o.AppPerSecond = host, cmp.Or(o.AppPerSecond, callsPerSecond)
	}
	o.ReadError = readError
	return &Client{transport.New(o), o.Base, o.Now}
}

// About implements connection.Client.
//
// Choice: it requests no scopes, because an app's permissions are chosen in
// TikTok's portal.
//
// Choice: advertisers set the attribution window, which is 7 days after a click
// unless they choose up to 28. So recent days are read again often, and 30 days
// once a week.
func (c *Client) About() connection.About {
	return connection.About{
		Platform: "tiktok_ads", Name: "TikTok Ads", Version: version,
		LookbackDays: 7, DeepDays: 30, HistoryDays: 730, WindowDays: 30,
		Levels: []connection.Level{
			connection.LevelAccount, connection.LevelCampaign, connection.LevelAd,
			connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice,
		},
		Calls: connection.CallCost{
			Entities: 8, Reports: map[connection.Level]int64{connection.LevelAccount: 2, connection.LevelCampaign: 4, connection.LevelAd: 3, connection.LevelGeo: 3, connection.LevelDemographic: 5, connection.LevelDevice: 3}, List: 1, ListSize: maxIDs,
			Chosen: map[connection.Level]int64{connection.LevelAccount: 3, connection.LevelCampaign: 5, connection.LevelAd: 4},
		},
		Quotas: []connection.Quota{{Name: "the basic tier", Calls: 864_000, Seconds: 24 * 3600, Scope: connection.ScopeApp}},
		Capabilities: []string{
			connection.CapabilityReadMetrics, connection.CapabilityReadCampaigns, connection.CapabilityWriteCampaigns,
			connection.CapabilityReadAudiences, connection.CapabilityReadCreative,
		},
	}
}

// answer is the envelope of every answer.
type answer[T any] struct {
	Code      int    `json:"code"`
	Message   string `json:"message"`
	RequestID string `json:"request_id"`
	Data      T      `json:"data"`
}

// sendCall sends a call and returns its answer, which can be about a part of
// the call only.
func sendCall[T any](ctx context.Context, c *Client, access string, call transport.Call) (answer[T], http.Header, error) {
	var out answer[T]
	call.Path = root + call.Path
	if access != "" {
		call.Header = http.Header{"Access-Token": {access}}
	}
	header, err := c.transport.Do(ctx, call, &out)
	return out, header, err
}

// callAPI sends a call and returns the data of its answer. An answer about a
// part of the call is an error.
func callAPI[T any](ctx context.Context, c *Client, access string, call transport.Call) (T, error) {
	out, _, err := sendCall[T](ctx, c, access, call)
	if err == nil {
		err = out.partly()
	}
	return out.Data, err
}

// partly returns the error of an answer about a part of the call, nil if the
// answer is whole.
func (a *answer[T]) partly() error {
	if a.Code != codePartly {
		return nil
	}
	return &connection.Error{Class: connection.Transient, Code: "20001", Message: "TikTok did only a part of what was asked for. " + a.Message, RequestID: a.RequestID}
}

// listPage is one page of a list.
type listPage[T any] struct {
	List     []T `json:"list"`
	PageInfo struct {
		TotalNumber int `json:"total_number"`
		TotalPage   int `json:"total_page"`
	} `json:"page_info"`
	// TotalMetrics are the sums of a report over all pages.
	TotalMetrics map[string]string `json:"total_metrics"`
}

// readPages reads all pages of a list. The header of an answer is that of its
// page.
func readPages[T any](ctx context.Context, c *Client, access string, call transport.Call, size int, each func(page *listPage[T], header http.Header) error) error {
	for page := 1; ; page++ {
		call.Query.Set("page", strconv.Itoa(page))
		call.Query.Set("page_size", strconv.Itoa(size))
		got, header, err := sendCall[listPage[T]](ctx, c, access, call)
		if err == nil {
			err = got.partly()
		}
		if err == nil {
			err = each(&got.Data, header)
		}
		if err != nil {
			return err
		}
		if page >= got.Data.PageInfo.TotalPage || len(got.Data.List) == 0 {
			return nil
		}
	}
}

// maxReads is how often a list or report is read whose pages contradict each
// other: TikTok's pages are not a snapshot.
const maxReads = 3

func reportChanged(message string) error {
	return &connection.Error{Class: connection.PagesDisagree, Code: "paging_drift", Message: message}
}
