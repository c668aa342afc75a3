// Package sandbox is a stand-in for the platforms that models are rented from:
// OpenAI's chat completions and images, Anthropic's messages, and Google's
// generateContent, on one handler. It answers from nothing but the request, the
// same every time, and fails in the ways that the real ones do when asked to.
// It refuses what they refuse, so that a client which works here has at least
// said nothing wrong.
package sandbox

import (
	"hash/fnv"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FaultHeader asks for a fault, like a model named sandbox-<fault> does.
const FaultHeader = "X-Sandbox-Fault"

// Faults are what can be asked for. A number behind, as in throttled-2, makes
// the fault end after so many requests; the count starts again then.
const (
	// FaultGarbage answers words instead of JSON.
	FaultGarbage = "garbage"
	// FaultTruncated stops in the middle of the JSON.
	FaultTruncated = "truncated"
	// FaultFenced puts the JSON into a fence, with words around it.
	FaultFenced = "fenced"
	// FaultOverlong writes texts that are too long, and shortens them when
	// asked.
	FaultOverlong = "overlong"
	// FaultStubborn writes texts that are too long and does not shorten them.
	FaultStubborn = "stubborn"
	// FaultMarkup writes HTML, entities and direction characters.
	FaultMarkup = "markup"
	// FaultInjection does what the brief says instead of the task: it shows
	// its instructions and advertises another site.
	FaultInjection = "injection"
	// FaultFew writes one variant less than it was asked for.
	FaultFew = "few"
	// FaultRefusal refuses for reasons of content.
	FaultRefusal = "refusal"
	// FaultFiltered refuses by the filter before the model.
	FaultFiltered = "filtered"
	// FaultUnauthorized refuses the key.
	FaultUnauthorized = "unauthorized"
	// FaultThrottled answers 429 and to come back after a second.
	FaultThrottled = "throttled"
	// FaultBusy answers 429 and to come back after an hour.
	FaultBusy = "busy"
	// FaultUnavailable answers 500.
	FaultUnavailable = "unavailable"
	// FaultDropped closes the connection without an answer.
	FaultDropped = "dropped"
	// FaultHang never answers.
	FaultHang = "hang"
	// FaultSchemaless refuses to be held to a schema, FaultFormatless also to
	// JSON.
	FaultSchemaless = "schemaless"
	FaultFormatless = "formatless"
)

// Entry is a request as it came in. Credentials in it are hidden.
type Entry struct {
	Method, Path string
	Header       http.Header
	Body         jsontext.Value
}

// maxJournalEntries is how many requests are remembered.
const (
	maxJournalEntries = 1000
	maxBody           = 4 << 20
)

// Handler is the stand-in.
type Handler struct {
	now func() time.Time

	mu      sync.Mutex
	journal []Entry
	// faultCounts counts the requests that a fault with a number has hit.
	faultCounts map[string]int
}

// New makes a stand-in.
func New(now func() time.Time) *Handler {
	return &Handler{now: now, faultCounts: map[string]int{}}
}

// Journal lists the last requests, oldest first.
func (h *Handler) Journal() []Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.journal)
}

// vendorAPI is how one platform is spoken to.
type vendorAPI interface {
	// apiKey is the credential of a request.
	apiKey(h http.Header) string
	// knownMembers are the top-level members that the platform knows.
	knownMembers() []string
	// parse understands a request.
	parse(r *http.Request, body []byte) (*modelRequest, *refusal)
	// answerBody is the body of an answer.
	answerBody(q *modelRequest, a *modelAnswer) any
	// refusalBody is the status and the body of a refusal.
	refusalBody(f *refusal) (int, any)
}

// modelRequest is a request in nobody's dialect.
type modelRequest struct {
	// id and created are for the answer.
	id           string
	created      int64
	model        string
	system, user string
	format       string
	schema       map[string]any
	maxTokens    int
	// tool is the one through which the answer is to be handed in.
	tool string
	// filters says that the platform's filter refuses requests; elsewhere it
	// answers them with nothing.
	filters bool
	// width and height are set where a picture is wanted.
	width, height int
}

// modelAnswer is the answer in nobody's dialect.
type modelAnswer struct {
	text string
	// stop is why the text ends: stop, length, refusal or filter.
	stop          string
	picture       []byte
	input, output int
}

type refusal struct {
	status     int
	code       string
	message    string
	param      string
	retryAfter int
}

