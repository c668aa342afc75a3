// Package registry lists the ad platforms that can be connected, and creates
// the clients of the real platforms and of their simulations. It is the only
// package that knows all clients.
package registry

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/ga4"
	"fanfare/internal/adplatform/google"
	"fanfare/internal/adplatform/linkedin"
	"fanfare/internal/adplatform/meta"
	"fanfare/internal/adplatform/microsoft"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/tiktok"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/outbound"
	"fanfare/internal/seal"
	"fanfare/internal/secret"
)

// clients are the constructors of the clients, in the order of lists. A new
// platform is one of these lines.
var clients = []func(transport.Options) connection.Client{
	client(google.New),
	client(meta.New),
	client(tiktok.New),
	client(linkedin.New),
	client(ga4.New),
	client(microsoft.New),
}

func client[C connection.Client](create func(transport.Options) C) func(transport.Options) connection.Client {
	return func(o transport.Options) connection.Client { return create(o) }
}

// platforms are the names of the platforms of clients, in the same order.
var platforms = func() (names []string) {
	for _, create := range clients {
		names = append(names, create(transport.Options{}).About().Platform)
	}
	return names
}()

const (
	// maxAnswerBytes limits a page of a report, callTimeout one call.
	maxAnswerBytes = 64 << 20
	callTimeout    = 2 * time.Minute
)

// Options are the settings of a Registry.
type Options struct {
	// Apps are the OAuth clients of the operator, URLs the addresses of
	// platforms that replace the vendors', both by platform.
	Apps map[string]connection.OAuthClient
	URLs map[string]string
	// DailyCalls is how many calls a day the operator's OAuth clients may make,
	// by platform.
	DailyCalls map[string]int64
	// Sandbox is the URL of a separate sandbox. Without it, the sandbox runs in
	// this process and stores its state in the file State.
	Sandbox string
	State   string
	// Budgets are the call budgets that nodes share, nil if this process is the
	// only one.
	Budgets transport.BudgetStore
	// Log receives warnings for operators, nil for none.
	Log *slog.Logger
	Now func() time.Time
	// Sleep waits; nil means transport.Sleep.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Registry returns the client of each platform.
type Registry struct {
	apps         map[string]connection.OAuthClient
	dailyCalls   map[string]int64
	real, played map[string]connection.Client
	sandbox      transport.Doer
	base         string
	// inProcess says that the sandbox runs in this process.
	inProcess bool
}

var (
	_ connection.PlatformRegistry = (*Registry)(nil)
	_ connection.Sandbox          = (*Registry)(nil)
)

// New returns a registry. It sends no request.
func New(o Options) (*Registry, error) {
	r := &Registry{apps: o.Apps, dailyCalls: o.DailyCalls, real: map[string]connection.Client{}, played: map[string]connection.Client{}}
	origins, err := o.trustedOrigins()
	if err != nil {
		return nil, err
	}
	out, err := outbound.New(outbound.Options{Policy: outbound.Guarded(origins), Timeout: callTimeout, MaxBytes: maxAnswerBytes})
	if err != nil {
		return nil, fmt.Errorf("make client for platforms: %w", err)
	}
	r.sandbox, r.base = out, strings.TrimSuffix(o.Sandbox, "/")
	if o.Sandbox == "" {
		server, err := sandbox.New(sandbox.Options{Now: o.Now, State: o.State})
		if err != nil {
			return nil, fmt.Errorf("open sandbox: %w", err)
		}
		r.sandbox, r.base, r.inProcess = server, "http://sandbox", true
	}
	for i, platform := range platforms {
		played := transport.Options{Base: r.base + sandbox.Prefix(platform), Do: r.sandbox, Log: o.Log, Now: o.Now, Sleep: o.Sleep}
		if !r.inProcess {
			played.Name, played.Budgets = "sandbox/"+platform, o.Budgets
		}
		r.played[platform] = clients[i](played)
		r.real[platform] = clients[i](transport.Options{
			Base: strings.TrimSuffix(o.URLs[platform], "/"), Do: out, Name: platform, Budgets: o.Budgets, AppPerDay: o.DailyCalls[platform], Log: o.Log, Now: o.Now, Sleep: o.Sleep,
		})
	}
	return r, nil
}

// trustedOrigins returns the addresses that the operator has configured: the
// sandbox and the addresses of platforms.
func (o *Options) trustedOrigins() (list []string, err error) {
	for platform, raw := range o.URLs {
		if !isKnown(platform) {
			return nil, fmt.Errorf("platform URL for %q: there is no such platform", platform)
		}
		origin, err := originOf(raw)
		if err != nil {
			return nil, fmt.Errorf("platform URL for %s: %w", platform, err)
		}
		list = append(list, origin)
	}
	for platform := range o.Apps {
		if !isKnown(platform) {
			return nil, fmt.Errorf("OAuth client for %q: there is no such platform", platform)
		}
	}
	for platform := range o.DailyCalls {
		if !isKnown(platform) {
			return nil, fmt.Errorf("daily calls for %q: there is no such platform", platform)
		}
	}
	if o.Sandbox == "" {
		return list, nil
	}
	origin, err := originOf(o.Sandbox)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return append(list, origin), nil
}

func isKnown(platform string) bool { return slices.Contains(platforms, platform) }

func originOf(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", fmt.Errorf("%q is not an address such as http://127.0.0.1:8787", raw)
	}
	return u.Scheme + "://" + u.Host, nil
}

