package analytics_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	accounts "fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ratelimit"
)

// full says that the long forms of the drills are wanted.
var full = os.Getenv("FANFARE_DRILL") == "full"

// seedEnv repeats a drill.
const seedEnv = "FANFARE_DRILL_SEED"

// seeded returns chance that can be repeated, and says how.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(seedEnv); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	t.Logf("repeat with %s=%d", seedEnv, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// boot starts the service with no limit on how often it may be asked.
func boot(t testing.TB) *fanfaretest.World {
	t.Helper()
	return fanfaretest.New(t, nil, func(c *app.Config) {
		c.Limits[accounts.Enterprise] = ratelimit.Limits{PerMinute: 1 << 30, InFlight: 1 << 10}
	})
}

// world is a workspace, and a book of everything that was sent to it.
type world struct {
	*fanfaretest.Tenant
	*book
	t testing.TB
	r *rand.Rand

	campaigns, creatives, audiences []string
	// today is when the world begins.
	today day
	feeds []feed
}

// feed is a source that rows are sent under, and what belongs to it.
type feed struct {
	name, platform, id string
	account            account
	accounts           []string
	things             map[string][]entity
}

func newWorld(t testing.TB, r *rand.Rand) *world {
	t.Helper()
	w := boot(t)
	g := &world{Tenant: w.Tenant(accounts.Enterprise), book: newBook(w.Clock.Now), t: t, r: r}
	g.makeRecords()
	// Flights that begin at the launch are some days old.
	g.World.Clock.Advance(time.Duration(24*(2+r.IntN(9))) * time.Hour)
	g.today = dayOf(g.now())
	g.setRates()
	g.feeds = []feed{
		{name: "shop", platform: "api", account: account{"USD", "UTC"}, accounts: []string{"", "second"}},
		{name: "Nordic ads", platform: "api", account: account{"SEK", "Europe/Stockholm"}, accounts: []string{"kampanj"}},
		{name: "mailer", platform: "api", account: account{"EUR", "UTC"}, accounts: []string{""}},
		{name: "agency", platform: "csv", account: account{"JPY", "Asia/Tokyo"}, accounts: []string{"", "tokyo"}},
	}
	for i := range g.feeds {
		g.makeThings(&g.feeds[i])
	}
	dollars := g.feeds[0].things
	dollars["campaign"] = append(dollars["campaign"], entity{record: g.campaigns[7]}, entity{external: "paced", record: g.campaigns[8]})
	for range 3 {
		for i := range g.feeds {
			g.send(&g.feeds[i])
		}
	}
	return g
}

func (g *world) one(list ...string) string { return list[g.r.IntN(len(list))] }

// chance is true in so many of a hundred cases.
func (g *world) chance(percent int) bool { return g.r.IntN(100) < percent }

var objectives = []string{"awareness", "traffic", "leads", "sales"}

// names are what people call things; some differ only by case, some look like
// patterns or formulas.
var names = []string{"Winter Sale", "winter sale", "BF 100%", "_under_score", "Ünïcode Straße", "=SUM(A1)", "Ωmega", "a,b \"c\"", "Zug", "'; DROP TABLE base; --"}

