package sandbox

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// microsoft simulates the REST API of Microsoft Advertising: three services with
// hosts of their own, ids as texts, and errors by number in the body.
type microsoft struct{}

// Platform implements PlatformAPI.
func (microsoft) Platform() string { return MicrosoftAds }

// Hosts implements PlatformAPI.
func (microsoft) Hosts() []string {
	return []string{
		"login.microsoftonline.com", "clientcenter.api.bingads.microsoft.com", "campaign.api.bingads.microsoft.com", "reporting.api.bingads.microsoft.com",
	}
}

// Prefix implements PlatformAPI.
func (microsoft) Prefix() string { return "/microsoft" }

// Paths of the services.
const (
	microsoftCustomers = "/CustomerManagement/v13/"
	microsoftCampaigns = "/CampaignManagement/v13/"
	microsoftReporting = "/Reporting/v13/"
)

// Codes of errors.
const (
	microsoftInternal      = 0
	microsoftNullRequest   = 100
	microsoftBadToken      = 105
	microsoftForbidden     = 106
	microsoftExpired       = 109
	microsoftNoHeader      = 116
	microsoftThrottled     = 117
	microsoftTooManyReport = 207
	microsoftWrongType     = 516
	microsoftNoCampaign    = 1100
	microsoftExperiment    = 6133
)

// microsoftErrors are the names and the texts of errors, from
// learn.microsoft.com/advertising/guides/operation-error-codes.
var microsoftErrors = map[int][2]string{
	microsoftInternal:      {"InternalError", "An unidentified error has occurred."},
	microsoftNullRequest:   {"NullRequest", "The request message is null."},
	microsoftBadToken:      {"InvalidCredentials", "Authentication failed. Either supplied credentials are invalid or the account is inactive"},
	microsoftForbidden:     {"UserIsNotAuthorized", "The user is not authorized to perform this action."},
	microsoftExpired:       {"AuthenticationTokenExpired", "Authentication token expired. Please renew it or obtain a new token."},
	113:                    {"InvalidDateObject", "The date specified in the request is not valid."},
	microsoftNoHeader:      {"RequestMissingHeaders", "One or more required header elements are missing from the request."},
	microsoftThrottled:     {"CallRateExceeded", "You have exceeded the number of calls that you are allowed to make in a minute."},
	120:                    {"UserLoginAccessDenied", "The credentials are not valid for the person who attempted to login."},
	122:                    {"PersonalIdentityNotAvailable", "You must use a work account to sign in to Microsoft Advertising."},
	123:                    {"WorkIdentityNotAvailable", "You must use a personal Microsoft account to sign in to Microsoft Advertising."},
	124:                    {"PersonalIdentityMigratedToWork", "You can no longer use this personal Microsoft account to access Microsoft Advertising."},
	125:                    {"PersonalIdentityNotAllowedByCustomer", "Your organization requires you to use your work email address to access Microsoft Advertising."},
	microsoftTooManyReport: {"ConcurrentRequestOverLimit", "You have already reached the maximum number of concurrent report requests."},
	microsoftWrongType:     {"EntityIdFilterMismatch", "The type of the entity that was specified by ID does not match provided entity filter type."},
	microsoftNoCampaign:    {"CampaignServiceInvalidCampaignId", "The campaign identifier is not valid."},
	1102:                   {"CampaignServiceInvalidAccountId", "The account identifier is not valid."},
	1120:                   {"CampaignServiceInvalidCampaignStatus", "The campaign status is not valid for the requested operation."},
	2002:                   {"ReportingServiceUnknownReportType", "The report request type is not valid."},
	2003:                   {"ReportingServiceAccountNotAuthorized", "The specified report request contains at least one account that you do not have privileges to access."},
	2004:                   {"ReportingServiceNoCompleteDataAvaliable", "You requested a report with complete data for all included campaigns. Currently only partial data is available."},
	2005:                   {"ReportingServiceInvalidDataAvailabilityAndTimePeriodCombination", "The request contains a report time period for which complete data cannot be returned."},
	2007:                   {"ReportingServiceInvalidReportAggregation", "The report aggregation is not valid."},
	2008:                   {"ReportingServiceInvalidReportTimeSelection", "The report time is null or contains more than one predefined time, custom date, or custom date range start and end."},
	2009:                   {"ReportingServiceInvalidCustomDateRangeStart", "The report time contains a custom date range start value that is not valid."},
	2011:                   {"ReportingServiceEndDateBeforeStartDate", "The end date cannot be earlier than the start date."},
	2014:                   {"ReportingServiceNullColumns", "The list of columns to include in the report cannot be null or empty."},
	2016:                   {"ReportingServiceDuplicateColumns", "The list of columns to include in the report contains duplicate."},
	2017:                   {"ReportingServiceNoMeasureSelected", "The report request does not specify at least one measurement column."},
	2030:                   {"ReportingServiceMaximumCampaignsLimitReached", "The report scope contains too many campaigns."},
	2100:                   {"ReportingServiceInvalidReportId", "The report identifier is not valid."},
	microsoftExperiment:    {"ExperimentCampaignCannotBeUpdated", "One or more properties of the experiment campaign cannot be updated."},
}

