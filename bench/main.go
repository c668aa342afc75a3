// Command bench measures the service against the bare limit of the same
// machine in the same run, and prints ratios. Absolute times move with the
// machine; ratios taken alternately hardly do. CPU per request is what the
// server process itself reports, so that the client costs nothing.
//
// The measurements, by the name that -only takes:
//
//	P1  one campaign against fixed bytes
//	P2  a page of 20 campaigns deep in a million
//	P3  durable creates, many at once against one commit each
//	P4  the same work on PocketBase
//	P5  a custom query against the same SQL in DuckDB
//	P6  the reports against the same from the facts alone
//	P7  reads of a campaign while heavy queries run
//	P8  facts replaced, against DuckDB's appender
//	P9  from start to ready, on an empty and on a large data folder
//	P10 the same calls on ten thousand and on many records, with P9
//	P11 three months of five sandbox accounts synced
//	P12 the queries of P5 and the reports on PostgreSQL and ClickHouse, against
//	    the same SQL there
//	P13 the CPU of a request with one, two and three nodes
//
// creative and console have no number.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fanfare/internal/metrics/clickhouse/chtest"
)

var (
	seconds = flag.Float64("seconds", 1.5, "length of one measurement")
	rounds  = flag.Int("rounds", 5, "alternating measurements per ratio")
	rows    = flag.Int("rows", 1_000_000, "records for the deep list")
	only    = flag.String("only", "", "P1 to P8, P11 to P13, creative or console; P9 and P10 together are P9")
	drill   = flag.Bool("drill", false, "measure what takes long: P9 and P10")
	// drillRows make a data folder of more than 10 GB.
	drillRows = flag.Int("drill-rows", 10_000_000, "records for P9 and P10")
	profile   = flag.String("profile", "", "folder for CPU profiles of our server")
)

func main() {
	flag.Parse()
	chtest.Serve()
	if role := os.Getenv("BENCH_ROLE"); role != "" {
		serveRole(role)
		return
	}
	dir, err := os.MkdirTemp("", "fanfare-bench-")
	check(err)
	defer func() { _ = os.RemoveAll(dir) }()
	check(os.Chmod(dir, 0o711)) // PostgreSQL does not run as root
	fmt.Printf("%-58s %10s %10s  %s\n", "", "got", "to reach", "")
	for _, b := range []struct {
		name string
		long bool
		run  func(dir string)
	}{
		{"P1", false, benchGet},
		{"P2", false, benchList},
		{"P3", false, benchCreate},
		{"P4", false, benchPeers},
		{"creative", false, benchCreative},
		{"P5 P6 P7 P8", false, benchFacts},
		{"P11", false, benchSync},
		{"console", false, benchConsole},
		{"P12", false, benchEngines},
		{"P13", false, benchNodes},
		{"P9", true, benchStart},
	} {
		names := strings.Fields(b.name)
		if slices.Contains(names, *only) || *only == "" && *drill == b.long {
			sub := filepath.Join(dir, names[0])
			check(os.Mkdir(sub, 0o755))
			b.run(sub)
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// printAtLeast prints a result that must be at least its target.
func printAtLeast(what string, got, reach float64, detail string) {
	mark := "reached"
	if got < reach {
		mark = fmt.Sprintf("MISSED by %.0f %%", 100*(1-got/reach))
	}
	fmt.Printf("%-58s %10.2f %10.2f  %s  %s\n", what, got, reach, mark, detail)
}

// printAtMost prints a result that must be at most its target.
func printAtMost(what string, got, most float64, detail string) {
	mark := "reached"
	if got > most {
		mark = fmt.Sprintf("MISSED by %.0f %%", 100*(got/most-1))
	}
	fmt.Printf("%-58s %10.2f %10.2f  %s  %s\n", what, got, most, mark, detail)
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

func measurementTime() time.Duration { return time.Duration(*seconds * float64(time.Second)) }

// sample is one measurement.
type sample struct {
	perSecond float64
	// cpu is the server's CPU time per request in microseconds.
	cpu float64
	p50 time.Duration
}

// compare measures loads alternately and returns the median samples.
func compare(loads ...func() sample) []sample {
	all := make([][]sample, len(loads))
	for range *rounds {
		for i, load := range loads {
			all[i] = append(all[i], load())
		}
	}
	out := make([]sample, len(loads))
	for i, list := range all {
		var rate, cpu, p50 []float64
		for _, s := range list {
			rate, cpu, p50 = append(rate, s.perSecond), append(cpu, s.cpu), append(p50, float64(s.p50))
		}
		out[i] = sample{median(rate), median(cpu), time.Duration(median(p50))}
	}
	return out
}

func (s sample) String() string {
	return fmt.Sprintf("%.0f/s, %.1f µs CPU", s.perSecond, s.cpu)
}
