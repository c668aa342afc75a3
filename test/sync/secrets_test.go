package sync_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/connection"
	"fanfare/test/program"
)

// echoingPlatform repeats every secret of a request in the messages of its
// answer, and records these secrets and those that it issues.
type echoingPlatform struct {
	sandbox *sandbox.Server
	mu      sync.Mutex
	secrets map[string]bool
}

var (
	// issuedSecret matches secrets in answers, secretMember those in requests.
	issuedSecret  = regexp.MustCompile(`"(?:access_token|refresh_token)":"([^"]+)"`)
	secretMember  = regexp.MustCompile(`"(?:secret|auth_code|access_token)":"([^"]+)"`)
	messageMember = regexp.MustCompile(`"(?:message|error_description|error_user_msg|error_user_title|code|status)":"`)
	secretNames   = []string{"access_token", "refresh_token", "client_secret", "secret", "code", "auth_code", "code_verifier", "fb_exchange_token", "token", "appsecret_proof"}
)

// addSecrets records secrets. It ignores short ones, which occur by chance.
func (g *echoingPlatform) addSecrets(list ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range list {
		if len(s) >= 16 {
			g.secrets[s] = true
		}
	}
}

func (g *echoingPlatform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	sent := []string{strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.Header.Get("Access-Token")}
	form, _ := url.ParseQuery(string(body))
	for _, name := range secretNames {
		sent = append(sent, r.URL.Query().Get(name), form.Get(name))
	}
	for _, m := range secretMember.FindAllSubmatch(body, -1) {
		sent = append(sent, string(m[1]))
	}
	g.addSecrets(sent...)
	answer := httptest.NewRecorder()
	g.sandbox.ServeHTTP(answer, r)
	for _, m := range issuedSecret.FindAllSubmatch(answer.Body.Bytes(), -1) {
		g.addSecrets(string(m[1]))
	}
	text := answer.Body.String()
	if answer.Code != http.StatusOK || strings.HasPrefix(text, `{"code":4`) {
		text = messageMember.ReplaceAllStringFunc(text, func(word string) string { return word + strings.Join(sent, " ") + " " })
	}
	maps.Copy(w.Header(), answer.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(answer.Code)
	_, _ = io.WriteString(w, text)
}

// secretsTest has a server with echoing platforms and records its answers.
type secretsTest struct {
	*testing.T
	*echoingPlatform
	server  *program.Server
	url     string
	key     string
	answers strings.Builder
	made    int
}

// canary returns a secret of the caller.
func (v *secretsTest) canary(kind string) string {
	v.made++
	s := fmt.Sprintf("canary-%s-%04d-%08x", kind, v.made, v.made*2654435761)
	v.addSecrets(s)
	return s
}

func (v *secretsTest) call(method, path, body string) (int, []byte) {
	v.Helper()
	status, text := v.server.Call(v.key, method, path, body)
	v.answers.WriteString(text + "\n")
	return status, []byte(text)
}

// oauthPlatforms are the paths of all platforms on the sandbox.
var oauthPlatforms = func() map[string]string {
	list := map[string]string{}
	for _, platform := range connection.Played {
		list[platform] = sandbox.Prefix(platform)
	}
	return list
}()

func newSecretsTest(t *testing.T) *secretsTest {
	t.Helper()
	v := &secretsTest{T: t, echoingPlatform: &echoingPlatform{secrets: map[string]bool{}}}
	var err error
	if v.sandbox, err = sandbox.New(sandbox.Options{Seed: 1, Now: time.Now}); err != nil {
		t.Fatal(err)
	}
	platforms := httptest.NewServer(v.echoingPlatform)
	t.Cleanup(platforms.Close)
	v.url = platforms.URL
	var urls, apps []string
	for platform, prefix := range oauthPlatforms {
		urls = append(urls, platform+"="+v.url+prefix)
		apps = append(apps, platform+"=app-"+platform+":"+v.canary("operator"))
	}
	v.server = program.Start(t, program.Options{Args: []string{"--sandbox", v.url}, Env: []string{
		"FANFARE_OAUTH=" + strings.Join(apps, ","), "FANFARE_PLATFORM_URLS=" + strings.Join(urls, ","),
		"FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0", "FANFARE_LOG_LEVEL=debug",
	}})
	out := v.server.Run("workspace", "create", "--name", "Secrets", "--owner", "owner@example.com", "--plan", "enterprise", "--json")
	var made struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(out.Out), &made); err != nil || made.Key == "" {
		t.Fatalf("make a workspace: %v %+v", err, out)
	}
	v.key = made.Key
	return v
}