// About implements connection.PlatformRegistry.
func (r *Registry) About() []connection.About {
	list := make([]connection.About, len(platforms))
	for i, platform := range platforms {
		list[i] = r.real[platform].About()
	}
	return list
}

// sunsetNotice is how many days before the end of a platform's API version the
// log warns.
const sunsetNotice = 60

// WarnOfSunsets warns the operator to update the server before a platform ends
// an API version.
func (r *Registry) WarnOfSunsets(now time.Time, log *slog.Logger) {
	today := clock.DateIn(now, time.UTC)
	for _, p := range r.About() {
		if p.Sunset != nil && *p.Sunset-sunsetNotice <= today {
			log.Warn("platform API version ends soon: update the server before its last day", "platform", p.Platform, "version", p.Version, "last_day", p.Sunset.String())
		}
	}
}

// Client implements connection.PlatformRegistry.
func (r *Registry) Client(platform string, sandbox bool) (connection.Client, bool) {
	list := r.real
	if sandbox {
		list = r.played
	}
	client, there := list[platform]
	return client, there
}

// App implements connection.PlatformRegistry.
func (r *Registry) App(platform string) (connection.OAuthClient, bool) {
	a, there := r.apps[platform]
	return a, there
}

// DailyCalls implements connection.PlatformRegistry.
func (r *Registry) DailyCalls(platform string) int64 { return r.dailyCalls[platform] }

// sandboxGrant is the sandbox's answer for one platform.
type sandboxGrant struct {
	Access    string `json:"access_token"`
	Refresh   string `json:"refresh_token"`
	ExpiresIn int64  `json:"expires_in"`
}

// Open implements connection.Sandbox.
//
// Choice: the sandbox in this process gives every connection its own accounts
// unless a seed is set, so that two workspaces do not show the same metrics. A
// separate sandbox always has the accounts that it was started with.
func (r *Registry) Open(ctx context.Context, w connection.SandboxOptions) (map[string]connection.Credentials, error) {
	seed := w.Seed
	if seed == nil && r.inProcess {
		h := fnv.New64a()
		_, _ = h.Write([]byte(w.Connection))
		n := int64(h.Sum64() >> 12)
		seed = &n
	}
	body, err := json.Marshal(struct {
		Seed     *int64 `json:"seed,omitzero"`
		Currency string `json:"currency"`
		Timezone string `json:"timezone"`
	}{seed, string(w.Defaults.Currency), w.Defaults.Zone})
	if err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+"/_sandbox/grants", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask sandbox: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.sandbox.Do(req)
	if err != nil {
		return nil, &connection.Error{Class: connection.Transient, Code: "unreachable", Message: "The sandbox could not be reached.", Cause: err}
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
		return nil, &connection.Error{Class: connection.Transient, Code: cmp.Or(resp.Status, "broken_off"), Message: "The sandbox gives no access.", Cause: err}
	}
	var answer struct {
		Data map[string]sandboxGrant `json:"data"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("read the answer of the sandbox: %w", err)
	}
	return r.toCredentials(answer.Data, w.Connection, clock.At(w.Now)), nil
}

// issuers are the platforms whose tokens belong to the grant of another one.
var issuers = map[string]string{connection.PlatformGA4: connection.PlatformGoogleAds}

// toCredentials returns the credentials of a connection to the sandbox, which
// nobody else uses.
func (r *Registry) toCredentials(list map[string]sandboxGrant, id ident.ID, now clock.Instant) map[string]connection.Credentials {
	ring := map[string]connection.Credentials{}
	for platform, g := range list {
		if !isKnown(platform) {
			continue // a separate sandbox can play more platforms than this server has
		}
		k := connection.Credentials{
			Access: secret.New(g.Access), Refresh: secret.New(g.Refresh), IssuedAt: now,
			App: connection.OAuthClient{ID: connection.PlatformSandbox, Secret: secret.New(connection.PlatformSandbox)},
		}
		k.Grant = "sandbox/" + cmp.Or(issuers[platform], platform) + "/" + string(id)
		if g.ExpiresIn > 0 {
			at := now.Add(time.Duration(g.ExpiresIn) * time.Second)
			k.ExpiresAt = &at
		}
		ring[platform] = k
	}
	return ring
}

// Server returns the sandbox of this process, nil if it is separate.
func (r *Registry) Server() *sandbox.Server {
	server, _ := r.sandbox.(*sandbox.Server)
	return server
}

// Vault seals credentials with a keyring.
type Vault struct{ Ring *seal.Ring }

var _ connection.Vault = Vault{}

// GrantHashes implements connection.Vault.
func (v Vault) GrantHashes(grant string) []string { return v.Ring.Digests("platform grant", grant) }

func sealContext(workspace, id ident.ID, version int64) seal.Context {
	return seal.Context{Workspace: string(workspace), Record: string(id), Field: "credentials", Version: version}
}

// Seal implements connection.Vault.
func (v Vault) Seal(workspace, id ident.ID, version int64, plain secret.Text) (string, error) {
	return v.Ring.Seal(sealContext(workspace, id, version), plain)
}

// Open implements connection.Vault.
func (v Vault) Open(workspace, id ident.ID, version int64, sealed string) (secret.Text, error) {
	return v.Ring.Open(sealContext(workspace, id, version), sealed)
}
