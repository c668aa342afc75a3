// Package platforms_test compares the requests of the platforms' own SDKs with
// those of the clients, both sent to the sandbox. Without the SDKs, the clients
// would only be tested against the project's own simulation.
//
// A platform has a script that uses its SDK, and a test that runs it:
//
//	s := openSandbox(t, sandbox.MetaAds)
//	s.runScript(t, "meta.mjs", intent, &answered)
//	sdk := s.journal(t)
//	… the same with our client, at s.url+"/meta" with s.clientOptions(…) …
//	compareCalls(t, s.journal(t), sdk, comparison{…})
package platforms_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/secret"
	"fanfare/test/program"
)

// now is the time of the sandbox and the clients.
var now = time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)

// install installs the SDKs, once.
var install = sync.OnceValue(func() error { return program.Packages() })

// testSandbox is a sandbox for one test with access to one platform.
type testSandbox struct {
	// url is the sandbox's address without TLS; platforms are below it, by
	// prefix.
	url string
	// grant is access to the platform of the test, grants to all.
	grant  sandboxGrant
	grants map[string]sandboxGrant

	tlsPort, roots string
}

// sandboxGrant is access to an account.
type sandboxGrant struct {
	Account string `json:"account_id"`
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Seconds int64  `json:"expires_in"`
}

// openSandbox starts a sandbox and obtains access to a platform.
func openSandbox(t *testing.T, platform string) *testSandbox {
	t.Helper()
	server, err := sandbox.New(sandbox.Options{Seed: 7, Currency: "EUR", Timezone: "Europe/Berlin", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	plain := httptest.NewServer(server)
	t.Cleanup(plain.Close)
	secured := httptest.NewUnstartedServer(server)
	authority := newAuthority(t)
	secured.TLS = &tls.Config{GetCertificate: authority.certificate}
	secured.StartTLS()
	t.Cleanup(secured.Close)
	_, port, err := net.SplitHostPort(secured.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := &testSandbox{url: plain.URL, tlsPort: port, roots: authority.file}
	var grants struct{ Data map[string]sandboxGrant }
	s.control(t, http.MethodPost, "grants", map[string]any{}, &grants)
	s.grants, s.grant = grants.Data, grants.Data[platform]
	if s.grant.Account == "" || s.grant.Access == "" {
		t.Fatalf("the sandbox grants no access to %s: %v", platform, grants.Data)
	}
	return s
}

// control calls the sandbox's own operations.
func (s *testSandbox) control(t *testing.T, method, path string, in, out any) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+"/_sandbox/"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: got %d", method, path, resp.StatusCode)
	}
	if out == nil {
		return
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
}

// addFault makes the platform fail once.
func (s *testSandbox) addFault(t *testing.T, platform, fault string) {
	t.Helper()
	s.control(t, http.MethodPost, "faults", map[string]any{"platform": platform, "fault": fault, "count": 1}, nil)
}

// runScript runs an SDK's script. The script gets the grant and the intent, and
// its output is decoded into out, unless that is nil.
func (s *testSandbox) runScript(t *testing.T, script string, intent, out any) {
	t.Helper()
	if err := install(); err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(map[string]any{"grant": s.grant, "intent": intent})
	if err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(t.TempDir(), "output.json")
	preload, err := filepath.Abs("loopback.cjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "--require", preload, script)
	// SDKs read keys, addresses and proxies from the environment, so they get
	// no other variables.
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "NODE_EXTRA_CA_CERTS=" + s.roots,
		"SANDBOX_TLS_PORT=" + s.tlsPort, "SANDBOX_URL=" + s.url, "SANDBOX_INPUT=" + string(input), "SANDBOX_OUTPUT=" + output,
	}
	if printed, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, printed)
	}
	if out == nil {
		return
	}
	answered, err := os.ReadFile(output)
	if err != nil {
		t.Fatalf("%s gave no answer: %v", script, err)
	}
	if err := json.Unmarshal(answered, out); err != nil {
		t.Fatalf("%s answered %s: %v", script, answered, err)
	}
}

// clientOptions returns the options of a client, with the platform's prefix.
func (s *testSandbox) clientOptions(prefix string) transport.Options {
	return transport.Options{Base: s.url + prefix, Do: http.DefaultClient, Now: func() time.Time { return now }}
}

// credentials returns the grant for a client.
func (s *testSandbox) credentials() connection.Credentials {
	c := connection.Credentials{
		Access: secret.New(s.grant.Access), IssuedAt: clock.At(now),
		App: connection.OAuthClient{ID: "sandbox-app", Secret: secret.New("sandbox-secret")},
	}
	if s.grant.Refresh != "" {
		c.Refresh = secret.New(s.grant.Refresh)
	}
	return c
}

// testAuthority is a certificate authority that only the scripts trust, with a
// certificate for every host.
type testAuthority struct {
	file string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *testAuthority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	// The SDKs check certificates with the real time.
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Sandbox"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	// The parsed certificate has the identifier of its key, which those that it
	// signs have to repeat.
	if cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a := &testAuthority{filepath.Join(t.TempDir(), "roots.pem"), cert, key}
	if err := os.WriteFile(a.file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// certificate returns a certificate for the requested host.
func (a *testAuthority) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: hello.ServerName}, DNSNames: []string{hello.ServerName},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter,
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}, nil
}
