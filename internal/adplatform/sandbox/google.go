package sandbox

import (
	"bytes"
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
func (g google) Serve(s *Call, w http.ResponseWriter, r *http.Request) {
	if serveGoogleOAuth(s, w, r, googleScope) {
		return
	}
	version, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	answer, failure := g.route(s, r, version, rest)
	if failure != nil {
		failure.writeResponse(w, version, isStream(r))
		return
	}
	if cut, ok := answer.(brokenStream); ok {
		// The stream breaks between two chunks, where each is complete.
		whole := &answerRecorder{header: http.Header{}}
		writeGoogle(whole, http.StatusOK, []googleChunk(cut))
		w.Header().Set("Content-Type", whole.header.Get("Content-Type"))
		_, _ = w.Write(bytes.TrimSuffix(whole.body.Bytes(), []byte("]")))
		return
	}
	writeGoogle(w, http.StatusOK, answer)
}

// Throttle implements Dialect.
func (google) Throttle(w http.ResponseWriter, r *http.Request, seconds int) {
	version, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	googleExhausted("ACCOUNT", "Requests per account", seconds).writeResponse(w, version, isStream(r))
}

// isStream reports whether errors are in an array, as the answers of a stream.
func isStream(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, ":searchStream") }

// googleFailure is an error of Google Ads, by kind and code.
type googleFailure struct {
	status              int
	kind, code, message string
	// quota is set for errors of quotas with details.
	quota *googleQuota
}

func queryError(code, message string) *googleFailure {
	return &googleFailure{http.StatusBadRequest, "queryError", code, message, nil}
}

func requestError(code, message string) *googleFailure {
	return &googleFailure{http.StatusBadRequest, "requestError", code, message, nil}
}

// detail returns the error as GoogleAdsFailure has it.
func (f *googleFailure) detail() map[string]any {
	inner := map[string]any{"errorCode": map[string]string{f.kind: f.code}, "message": f.message}
	if f.quota != nil {
		inner["details"] = map[string]any{"quotaErrorDetails": map[string]string{
			"rateScope": f.quota.scope, "rateName": f.quota.name, "retryDelay": strconv.Itoa(f.quota.seconds) + "s",
		}}
	}
	return inner
}

// googleFailureDetail returns errors as a detail of a status.
func googleFailureDetail(version string, errors ...any) any {
	return map[string]any{
		"@type": "type.googleapis.com/google.ads.googleads." + version + ".errors.GoogleAdsFailure", "errors": errors, "requestId": googleRequestID,
	}
}

func (f *googleFailure) writeResponse(w http.ResponseWriter, version string, stream bool) {
	answer := googleError(f.status, "The request was not carried out.", googleFailureDetail(version, f.detail()))
	if stream {
		answer = []any{answer}
	}
	w.Header().Set("Request-Id", googleRequestID)
	writeGoogle(w, f.status, answer)
}

// googleRequestID is the request id of every call.
const googleRequestID = "sandbox"

// route finds the operation of a call.
func (g google) route(s *Call, r *http.Request, version, rest string) (any, *googleFailure) {
	if s.Fault(FaultVersionSunset) || !slices.Contains(googleVersions, version) {
		return nil, requestError("UNSUPPORTED_VERSION", "Version "+version+" is deprecated. Requests to this version will be blocked.")
	}
	tree, err := g.customers(s, googleBearer(r))
	if err != nil {
		return nil, googleTokenFailure(err)
	}
	if r.Method == http.MethodGet && rest == "customers:listAccessibleCustomers" {
		if failure := failOnSwitch(s, nil, false); failure != nil {
			return nil, failure
		}
		if failure := chargeGoogle(s, nil, 1); failure != nil {
			return nil, failure
		}
		return map[string]any{"resourceNames": tree.accessible()}, nil
	}
	id, verb, _ := strings.Cut(strings.TrimPrefix(rest, "customers/"), "/")
	customer, failure := tree.open(id, r.Header.Get("Login-Customer-Id"))
	switch {
	case failure != nil:
		return nil, failure
	case s.Fault(FaultAccountDisabled):
		return nil, &googleNotEnabled
	}
	if failure := failOnSwitch(s, customer.account, strings.HasSuffix(verb, ":mutate")); failure != nil {
		return nil, failure
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, googleMaxBody))
	if err != nil {
		return nil, requestError("UNKNOWN", "The request broke off.")
	}
	call := &googleCall{Call: s, tree: tree, customer: customer, version: version}
	switch r.Method + " " + verb {
	case "POST googleAds:searchStream":
		return call.searchStream(body)
	case "POST googleAds:search":
		return call.search(body)
	case "POST campaigns:mutate":
		return call.mutate(body)
	}
	return nil, &googleFailure{http.StatusNotFound, "requestError", "UNKNOWN", "There is no method " + verb + ".", nil}
}

