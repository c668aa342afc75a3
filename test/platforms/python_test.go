package platforms_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
)

// The environments of Python, below environments: the SDKs, and the Singer tap,
// which needs another version of Meta's SDK.
const (
	environments   = ".venv"
	sdkEnvironment = "sdk"
	tapEnvironment = "tap"
)

// installPython installs the Python packages, once for each version of their
// lists. All files have hashes, and nothing is left out: a package that cannot be
// installed is an error.
var installPython = sync.OnceValue(func() error {
	wanted := []byte{}
	for _, name := range []string{"requirements.txt", "requirements-source.txt", "requirements-tap.txt", "requirements-tap-source.txt"} {
		list, err := os.ReadFile(filepath.Join("python", name))
		if err != nil {
			return err
		}
		wanted = append(wanted, list...)
	}
	version, err := exec.Command("python3", "--version").Output()
	if err != nil {
		return errors.New("python3 is missing: run make setup, which installs it, or make test, which does both")
	}
	wanted = append(wanted, version...)
	mark := filepath.Join(environments, "installed.txt")
	if installed, err := os.ReadFile(mark); err == nil && slices.Equal(installed, wanted) {
		return nil
	}
	// The lists are complete, so that pip looks for no other packages. Python
	// compiles what a script imports; the SDKs are much larger than that.
	sdk, tap := filepath.Join(environments, sdkEnvironment), filepath.Join(environments, tapEnvironment)
	pip := []string{filepath.Join(sdk, "bin", "python"), "-m", "pip"}
	install := []string{"install", "--quiet", "--disable-pip-version-check", "--no-compile", "--no-deps", "--require-hashes"}
	intoTap := slices.Concat(pip, []string{"--python", filepath.Join(tap, "bin", "python")}, install)
	for _, command := range [][]string{
		{"python3", "-m", "venv", "--clear", sdk},
		{"python3", "-m", "venv", "--clear", "--without-pip", tap},
		slices.Concat(pip, install, []string{"--only-binary=:all:", "-r", "python/requirements.txt"}),
		slices.Concat(pip, install, []string{"--no-build-isolation", "-r", "python/requirements-source.txt"}),
		slices.Concat(intoTap, []string{"--only-binary=:all:", "-r", "python/requirements-tap.txt"}),
		slices.Concat(intoTap, []string{"--no-build-isolation", "-r", "python/requirements-tap-source.txt"}),
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w (Python 3.11 or newer with venv is needed: run make setup)\n%s", command, err, out)
		}
	}
	return os.WriteFile(mark, wanted, 0o600)
})

// adFamily marks reports of Meta by ad. The truth has no totals of them, because
// metrics of deleted ad sets are not in them: Meta's SDK checks the difference, and
// the tap has to read the same as the SDK.
const adFamily = "ads"

// pythonAnswer is the output of a script: the accounts that the SDK lists, and
// the totals of its reports.
type pythonAnswer struct {
	Accounts []string
	Totals   []pythonTotal
}

// pythonTotal has the sums of a report by measures of the truth.
type pythonTotal struct {
	Name, Family string
	First, Last  clock.Date
	Sums         map[string]int64
	// Part says that the report has no metrics of ads that were removed.
	Part bool
}

