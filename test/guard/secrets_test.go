package guard_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/backup"
	"fanfare/internal/clock"
	"fanfare/internal/fanfaretest"
)

// secretPlacement is a place in a request where a secret does not belong. KEY
// is replaced by the secret.
type secretPlacement struct {
	name, method, target string
	body                 string
	headers              []string
	plain                bool
}

// secretPlacements are the places of a request that a key can get into by
// mistake.
func secretPlacements() []secretPlacement {
	var list []secretPlacement
	for _, h := range []string{
		"Authorization: KEY", "Authorization: Bearer KEY", "Authorization: bearer  KEY", "Authorization: Basic KEY", "Authorization: Bearer KEY, Bearer KEY",
		"Authorization: Bearer KEYx", "X-Api-Key: KEY", "Cookie: session=KEY", "User-Agent: KEY", "Referer: https://example.com/?k=KEY", "X-Request-Id: KEY",
		"If-Match: KEY", `If-Match: "KEY"`, "If-None-Match: KEY", "Prefer: KEY", "Accept: KEY", "Accept: KEY/KEY", "Origin: https://KEY.example.com", "Traceparent: KEY",
		"Content-Type: KEY", "Content-Encoding: KEY", "X-Forwarded-For: KEY", "Forwarded: for=KEY", "KEY: x",
	} {
		list = append(list, secretPlacement{name: "header " + h, method: "GET", target: "/v1/campaigns/cmp_x", headers: []string{h}},
			secretPlacement{name: "header " + h, method: "POST", target: "/v1/campaigns", body: `{"name":1}`, headers: []string{h}},
			secretPlacement{name: "plain header " + h, method: "GET", target: "/v1/me", headers: []string{h}, plain: true})
	}
	for _, q := range []string{
		"KEY", "KEY=1", "key=KEY", "key=a+KEY+b", "limit=KEY", "cursor=KEY", "sort=KEY", "order=KEY", "status=KEY", "status=active,KEY", "start_date=KEY",
		"timezone=KEY", "audience_id=KEY", "channel=KEY", "q=KEY&q=KEY", "a=%zzKEY", "a;KEY", "objective=KEY&nonsense=KEY", "resource_id=KEY&x=1", "resource_id=KEY", "type=KEY",
	} {
		for _, path := range []string{"/v1/campaigns", "/v1/events", "/v1/me", "/v1/nothing", "/docs", "/nothing"} {
			list = append(list, secretPlacement{name: "query " + q, method: "GET", target: path + "?" + q})
		}
		list = append(list, secretPlacement{name: "plain query " + q, method: "GET", target: "/v1/me?" + q, plain: true})
	}
	for _, path := range []string{"/KEY", "/v1/KEY", "/v1/campaigns/KEY", "/v1/campaigns/KEY/launch", "/v1/events/KEY", "/docs/KEY", "/v1/campaigns/cmp_KEY", "/vKEY", "/v9/KEY"} {
		for _, method := range []string{"GET", "POST", "DELETE", "KEY"} {
			list = append(list, secretPlacement{name: "path", method: method, target: path}, secretPlacement{name: "plain path", method: method, target: path, plain: true})
		}
	}
	for _, body := range []string{
		`KEY`, `"KEY"`, `["KEY"]`, `{"KEY"`, `{"KEY":1}`, `{"name":"x","KEY":"KEY"}`, `{"name":KEY}`, `{"name":"x"}KEY`, `{"name":"x","name":"KEY"}`, "{\"name\":\"KEY\x00\"}", "{\"name\":\"KEY\xff\"}",
		`{"name":{"KEY":1}}`, `{"name":["KEY"]}`, `{"name":"x","objective":"KEY"}`, `{"name":"x","channels":["KEY"]}`, `{"name":"x","budget":{"type":"KEY","amount":"KEY","currency":"KEY"}}`,
		`{"name":"x","budget":{"KEY":{}}}`, `{"name":"x","schedule":{"start_at":"KEY","timezone":"KEY"}}`, `{"name":"x","tracking":{"landing_url":"https://a/{{KEY}}"}}`,
		`{"name":"x","tracking":{"landing_url":"http://KEY"}}`, `{"name":"x","tracking":{"utm":{"KEY":"KEY"}}}`, `{"name":"x","metadata":{"KEY":1}}`, `{"name":"x","metadata":{"KEYKEY":"x"}}`,
		`{"name":"x","tags":["KEY","KEY"]}`, `{"name":"x","audience_ids":["KEY"]}`, `{"name":"x","audience_ids":["KEY"],"excluded_audience_ids":["KEY"]}`, `{"name":"x","goal":{"metric":"KEY","direction":"KEY"}}`, `{"name":"x","id":"KEY","status":"KEY"}`,
	} {
		list = append(list, secretPlacement{name: "body " + body, method: "POST", target: "/v1/campaigns", body: body}, secretPlacement{name: "plain body " + body, method: "POST", target: "/v1/campaigns", body: body, plain: true})
	}
	return list
}

