// Package sandbox simulates the APIs of model vendors on one handler: OpenAI's
// chat completions and images, Anthropic's Messages and Google's
// generateContent. Its answer depends only on the request. It can fail in the
// ways of the real APIs if a request asks for it, and rejects what they reject,
// so that a client that works here sends valid requests.
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

// FaultHeader requests a fault, like a model named sandbox-<fault>.
const FaultHeader = "X-Sandbox-Fault"

// The faults that can be requested. With a number, as in throttled-2, the fault
// ends after so many requests; then the count restarts.
const (
	// FaultGarbage returns words instead of JSON.
	FaultGarbage = "garbage"
	// FaultTruncated stops in the middle of the JSON.
	FaultTruncated = "truncated"
	// FaultFenced returns the JSON in a code fence, with words around it.
	FaultFenced = "fenced"
	// FaultOverlong returns texts that are too long, and shortens them on
	// request.
	FaultOverlong = "overlong"
	// FaultStubborn returns texts that are too long and does not shorten them.
	FaultStubborn = "stubborn"
	// FaultMarkup returns HTML, entities and direction characters.
	FaultMarkup = "markup"
	// FaultInjection follows the brief instead of the task: it repeats its
	// instructions and advertises another site.
	FaultInjection = "injection"
	// FaultFew returns one variant less than requested.
	FaultFew = "few"
	// FaultRefusal refuses because of the content.
	FaultRefusal = "refusal"
	// FaultFiltered refuses by the content filter before the model.
	FaultFiltered = "filtered"
	// FaultUnauthorized refuses the key.
	FaultUnauthorized = "unauthorized"
	// FaultThrottled returns 429 with a Retry-After of one second.
	FaultThrottled = "throttled"
	// FaultBusy returns 429 with a Retry-After of one hour.
	FaultBusy = "busy"
	// FaultUnavailable returns 500.
	FaultUnavailable = "unavailable"
	// FaultDropped closes the connection without an answer.
	FaultDropped = "dropped"
	// FaultHang never answers.
	FaultHang = "hang"
	// FaultSchemaless rejects schemas, FaultFormatless also JSON mode.
	FaultSchemaless = "schemaless"
	FaultFormatless = "formatless"
)

// Entry is a recorded request. Its credentials are replaced.
type Entry struct {
	Method, Path string
	Header       http.Header
	Body         jsontext.Value
}

// maxJournalEntries is how many requests are recorded.
const (
	maxJournalEntries = 1000
	maxBody           = 4 << 20
)

// Handler simulates all vendors.
type Handler struct {
	now func() time.Time

	mu      sync.Mutex
	journal []Entry
	// faultCounts counts the requests that a fault with a number has affected.
	faultCounts map[string]int
}

// New returns a handler.
func New(now func() time.Time) *Handler {
	return &Handler{now: now, faultCounts: map[string]int{}}
}

// Journal returns the last requests, oldest first.
func (h *Handler) Journal() []Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.journal)
}

// vendorAPI converts between a vendor's format and the sandbox's.
type vendorAPI interface {
	// apiKey returns the credential of a request.
	apiKey(h http.Header) string
	// knownMembers are the top-level members that the vendor accepts.
	knownMembers() []string
	// parse reads and checks a request.
	parse(r *http.Request, body []byte) (*modelRequest, *refusal)
	// answerBody returns the body of an answer.
	answerBody(q *modelRequest, a *modelAnswer) any
	// refusalBody returns the status and the body of a refusal.
	refusalBody(f *refusal) (int, any)
}

// modelRequest is a request of any vendor.
type modelRequest struct {
	// id and created are copied to the answer.
	id           string
	created      int64
	model        string
	system, user string
	format       string
	schema       map[string]any
	maxTokens    int
	// tool is the tool that must return the answer, empty for none.
	tool string
	// filters says that the vendor rejects filtered requests. Others return an
	// empty answer.
	filters bool
	// width and height are set for a picture.
	width, height int
}

// modelAnswer is the answer for any vendor.
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

// apiForPath returns the API that a path belongs to, nil for none.
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

// parseRequest checks the key and the members of a request before the vendor's
// parser reads it.
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

// recordRequest adds a request to the journal.
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

// requestedFault returns the fault that a request asks for, empty if there is
// none or it has ended.
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

// refusalForFault returns the refusal that a fault causes, nil for none.
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
	// A client that has disconnected gets no answer.
	_ = json.MarshalWrite(w, body, json.Deterministic(true))
}

// requestID derives an id from a request.
func requestID(body []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(body)
	return strconv.FormatUint(h.Sum64(), 36)
}