// TestSecretsAreNotExposed sends more than 200 secrets in all requests that
// accept one, to platforms that repeat them, and searches the log, all answers,
// events, the audit log and a backup for them.
func TestSecretsAreNotExposed(t *testing.T) {
	t.Parallel()
	v := newSecretsTest(t)
	for _, platform := range slices.Sorted(maps.Keys(oauthPlatforms)) {
		v.connectInvalid(platform)
		v.connectValid(platform)
		v.connectByConsent(platform)
	}
	pending := v.startConsents()
	v.readEverything()
	v.searchSecrets(pending)
}

// connectInvalid connects with invalid credentials.
func (v *secretsTest) connectInvalid(platform string) {
	v.Helper()
	for i := range 10 {
		body := fmt.Sprintf(`{"platform":%q,"name":"Wrong %d","credentials":{"access_token":%q,"refresh_token":%q,"client_id":"me","client_secret":%q}}`,
			platform, i, v.canary("access"), v.canary("refresh"), v.canary("client"))
		if i%2 == 1 {
			body = fmt.Sprintf(`{"platform":%q,"name":"Wrong %d","credentials":{"refresh_token":%q,"client_id":"me","client_secret":%q}}`, platform, i, v.canary("refresh"), v.canary("client"))
		}
		if status, text := v.call(http.MethodPost, "/v1/connections", body); status < 400 || status > 503 {
			v.Errorf("%s: got %d want a refusal: %s", platform, status, text)
		}
	}
	for _, body := range []string{`{"platform":%q,"name":"x","credentials":%q}`, `{"platform":%q,"name":"x","credentials":{"access_token":[%q]}}`, `{"platform":%q,"credentials":{"client_secret":%q}}`, `{"platform":%q,"name":"x","credentials":{"access_token":%q}`} {
		v.call(http.MethodPost, "/v1/connections", fmt.Sprintf(body, platform, v.canary("misplaced")))
	}
}

// connectValid connects with valid credentials of the sandbox, applies all
// faults, and reconnects with invalid and valid ones.
func (v *secretsTest) connectValid(platform string) {
	v.Helper()
	credentials := func() string {
		opened, err := v.sandbox.Grant(v.sandbox.Own())
		if err != nil {
			v.Fatal(err)
		}
		a := opened[platform]
		v.addSecrets(a.AccessToken)
		text := fmt.Sprintf(`"access_token":%q,"client_id":"me","client_secret":%q`, a.AccessToken, v.canary("client"))
		if a.RefreshToken != nil {
			v.addSecrets(*a.RefreshToken)
			text += fmt.Sprintf(`,"refresh_token":%q`, *a.RefreshToken)
		}
		return `{` + text + `}`
	}
	var made struct {
		Data state `json:"data"`
	}
	status, text := v.call(http.MethodPost, "/v1/connections", fmt.Sprintf(`{"platform":%q,"name":"Right","credentials":%s}`, platform, credentials()))
	if err := json.Unmarshal(text, &made); err != nil || status != http.StatusCreated {
		v.Fatalf("%s: got %d %v want 201: %s", platform, status, err, text)
	}
	one := "/v1/connections/" + made.Data.ID
	for _, fault := range []string{sandbox.FaultExpiredToken, sandbox.FaultRotatedToken, sandbox.FaultVersionSunset, sandbox.FaultAccountDisabled, sandbox.FaultRevokedToken} {
		if err := v.sandbox.AddFault(sandbox.FaultRule{Fault: fault, Platform: platform, Count: new(2)}); err != nil {
			v.Fatal(err)
		}
	}
	v.call(http.MethodPost, one+"/sync", "")
	v.waitForSyncs(one)
	v.call(http.MethodPost, one+"/reconnect", fmt.Sprintf(`{"credentials":{"access_token":%q}}`, v.canary("access")))
	v.call(http.MethodPost, one+"/reconnect", `{"credentials":`+credentials()+`}`)
	v.call(http.MethodPost, one+"/sync", "")
	v.waitForSyncs(one)
	v.call(http.MethodDelete, one, "")
	v.sandbox.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(v.Context(), http.MethodDelete, "http://sandbox/_sandbox/faults", http.NoBody))
}

