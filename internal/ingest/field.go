package ingest

import (
	"slices"

	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// field is a field of a row.
type field uint8

// The fields that are not measures. The measures follow in the order of package
// fact, then the fields that only files have.
const (
	fieldDate field = iota
	fieldAccount
	fieldChannel
	fieldCampaign
	fieldExternalCampaign
	fieldCampaignName
	fieldCreative
	fieldExternalCreative
	fieldCreativeName
	fieldAudience
	fieldExternalAudience
	fieldAudienceName
	fieldCountry
	fieldAgeRange
	fieldGender
	fieldDevice
	firstMeasure
)

const (
	// fieldEndDate is the last day of a row. It must equal the first day,
	// because a fact is about one day.
	fieldEndDate = firstMeasure + fact.NumMeasures + iota
	// fieldCurrency is the currency of a row's amounts. It must be the currency
	// of the import.
	fieldCurrency
	numFields
)

// fieldNames are the names of the fields, in order.
var fieldNames = slices.Concat(
	[]string{
		"date", "account_id", "channel", "campaign_id", "external_campaign_id", "campaign_name", "creative_id", "external_creative_id", "creative_name",
		"audience_id", "external_audience_id", "audience_name", "country", "age_range", "gender", "device",
	},
	fact.Measures,
	[]string{"end_date", "currency"},
)

// Fields are the fields of a row sent to the API. FileFields are the fields
// that a column can have.
var (
	Fields     = fieldNames[:fieldEndDate]
	FileFields = fieldNames
)

var fieldsByName = func() map[string]field {
	byName := make(map[string]field, len(fieldNames))
	for i, name := range fieldNames {
		byName[name] = field(i)
	}
	return byName
}()

func (f field) String() string { return fieldNames[f] }

// measure returns the measure of the field, if it is one.
func (f field) measure() (fact.Measure, bool) {
	return fact.Measure(f - firstMeasure), f >= firstMeasure && f < fieldEndDate
}

// choices are the allowed values of fields with a fixed set.
var choices = map[field][]string{
	fieldChannel: fact.Channels, fieldAgeRange: fact.AgeRanges, fieldGender: fact.Genders, fieldDevice: fact.Devices,
}

// family returns the family of a breakdown field.
func (f field) family() fact.Family {
	switch f {
	case fieldCountry:
		return fact.Geo
	case fieldAgeRange, fieldGender:
		return fact.Demographic
	case fieldDevice:
		return fact.Device
	default:
		return fact.Base
	}
}

// link describes how a row refers to a record.
type link struct {
	field field
	kind  string
	// prefixes are the allowed id prefixes.
	prefixes []string
	entity   func(*fact.Row) *fact.Entity
}

var links = []link{
	{fieldCampaign, fact.KindCampaign, []string{ident.Campaign}, func(r *fact.Row) *fact.Entity { return &r.Campaign }},
	{fieldCreative, fact.KindCreative, []string{ident.Creative, ident.Variant}, func(r *fact.Row) *fact.Entity { return &r.Creative }},
	{fieldAudience, fact.KindAudience, []string{ident.Audience}, func(r *fact.Row) *fact.Entity { return &r.Audience }},
}

// fits reports whether an id can be one of such a record.
func (l *link) fits(id string) bool {
	return slices.ContainsFunc(l.prefixes, func(prefix string) bool { return ident.Valid(prefix, id) })
}

// kindOf distinguishes variants from creatives. Rows can name both.
func (l *link) kindOf(id ident.ID) string {
	if ident.Valid(ident.Variant, string(id)) {
		return KindVariant
	}
	return l.kind
}
