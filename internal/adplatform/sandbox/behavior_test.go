package sandbox

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/PLATFORM-BEHAVIORS.md")

const behaviorTable = "../../../docs/PLATFORM-BEHAVIORS.md"

// TestBehaviorTable checks that every behavior has a unique row with a source,
// that its test exists, and that the table in the documentation is the one in the
// code.
func TestBehaviorTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range Behaviors() {
		if b.ID == "" || seen[b.ID] || apiOf(b.Platform) == nil || b.Summary == "" || b.Client == "" || b.Source == "" {
			t.Errorf("got %+v, want a unique id, a platform, a summary, what the client does, and a source", b)
		}
		seen[b.ID] = true
		folder, test, _ := strings.Cut(b.Test, " ")
		if !hasTest(t, filepath.Join("../../..", folder), test) {
			t.Errorf("%s: there is no test %q", b.ID, b.Test)
		}
	}
	got := behaviorsText()
	if *update {
		if err := os.WriteFile(behaviorTable, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(behaviorTable)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not the table in the code: run go test ./internal/adplatform/sandbox -run BehaviorTable -update", behaviorTable)
	}
}

// hasTest reports whether a folder has a test function.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if pattern.Match(text) {
			return true
		}
	}
	return false
}

// behaviorsText returns the table for the documentation.
func behaviorsText() string {
	var b strings.Builder
	b.WriteString(`# Behaviors of the platforms

What the platforms document and the sandbox simulates, because it changes numbers or access. A switch turns a behavior on:
` + "`POST /_sandbox/behaviors {\"platform\": \"meta_ads\", \"switch\": \"deleted_hidden\"}`" + `, with ` + "`value`" + ` where the switch takes one and ` + "`account`" + ` for one account only.
Rows without a switch are always simulated. The test of a row fails if the client does not handle the behavior. Two switches are for every platform:
` + "`accounts`" + ` (how many accounts a grant opens) and ` + "`maturation_days`" + ` (for how many days metrics change).

This table is made from the code of the sandbox.

| # | Platform | What the platform does | What the client does | Switch | Source | Test |
|---|---|---|---|---|---|---|
`)
	for _, v := range Behaviors() {
		name := cmp.Or(v.Switch, "always")
		if v.Values != nil {
			name += "=" + strings.Join(v.Values, "\\|")
		} else if v.Number {
			name += "=N"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | `%s` | %s | `%s` |\n", v.ID, v.Platform, v.Summary, v.Client, name, v.Source, v.Test)
	}
	return b.String()
}

// TestSwitches checks that switches are validated, apply to their accounts, and
// change the number of accounts and the days for which metrics change.
func TestSwitches(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, Options{})
	for _, bad := range []BehaviorRule{
		{Switch: "nosuch"}, {Switch: BehaviorAccounts}, {Switch: BehaviorAccounts, Value: "0"}, {Switch: BehaviorAccounts, Value: "3", Platform: "nosuch"},
	} {
		if err := s.TurnOn(bad); err == nil {
			t.Errorf("%+v: got no error", bad)
		}
	}
	granted, err := s.Grant(s.Own())
	if err != nil {
		t.Fatal(err)
	}
	access := granted[MetaAds].AccessToken
	if err := s.TurnOn(BehaviorRule{Platform: MetaAds, Switch: BehaviorAccounts, Value: "300"}); err != nil {
		t.Fatal(err)
	}
	list, err := newTestCall(s, MetaAds).Accounts(access)
	ids := map[string]bool{}
	for _, a := range list {
		ids[a.ID] = true
	}
	if err != nil || len(ids) != 300 || list[299].Name != shopName+" 300" {
		t.Errorf("got %d accounts with %d ids, %v, want 300", len(list), len(ids), err)
	}
	last := list[299]
	if a, err := newTestCall(s, MetaAds).AccountByID(access, last.ID); err != nil || a != last {
		t.Errorf("got %v, %v, want the account by its id", a, err)
	}
	day := s.Today(last) - 40
	before := s.Truth(last, day, day).Families["base"][0]
	if err := s.TurnOn(BehaviorRule{Account: last.ID, Switch: BehaviorMaturation, Value: "90"}); err != nil {
		t.Fatal(err)
	}
	after := s.Truth(last, day, day).Families["base"][0]
	if *after.RevenueMicros >= *before.RevenueMicros || *after.Impressions != *before.Impressions {
		t.Errorf("got revenue %d then %d, want less while it changes for 90 days", *before.RevenueMicros, *after.RevenueMicros)
	}
	s.TurnAllOff()
	if list, err := newTestCall(s, MetaAds).Accounts(access); err != nil || len(list) != 1 {
		t.Errorf("got %d accounts, %v, want 1 without a switch", len(list), err)
	}
}