// connectByConsent connects by OAuth, once with an invalid code.
func (v *secretsTest) connectByConsent(platform string) {
	v.Helper()
	var made struct {
		Data struct {
			ID  string `json:"id"`
			URL string `json:"authorization_url"`
		} `json:"data"`
	}
	status, text := v.server.Call(v.key, http.MethodPost, "/v1/connections", fmt.Sprintf(`{"platform":%q,"name":"Granted"}`, platform))
	if err := json.Unmarshal([]byte(text), &made); err != nil || status != http.StatusCreated {
		v.Fatalf("%s: got %d %v want 201: %s", platform, status, err, text)
	}
	at, err := url.Parse(made.Data.URL)
	if err != nil {
		v.Fatal(err)
	}
	back := "/oauth/callback/" + platform + "?state=" + url.QueryEscape(at.Query().Get("state")) + "&"
	for _, name := range []string{"code=", "auth_code="} {
		at := back + name + v.canary("code")
		v.call(http.MethodGet, at, "")
		v.confirmConsent(at)
	}
	v.call(http.MethodGet, "/oauth/callback/"+platform+"?state="+v.canary("state")+"&code="+v.canary("code"), "")
	req, err := http.NewRequestWithContext(v.Context(), http.MethodGet, made.Data.URL, http.NoBody)
	if err != nil {
		v.Fatal(err)
	}
	res, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	if err != nil {
		v.Fatal(err)
	}
	_ = res.Body.Close()
	to, err := res.Location()
	if err != nil {
		v.Fatalf("%s: got %d %v want the way back", platform, res.StatusCode, err)
	}
	v.addSecrets(to.Query().Get("code"), to.Query().Get("auth_code"))
	if status, text := v.call(http.MethodGet, to.RequestURI(), ""); status != http.StatusOK {
		v.Errorf("%s: got %d want to be asked: %s", platform, status, text)
	}
	if status := v.confirmConsent(to.RequestURI()); status != http.StatusOK {
		v.Errorf("%s: got %d want access", platform, status)
	}
	v.call(http.MethodGet, to.RequestURI(), "")
}

// confirmConsent confirms the page that shows who gets access.
func (v *secretsTest) confirmConsent(target string) (status int) {
	v.Helper()
	req, err := http.NewRequestWithContext(v.Context(), http.MethodPost, v.server.URL+target, http.NoBody)
	if err != nil {
		v.Fatal(err)
	}
	req.Header.Set("Origin", v.server.URL)
	res, err := v.server.Client().Do(req)
	if err != nil {
		v.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		v.Fatal(err)
	}
	v.answers.Write(append(text, '\n'))
	return res.StatusCode
}

// startConsents starts OAuth without completing it, and returns the states in
// the URLs, which only the caller gets.
func (v *secretsTest) startConsents() (states []string) {
	v.Helper()
	for platform := range oauthPlatforms {
		_, text := v.server.Call(v.key, http.MethodPost, "/v1/connections", fmt.Sprintf(`{"platform":%q,"name":"Pending"}`, platform))
		if _, state, ok := strings.Cut(text, "state="); ok {
			states = append(states, state[:40])
		}
	}
	return states
}

