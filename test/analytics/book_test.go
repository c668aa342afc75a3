// Package analytics_test asks the whole service for numbers and checks every
// one of them against a second opinion: the rows that were sent, added up in
// the plainest way. It shares no code with what it judges.
package analytics_test

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"
)

// measures are what rows count.
var measures = []string{
	"impressions", "clicks", "spend", "conversions", "revenue", "leads", "engagements", "video_views", "video_completions",
	"sends", "deliveries", "opens", "bounces", "unsubscribes", "complaints", "reach",
}

// row is a daily row as it is sent: its words and its numbers, as text.
type row struct {
	words    map[string]string
	measures map[string]string
}

// place is what there is one row of.
type place struct {
	connection, account, family  string
	day                          day
	channel                      string
	campaign, creative, audience string
	country, age, gender, device string
}

// entity is something on a platform.
type entity struct{ external, name, record string }

// thing says which entity is meant.
type thing struct{ connection, kind, key string }

// account is what an account's numbers are in.
type account struct{ currency, zone string }

// record is one of ours.
type record struct {
	id, kind, name, status, objective, form string
	tags                                    []string
	flight                                  *flight
}

// flight is what a campaign is planned to spend.
type flight struct {
	start, end *day
	daily      bool
	amount     *big.Rat
	currency   string
}

// source is a connection.
type source struct{ id, name, platform string }

// quote is the day of a rate.
type quote struct {
	currency string
	day      day
}

// book is everything that was sent to a workspace.
type book struct {
	currency string
	zone     string
	now      func() time.Time

	lines    map[place]map[string]*big.Rat
	entities map[thing]entity
	records  map[string]record
	sources  map[string]source
	accounts map[[2]string]account
	// rates are what a euro was worth.
	rates map[quote]*big.Rat
}

func newBook(now func() time.Time) *book {
	return &book{
		currency: "USD", zone: "UTC", now: now, lines: map[place]map[string]*big.Rat{}, entities: map[thing]entity{}, records: map[string]record{},
		sources: map[string]source{}, accounts: map[[2]string]account{}, rates: map[quote]*big.Rat{},
	}
}

// copied is the book as it is now.
func (b *book) copied() *book {
	c := *b
	c.lines, c.entities, c.records = maps.Clone(b.lines), maps.Clone(b.entities), maps.Clone(b.records)
	c.sources, c.accounts, c.rates = maps.Clone(b.sources), maps.Clone(b.accounts), maps.Clone(b.rates)
	return &c
}

// placeOf is where a row of a connection belongs.
func placeOf(connection string, r row) place {
	w := r.words
	p := place{
		connection: connection, account: cmp.Or(w["account_id"], "default"), family: "base", day: parseDay(w["date"]), channel: cmp.Or(w["channel"], "other"),
		campaign: keyOf("campaign", r), creative: keyOf("creative", r), audience: keyOf("audience", r),
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

// keyOf tells an entity from others of its connection: the source's own id,
// else ours, else its name.
func keyOf(kind string, r row) string {
	return cmp.Or(r.words["external_"+kind+"_id"], r.words[kind+"_id"], r.words[kind+"_name"])
}

// take notes rows; each replaces the one at its place.
func (b *book) take(connection string, a account, rows []row) {
	for _, r := range rows {
		p := placeOf(connection, r)
		if _, known := b.accounts[[2]string{connection, p.account}]; !known {
			b.accounts[[2]string{connection, p.account}] = a
		}
		for _, kind := range []string{"campaign", "creative", "audience"} {
			key := keyOf(kind, r)
			if key == "" {
				continue
			}
			t := thing{connection, kind, key}
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
			values[name] = number(text)
		}
		b.lines[p] = values
	}
}

func number(text string) *big.Rat {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("no number: " + text)
	}
	return n
}

// replace empties the days of accounts and families, then takes the rows.
func (b *book) replace(connection string, a account, days span, rows []row) {
	emptied := map[[2]string]bool{}
	for _, r := range rows {
		p := placeOf(connection, r)
		for _, other := range rows {
			emptied[[2]string{p.account, placeOf(connection, other).family}] = true
		}
	}
	for p := range b.lines {
		if p.connection == connection && days.has(p.day) && emptied[[2]string{p.account, p.family}] {
			delete(b.lines, p)
		}
	}
	b.take(connection, a, rows)
}

// view is a line as a row of a result sees it: under one of its campaign's
// tags where rows are by tag.
type view struct {
	place
	tag string
}

// known is what is known of the entity that a line names.
func (b *book) known(p place, kind string) entity {
	key := map[string]string{"campaign": p.campaign, "creative": p.creative, "audience": p.audience}[kind]
	return b.entities[thing{p.connection, kind, key}]
}

// values are what a line has in a dimension, none where it has nothing.
func (b *book) values(v view, dimension string, byTag bool) []string {
	if dimension == "tag" && !byTag {
		return b.records[b.known(v.place, "campaign").record].tags
	}
	kind, _, _ := strings.Cut(dimension, "_")
	e := b.known(v.place, kind)
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
		text = b.records[b.known(v.place, "campaign").record].objective
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

// views are the lines of some days that a question is about.
func (b *book) views(q *question, days span) []view {
	byTag := slices.Contains(q.Dimensions, "tag")
	family := q.family()
	var list []view
	for p := range b.lines {
		if p.family != family || !days.has(p.day) {
			continue
		}
		tags := []string{""}
		if own := b.records[b.known(p, "campaign").record].tags; byTag && len(own) > 0 {
			tags = own
		}
		for _, tag := range tags {
			v := view{p, tag}
			of := func(dimension string) []string { return b.values(v, dimension, byTag) }
			if q.filter == nil || q.filter.holds(of) {
				list = append(list, v)
			}
		}
	}
	return list
}
