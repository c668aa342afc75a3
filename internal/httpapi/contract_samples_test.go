package httpapi_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fanfare/internal/audience"
	"fanfare/internal/fanfaretest"
)

// samples are valid values that cannot be derived from the schema.
var samples = map[string]any{
	"amount": "100.00", "daily_cap": "0.01", "currency": "GBP", "timezone": "Europe/Berlin",
	"start_at": "2027-01-01T00:00:00Z", "end_at": "2027-02-01T09:30:00+01:00", "ends_at": "2027-01-20T00:00:00Z", "expires_at": "2027-01-20T00:00:00Z",
	"landing_url": "https://example.com/", "min_conversions": 10, "target": 1.5, "data_lost_at": nil,
	// The ends of a range must not cross, and two lists with a common limit
	// must not exceed it.
	"min": 13, "max": 120, "add": []any{}, "remove": []any{},
	// Only the tests of images generate images.
	"aspect_ratios": []any{}, "sizes": []any{},
	// Rows are broken down in one way at most, and then not by creative.
	"date": "2026-10-14", "country": nil, "age_range": nil, "gender": nil, "device": nil, "external_creative_id": nil, "creative_name": nil,
	// A question that is about what it selects, whatever is changed in it.
	"start_date": "2026-10-01", "end_date": "2026-10-31", "to": "custom", "match_weekday": false, "field": "campaign_id", "op": "contains",
	"order_by": []any{}, "empty_rows": false, "cursor": nil, "dry_run": false,
	// A sandbox can be connected without more, and has no account of this name.
	"platform": "sandbox", "accounts": []any{}, "links": []any{},
	// Tiles must not overlap and show a report or a query; no tag is added and
	// removed.
	"tiles": []any{}, "saved_view_id": nil, "add_tags": []any{}, "remove_tags": []any{}, "percent": 10,
	"client_email":                       "reporting@example.iam.gserviceaccount.com",
	"#/components/schemas/SyncModeInput": "backfill",
}

// apart are members that do not fit into samples, each with a function that
// adapts the sample.
var apart = map[string]func(body map[string]any){
	"credentials": func(body map[string]any) {
		if _, creates := body["platform"]; creates {
			body["platform"] = "meta_ads"
			delete(body, "config")
		}
	},
	// A key file is sent instead of tokens.
	"service_account": func(body map[string]any) {
		if _, creates := body["platform"]; creates {
			body["platform"] = "ga4"
		}
		body["credentials"] = map[string]any{}
	},
}

// inventedKey returns the private key of a service account that no platform
// knows.
var inventedKey = sync.OnceValue(func() string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
})

// withKeyFile adds the edges of a key file: no platform knows its key.
func withKeyFile(list map[string]string) map[string]string {
	list["type is service_account"] = "invalid_value"
	for _, member := range []string{
		"client_email", "private_key", "private_key_id", "project_id", "auth_uri", "token_uri", "auth_provider_x509_cert_url", "client_x509_cert_url", "universe_domain",
	} {
		for _, what := range []string{" longest", " longest in code points", " shortest"} {
			list[member+what] = "invalid_value"
		}
	}
	return list
}

// keys are the member names of objects with free members, if not every name is
// valid.
var keys = map[string]string{"mapping": "Notiz"}

// beside are the values that other members must have if a member has a value;
// nil means absent.
var beside = map[string]map[string]any{
	"op is eq": {"field": "channel", "values": []any{"search"}}, "op is ne": {"field": "channel", "values": []any{"search"}},
	"op is in": {"field": "channel", "values": []any{"search"}}, "op is not_in": {"field": "channel", "values": []any{"search"}},
	"op is between": {"values": []any{"a", "b"}}, "op is is_null": {"values": nil}, "op is is_not_null": {"values": nil},
	"to is previous_period": {"date_range": nil}, "to is previous_year": {"date_range": nil},
	"platform is google_ads": {"config": nil}, "platform is meta_ads": {"config": nil}, "platform is tiktok_ads": {"config": nil},
	"platform is linkedin_ads": {"config": nil}, "platform is ga4": {"config": nil}, "platform is microsoft_ads": {"config": nil},
	"mode is incremental": {"start_date": nil, "end_date": nil}, "mode is full": {"start_date": nil, "end_date": nil},
}

