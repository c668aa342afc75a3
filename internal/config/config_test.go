package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"fanfare/internal/account"
	"fanfare/internal/httpapi"
	"fanfare/internal/ratelimit"
)

func bound() (*Settings, *pflag.FlagSet) {
	s, f := &Settings{}, pflag.NewFlagSet("test", pflag.ContinueOnError)
	s.Bind(f)
	return s, f
}

// noFile reads no settings file.
func noFile(string) ([]byte, error) { return nil, fs.ErrNotExist }

// file returns a reader of a settings file with this text.
func file(text string) func(string) ([]byte, error) {
	return func(asked string) ([]byte, error) {
		if asked != "fanfare.yaml" {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
}

// sample returns the nth value of a setting, as a flag and as in the file.
func sample(f *pflag.Flag, n int) (flag, inFile string) {
	switch f.Value.Type() {
	case "int", "int64":
		return fmt.Sprint(100 + n), fmt.Sprint(100 + n)
	case "bool":
		return fmt.Sprint(n%2 == 1), fmt.Sprint(n%2 == 1)
	case "duration":
		return fmt.Sprintf("%ds", 100+n), fmt.Sprintf("%ds", 100+n)
	case "stringSlice":
		return fmt.Sprintf("a%d,b", n), fmt.Sprintf("[a%d, b]", n)
	}
	return fmt.Sprint("value", n), fmt.Sprint("value", n)
}

// TestPrecedence checks for every setting: flag before environment before file
// before default.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	_, all := bound()
	all.VisitAll(func(flag *pflag.Flag) {
		t.Run(flag.Name, func(t *testing.T) {
			t.Parallel()
			inFlag, _ := sample(flag, 1)
			inEnv, _ := sample(flag, 2)
			shownInFile, inFile := sample(flag, 3)
			name := variable(flag.Name)
			text := key(flag.Name) + ": " + inFile + "\n"
			for _, tt := range []struct {
				name             string
				args, env        []string
				file             func(string) ([]byte, error)
				want             string
				notForTheFileKey bool
			}{
				{"default", nil, nil, noFile, flag.DefValue, false},
				{"file", nil, nil, file(text), shownInFile, true},
				{"environment", nil, []string{name + "=" + inEnv}, file(text), inEnv, true},
				{"flag", []string{"--" + flag.Name + "=" + inFlag}, []string{name + "=" + inEnv}, file(text), inFlag, true},
			} {
				if flag.Name == "config" && tt.notForTheFileKey {
					continue
				}
				_, f := bound()
				if err := f.Parse(tt.args); err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
				warnings, err := Load(f, tt.env, tt.file)
				if err != nil || len(warnings) > 0 {
					t.Fatalf("%s: got %v, %q", tt.name, err, warnings)
				}
				got := f.Lookup(flag.Name).Value.String()
				if flag.Value.Type() == "duration" {
					got, tt.want = strings.TrimSpace(got), normal(t, tt.want)
				}
				if strings.Trim(got, "[]") != strings.Trim(tt.want, "[]") {
					t.Errorf("%s: got %s want %s", tt.name, got, tt.want)
				}
			}
		})
	})
}

// normal returns a duration as it is printed.
func normal(t *testing.T, text string) string {
	t.Helper()
	_, f := bound()
	if err := f.Set("drain-delay", text); err != nil {
		t.Fatal(err)
	}
	return f.Lookup("drain-delay").Value.String()
}

func TestConfigFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
		env  []string
		want string
	}{
		{"the default one", nil, nil, "one"},
		{"by flag", []string{"--config", "two.yaml"}, nil, "two"},
		{"by environment", nil, []string{"FANFARE_CONFIG=two.yaml"}, "two"},
		{"by flag before environment", []string{"--config", "two.yaml"}, []string{"FANFARE_CONFIG=one.yaml"}, "two"},
	} {
		s, f := bound()
		if err := f.Parse(tt.args); err != nil {
			t.Fatal(err)
		}
		_, err := Load(f, tt.env, func(name string) ([]byte, error) {
			return []byte("data: " + map[string]string{"fanfare.yaml": "one", "two.yaml": "two"}[name]), nil
		})
		if err != nil || s.Data != tt.want {
			t.Errorf("%s: got %s, %v", tt.name, s.Data, err)
		}
	}
	_, f := bound()
	if _, err := Load(f, []string{"FANFARE_CONFIG=gone.yaml"}, noFile); err == nil || !strings.Contains(err.Error(), "gone.yaml cannot be read") {
		t.Errorf("got %v for a named file that is missing", err)
	}
	_, f = bound()
	if _, err := Load(f, nil, func(string) ([]byte, error) { return nil, fs.ErrPermission }); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v for a file that is closed to us", err)
	}
}

