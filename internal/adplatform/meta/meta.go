// Package meta is the client of Meta Ads: the Marketing API, which is a part of
// the Graph API. It stores nothing.
package meta

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
)

// Version is the API version.
const Version = "v26.0"

// sunset is the last day of Version.
//
// Choice: Meta announces the day only after two newer versions. Versions of the
// Marketing API have lasted about a year, and this one was released on 29 July
// 2026.
var sunset = clock.MakeDate(2027, time.July, 29)

const (
	graphHost  = "https://graph.facebook.com"
	dialogHost = "https://www.facebook.com"
	// channel is the channel of all Meta ads.
	channel = "social"
)

// pageSize is the number of objects per page.
//
// Choice: large enough for few pages, small enough for a page within the
// timeout.
const pageSize = 500

// Client is the client of Meta Ads.
type Client struct {
	t      *transport.Transport
	dialog string
	now    func() time.Time
	sleep  func(ctx context.Context, d time.Duration) error
	log    *slog.Logger
	// warned has the texts of warnings that are in the log.
	warned sync.Map
}

var (
	_ connection.Client  = (*Client)(nil)
	_ connection.Grantor = (*Client)(nil)
)

// New returns a client. Without a base URL it calls Meta's hosts. With a base
// URL, the hosts are paths below it.
func New(o transport.Options) *Client {
	dialog := cmp.Or(o.Base, dialogHost)
	o.Base = cmp.Or(o.Base, graphHost)
	o.ReadError = readError
	if o.Sleep == nil {
		o.Sleep = transport.Sleep
	}
	return &Client{t: transport.New(o), dialog: dialog, now: o.Now, sleep: o.Sleep, log: o.Log}
}

// About implements connection.Client.
func (*Client) About() connection.About {
	return connection.About{
		Platform: connection.PlatformMetaAds, Name: "Meta Ads", Version: Version, Sunset: &sunset,
		// 37 months have at least 1,123 days.
		LookbackDays: 28, HistoryDays: 1123, WindowDays: 30,
		Levels: []connection.Level{
			connection.LevelAccount, connection.LevelCampaign, connection.LevelAd, connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice,
		},
		Scopes: []string{"ads_read"}, WriteScopes: []string{"ads_management"},
		Calls:  connection.CallCost{Entities: 4, Reports: map[connection.Level]int64{connection.LevelAccount: 1, connection.LevelCampaign: 1, connection.LevelAd: 1, connection.LevelGeo: 3, connection.LevelDemographic: 9, connection.LevelDevice: 2}, List: 1},
		Quotas: []connection.Quota{{Name: "Limited access to insights", Calls: 600, Seconds: 3600, Scope: connection.ScopeAccount}, {Name: "Full access to insights", Calls: 190_000, Seconds: 3600, Scope: connection.ScopeAccount}},
		Capabilities: []string{
			connection.CapabilityReadMetrics, connection.CapabilityReadCampaigns, connection.CapabilityWriteCampaigns,
			connection.CapabilityReadAudiences, connection.CapabilityReadCreative,
		},
	}
}

// call sends a call and waits as the usage headers of the answer require. The
// token is in a header, because URLs are written to logs. Apps can require the
// proof that the caller knows their secret.
func (c *Client) call(ctx context.Context, cred connection.Credentials, call transport.Call, out any) error {
	if call.Query == nil {
		call.Query = url.Values{}
	}
	call.Path = "/" + Version + call.Path
	call.Header = http.Header{"Authorization": {"Bearer " + cred.Access.Reveal()}}
	if key := cred.App.Secret.Reveal(); key != "" {
		proof := hmac.New(sha256.New, []byte(key))
		_, _ = proof.Write([]byte(cred.Access.Reveal()))
		call.Query.Set("appsecret_proof", hex.EncodeToString(proof.Sum(nil)))
	}
	header, err := c.t.Do(ctx, call, out)
	c.warnOfVersion(header)
	now := c.now()
	if until := readUsage(header).nextCall(now); until.After(now) {
		c.t.Hold(ctx, call.Account, until)
	}
	return err
}

// versionWarning is the header of an answer of another version than the
// requested one, which has ended
// (developers.facebook.com/docs/marketing-api/overview/versioning). The answer
// is right as far as the versions are alike.
const versionWarning = "X-Ad-Api-Version-Warning"

// warnOfVersion writes a warning to the log, each text once.
func (c *Client) warnOfVersion(header http.Header) {
	text := header.Get(versionWarning)
	if text == "" || c.log == nil {
		return
	}
	if _, before := c.warned.LoadOrStore(text, true); !before {
		c.log.Warn("platform API version has ended: update the server", "platform", connection.PlatformMetaAds, "version", Version, "said", text)
	}
}

// change sends a call that changes something. Meta can answer that it did not
// make a change with status 200, without an error and with success false
// (facebook-business 26.0.3, api.py, FacebookResponse.is_success).
func (c *Client) change(ctx context.Context, cred connection.Credentials, call transport.Call) error {
	var answer struct {
		Success *bool `json:"success"`
	}
	if err := c.call(ctx, cred, call, &answer); err != nil {
		return err
	}
	if answer.Success != nil && !*answer.Success {
		return &connection.Error{Class: connection.Transient, Code: "no_success", Message: "Meta did not make the change and gave no reason."}
	}
	return nil
}

// page is one page of a list.
type page[T any] struct {
	Data   []T `json:"data"`
	Paging struct {
		Next    string `json:"next"`
		Cursors struct {
			After string `json:"after"`
		} `json:"cursors"`
	} `json:"paging"`
	Summary struct {
		Impressions string `json:"impressions"`
	} `json:"summary"`
}

const (
	// maxRepeats is how often a cursor may repeat before the list counts as
	// endless.
	maxRepeats = 3
	// minPageSize is the shortest page that is requested if longer ones are too
	// large for Meta.
	minPageSize = 10
)

// listQuery is a list that is read by pages.
type listQuery struct {
	account, path string
	params        url.Values
	// shorten says to request shorter pages if Meta finds them too large.
	shorten bool
}

// readPages reads all pages of a list. Pages can be short or empty although more
// follow.
func readPages[T any](ctx context.Context, c *Client, cred connection.Credentials, l listQuery, each func(*page[T]) error) error {
	limit := pageSize
	asked := map[string]int{}
	for {
		l.params.Set("limit", strconv.Itoa(limit))
		var p page[T]
		err := c.call(ctx, cred, transport.Call{Method: http.MethodGet, Path: l.path, Query: l.params, Account: l.account}, &p)
		if l.shorten && connection.ClassOf(err) == connection.TooLarge && limit/2 >= minPageSize {
			limit /= 2
			continue
		}
		if err != nil {
			return err
		}
		if p.Data == nil {
			return malformedError("it has no list")
		}
		if err := each(&p); err != nil {
			return err
		}
		// The URL of the next page is not used: an answer must not decide where
		// a token is sent.
		if p.Paging.Next == "" {
			return nil
		}
		after := p.Paging.Cursors.After
		if asked[after]++; asked[after] > maxRepeats {
			return reportChanged("The pages of a list go in circles.")
		}
		l.params.Set("after", after)
	}
}

// readAll reads a whole list of an account.
func readAll[T any](ctx context.Context, c *Client, cred connection.Credentials, account, path string, params url.Values) (list []T, err error) {
	err = readPages(ctx, c, cred, listQuery{account, path, params, true}, func(p *page[T]) error {
		list = append(list, p.Data...)
		return nil
	})
	return list, err
}

// accountPath returns the path of an account.
func accountPath(account string) string { return "/act_" + url.PathEscape(account) }