// googleTokenFailure returns the failure of a call with a bad token.
func googleTokenFailure(err error) *googleFailure {
	code := "OAUTH_TOKEN_INVALID"
	switch {
	case errors.Is(err, ErrExpiredToken):
		code = "OAUTH_TOKEN_EXPIRED"
	case errors.Is(err, ErrRevokedToken):
		code = "OAUTH_TOKEN_REVOKED"
	}
	return &googleFailure{http.StatusUnauthorized, "authenticationError", code, "The access token is not valid: " + err.Error() + ".", nil}
}

// googleCall is a call to a customer.
type googleCall struct {
	*Call
	tree     googleTree
	customer *googleCustomer
	version  string
}

// readGoogle decodes a request and rejects unknown members.
func readGoogle(body []byte, into any) *googleFailure {
	if err := json.Unmarshal(body, into, json.RejectUnknownMembers(true)); err != nil {
		return requestError("UNKNOWN", "Invalid JSON payload received.")
	}
	return nil
}

type googleChunk struct {
	Results           []any  `json:"results,omitempty"`
	FieldMask         string `json:"fieldMask"`
	RequestID         string `json:"requestId,omitzero"`
	NextPageToken     string `json:"nextPageToken,omitzero"`
	TotalResultsCount int64  `json:"totalResultsCount,string,omitzero"`
	SummaryRow        any    `json:"summaryRow,omitempty"`
}

// brokenStream is a stream that ends without its last byte.
type brokenStream []googleChunk

// Switches of answers.
const (
	googleStreamCut    = "stream_cut"
	googleTokenExpired = "page_token_expired"
)

func (s *googleCall) searchStream(body []byte) (any, *googleFailure) {
	var in struct {
		Query      string `json:"query"`
		SummaryRow string `json:"summaryRowSetting"`
	}
	if failure := readGoogle(body, &in); failure != nil {
		return nil, failure
	}
	if failure := chargeGoogle(s.Call, s.customer.account, 1); failure != nil {
		return nil, failure
	}
	q, lines, failure := s.runGAQL(in.Query)
	if failure != nil {
		return nil, failure
	}
	summary, failure := q.summaryRow(in.SummaryRow, lines)
	if failure != nil {
		return nil, failure
	}
	if in.SummaryRow == summaryOnly {
		lines = nil
	}
	chunks := []googleChunk{}
	for first := true; first || len(lines) > 0; first = false {
		n := min(len(lines), googlePageRows)
		chunk := q.chunk(lines[:n])
		chunk.RequestID = googleRequestID
		chunks, lines = append(chunks, chunk), lines[n:]
	}
	chunks[len(chunks)-1].SummaryRow = summary
	// Choice: a stream has no pages to skip and no total to change; the fault
	// of a duplicate chunk is the only one that applies.
	if s.Fault(FaultDuplicatePage) {
		chunks = append(chunks, chunks[0])
	}
	if s.Behaves(s.customer.account, googleStreamCut) {
		return brokenStream(chunks), nil
	}
	return chunks, nil
}

func (s *googleCall) search(body []byte) (any, *googleFailure) {
	type settings struct {
		Total bool `json:"returnTotalResultsCount"`
	}
	var in struct {
		Query string `json:"query"`
		// Google accepts both forms of member names.
		PageToken    string   `json:"pageToken"`
		PageTokenToo string   `json:"page_token"`
		PageSize     int      `json:"pageSize"`
		PageSizeToo  int      `json:"page_size"`
		ValidateOnly bool     `json:"validateOnly"`
		Settings     settings `json:"searchSettings"`
		SettingsToo  struct {
			Total bool `json:"return_total_results_count"`
		} `json:"search_settings"`
	}
	if failure := readGoogle(body, &in); failure != nil {
		return nil, failure
	}
	token := in.PageToken + in.PageTokenToo
	switch {
	case in.PageSize != 0 || in.PageSizeToo != 0:
		return nil, requestError("PAGE_SIZE_NOT_SUPPORTED", "Setting the page size is not supported. Search Responses will have fixed page size of '10000' rows.")
	case token != "" && s.Behaves(s.customer.account, googleTokenExpired):
		return nil, requestError("EXPIRED_PAGE_TOKEN", "The page token has expired.")
	case token == "":
		// All pages of a query are one operation.
		if failure := chargeGoogle(s.Call, s.customer.account, 1); failure != nil {
			return nil, failure
		}
	}
	q, lines, failure := s.runGAQL(in.Query)
	if failure != nil {
		return nil, failure
	}
	if in.ValidateOnly {
		return struct{}{}, nil
	}
	at := 0
	if token != "" {
		n, err := strconv.Atoi(token)
		if err != nil || n < 0 || n > len(lines) {
			return nil, requestError("INVALID_PAGE_TOKEN", "Page token is invalid.")
		}
		at = n
	}
	page := q.chunk(s.pageOf(lines, at))
	next := min(at+googlePageRows, len(lines))
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

// pageOf returns the rows of the page that begins at a row.
func (s *googleCall) pageOf(lines []googleRow, at int) []googleRow {
	if at >= googlePageRows && s.Fault(FaultDuplicatePage) {
		at -= googlePageRows
	}
	return lines[at:min(at+googlePageRows, len(lines))]
}
