package ratelimit_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/ratelimit"
)

// noon is far from the edges of all windows.
var noon = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return noon.Add(d) }

// TestRule checks the windows of R1 and the counting of R3 step by step.
func TestRule(t *testing.T) {
	t.Parallel()
	type step struct {
		at     time.Duration
		ok     bool
		policy string
		minute int64 // remaining
		day    int64
		wait   time.Duration
	}
	const day = 12 * time.Hour // from noon to the next day
	tests := []struct {
		name   string
		limits ratelimit.Limits
		steps  []step
	}{
		{"R1 the minute opens with its first request", ratelimit.Limits{PerMinute: 2, PerDay: 100}, []step{
			{at: 30 * time.Second, ok: true, minute: 1, day: 99},
			{at: 80 * time.Second, ok: true, minute: 0, day: 98},
			{at: 89 * time.Second, policy: "minute", minute: 0, day: 98, wait: time.Second},
			{at: 90 * time.Second, ok: true, minute: 1, day: 97},
		}},
		{"R1 one nanosecond before the edge is before it", ratelimit.Limits{PerMinute: 1, PerDay: 100}, []step{
			{ok: true, day: 99},
			{at: time.Minute - 1, policy: "minute", day: 99, wait: 1},
			{at: time.Minute, ok: true, day: 98},
		}},
		{"R1 an unused window does not open", ratelimit.Limits{PerMinute: 1, PerDay: 100}, []step{
			{ok: true, day: 99},
			{at: 100 * time.Second, ok: true, day: 98},
			{at: 159 * time.Second, policy: "minute", day: 98, wait: time.Second},
			{at: 160 * time.Second, ok: true, day: 97},
		}},
		{"R1 the day is the UTC day", ratelimit.Limits{PerMinute: 10, PerDay: 2}, []step{
			{at: day - 3, ok: true, minute: 9, day: 1},
			{at: day - 2, ok: true, minute: 8, day: 0},
			{at: day - 1, policy: "day", minute: 8, day: 0, wait: 1},
			{at: day, ok: true, minute: 7, day: 1},
		}},
		{"R1 a minute goes on over midnight", ratelimit.Limits{PerMinute: 2, PerDay: 5}, []step{
			{at: day - time.Second, ok: true, minute: 1, day: 4},
			{at: day, ok: true, minute: 0, day: 4},
			{at: day + time.Second, policy: "minute", minute: 0, day: 4, wait: 58 * time.Second},
		}},
		{"the day wins over the minute, because waiting a minute would not help", ratelimit.Limits{PerMinute: 1, PerDay: 1}, []step{
			{ok: true},
			{at: 1, policy: "day", wait: day - 1},
		}},
		{"R5 the minute wins where it ends after midnight", ratelimit.Limits{PerMinute: 1, PerDay: 1}, []step{
			{at: day - time.Second, ok: true},
			{at: day - 1, policy: "minute", wait: 59*time.Second + 1},
			{at: day, policy: "minute", day: 1, wait: 59 * time.Second},
			{at: day + 59*time.Second, ok: true},
		}},
		{"R3 a rejected request is not counted", ratelimit.Limits{PerMinute: 1, PerDay: 3}, []step{
			{ok: true, day: 2},
			{at: 1, policy: "minute", day: 2, wait: time.Minute - 1},
			{at: 2, policy: "minute", day: 2, wait: time.Minute - 2},
			{at: time.Minute, ok: true, day: 1},
		}},
		{"R2 no day policy", ratelimit.Limits{PerMinute: 1}, []step{
			{ok: true},
			{at: 1, policy: "minute", wait: time.Minute - 1},
			{at: time.Minute, ok: true},
		}},
		{"no minute policy", ratelimit.Limits{PerDay: 2}, []step{
			{ok: true, day: 1},
			{ok: true, day: 0},
			{policy: "day", wait: day},
		}},
		{"no policy", ratelimit.Limits{}, []step{{ok: true}, {ok: true}}},
		{"R5 a request counted after the first of a minute waits at most a minute", ratelimit.Limits{PerMinute: 1, PerDay: 100}, []step{
			{ok: true, day: 99},
			{at: -1, policy: "minute", day: 99, wait: time.Minute},
			{at: 1 - time.Second, policy: "minute", day: 99, wait: time.Minute},
		}},
		{"R5 a request counted after the first of a day waits at most a day", ratelimit.Limits{PerDay: 1}, []step{
			{at: day, ok: true},
			{at: day - 1, policy: "day", wait: 24 * time.Hour},
		}},
		{"R16 a small step back reopens nothing", ratelimit.Limits{PerMinute: 1, PerDay: 100}, []step{
			{ok: true, day: 99},
			{at: -5 * time.Minute, policy: "minute", day: 99, wait: 6 * time.Minute},
			{at: time.Minute, ok: true, day: 98},
		}},
		{"R16 a small step back over midnight reopens no day", ratelimit.Limits{PerDay: 1}, []step{
			{at: day, ok: true},
			{at: day - time.Second, policy: "day", wait: 24*time.Hour + time.Second},
		}},
		{"R16 a clock that was an hour ahead locks no workspace out", ratelimit.Limits{PerMinute: 1, PerDay: 100}, []step{
			{at: time.Hour, ok: true, day: 99},
			{ok: true, day: 98},
			{at: 1, policy: "minute", day: 98, wait: time.Minute - 1},
		}},
		{"R16 a clock that was a year ahead locks no workspace out", ratelimit.Limits{PerMinute: 9, PerDay: 1}, []step{
			{at: 365 * 24 * time.Hour, ok: true, minute: 8},
			{ok: true, minute: 8},
			{at: 1, policy: "day", minute: 8, wait: day - 1},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var u ratelimit.Usage
			for i, s := range tt.steps {
				before := u
				d := u.Take(tt.limits, at(s.at))
				got := step{s.at, d.OK, d.Policy, d.Minute.Remaining, d.Day.Remaining, d.Wait}
				if diff := cmp.Diff(s, got, cmp.AllowUnexported(step{})); diff != "" {
					t.Errorf("step %d (-want +got):\n%s", i, diff)
				}
				if peek := before.Peek(tt.limits, at(s.at)); !d.OK && (peek.Minute.Remaining != d.Minute.Remaining || peek.Day.Remaining != d.Day.Remaining) {
					t.Errorf("step %d: got Peek %+v before a refusal %+v, want the same windows", i, peek, d)
				}
				if s.ok && d.Wait != 0 {
					t.Errorf("step %d: got a wait of %v for an admitted request, want none", i, d.Wait)
				}
			}
		})
	}
}

