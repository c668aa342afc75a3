package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Faults that every platform has. The sandbox plays them itself.
const (
	FaultThrottle = "throttle"
	Fault500      = "error_500"
	Fault503      = "error_503"
	// FaultReset ends the connection in the middle of the answer,
	// FaultTruncated the answer alone.
	FaultReset     = "reset"
	FaultTruncated = "truncated"
	FaultWrongJSON = "wrong_json"
	// FaultSlow takes its time before it answers.
	FaultSlow = "slow"
)

// Faults that a dialect puts into its own words.
const (
	FaultExpiredToken    = "expired_token"
	FaultRevokedToken    = "revoked_token"
	FaultRotatedToken    = "rotated_token"
	FaultDuplicatePage   = "duplicate_page"
	FaultSkipPage        = "skip_page"
	FaultDriftingTotal   = "drifting_total"
	FaultAsyncStuck      = "async_stuck"
	FaultAsyncFailed     = "async_failed"
	FaultTooLarge        = "too_large"
	FaultVersionSunset   = "version_sunset"
	FaultAccountDisabled = "account_disabled"
)

// FaultAll is any of them.
const FaultAll = "all"

var (
	commonFaults   = []string{FaultThrottle, Fault500, Fault503, FaultReset, FaultTruncated, FaultWrongJSON, FaultSlow}
	platformFaults = []string{
		FaultExpiredToken, FaultRevokedToken, FaultRotatedToken, FaultDuplicatePage, FaultSkipPage, FaultDriftingTotal,
		FaultAsyncStuck, FaultAsyncFailed, FaultTooLarge, FaultVersionSunset, FaultAccountDisabled,
	}
)

// FaultRule says which calls go wrong and how. Without a count it stays, without a
// probability it always strikes.
type FaultRule struct {
	// Platform and Path, which is any part of it, choose the calls; empty is
	// for all.
	Platform string `json:"platform,omitzero"`
	Path     string `json:"path,omitzero"`
	Fault    string `json:"fault"`
	// Count is how many times it strikes from now on.
	Count       *int    `json:"count,omitzero"`
	Probability float64 `json:"probability,omitzero"`
	// Seconds are those that a throttled caller is to wait, or a slow answer
	// takes; 1 if not set.
	Seconds int `json:"seconds,omitzero"`
}

func (r *FaultRule) validate() error {
	names := slices.Concat(commonFaults, platformFaults, []string{FaultAll})
	switch {
	case !slices.Contains(names, r.Fault):
		return fmt.Errorf("fault %q is unknown: it is one of %s", r.Fault, strings.Join(names, ", "))
	case r.Platform != "" && apiOf(r.Platform) == nil:
		return fmt.Errorf("platform %q is not played: it is one of %s", r.Platform, strings.Join(platformNames(), ", "))
	case r.Probability < 0 || r.Probability > 1:
		return errors.New("probability must be from 0 to 1")
	case r.Count != nil && *r.Count < 1:
		return errors.New("count must be at least 1")
	case r.Seconds < 0:
		return errors.New("seconds must not be negative")
	}
	if r.Seconds == 0 {
		r.Seconds = 1
	}
	return nil
}

// faultRules are the rules in force, and the dice.
type faultRules struct {
	mu     sync.Mutex
	rules  []FaultRule
	random seedKey
	draws  int64
}

// AddFault adds a rule.
func (s *Server) AddFault(r FaultRule) error {
	if err := r.validate(); err != nil {
		return err
	}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.rules = append(s.faults.rules, r)
	return nil
}

// list are the rules that may still strike.
func (f *faultRules) list() []FaultRule {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.rules)
}

func (f *faultRules) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

func (f *faultRules) draw() seedKey {
	f.draws++
	return f.random.numbered(f.draws)
}

// matchRule returns the rule by which a fault strikes a call, nil for none.
func (f *faultRules) matchRule(name, platform, path string) *FaultRule {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.rules {
		r := f.rules[i]
		if r.Fault != name || r.Platform != "" && r.Platform != platform || !strings.Contains(path, r.Path) {
			continue
		}
		if r.Probability > 0 && f.draw().intBelow(million) >= int64(r.Probability*million) {
			continue
		}
		if r.Count != nil {
			left := *r.Count - 1
			f.rules[i].Count = &left
			if left == 0 {
				f.rules = slices.Delete(f.rules, i, i+1)
			}
		}
		return &r
	}
	return nil
}

// chooseFault chooses the common fault of a call, if there is to be one. A fault of
// the dialect's own that comes from a rule for all is noted in the session.
func (f *faultRules) chooseFault(s *Call) *FaultRule {
	for _, name := range commonFaults {
		if r := f.matchRule(name, s.api.Platform(), s.path); r != nil {
			return r
		}
	}
	r := f.matchRule(FaultAll, s.api.Platform(), s.path)
	if r == nil {
		return nil
	}
	f.mu.Lock()
	n := int(f.draw().intBelow(int64(len(commonFaults) + len(platformFaults))))
	f.mu.Unlock()
	if n >= len(commonFaults) {
		s.faultResults[platformFaults[n-len(commonFaults)]] = true
		return nil
	}
	r.Fault = commonFaults[n]
	return r
}

// answerWithFault answers a call with a fault.
func (r *FaultRule) answerWithFault(s *Call, w http.ResponseWriter, req *http.Request) {
	switch r.Fault {
	case FaultThrottle:
		s.api.Throttle(w, req, r.Seconds)
	case Fault500:
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
	case Fault503:
		http.Error(w, "Service Unavailable", http.StatusServiceUnavailable)
	case FaultSlow:
		if sleep(req.Context(), time.Duration(r.Seconds)*time.Second) {
			s.api.Serve(s, w, req)
		}
	default:
		whole := &answerRecorder{header: http.Header{}}
		s.api.Serve(s, whole, req)
		whole.sendDamaged(r.Fault, w)
	}
}

// sleep reports whether the time has passed before the caller has gone.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// sendDamaged sends on an answer, damaged.
func (a *answerRecorder) sendDamaged(fault string, w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	status := max(a.status, http.StatusOK)
	body := a.body.Bytes()
	half := body[:len(body)/2]
	switch fault {
	case FaultReset:
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
		_, _ = w.Write(half)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case FaultTruncated:
		body = half
	case FaultWrongJSON:
		// An object where a list should be, and the other way round.
		wrong := `["unexpected"]`
		if strings.HasPrefix(string(body), "[") {
			wrong = `{"unexpected":true}`
		}
		body = []byte(wrong)
	}
	w.Header().Del("Content-Length")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
