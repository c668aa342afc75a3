// Package tiktok is the client of the TikTok Business API. It reads
// advertisers, entities and metrics, and sets the status of campaigns. TikTok
// returns errors with status 200 and a code in the body. Its pages are not a
// snapshot, so the number of rows is checked.
package tiktok

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/money"
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
		o.Base, o.PerSecond = host, cmp.Or(o.PerSecond, callsPerSecond)
	}
	o.ReadError = readError
	return &Client{transport.New(o), o.Base, o.Now}
}

// About implements connection.Client.
//
// Choice: it requests no scopes, because an app's permissions are chosen in
// TikTok's portal.
func (c *Client) About() connection.About {
	return connection.About{
		Platform: "tiktok_ads", Name: "TikTok Ads", Version: version,
		LookbackDays: 7, HistoryDays: 730, WindowDays: 30,
		Levels: []connection.Level{
			connection.LevelAccount, connection.LevelCampaign, connection.LevelAd,
			connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice,
		},
		Capabilities: []string{
			connection.CapabilityReadMetrics, connection.CapabilityReadCampaigns, connection.CapabilityWriteCampaigns,
			connection.CapabilityReadAudiences, connection.CapabilityReadCreative,
		},
	}
}

// answer is the envelope of every answer.
type answer[T any] struct {
	Data T `json:"data"`
}

// callAPI sends a call and returns the data of its answer.
func callAPI[T any](ctx context.Context, c *Client, access string, call transport.Call) (T, error) {
	var out answer[T]
	call.Path = root + call.Path
	if access != "" {
		call.Header = http.Header{"Access-Token": {access}}
	}
	_, err := c.transport.Do(ctx, call, &out)
	return out.Data, err
}

// errorClasses maps TikTok's codes to classes. Other codes are classified by
// their first digit.
var errorClasses = map[int]connection.Class{
	40001: connection.Forbidden,
	40067: connection.TooLarge,
	40100: connection.Throttled,
	// Tokens do not expire, so an invalid one needs a new consent.
	40102: connection.Revoked,
	40104: connection.Revoked,
	40105: connection.Revoked,
}

// readError implements transport.Options.ReadError.
func readError(status int, _ http.Header, body []byte, now time.Time) *connection.Error {
	var said struct {
		Code      *int   `json:"code"`
		Message   string `json:"message"`
		RequestID string `json:"request_id"`
	}
	err := json.Unmarshal(body, &said)
	code := 0
	if said.Code != nil {
		code = *said.Code
	}
	switch success := status < http.StatusMultipleChoices; {
	case success && (err != nil || said.Code == nil):
		return &connection.Error{Class: connection.Transient, Code: "malformed", Message: "TikTok's answer is not the JSON that it should be."}
	case success && code == 0:
		return nil
	}
	e := &connection.Error{Class: connection.Transient, Code: strconv.Itoa(cmp.Or(code, status)), Message: said.Message, RequestID: said.RequestID}
	switch class, known := errorClasses[code]; {
	case known:
		e.Class = class
	case code >= 40000 && code < 50000:
		e.Class = connection.Refused
	case code != 0 || status >= http.StatusInternalServerError:
	case status == http.StatusNotFound:
		// Choice: TikTok does not document the answer of a version that has
		// ended. All requested paths exist, so an unknown path means that.
		e.Class, e.Message = connection.Sunset, "TikTok does not have version "+version+" of its API any more."
	case status == http.StatusTooManyRequests:
		e.Class = connection.Throttled
	case status >= http.StatusBadRequest:
		e.Class = connection.Refused
	}
	if e.Class == connection.Throttled {
		e.Until = retryTime(e.Message, now)
	}
	e.Message = cmp.Or(e.Message, "TikTok answered with status "+strconv.Itoa(status)+".")
	return e
}

// retryTime returns when TikTok accepts calls again. Only the message names the
// limit: the daily one ends at midnight, the one per minute blocks for five
// minutes, the one per second for one second.
func retryTime(message string, now time.Time) time.Time {
	text := strings.ToLower(message)
	switch {
	case strings.Contains(text, "qpd") || strings.Contains(text, "per day"):
		return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	case strings.Contains(text, "qpm") || strings.Contains(text, "per minute"):
		return now.Add(5 * time.Minute)
	}
	return now.Add(time.Second)
}