// TestRefund is R3 for internal errors: a request is taken back from the
// windows in which it was counted, and from no other.
func TestRefund(t *testing.T) {
	t.Parallel()
	limits := ratelimit.Limits{PerMinute: 2, PerDay: 10}
	type left struct{ minute, day int64 }
	tests := []struct {
		name string
		run  func(u *ratelimit.Usage) (now time.Time)
		want left
	}{
		{"in the same window", func(u *ratelimit.Usage) time.Time {
			u.Refund(u.Take(limits, at(0)).Ticket, at(1))
			return at(1)
		}, left{2, 10}},
		{"the window goes on for the others", func(u *ratelimit.Usage) time.Time {
			first := u.Take(limits, at(0)).Ticket
			u.Take(limits, at(time.Second))
			u.Refund(first, at(2*time.Second))
			return at(2 * time.Second)
		}, left{1, 9}},
		{"after its minute only the day gets it back", func(u *ratelimit.Usage) time.Time {
			first := u.Take(limits, at(0)).Ticket
			u.Take(limits, at(time.Minute))
			u.Refund(first, at(time.Minute))
			return at(time.Minute)
		}, left{1, 9}},
		{"after its day neither does", func(u *ratelimit.Usage) time.Time {
			first := u.Take(limits, at(0)).Ticket
			u.Take(limits, at(12*time.Hour))
			u.Refund(first, at(12*time.Hour))
			return at(12 * time.Hour)
		}, left{1, 9}},
		{"a request counted after a later one opened the window", func(u *ratelimit.Usage) time.Time {
			u.Take(limits, at(time.Second))
			u.Refund(u.Take(limits, at(0)).Ticket, at(time.Second))
			return at(time.Second)
		}, left{1, 9}},
		{"a request counted after the day had turned", func(u *ratelimit.Usage) time.Time {
			midnight := 12 * time.Hour
			u.Take(limits, at(midnight))
			u.Refund(u.Take(limits, at(midnight-1)).Ticket, at(midnight))
			return at(midnight)
		}, left{1, 9}},
		{"nothing below zero", func(u *ratelimit.Usage) time.Time {
			d := u.Take(limits, at(0))
			u.Refund(d.Ticket, at(0))
			u.Refund(d.Ticket, at(0))
			return at(0)
		}, left{2, 10}},
		{"an empty ticket", func(u *ratelimit.Usage) time.Time {
			u.Take(limits, at(0))
			u.Refund(ratelimit.Ticket{}, at(0))
			return at(0)
		}, left{1, 9}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var u ratelimit.Usage
			d := u.Peek(limits, tt.run(&u))
			if got := (left{d.Minute.Remaining, d.Day.Remaining}); got != tt.want {
				t.Errorf("got %+v left, want %+v", got, tt.want)
			}
		})
	}
}