// makeRecords makes campaigns, creatives and audiences. The last two campaigns
// have a plan and spend in its currency; the one before them has no numbers.
func (g *world) makeRecords() {
	for i := range 9 {
		name := names[i%len(names)]
		tags := []string{}
		for _, tag := range []string{"bf", "brand", "q4"} {
			if g.chance(40) {
				tags = append(tags, tag)
			}
		}
		objective := g.one(objectives...)
		body := map[string]any{"name": name, "tags": tags, "objective": objective}
		var f *flight
		if planned := i > 6; planned || g.chance(70) {
			f = &flight{daily: g.chance(50), amount: number(strconv.Itoa(100 + g.r.IntN(9000))), currency: g.one("USD", "EUR", "SEK", "GBP")}
			if planned {
				f.daily, f.currency = i == 7, "USD"
			}
			form := "lifetime"
			if f.daily {
				form = "daily"
			}
			body["budget"] = map[string]any{"type": form, "amount": f.amount.FloatString(2), "currency": f.currency}
			if i == 8 || g.chance(60) {
				end := dayOf(g.now()) + day(g.r.IntN(60))
				f.end = &end
				body["schedule"] = map[string]any{"end_at": end.time().Add(23 * time.Hour).Format(time.RFC3339)}
			}
		}
		id := g.Do("POST", "/v1/campaigns", body).Want(201).ID()
		g.campaigns = append(g.campaigns, id)
		r := record{id: id, kind: "campaign", name: name, status: "draft", objective: objective, tags: tags, flight: f}
		if i%7 < 4 {
			g.Do("POST", "/v1/campaigns/"+id+"/launch", nil).Want(200)
			r.status = "active"
			if start := dayOf(g.now()); f != nil {
				f.start = &start
			}
			if i%7 == 3 {
				g.Do("POST", "/v1/campaigns/"+id+"/pause", nil).Want(200)
				r.status = "paused"
			}
		}
		g.records[id] = r
	}
	for i := range 5 {
		name := names[(i+3)%len(names)]
		form := []string{"text", "email"}[i%2]
		content := map[string]any{"headline": "Come in", "body": "We are open."}
		id := g.Do("POST", "/v1/creative", map[string]any{"name": name, "type": form, "content": content}).Want(201).ID()
		g.creatives = append(g.creatives, id)
		g.records[id] = record{id: id, kind: "creative", name: name, status: "ready", form: form}
	}
	for i := range 3 {
		name := names[(i+5)%len(names)]
		id := g.Do("POST", "/v1/audiences", map[string]any{"name": name}).Want(201).ID()
		g.audiences = append(g.audiences, id)
		g.records[id] = record{id: id, kind: "audience", name: name, status: "ready"}
	}
}

// setRates stores rates with gaps, and reads back which days have one.
func (g *world) setRates() {
	var list []map[string]any
	for d := g.today - 1120; d <= g.today; d++ {
		for _, c := range []string{"USD", "SEK", "JPY"} {
			if c == "SEK" && d.time().Month() == time.May || c == "JPY" && d.time().Year() == 2024 || g.chance(10) {
				continue
			}
			rate := 1 + g.r.Float64()*map[string]float64{"USD": 0.4, "SEK": 11, "JPY": 160}[c]
			list = append(list, map[string]any{"date": d.String(), "currency": c, "rate": strconv.FormatFloat(rate, 'f', 1+g.r.IntN(8), 64)})
		}
	}
	for some := range slices.Chunk(list, 1000) {
		g.Do("POST", "/v1/rates", map[string]any{"rates": some}).Want(200)
	}
	g.readRates()
	for _, sent := range list {
		k := quote{sent["currency"].(string), parseDay(sent["date"].(string))}
		if got, want := g.rates[k], number(sent["rate"].(string)); got == nil || got.Cmp(want) != 0 {
			g.t.Fatalf("rate of %v: got %v want %v", k, got, want)
		}
	}
}

func (g *world) readRates() {
	cursor := ""
	for {
		page := g.Do("GET", "/v1/rates?limit=100"+cursor, nil).Want(200).List()
		for _, r := range page.Data {
			g.rates[quote{r["currency"].(string), parseDay(r["date"].(string))}] = number(r["rate"].(string))
		}
		if page.NextCursor == nil {
			return
		}
		cursor = "&cursor=" + url.QueryEscape(*page.NextCursor)
	}
}

// makeThings are what a source has on its platform: some linked to ours, some
// with a name alone, some without one.
func (g *world) makeThings(f *feed) {
	f.things = map[string][]entity{}
	for kind, ours := range map[string][]string{"campaign": g.campaigns[:6], "creative": g.creatives[:4], "audience": g.audiences[:2]} {
		for i := range 5 {
			e := entity{external: fmt.Sprintf("%s-%d", kind[:2], i)}
			switch i {
			case 0, 1:
				e.record = g.one(ours...)
				if g.chance(50) {
					e.external = ""
				}
			case 2:
				e.external, e.name = "", g.one(names...)
			case 3:
				e.name = g.one(names...)
			}
			f.things[kind] = append(f.things[kind], e)
		}
	}
}

