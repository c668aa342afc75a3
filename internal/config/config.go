// Package config reads the settings of a server. A flag overrides the
// environment, the environment overrides the file, and the file overrides the
// default. Every setting is one flag, so that names, types and defaults are in
// one list.
package config

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"fanfare/internal/account"
	"fanfare/internal/httpapi"
	"fanfare/internal/nearest"
	"fanfare/internal/ratelimit"
)

// Settings has the values of all settings.
type Settings struct {
	File               string
	Listen             string
	Data               string
	Store              string
	Metrics            string
	Assets             string
	MasterKey          string
	PublicURL          string
	HistoryDays        int
	OAuth              []string
	PlatformURLs       []string
	PlatformCalls      []string
	Sandbox            string
	SMTPURL            string
	SMTPFrom           string
	OIDCIssuer         string
	OIDCClientID       string
	OIDCSecretFile     string
	OIDCName           string
	Limits             string
	PlaintextKeyPolicy string
	TLSMode            string
	TLSCert            string
	TLSKey             string
	ACMEDomains        []string
	ACMEEmail          string
	ACMEDirectory      string
	ACMERoots          string
	TrustedProxies     []string
	ProxyProtocol      bool
	CORSOrigins        []string
	AdminListen        string
	MaxConnections     int
	MaxInFlight        int64
	MaxWorkspaces      int64
	// Fonts is a folder with fonts for pictures.
	Fonts        string
	MaxAssetGiB  int64
	WriteTimeout time.Duration
	DrainDelay   time.Duration
	LogLevel     string
	LogFormat    string
}

// prefix is the prefix of the environment variables of all settings.
const prefix = "FANFARE_"

