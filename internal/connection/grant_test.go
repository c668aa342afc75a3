package connection_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/secret"
)

// discard is who does not look at an answer.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

func clearFaults(t *testing.T) *http.Request {
	t.Helper()
	return httptest.NewRequestWithContext(t.Context(), "DELETE", "/_sandbox/faults", nil)
}

// pending makes a connection that waits for a person.
func (s *syncFixture) pending(platform string) (authorize string) {
	s.t.Helper()
	made := s.connect(map[string]any{"platform": platform, "name": "Granted"}).OK()
	s.id = made.ID()
	want(s.t, "status", any("pending"), made.Record()["status"])
	return made.Record()["authorization_url"].(string)
}

// consent is a person who says yes at the platform, and returns where that
// person is sent back to.
func (s *syncFixture) consent(authorize string) string {
	s.t.Helper()
	if !strings.HasPrefix(authorize, s.platforms+"/") {
		s.t.Fatalf("got %s want an address of the sandbox", authorize)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, authorize, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = res.Body.Close()
	back, ok := strings.CutPrefix(res.Header.Get("Location"), "https://fanfare.test")
	if !ok {
		s.t.Fatalf("got %d to %q want to be sent back", res.StatusCode, res.Header.Get("Location"))
	}
	return back
}

// visit is a person who comes back from a platform and confirms what is asked.
func (s *syncFixture) visit(target string) error {
	s.t.Helper()
	at, err := url.Parse(target)
	s.must(err)
	q := at.Query()
	v := connection.Visit{Platform: strings.TrimPrefix(at.Path, connection.CallbackPath), State: q.Get("state"), Code: q.Get("code"), Denied: q.Get("error")}
	if v.Code == "" {
		v.Code = q.Get("auth_code")
	}
	_, asked, err := s.connections.Complete(s.t.Context(), v)
	if err == nil && asked == nil {
		s.t.Errorf("%s was not asked for a confirmation", v.Platform)
	}
	if err == nil {
		v.Confirmed = true
		_, _, err = s.connections.Complete(s.t.Context(), v)
	}
	return err
}

// visits wants a visit to be welcome or refused.
func (s *syncFixture) visits(what, target string, welcome bool) {
	s.t.Helper()
	err := s.visit(target)
	if _, told := errors.AsType[*fault.Error](err); welcome != (err == nil) || !welcome && !told {
		s.t.Errorf("%s: got %v, want welcome %v", what, err, welcome)
	}
}

// TestGrant has a person grant access at each platform.
func TestGrant(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	for _, platform := range connection.Played {
		back := s.consent(s.pending(platform))
		s.visits(platform, back, true)
		c := s.connection()
		want(t, platform, []any{connection.StatusConnected, 1, (*string)(nil)}, []any{c.Status, len(c.Accounts), c.AuthorizationURL})
		want(t, "events of "+platform, []string{"connection.connected", "connection.created"}, s.events(s.id))
		want(t, "first run of "+platform, "initial", s.runs()[0].Trigger)
		s.visits("a link that was used", back, false)
		if platform != connection.PlatformGA4 && platform != connection.PlatformMicrosoftAds {
			continue
		}
		// The tokens of GA4 are as good as those of Google Ads. Microsoft's calls
		// need the app.
		s.cancel(s.runs()[0].ID).OK()
		if r := s.sync(recent); r.Status != connection.RunSucceeded {
			t.Errorf("%s: got %s want succeeded: %+v", platform, r.Status, r.Error)
		}
	}
}

// renewedApp is a registry whose operator has a new secret.
type renewedApp struct{ connection.PlatformRegistry }

func (renewedApp) App(string) (connection.OAuthClient, bool) {
	return connection.OAuthClient{ID: "client", Secret: secret.New("renewed")}, true
}

// TestRenewedSecret checks that stored credentials use the operator's new secret.
func TestRenewedSecret(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.visits("consent", s.consent(s.pending(connection.PlatformMicrosoftAds)), true)
	s.connections.Registry = renewedApp{s.connections.Registry}
	ring, err := s.connections.OpenTokens(t.Context(), s.Workspace, ident.ID(s.id))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "secret", "renewed", ring[connection.PlatformMicrosoftAds].App.Secret.Reveal())
}

// TestGrantToSystemUser signs in with a configuration of Facebook Login for
// Business. The token of the system user never ends.
func TestGrantToSystemUser(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.faults.configuration = sandbox.MetaSystemUserConfiguration
	authorize := s.pending("meta_ads")
	if !strings.Contains(authorize, "config_id="+s.faults.configuration) || strings.Contains(authorize, "scope=") {
		t.Errorf("got %s want the configuration and no scope", authorize)
	}
	s.visits("consent", s.consent(authorize), true)
	s.cancel(s.runs()[0].ID).OK()
	s.Clock.Advance(100 * 24 * time.Hour)
	r := s.sync(recent)
	c := s.connection()
	want(t, "after 100 days", []any{connection.RunSucceeded, (*clock.Instant)(nil), connection.StatusConnected}, []any{r.Status, c.CredentialsExpireAt, c.Status})
	want(t, "disconnected", []any{"", 1}, []any{s.leave(place{s.Workspace, s.id}), s.revocations()})
}

