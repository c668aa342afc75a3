package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/account"
	"fanfare/internal/asset/s3"
	"fanfare/internal/httpapi"
	"fanfare/internal/listen"
	"fanfare/internal/ratelimit"
	"fanfare/internal/secret"
)

// Check returns an error with its fix for every insecure or invalid combination
// of settings.
func (s *Settings) Check(limits map[account.Plan]ratelimit.Limits, testBuild bool) []error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	public := !Loopback(s.Listen)
	for _, plan := range account.Plans {
		if limits == nil {
			break // the error was reported when the setting was read
		}
		l, known := limits[account.Plan(plan)]
		switch {
		case !known:
			add("the plan table lacks %s: add %s=minute/day to --limits", plan, plan)
		case public && l.PerMinute == 0:
			add("plan %s has no limit per minute and %s is a public address: give it one in --limits, or listen on 127.0.0.1", plan, s.Listen)
		}
	}
	if slices.Contains(s.CORSOrigins, "*") {
		add("cors-origins is *: every request carries a key, so name the origins that may send it")
	}
	for _, origin := range s.CORSOrigins {
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "") {
			add("cors-origins: %q is not an origin such as https://app.example.com", origin)
		}
	}
	if s.AdminListen != "" && !Loopback(s.AdminListen) {
		add("admin-listen %s can be reached from outside and serves profiles: use 127.0.0.1", s.AdminListen)
	}
	if s.AdminListen != "" && s.TLSMode == listen.ModeProxy {
		add("admin-listen %s needs a certificate, which --tls-mode proxy does not have: leave it out", s.AdminListen)
	}
	if testBuild && public {
		add("this binary was built with test tags and %s is a public address: use a release build", s.Listen)
	}
	if !slices.Contains([]string{"revoke", "warn"}, s.PlaintextKeyPolicy) {
		add("plaintext-key-policy %q is not revoke or warn", s.PlaintextKeyPolicy)
	}
	if s.HistoryDays < 90 || s.HistoryDays > 1096 {
		add("history-days %d is out of range: use 90 to 1096; the first 90 are always read, and platforms give about three years", s.HistoryDays)
	}
	if s.MaxInFlight < 1 {
		add("max-in-flight %d would refuse every request: use 1 or more", s.MaxInFlight)
	}
	if s.MaxWorkspaces < 0 {
		add("max-workspaces %d is negative: use 0 or more", s.MaxWorkspaces)
	}
	if s.MaxAssetGiB < 0 || s.MaxAssetGiB > maxAssetGiB {
		add("max-asset-gib %d is out of range: use 0 to %d", s.MaxAssetGiB, maxAssetGiB)
	}
	if l, known := limits[httpapi.UserPlan]; known && public && l.PerMinute == 0 {
		add("people have no limit per minute and %s is a public address: give them one with --limits people=600/0/100", s.Listen)
	}
	if s.DrainDelay < 0 {
		add("drain-delay %s is negative: use 0s or more", s.DrainDelay)
	}
	if err := s.CheckStore(); err != nil {
		faults = append(faults, err)
	}
	if err := s.CheckAssets(); err != nil {
		faults = append(faults, err)
	}
	if err := s.CheckFonts(); err != nil {
		faults = append(faults, err)
	}
	return faults
}

// maxAssetGiB is a pebibyte, so that the number of bytes cannot overflow.
const maxAssetGiB = 1 << 20

// CheckStore returns an error if the settings of the store or of the metrics name
// no database.
func (s *Settings) CheckStore() error {
	if s.Store != "" && !postgres(s.Store) {
		return fmt.Errorf("store %s is not a postgres:// URL: correct it, or leave it out for SQLite in the data folder", shown(s.Store))
	}
	switch {
	case s.Metrics == "" || s.Metrics == MetricsFile || postgres(s.Metrics):
		return nil
	case !clickhouse(s.Metrics):
		return fmt.Errorf("metrics %s is neither %s nor a postgres://, clickhouse+http:// or clickhouse+https:// URL: correct it, or leave it out for the database of the store", shown(s.Metrics), MetricsFile)
	case s.Store == "":
		return errors.New("metrics in ClickHouse need records in PostgreSQL: set --store to a postgres:// URL, or leave out --metrics")
	}
	return nil
}

// CheckAssets returns an error if the setting of assets is a URL that names no
// bucket.
func (s *Settings) CheckAssets() error {
	if s3.IsLocation(s.Assets) {
		_, err := s3.ParseLocation(s.Assets)
		return err
	}
	if strings.Contains(s.Assets, "://") {
		return fmt.Errorf("assets %s is neither a folder nor an s3:// URL: correct it, or leave it out for the data folder", shown(s.Assets))
	}
	return nil
}

// MetricsFile is the setting for metrics in a file of the data folder.
const MetricsFile = "duckdb"

func postgres(setting string) bool {
	return strings.HasPrefix(setting, "postgres://") || strings.HasPrefix(setting, "postgresql://")
}

func clickhouse(setting string) bool {
	return strings.HasPrefix(setting, "clickhouse+http://") || strings.HasPrefix(setting, "clickhouse+https://")
}

// MetricsURL returns the address of the database of the metrics, empty if they are
// in a file.
func (s *Settings) MetricsURL() string {
	if s.Metrics == MetricsFile {
		return ""
	}
	return cmp.Or(s.Metrics, s.Store)
}

// shown returns a quoted setting without its password.
func shown(raw string) string { return strconv.Quote(secret.RedactSetting(raw)) }

// Loopback reports whether an address can only be reached from this machine.
func Loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
