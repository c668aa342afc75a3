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

// linkedCampaign is a campaign that is linked to a platform campaign, with its
// own connection.
type linkedCampaign struct {
	platform, connection, campaign, account, external, token string
	// revoked says that the platform has revoked the token.
	revoked bool
	// wantRunning is the last requested state.
	wantRunning bool
}

// pushDrill requests states while calls between the program and the platforms
// fail.
type pushDrill struct {
	*programDrill
	campaigns []*linkedCampaign
	done      struct {
		pauses, resumes, revokes, reconnects, throttles, failures, kills, unanswered, waits, reads, applied, pending, failed int
	}
	// throttled says that a platform has requested a wait.
	throttled bool
}

// TestDrillPush runs random sequences of pause, resume, revoke, reconnect,
// throttle and kill -9 on four platforms. After each sequence every platform
// campaign has the last requested state, and no answer said applied before the
// platform had it.
func TestDrillPush(t *testing.T) {
	t.Parallel()
	d := newPushDrill(t)
	sequences := 200
	if !isFull() {
		sequences = 4
	}
	for range sequences {
		for range 4 + d.r.IntN(8) {
			d.randomStep(d.campaigns[d.r.IntN(len(d.campaigns))])
		}
		d.waitForPlatforms()
	}
	d.server.Stop()
	t.Logf("%d sequences on %d platforms: %+v", sequences, len(d.campaigns), d.done)
}

func newPushDrill(t *testing.T) *pushDrill {
	t.Helper()
	d := &pushDrill{programDrill: newProgramDrill(t)}
	d.startProgram()
	out := d.server.Run("workspace", "create", "--name", "Drill", "--owner", "owner@example.com", "--plan", "enterprise", "--json")
	var made struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(out.Out), &made); err != nil || made.Key == "" {
		t.Fatalf("make a workspace: %v %+v", err, out)
	}
	d.key = made.Key
	for _, platform := range []string{sandbox.GoogleAds, sandbox.MetaAds, sandbox.TikTokAds, sandbox.LinkedInAds, sandbox.MicrosoftAds} {
		d.campaigns = append(d.campaigns, d.connectAndLink(platform))
	}
	d.id = d.campaigns[0].connection
	return d
}

// startProgram starts the program with the sandbox as all platforms.
func (d *pushDrill) startProgram() {
	d.Helper()
	var urls, apps []string
	for _, p := range d.sandbox.Addresses() {
		urls = append(urls, p.Platform+"="+d.url+p.Prefix)
		apps = append(apps, p.Platform+"=client:secret")
	}
	d.server = program.Start(d.T, program.Options{
		Data: d.data, ClockOffset: time.Duration(d.ahead.Load()), Args: []string{"--platform-urls", strings.Join(urls, ",")},
		Env: []string{"FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0", "FANFARE_OAUTH=" + strings.Join(apps, ",")},
	})
}

