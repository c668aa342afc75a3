package connection_test

import (
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
)

// TestCoverage compares what a report says about its days with a list of single
// days, after any sequence of days that were read, read in part, or not read.
func TestCoverage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := &connection.AccountReport{Report: "base", Gaps: []connection.Gap{}}
		lacks, read := map[clock.Date]string{}, map[clock.Date]bool{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			first := clock.Date(rapid.IntRange(1, 40).Draw(t, "first"))
			last := first + clock.Date(rapid.IntRange(0, 12).Draw(t, "days"))
			code := rapid.SampledFrom([]string{"", "withheld", "too_long", "permission"}).Draw(t, "code")
			switch code {
			case "":
				r.Read(first, last, nil)
			case "withheld":
				r.Read(first, last, []connection.Gap{{StartDate: first, EndDate: last, Code: code}})
			default:
				r.Unread(first, last, &connection.RunError{Class: code, Code: code, Message: code})
			}
			for day := first; day <= last; day++ {
				lacks[day] = code
				read[day] = read[day] || code == "" || code == "withheld"
			}
		}
		checkCoverage(t, r, lacks, read)
	})
}

func checkCoverage(t *rapid.T, r *connection.AccountReport, lacks map[clock.Date]string, read map[clock.Date]bool) {
	t.Helper()
	got := map[clock.Date]string{}
	for i, g := range r.Gaps {
		if i > 0 && g.StartDate <= r.Gaps[i-1].EndDate {
			t.Fatalf("gaps overlap: %+v", r.Gaps)
		}
		for day := g.StartDate; day <= g.EndDate; day++ {
			got[day] = g.Code
		}
	}
	var since, through, complete clock.Date
	for day := clock.Date(1); day <= 60; day++ {
		if got[day] != lacks[day] {
			t.Fatalf("day %d: got %q want %q in %+v", day, got[day], lacks[day], r.Gaps)
		}
		if !read[day] {
			continue
		}
		if since == 0 {
			since = day
		}
		through = day
	}
	if since == 0 {
		if r.Since != nil || r.CompleteThrough != nil {
			t.Fatalf("got since %v, complete through %v before anything was read", r.Since, r.CompleteThrough)
		}
		return
	}
	complete = through
	for day := clock.Date(1); day <= through; day++ {
		if lacks[day] == "too_long" || lacks[day] == "permission" {
			complete = day - 1
			break
		}
	}
	if *r.Since != since || *r.Through != through {
		t.Fatalf("got %v to %v want %v to %v", *r.Since, *r.Through, since, through)
	}
	switch {
	case complete < since && r.CompleteThrough != nil, complete >= since && (r.CompleteThrough == nil || *r.CompleteThrough != complete):
		t.Fatalf("got complete through %v want %v in %+v", r.CompleteThrough, complete, r)
	}
}