// apiForPath is the one that a path belongs to.
func apiForPath(path string) vendorAPI {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return openAIChat{}
	case strings.HasSuffix(path, "/images/generations"):
		return openAIImages{}
	case path == "/v1/messages":
		return anthropicMessages{}
	case strings.HasPrefix(path, "/v1beta/models/") && strings.HasSuffix(path, ":generateContent"):
		return geminiContent{}
	}
	return nil
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := apiForPath(r.URL.Path)
	if d == nil || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeRefusal(w, d, &refusal{status: http.StatusRequestEntityTooLarge, message: "the request is too large"})
		return
	}
	h.recordRequest(r, body)
	q, f := parseRequest(d, r, body)
	if f != nil {
		writeRefusal(w, d, f)
		return
	}
	q.id, q.created = requestID(body), h.now().Unix()
	fault := h.requestedFault(r.Header.Get(FaultHeader), q.model)
	switch fault {
	case FaultHang:
		<-r.Context().Done()
		return
	case FaultDropped:
		panic(http.ErrAbortHandler)
	}
	if f := refusalForFault(fault, q); f != nil {
		writeRefusal(w, d, f)
		return
	}
	writeJSON(w, http.StatusOK, d.answerBody(q, answerTo(q, fault)))
}

// parseRequest checks the key and the shape of a request before its dialect
// reads it.
func parseRequest(d vendorAPI, r *http.Request, body []byte) (*modelRequest, *refusal) {
	if d.apiKey(r.Header) == "" {
		return nil, &refusal{status: http.StatusUnauthorized, code: "invalid_api_key", message: "You did not provide an API key."}
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(body, &members) != nil {
		return nil, invalidRequest("", "The body of the request is not a JSON object.")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(d.knownMembers(), name) {
			return nil, invalidRequest(name, "Unknown member: '"+name+"'.")
		}
	}
	return d.parse(r, body)
}

func invalidRequest(param, message string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "invalid_request", param: param, message: message}
}

// recordRequest remembers a request.
func (h *Handler) recordRequest(r *http.Request, body []byte) {
	header := r.Header.Clone()
	for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key"} {
		if header.Get(name) != "" {
			header.Set(name, "[sealed]")
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.journal = append(h.journal, Entry{r.Method, r.URL.Path, header, slices.Clone(body)})
	h.journal = h.journal[max(0, len(h.journal)-maxJournalEntries):]
}

// requestedFault is the one that a request asked for and that is not over yet.
func (h *Handler) requestedFault(header, model string) string {
	name := header
	if name == "" {
		var ok bool
		if name, ok = strings.CutPrefix(model, "sandbox-"); !ok {
			return ""
		}
	}
	at := strings.LastIndexByte(name, '-')
	times, err := strconv.Atoi(name[at+1:])
	if at < 0 || err != nil {
		return name
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.faultCounts[name] < times {
		h.faultCounts[name]++
		return name[:at]
	}
	h.faultCounts[name] = 0
	return ""
}

// refusalForFault is the refusal that a fault makes of a request, if it does.
func refusalForFault(fault string, q *modelRequest) *refusal {
	switch {
	case fault == FaultUnauthorized:
		return &refusal{status: http.StatusUnauthorized, code: "invalid_api_key", message: "Incorrect API key provided."}
	case fault == FaultThrottled:
		return &refusal{status: http.StatusTooManyRequests, code: "rate_limit_exceeded", message: "Rate limit reached.", retryAfter: 1}
	case fault == FaultBusy:
		return &refusal{status: http.StatusTooManyRequests, code: "rate_limit_exceeded", message: "Rate limit reached.", retryAfter: 3600}
	case fault == FaultUnavailable:
		return &refusal{status: http.StatusInternalServerError, code: "server_error", message: "The server had an error."}
	case q.filters && (fault == FaultFiltered || fault == FaultRefusal && q.width > 0):
		return &refusal{status: http.StatusBadRequest, code: "content_filter", message: "The prompt was filtered."}
	case fault == FaultSchemaless && q.format == "schema", fault == FaultFormatless && q.format != "":
		return &refusal{status: http.StatusBadRequest, code: "format", param: "response_format", message: "This model does not support the requested schema."}
	}
	return nil
}

func writeRefusal(w http.ResponseWriter, d vendorAPI, f *refusal) {
	if f.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.retryAfter))
	}
	status, body := d.refusalBody(f)
	writeJSON(w, status, body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Who has gone does not read the answer.
	_ = json.MarshalWrite(w, body, json.Deterministic(true))
}

// requestID names a request.
func requestID(body []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(body)
	return strconv.FormatUint(h.Sum64(), 36)
}
