package sync_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/test/program"
)

// lane is a campaign that is linked to one on a platform, through a connection
// of its own.
type lane struct {
	platform, connection, campaign, account, external, token string
	// revoked says that the platform has ended the token.
	revoked bool
	// run is the state that was requested last.
	run bool
}

// pushDrill requests states while everything goes wrong between the program
// and the platforms.
type pushDrill struct {
	*outside
	lanes []*lane
	done  struct {
		pauses, resumes, revokes, reconnects, throttles, failures, kills, unanswered, waits, reads, applied, pending, failed int
	}
	// throttled says that a platform has asked for time.
	throttled bool
}

// TestDrillPush runs random sequences of pause, resume, revoke, reconnect,
// throttle and kill -9 on four platforms. At the end of each one every platform
// campaign has the state that was requested last, and no answer ever said
// applied before the platform had it.
func TestDrillPush(t *testing.T) {
	t.Parallel()
	d := newPushDrill(t)
	sequences := 200
	if !full() {
		sequences = 4
	}
	for range sequences {
		for range 4 + d.r.IntN(8) {
			d.step(d.lanes[d.r.IntN(len(d.lanes))])
		}
		d.settle()
	}
	d.server.Stop()
	t.Logf("%d sequences on %d platforms: %+v", sequences, len(d.lanes), d.done)
}

func newPushDrill(t *testing.T) *pushDrill {
	t.Helper()
	d := &pushDrill{outside: newOutside(t)}
	d.launch()
	out := d.server.Run("workspace", "create", "--name", "Drill", "--owner", "owner@example.com", "--plan", "enterprise", "--json")
	var made struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(out.Out), &made); err != nil || made.Key == "" {
		t.Fatalf("make a workspace: %v %+v", err, out)
	}
	d.key = made.Key
	for _, platform := range []string{sandbox.GoogleAds, sandbox.MetaAds, sandbox.TikTokAds, sandbox.LinkedInAds} {
		d.lanes = append(d.lanes, d.join(platform))
	}
	d.id = d.lanes[0].connection
	return d
}

// launch starts the program, with the sandbox in the place of the platforms.
func (d *pushDrill) launch() {
	d.Helper()
	var urls, apps []string
	for _, p := range d.sandbox.Addresses() {
		urls = append(urls, p.Platform+"="+d.url+p.Prefix)
		apps = append(apps, p.Platform+"=client:secret")
	}
	d.server = program.Start(d.T, program.Options{
		Data: d.data, Ahead: time.Duration(d.ahead.Load()), Args: []string{"--platform-urls", strings.Join(urls, ",")},
		Env: []string{"FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0", "FANFARE_OAUTH=" + strings.Join(apps, ",")},
	})
}

// grant gets new tokens for a lane and returns them as a body has them.
func (d *pushDrill) grant(l *lane) string {
	d.Helper()
	granted, err := d.sandbox.Grant(d.sandbox.Own())
	if err != nil {
		d.Fatal(err)
	}
	access := granted[l.platform]
	l.token, l.account = access.AccessToken, access.AccountID
	tokens := map[string]string{"access_token": access.AccessToken, "client_id": "client", "client_secret": "secret"}
	if access.RefreshToken != nil {
		tokens["refresh_token"] = *access.RefreshToken
	}
	text, err := json.Marshal(map[string]any{"credentials": tokens})
	if err != nil {
		d.Fatal(err)
	}
	return string(text)
}