// TestPython runs the platforms' own Python SDKs and a Singer tap, all unmodified,
// against one sandbox. The scripts check what the SDKs return; the totals of their
// reports have to be the truth.
func TestPython(t *testing.T) {
	t.Parallel()
	if err := installPython(); err != nil {
		t.Fatal(err)
	}
	s := openSandbox(t, sandbox.MetaAds)
	var ads map[string]int64
	for _, sdk := range []struct {
		name, platform, environment string
		reports                     int
	}{
		{"meta", sandbox.MetaAds, sdkEnvironment, 11},
		{"tap", sandbox.MetaAds, tapEnvironment, 1},
		{"ga4", sandbox.GA4, sdkEnvironment, 4},
		{"google_ads", sandbox.GoogleAds, sdkEnvironment, 7},
		{"tiktok", sandbox.TikTokAds, sdkEnvironment, 8},
		{"linkedin", sandbox.LinkedInAds, sdkEnvironment, 10},
	} {
		t.Run(sdk.name, func(t *testing.T) {
			var answered pythonAnswer
			s.runPython(t, sdk.environment, sdk.name, sdk.platform, reportIntent, &answered)
			account := s.grants[sdk.platform].Account
			if !slices.Contains(answered.Accounts, account) {
				t.Errorf("got accounts %v want %s among them", answered.Accounts, account)
			}
			if len(answered.Totals) != sdk.reports {
				t.Errorf("got %d reports want %d", len(answered.Totals), sdk.reports)
			}
			for _, total := range answered.Totals {
				if total.Family != adFamily {
					s.compareTotal(t, account, total)
					continue
				}
				if ads == nil {
					ads = total.Sums
				}
				if diff := cmp.Diff(ads, total.Sums); diff != "" {
					t.Errorf("%s: differs from the report of the SDK (-SDK +got):\n%s", total.Name, diff)
				}
			}
		})
	}
}

// compareTotal compares the sums of a report with the truth.
func (s *testSandbox) compareTotal(t *testing.T, account string, total pythonTotal) {
	t.Helper()
	var truth struct {
		Data struct {
			Families map[string][]map[string]any
		}
	}
	query := url.Values{"account": {account}, "start_date": {total.First.String()}, "end_date": {total.Last.String()}}
	s.control(t, http.MethodGet, "truth?"+query.Encode(), nil, &truth)
	days := truth.Data.Families[total.Family]
	if len(days) == 0 || len(total.Sums) == 0 {
		t.Errorf("%s: the truth has %d days of %s, the report %d measures", total.Name, len(days), total.Family, len(total.Sums))
	}
	for measure, got := range total.Sums {
		want := int64(0)
		for _, day := range days {
			n, ok := day[measure].(float64)
			if !ok {
				t.Fatalf("%s: the truth has no %s", total.Name, measure)
			}
			want += int64(n)
		}
		// Ads that were removed have a small part of all metrics.
		if total.Part && got < want && got > want*9/10 {
			continue
		}
		if got != want || got == 0 {
			t.Errorf("%s: got %s %d want %d", total.Name, measure, got, want)
		}
	}
}

// lastDay is the last day of the reports of scripts, reportIntent what they ask
// for.
const lastDay = clock.Date(20_746)

var reportIntent = map[string]any{
	"first": lastDay - 29, "middle": lastDay - 15, "after": lastDay - 14, "last": lastDay, "app": "sandbox-app", "secret": "sandbox-secret", "version": "202610",
}

// runPython runs a script of the folder python with the packages of an
// environment and decodes its answer. All hosts are the sandbox.
func (s *testSandbox) runPython(t *testing.T, environment, script, platform string, intent map[string]any, answered any) {
	t.Helper()
	input, err := json.Marshal(map[string]any{"grant": s.grants[platform], "intent": intent})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs("python")
	if err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(t.TempDir(), "output.json")
	cmd := exec.CommandContext(t.Context(), filepath.Join(environments, environment, "bin", "python"), filepath.Join("python", script+".py"))
	// SDKs read keys, addresses and proxies from the environment, so they get no
	// other variables.
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "PYTHONPATH=" + folder, "PYTHONUTF8=1", "REQUESTS_CA_BUNDLE=" + s.roots, "SANDBOX_ROOTS=" + s.roots,
		"SANDBOX_TLS_PORT=" + s.tlsPort, "SANDBOX_URL=" + s.url, "SANDBOX_INPUT=" + string(input), "SANDBOX_OUTPUT=" + output,
	}
	if printed, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s.py: %v\n%s", script, err, printed)
	}
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatalf("%s.py gave no answer: %v", script, err)
	}
	if err := json.Unmarshal(text, answered); err != nil {
		t.Fatalf("%s.py answered %s: %v", script, text, err)
	}
}
