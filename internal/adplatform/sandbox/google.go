package sandbox

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// google simulates the REST API of Google Ads in all supported versions.
type google struct{}

const (
	googleScope = "https://www.googleapis.com/auth/adwords"
	// googlePageRows is the number of rows per page or chunk of a stream.
	googlePageRows = 10_000
	// googleMaxBody is the longest request.
	googleMaxBody = 1 << 20
)

var googleVersions = []string{"v23", "v24", "v25", "v26"}

// Platform implements Dialect.
func (google) Platform() string { return GoogleAds }

// Hosts implements Dialect.
func (google) Hosts() []string {
	return []string{"googleads.googleapis.com", googleTokenHost, googleConsentHost}
}

// Prefix implements Dialect.
func (google) Prefix() string { return "/google" }

// Serve implements Dialect.
func (google) Serve(s *Call, w http.ResponseWriter, r *http.Request) {
	if serveGoogleOAuth(s, w, r, googleScope) {
		return
	}
	version, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	answer, failure := routeGoogle(s, r, version, rest)
	if failure != nil {
		failure.writeResponse(w, version, isStream(r))
		return
	}
	writeGoogle(w, http.StatusOK, answer)
}

// Throttle implements Dialect.
func (google) Throttle(w http.ResponseWriter, r *http.Request, seconds int) {
	version, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	failure := &googleFailure{http.StatusTooManyRequests, "quotaError", "RESOURCE_EXHAUSTED", "Too many requests. Retry in " + strconv.Itoa(seconds) + " seconds.", seconds}
	failure.writeResponse(w, version, isStream(r))
}

// isStream reports whether errors are in an array, as the answers of a stream.
func isStream(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, ":searchStream") }

// googleFailure is an error of Google Ads, by kind and code.
type googleFailure struct {
	status              int
	kind, code, message string
	// retry is the retry delay in seconds, 0 for none.
	retry int
}

func queryError(code, message string) *googleFailure {
	return &googleFailure{http.StatusBadRequest, "queryError", code, message, 0}
}

func (f *googleFailure) writeResponse(w http.ResponseWriter, version string, stream bool) {
	inner := map[string]any{"errorCode": map[string]string{f.kind: f.code}, "message": f.message}
	if f.retry > 0 {
		inner["details"] = map[string]any{"quotaErrorDetails": map[string]string{
			"rateScope": "ACCOUNT", "rateName": "Requests per account", "retryDelay": strconv.Itoa(f.retry) + "s",
		}}
	}
	answer := googleError(f.status, "The request was not carried out.", map[string]any{
		"@type": "type.googleapis.com/google.ads.googleads." + version + ".errors.GoogleAdsFailure", "errors": []any{inner}, "requestId": googleRequestID,
	})
	if stream {
		answer = []any{answer}
	}
	w.Header().Set("Request-Id", googleRequestID)
	writeGoogle(w, f.status, answer)
}

// googleRequestID is the request id of every call.
const googleRequestID = "sandbox"

// routeGoogle finds the operation of a call.
func routeGoogle(s *Call, r *http.Request, version, rest string) (any, *googleFailure) {
	if s.Fault(FaultVersionSunset) || !slices.Contains(googleVersions, version) {
		return nil, &googleFailure{http.StatusBadRequest, "requestError", "UNSUPPORTED_VERSION", "Version " + version + " is deprecated. Requests to this version will be blocked.", 0}
	}
	a, err := s.Open(googleBearer(r))
	if err != nil {
		code := "OAUTH_TOKEN_INVALID"
		switch {
		case errors.Is(err, ErrExpiredToken):
			code = "OAUTH_TOKEN_EXPIRED"
		case errors.Is(err, ErrRevokedToken):
			code = "OAUTH_TOKEN_REVOKED"
		}
		return nil, &googleFailure{http.StatusUnauthorized, "authenticationError", code, "The access token is not valid: " + err.Error() + ".", 0}
	}
	if r.Method == http.MethodGet && rest == "customers:listAccessibleCustomers" {
		return map[string]any{"resourceNames": []string{"customers/" + a.ID}}, nil
	}
	customer, verb, _ := strings.Cut(strings.TrimPrefix(rest, "customers/"), "/")
	switch {
	case customer != a.ID:
		return nil, &googleFailure{http.StatusForbidden, "authorizationError", "USER_PERMISSION_DENIED", "User doesn't have permission to access customer.", 0}
	case s.Fault(FaultAccountDisabled):
		return nil, &googleFailure{http.StatusForbidden, "authorizationError", "CUSTOMER_NOT_ENABLED", "The customer account can't be accessed because it is not yet enabled or has been deactivated.", 0}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, googleMaxBody))
	if err != nil {
		return nil, &googleFailure{http.StatusBadRequest, "requestError", "UNKNOWN", "The request broke off.", 0}
	}
	switch r.Method + " " + verb {
	case "POST googleAds:searchStream":
		return searchStreamGoogle(s, a, body)
	case "POST googleAds:search":
		return searchGoogle(s, a, body)
	case "POST campaigns:mutate":
		return mutateGoogle(s, a, body)
	}
	return nil, &googleFailure{http.StatusNotFound, "requestError", "UNKNOWN", "There is no method " + verb + ".", 0}
}