// beyond are edges that the schema allows but that are rejected by rules that a
// schema cannot express, with their code.
var beyond = withKeyFile(map[string]string{
	"values empty": "too_few_items", "mode is all": "incompatible_fields", "order_by most": "duplicate_item", "order_by twice the same": "duplicate_item", "mapping most keys": "not_found",
	"rates most": "duplicate_item", "rates twice the same": "duplicate_item",
	// Invented tokens, accounts and entities do not exist on any platform.
	"access_token longest": "invalid_value", "access_token longest in code points": "invalid_value", "access_token shortest": "invalid_value",
	"refresh_token longest": "invalid_value", "refresh_token longest in code points": "invalid_value", "refresh_token shortest": "invalid_value",
	"client_id longest": "invalid_value", "client_id longest in code points": "invalid_value", "client_id shortest": "invalid_value",
	"client_secret longest": "invalid_value", "client_secret longest in code points": "invalid_value", "client_secret shortest": "invalid_value",
	"accounts most": "not_found", "accounts twice the same": "not_found", "links most": "not_found", "links twice the same": "not_found",
	"external_id longest": "not_found", "external_id longest in code points": "not_found", "external_id shortest": "not_found",
	"kind is campaign": "not_found", "kind is creative": "not_found", "kind is audience": "not_found",
	"record_id null": "not_found", "record_id longest": "not_found", "record_id longest in code points": "not_found", "record_id shortest": "not_found",
})

// stricter are members with more rules than a schema can say: the limits of a
// channel, the path of a line. Tests of the slice check these rules.
var stricter = map[string]string{"updateVariant": "content", "regenerateVariantLine": "field", "createDashboard": "tiles", "updateDashboard": "tiles"}

// absent are values of the contract that only some installations support.
var absent = map[string][]string{"provider": {"openai", "anthropic", "gemini"}}

// broad are edges that are rejected for their total size, with the member that
// is measured.
var broad = map[string]string{"values too many": "filters", "and too many": "filters", "or too many": "filters", "filters too many": "filters"}

// shape describes the texts of a pattern or format.
type shape struct {
	// wrong are invalid texts with their error code.
	wrong []struct{ text, code string }
	// item returns a valid text for each number, nil if any text is valid.
	item func(i int) string
	// start is the prefix of a valid text.
	start string
}