// waitForSyncs waits until no sync runs, or it waits for a throttled platform.
func (v *secretsTest) waitForSyncs(path string) {
	v.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(maxWait); ; <-tick.C {
		_, text := v.call(http.MethodGet, path, "")
		_, waiting := v.call(http.MethodGet, path+"/syncs?status=waiting", "")
		if bytes.Contains(text, []byte(`"state":"idle"`)) || bytes.Contains(waiting, []byte(`"status":"waiting"`)) {
			return
		}
		if time.Now().After(end) {
			v.Fatalf("%s is still synced after %s: %s", path, maxWait, text)
		}
	}
}

// readEverything reads all answers that could contain a secret.
func (v *secretsTest) readEverything() {
	v.Helper()
	var list struct {
		Data []state `json:"data"`
	}
	_, text := v.call(http.MethodGet, "/v1/connections?limit=100", "")
	if err := json.Unmarshal(text, &list); err != nil {
		v.Fatal(err)
	}
	for _, s := range list.Data {
		v.call(http.MethodGet, "/v1/connections/"+s.ID, "")
		v.call(http.MethodGet, "/v1/connections/"+s.ID+"/syncs", "")
		v.call(http.MethodGet, "/v1/connections/"+s.ID+"/entities", "")
	}
	v.call(http.MethodGet, "/v1/events?limit=100", "")
	v.call(http.MethodGet, "/v1/platforms", "")
}

// searchSecrets searches for every secret, and for states outside of their
// answers.
func (v *secretsTest) searchSecrets(states []string) {
	v.Helper()
	file := filepath.Join(v.TempDir(), "backup")
	if out := v.server.Run("backup", "create", file); out.Code != 0 {
		v.Fatalf("backup: %+v", out)
	}
	packed, err := os.ReadFile(file)
	if err != nil {
		v.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		v.Fatal(err)
	}
	zip.Multistream(false)
	unpacked, err := io.ReadAll(zip)
	if err != nil {
		v.Fatal(err)
	}
	master, err := os.ReadFile(filepath.Join(v.server.Data, "master.key"))
	if err != nil {
		v.Fatal(err)
	}
	var ring struct {
		Active string            `json:"active"`
		Keys   map[string]string `json:"keys"`
	}
	if err := json.Unmarshal(master, &ring); err != nil || len(ring.Keys) == 0 {
		v.Fatalf("master key: %v in %d bytes", err, len(master))
	}
	places := map[string]string{"log": v.server.Log.String() + v.server.Out.String(), "answers": v.answers.String(), "backup": string(packed), "unpacked backup": string(unpacked)}
	for id, key := range ring.Keys {
		for place, text := range places {
			if strings.Contains(text, key) {
				v.Errorf("the master key is in the %s", place)
			}
		}
		if !bytes.Contains(unpacked, []byte(id)) {
			v.Errorf("the backup does not name the master key %s that it needs", id)
		}
	}
	v.mu.Lock() // background syncs still call the platform
	defer v.mu.Unlock()
	for secret := range v.secrets {
		for place, text := range places {
			if at := strings.Index(text, secret); at >= 0 {
				v.Errorf("the secret %.20s… is in the %s: …%.200s", secret, place, text[max(0, at-150):])
			}
		}
	}
	for _, s := range states {
		if strings.Contains(places["log"], s) {
			v.Errorf("a state is in the log")
		}
	}
	if v.made < 200 || len(v.secrets) < v.made || len(states) == 0 || len(unpacked) < 10_000 {
		v.Errorf("got %d secrets, %d states and a backup of %d bytes want more", len(v.secrets), len(states), len(unpacked))
	}
	v.Logf("%d secrets of callers and %d of platforms looked for in %d bytes of log, %d of answers and %d of a backup", v.made, len(v.secrets)-v.made, len(places["log"]), len(places["answers"]), len(unpacked))
}