// TestGrantRefused tries states that are not to work.
func TestGrantRefused(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	back := s.consent(s.pending("google_ads"))
	at, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(q url.Values)) string {
		q := at.Query()
		change(q)
		return at.Path + "?" + q.Encode()
	}
	state := at.Query().Get("state")
	for name, target := range map[string]string{
		"nothing":            at.Path,
		"no state":           with(func(q url.Values) { q.Del("state") }),
		"a forged state":     with(func(q url.Values) { q.Set("state", state[:20]+"x"+state[21:]) }),
		"a cursor":           with(func(q url.Values) { q.Set("state", s.connections.SealState([]byte(`{"w":"a","c":"b","n":"c"}`))) }),
		"another platform":   strings.Replace(back, "google_ads", "meta_ads", 1),
		"no consent":         with(func(q url.Values) { q.Del("code"); q.Set("error", "access_denied") }),
		"a code of nobody's": with(func(q url.Values) { q.Set("code", "none") }),
	} {
		// A code may be tried once, so it is not spent on what fails before.
		s.visits(name, target, false)
		want(t, "status after "+name, connection.StatusPending, s.connection().Status)
	}
	s.visits("a platform that is none", connection.CallbackPath+"myspace?state="+state, false)

	s.Clock.Advance(15 * time.Minute)
	s.visits("a state that is too old", back, false)
	renewed := s.reconnect(nil).Record()["authorization_url"].(string)
	fresh := s.consent(renewed)
	s.visits("the state before", back, false)
	s.visits("the new state", fresh, true)
}

// TestPendingEnds checks that a connection without granted access is deleted.
func TestPendingEnds(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.pending("meta_ads")
	s.Clock.Advance(59 * time.Minute)
	// Another invitation does not make it wait longer.
	s.reconnect(nil).OK()
	if at, err := s.work(t.Context()); err != nil || at == nil || at.Sub(s.Clock.Now()) != time.Minute {
		t.Fatalf("got %v, %v want to be called in a minute", at, err)
	}
	want(t, "status", connection.StatusPending, s.connection().Status)
	s.Clock.Advance(time.Minute)
	want(t, "jobs", []string{connection.JobSync}, s.jobs())
	if at, err := s.work(t.Context()); at != nil || err != nil {
		t.Fatalf("got %v, %v want nothing more to be done", at, err)
	}
	c := s.connection()
	want(t, "connection", []any{connection.StatusDisconnected, (*string)(nil)}, []any{c.Status, c.AuthorizationURL})
	s.pending("meta_ads") // its name is free
}

// jobs are the kinds of work on connections and campaigns that are due.
func (s *syncFixture) jobs() (kinds []string) {
	s.t.Helper()
	list, err := s.DB.Jobs().Claim(s.t.Context(), s.now(), s.now().Add(time.Second), 100)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, j := range list {
		if j.WorkspaceID == s.Workspace && (j.Kind == connection.JobSync || j.Kind == record.JobPush) {
			kinds = append(kinds, j.Kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// TestReconnect requests new access for a connection that works. The connection
// keeps working until a person has granted the access.
func TestReconnect(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.visits("consent", s.consent(s.pending("tiktok_ads")), true)
	before := s.stored().Private
	invited := s.reconnect(nil).OK()
	want(t, "status", any("connected"), invited.Record()["status"])
	want(t, "what is due", []string{connection.JobSync}, s.jobs())
	s.visits("consent", s.consent(invited.Record()["authorization_url"].(string)), true)
	after := s.stored().Private
	want(t, "credentials and runs", []any{before.SealVersion + 1, 1}, []any{after.SealVersion, len(after.Queue)})
}

// TestOwnTokens connects with tokens that a caller sends.
func TestOwnTokens(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	granted, err := s.registry.Server().Grant(sandboxAccounts)
	if err != nil {
		t.Fatal(err)
	}
	google := granted["google_ads"]
	for name, tt := range map[string]struct {
		credentials map[string]string
		want        string
	}{
		"a token":                     {map[string]string{"access_token": google.AccessToken}, ""},
		"a token to get others with":  {map[string]string{"refresh_token": *google.RefreshToken}, ""},
		"and a client of one's own":   {map[string]string{"refresh_token": *google.RefreshToken, "client_id": "mine", "client_secret": "hush"}, ""},
		"a token of another platform": {map[string]string{"access_token": granted["meta_ads"].AccessToken}, "credentials invalid_value"},
		"no token":                    {map[string]string{"client_id": "mine", "client_secret": "hush"}, "credentials required"},
		"half a client":               {map[string]string{"access_token": google.AccessToken, "client_id": "mine"}, "credentials incompatible_fields"},
	} {
		res := s.connect(map[string]any{"platform": "google_ads", "name": name, "credentials": tt.credentials})
		if tt.want == "" {
			want(t, name, any("connected"), res.Record()["status"])
		} else {
			d := res.Fault("validation_failed").Details[0]
			want(t, name, tt.want, d.Field+" "+d.Code)
		}
		for _, token := range tt.credentials {
			if len(token) > 8 && strings.Contains(string(res.JSON)+fmt.Sprint(res.Err)+s.log.String(), token) {
				t.Errorf("%s: a token is answered or logged: %s, %v", name, res.JSON, res.Err)
			}
		}
	}
	s.connect(`{"platform":"sandbox","name":"One","credentials":{"access_token":"a"}}`).Fault("validation_failed")
	s.connect(fmt.Sprintf(`{"platform":"meta_ads","name":%q,"config":{"seed":1}}`, "Two")).Fault("validation_failed")
}
