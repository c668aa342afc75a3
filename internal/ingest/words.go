package ingest

import (
	"slices"
	"strings"
)

// synonyms are the column names of each field, best first. If two columns match
// the same field, the better one gets it.
//
// Choice: ad groups and ad sets are read as audiences, because they have the
// targeting, and because rows of two ad groups would otherwise be duplicates.
var synonyms = map[string][]string{
	"date":                 {"day", "by day", "reporting starts", "start date", "date start", "send date", "send time", "sent date", "stat time day", "datum", "tag", "jour", "fecha"},
	"end_date":             {"reporting ends", "date stop"},
	"currency":             {"currency code", "account currency", "währung"},
	"account_id":           {"ad account id", "customer id", "external customer id", "advertiser id"},
	"channel":              {"campaign type", "campaign channel", "advertising channel type", "kanal"},
	"external_campaign_id": {"campaign id", "kampagnen id"},
	"campaign_name":        {"campaign", "campaign title", "kampagne", "kampagnenname"},
	"external_creative_id": {"ad id", "creative id", "anzeigen id"},
	"creative_name":        {"ad name", "ad", "creative", "anzeige", "anzeigenname"},
	"external_audience_id": {"ad set id", "adset id", "ad group id", "audience id", "list id"},
	"audience_name":        {"ad set name", "adset name", "ad group name", "ad group", "ad set", "audience", "list", "segment", "anzeigengruppe", "zielgruppe"},
	"country":              {"country/territory", "country code", "land"},
	"age_range":            {"age", "age group", "alter"},
	"gender":               {"sex", "geschlecht"},
	"device":               {"device type", "impression device", "device platform", "gerät"},
	"impressions":          {"impr.", "impr", "impressionen", "total impressions"},
	"clicks":               {"link clicks", "clicks (destination)", "unique clicks", "total clicks", "clicks (all)", "klicks"},
	"spend":                {"amount spent", "cost", "total spent", "total spend", "ad spend", "costs", "kosten", "ausgaben", "ausgegebener betrag"},
	"conversions":          {"conv.", "purchases", "website purchases", "total conversions", "unique placed order", "total orders", "orders", "results", "conversionen"},
	"revenue":              {"conv. value", "conversion value", "conversions value", "total conversion value", "purchases conversion value", "website purchases conversion value", "total purchase value", "total revenue", "sales", "umsatz"},
	"leads":                {"total leads"},
	"engagements":          {"total engagements", "post engagements", "post engagement"},
	"video_views":          {"views", "video plays", "3-second video plays"},
	"video_completions":    {"video plays at 100%", "video views at 100%", "completions"},
	"sends":                {"sent", "total recipients", "recipients", "emails sent"},
	"deliveries":           {"delivered", "successful deliveries"},
	"opens":                {"unique opens", "total opens", "opened"},
	"bounces":              {"total bounces", "bounced"},
	"unsubscribes":         {"unsubscribed", "unsubs", "abmeldungen"},
	"complaints":           {"abuse complaints", "spam complaints", "spam reports"},
	"reach":                {"reichweite"},
}

// named is the field and the rank of a column name.
type named struct {
	field field
	rank  int
}

// byWord maps normalized names to fields.
var byWord = func() map[string]named {
	words := map[string]named{}
	for i, name := range fieldNames {
		words[normalizeName(name)] = named{field(i), 0}
	}
	for name, list := range synonyms {
		for i, word := range list {
			// Only the API's own ids have exactly these names. Their values
			// decide.
			if _, taken := words[normalizeName(word)]; !taken {
				words[normalizeName(word)] = named{fieldsByName[name], i + 1}
			}
		}
	}
	return words
}()

// allWords are the names that a misspelled name is compared with.
var allWords = func() []string {
	words := make([]string, 0, len(byWord))
	for w := range byWord {
		words = append(words, w)
	}
	slices.Sort(words)
	return words
}()

// normalizeName normalizes a column name.
func normalizeName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == ' ' || r == '_' || r == '\t' || r == '\u00a0' || r == '\n' || r == '\r' }), " ")
}

