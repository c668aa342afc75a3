package sandbox

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/clock"
)

const (
	// ga4PropertiesPerAccount is the number of properties of an account.
	ga4PropertiesPerAccount = 12
	ga4DefaultPage          = 50
	ga4MaxPage              = 200
	// ga4ShortPage is the largest number of resources that a page really has:
	// the Admin API may return fewer than requested while there are more.
	ga4ShortPage = 5
)

// property returns the property with an id, nil if there is none.
func (v ga4Viewer) property(id string) *Account {
	i := slices.IndexFunc(v.list, func(a *Account) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return v.list[i]
}

func (v ga4Viewer) refuses(a *Account) bool { return v.Behaves(a, "one_property_403") }
func (v ga4Viewer) trashed(a *Account) bool { return v.Behaves(a, "trashed_property") }

// propertyType returns the type of a property. A roll-up property and a
// subproperty have the data of the first property of the grant.
func (v ga4Viewer) propertyType(a *Account) string {
	switch {
	case a != v.list[0] && v.Behaves(a, "rollup_property"):
		return "PROPERTY_TYPE_ROLLUP"
	case a != v.list[0] && v.Behaves(a, "subproperty"):
		return "PROPERTY_TYPE_SUBPROPERTY"
	}
	return "PROPERTY_TYPE_ORDINARY"
}

// source returns the property that the data of a property is from.
func (v ga4Viewer) source(a *Account) *Account {
	if v.propertyType(a) != "PROPERTY_TYPE_ORDINARY" {
		return v.list[0]
	}
	return a
}

// accountOf returns the name of the account that has a property. An account has
// the id of its first property.
func (v ga4Viewer) accountOf(a *Account) string {
	i := slices.Index(v.list, a)
	return "accounts/" + v.list[i-i%ga4PropertiesPerAccount].ID
}

func (v ga4Viewer) parentOf(a *Account) string {
	if v.propertyType(a) == "PROPERTY_TYPE_SUBPROPERTY" {
		return "properties/" + v.list[0].ID
	}
	return v.accountOf(a)
}

// ga4Page returns a page of a list and the token of the next page. It returns an
// error message if a parameter is wrong.
func ga4Page(all []any, q url.Values) (page []any, next, wrong string) {
	size, from := ga4DefaultPage, 0
	var err error
	if text := q.Get("pageSize"); text != "" {
		if size, err = strconv.Atoi(text); err != nil || size < 0 {
			return nil, "", "Invalid value at 'page_size'."
		}
	}
	if text := q.Get("pageToken"); text != "" {
		if from, err = strconv.Atoi(text); err != nil || from < 0 || from > len(all) {
			return nil, "", "The page token is invalid."
		}
	}
	if size == 0 {
		size = ga4DefaultPage
	}
	end := min(from+min(size, ga4MaxPage, ga4ShortPage), len(all))
	if end < len(all) {
		next = strconv.Itoa(end)
	}
	return all[from:end], next, ""
}

// ga4List answers a page of a list.
func ga4List(name string, all []any, q url.Values) (int, any) {
	page, next, wrong := ga4Page(all, q)
	if wrong != "" {
		return ga4Invalid(wrong)
	}
	answer := map[string]any{name: page}
	if next != "" {
		answer["nextPageToken"] = next
	}
	return http.StatusOK, answer
}

// accounts returns the accounts of the properties.
func (v ga4Viewer) accounts() (all []any) {
	for some := range slices.Chunk(v.list, ga4PropertiesPerAccount) {
		created := ga4Midnight(some[0].First-1, time.UTC)
		all = append(all, map[string]any{
			"name": v.accountOf(some[0]), "displayName": some[0].Name, "regionCode": some[0].countries[0], "createTime": created, "updateTime": created,
		})
	}
	return all
}

func (v ga4Viewer) listAccounts(q url.Values) (int, any) { return ga4List("accounts", v.accounts(), q) }

func (v ga4Viewer) getAccount(id string) (int, any) {
	for _, account := range v.accounts() {
		if of, _ := account.(map[string]any); of["name"] == "accounts/"+id {
			return http.StatusOK, account
		}
	}
	return ga4Denied()
}

// listDataStreams lists the data streams of a property: one website.
func (v ga4Viewer) listDataStreams(a *Account, q url.Values) (int, any) {
	created := ga4Midnight(a.First-1, time.UTC)
	return ga4List("dataStreams", []any{map[string]any{
		"name": "properties/" + a.ID + "/dataStreams/" + a.ID + "1", "type": "WEB_DATA_STREAM", "displayName": a.Name, "createTime": created, "updateTime": created,
		"webStreamData": map[string]any{"measurementId": "G-" + strings.ToUpper(strconv.FormatInt(int64(a.First), 36)+a.ID), "defaultUri": a.Campaigns[0].URL},
	}}, q)
}

// accountSummaries lists the accounts with their properties, also those that
// refuse to be read.
func (v ga4Viewer) accountSummaries(q url.Values) (int, any) {
	all := v.emptyAccounts()
	for some := range slices.Chunk(v.list, ga4PropertiesPerAccount) {
		account := v.accountOf(some[0])
		properties := []any{}
		for _, a := range some {
			properties = append(properties, map[string]any{
				"property": "properties/" + a.ID, "displayName": a.Name, "propertyType": v.propertyType(a), "parent": v.parentOf(a), "canEdit": false,
			})
		}
		all = append(all, map[string]any{
			"name": "accountSummaries/" + strings.TrimPrefix(account, "accounts/"), "account": account, "displayName": some[0].Name, "propertySummaries": properties,
		})
	}
	return ga4List("accountSummaries", all, q)
}

// listProperties lists the properties of an account, without those that refuse
// to be read and, unless requested, those in the trash.
func (v ga4Viewer) listProperties(q url.Values) (int, any) {
	kind, parent, ok := strings.Cut(q.Get("filter"), ":")
	if !ok || kind != "parent" && kind != "ancestor" {
		return ga4Invalid("The filter is invalid: it must be parent:, ancestor: or firebase_project:.")
	}
	all := []any{}
	for _, a := range v.list {
		of := v.parentOf(a)
		if kind == "ancestor" {
			of = v.accountOf(a)
		}
		if of == parent && !v.refuses(a) && (!v.trashed(a) || q.Get("showDeleted") == "true") {
			all = append(all, v.propertyResource(a))
		}
	}
	return ga4List("properties", all, q)
}

// propertyResource returns a property.
func (v ga4Viewer) propertyResource(a *Account) any {
	created := ga4Midnight(a.First-1, time.UTC)
	p := map[string]any{
		"name": "properties/" + a.ID, "parent": v.parentOf(a), "account": v.accountOf(a), "displayName": a.Name,
		"currencyCode": v.currency(a), "timeZone": v.zone(a).String(), "propertyType": v.propertyType(a),
		"serviceLevel": "GOOGLE_ANALYTICS_STANDARD", "industryCategory": "SHOPPING", "createTime": created, "updateTime": created,
	}
	if v.trashed(a) {
		p["deleteTime"] = v.Now().Add(-24 * time.Hour).UTC().Format(time.RFC3339)
		p["expireTime"] = v.Now().Add(34 * 24 * time.Hour).UTC().Format(time.RFC3339)
	}
	return p
}

// ga4Midnight returns the beginning of a day in a time zone.
func ga4Midnight(day clock.Date, zone *time.Location) string {
	year, month, date := day.Calendar()
	return time.Date(year, month, date, 0, 0, 0, 0, zone).UTC().Format(time.RFC3339)
}

// zone returns the time zone of a property now. After a change, days of the past
// stay those of the former zone.
func (v ga4Viewer) zone(a *Account) *time.Location {
	if !v.Behaves(a, "timezone_changed") {
		return a.zone
	}
	for _, name := range []string{"Asia/Tokyo", "America/New_York"} {
		if zone, err := clock.Zone(name); err == nil && name != a.zone.String() {
			return zone
		}
	}
	return time.UTC
}

// today returns the current day in the time zone of a property.
func (v ga4Viewer) today(a *Account) clock.Date { return clock.DateIn(v.Now(), v.zone(a)) }

// currency returns the currency of a property now.
func (v ga4Viewer) currency(a *Account) string {
	if !v.Behaves(a, "currency_changed") {
		return a.Set.Currency
	}
	if a.Set.Currency == "USD" {
		return "EUR"
	}
	return "USD"
}

// ga4Rates are the values of currencies in millionths of a dollar.
//
// Choice: the rates never change. Amounts in any other currency are not
// converted.
var ga4Rates = map[string]int64{"USD": 1_000_000, "EUR": 1_100_000, "GBP": 1_300_000, "CHF": 1_200_000, "JPY": 7_000}

// ga4Convert converts an amount between currencies.
func ga4Convert(amount int64, from, to string) int64 {
	if from == to || ga4Rates[from] == 0 || ga4Rates[to] == 0 {
		return amount
	}
	if amount < 0 {
		return -ga4Convert(-amount, from, to)
	}
	return mulDiv(amount, ga4Rates[from], ga4Rates[to])
}

// Key events of every property, and their shares of all key events.
const (
	ga4Purchase   = "purchase"
	ga4Lead       = "generate_lead"
	ga4LeadTenths = 3
	// ga4LeadDays is for how long leads have been key events if the switch
	// key_event_added is on.
	ga4LeadDays = 10
)

// leadsCountFrom returns the first day on which leads count as key events.
func (v ga4Viewer) leadsCountFrom(a *Account) clock.Date {
	if v.Behaves(a, "key_event_added") {
		return v.Today(a) - ga4LeadDays
	}
	return a.First
}

// listKeyEvents lists the key events of a property.
func (v ga4Viewer) listKeyEvents(a *Account, q url.Values) (int, any) {
	event := func(id, name, method string, from clock.Date, custom bool) any {
		return map[string]any{
			"name": "properties/" + a.ID + "/keyEvents/" + id, "eventName": name, "createTime": ga4Midnight(from, v.zone(a)),
			"countingMethod": method, "deletable": custom, "custom": custom,
		}
	}
	return ga4List("keyEvents", []any{
		event("1", ga4Purchase, "ONCE_PER_EVENT", a.First, false),
		event("2", ga4Lead, "ONCE_PER_SESSION", v.leadsCountFrom(a), true),
	}, q)
}
