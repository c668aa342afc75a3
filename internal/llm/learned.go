package llm

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"fanfare/internal/outbound"
)

// ParameterError is returned if a server refuses an optional parameter. A
// request without it can succeed.
type ParameterError struct {
	// Name is a name that Request.Without takes.
	Name  string
	cause error
}

func (e *ParameterError) Error() string {
	return fmt.Sprintf("the model does not take %s: %v", e.Name, e.cause)
}

func (e *ParameterError) Unwrap() error { return e.cause }

// Learned is what a server has refused, so that later requests do not pay for
// another refused call. The zero value is ready for use by several goroutines.
type Learned struct {
	mu sync.Mutex
	// format is the strictest format that the server has not refused.
	format  Format
	without []string
}

// shape returns a request as the server takes it.
func (l *Learned) shape(r Request) Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Without = slices.Clone(l.without)
	return r.inFormat(l.format)
}

// learn records what an error says of a request. It reports whether another
// request can succeed.
func (l *Learned) learn(r Request, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if refused, ok := errors.AsType[*ParameterError](err); ok && r.Sends(refused.Name) {
		// Another request may have learned the same at the same time.
		if !slices.Contains(l.without, refused.Name) {
			l.without = append(l.without, refused.Name)
		}
		return true
	}
	if !errors.Is(err, ErrFormat) || r.Format == FormatText {
		return false
	}
	l.format = max(l.format, r.Format+1)
	return true
}

// Sends reports whether a parameter may be sent.
func (r Request) Sends(parameter string) bool { return !slices.Contains(r.Without, parameter) }

// ClassifyRefusal wraps the error of a refused request: in ErrRefused if the
// body has a content code, in a ParameterError if it names one of the optional
// parameters that were sent, in ErrFormat if it names a parameter of the answer
// format. The member param of the body counts more than its words, and of
// several parameters the first one counts, because a message can name the
// parameter to use instead.
func ClassifyRefusal(err error, content, format, sent []string) error {
	status, ok := errors.AsType[*outbound.StatusError](err)
	if !ok || status.Status != http.StatusBadRequest && status.Status != http.StatusUnprocessableEntity {
		return err
	}
	names := func(text []byte, words []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(text, []byte(word)) })
	}
	if names(status.Body, content) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	var said struct {
		Error struct {
			Param string `json:"param"`
		} `json:"error"`
	}
	if json.Unmarshal(status.Body, &said) != nil {
		said.Error.Param = ""
	}
	for _, text := range [][]byte{[]byte(said.Error.Param), status.Body} {
		if name := firstParameter(text, sent); name != "" {
			return &ParameterError{name, err}
		}
		if names(text, format) {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
	}
	return err
}

// firstParameter returns the parameter that a text names first, empty for none.
func firstParameter(text []byte, parameters []string) (name string) {
	first := len(text)
	for _, p := range parameters {
		at := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(p)).FindIndex(text)
		if at != nil && at[0] < first {
			name, first = p, at[0]
		}
	}
	return name
}
