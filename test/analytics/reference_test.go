// Package analytics_test queries the whole service and checks every number
// against an independent computation: the rows that were sent, added up in the
// simplest way. It shares no code with the service.
package analytics_test

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"
)

// measures are the measures of rows.
var measures = []string{
	"impressions", "clicks", "spend", "conversions", "revenue", "leads", "engagements", "video_views", "video_completions",
	"sends", "deliveries", "opens", "bounces", "unsubscribes", "complaints", "reach",
}

// row is a daily row as it is sent: its fields and its numbers, as text.
type row struct {
	words    map[string]string
	measures map[string]string
}

// rowKey identifies a row; a later row with the same key replaces it.
type rowKey struct {
	connection, account, family  string
	day                          day
	channel                      string
	campaign, creative, audience string
	country, age, gender, device string
}

// entity is a campaign, creative or audience on a platform.
type entity struct{ external, name, record string }

// entityKey identifies an entity.
type entityKey struct{ connection, kind, key string }

// account has the currency and the time zone of an account.
type account struct{ currency, zone string }

// record is a campaign, creative or audience of the service.
type record struct {
	id, kind, name, status, objective, form string
	tags                                    []string
	flight                                  *flight
}

// flight is the planned spend of a campaign.
type flight struct {
	start, end *day
	daily      bool
	amount     *big.Rat
	currency   string
}

// source is a connection.
type source struct{ id, name, platform string }

// rateDay is the day of a rate.
type rateDay struct {
	currency string
	day      day
}

// referenceData is everything that was sent to a workspace.
type referenceData struct {
	currency string
	zone     string
	now      func() time.Time

	rows     map[rowKey]map[string]*big.Rat
	entities map[entityKey]entity
	records  map[string]record
	sources  map[string]source
	accounts map[[2]string]account
	// rates are the values of one euro.
	rates map[rateDay]*big.Rat
}

func newReferenceData(now func() time.Time) *referenceData {
	return &referenceData{
		currency: "USD", zone: "UTC", now: now, rows: map[rowKey]map[string]*big.Rat{}, entities: map[entityKey]entity{}, records: map[string]record{},
		sources: map[string]source{}, accounts: map[[2]string]account{}, rates: map[rateDay]*big.Rat{},
	}
}

// clone returns a copy.
func (b *referenceData) clone() *referenceData {
	c := *b
	c.rows, c.entities, c.records = maps.Clone(b.rows), maps.Clone(b.entities), maps.Clone(b.records)
	c.sources, c.accounts, c.rates = maps.Clone(b.sources), maps.Clone(b.accounts), maps.Clone(b.rates)
	return &c
}

// rowKeyOf returns the key of a row of a connection.
func rowKeyOf(connection string, r row) rowKey {
	w := r.words
	p := rowKey{
		connection: connection, account: cmp.Or(w["account_id"], "default"), family: "base", day: parseDay(w["date"]), channel: cmp.Or(w["channel"], "other"),
		campaign: entityKeyOf("campaign", r), creative: entityKeyOf("creative", r), audience: entityKeyOf("audience", r),
		country: w["country"], age: w["age_range"], gender: w["gender"], device: w["device"],
	}
	switch {
	case p.country != "":
		p.family = "geo"
	case p.age != "" || p.gender != "":
		p.family = "demographic"
	case p.device != "":
		p.family = "device"
	}
	return p
}

// entityKeyOf returns the key of an entity within its connection: the source's
// id, else the record's id, else its name.
func entityKeyOf(kind string, r row) string {
	return cmp.Or(r.words["external_"+kind+"_id"], r.words[kind+"_id"], r.words[kind+"_name"])
}

