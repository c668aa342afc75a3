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

// Faults of every platform, which the server applies.
const (
	FaultThrottle = "throttle"
	Fault500      = "error_500"
	Fault503      = "error_503"
	// FaultReset closes the connection in the middle of the answer,
	// FaultTruncated ends the answer there.
	FaultReset     = "reset"
	FaultTruncated = "truncated"
	FaultWrongJSON = "wrong_json"
	// FaultSlow delays the answer.
	FaultSlow = "slow"
	// FaultCode answers with the code and the message of the rule, in the
	// platform's format.
	FaultCode = "code"
)

// Faults that each platform answers in its own format.
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

// FaultAll is a random one of all faults.
const FaultAll = "all"

var (
	commonFaults   = []string{FaultThrottle, Fault500, Fault503, FaultReset, FaultTruncated, FaultWrongJSON, FaultSlow}
	platformFaults = []string{
		FaultExpiredToken, FaultRevokedToken, FaultRotatedToken, FaultDuplicatePage, FaultSkipPage, FaultDriftingTotal,
		FaultAsyncStuck, FaultAsyncFailed, FaultTooLarge, FaultVersionSunset, FaultAccountDisabled,
	}
)

// FaultRule selects the calls that fail and their fault. Without a count it
// applies until it is removed, without a probability to every call.
type FaultRule struct {
	// Platform and Path, a part of the path, select calls; empty means all.
	Platform string `json:"platform,omitzero"`
	Path     string `json:"path,omitzero"`
	Fault    string `json:"fault"`
	// Code and Message are those of FaultCode. The code is written as in
	// docs/PLATFORM-ERRORS.md.
	Code    string `json:"code,omitzero"`
	Message string `json:"message,omitzero"`
	// Count is how many calls still fail.
	Count       *int    `json:"count,omitzero"`
	Probability float64 `json:"probability,omitzero"`
	// Seconds is the wait of a throttled caller, or the delay of a slow answer;
	// 1 if not set.
	Seconds int `json:"seconds,omitzero"`
}

func (r *FaultRule) validate() error {
	names := slices.Concat(commonFaults, platformFaults, []string{FaultCode, FaultAll})
	switch {
	case !slices.Contains(names, r.Fault):
		return fmt.Errorf("fault %q is unknown: it is one of %s", r.Fault, strings.Join(names, ", "))
	case r.Platform != "" && apiOf(r.Platform) == nil:
		return fmt.Errorf("platform %q is not played: it is one of %s", r.Platform, strings.Join(platformNames(), ", "))
	case (r.Fault == FaultCode) != (r.Code != ""):
		return errors.New(`code and the fault "code" belong together`)
	case r.Fault == FaultCode && !answersCodes(r.Platform):
		return errors.New("platform must be one that answers with codes")
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

// faultRules are the rules and their source of randomness.
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

// list returns the rules that still apply.
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

// matchRule returns the rule that applies a fault to a call, nil for none.
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

// chooseFault returns the rule of the common fault of a call, nil for none. If
// a rule for all faults selects a platform's fault, it records it in the call.
func (f *faultRules) chooseFault(s *Call) *FaultRule {
	if r := f.matchRule(FaultCode, s.api.Platform(), s.path); r != nil {
		return r
	}
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
	case FaultCode:
		s.api.(codeAnswerer).AnswerCode(s, w, req, r.Code, r.Message)
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

// sleep waits. It returns false if ctx ends first.
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

// sendDamaged sends the recorded answer with the damage of a fault.
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
		// An object instead of a list, and the other way round.
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