var (
	channels  = []string{"search", "social", "display", "email"}
	countries = []string{"DE", "SE", "US", "JP"}
	ages      = []string{"18-24", "25-34", "65+", "unknown"}
	genders   = []string{"female", "male", "unknown"}
	devices   = []string{"desktop", "mobile", "tv"}
)

// someDay is mostly of the last weeks, sometimes a year or more before.
func (g *world) someDay() day {
	d := g.today - day(g.r.IntN(45))
	switch n := g.r.IntN(10); {
	case n < 2:
		d -= 365
	case n == 2:
		d = date(2024, 2, 28) + day(g.r.IntN(3))
	case n == 3:
		d = g.today - day(g.r.IntN(1100))
	case n == 4:
		d = g.today + day(g.r.IntN(3))
	}
	return d
}

// someRow is a row that fits the source.
func (g *world) someRow(f *feed, d day) row {
	w := map[string]string{"date": d.String()}
	if a := g.one(f.accounts...); a != "" {
		w["account_id"] = a
	}
	if g.chance(90) {
		w["channel"] = g.one(channels...)
	}
	family := g.r.IntN(7)
	switch family {
	case 0:
		w["country"] = g.one(countries...)
	case 1:
		w["age_range"] = g.one(ages...)
		if g.chance(60) {
			w["gender"] = g.one(genders...)
		}
	case 2:
		w["device"] = g.one(devices...)
	}
	for kind, list := range f.things {
		if kind == "creative" && family < 3 || g.chance(25) {
			continue
		}
		e := list[g.r.IntN(len(list))]
		maps.Copy(w, words(kind, e))
	}
	m := map[string]string{}
	for _, name := range measures {
		switch n := g.r.IntN(100); {
		case n < 45:
			continue
		case name == "spend" || name == "revenue" || name == "conversions":
			m[name] = strconv.FormatFloat(g.r.Float64()*1000, 'f', g.r.IntN(7), 64)
			if n > 92 {
				m[name] = "-" + m[name]
			}
		default:
			m[name] = strconv.Itoa(g.r.IntN(10_000))
		}
	}
	if len(m) == 0 {
		m["impressions"] = "0"
	}
	return row{w, m}
}

func words(kind string, e entity) map[string]string {
	w := map[string]string{}
	for name, text := range map[string]string{kind + "_id": e.record, "external_" + kind + "_id": e.external, kind + "_name": e.name} {
		if text != "" {
			w[name] = text
		}
	}
	return w
}

// someRows have no two of one place.
func (g *world) someRows(f *feed, n int, in func() day) []row {
	var rows []row
	seen := map[place]bool{}
	for range n {
		r := g.someRow(f, in())
		if p := placeOf(f.id, r); !seen[p] {
			seen[p] = true
			rows = append(rows, r)
		}
	}
	return rows
}

// send brings rows in: new ones, corrections of old ones, whole days anew.
func (g *world) send(f *feed) {
	// Platforms rename, and people link, what has numbers already.
	if things := f.things["campaign"]; g.chance(50) {
		i := g.r.IntN(2) + 3
		things[i].name = g.one(names...)
		if g.chance(30) {
			things[i].record = g.one(g.campaigns[:6]...)
		}
	}
	if f.platform == "csv" {
		g.upload(f, g.someRows(f, 80, g.someDay))
		return
	}
	switch rows := g.someRows(f, 60, g.someDay); {
	case f.id != "" && g.chance(40):
		first := g.today - day(g.r.IntN(40))
		days := span{first, first + day(g.r.IntN(10))}
		rows := g.someRows(f, 30, func() day { return days.first + day(g.r.IntN(int(days.days()))) })
		rows = slices.DeleteFunc(rows, func(r row) bool { return parseDay(r.words["date"]) > g.today+2 })
		g.post(f, rows, fmt.Sprintf("&mode=replace&start_date=%s&end_date=%s", days.first, days.last))
		g.replace(f.id, f.account, days, rows)
	default:
		g.post(f, rows, "")
		g.take(f.id, f.account, rows)
	}
}

// target is where a feed's rows go.
func (f *feed) target() string {
	return "/v1/ingest/metrics?" + url.Values{"source": {f.name}, "currency": {f.account.currency}, "timezone": {f.account.zone}}.Encode()
}

