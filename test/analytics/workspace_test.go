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

// fullDrill selects the long forms of the drills.
var fullDrill = os.Getenv("FANFARE_DRILL") == "full"

// seedEnv repeats a drill.
const seedEnv = "FANFARE_DRILL_SEED"

// seededRand returns a random source and logs its seed.
func seededRand(t testing.TB) *rand.Rand {
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

// startService starts the service without rate limits. Options can change the
// configuration.
func startService(t testing.TB, options ...func(*app.Config)) *fanfaretest.Service {
	t.Helper()
	return fanfaretest.New(t, nil, append(options, func(c *app.Config) {
		c.Limits[accounts.Enterprise] = ratelimit.Limits{PerMinute: 1 << 30, InFlight: 1 << 10}
	})...)
}

// testWorkspace is a workspace with the reference data of what was sent to it.
type testWorkspace struct {
	*fanfaretest.Tenant
	*referenceData
	t testing.TB
	r *rand.Rand

	campaigns, creatives, audiences []string
	// today is the first day of the test.
	today day
	feeds []feed
}

// feed is a source of rows with its entities.
type feed struct {
	name, platform, id string
	account            account
	accounts           []string
	entities           map[string][]entity
}

func newTestWorkspace(t testing.TB, r *rand.Rand, options ...func(*app.Config)) *testWorkspace {
	t.Helper()
	w := startService(t, options...)
	g := &testWorkspace{Tenant: w.Tenant(accounts.Enterprise), referenceData: newReferenceData(w.Clock.Now), t: t, r: r}
	g.makeRecords()
	// Flights that start at the launch are some days old.
	g.Service.Clock.Advance(time.Duration(24*(2+r.IntN(9))) * time.Hour)
	g.today = dayOf(g.now())
	g.setRates()
	g.feeds = []feed{
		{name: "shop", platform: "api", account: account{"USD", "UTC"}, accounts: []string{"", "second"}},
		{name: "Nordic ads", platform: "api", account: account{"SEK", "Europe/Stockholm"}, accounts: []string{"kampanj"}},
		{name: "mailer", platform: "api", account: account{"EUR", "UTC"}, accounts: []string{""}},
		{name: "agency", platform: "csv", account: account{"JPY", "Asia/Tokyo"}, accounts: []string{"", "tokyo"}},
	}
	for i := range g.feeds {
		g.makeEntities(&g.feeds[i])
	}
	dollars := g.feeds[0].entities
	dollars["campaign"] = append(dollars["campaign"], entity{record: g.campaigns[7]}, entity{external: "paced", record: g.campaigns[8]})
	for range 3 {
		for i := range g.feeds {
			g.send(&g.feeds[i])
		}
	}
	return g
}

func (g *testWorkspace) pickOne(list ...string) string { return list[g.r.IntN(len(list))] }

// withProbability is true in so many of a hundred cases.
func (g *testWorkspace) withProbability(percent int) bool { return g.r.IntN(100) < percent }

var objectives = []string{"awareness", "traffic", "leads", "sales"}

// names are names of records; some differ only by case, some look like patterns
// or formulas.
var names = []string{"Winter Sale", "winter sale", "BF 100%", "_under_score", "Ünïcode Straße", "=SUM(A1)", "Ωmega", "a,b \"c\"", "Zug", "'; DROP TABLE base; --"}

// makeRecords creates campaigns, creatives and audiences. The last two
// campaigns have a plan and spend in its currency; the one before them has no
// data.
func (g *testWorkspace) makeRecords() {
	for i := range 9 {
		name := names[i%len(names)]
		tags := []string{}
		for _, tag := range []string{"bf", "brand", "q4"} {
			if g.withProbability(40) {
				tags = append(tags, tag)
			}
		}
		objective := g.pickOne(objectives...)
		body := map[string]any{"name": name, "tags": tags, "objective": objective}
		var f *flight
		if planned := i > 6; planned || g.withProbability(70) {
			f = &flight{daily: g.withProbability(50), amount: parseNumber(strconv.Itoa(100 + g.r.IntN(9000))), currency: g.pickOne("USD", "EUR", "SEK", "GBP")}
			if planned {
				f.daily, f.currency = i == 7, "USD"
			}
			form := "lifetime"
			if f.daily {
				form = "daily"
			}
			body["budget"] = map[string]any{"type": form, "amount": f.amount.FloatString(2), "currency": f.currency}
			if i == 8 || g.withProbability(60) {
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

// setRates stores rates with gaps, and reads which days have one.
func (g *testWorkspace) setRates() {
	var list []map[string]any
	for d := g.today - 1120; d <= g.today; d++ {
		for _, c := range []string{"USD", "SEK", "JPY"} {
			if c == "SEK" && d.time().Month() == time.May || c == "JPY" && d.time().Year() == 2024 || g.withProbability(10) {
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
		k := rateDay{sent["currency"].(string), parseDay(sent["date"].(string))}
		if got, want := g.rates[k], parseNumber(sent["rate"].(string)); got == nil || got.Cmp(want) != 0 {
			g.t.Fatalf("rate of %v: got %v want %v", k, got, want)
		}
	}
}

func (g *testWorkspace) readRates() {
	cursor := ""
	for {
		page := g.Do("GET", "/v1/rates?limit=100"+cursor, nil).Want(200).List()
		for _, r := range page.Data {
			g.rates[rateDay{r["currency"].(string), parseDay(r["date"].(string))}] = parseNumber(r["rate"].(string))
		}
		if page.NextCursor == nil {
			return
		}
		cursor = "&cursor=" + url.QueryEscape(*page.NextCursor)
	}
}

// makeEntities creates the entities of a source: some linked to records, some
// with a name only, some without one.
func (g *testWorkspace) makeEntities(f *feed) {
	f.entities = map[string][]entity{}
	for kind, ours := range map[string][]string{"campaign": g.campaigns[:6], "creative": g.creatives[:4], "audience": g.audiences[:2]} {
		for i := range 5 {
			e := entity{external: fmt.Sprintf("%s-%d", kind[:2], i)}
			switch i {
			case 0, 1:
				e.record = g.pickOne(ours...)
				if g.withProbability(50) {
					e.external = ""
				}
			case 2:
				e.external, e.name = "", g.pickOne(names...)
			case 3:
				e.name = g.pickOne(names...)
			}
			f.entities[kind] = append(f.entities[kind], e)
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

// randomDay is usually in the last weeks, sometimes a year or more ago.
func (g *testWorkspace) randomDay() day {
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

// randomRow returns a row of the source.
func (g *testWorkspace) randomRow(f *feed, d day) row {
	w := map[string]string{"date": d.String()}
	if a := g.pickOne(f.accounts...); a != "" {
		w["account_id"] = a
	}
	if g.withProbability(90) {
		w["channel"] = g.pickOne(channels...)
	}
	family := g.r.IntN(7)
	switch family {
	case 0:
		w["country"] = g.pickOne(countries...)
	case 1:
		w["age_range"] = g.pickOne(ages...)
		if g.withProbability(60) {
			w["gender"] = g.pickOne(genders...)
		}
	case 2:
		w["device"] = g.pickOne(devices...)
	}
	for kind, list := range f.entities {
		if kind == "creative" && family < 3 || g.withProbability(25) {
			continue
		}
		e := list[g.r.IntN(len(list))]
		maps.Copy(w, entityWords(kind, e))
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

func entityWords(kind string, e entity) map[string]string {
	w := map[string]string{}
	for name, text := range map[string]string{kind + "_id": e.record, "external_" + kind + "_id": e.external, kind + "_name": e.name} {
		if text != "" {
			w[name] = text
		}
	}
	return w
}

// randomRows returns rows with different keys.
func (g *testWorkspace) randomRows(f *feed, n int, in func() day) []row {
	var rows []row
	seen := map[rowKey]bool{}
	for range n {
		r := g.randomRow(f, in())
		if p := rowKeyOf(f.id, r); !seen[p] {
			seen[p] = true
			rows = append(rows, r)
		}
	}
	return rows
}

// send sends rows: new ones, corrections of old ones, whole days again.
func (g *testWorkspace) send(f *feed) {
	// Platforms rename, and users link, entities that already have data.
	if things := f.entities["campaign"]; g.withProbability(50) {
		i := g.r.IntN(2) + 3
		things[i].name = g.pickOne(names...)
		if g.withProbability(30) {
			things[i].record = g.pickOne(g.campaigns[:6]...)
		}
	}
	if f.platform == "csv" {
		g.upload(f, g.randomRows(f, 80, g.randomDay))
		return
	}
	switch rows := g.randomRows(f, 60, g.randomDay); {
	case f.id != "" && g.withProbability(40):
		first := g.today - day(g.r.IntN(40))
		days := span{first, first + day(g.r.IntN(10))}
		rows := g.randomRows(f, 30, func() day { return days.first + day(g.r.IntN(int(days.days()))) })
		rows = slices.DeleteFunc(rows, func(r row) bool { return parseDay(r.words["date"]) > g.today+2 })
		g.post(f, rows, fmt.Sprintf("&mode=replace&start_date=%s&end_date=%s", days.first, days.last))
		g.replaceRows(f.id, f.account, days, rows)
	default:
		g.post(f, rows, "")
		g.addRows(f.id, f.account, rows)
	}
}

// target returns the path for a feed's rows.
func (f *feed) target() string {
	return "/v1/ingest/metrics?" + url.Values{"source": {f.name}, "currency": {f.account.currency}, "timezone": {f.account.zone}}.Encode()
}

// post sends rows and checks that all were stored.
func (g *testWorkspace) post(f *feed, rows []row, more string) {
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

func (g *testWorkspace) connect(f *feed, id string) {
	f.id = id
	g.sources[id] = source{id, f.name, f.platform}
}

// encode encodes rows as JSON; a number may be a string.
func (g *testWorkspace) encode(rows []row) []byte {
	list := make([]map[string]any, len(rows))
	for i, r := range rows {
		list[i] = map[string]any{}
		for name, text := range r.words {
			list[i][name] = text
		}
		for _, name := range measures {
			text, known := r.measures[name]
			switch {
			case known && g.withProbability(30):
				list[i][name] = text
			case known:
				list[i][name] = json.Number(text)
			case g.withProbability(10):
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

// upload sends rows as a file.
func (g *testWorkspace) upload(f *feed, rows []row) {
	g.t.Helper()
	target := "/v1/imports?" + url.Values{"source": {f.name}, "currency": {f.account.currency}, "timezone": {f.account.zone}, "commit": {"true"}, "filename": {"rows.csv"}}.Encode()
	var res struct {
		Status       string  `json:"status"`
		ConnectionID *string `json:"connection_id"`
		RowsWritten  *int    `json:"rows_written"`
	}
	answer := g.Do("POST", target, csvOf(rows), "Content-Type: text/csv").Want(201)
	answer.Data(&res)
	if res.Status != "committed" || res.RowsWritten == nil || *res.RowsWritten != len(rows) {
		g.t.Fatalf("import of %d rows: got %s", len(rows), answer.Body)
	}
	g.connect(f, *res.ConnectionID)
	g.addRows(f.id, f.account, rows)
}

// csvOf encodes rows as CSV.
func csvOf(rows []row) []byte {
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

// changeSomething changes records, as users do while data is written.
func (g *testWorkspace) changeSomething() {
	const merge = "Content-Type: application/merge-patch+json"
	switch id := g.pickOne(g.campaigns...); g.r.IntN(4) {
	case 0:
		g.updateRecord(g.Do("PATCH", "/v1/campaigns/"+id, map[string]any{"name": g.pickOne(names...)}, merge))
	case 1:
		g.updateRecord(g.Do("PATCH", "/v1/campaigns/"+id, map[string]any{"tags": []string{g.pickOne("bf", "brand", "q4", "new")}}, merge))
	case 2:
		id = g.pickOne(g.creatives...)
		g.updateRecord(g.Do("PATCH", "/v1/creative/"+id, map[string]any{"name": g.pickOne(names...)}, merge))
	default:
		g.send(&g.feeds[g.r.IntN(len(g.feeds))])
	}
}

// updateRecord stores a record after a change, which can have effects: a
// campaign whose end has passed is completed.
func (g *testWorkspace) updateRecord(res *fanfaretest.Response) {
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