var shapes = map[string]shape{
	"":                        {},
	`\S`:                      {wrong: breaks("too_short", " ", "\t\n ", "\u00a0")},
	`^https://`:               {start: "https://example.com/", wrong: breaks("invalid_format", "http://example.com", "ftp://example.com")},
	`^(https://|/v1/assets/)`: {start: "https://example.com/", wrong: breaks("invalid_format", "http://example.com", "logo.png", "/v1/campaigns/")},
	`^[A-Z]{3}$`:              {wrong: breaks("invalid_value", "eur", "EURO", "")},
	`^[A-Z]{2}$`:              {item: country, wrong: breaks("invalid_value", "de", "DEU", "ZZ", "EU", "UK", "")},
	`^\d{1,13}(\.\d{1,6})?$`:  {wrong: breaks("invalid_format", "a lot", "1,000.00", "1.2345678", "12345678901234", "1.", ".5", "1e3", "+1")},
	`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`: {
		item: language, wrong: breaks("invalid_format", "en_US", "12", "e1", "en-", "en--US", "en-US-GB", "english", "en US"),
	},
	`^[0-9a-f]{64}$`: {
		item: hash, wrong: breaks("invalid_format", "ada@example.com", "+491701234567", strings.ToUpper(hash(10)), hash(1)[1:], hash(1)+"0", "0x"+hash(1)[2:], " "+hash(1)[1:], ""),
	},
	`^\d{4}-\d{2}-\d{2}$`: {
		item:  func(i int) string { return fmt.Sprintf("2026-11-%02d", 1+i%14) },
		wrong: breaks("invalid_format", "yesterday", "2026-02-30", "2026-11-14T00:00:00Z", "20261114", "2026-W46-6", "14.11.2026", "2026-11-1"),
	},
	`^\d{1,16}$`:               {wrong: slices.Concat(breaks("invalid_format", "a lot", "1,000", "+1", "1e3", " 1", ""), breaks("too_small", "-1"))},
	`^-?\d{1,10}(\.\d{1,6})?$`: {item: decimal, wrong: breaks("invalid_format", "a lot", "1,5", "1.2345678", ".5", "1.", "+1", "1e3", "--1", "-", "")},
	`^\d{1,8}(\.\d{1,8})?$`:    {item: decimal, wrong: slices.Concat(breaks("invalid_format", "a lot", "1,5", "1.123456789", ".5", "1.", "+1", "1e3", ""), breaks("too_small", "-1", "0.0"))},
	`^\d{10}$`:                 {item: func(i int) string { return fmt.Sprintf("%010d", i) }, wrong: breaks("invalid_format", "123-456-7890", "123456789", "12345678901", "abcdefghij")},
	`^[.,]$`:                   {item: func(int) string { return "," }, wrong: breaks("invalid_value", ";", "..", "")},
	`^[YMD][YMD./, -]{6,12}$`:  {item: func(int) string { return "DD.MM.YYYY" }, wrong: breaks("invalid_value", "dd.mm.yyyy", "DDMMYY", "YYYY-DD-MM", "")},
	`^#[0-9a-fA-F]{6}$`:        {item: func(i int) string { return fmt.Sprintf("#%06x", i) }, wrong: breaks("invalid_format", "red", "#fff", "1b4332", "#12345g", "")},
	"date-time": {
		item:  func(i int) string { return fmt.Sprintf("2027-01-01T%02d:00:00Z", i%24) },
		wrong: breaks("invalid_format", "2027-01-01", "2027-01-01T00:00:00", "2027-02-30T00:00:00Z", "2027-W01-1T00:00:00Z", "20270101T000000Z", "2027-01-01 00:00:00Z", "2027-01-01T0:00:00.5Z", "2027-01-01T00:00:00,5Z", "2027-01-01T00:00:00+25:00"),
	},
}

func breaks(code string, texts ...string) (list []struct{ text, code string }) {
	for _, text := range texts {
		list = append(list, struct{ text, code string }{text, code})
	}
	return list
}

func decimal(i int) string { return fmt.Sprintf("%d.25", i+1) }

func hash(i int) string { return fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i >> 8), byte(i)})) }

// language returns a tag that contains a number as letters.
func language(i int) string { return fmt.Sprintf("%c%c", 'a'+i/26%26, 'a'+i%26) }

// country is one of those there are.
func country(i int) string {
	for code := range 26 * 26 {
		name := strings.ToUpper(language(code))
		if audience.IsCountry(name) {
			if i--; i < 0 {
				return name
			}
		}
	}
	panic("there are not so many countries")
}

// longest are valid texts of the maximum length, if characters are restricted.
var longest = map[string]string{`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`: "sl-rozaj-biske-1994-abcdefgh-ijklmn"}

// maker creates valid request bodies.
type maker struct {
	t      testing.TB
	tenant *fanfaretest.Tenant
	// known are existing ids by the name of the member that refers to them.
	known map[string]string
	// names counts the names used so far, so that each is used once.
	names int
}

func newMaker(t testing.TB, tenant *fanfaretest.Tenant) *maker {
	return &maker{t: t, tenant: tenant, known: map[string]string{}}
}