// post sends rows and wants all of them stored.
func (g *world) post(f *feed, rows []row, more string) {
	g.t.Helper()
	var res struct {
		ConnectionID string `json:"connection_id"`
		Accepted     int    `json:"accepted"`
	}
	g.Do("POST", f.target()+more, g.encode(rows)).Want(200).Data(&res)
	if res.Accepted != len(rows) {
		g.t.Fatalf("accepted: got %d want %d", res.Accepted, len(rows))
	}
	g.connect(f, res.ConnectionID)
}

func (g *world) connect(f *feed, id string) {
	f.id = id
	g.sources[id] = source{id, f.name, f.platform}
}

// encode writes rows as JSON; a number may be written as text.
func (g *world) encode(rows []row) []byte {
	list := make([]map[string]any, len(rows))
	for i, r := range rows {
		list[i] = map[string]any{}
		for name, text := range r.words {
			list[i][name] = text
		}
		for _, name := range measures {
			text, known := r.measures[name]
			switch {
			case known && g.chance(30):
				list[i][name] = text
			case known:
				list[i][name] = json.Number(text)
			case g.chance(10):
				list[i][name] = nil
			}
		}
	}
	b, err := json.Marshal(list)
	if err != nil {
		g.t.Fatal(err)
	}
	return b
}

// upload brings rows in as a file.
func (g *world) upload(f *feed, rows []row) {
	g.t.Helper()
	target := "/v1/imports?" + url.Values{"source": {f.name}, "currency": {f.account.currency}, "timezone": {f.account.zone}, "commit": {"true"}, "filename": {"rows.csv"}}.Encode()
	var res struct {
		Status       string  `json:"status"`
		ConnectionID *string `json:"connection_id"`
		RowsWritten  *int    `json:"rows_written"`
	}
	answer := g.Do("POST", target, table(rows), "Content-Type: text/csv").Want(201)
	answer.Data(&res)
	if res.Status != "committed" || res.RowsWritten == nil || *res.RowsWritten != len(rows) {
		g.t.Fatalf("import of %d rows: got %s", len(rows), answer.Body)
	}
	g.connect(f, *res.ConnectionID)
	g.take(f.id, f.account, rows)
}

// table writes rows as CSV.
func table(rows []row) []byte {
	columns := []string{
		"date", "account_id", "channel", "campaign_id", "external_campaign_id", "campaign_name", "creative_id", "external_creative_id", "creative_name",
		"audience_id", "external_audience_id", "audience_name", "country", "age_range", "gender", "device",
	}
	columns = append(columns, measures...)
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(columns)
	for _, r := range rows {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = r.words[c] + r.measures[c]
		}
		_ = w.Write(cells)
	}
	w.Flush()
	return b.Bytes()
}

// stir changes records, as people do while numbers come in.
func (g *world) stir() {
	const merge = "Content-Type: application/merge-patch+json"
	switch id := g.one(g.campaigns...); g.r.IntN(4) {
	case 0:
		g.learn(g.Do("PATCH", "/v1/campaigns/"+id, map[string]any{"name": g.one(names...)}, merge))
	case 1:
		g.learn(g.Do("PATCH", "/v1/campaigns/"+id, map[string]any{"tags": []string{g.one("bf", "brand", "q4", "new")}}, merge))
	case 2:
		id = g.one(g.creatives...)
		g.learn(g.Do("PATCH", "/v1/creative/"+id, map[string]any{"name": g.one(names...)}, merge))
	default:
		g.send(&g.feeds[g.r.IntN(len(g.feeds))])
	}
}

// learn notes how a record looks after a change, which may have made more of
// it: a campaign whose end has passed is completed.
func (g *world) learn(res *fanfaretest.Response) {
	g.t.Helper()
	var now struct {
		ID     string   `json:"id"`
		Name   string   `json:"name"`
		Status string   `json:"status"`
		Tags   []string `json:"tags"`
	}
	res.Want(200).Data(&now)
	r := g.records[now.ID]
	r.name, r.status = now.Name, now.Status
	if r.kind == "campaign" {
		r.tags = now.Tags
	}
	g.records[now.ID] = r
}
