package sandbox

import (
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/fact"
)

// Switches of the form of answers.
const (
	googleSharedAdID   = "ad_id_shared"
	googleDoubleFormat = "double_format"
	googleTokenError   = "token_error"
	googleTotalBudget  = "total_budget"
)

// totalBudgetDays is for how many days a total budget of a simulated campaign
// is.
const totalBudgetDays = 30

// Values of the switch token_error: errors that pass, and those of a Google
// Workspace whose policy wants people to sign in again.
var (
	googlePassingTokenErrors = []string{"internal_failure", "server_error", "temporarily_unavailable"}
	googleReauthErrors       = []string{"invalid_rapt", "rapt_required"}
)

// googleRefreshFails answers a call for a new access token with the error of the
// switch. It returns false if the switch is off.
//
// Choice: an error that passes has status 400. Google's library recognizes it by
// its code, because not all of them have a status of the server.
func googleRefreshFails(s *Call, w http.ResponseWriter) bool {
	code := s.Behavior(nil, googleTokenError)
	switch {
	case code == "":
		return false
	case slices.Contains(googleReauthErrors, code):
		writeGoogle(w, http.StatusBadRequest, map[string]string{
			"error": "invalid_grant", "error_subtype": code, "error_description": "reauth related error (" + code + ")",
		})
	default:
		writeOAuthError(w, code, "The token could not be issued at this time.")
	}
	return true
}

// formatGoogleDouble returns millionths as a double in JSON. A double can have
// an exponent, and as many digits as it takes to tell it from its neighbors.
func formatGoogleDouble(millionths int64, format string) jsontext.Value {
	exact := fact.Millionths(millionths).String()
	value, err := strconv.ParseFloat(exact, 64)
	switch {
	case err != nil || value == 0:
	case format == "exponent":
		return jsontext.Value(strconv.FormatFloat(value, 'E', -1, 64))
	case format == "long":
		return jsontext.Value(strconv.FormatFloat(math.Nextafter(value, math.Inf(1)), 'f', -1, 64))
	}
	return jsontext.Value(exact)
}

// adID returns the id of the row's ad. With the switch, the first ads of the
// account's first two ad groups have the same id, which is unique in an ad group
// only.
func (l *googleRow) adID() string {
	if l.Ad != l.Ad.Group.Ads[0] || !l.s.Behaves(l.a, googleSharedAdID) {
		return l.Ad.ID
	}
	if groups := allGroups(l.a); len(groups) > 1 && l.Ad.Group == groups[1] {
		return groups[0].Ads[0].ID
	}
	return l.Ad.ID
}

// hasTotalBudget reports whether the row's campaign has a budget for all its
// days instead of one per day.
func (l *googleRow) hasTotalBudget() bool {
	return l.Campaign == l.a.Campaigns[0] && l.s.Behaves(l.a, googleTotalBudget)
}

// budgetMicros returns the budget of the row's campaign, per day or in total,
// nil if it has none of this kind.
func (l *googleRow) budgetMicros(total bool) any {
	switch {
	case l.hasTotalBudget() != total:
		return nil
	case total:
		return strconv.FormatInt(totalBudgetDays*l.Campaign.DailyBudget, 10)
	}
	return strconv.FormatInt(l.Campaign.DailyBudget, 10)
}

func (l *googleRow) budgetPeriod() string {
	if l.hasTotalBudget() {
		return "CUSTOM_PERIOD"
	}
	return "DAILY"
}
