package sandbox

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/clock"
)

const controlPrefix = "/_sandbox/"

// controlHandler returns the handler of the sandbox's own operations.
func (s *Server) controlHandler() http.Handler {
	c := control{s}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_sandbox/seed", c.seed)
	mux.HandleFunc("POST /_sandbox/grants", c.grants)
	mux.HandleFunc("POST /_sandbox/service_accounts", c.serviceAccount)
	mux.HandleFunc("DELETE /_sandbox/service_accounts/{key}", func(w http.ResponseWriter, r *http.Request) {
		if !s.DeleteServiceAccountKey(r.PathValue("key")) {
			c.writeError(w, http.StatusNotFound, "not_found", "There is no such key of a service account.")
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /_sandbox/truth", c.truth)
	mux.HandleFunc("GET /_sandbox/clock", c.clock)
	mux.HandleFunc("POST /_sandbox/clock", c.setClock)
	mux.HandleFunc("GET /_sandbox/faults", func(w http.ResponseWriter, _ *http.Request) { c.writeData(w, s.faults.list()) })
	mux.HandleFunc("POST /_sandbox/faults", c.addFaults)
	mux.HandleFunc("DELETE /_sandbox/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.faults.clear()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /_sandbox/behaviors", func(w http.ResponseWriter, _ *http.Request) { c.writeData(w, s.behaviors.list()) })
	mux.HandleFunc("POST /_sandbox/behaviors", c.turnOn)
	mux.HandleFunc("DELETE /_sandbox/behaviors", func(w http.ResponseWriter, _ *http.Request) {
		s.TurnAllOff()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /_sandbox/journal", func(w http.ResponseWriter, _ *http.Request) { c.writeData(w, s.Journal()) })
	mux.HandleFunc("DELETE /_sandbox/journal", func(w http.ResponseWriter, _ *http.Request) {
		s.journal.clear()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc(controlPrefix, func(w http.ResponseWriter, r *http.Request) {
		c.writeError(w, http.StatusNotFound, "not_found", fmt.Sprintf("%s %s is no operation of the sandbox: there are grants, truth, clock, faults, behaviors, journal, seed and service_accounts.", r.Method, r.URL.Path))
	})
	return mux
}

// control implements the sandbox's own operations.
type control struct{ s *Server }

func (c control) writeData(w http.ResponseWriter, data any, o ...json.Options) {
	c.writeJSON(w, http.StatusOK, map[string]any{"data": data}, o...)
}

func (c control) writeError(w http.ResponseWriter, status int, code, message string) {
	c.writeJSON(w, status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}

func (c control) writeInvalid(w http.ResponseWriter, message string) {
	c.writeError(w, http.StatusBadRequest, "invalid_request", message)
}

func (control) writeJSON(w http.ResponseWriter, status int, v any, o ...json.Options) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that has disconnected gets no answer.
	_ = json.MarshalWrite(w, v, append(o, json.Deterministic(true))...)
}

// readBody decodes the body, which may be absent, and answers errors in it.
func (c control) readBody(w http.ResponseWriter, r *http.Request, into any) bool {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil && len(b) > 0 {
		err = json.Unmarshal(b, into, json.RejectUnknownMembers(true))
	}
	if err != nil {
		c.writeInvalid(w, "The body is not what it should be: "+err.Error())
	}
	return err == nil
}

func (c control) seed(w http.ResponseWriter, _ *http.Request) {
	c.writeData(w, map[string]any{"world": c.s.own, "scale": max(c.s.o.Scale, 1), "platforms": c.s.Addresses()})
}

// readSet decodes an account set and answers errors in it.
func (c control) readSet(w http.ResponseWriter, r *http.Request) (AccountSet, bool) {
	var in struct {
		Seed     *int64 `json:"seed"`
		Currency string `json:"currency"`
		Timezone string `json:"timezone"`
	}
	if !c.readBody(w, r, &in) {
		return AccountSet{}, false
	}
	set := AccountSet{Seed: c.s.own.Seed, Currency: in.Currency, Timezone: in.Timezone}
	if in.Seed != nil {
		set.Seed = *in.Seed
	}
	return set, true
}

func (c control) grants(w http.ResponseWriter, r *http.Request) {
	set, ok := c.readSet(w, r)
	if !ok {
		return
	}
	opened, err := c.s.Grant(set)
	if err != nil {
		c.writeInvalid(w, err.Error())
		return
	}
	c.writeData(w, opened)
}

// serviceAccount creates a service account of Google and answers its key file.
func (c control) serviceAccount(w http.ResponseWriter, r *http.Request) {
	set, ok := c.readSet(w, r)
	if !ok {
		return
	}
	file, err := c.s.ServiceAccount(set)
	if err != nil {
		c.writeInvalid(w, err.Error())
		return
	}
	c.writeData(w, file)
}

// maxTruth limits the number of days in one answer.
const maxTruth = 2000

func (c control) truth(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	id := strings.ReplaceAll(strings.TrimPrefix(q.Get("account"), "act_"), "-", "")
	a, ok := c.s.Account(id)
	if !ok {
		c.writeError(w, http.StatusNotFound, "not_found", fmt.Sprintf("Account %q is in no world that was opened: POST /_sandbox/grants opens one.", q.Get("account")))
		return
	}
	first, ok1 := clock.ParseDate(q.Get("start_date"))
	last, ok2 := clock.ParseDate(q.Get("end_date"))
	switch {
	case !ok1, !ok2:
		c.writeInvalid(w, "start_date and end_date must be days such as 2026-11-01.")
	case last < first:
		c.writeInvalid(w, "end_date must not be before start_date.")
	case last-first >= maxTruth:
		c.writeInvalid(w, fmt.Sprintf("There are at most %d days from start_date to end_date.", maxTruth))
	default:
		// A family that the platform does not have is null and not an empty
		// list.
		c.writeData(w, c.s.Truth(a, first, last), json.FormatNilSliceAsNull(true))
	}
}

func (c control) clock(w http.ResponseWriter, _ *http.Request) {
	now := c.s.Now()
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.writeData(w, map[string]any{"now": now.UTC(), "stands": c.s.frozenTime != nil})
}

func (c control) setClock(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Now     jsontext.Value `json:"now"`
		Advance string         `json:"advance"`
	}
	if !c.readBody(w, r, &in) {
		return
	}
	var standing *time.Time
	if len(in.Now) > 0 && json.Unmarshal(in.Now, &standing) != nil {
		c.writeInvalid(w, "now must be a moment such as 2026-11-01T12:00:00Z, or null for the clock on the wall.")
		return
	}
	advance := time.Duration(0)
	if in.Advance != "" {
		var err error
		if advance, err = time.ParseDuration(in.Advance); err != nil {
			c.writeInvalid(w, "advance must be a span such as 24h or 90m.")
			return
		}
	}
	c.s.setClock(len(in.Now) > 0, standing, advance)
	c.clock(w, r)
}

// setClock freezes or releases the clock if set, and then advances it.
func (s *Server) setClock(set bool, standing *time.Time, advance time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if set {
		s.frozenTime, s.clockOffset = standing, 0
	}
	if s.frozenTime != nil {
		moved := s.frozenTime.Add(advance)
		s.frozenTime = &moved
		return
	}
	s.clockOffset += advance
}

// addFaults adds one rule or a list of them. An invalid rule rejects all.
func (c control) addFaults(w http.ResponseWriter, r *http.Request) {
	body := jsontext.Value("null")
	if !c.readBody(w, r, &body) {
		return
	}
	if body.Kind() != '[' {
		body = append(append(jsontext.Value{'['}, body...), ']')
	}
	var rules []FaultRule
	err := json.Unmarshal(body, &rules, json.RejectUnknownMembers(true))
	for i := range rules {
		if err == nil {
			err = rules[i].validate()
		}
	}
	if err != nil {
		c.writeInvalid(w, "These are no rules: "+err.Error())
		return
	}
	for _, rule := range rules {
		_ = c.s.AddFault(rule) // validated above
	}
	c.writeData(w, c.s.faults.list())
}

// turnOn turns one switch on.
func (c control) turnOn(w http.ResponseWriter, r *http.Request) {
	var rule BehaviorRule
	if !c.readBody(w, r, &rule) {
		return
	}
	if err := c.s.TurnOn(rule); err != nil {
		c.writeInvalid(w, "This is no switch: "+err.Error())
		return
	}
	c.writeData(w, c.s.behaviors.list())
}