// microsoftError is the error of a call. details is the part that differs.
type microsoftError struct {
	code    int
	details string
}

func microsoftRefusal(code int, details string) *microsoftError {
	return &microsoftError{code, details}
}

// microsoftState is what the sandbox remembers of calls to Microsoft: the
// requested reports, and the times of calls by customer.
type microsoftState struct {
	mu      sync.Mutex
	serial  int64
	reports map[string]*microsoftReport
	calls   map[string][]time.Time
}

// microsoftCall is one call. account is the one that it is about, nil for none.
type microsoftCall struct {
	*Call
	w       http.ResponseWriter
	r       *http.Request
	body    []byte
	token   string
	account *Account
}

// microsoftRoute is the operation of a path.
type microsoftRoute func(c *microsoftCall) (any, *microsoftError)

var microsoftRoutes = map[string]microsoftRoute{
	"POST " + microsoftCustomers + "User/Query":                    (*microsoftCall).user,
	"POST " + microsoftCustomers + "Accounts/Search":               (*microsoftCall).searchAccounts,
	"POST " + microsoftCustomers + "Account/Query":                 (*microsoftCall).getAccount,
	"POST " + microsoftCampaigns + "Campaigns/QueryByAccountId":    (*microsoftCall).campaigns,
	"POST " + microsoftCampaigns + "Campaigns/QueryByIds":          (*microsoftCall).campaignsByIDs,
	"PUT " + microsoftCampaigns + "Campaigns":                      (*microsoftCall).updateCampaigns,
	"POST " + microsoftCampaigns + "AdGroups/QueryByCampaignId":    (*microsoftCall).groups,
	"POST " + microsoftCampaigns + "Ads/QueryByAdGroupId":          (*microsoftCall).ads,
	"POST " + microsoftCampaigns + "AssetGroups/QueryByCampaignId": (*microsoftCall).assetGroups,
	"POST " + microsoftCampaigns + "Audiences/QueryByIds":          (*microsoftCall).audiences,
	"POST " + microsoftCampaigns + "AdGroupCriterions/QueryByIds":  (*microsoftCall).criterions,
	"POST " + microsoftReporting + "GenerateReport/Submit":         (*microsoftCall).submitReport,
	"POST " + microsoftReporting + "GenerateReport/Poll":           (*microsoftCall).pollReport,
}

// Serve implements PlatformAPI.
func (microsoft) Serve(s *Call, w http.ResponseWriter, r *http.Request) {
	if serveMicrosoftOAuth(s, w, r) {
		return
	}
	if id, ok := strings.CutPrefix(r.URL.Path, microsoftDownload); ok && r.Method == http.MethodGet {
		serveMicrosoftFile(s, w, r, id)
		return
	}
	route, known := microsoftRoutes[r.Method+" "+r.URL.Path]
	if !known || s.Fault(FaultVersionSunset) {
		http.NotFound(w, r)
		return
	}
	c := &microsoftCall{Call: s, w: w, r: r}
	body, err := io.ReadAll(r.Body)
	c.body = body
	answer, refused := any(nil), microsoftRefusal(microsoftNullRequest, "")
	if err == nil && jsontext.Value(body).IsValid() {
		answer, refused = c.serve(route)
	}
	if refused != nil {
		writeMicrosoftError(w, s, refused)
		return
	}
	writeMicrosoft(w, http.StatusOK, answer)
}