// TestTightest is R4: the smaller Remaining, and with a tie the later Reset.
func TestTightest(t *testing.T) {
	t.Parallel()
	w := func(limit, remaining int64, reset time.Duration) ratelimit.Window {
		return ratelimit.Window{Limit: limit, Remaining: remaining, Reset: at(reset)}
	}
	tests := []struct {
		name              string
		minute, day, want ratelimit.Window
	}{
		{"minute is smaller", w(60, 5, time.Minute), w(100, 9, time.Hour), w(60, 5, time.Minute)},
		{"day is smaller", w(60, 5, time.Minute), w(100, 4, time.Hour), w(100, 4, time.Hour)},
		{"tie, day ends later", w(60, 5, time.Minute), w(100, 5, time.Hour), w(100, 5, time.Hour)},
		{"tie, minute ends later", w(60, 0, time.Minute), w(100, 0, time.Second), w(60, 0, time.Minute)},
		{"no day", w(60, 5, time.Minute), ratelimit.Window{}, w(60, 5, time.Minute)},
		{"no minute", ratelimit.Window{}, w(100, 5, time.Hour), w(100, 5, time.Hour)},
		{"neither", ratelimit.Window{}, ratelimit.Window{}, ratelimit.Window{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := ratelimit.Decision{Minute: tt.minute, Day: tt.day}
			if got := d.Tightest(); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestPlanChange is R10: new limits hold from the next request, counters are
// kept.
func TestPlanChange(t *testing.T) {
	t.Parallel()
	var u ratelimit.Usage
	small, large := ratelimit.Limits{PerMinute: 2, PerDay: 3}, ratelimit.Limits{PerMinute: 4, PerDay: 5}
	for range 2 {
		u.Take(small, at(0))
	}
	if d := u.Take(small, at(0)); d.OK {
		t.Errorf("got the third of two requests admitted, want refused")
	}
	if d := u.Take(large, at(0)); !d.OK || d.Minute.Remaining != 1 || d.Day.Remaining != 2 {
		t.Errorf("got %+v after the plan grew, want the third of four in the minute and of five in the day", d)
	}
	if d := u.Take(small, at(0)); d.OK || d.Policy != "day" || d.Minute.Remaining != 0 || d.Day.Remaining != 0 {
		t.Errorf("got %+v after the plan shrank below what is used, want refused with nothing left", d)
	}
}

// TestAddresses is R7: 60 failures a minute for an IPv4 address or an IPv6
// /56, however the address is written.
func TestAddresses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		one, other  string
		sameNetwork bool
	}{
		{"the same address", "203.0.113.7", "203.0.113.7", true},
		{"two addresses", "203.0.113.7", "203.0.113.8", false},
		{"IPv4 inside IPv6", "203.0.113.7", "::ffff:203.0.113.7", true},
		{"one /56", "2001:db8:1:200::1", "2001:db8:1:2ff:ffff:ffff:ffff:ffff", true},
		{"two /56", "2001:db8:1:200::1", "2001:db8:1:300::1", false},
		{"with a zone", "fe80::1%eth0", "fe80::2%eth1", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			table := ratelimit.NewAddresses(10)
			one, other := netip.MustParseAddr(tt.one), netip.MustParseAddr(tt.other)
			for i := range ratelimit.FailuresPerMinute {
				d := table.Fail(one, at(0))
				if !d.OK || d.Policy != "ip" || d.Minute.Remaining != int64(ratelimit.FailuresPerMinute-1-i) || d.Day.Limit != 0 {
					t.Fatalf("got %+v for failure %d, want it admitted under the policy ip", d, i+1)
				}
			}
			look := table.Peek(other, at(0))
			if look.OK == tt.sameNetwork {
				t.Errorf("got OK %v from %s after 60 failures from %s, want %v", look.OK, tt.other, tt.one, !tt.sameNetwork)
			}
			if d := table.Fail(other, at(time.Second)); d.OK == tt.sameNetwork || !d.OK && d.Wait != 59*time.Second {
				t.Errorf("got %+v for one more failure, want OK %v", d, !tt.sameNetwork)
			}
			if look := table.Peek(one, at(time.Minute)); !look.OK || look.Minute.Remaining != ratelimit.FailuresPerMinute {
				t.Errorf("got %+v a minute later, want everything back", look)
			}
		})
	}
}

// TestAddressesBounded is R8: the table never grows beyond its bound.
func TestAddressesBounded(t *testing.T) {
	t.Parallel()
	const most = 8
	table := ratelimit.NewAddresses(most)
	known := 0
	for i := range 1000 {
		table.Fail(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), at(0))
	}
	for i := range 1000 {
		if table.Peek(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), at(0)).Minute.Remaining < ratelimit.FailuresPerMinute {
			known++
		}
	}
	if known != most {
		t.Errorf("got %d addresses remembered, want %d", known, most)
	}
}