// newTokens obtains new tokens and returns them in the format of a body.
func (d *pushDrill) newTokens(l *linkedCampaign) string {
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

// connectAndLink connects a platform and links a running campaign to one of its
// campaigns.
func (d *pushDrill) connectAndLink(platform string) *linkedCampaign {
	d.Helper()
	l := &linkedCampaign{platform: platform, wantRunning: true}
	must := func(want, got int, what string) {
		d.Helper()
		if got != want {
			d.Fatalf("%s of %s: got %d want %d", what, platform, got, want)
		}
	}
	var made struct {
		ID string `json:"id"`
	}
	body := strings.Replace(d.newTokens(l), "{", fmt.Sprintf(`{"platform":%q,"name":"Drill","write_enabled":true,`, platform), 1)
	must(http.StatusCreated, d.ask(http.MethodPost, "/v1/connections", body, &made), "connect")
	l.connection = made.ID
	must(http.StatusOK, d.ask(http.MethodPatch, "/v1/connections/"+l.connection, `{"sync":{"interval_minutes":1440}}`, nil), "set interval")
	d.cancelRuns(l)
	var r syncRun
	must(http.StatusAccepted, d.ask(http.MethodPost, "/v1/connections/"+l.connection+"/sync", `{"streams":["campaigns"]}`, &r), "sync")
	d.waitUntil(func() bool {
		r = d.readRun(r.ID)
		return r.hasEnded()
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

// cancelRuns cancels sync runs, which this drill does not test.
func (d *pushDrill) cancelRuns(l *linkedCampaign) {
	d.Helper()
	var list []syncRun
	d.ask(http.MethodGet, "/v1/connections/"+l.connection+"/syncs?status=queued,running,waiting", "", &list)
	for _, r := range list {
		d.ask(http.MethodPost, "/v1/syncs/"+r.ID+"/cancel", "", nil)
	}
}

// campaignAnswer is a campaign in an answer.
type campaignAnswer struct {
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

// compareWithPlatform compares an answer with the platform: an applied state
// must be there, and any other must be reported.
func (d *pushDrill) compareWithPlatform(l *linkedCampaign, c *campaignAnswer) (push string) {
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

// readAndCompare reads a campaign and compares it with the platform.
func (d *pushDrill) readAndCompare(l *linkedCampaign) (push string) {
	d.Helper()
	var c campaignAnswer
	if status := d.ask(http.MethodGet, "/v1/campaigns/"+l.campaign, "", &c); status != http.StatusOK {
		d.Fatalf("read campaign: got %d want 200", status)
	}
	if active := c.Status == "active"; active != l.wantRunning {
		d.Fatalf("%s: got %s want the state that was requested last, running: %v", l.platform, c.Status, l.wantRunning)
	}
	return d.compareWithPlatform(l, &c)
}

// randomStep does one random step.
func (d *pushDrill) randomStep(l *linkedCampaign) {
	d.Helper()
	once := 1 + d.r.IntN(2)
	strike := func(fault string) {
		if err := d.sandbox.AddFault(sandbox.FaultRule{Platform: l.platform, Fault: fault, Count: &once}); err != nil {
			d.Fatal(err)
		}
	}
	switch n := d.r.IntN(20); {
	case n < 9:
		d.pauseOrResume(l)
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
		d.killDuringRequest(l)
	default:
		d.readAndCompare(l)
	}
}

// pauseOrResume pauses a running campaign and resumes a paused one.
func (d *pushDrill) pauseOrResume(l *linkedCampaign) {
	d.Helper()
	verb := "resume"
	if l.wantRunning {
		verb = "pause"
		d.done.pauses++
	} else {
		d.done.resumes++
	}
	var c campaignAnswer
	if status := d.ask(http.MethodPost, "/v1/campaigns/"+l.campaign+"/"+verb, "", &c); status != http.StatusOK {
		d.Fatalf("%s on %s: got %d want 200", verb, l.platform, status)
	}
	l.wantRunning = !l.wantRunning
	d.compareWithPlatform(l, &c)
}

// reconnect grants access again. The platform may fail.
func (d *pushDrill) reconnect(l *linkedCampaign) {
	d.Helper()
	d.done.reconnects++
	status := d.ask(http.MethodPost, "/v1/connections/"+l.connection+"/reconnect", d.newTokens(l), nil)
	if status == http.StatusOK {
		l.revoked = false
	}
	d.cancelRuns(l)
}

// killDuringRequest kills the program during a request, or right after it.
func (d *pushDrill) killDuringRequest(l *linkedCampaign) {
	d.Helper()
	d.done.kills++
	answered := make(chan int, 1)
	verb := map[bool]string{true: "pause", false: "resume"}[l.wantRunning]
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
	d.startProgram()
	was := l.wantRunning
	switch status {
	case http.StatusOK:
		l.wantRunning = !l.wantRunning
	case 0:
		// The request was not answered, so the record shows whether it was
		// stored.
		d.done.unanswered++
		var c campaignAnswer
		d.ask(http.MethodGet, "/v1/campaigns/"+l.campaign, "", &c)
		l.wantRunning = c.Status == "active"
	default:
		d.Fatalf("%s on %s: got %d want 200", verb, l.platform, status)
	}
	if was && !l.wantRunning {
		d.done.pauses++
	}
	d.readAndCompare(l)
}

// waitForPlatforms restores access and waits until every platform has the last
// requested state.
func (d *pushDrill) waitForPlatforms() {
	d.Helper()
	d.clearSandbox("faults")
	if d.throttled {
		// Some platforms name no time, and one means midnight.
		d.throttled = false
		d.done.waits++
		d.server.Stop()
		d.ahead.Add(int64(6 * time.Minute))
		d.startProgram()
	}
	for _, l := range d.campaigns {
		d.waitUntil(func() bool {
			// A token that has expired despite a refresh also ends access.
			var c state
			d.ask(http.MethodGet, "/v1/connections/"+l.connection, "", &c)
			if l.revoked || c.Status == "reauth_required" {
				d.reconnect(l)
			}
			return d.readAndCompare(l) == "applied"
		})
		if runs, _ := d.sandbox.Runs(l.account, l.external); runs != l.wantRunning {
			d.Fatalf("%s: the platform runs it: %v, requested was %v", l.platform, runs, l.wantRunning)
		}
	}
	d.clearSandbox("journal")
}
