package google

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/language"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/fact"
)

// row is a row of an answer with all fields that any query selects.
type row struct {
	CustomerClient struct {
		ID              string `json:"id"`
		DescriptiveName string `json:"descriptiveName"`
		CurrencyCode    string `json:"currencyCode"`
		TimeZone        string `json:"timeZone"`
		Manager         bool   `json:"manager"`
		Status          string `json:"status"`
	} `json:"customerClient"`
	Campaign struct {
		ID           string `json:"id"`
		ResourceName string `json:"resourceName"`
		Name         string `json:"name"`
		Status       string `json:"status"`
		Type         string `json:"advertisingChannelType"`
	} `json:"campaign"`
	AdGroup struct {
		ID string `json:"id"`
	} `json:"adGroup"`
	AdGroupAd struct {
		Ad     ad     `json:"ad"`
		Status string `json:"status"`
	} `json:"adGroupAd"`
	AdGroupCriterion struct {
		UserList struct {
			UserList string `json:"userList"`
		} `json:"userList"`
		AgeRange struct {
			Type string `json:"type"`
		} `json:"ageRange"`
	} `json:"adGroupCriterion"`
	UserList struct {
		ID               string `json:"id"`
		Name             string `json:"name"`
		MembershipStatus string `json:"membershipStatus"`
		SizeForDisplay   *int64 `json:"sizeForDisplay,string"`
	} `json:"userList"`
	AssetGroup struct {
		ID        string   `json:"id"`
		Name      string   `json:"name"`
		Status    string   `json:"status"`
		FinalURLs []string `json:"finalUrls"`
	} `json:"assetGroup"`
	ConversionAction struct {
		Name string `json:"name"`
	} `json:"conversionAction"`
	GeographicView struct {
		CountryCriterionID string `json:"countryCriterionId"`
		LocationType       string `json:"locationType"`
	} `json:"geographicView"`
	Segments struct {
		Date             string `json:"date"`
		Device           string `json:"device"`
		ConversionAction string `json:"conversionAction"`
		ConversionName   string `json:"conversionActionName"`
	} `json:"segments"`
	Metrics metrics `json:"metrics"`
}

type ad struct {
	ID                 string   `json:"id"`
	Name               string   `json:"name"`
	FinalURLs          []string `json:"finalUrls"`
	ResponsiveSearchAd struct {
		Headlines []struct {
			Text string `json:"text"`
		} `json:"headlines"`
	} `json:"responsiveSearchAd"`
}

// displayName returns the name of the ad, or its headline: text ads have no
// name.
func (a *ad) displayName() string {
	if a.Name == "" && len(a.ResponsiveSearchAd.Headlines) > 0 {
		return a.ResponsiveSearchAd.Headlines[0].Text
	}
	return a.Name
}

// metrics has the metrics of a row. Absent ones are unknown.
type metrics struct {
	Impressions *int64 `json:"impressions,string"`
	Clicks      *int64 `json:"clicks,string"`
	CostMicros  *int64 `json:"costMicros,string"`
	VideoViews  *int64 `json:"videoTrueviewViews,string"`
	// Conversions and their value are decimals, which are read from their
	// digits.
	Conversions      jsontext.Value `json:"conversions"`
	ConversionsValue jsontext.Value `json:"conversionsValue"`
	// AllConversions and their value are read instead where conversion actions
	// are chosen.
	AllConversions      jsontext.Value `json:"allConversions"`
	AllConversionsValue jsontext.Value `json:"allConversionsValue"`
}

// The metrics of reports. conversionMetrics are the conversions that the account
// itself counts, chosenMetrics those of an action, whether the account counts it
// or not.
//
// Choice: video completions are only reported as a rate, which gives no
// integer, so they stay unknown.
const (
	countedMetrics    = "metrics.impressions, metrics.clicks, metrics.cost_micros, metrics.video_trueview_views"
	conversionMetrics = "metrics.conversions, metrics.conversions_value"
	chosenMetrics     = "metrics.all_conversions, metrics.all_conversions_value"
)

func (m *metrics) values() (fact.Values, error) {
	var v fact.Values
	for _, count := range [...]struct {
		measure fact.Measure
		n       *int64
	}{{fact.Impressions, m.Impressions}, {fact.Clicks, m.Clicks}, {fact.Spend, m.CostMicros}, {fact.VideoViews, m.VideoViews}} {
		if count.n != nil {
			v.Set(count.measure, *count.n)
		}
	}
	for _, float := range [...]struct {
		measure fact.Measure
		text    jsontext.Value
	}{
		{fact.Conversions, m.Conversions}, {fact.Revenue, m.ConversionsValue}, {fact.Conversions, m.AllConversions}, {fact.Revenue, m.AllConversionsValue},
	} {
		if float.text == nil {
			continue
		}
		n, ok := googleauth.Millionths(string(float.text))
		if !ok {
			return v, googleauth.MalformedAnswer("A figure in Google's report is no number.")
		}
		v.Set(float.measure, n)
	}
	return v, nil
}

var (
	ageRanges = map[string]string{
		"AGE_RANGE_18_24": "18-24", "AGE_RANGE_25_34": "25-34", "AGE_RANGE_35_44": "35-44",
		"AGE_RANGE_45_54": "45-54", "AGE_RANGE_55_64": "55-64", "AGE_RANGE_65_UP": "65+",
	}
	devices = map[string]string{
		"DESKTOP": "desktop", "MOBILE": "mobile", "TABLET": "tablet", "CONNECTED_TV": "tv", "OTHER": "other",
	}
)

// countryOf converts Google's number of a country: 2000 plus the number in ISO
// 3166. It returns an empty string for an unknown one.
func countryOf(criterion string) string {
	const countries = 2000
	n, err := strconv.Atoi(criterion)
	if err != nil {
		return ""
	}
	region, err := language.EncodeM49(n - countries)
	if err != nil || !fact.IsCountry(region.String()) {
		return ""
	}
	return region.String()
}