// splitBracket splits a suffix in brackets, such as a currency, off a
// normalized name.
func splitBracket(name string) (base, bracket string) {
	open := strings.LastIndexByte(name, '(')
	if open <= 0 || !strings.HasSuffix(name, ")") {
		return name, ""
	}
	return strings.TrimSpace(name[:open]), name[open+1 : len(name)-1]
}

// template is a known platform export, recognized by its columns.
type template struct {
	name string
	// all columns and one of any must exist.
	all, any []string
	// channel is the default channel of rows.
	channel string
	// columns overrides the fields of column names.
	columns map[string]string
	// dateFormat is the date format if it is ambiguous.
	dateFormat string
}

// templates are checked in order. Google's exports name their channel only in
// the campaign type, if at all.
var templates = []template{
	{name: "mailchimp", all: []string{"successful deliveries", "abuse complaints"}, channel: "email", columns: map[string]string{"title": "campaign_name", "unique id": "external_campaign_id", "total orders": "conversions", "total revenue": "revenue"}},
	{name: "klaviyo", all: []string{"total recipients", "spam complaints"}, channel: "email"},
	{name: "tiktok_ads", all: []string{"cost", "impressions"}, any: []string{"clicks (destination)", "cpc (destination)", "ctr (destination)"}, channel: "social"},
	{name: "linkedin_ads", all: []string{"total spent", "impressions"}, any: []string{"campaign group name", "start date", "account name"}, channel: "social", dateFormat: "MM/DD/YYYY"},
	{name: "meta_ads", all: []string{"amount spent"}, any: []string{"reporting starts", "campaign name", "ad set name", "ad name"}, channel: "social"},
	{name: "google_ads", all: []string{"cost", "impr."}, any: []string{"campaign", "campaign id", "ad group"}},
}

// recognizeTemplate returns the template of a set of columns.
func recognizeTemplate(columns []string) *template {
	there := map[string]bool{}
	for _, c := range columns {
		name := normalizeName(c)
		base, _ := splitBracket(name)
		there[name], there[base] = true, true
	}
	has := func(name string) bool { return there[name] }
	for i := range templates {
		t := &templates[i]
		if !slices.ContainsFunc(t.all, func(name string) bool { return !has(name) }) && (t.any == nil || slices.ContainsFunc(t.any, has)) {
			return t
		}
	}
	return nil
}

// templateOf returns a template by name.
func templateOf(name *string) *template {
	for i := range templates {
		if name != nil && templates[i].name == *name {
			return &templates[i]
		}
	}
	return nil
}

// values maps words in exports to values of fields.
var values = map[field]map[string]string{
	fieldChannel: withSpellings(map[string]string{
		"search":    "search network, paid search, sem, ppc, shopping",
		"social":    "paid social, social media, facebook, instagram, linkedin, tiktok",
		"display":   "display network, banner, programmatic, performance max, demand gen, discovery",
		"video":     "youtube",
		"email":     "e-mail, newsletter",
		"sms":       "text message, mms",
		"push":      "push notification, mobile push, web push",
		"affiliate": "affiliates",
	}),
	fieldGender: withSpellings(map[string]string{
		"female": "f, w, woman, women, weiblich", "male": "m, man, men, männlich", "other": "non-binary, divers",
		"unknown": "undetermined, uncategorized, not specified, unbekannt",
	}),
	fieldAgeRange: withSpellings(map[string]string{"65+": "65 or more, 65 and over, over 65, 65-up", "unknown": "undetermined, unbekannt"}),
	fieldDevice: withSpellings(map[string]string{
		"desktop": "computer, computers", "mobile": "mobile phone, mobile phones, mobile devices with full browsers, smartphone, smartphones, mobile app, mobile web, iphone, android smartphone, phone",
		"tablet": "tablets, tablets with full browsers, ipad, android tablet", "tv": "tv screens, connected tv, ctv", "unknown": "undetermined, uncategorized",
	}),
	fieldCountry: {"uk": "GB"},
}

// withSpellings inverts the map from value to words.
func withSpellings(words map[string]string) map[string]string {
	out := map[string]string{}
	for value, list := range words {
		for word := range strings.SplitSeq(list, ", ") {
			out[word] = value
		}
	}
	return out
}
