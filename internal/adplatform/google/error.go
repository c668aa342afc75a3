package google

import (
	"errors"
	"net/http"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// errorRule says what can be done about an error, and in words how. Without a
// message, Google's own is used.
type errorRule struct {
	class   connection.Class
	message string
}

// errorRules are the errors of Google Ads. Keys are kind or kind.code. A key with a
// code overrides the key of its kind. The names are those of the client library
// google-ads 34.0.0, google/ads/googleads/v26/errors/types.
var errorRules = map[string]errorRule{
	"quotaError":                   {connection.Throttled, ""},
	"quotaError.ACCESS_PROHIBITED": {connection.Forbidden, "Google has prohibited access for the Google Cloud project of this server. Check its access level on " + overviewPage + "."},

	"authenticationError":                                    {connection.Forbidden, ""},
	"authenticationError.AUTHENTICATION_ERROR":               {connection.Expired, ""},
	"authenticationError.OAUTH_TOKEN_EXPIRED":                {connection.Expired, ""},
	"authenticationError.OAUTH_TOKEN_INVALID":                {connection.Expired, ""},
	"authenticationError.OAUTH_TOKEN_REVOKED":                {connection.Revoked, ""},
	"authenticationError.OAUTH_TOKEN_DISABLED":               {connection.Revoked, ""},
	"authenticationError.GOOGLE_ACCOUNT_DELETED":             {connection.Revoked, "The Google account that granted access was deleted. Connect Google Ads with another Google account."},
	"authenticationError.CUSTOMER_NOT_FOUND":                 {connection.Gone, ""},
	"authenticationError.NOT_ADS_USER":                       {connection.Forbidden, "This Google account has no Google Ads account. Connect with a Google account that has one."},
	"authenticationError.TWO_STEP_VERIFICATION_NOT_ENROLLED": {connection.Forbidden, "Google Ads requires 2-Step Verification. Turn it on for the Google account that granted access, then connect again."},
	"authenticationError.ADVANCED_PROTECTION_NOT_ENROLLED":   {connection.Forbidden, "The Google Ads account requires Advanced Protection. Enroll the Google account that granted access, then connect again."},

	"authorizationError":                                            {connection.Forbidden, ""},
	"authorizationError.CUSTOMER_NOT_ENABLED":                       {connection.Forbidden, "The account is canceled, suspended or not set up yet. Reactivate it in Google Ads to sync it again."},
	"authorizationError.USER_PERMISSION_DENIED":                     {connection.Forbidden, "The Google account that granted access cannot open this account. Ask an admin of the account, or of a manager account above it, for access."},
	"authorizationError.CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION":  {connection.Forbidden, "The Google Cloud project of this server has access to test accounts only. Apply for Explorer, Basic or Standard access on " + overviewPage + "."},
	"authorizationError.PROJECT_DISABLED":                           {connection.Forbidden, "The Google Ads API is turned off for the Google Cloud project of this server. Enable it in the Google Cloud console under APIs & Services."},
	"authorizationError.MISSING_TOS":                                {connection.Forbidden, "The terms of the Google Ads API are not accepted. Accept them on " + overviewPage + "."},
	"authorizationError.INCOMPLETE_SIGNUP":                          {connection.Forbidden, "The account is not set up yet. Finish its sign-up in Google Ads."},
	"authorizationError.ACTION_NOT_PERMITTED_FOR_SUSPENDED_ACCOUNT": {connection.Forbidden, "The account is suspended: its campaigns do not serve and cannot be changed. Contact Google support."},
	"authorizationError.METRIC_ACCESS_DENIED":                       {connection.Forbidden, "The Google Cloud project of this server may not read these metrics. Check its permissible use on " + overviewPage + "."},
	wrongLoginKey: {connection.Forbidden, "The manager account no longer has access to this account. Link the account to the manager again, or connect with access to it."},

	"requestError.UNSUPPORTED_VERSION":     {connection.Sunset, ""},
	"requestError.RESOURCE_NOT_FOUND":      {connection.Gone, ""},
	"requestError.EXPIRED_PAGE_TOKEN":      {connection.PagesDisagree, ""},
	"requestError.CLOUD_PROJECT_NOT_FOUND": {connection.Forbidden, "Google does not find the Google Cloud project of this server's OAuth client. Check the client id."},
	"mutateError.RESOURCE_NOT_FOUND":       {connection.Gone, ""},

	"queryError.DATE_RANGE_TOO_WIDE":                          {connection.TooLarge, ""},
	"queryError.REQUESTED_METRICS_FOR_MANAGER":                {connection.Refused, "The account is a manager account, which has no metrics of its own. Choose the accounts below it."},
	"dateRangeError.REQUESTED_DATE_GRANULARITY_NOT_SUPPORTED": {connection.Refused, retentionMessage},

	"internalError": {connection.Transient, ""},
	// Choice: a query that ran into its deadline asks for too much; another try
	// would take as long.
	"internalError.DEADLINE_EXCEEDED": {connection.TooLarge, ""},
	// A code that this version of the API does not know is not known to pass.
	"internalError.ERROR_CODE_NOT_PUBLISHED":  {connection.Refused, ""},
	"databaseError":                           {connection.Transient, ""},
	"databaseError.REQUEST_TOO_LARGE":         {connection.TooLarge, ""},
	"databaseError.DATA_CONSTRAINT_VIOLATION": {connection.Refused, ""},

	"contextError.OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE":   {connection.Gone, "The campaign was removed in Google Ads. A removed campaign cannot be changed."},
	"campaignError.INVALID_STATUS_CHANGE":                         {connection.Refused, "Google Ads does not allow this change of the campaign's status. Check the campaign in Google Ads."},
	"campaignError.INVALID_OPERATION_IF_SERVING_STATUS_HAS_ENDED": {connection.Refused, "The campaign has ended. Move its end date in Google Ads to run it again."},
	"campaignError.CANNOT_MODIFY_FOR_TRIAL_CAMPAIGN":              {connection.Refused, "The campaign belongs to an experiment. Change the experiment in Google Ads."},
}

const (
	// overviewPage is where the access level of a Cloud project is managed.
	overviewPage  = "console.cloud.google.com/google/ads-apis/overview"
	wrongLogin    = "INVALID_LOGIN_CUSTOMER_ID_SERVING_CUSTOMER_ID_COMBINATION"
	wrongLoginKey = "authorizationError." + wrongLogin
)

// quotaWait is the wait for quotas over a sliding day. Choice: Google usually
// names the wait; otherwise an hour frees a part of the quota.
const quotaWait = time.Hour

// readError returns the error of an answer of Google Ads, nil if there is none.
// A stream with status 200 can have one after some rows.
func readError(status int, header http.Header, body []byte, now time.Time) *connection.Error {
	if status < http.StatusBadRequest {
		if status = googleauth.StreamStatus(body); status == 0 {
			return nil
		}
		return transport.ErrorBeside(readError(status, header, body, now))
	}
	e, said := googleauth.ReadError(status, body, now)
	if e == nil {
		return nil
	}
	if e.RequestID == "" {
		e.RequestID = header.Get("Request-Id")
	}
	applyFailures(e, said, now)
	return e
}

// failureOf returns the error of a status that is part of an answer.
func failureOf(said *googleauth.Status, now time.Time) *connection.Error {
	e := &connection.Error{Class: connection.Refused, Code: "partial_failure", Message: "Google did not carry out the change."}
	if said.Message != "" {
		e.Message = said.Message
	}
	applyFailures(e, said, now)
	return e
}

// applyFailures adds to an error what Google Ads reports beyond the status: its
// first failure counts.
func applyFailures(e *connection.Error, said *googleauth.Status, now time.Time) {
	for _, d := range said.Details {
		if len(d.Errors) > 0 {
			applyFailure(e, d.Errors[0], now)
		}
	}
}

func applyFailure(e *connection.Error, f googleauth.Failure, now time.Time) {
	for kind, code := range f.Code {
		e.Code = code
		if f.Message != "" {
			e.Message = f.Message
		}
		for _, key := range []string{kind, kind + "." + code} {
			if rule, ok := errorRules[key]; ok {
				e.Class = rule.class
				if rule.message != "" {
					e.Message = rule.message
				}
			}
		}
	}
	e.Until, e.Stated = time.Time{}, false
	if e.Class != connection.Throttled {
		return
	}
	wait := googleauth.DefaultWait
	if e.Code == "EXCESSIVE_LONG_TERM_QUERY_RESOURCE_CONSUMPTION" {
		wait = quotaWait
	}
	said, stated := googleauth.ParseDelay(f.Details.Quota.RetryDelay)
	if stated {
		wait = said
	}
	e.Until, e.Stated = now.Add(wait), stated
	if f.Details.Quota.RateScope == "DEVELOPER" {
		e.Cause, e.Message = errProjectQuota, projectQuotaMessage
	}
}

// isUnreachable reports whether an account is not reached the way it was asked
// for.
func isUnreachable(err error) bool {
	e, ok := errors.AsType[*connection.Error](err)
	return ok && (e.Code == wrongLogin || e.Code == "USER_PERMISSION_DENIED")
}

// projectCodes are the errors of the Cloud project: no account can be read.
var projectCodes = map[string]bool{"PROJECT_DISABLED": true, "CLOUD_PROJECT_NOT_FOUND": true, "ACCESS_PROHIBITED": true, "CLOUD_PROJECT_NOT_UNDER_ORGANIZATION": true}

// isOfAccount reports whether an error is about one account, so that others can be
// read.
func isOfAccount(e *connection.Error) bool {
	return (e.Class == connection.Forbidden || e.Class == connection.Gone) && !projectCodes[e.Code]
}