// Bind declares the settings as flags.
func (s *Settings) Bind(f *pflag.FlagSet) {
	f.StringVar(&s.File, "config", "fanfare.yaml", "settings file; the default may be missing")
	f.StringVar(&s.Listen, "listen", "127.0.0.1:8443", "address and port to serve HTTPS on")
	f.StringVar(&s.Data, "data", "./fanfare-data", "folder for the database, certificates, images and the control socket")
	f.StringVar(&s.Store, "store", "", "postgres:// URL of the database (default is SQLite in the data folder)")
	f.StringVar(&s.Metrics, "metrics", "", "metrics database: duckdb for a file in the data folder, or a postgres:// or clickhouse+https:// URL of a database that nodes share (default is the database of --store, else duckdb)")
	f.StringVar(&s.Assets, "assets", "", "folder or s3://bucket/prefix for uploaded and generated images, the same for all nodes (default is assets in the data folder)")
	f.StringVar(&s.MasterKey, "master-key", "", "file of the master key, which encrypts stored secrets; created if missing (default is master.key in the data folder)")
	f.StringVar(&s.PublicURL, "public-url", "", "address of the server for browsers, in links and OAuth redirects (default is https://localhost and the port)")
	f.StringSliceVar(&s.OAuth, "oauth", nil, "OAuth clients at ad platforms, as a platform=ID:SECRET list, for meta_ads optionally ID:SECRET:CONFIG_ID; set it in the environment to hide the secrets")
	f.StringSliceVar(&s.PlatformCalls, "platform-calls", nil, "calls a day that ad platforms allow your OAuth clients, as a platform=NUMBER list (default is no limit but the platforms' own)")
	f.StringSliceVar(&s.PlatformURLs, "platform-urls", nil, "other API addresses of ad platforms, as a platform=URL list")
	f.StringVar(&s.Sandbox, "sandbox", "", "address of a standalone sandbox for sandbox connections (default is the one in the server)")
	f.IntVar(&s.HistoryDays, "history-days", 730, "days that the backfill of a new connection goes back")
	f.StringVar(&s.SMTPURL, "smtp-url", "", "smtp[s]://user:password@host:port of the server that sends invites and password resets (default is none: links are shown instead); set it in the environment to hide the password")
	f.StringVar(&s.SMTPFrom, "smtp-from", "", "sender of emails, such as Fanfare <fanfare@example.com>")
	f.StringVar(&s.OIDCIssuer, "oidc-issuer", "", "URL of the OpenID Connect issuer for single sign-on (default is none)")
	f.StringVar(&s.OIDCClientID, "oidc-client-id", "", "client ID of this server at the issuer")
	f.StringVar(&s.OIDCSecretFile, "oidc-client-secret-file", "", "file with the client secret of this server at the issuer")
	f.StringVar(&s.OIDCName, "oidc-name", "", "label of the single sign-on button (default is single sign-on)")
	f.StringVar(&s.Limits, "limits", "", "rate limits, as a plan=minute/day[/inflight] list; 0 is unlimited; people=600/0/100 limits each signed-in user (default is the specification's)")
	f.StringVar(&s.PlaintextKeyPolicy, "plaintext-key-policy", "revoke", "what happens to an API key that was sent without TLS: revoke or warn")
	f.StringVar(&s.TLSMode, "tls-mode", "auto", "auto (local certificate authority), file, acme or proxy")
	f.StringVar(&s.TLSCert, "tls-cert", "", "certificate file for --tls-mode file")
	f.StringVar(&s.TLSKey, "tls-key", "", "key file for --tls-mode file")
	f.StringSliceVar(&s.ACMEDomains, "acme-domains", nil, "host names of the certificates, for --tls-mode acme")
	f.StringVar(&s.ACMEEmail, "acme-email", "", "contact email for the certificate authority")
	f.StringVar(&s.ACMEDirectory, "acme-directory", "", "ACME directory URL (default is Let's Encrypt)")
	f.StringVar(&s.ACMERoots, "acme-roots", "", "PEM file with the root certificates of the ACME directory")
	f.StringSliceVar(&s.TrustedProxies, "trusted-proxies", nil, "CIDRs of the proxies in front of the server, for --tls-mode proxy or --proxy-protocol")
	f.BoolVar(&s.ProxyProtocol, "proxy-protocol", false, "connections of trusted proxies, which pass TLS through, begin with the client's address (PROXY protocol, version 2)")
	f.StringSliceVar(&s.CORSOrigins, "cors-origins", nil, "web origins that may call the API from a browser (default is none)")
	f.StringVar(&s.AdminListen, "admin-listen", "", "loopback address for profiling over HTTPS (default is off)")
	f.IntVar(&s.MaxConnections, "max-connections", 10_000, "maximum number of open connections")
	f.Int64Var(&s.MaxInFlight, "max-in-flight", 1_000, "maximum number of concurrent requests; above it, requests that can wait are refused; at most half of max-connections")
	f.DurationVar(&s.WriteTimeout, "write-timeout", 30*time.Second, "how long a client may stop reading a response before it is disconnected")
	f.Int64Var(&s.MaxWorkspaces, "max-workspaces", 10, "maximum number of workspaces that a user can create in the console; 0 allows only the operator")
	f.StringVar(&s.Fonts, "fonts", "", "folder with fonts (ttf, otf, ttc) for pictures with scripts that the embedded fonts lack, such as Arabic or Chinese; the folders of the system are searched after it")
	f.Int64Var(&s.MaxAssetGiB, "max-asset-gib", 10, "maximum GiB of images per workspace, each counted as 64 KiB or more; 0 is unlimited")
	f.DurationVar(&s.DrainDelay, "drain-delay", 5*time.Second, "how long the server still accepts requests after the stop signal while /readyz fails, so that load balancers remove it (not on a terminal)")
	f.StringVar(&s.LogLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&s.LogFormat, "log-format", "auto", "text, json, or auto (text on a terminal)")
}

// Load sets the flags that the command line omits from the environment and the
// file. The set must have only settings: a command's own flags come only from
// the command line. Load returns warnings, and an error that names every
// invalid setting.
func Load(f *pflag.FlagSet, environ []string, readFile func(string) ([]byte, error)) (warnings []string, err error) {
	env := map[string]string{}
	for _, pair := range environ {
		if name, v, _ := strings.Cut(pair, "="); strings.HasPrefix(name, prefix) {
			env[name] = v
		}
	}
	var faults []error
	set := func(flag *pflag.Flag, v, origin string) {
		if err := f.Set(flag.Name, v); err != nil {
			faults = append(faults, fmt.Errorf("%s: %q is not a valid value for %s", origin, v, flag.Name))
		}
	}
	given := map[string]bool{}
	names := []string{}
	f.VisitAll(func(flag *pflag.Flag) {
		given[flag.Name] = flag.Changed
		name := variable(flag.Name)
		names = append(names, name)
		if v, has := env[name]; has && !given[flag.Name] {
			set(flag, v, name)
			given[flag.Name] = true
		}
	})
	for name := range env {
		if !slices.Contains(names, name) && !slices.Contains(reserved, name) {
			warnings = append(warnings, "unknown environment variable "+name+hint(name, names))
		}
	}
	slices.Sort(warnings)
	faults = append(faults, fromFile(f, given, readFile, set)...)
	return warnings, errors.Join(faults...)
}