// TestFaults checks that all errors are reported together, one line each.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file string
		env        []string
		want       []string
	}{
		{"unknown keys", "lisen: x\nlog-level: info\nfrobnicate: 1\nconfig: x\n", nil, []string{
			`settings file fanfare.yaml: unknown key "config"`,
			`settings file fanfare.yaml: unknown key "frobnicate"`,
			`settings file fanfare.yaml: unknown key "lisen": did you mean listen?`,
			`settings file fanfare.yaml: unknown key "log-level": did you mean log_level?`,
		}},
		{"a command's flag", "workspace: wks_x\njson: true\n", nil, []string{
			`settings file fanfare.yaml: unknown key "json"`, `settings file fanfare.yaml: unknown key "workspace"`,
		}},
		{"wrong values", "max_connections: many\ndrain_delay: 5\n", []string{"FANFARE_MAX_IN_FLIGHT="}, []string{
			`FANFARE_MAX_IN_FLIGHT: "" is not a valid value for max-in-flight`,
			`fanfare.yaml: "5" is not a valid value for drain-delay`,
			`fanfare.yaml: "many" is not a valid value for max-connections`,
		}},
		{"no YAML", "listen: [\n", nil, []string{"settings file fanfare.yaml is not a list of key: value in YAML: yaml: line 1: did not find expected node content"}},
		{"no keys", "- a\n- b\n", nil, []string{"settings file fanfare.yaml is not a list of key: value in YAML: yaml: unmarshal errors: line 1: cannot unmarshal !!seq into map[string]interface {}"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, f := bound()
			_, err := Load(f, tt.env, file(tt.file))
			if err == nil {
				t.Fatal("got no error")
			}
			got := strings.Split(err.Error(), "\n")
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestFonts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.ttf")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for setting, ok := range map[string]bool{"": true, dir: true, file: false, filepath.Join(dir, "none"): false} {
		s := Settings{Fonts: setting}
		if err := s.CheckFonts(); (err == nil) != ok {
			t.Errorf("%q: got %v", setting, err)
		}
	}
	with, without := Settings{Fonts: dir}, Settings{}
	if got, want := len(with.FontFolders()), len(without.FontFolders())+1; got != want {
		t.Fatalf("got %d folders want %d", got, want)
	}
	if _, err := fs.Stat(with.FontFolders()[0], "a.ttf"); err != nil {
		t.Errorf("the folder of the setting is not the first: %v", err)
	}
}

func TestCheckAssets(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"": "", "/srv/assets": "", "assets": "", "s3://pictures/a?endpoint=https://host:9000&region=eu-central-1": "",
		"gs://pictures":                           "neither a folder nor an s3:// URL",
		"S3://key:hush@pictures":                  "neither a folder nor an s3:// URL",
		"s3://key:hush@pictures":                  "AWS_ACCESS_KEY_ID",
		"s3://pictures?endpoint=http://host:9000": "use https://",
	} {
		s := Settings{Assets: setting}
		err := s.CheckAssets()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%s: got %v, want %q in it", setting, err, want)
		}
	}
}

func TestEmptyKeySaysNothing(t *testing.T) {
	t.Parallel()
	s, f := bound()
	if _, err := Load(f, nil, file("listen:\nstore: ~\ncors_origins: []\nmax_connections: 1_000\n")); err != nil {
		t.Fatal(err)
	}
	if s.Listen != "127.0.0.1:8443" || s.Store != "" || len(s.CORSOrigins) != 0 || s.MaxConnections != 1000 {
		t.Errorf("got %+v", s)
	}
}

func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	_, f := bound()
	warnings, err := Load(f, []string{"FANFARE_LISEN=x", "FANFARE_XYZZY=x", "FANFARE_KEY=x", "FANFARE_CLOCK_OFFSET=1h", "HOME=/", "NONSENSE", "FANFARE_LISTEN=127.0.0.1:1"}, noFile)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"unknown environment variable FANFARE_LISEN: did you mean FANFARE_LISTEN?", "unknown environment variable FANFARE_XYZZY"}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestParseLimits(t *testing.T) {
	t.Parallel()
	with := func(plan account.Plan, l ratelimit.Limits) map[account.Plan]ratelimit.Limits {
		all := httpapi.DefaultLimits()
		all[plan] = l
		return all
	}
	for _, tt := range []struct {
		text string
		want map[account.Plan]ratelimit.Limits
		says []string
	}{
		{"", httpapi.DefaultLimits(), nil},
		{"  ", httpapi.DefaultLimits(), nil},
		{"starter=1/2", with(account.Starter, ratelimit.Limits{PerMinute: 1, PerDay: 2, InFlight: 10}), nil},
		{" growth=0/0/3 ", with(account.Growth, ratelimit.Limits{InFlight: 3}), nil},
		{"people=30/0", with(httpapi.UserPlan, ratelimit.Limits{PerMinute: 30, InFlight: 100}), nil},
		{"peple=1/2", nil, []string{"did you mean people?"}},
		{"starter", nil, []string{"starter=minute/day"}},
		{"starter=1", nil, []string{"starter=minute/day"}},
		{"starter=1/2/3/4", nil, []string{"starter=minute/day"}},
		{"starter=-1/2", nil, []string{`"-1"`, "whole number"}},
		{"starter=1.5/2", nil, []string{`"1.5"`}},
		{"startr=1/2", nil, []string{`unknown plan "startr": did you mean starter?`, "starter, growth, enterprise"}},
		{"a=1/2,b=1/2", nil, []string{`unknown plan "a"`, `unknown plan "b"`}},
		{"starter=1/2,", nil, []string{`unknown plan ""`}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			got, err := ParseLimits(tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if (err == nil) != (tt.says == nil) {
				t.Fatalf("got %v", err)
			}
			for _, text := range tt.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("got %v, want %q in it", err, text)
				}
			}
		})
	}
}

