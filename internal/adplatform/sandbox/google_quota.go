package sandbox

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Switches of quotas and refusals.
const (
	googleAccessLevel = "access_level"
	googleQuotaScope  = "quota_scope"
	googleAPIError    = "api_error"
)

// googleDailyOperations are the operations that a Cloud project has in 24 hours.
var googleDailyOperations = map[string]int{"EXPLORER": 2_880, "BASIC": 15_000}

const (
	googleQuotaWindow = 24 * time.Hour
	// googleScopeDelay is the delay of the switch for a scope.
	googleScopeDelay = 900
)

// googleQuota is what an error of a quota says of it.
type googleQuota struct {
	// scope is ACCOUNT or DEVELOPER, which is the Cloud project.
	scope, name string
	// seconds is the retry delay.
	seconds int
}

// googleOperations counts the operations of the Cloud project. All callers of a
// sandbox have the same project.
type googleOperations struct {
	mu sync.Mutex
	at []time.Time
}

// take counts operations. If the quota does not have them, it counts none and
// returns the time until it does.
func (o *googleOperations) take(n, quota int, now time.Time) (wait time.Duration, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.at = slices.DeleteFunc(o.at, func(t time.Time) bool { return now.Sub(t) >= googleQuotaWindow })
	if missing := len(o.at) + n - quota; missing > 0 {
		last := o.at[min(missing, len(o.at))-1]
		return last.Add(googleQuotaWindow).Sub(now), false
	}
	o.at = append(o.at, slices.Repeat([]time.Time{now}, n)...)
	return 0, true
}

// chargeGoogle counts the operations of a call to an account, which is nil for a
// call to none. It returns the refusal if there is no quota.
func chargeGoogle(s *Call, a *Account, operations int) *googleFailure {
	scope := s.Behavior(a, googleQuotaScope)
	if scope != "" && (a != nil || scope == "DEVELOPER") {
		return googleExhausted(scope, "Requests per "+map[string]string{"ACCOUNT": "account", "DEVELOPER": "project"}[scope], googleScopeDelay)
	}
	level := s.Behavior(nil, googleAccessLevel)
	if level == "TEST" && a != nil {
		return &googleFailure{
			http.StatusForbidden, "authorizationError", "CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION",
			"The Google Cloud project is only approved for use with test accounts.", nil,
		}
	}
	quota, limited := googleDailyOperations[level]
	if !limited {
		return nil
	}
	if wait, ok := s.server.googleOperations.take(operations, quota, s.Now()); !ok {
		return googleExhausted("DEVELOPER", "Number of operations for "+strings.ToLower(level)+" access", int(math.Ceil(wait.Seconds())))
	}
	return nil
}

func googleExhausted(scope, name string, seconds int) *googleFailure {
	return &googleFailure{
		http.StatusTooManyRequests, "quotaError", "RESOURCE_EXHAUSTED", "Too many requests. Retry in " + strconv.Itoa(seconds) + " seconds.",
		&googleQuota{scope, name, seconds},
	}
}

// googleErrorStatus are the errors of the switch for errors, with their statuses.
var googleErrorStatus = map[string]int{
	"authenticationError.TWO_STEP_VERIFICATION_NOT_ENROLLED":        http.StatusUnauthorized,
	"authenticationError.ADVANCED_PROTECTION_NOT_ENROLLED":          http.StatusUnauthorized,
	"authenticationError.NOT_ADS_USER":                              http.StatusUnauthorized,
	"authenticationError.GOOGLE_ACCOUNT_DELETED":                    http.StatusUnauthorized,
	"authorizationError.PROJECT_DISABLED":                           http.StatusForbidden,
	"authorizationError.MISSING_TOS":                                http.StatusForbidden,
	"authorizationError.INCOMPLETE_SIGNUP":                          http.StatusForbidden,
	"authorizationError.METRIC_ACCESS_DENIED":                       http.StatusForbidden,
	"requestError.CLOUD_PROJECT_NOT_FOUND":                          http.StatusBadRequest,
	"quotaError.RESOURCE_TEMPORARILY_EXHAUSTED":                     http.StatusTooManyRequests,
	"quotaError.EXCESSIVE_SHORT_TERM_QUERY_RESOURCE_CONSUMPTION":    http.StatusTooManyRequests,
	"quotaError.EXCESSIVE_LONG_TERM_QUERY_RESOURCE_CONSUMPTION":     http.StatusTooManyRequests,
	"internalError.INTERNAL_ERROR":                                  http.StatusInternalServerError,
	"internalError.TRANSIENT_ERROR":                                 http.StatusServiceUnavailable,
	"internalError.DEADLINE_EXCEEDED":                               http.StatusGatewayTimeout,
	"internalError.ERROR_CODE_NOT_PUBLISHED":                        http.StatusBadRequest,
	"databaseError.CONCURRENT_MODIFICATION":                         http.StatusConflict,
	"databaseError.REQUEST_TOO_LARGE":                               http.StatusBadRequest,
	"campaignError.INVALID_STATUS_CHANGE":                           http.StatusBadRequest,
	"campaignError.INVALID_OPERATION_IF_SERVING_STATUS_HAS_ENDED":   http.StatusBadRequest,
	"campaignError.CANNOT_MODIFY_FOR_TRIAL_CAMPAIGN":                http.StatusBadRequest,
	"contextError.OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE":     http.StatusBadRequest,
	"authorizationError.ACTION_NOT_PERMITTED_FOR_SUSPENDED_ACCOUNT": http.StatusForbidden,
}

// googleErrorNames are the values of the switch for errors.
func googleErrorNames() (names []string) {
	for name := range googleErrorStatus {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// failOnSwitch returns the error that a switch has for calls to an account. Errors
// of campaigns are those of changes only.
func failOnSwitch(s *Call, a *Account, change bool) *googleFailure {
	name := s.Behavior(a, googleAPIError)
	kind, code, _ := strings.Cut(name, ".")
	if name == "" || !change && (kind == "campaignError" || kind == "contextError" || strings.HasSuffix(code, "SUSPENDED_ACCOUNT")) {
		return nil
	}
	return &googleFailure{googleErrorStatus[name], kind, code, "The request failed with " + code + ".", nil}
}
