package sandbox

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxJournal = 10_000
	// maxEntryBody is the longest body that is recorded.
	maxEntryBody = 64 << 10
)

// Entry is a recorded call with secrets replaced. Path has no platform prefix.
type Entry struct {
	Platform string         `json:"platform"`
	Method   string         `json:"method"`
	Host     string         `json:"host"`
	Path     string         `json:"path"`
	Query    string         `json:"query"`
	Header   http.Header    `json:"headers"`
	Body     jsontext.Value `json:"body"`
	Status   int            `json:"status"`
	// Fault is the fault of the call, if any.
	Fault string `json:"fault,omitzero"`
}

// journal has the last calls.
type journal struct {
	mu      sync.Mutex
	entries []Entry
}

func (j *journal) add(e Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	// Truncating only at twice the length moves every entry at most once.
	if j.entries = append(j.entries, e); len(j.entries) >= 2*maxJournal {
		j.entries = slices.Clone(j.entries[len(j.entries)-maxJournal:])
	}
}

// Journal returns the last calls, the oldest first.
func (s *Server) Journal() []Entry {
	j := &s.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries[max(0, len(j.entries)-maxJournal):])
}

func (j *journal) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = nil
}

const sealed = "[sealed]"

// secretNames are the headers, parameters and members with secrets, in lower
// case.
var secretNames = []string{
	"authorization", "access-token", "developer-token", "developertoken", "sig", "cookie", "access_token", "refresh_token", "client_secret", "secret", "code", "auth_code",
	"code_verifier", "fb_exchange_token", "token", "appsecret_proof", "assertion",
}

func isSecret(name string) bool { return slices.Contains(secretNames, strings.ToLower(name)) }

// newEntry returns the entry of a call.
func newEntry(platform string, r *http.Request, body []byte) Entry {
	e := Entry{
		Platform: platform, Method: r.Method, Host: r.Host, Path: r.URL.EscapedPath(), Query: sealQuery(r.URL.RawQuery), Header: r.Header.Clone(),
		Body: jsontext.Value("null"),
	}
	for name, values := range e.Header {
		if isSecret(name) {
			for i, v := range values {
				scheme, _, two := strings.Cut(v, " ")
				values[i] = sealed
				if two {
					values[i] = scheme + " " + sealed
				}
			}
		}
	}
	if len(body) > 0 {
		e.Body = sealBody(r.Header.Get("Content-Type"), body)
	}
	return e
}

// sealQuery replaces secrets in a query or a form and leaves everything else
// unchanged.
func sealQuery(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err != nil || isSecret(plain) {
			pairs[i] = name + "=" + sealed
		}
	}
	return strings.Join(pairs, "&")
}

// sealBody returns a body as JSON: the JSON itself, or a form as a string. It
// replaces the whole body if it is invalid or too long, because it could
// contain secrets.
func sealBody(contentType string, body []byte) jsontext.Value {
	var value any
	kind, _, err := mime.ParseMediaType(contentType)
	switch {
	case len(body) > maxEntryBody:
		value = sealed
	case err == nil && kind == "application/x-www-form-urlencoded":
		value = sealQuery(string(body))
	case json.Unmarshal(body, &value) == nil:
		sealMembers(value)
	default:
		value = sealed
	}
	b, err := json.Marshal(value, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // cannot fail: it was decoded from JSON, or is a string
	}
	return b
}

// sealMembers replaces secrets in a JSON value.
func sealMembers(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if isSecret(name) {
				v[name] = sealed
				continue
			}
			sealMembers(member)
		}
	case []any:
		for _, member := range v {
			sealMembers(member)
		}
	}
}