func TestParseProxies(t *testing.T) {
	t.Parallel()
	got, err := ParseProxies([]string{"10.0.0.0/8", "192.0.2.1", "::1", "here", "10.0.0.0/99"})
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("::1/128")}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if err == nil || len(strings.Split(err.Error(), "\n")) != 2 {
		t.Errorf("got %v, want both faults", err)
	}
}

// TestCheck checks that each weak configuration is found, and nothing else.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Settings)
		limits string
		test   bool
		says   []string
	}{
		{"defaults", func(*Settings) {}, "", false, nil},
		{"test build on this machine", func(*Settings) {}, "", true, nil},
		{"public", func(s *Settings) { s.Listen = "0.0.0.0:8443" }, "", false, nil},
		{"test build in public", func(s *Settings) { s.Listen = "0.0.0.0:8443" }, "", true, []string{"release build"}},
		{"no limits on this machine", func(*Settings) {}, "starter=0/0", false, nil},
		{"no limits in public", func(s *Settings) { s.Listen = ":8443" }, "starter=0/5,growth=0/0", false, []string{"plan starter has no limit", "plan growth has no limit"}},
		{"origins", func(s *Settings) { s.CORSOrigins = []string{"https://a.example", "https://b.example:444"} }, "", false, nil},
		{"every origin", func(s *Settings) { s.CORSOrigins = []string{"*"} }, "", false, []string{"name the origins"}},
		{
			"no origins", func(s *Settings) { s.CORSOrigins = []string{"https://a.example/", "a.example", "http://a.example"} }, "", false,
			[]string{`"https://a.example/" is not`, `"a.example" is not`, `"http://a.example" is not`},
		},
		{"profiles", func(s *Settings) { s.AdminListen = "[::1]:6060" }, "", false, nil},
		{"profiles in public", func(s *Settings) { s.AdminListen = ":6060" }, "", false, []string{"use 127.0.0.1"}},
		{"profiles behind a proxy", func(s *Settings) { s.AdminListen, s.TLSMode = "127.0.0.1:1", "proxy" }, "", false, []string{"leave it out"}},
		{"policy", func(s *Settings) { s.PlaintextKeyPolicy = "warn" }, "", false, nil},
		{"no policy", func(s *Settings) { s.PlaintextKeyPolicy = "" }, "", false, []string{"revoke or warn"}},
		{"store", func(s *Settings) { s.Store = "postgresql://db/x" }, "", false, nil},
		{"no store", func(s *Settings) { s.Store = "host=db password=secret" }, "", false, []string{"postgres:// URL"}},
		{"no requests", func(s *Settings) { s.MaxInFlight = 0 }, "", false, []string{"use 1 or more"}},
		{"no time", func(s *Settings) { s.DrainDelay = -1 }, "", false, []string{"use 0s or more"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, f := bound()
			if _, err := Load(f, nil, noFile); err != nil {
				t.Fatal(err)
			}
			tt.change(s)
			limits, err := ParseLimits(tt.limits)
			if err != nil {
				t.Fatal(err)
			}
			got := s.Check(limits, tt.test)
			if len(got) != len(tt.says) {
				t.Fatalf("got %v want %d faults", got, len(tt.says))
			}
			for i, text := range tt.says {
				if !strings.Contains(got[i].Error(), text) {
					t.Errorf("got %v, want %q in it", got[i], text)
				}
			}
		})
	}
	s, _ := bound()
	s.PlaintextKeyPolicy, s.MaxInFlight = "warn", 1
	if got := s.Check(map[account.Plan]ratelimit.Limits{account.Starter: {}}, false); len(got) != 2 || !strings.Contains(got[0].Error(), "lacks growth") {
		t.Errorf("got %v for a table without plans", got)
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true,
		"0.0.0.0:1": false, ":1": false, "[::]:1": false, "192.0.2.1:1": false, "example.com:1": false, "127.0.0.1": false, "": false,
	} {
		if got := Loopback(addr); got != want {
			t.Errorf("%s: got %v", addr, got)
		}
	}
}

// TestWorkLimit checks that connections remain for new callers while the server
// works on all the requests that it may.
func TestWorkLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		connections    int
		inFlight, want int64
	}{{10_000, 1_000, 1_000}, {500, 1_000, 250}, {1, 1_000, 1}, {0, 1_000, 1_000}, {100, 8, 8}} {
		s := Settings{MaxConnections: tt.connections, MaxInFlight: tt.inFlight}
		if got := s.WorkLimit(); got != tt.want {
			t.Errorf("%d connections, %d in flight: got %d want %d", tt.connections, tt.inFlight, got, tt.want)
		}
	}
}
