package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"fanfare/internal/creative"
	"fanfare/internal/creative/copywriter"
	"fanfare/internal/creative/parser"
)

// benchCreative measures the built-in generator: the CPU time of copy, and a
// picture compared with only drawing and encoding it.
func benchCreative(string) {
	b := &creative.Brief{
		Prompt: "Oat milk latte from Kava Bar, 20% off until Sunday, for students. Open till midnight, free refills, three minutes from the library.",
		Type:   "text", Channels: []string{"search", "social", "email"}, Variants: 3, Seed: 1,
	}
	c := copywriter.New()
	var list []float64
	for range *rounds {
		before, n := ownCPUTime(), 0
		for start := time.Now(); time.Since(start) < measurementTime(); n++ {
			b.Seed++
			b.Facts = parser.Parse(b.Prompt, "en", nil)
			_, err := c.Write(context.Background(), b)
			check(err)
		}
		list = append(list, float64((ownCPUTime()-before).Microseconds())/1000/float64(n))
	}
	printAtMost("composer: 3 variants on 3 channels, ms of CPU", median(list), 5, "")
	ours, bare := pictureBenchmark("PNG300x250"), pictureBenchmark("Bare300x250")
	printAtMost("picture: 300x250 against bare drawing and PNG encoding", ours/bare, 1.5, fmt.Sprintf("%.2f ms, bare %.2f ms", ours/1e6, bare/1e6))
}

func ownCPUTime() time.Duration {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var nsPerOp = regexp.MustCompile(`([\d.]+) ns/op`)

// pictureBenchmark runs a Go benchmark of package picture and returns the
// median time. Only that package can draw without layout.
func pictureBenchmark(name string) float64 {
	out, err := exec.Command("go", "test", "-run", "^$", "-bench", "^Benchmark"+name+"$", "-count", strconv.Itoa(*rounds), "-cpu", "1", "fanfare/internal/creative/picture").CombinedOutput()
	if err != nil {
		check(fmt.Errorf("%w: %s", err, out))
	}
	var list []float64
	for _, m := range nsPerOp.FindAllSubmatch(out, -1) {
		v, err := strconv.ParseFloat(string(m[1]), 64)
		check(err)
		list = append(list, v)
	}
	if len(list) == 0 {
		check(fmt.Errorf("no time in: %s", out))
	}
	return median(list)
}