// join connects a platform and links a running campaign to one of its own.
func (d *pushDrill) join(platform string) *lane {
	d.Helper()
	l := &lane{platform: platform, run: true}
	must := func(want, got int, what string) {
		d.Helper()
		if got != want {
			d.Fatalf("%s of %s: got %d want %d", what, platform, got, want)
		}
	}
	var made struct {
		ID string `json:"id"`
	}
	body := strings.Replace(d.grant(l), "{", fmt.Sprintf(`{"platform":%q,"name":"Drill","write_enabled":true,`, platform), 1)
	must(http.StatusCreated, d.ask(http.MethodPost, "/v1/connections", body, &made), "connect")
	l.connection = made.ID
	must(http.StatusOK, d.ask(http.MethodPatch, "/v1/connections/"+l.connection, `{"sync":{"interval_minutes":1440}}`, nil), "set interval")
	d.quiet(l)
	var r run
	must(http.StatusAccepted, d.ask(http.MethodPost, "/v1/connections/"+l.connection+"/sync", `{"streams":["campaigns"]}`, &r), "sync")
	d.until(func() bool {
		r = d.find(r.ID)
		return r.over()
	})
	var found []struct {
		ID      string `json:"external_id"`
		Account string `json:"account_id"`
	}
	must(http.StatusOK, d.ask(http.MethodGet, "/v1/connections/"+l.connection+"/entities?kind=campaign&limit=100", "", &found), "list campaigns")
	l.external, l.account = found[0].ID, found[0].Account
	must(http.StatusCreated, d.ask(http.MethodPost, "/v1/campaigns", `{"name":"Drill"}`, &made), "create campaign")
	l.campaign = made.ID
	link := fmt.Sprintf(`{"links":[{"kind":"campaign","external_id":%q,"record_id":%q}]}`, l.external, l.campaign)
	must(http.StatusOK, d.ask(http.MethodPost, "/v1/connections/"+l.connection+"/links", link, nil), "link")
	must(http.StatusOK, d.ask(http.MethodPost, "/v1/campaigns/"+l.campaign+"/launch", "", nil), "launch")
	return l
}

// quiet cancels runs, which this drill is not about.
func (d *pushDrill) quiet(l *lane) {
	d.Helper()
	var list []run
	d.ask(http.MethodGet, "/v1/connections/"+l.connection+"/syncs?status=queued,running,waiting", "", &list)
	for _, r := range list {
		d.ask(http.MethodPost, "/v1/syncs/"+r.ID+"/cancel", "", nil)
	}
}

// shown is a campaign as it is answered.
type shown struct {
	Status   string `json:"status"`
	Delivery struct {
		Issues []struct {
			Code string `json:"code"`
		} `json:"issues"`
	} `json:"delivery"`
	Refs []struct {
		Push *string `json:"push"`
	} `json:"external_refs"`
}

// look compares an answer with the platform: what it calls applied must be
// there, and what it does not must be reported.
func (d *pushDrill) look(l *lane, c *shown) (push string) {
	d.Helper()
	if len(c.Refs) != 1 || c.Refs[0].Push == nil {
		d.Fatalf("%s: got %+v want one link that is written to", l.platform, c)
	}
	d.done.reads++
	push = *c.Refs[0].Push
	runs, known := d.sandbox.Runs(l.account, l.external)
	switch {
	case !known:
		d.Fatalf("%s: the sandbox has no campaign %s", l.platform, l.external)
	case push == "applied" && runs != (c.Status == "active"):
		d.Fatalf("%s: the answer says %s and applied, the platform runs it: %v", l.platform, c.Status, runs)
	case push == "applied":
		d.done.applied++
	case push == "pending":
		d.done.pending++
	case push == "failed":
		d.done.failed++
	default:
		d.Fatalf("%s: got push %q", l.platform, push)
	}
	reported := slices.ContainsFunc(c.Delivery.Issues, func(i struct {
		Code string `json:"code"`
	},
	) bool {
		return i.Code == "push_"+push
	})
	if push != "applied" && !reported {
		d.Fatalf("%s: got push %s and issues %+v want it to be reported", l.platform, push, c.Delivery.Issues)
	}
	return push
}

// read reads a campaign and compares it with the platform.
func (d *pushDrill) read(l *lane) (push string) {
	d.Helper()
	var c shown
	if status := d.ask(http.MethodGet, "/v1/campaigns/"+l.campaign, "", &c); status != http.StatusOK {
		d.Fatalf("read campaign: got %d want 200", status)
	}
	if active := c.Status == "active"; active != l.run {
		d.Fatalf("%s: got %s want the state that was requested last, running: %v", l.platform, c.Status, l.run)
	}
	return d.look(l, &c)
}

