package storetest

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"fanfare/internal/body"
	"fanfare/internal/fault"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Answer is what a service returned: a document or an error.
type Answer struct {
	record.Doc
	Err error
	t   testing.TB
}

// Answer returns the result of a call to a service.
func (w *Fixture) Answer(d record.Doc, err error) *Answer { return &Answer{Doc: d, Err: err, t: w.T} }

// Encoded is Answer for a result that is no record: its JSON is that of the
// value.
func (w *Fixture) Encoded(v any, err error) *Answer {
	w.T.Helper()
	a := w.Answer(record.Doc{}, err)
	if err == nil {
		a.JSON, err = json.Marshal(v, json.Deterministic(true))
		w.must(err)
	}
	return a
}

// OK fails the test if the service returned an error.
func (a *Answer) OK() *Answer {
	a.t.Helper()
	if a.Err != nil {
		a.t.Fatal(a.Err)
	}
	return a
}

// Refusal is a fault with its details as a caller receives them, as JSON.
type Refusal struct {
	Code    fault.Code
	Message string
	Details []fault.Detail
}

// Fault fails the test unless the error is a fault with this code.
func (a *Answer) Fault(code fault.Code) *Refusal {
	a.t.Helper()
	f, ok := errors.AsType[*fault.Error](a.Err)
	if !ok || f.Code != code {
		a.t.Fatalf("got %s, %v want %s", a.JSON, a.Err, code)
	}
	text, err := json.Marshal(f.Details)
	if err != nil {
		a.t.Fatal(err)
	}
	sent := &Refusal{Code: f.Code, Message: f.Message}
	if err := json.Unmarshal(text, &sent.Details); err != nil {
		a.t.Fatal(err)
	}
	return sent
}

// Code returns the code of the fault, empty without an error.
func (a *Answer) Code() fault.Code {
	if f, ok := errors.AsType[*fault.Error](a.Err); ok {
		return f.Code
	}
	if a.Err != nil {
		return fault.Internal
	}
	return ""
}

// ID returns the id of the record.
func (a *Answer) ID() string { return string(a.Doc.ID()) }

// Decode reads the document.
func (a *Answer) Decode(to any) {
	a.t.Helper()
	if err := json.Unmarshal(a.OK().JSON, to); err != nil {
		a.t.Fatal(err)
	}
}

// Record returns the members of the document.
func (a *Answer) Record() (members map[string]any) {
	a.t.Helper()
	a.Decode(&members)
	return members
}

// Sent returns a body that a caller sends: a string as it is, anything else
// encoded.
func Sent(t testing.TB, v any) *body.Value {
	t.Helper()
	object, err := body.ValueOf(v)
	if text, ok := v.(string); ok {
		object = &body.Value{}
		*object, err = body.Parse([]byte(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// Events lists up to 100 events, oldest first, by resource_id or type.
func (w *Fixture) Events(by, value string) []map[string]any {
	w.T.Helper()
	q := page.Query{Limit: 100, Sort: "created_at", Filters: []page.Filter{{Name: by, Values: []string{value}}}}
	return w.Members(w.DB.Events().List(w.T.Context(), w.Workspace, q))
}

// EventTypes lists the types of the events of a record, oldest first.
func (w *Fixture) EventTypes(id string) []string {
	w.T.Helper()
	types := []string{}
	for _, e := range w.Events("resource_id", id) {
		types = append(types, e["type"].(string))
	}
	return types
}

// Members returns the members of each record of a page.
func (w *Fixture) Members(p page.Page, err error) []map[string]any {
	w.T.Helper()
	w.must(err)
	list := []map[string]any{}
	for _, d := range p.Docs {
		list = append(list, w.Answer(d, nil).Record())
	}
	return list
}

// Another returns the same store with another workspace.
func (w *Fixture) Another() *Fixture {
	w.T.Helper()
	other := *w
	other.Workspace, other.Owner, other.Secret = w.AddWorkspace(strings.ToLower(rand.Text()) + "@example.com")
	return &other
}