// send sends a request with the secret in its place, and with another caller's
// valid key if the placement allows it.
func (y secretPlacement) send(t *testing.T, w *fanfaretest.Service, c *fanfaretest.Client, secret string) (*httptest.ResponseRecorder, string) {
	t.Helper()
	fill := func(s string) string { return strings.ReplaceAll(s, "KEY", secret) }
	var body io.Reader
	if y.body != "" {
		body = strings.NewReader(fill(y.body))
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "https://fanfare.test/", body)
	r.Method, r.RemoteAddr, r.RequestURI = fill(y.method), c.From, fill(y.target)
	path, query, _ := strings.Cut(r.RequestURI, "?")
	r.URL.Path, r.URL.RawQuery = path, query
	r.Header.Set("Content-Type", "application/json")
	if !y.plain {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	for _, h := range y.headers {
		name, value, _ := strings.Cut(fill(h), ": ")
		if name == "Authorization" || name == "Content-Type" {
			r.Header.Del(name)
		}
		r.Header.Add(name, value)
	}
	if y.plain {
		return sendPlain(w, r, true), r.RequestURI
	}
	return serveRequest(w, r), r.RequestURI
}

// TestDrillK12Secrets: keys that are sent in wrong places do not appear in the
// log, in an answer or in a backup.
func TestDrillK12Secrets(t *testing.T) {
	w := fanfaretest.New(t, nil)
	w.App.API.Limits[account.Enterprise] = w.App.API.Limits["none"]
	a := w.Tenant(account.Enterprise)
	broken := &failingEvents{Events: w.App.API.Events, fault: fmt.Errorf("a bug")}
	var secrets []string
	// Two out of three secrets are valid keys.
	makeSecret := func(i int) string {
		if i%3 == 0 {
			return account.NewSecret(rand.Reader)
		}
		email := fmt.Sprintf("user%d@example.com", i)
		if _, err := w.App.Accounts.AddMember(t.Context(), fanfaretest.Operator, a.Workspace, email, "editor", false); err != nil {
			t.Fatal(err)
		}
		secret, k, err := w.App.Accounts.CreateKey(t.Context(), fanfaretest.Operator, a.Workspace, email, account.KeyOptions{Name: "k"})
		if err != nil {
			t.Fatal(err)
		}
		// A workspace can have a hundred keys.
		if i >= 90 {
			if _, err := w.App.Accounts.Revoke(t.Context(), fanfaretest.Operator, a.Workspace, k.ID, "test"); err != nil {
				t.Fatal(err)
			}
		}
		return secret
	}
	for i := range 200 {
		secrets = append(secrets, makeSecret(i))
	}
	sent, repeats, statuses, uses := 0, 1, map[int]int{}, ""
	if fullDrill {
		repeats = 20
	}
	list := secretPlacements()
	for round := range repeats {
		for i, y := range list {
			secret := secrets[(i+round*7)%len(secrets)]
			c := w.Client(a.Key)
			c.From = fmt.Sprintf("203.0.%d.%d:1", i/250, i%250+1)
			// Normal operation, with a panic and under overload, which are
			// logged.
			for mood := range 3 {
				w.App.API.Events, w.App.API.MaxInFlight = broken.Events, 1000
				switch mood {
				case 1:
					w.App.API.Events = broken
				case 2:
					w.App.API.MaxInFlight = 0
				}
				rec, target := y.send(t, w, c, secret)
				sent++
				statuses[rec.Code]++
				// Only the first use of a key in a second is stored.
				w.Clock.Advance(time.Second)
				if strings.Contains(y.name, "User-Agent") {
					uses += storedUserAgents(t, w, a)
				}
				answer := rec.Body.String() + fmt.Sprint(rec.Header())
				if strings.Contains(answer, secret) {
					t.Errorf("%s %s %s: got the secret in the answer: %s", y.name, y.method, target, answer)
				}
				if rec.Code < 400 && y.plain {
					t.Errorf("%s: got %d over plain HTTP", y.name, rec.Code)
				}
			}
		}
	}
	for _, status := range []int{400, 401, 403, 404, 405, 406, 415, 422, 500, 503} {
		if statuses[status] == 0 {
			t.Errorf("got the answers %v, want some %d, or little was tested", statuses, status)
		}
	}
	stored := append(backupContent(t, w), uses...)
	log := w.Log.String()
	for _, secret := range append(secrets, a.Key) {
		for _, form := range []string{secret, secret[5:35], base64.StdEncoding.EncodeToString([]byte(secret))} {
			if strings.Contains(log, form) {
				t.Errorf("got a secret in the log: %.300s", log[max(0, strings.Index(log, form)-200):])
			}
			if bytes.Contains(stored, []byte(form)) {
				at := bytes.Index(stored, []byte(form))
				t.Errorf("got a secret in the backup: …%q…", stored[max(0, at-80):at+80])
			}
		}
	}
	if !bytes.Contains(stored, []byte(account.HashSecret(a.Key).String())) {
		t.Error("got no hash of a key in the backup, so it was not read rightly")
	}
	t.Logf("secrets %d canaries, %d requests in %d ways, 0 in the log, answers or backup", len(secrets), sent, len(list))
}

// storedUserAgents returns the stored user agents of a workspace's keys.
func storedUserAgents(t *testing.T, w *fanfaretest.Service, a *fanfaretest.Tenant) (agents string) {
	t.Helper()
	if err := w.App.Keys.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys, err := w.App.Accounts.Keys(t.Context(), a.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		agents += k.LastAgent + "\n"
	}
	return agents
}

// backupContent returns the unpacked content of a backup.
func backupContent(t *testing.T, w *fanfaretest.Service) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup")
	if _, err := backup.Create(t.Context(), backup.Parts{Store: w.App.Engine, Files: w.App.Files}, path, backup.Manifest{CreatedAt: clock.At(w.Clock.Now())}, func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	z.Multistream(false)
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return append(plain, raw...)
}