// reserved lists variables that other parts of the project read.
var reserved = []string{"FANFARE_TEST_POSTGRES", "FANFARE_PG_BIN", "FANFARE_CLOCK_OFFSET", "FANFARE_CLOCK_SKEW", "FANFARE_KEY", "FANFARE_API_KEY", "FANFARE_URL"}

func variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func fromFile(f *pflag.FlagSet, given map[string]bool, readFile func(string) ([]byte, error), set func(*pflag.Flag, string, string)) []error {
	path := f.Lookup("config").Value.String()
	text, err := readFile(path)
	if errors.Is(err, os.ErrNotExist) && !given["config"] {
		return nil
	}
	if err != nil {
		return []error{fmt.Errorf("settings file %s cannot be read: %w", path, err)}
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		return []error{fmt.Errorf("settings file %s is not a list of key: value in YAML: %s", path, strings.Join(strings.Fields(err.Error()), " "))}
	}
	var faults []error
	var known []string
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "config" {
			known = append(known, key(flag.Name))
		}
	})
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		flag := f.Lookup(strings.ReplaceAll(name, "_", "-"))
		if flag == nil || !slices.Contains(known, name) {
			faults = append(faults, fmt.Errorf("settings file %s: unknown key %q%s", path, name, hint(name, known)))
			continue
		}
		// A key without a value is ignored.
		if !given[flag.Name] && values[name] != nil {
			set(flag, plain(values[name]), path)
		}
	}
	return faults
}

// key returns the name of a setting in the file.
func key(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// plain formats a YAML value as a flag accepts it.
func plain(v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	words := make([]string, len(list))
	for i, item := range list {
		words[i] = fmt.Sprint(item)
	}
	return strings.Join(words, ",")
}

func hint(name string, known []string) string {
	if near := nearest.Word(name, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// WorkLimit returns the number of requests that the server works on at once.
// Choice: at most half of the connections, because a connection whose request
// is worked on is not closed for a new connection, which may have the request
// to pause a campaign.
func (s *Settings) WorkLimit() int64 {
	if s.MaxConnections == 0 {
		return s.MaxInFlight
	}
	return min(s.MaxInFlight, max(1, int64(s.MaxConnections)/2))
}

// ParseLimits parses plan=minute/day[/inflight] and applies it to the defaults.
// Its error names every invalid entry.
func ParseLimits(text string) (map[account.Plan]ratelimit.Limits, error) {
	limits := httpapi.DefaultLimits()
	if strings.TrimSpace(text) == "" {
		return limits, nil
	}
	var faults []error
	for part := range strings.SplitSeq(text, ",") {
		faults = append(faults, parseLimit(strings.TrimSpace(part), limits))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return limits, nil
}

func parseLimit(part string, limits map[account.Plan]ratelimit.Limits) error {
	plan, numbers, _ := strings.Cut(part, "=")
	if known := append([]string{string(httpapi.UserPlan)}, account.Plans...); !slices.Contains(known, plan) {
		return fmt.Errorf("limits: unknown plan %q%s; plans are %s, and people", plan, hint(plan, known), strings.Join(account.Plans, ", "))
	}
	fields := strings.Split(numbers, "/")
	l := limits[account.Plan(plan)]
	targets := []*int64{&l.PerMinute, &l.PerDay, &l.InFlight}
	if len(fields) < 2 || len(fields) > len(targets) {
		return fmt.Errorf("limits: %q must be %s=minute/day[/inflight], such as %s=60/10000", part, plan, plan)
	}
	for i, field := range fields {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("limits: %q in %q is not a whole number: use one from 0 up", field, part)
		}
		*targets[i] = n
	}
	limits[account.Plan(plan)] = l
	return nil
}

// ParseProxies parses CIDRs; an address without a prefix length is a network of
// one. Its error names every invalid entry.
func ParseProxies(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	var faults []error
	for _, text := range list {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			addr, addrErr := netip.ParseAddr(text)
			if addrErr != nil {
				faults = append(faults, fmt.Errorf("trusted-proxies: %q is not a network: write it as 10.0.0.0/8 or 10.0.0.5", text))
				continue
			}
			p = netip.PrefixFrom(addr, addr.BitLen())
		}
		out = append(out, p)
	}
	return out, errors.Join(faults...)
}