// serve answers a call after checking its headers, its token and its account.
func (c *microsoftCall) serve(route microsoftRoute) (any, *microsoftError) {
	if c.r.Header.Get("DeveloperToken") == "" {
		return nil, microsoftRefusal(microsoftNoHeader, "DeveloperToken")
	}
	c.token = googleBearer(c.r)
	first, err := c.Open(c.token)
	switch {
	case errors.Is(err, ErrExpiredToken):
		return nil, microsoftRefusal(microsoftExpired, "")
	case err != nil:
		return nil, microsoftRefusal(microsoftBadToken, "")
	}
	if !strings.HasPrefix(c.r.URL.Path, microsoftCustomers) {
		if refused := c.selectAccount(c.r.Header.Get("CustomerAccountId"), c.r.Header.Get("CustomerId")); refused != nil {
			return nil, refused
		}
	}
	if refused := c.checkSwitches(first); refused != nil {
		return nil, refused
	}
	return route(c)
}

// selectAccount makes the call one about an account. The customer must be the
// one that owns it.
func (c *microsoftCall) selectAccount(id, customer string) *microsoftError {
	if id == "" || customer == "" {
		return microsoftRefusal(microsoftNoHeader, "CustomerId, CustomerAccountId")
	}
	a, err := c.AccountByID(c.token, id)
	if err != nil || a == nil || microsoftCustomerID(a) != customer {
		return microsoftRefusal(microsoftForbidden, "")
	}
	c.account = a
	if c.Fault(FaultAccountDisabled) {
		return microsoftRefusal(microsoftBadToken, "")
	}
	return nil
}

// checkSwitches returns the error that switches give to a call.
func (c *microsoftCall) checkSwitches(first *Account) *microsoftError {
	a := c.account
	if code := c.Behavior(a, microsoftErrorCode); code != "" {
		n, err := strconv.Atoi(code)
		if err != nil {
			return microsoftRefusal(microsoftInternal, "")
		}
		return microsoftRefusal(n, "")
	}
	if a == nil {
		a = first
	}
	most := c.server.behaviors.number(MicrosoftAds, a.ID, microsoftRate, 0)
	if most > 0 && !c.server.microsoft.countCall(microsoftCustomerID(a), most, c.Now()) {
		return microsoftRefusal(microsoftThrottled, "")
	}
	return nil
}

// countCall counts a call of a customer. It returns false if the customer has
// made the most calls of a minute.
func (s *microsoftState) countCall(customer string, most int, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var recent []time.Time
	for _, at := range s.calls[customer] {
		if now.Sub(at) < time.Minute {
			recent = append(recent, at)
		}
	}
	if s.calls == nil {
		s.calls = map[string][]time.Time{}
	}
	s.calls[customer] = recent
	if len(recent) >= most {
		return false
	}
	s.calls[customer] = append(recent, now)
	return true
}

// read decodes the body.
func (c *microsoftCall) read(into any) *microsoftError {
	if err := json.Unmarshal(c.body, into); err != nil {
		return microsoftRefusal(microsoftNullRequest, "")
	}
	return nil
}

func writeMicrosoft(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	// A client that has disconnected gets no answer.
	_ = json.MarshalWrite(w, v, json.Deterministic(true))
}

// writeMicrosoftError writes an error in one of Microsoft's two formats: one for
// errors of the access and of Customer Management, one for all others.
//
// Choice: the status is 400, and 500 for internal errors. Microsoft documents
// neither, and a client has to read the code.
func writeMicrosoftError(w http.ResponseWriter, s *Call, e *microsoftError) {
	said := microsoftErrors[e.code]
	tracking := "00000000-0000-4000-8000-000000000000"
	status := http.StatusBadRequest
	if e.code == microsoftInternal {
		status = http.StatusInternalServerError
	}
	if e.code < 200 || s != nil && strings.HasPrefix(s.path, microsoftCustomers) {
		writeMicrosoft(w, status, map[string]any{
			"TrackingId": tracking, "Type": "AdApiFaultDetail",
			"Errors": []any{map[string]any{"Code": e.code, "ErrorCode": said[0], "Message": said[1], "Detail": e.details}},
		})
		return
	}
	writeMicrosoft(w, status, map[string]any{
		"TrackingId": tracking, "Type": "ApiFaultDetail", "BatchErrors": []any{},
		"OperationErrors": []any{map[string]any{"Code": e.code, "ErrorCode": said[0], "Message": said[1], "Details": e.details}},
	})
}

// Throttle implements PlatformAPI. Microsoft does not name the wait.
func (microsoft) Throttle(w http.ResponseWriter, _ *http.Request, _ int) {
	writeMicrosoftError(w, nil, microsoftRefusal(microsoftThrottled, ""))
}