// collections maps members to the collections of the records that they refer
// to.
var collections = map[string]string{
	"seed_audience_id": "/v1/audiences", "audience_id": "/v1/audiences", "campaign_id": "/v1/campaigns", "creative_id": "/v1/creative", "asset_id": "/v1/assets",
	"like_variant_id": "/v1/variants", "photo_asset_id": "/v1/assets", "logo_asset_id": "/v1/assets",
}

// realID returns the id of a record that a member may refer to.
func (m *maker) realID(member string) string {
	if id := m.known[member]; id != "" {
		return id
	}
	if collections[member] == "" {
		m.t.Fatalf("nobody knows a record that %s could refer to", member)
	}
	m.known[member] = newRecord(m.tenant, collections[member])
	return m.known[member]
}

// isReference reports whether a member is the id of another record.
func isReference(ref *openapi3.SchemaRef) bool {
	return ref != nil && slices.Contains([]string{"#/components/schemas/Id", "#/components/schemas/IdInputOrNull", "#/components/schemas/LikeVariantId", "#/components/schemas/PhotoAssetId", recordID}, ref.Ref)
}

// recordID is a reference of which there may be several that exclude each
// other, so that none is as right as one.
const recordID = "#/components/schemas/RecordId"

// sample returns a valid value.
func (m *maker) sample(name string, ref *openapi3.SchemaRef) any {
	ref = first(ref)
	s := ref.Value
	if v, ok := samples[name]; ok {
		return v
	}
	if v, ok := samples[ref.Ref]; ok {
		return v
	}
	switch {
	case name == "name":
		m.names++
		return fmt.Sprintf("Edge %d", m.names)
	case name == "private_key":
		return inventedKey()
	case ref.Ref == recordID:
		return nil
	case isReference(ref):
		return m.realID(name)
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type.Includes("object"):
		o := map[string]any{}
		for member, ref := range s.Properties {
			if !ref.Value.ReadOnly && apart[member] == nil {
				o[member] = m.sample(member, ref)
			}
		}
		if more := s.AdditionalProperties.Schema; more != nil {
			o[keyOf(name, s)] = m.sample("", more)
		}
		return o
	case s.Type.Includes("array"):
		if isReference(s.Items) {
			return []any{}
		}
		return m.several(s.Items, 1)
	case s.Type.Includes("boolean"):
		return true
	case s.Type.Includes("integer"):
		return int64(*s.Min)
	}
	return m.text(s, 0)
}

// text returns a valid text for each number.
func (m *maker) text(s *openapi3.Schema, i int) string {
	for _, rule := range []string{s.Pattern, s.Format} {
		if known, ok := shapes[rule]; !ok {
			m.t.Errorf("nobody knows what is right for %q", rule)
		} else if known.item != nil {
			return known.item(i)
		}
	}
	return shapes[s.Pattern].start + fmt.Sprintf("item-%d", i)
}

// several returns a number of items, distinct ones if the schema allows it.
func (m *maker) several(items *openapi3.SchemaRef, n int) []any {
	list := make([]any, n)
	for i := range list {
		switch s := items.Value; {
		case isReference(items):
			list[i] = fmt.Sprintf("item-%d", i)
		case len(s.Enum) > 0:
			list[i] = s.Enum[i%len(s.Enum)]
		case s.Type != nil && s.Type.Includes("string"):
			list[i] = m.text(s, i)
		default:
			list[i] = m.sample("", items)
		}
	}
	return list
}

// keyOf returns a valid member name of an object with free members.
func keyOf(name string, s *openapi3.Schema) string {
	if keys[name] != "" {
		return keys[name]
	}
	if s.PropertyNames != nil && len(s.PropertyNames.Value.Enum) > 0 {
		return s.PropertyNames.Value.Enum[0].(string)
	}
	return "key"
}

// choices returns the alternatives of a schema.
func choices(s *openapi3.Schema) openapi3.SchemaRefs { return slices.Concat(s.OneOf, s.AnyOf) }