// addRows adds rows; each replaces the row with the same key.
func (b *referenceData) addRows(connection string, a account, rows []row) {
	for _, r := range rows {
		p := rowKeyOf(connection, r)
		if _, known := b.accounts[[2]string{connection, p.account}]; !known {
			b.accounts[[2]string{connection, p.account}] = a
		}
		for _, kind := range []string{"campaign", "creative", "audience"} {
			key := entityKeyOf(kind, r)
			if key == "" {
				continue
			}
			t := entityKey{connection, kind, key}
			e := b.entities[t]
			e.record = cmp.Or(r.words[kind+"_id"], e.record)
			e.name = cmp.Or(r.words[kind+"_name"], e.name)
			e.external = cmp.Or(r.words["external_"+kind+"_id"], e.external)
			if r.words["external_"+kind+"_id"] == "" && r.words[kind+"_id"] == "" {
				e.external = key
			}
			b.entities[t] = e
		}
		values := map[string]*big.Rat{}
		for name, text := range r.measures {
			values[name] = parseNumber(text)
		}
		b.rows[p] = values
	}
}

func parseNumber(text string) *big.Rat {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("no number: " + text)
	}
	return n
}

// replaceRows deletes the days of accounts and families, then adds the rows.
func (b *referenceData) replaceRows(connection string, a account, days span, rows []row) {
	emptied := map[[2]string]bool{}
	for _, r := range rows {
		p := rowKeyOf(connection, r)
		for _, other := range rows {
			emptied[[2]string{p.account, rowKeyOf(connection, other).family}] = true
		}
	}
	for p := range b.rows {
		if p.connection == connection && days.has(p.day) && emptied[[2]string{p.account, p.family}] {
			delete(b.rows, p)
		}
	}
	b.addRows(connection, a, rows)
}

// taggedRow is a row in a result: with one of its campaign's tags if the result
// is by tag.
type taggedRow struct {
	rowKey
	tag string
}

// entityOf returns the entity that a row names.
func (b *referenceData) entityOf(p rowKey, kind string) entity {
	key := map[string]string{"campaign": p.campaign, "creative": p.creative, "audience": p.audience}[kind]
	return b.entities[entityKey{p.connection, kind, key}]
}

// dimensionValues returns the values of a row in a dimension, empty if it has
// none.
func (b *referenceData) dimensionValues(v taggedRow, dimension string, byTag bool) []string {
	if dimension == "tag" && !byTag {
		return b.records[b.entityOf(v.rowKey, "campaign").record].tags
	}
	kind, _, _ := strings.Cut(dimension, "_")
	e := b.entityOf(v.rowKey, kind)
	ours := b.records[e.record]
	var text string
	switch dimension {
	case "campaign_id", "creative_id", "audience_id":
		text = e.record
	case "campaign_name", "creative_name", "audience_name":
		text = cmp.Or(ours.name, e.name)
	case "campaign_status":
		text = ours.status
	case "objective":
		text = b.records[b.entityOf(v.rowKey, "campaign").record].objective
	case "creative_type":
		text = ours.form
	case "tag":
		text = v.tag
	case "channel":
		text = v.channel
	case "platform":
		text = b.sources[v.connection].platform
	case "connection_id":
		text = v.connection
	case "account_id":
		text = v.account
	case "country":
		text = v.country
	case "age_range":
		text = v.age
	case "gender":
		text = v.gender
	case "device":
		text = v.device
	case "weekday":
		text = v.day.weekday()
	default:
		panic("no dimension " + dimension)
	}
	if text == "" {
		return nil
	}
	return []string{text}
}

// matchingRows returns the rows of some days that match a query.
func (b *referenceData) matchingRows(q *testQuery, days span) []taggedRow {
	byTag := slices.Contains(q.Dimensions, "tag")
	family := q.family()
	var list []taggedRow
	for p := range b.rows {
		if p.family != family || !days.has(p.day) {
			continue
		}
		tags := []string{""}
		if own := b.records[b.entityOf(p, "campaign").record].tags; byTag && len(own) > 0 {
			tags = own
		}
		for _, tag := range tags {
			v := taggedRow{p, tag}
			of := func(dimension string) []string { return b.dimensionValues(v, dimension, byTag) }
			if q.filter == nil || q.filter.matches(of) {
				list = append(list, v)
			}
		}
	}
	return list
}
