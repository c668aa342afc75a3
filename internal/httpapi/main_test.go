package httpapi_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"fanfare/internal/fanfaretest"
	"fanfare/internal/store/pgtest"
)

// TestMain runs the tests and then checks that every operation was seen with
// every status that the contract documents for it. It skips this check in a
// filtered run.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.checks", checksPerProperty()); err != nil {
		panic(err)
	}
	pgtest.Main(m, func() {
		missing := unseen()
		if !wholeRun() || len(missing) == 0 {
			return
		}
		fmt.Fprintln(os.Stderr, "FAIL: documented in the contract and never seen in a test:")
		for _, e := range missing {
			fmt.Fprintf(os.Stderr, "\t%s %d\n", e.Operation, e.Status)
		}
		os.Exit(1)
	})
}

// fullDrill selects the long drills.
var fullDrill = os.Getenv("FANFARE_DRILL") == "full"

// checksPerProperty is low because each check sends many requests to the whole
// service; the long drills do more.
func checksPerProperty() string {
	if fullDrill {
		return "500"
	}
	return "8"
}

// wholeRun reports whether the tests that provoke every status were all run.
func wholeRun() bool {
	for _, name := range []string{"test.skip", "test.fuzz", "test.list", "test.bench"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	run := flag.Lookup("test.run").Value.String()
	return run == "" || run == "Contract"
}

// unseen returns the documented statuses that no test has seen.
func unseen() []fanfaretest.Exchange {
	seen := fanfaretest.SeenExchanges()
	var missing []fanfaretest.Exchange
	for id, op := range fanfaretest.TheContract().Operations() {
		for status := range op.Responses.Map() {
			n, err := strconv.Atoi(status)
			e := fanfaretest.Exchange{Operation: id, Status: n}
			if err != nil || seen[e] == 0 {
				missing = append(missing, e)
			}
		}
	}
	slices.SortFunc(missing, func(a, b fanfaretest.Exchange) int {
		return slices.Compare([]string{a.Operation, strconv.Itoa(a.Status)}, []string{b.Operation, strconv.Itoa(b.Status)})
	})
	return missing
}