// listPage is one page of a list.
type listPage[T any] struct {
	List     []T `json:"list"`
	PageInfo struct {
		TotalNumber int `json:"total_number"`
		TotalPage   int `json:"total_page"`
	} `json:"page_info"`
}

// readPages reads all pages of a list and returns the number of rows that
// TikTok reports.
func readPages[T any](ctx context.Context, c *Client, access string, call transport.Call, size int, each func([]T) error) (total int, err error) {
	for page := 1; ; page++ {
		call.Query.Set("page", strconv.Itoa(page))
		call.Query.Set("page_size", strconv.Itoa(size))
		got, err := callAPI[listPage[T]](ctx, c, access, call)
		if err != nil {
			return 0, err
		}
		if page > 1 && got.PageInfo.TotalNumber != total {
			return 0, reportChanged("The list became longer or shorter while it was read.")
		}
		total = got.PageInfo.TotalNumber
		if err := each(got.List); err != nil {
			return 0, err
		}
		if page >= got.PageInfo.TotalPage || len(got.List) == 0 {
			return total, nil
		}
	}
}

func reportChanged(message string) error {
	return &connection.Error{Class: connection.PagesDisagree, Code: "paging_drift", Message: message}
}

// account is an advertiser.
type account struct {
	ID       string         `json:"advertiser_id"`
	Name     string         `json:"name"`
	Currency money.Currency `json:"currency"`
	// Timezone is an offset without daylight saving time, DisplayTimezone the
	// name of a zone.
	Timezone        string `json:"timezone"`
	DisplayTimezone string `json:"display_timezone"`
	Status          string `json:"status"`
}

// Accounts implements connection.Client.
func (c *Client) Accounts(ctx context.Context, cr connection.Credentials) ([]connection.Account, error) {
	if cr.App.ID == "" || cr.App.Secret.Empty() {
		return nil, &connection.Error{Class: connection.Refused, Code: "app_missing", Message: "TikTok lists the accounts of a token only to the app that it was made with: give the app's id and secret along with the token."}
	}
	granted, err := callAPI[listPage[account]](ctx, c, cr.Access.Reveal(), transport.Call{
		Method: http.MethodGet, Path: "/oauth2/advertiser/get/", Query: url.Values{"app_id": {cr.App.ID}, "secret": {cr.App.Secret.Reveal()}},
	})
	if err != nil {
		return nil, err
	}
	accounts := []connection.Account{}
	for some := range slices.Chunk(granted.List, 100) {
		ids := []string{}
		for _, a := range some {
			ids = append(ids, a.ID)
		}
		details, err := callAPI[listPage[account]](ctx, c, cr.Access.Reveal(), transport.Call{
			Method: http.MethodGet, Path: "/advertiser/info/", Query: url.Values{
				"advertiser_ids": {jsonList(ids)},
				"fields":         {jsonList([]string{"advertiser_id", "name", "currency", "timezone", "display_timezone", "status"})},
			},
		})
		if err != nil {
			return nil, err
		}
		for _, a := range details.List {
			if a.Status != "STATUS_DISABLE" {
				accounts = append(accounts, a.toAccount())
			}
		}
	}
	return accounts, nil
}

func (a account) toAccount() connection.Account {
	page := "https://ads.tiktok.com/i18n/dashboard?aadvid=" + url.QueryEscape(a.ID)
	return connection.Account{
		ExternalID: a.ID, Name: a.Name, Currency: a.Currency, Timezone: cmp.Or(a.DisplayTimezone, a.Timezone), URL: &page, Enabled: true,
	}
}

// jsonList encodes a list for a query parameter.
func jsonList(list []string) string {
	b, err := json.Marshal(list)
	if err != nil {
		// Encoding fails only for invalid UTF-8, which TikTok does not send.
		return "[]"
	}
	return string(b)
}