// first returns the schema without alternatives: the first one if it has any.
func first(ref *openapi3.SchemaRef) *openapi3.SchemaRef {
	for len(choices(ref.Value)) > 0 {
		ref = choices(ref.Value)[0]
	}
	return ref
}

// Marks on alternatives: the types that those beside it have, and the member
// in which it differs from the first.
const (
	markTaken = "x-taken"
	markOnly  = "x-only"
)

// alternatives lists the alternatives of a schema, each without oneOf or anyOf.
// The first takes the first option of every choice, each of the others differs
// from it in one choice. A recursive schema is expanded once.
func alternatives(ref *openapi3.SchemaRef, within ...*openapi3.Schema) []*openapi3.SchemaRef {
	if list := choices(ref.Value); len(list) > 0 {
		if slices.Contains(within, ref.Value) {
			list = list[:1]
		}
		var all []*openapi3.SchemaRef
		for _, choice := range list {
			all = append(all, alternatives(choice, append(within, ref.Value)...)...)
		}
		return all
	}
	base, others := *ref.Value, map[string][]*openapi3.SchemaRef{}
	base.Properties = maps.Clone(base.Properties)
	for name, p := range ref.Value.Properties {
		options := marked(alternatives(p, within...))
		base.Properties[name], others[name] = options[0], options[1:]
	}
	list := []*openapi3.SchemaRef{{Ref: ref.Ref, Value: &base}}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		for _, option := range others[name] {
			other := base
			other.Properties = maps.Clone(base.Properties)
			other.Properties[name], other.Extensions = option, map[string]any{markOnly: name}
			list = append(list, &openapi3.SchemaRef{Value: &other})
		}
	}
	return list
}

// marked marks each of several options with the types that all of them have.
func marked(options []*openapi3.SchemaRef) []*openapi3.SchemaRef {
	if len(options) == 1 {
		return options
	}
	var taken []string
	for _, o := range options {
		taken = append(taken, o.Value.Type.Slice()...)
	}
	list := make([]*openapi3.SchemaRef, len(options))
	for i, o := range options {
		schema := *o.Value
		schema.Extensions = map[string]any{markTaken: taken}
		list[i] = &openapi3.SchemaRef{Ref: o.Ref, Value: &schema}
	}
	return list
}

// fitting makes a call on a record that takes the body: of the kinds that the
// contract shows how to create, the first that does.
func (m *maker) fitting(op *fanfaretest.Operation, body any) call {
	collection, rest, _ := strings.Cut(op.Path, "/{id}")
	home := fanfaretest.TheContract().Doc.Paths.Find(collection)
	if op.Method != http.MethodPatch || rest != "" || home == nil || home.Post == nil {
		return goodCall(m.tenant, op)
	}
	content := home.Post.RequestBody.Value.Content["application/json"]
	if content == nil {
		return goodCall(m.tenant, op)
	}
	answer := ""
	for _, name := range slices.Sorted(maps.Keys(content.Examples)) {
		made := m.tenant.Do(http.MethodPost, collection, m.referring("", content.Examples[name].Value.Value)).Want(201)
		c := call{method: op.Method, target: collection + "/" + made.ID(), body: body}
		res := c.by(m.tenant.Client)
		if res.Status < 300 {
			return c
		}
		answer += name + ": " + string(res.Body) + "\n"
	}
	m.t.Fatalf("no record that the contract shows how to create takes %v:\n%s", body, answer)
	return call{}
}

// referring replaces the references of an example with existing ids.
func (m *maker) referring(name string, v any) any {
	switch v := v.(type) {
	case string:
		if collections[name] != "" {
			return m.realID(name)
		}
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = m.referring(name, item)
		}
		return list
	case map[string]any:
		o := map[string]any{}
		for member, item := range v {
			o[member] = m.referring(member, item)
		}
		return o
	}
	return v
}