// readGoogle decodes a request and rejects unknown members.
func readGoogle(body []byte, into any) *googleFailure {
	if err := json.Unmarshal(body, into, json.RejectUnknownMembers(true)); err != nil {
		return &googleFailure{http.StatusBadRequest, "requestError", "UNKNOWN", "Invalid JSON payload received.", 0}
	}
	return nil
}

type googleChunk struct {
	Results           []any  `json:"results,omitempty"`
	FieldMask         string `json:"fieldMask"`
	RequestID         string `json:"requestId,omitzero"`
	NextPageToken     string `json:"nextPageToken,omitzero"`
	TotalResultsCount int64  `json:"totalResultsCount,string,omitzero"`
}

func searchStreamGoogle(s *Call, a *Account, body []byte) (any, *googleFailure) {
	var in struct {
		Query string `json:"query"`
	}
	if failure := readGoogle(body, &in); failure != nil {
		return nil, failure
	}
	q, lines, failure := runGAQL(s, a, in.Query)
	if failure != nil {
		return nil, failure
	}
	chunks := []googleChunk{}
	for first := true; first || len(lines) > 0; first = false {
		n := min(len(lines), googlePageRows)
		chunk := q.chunk(lines[:n])
		chunk.RequestID = googleRequestID
		chunks, lines = append(chunks, chunk), lines[n:]
	}
	// Choice: a stream has no pages to skip and no total to change; the fault
	// of a duplicate chunk is the only one that applies.
	if s.Fault(FaultDuplicatePage) {
		chunks = append(chunks, chunks[0])
	}
	return chunks, nil
}

func searchGoogle(s *Call, a *Account, body []byte) (any, *googleFailure) {
	type settings struct {
		Total bool `json:"returnTotalResultsCount"`
	}
	var in struct {
		Query string `json:"query"`
		// Google accepts both forms of member names.
		PageToken    string   `json:"pageToken"`
		PageTokenToo string   `json:"page_token"`
		Settings     settings `json:"searchSettings"`
		SettingsToo  struct {
			Total bool `json:"return_total_results_count"`
		} `json:"search_settings"`
	}
	if failure := readGoogle(body, &in); failure != nil {
		return nil, failure
	}
	q, lines, failure := runGAQL(s, a, in.Query)
	if failure != nil {
		return nil, failure
	}
	at := 0
	if token := in.PageToken + in.PageTokenToo; token != "" {
		n, err := strconv.Atoi(token)
		if err != nil || n < 0 || n > len(lines) {
			return nil, &googleFailure{http.StatusBadRequest, "requestError", "INVALID_PAGE_TOKEN", "Page token is invalid.", 0}
		}
		at = n
	}
	next := min(at+googlePageRows, len(lines))
	shown := lines[at:next]
	if at >= googlePageRows && s.Fault(FaultDuplicatePage) {
		shown = lines[at-googlePageRows : at]
	}
	page := q.chunk(shown)
	if next < len(lines) && s.Fault(FaultSkipPage) {
		next = min(next+googlePageRows, len(lines))
	}
	if next < len(lines) {
		page.NextPageToken = strconv.Itoa(next)
	}
	if in.Settings.Total || in.SettingsToo.Total {
		page.TotalResultsCount = int64(len(lines))
		if at > 0 && s.Fault(FaultDriftingTotal) {
			page.TotalResultsCount++
		}
	}
	return page, nil
}

// mutateGoogle sets the status of campaigns, the only change that is simulated.
func mutateGoogle(s *Call, a *Account, body []byte) (any, *googleFailure) {
	var in struct {
		Operations []struct {
			UpdateMask string `json:"updateMask"`
			Update     struct {
				ResourceName string `json:"resourceName"`
				Status       string `json:"status"`
			} `json:"update"`
		} `json:"operations"`
		ValidateOnly bool `json:"validateOnly"`
	}
	if failure := readGoogle(body, &in); failure != nil {
		return nil, failure
	}
	results := []any{}
	for _, op := range in.Operations {
		id, ours := strings.CutPrefix(op.Update.ResourceName, "customers/"+a.ID+"/campaigns/")
		at := slices.IndexFunc(a.Campaigns, func(c *Campaign) bool { return c.ID == id })
		switch {
		case op.UpdateMask != "status":
			return nil, &googleFailure{http.StatusBadRequest, "fieldMaskError", "INVALID_FIELD_MASK", "Only status can be changed here.", 0}
		case !ours || at < 0:
			return nil, &googleFailure{http.StatusBadRequest, "mutateError", "RESOURCE_NOT_FOUND", "Resource was not found.", 0}
		case op.Update.Status != "ENABLED" && op.Update.Status != "PAUSED":
			return nil, &googleFailure{http.StatusBadRequest, "requestError", "INVALID_ENUM_VALUE", "Status must be ENABLED or PAUSED.", 0}
		}
		if !in.ValidateOnly {
			s.SetRuns(a, a.Campaigns[at], op.Update.Status == "ENABLED")
			results = append(results, map[string]string{"resourceName": op.Update.ResourceName})
		}
	}
	return map[string]any{"results": results}, nil
}
