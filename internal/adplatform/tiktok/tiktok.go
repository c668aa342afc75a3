// Package tiktok speaks the TikTok Business API: advertisers, what they run
// and what came of it. TikTok answers errors with the status of success and
// says what is wrong in the body; its pages are no snapshot, so what they hold
// is counted.
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
	// callsPerSecond is what an app of the basic tier may ask.
	callsPerSecond = 10
	channel        = "social"
)

// Client is a connection.Client and a connection.Grantor.
type Client struct {
	transport *transport.Transport
	base      string
	now       func() time.Time
}

// New makes a client. Without a base it speaks to TikTok itself, and no faster
// than that allows.
func New(o transport.Options) *Client {
	if o.Base == "" {
		o.Base, o.PerSecond = host, cmp.Or(o.PerSecond, callsPerSecond)
	}
	o.ReadError = readError
	return &Client{transport.New(o), o.Base, o.Now}
}

// About implements connection.Client.
//
// Choice: there are no scopes to ask for, because what an app may do is chosen
// in TikTok's portal, where it is registered.
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

// answer is what every call gives.
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

// errorClasses tell what can be done about TikTok's codes; those that are not here
// go by their first digit.
var errorClasses = map[int]connection.Class{
	40001: connection.Forbidden,
	40067: connection.TooLarge,
	40100: connection.Throttled,
	// Tokens do not expire by themselves, so whoever's token is not taken any
	// more has to be asked again.
	40102: connection.Revoked,
	40104: connection.Revoked,
	40105: connection.Revoked,
}

// readError implements transport.Options.Read.
func readError(status int, _ http.Header, body []byte, now time.Time) *connection.Error {
	var said struct {
		Code      int    `json:"code"`
		Message   string `json:"message"`
		RequestID string `json:"request_id"`
	}
	err := json.Unmarshal(body, &said)
	if err == nil && said.Code == 0 && status < http.StatusMultipleChoices {
		return nil
	}
	if err != nil && status < http.StatusMultipleChoices {
		return &connection.Error{Class: connection.Transient, Code: "malformed", Message: "TikTok's answer is not the JSON that it should be."}
	}
	e := &connection.Error{Class: connection.Transient, Code: strconv.Itoa(cmp.Or(said.Code, status)), Message: said.Message, RequestID: said.RequestID}
	switch class, known := errorClasses[said.Code]; {
	case known:
		e.Class = class
	case said.Code >= 40000 && said.Code < 50000:
		e.Class = connection.Refused
	case said.Code != 0 || status >= http.StatusInternalServerError:
	case status == http.StatusNotFound:
		// Choice: TikTok has not said how a version that is over answers. All
		// paths that are asked for exist, so one that does not is taken for it.
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

// retryTime is when TikTok takes calls again. Only its words tell which of the
// limits was hit: that of a day ends at midnight, that of a minute locks for
// five, that of a second for one.
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

// readPages reads a list to its end and returns how many it should have been.
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
	return &connection.Error{Class: connection.Drift, Code: "paging_drift", Message: message}
}

// account is what TikTok calls an advertiser.
type account struct {
	ID       string         `json:"advertiser_id"`
	Name     string         `json:"name"`
	Currency money.Currency `json:"currency"`
	// Timezone is an offset without summer time, DisplayTimezone the name of
	// a zone.
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

// jsonList is a list as TikTok takes it in a query.
func jsonList(list []string) string {
	b, err := json.Marshal(list)
	if err != nil {
		// Only text that is no UTF-8 cannot be written, and TikTok has none.
		return "[]"
	}
	return string(b)
}