// step does one thing at random.
func (d *pushDrill) step(l *lane) {
	d.Helper()
	once := 1 + d.r.IntN(2)
	strike := func(fault string) {
		if err := d.sandbox.AddFault(sandbox.FaultRule{Platform: l.platform, Fault: fault, Count: &once}); err != nil {
			d.Fatal(err)
		}
	}
	switch n := d.r.IntN(20); {
	case n < 9:
		d.request(l)
	case n < 11:
		d.done.revokes++
		d.sandbox.Revoke(l.token)
		l.revoked = true
	case n < 13:
		d.reconnect(l)
	case n < 15:
		d.done.throttles++
		d.throttled = true
		strike(sandbox.FaultThrottle)
	case n < 17:
		d.done.failures++
		strike([]string{sandbox.Fault500, sandbox.FaultReset, sandbox.FaultTruncated, sandbox.FaultExpiredToken}[d.r.IntN(4)])
	case n < 18:
		d.kill(l)
	default:
		d.read(l)
	}
}

// request pauses what runs and resumes what does not.
func (d *pushDrill) request(l *lane) {
	d.Helper()
	verb := "resume"
	if l.run {
		verb = "pause"
		d.done.pauses++
	} else {
		d.done.resumes++
	}
	var c shown
	if status := d.ask(http.MethodPost, "/v1/campaigns/"+l.campaign+"/"+verb, "", &c); status != http.StatusOK {
		d.Fatalf("%s on %s: got %d want 200", verb, l.platform, status)
	}
	l.run = !l.run
	d.look(l, &c)
}

// reconnect grants access anew. The platform may be struck by a fault.
func (d *pushDrill) reconnect(l *lane) {
	d.Helper()
	d.done.reconnects++
	status := d.ask(http.MethodPost, "/v1/connections/"+l.connection+"/reconnect", d.grant(l), nil)
	if status == http.StatusOK {
		l.revoked = false
	}
	d.quiet(l)
}

// kill ends the program while a request is under way, or right after it.
func (d *pushDrill) kill(l *lane) {
	d.Helper()
	d.done.kills++
	answered := make(chan int, 1)
	verb := map[bool]string{true: "pause", false: "resume"}[l.run]
	go func() {
		res, _, err := d.server.Try(d.server.Client(), d.key, http.MethodPost, "/v1/campaigns/"+l.campaign+"/"+verb, "")
		if err != nil {
			answered <- 0
			return
		}
		answered <- res.StatusCode
	}()
	<-time.After(time.Duration(d.r.IntN(20_000)) * time.Microsecond)
	d.server.Kill()
	status := <-answered
	d.launch()
	was := l.run
	switch status {
	case http.StatusOK:
		l.run = !l.run
	case 0:
		// Nobody was told whether it was requested: the record says it.
		d.done.unanswered++
		var c shown
		d.ask(http.MethodGet, "/v1/campaigns/"+l.campaign, "", &c)
		l.run = c.Status == "active"
	default:
		d.Fatalf("%s on %s: got %d want 200", verb, l.platform, status)
	}
	if was && !l.run {
		d.done.pauses++
	}
	d.read(l)
}

// settle lets access return, and waits until every platform has what was
// requested last.
func (d *pushDrill) settle() {
	d.Helper()
	d.clear("faults")
	if d.throttled {
		// Some name no moment, and one means midnight.
		d.throttled = false
		d.done.waits++
		d.server.Stop()
		d.ahead.Add(int64(6 * time.Minute))
		d.launch()
	}
	for _, l := range d.lanes {
		d.until(func() bool {
			// A token that has expired although it was renewed ends access too.
			var c state
			d.ask(http.MethodGet, "/v1/connections/"+l.connection, "", &c)
			if l.revoked || c.Status == "reauth_required" {
				d.reconnect(l)
			}
			return d.read(l) == "applied"
		})
		if runs, _ := d.sandbox.Runs(l.account, l.external); runs != l.run {
			d.Fatalf("%s: the platform runs it: %v, requested was %v", l.platform, runs, l.run)
		}
	}
	d.clear("journal")
}
