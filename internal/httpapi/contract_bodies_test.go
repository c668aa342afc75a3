package httpapi_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// key returns the name of the edge in the tables, independent of the member's
// position.
func (e *edge) key() string {
	field, what, _ := strings.Cut(e.name, " ")
	return field[strings.LastIndexByte(field, '.')+1:] + " " + what
}

// TestContractEdges derives from each request schema the bodies just outside
// and just inside its limits. The service must reject the former, naming the
// field, and accept the latter; a record that it creates or changes has every
// value that was sent. Each alternative of a schema has its own edges.
func TestContractEdges(t *testing.T) {
	t.Parallel()
	for id, op := range fanfaretest.TheContract().Operations() {
		if jsonBody(op) == nil {
			continue
		}
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			tryEdges(t, fanfaretest.New(t, nil, ample).Tenant(account.Growth), op)
		})
	}
}

// tryEdges tries the edges of the body of an operation.
func tryEdges(t *testing.T, tenant *fanfaretest.Tenant, op *fanfaretest.Operation) {
	t.Helper()
	m := newMaker(t, tenant)
	schema := jsonBody(op).Schema
	if takesRows(op) {
		m.rowEdges(op, schema.Value)
		return
	}
	for _, schema := range alternatives(schema) {
		m.bodyEdges(op, schema)
	}
}

// bodyEdges tries the edges of one alternative of a body. For an alternative
// that differs from another in one member, the edges of that member are enough.
func (m *maker) bodyEdges(op *fanfaretest.Operation, schema *openapi3.SchemaRef) {
	only, _ := schema.Value.Extensions[markOnly].(string)
	standing := m.fitting(op, m.sample("", schema))
	for _, e := range m.memberEdges(nil, schema.Value) {
		if !strings.HasPrefix(e.name, only) {
			continue
		}
		body := m.sample("", schema)
		e.change(body)
		if code := beyond[e.key()]; code != "" {
			e.field, e.codes = "", []string{code}
		}
		e.field = cmp.Or(broad[e.key()], e.field)
		c := standing
		if e.codes == nil && op.Method == http.MethodPost && strings.Contains(op.Path, "{") {
			c = goodCall(m.tenant, op)
		}
		c.body = e.encode(m.t, body)
		// What takes long need not be waited for.
		res := c.with("Prefer: respond-async").by(m.tenant.Client)
		if member := stricter[op.OperationID]; member != "" && strings.HasPrefix(e.name, member) && e.codes == nil && res.Status == http.StatusUnprocessableEntity {
			continue
		}
		e.check(m.t, res, "")
		if e.codes == nil && res.Status < 300 && keepsBody(op) {
			checkKept(m.t, op, e.name, c.body.(string), res)
		}
	}
}

// rowEdges tries the edges of a row, which has its own result: an invalid row
// is listed in a successful response, or rejects all rows if the caller asks
// for that.
func (m *maker) rowEdges(op *fanfaretest.Operation, s *openapi3.Schema) {
	m.t.Helper()
	c := goodCall(m.tenant, op)
	for _, e := range m.memberEdges(path{0}, s.Items.Value) {
		body := []any{m.sample("", s.Items)}
		e.change(body)
		c.body = e.encode(m.t, body)
		if slices.Contains(e.codes, "not_nullable") {
			// In a row, null means absent.
			e.codes = append(e.codes, "required")
		}
		if e.raw == nil {
			e.checkRejected(m.t, c.by(m.tenant.Client))
		}
		strict := c
		strict.target += "?atomic=true"
		e.check(m.t, strict.by(m.tenant.Client), "rows")
	}
	for _, e := range []edge{{name: "most rows"}, {name: "too many rows", field: "rows", codes: []string{"too_many_items"}}} {
		n := int(*s.MaxItems)
		if e.codes != nil {
			n++
		}
		c.body = "[" + strings.Repeat("{},", n-1) + "{}]"
		// What takes long need not be waited for.
		e.check(m.t, c.with("Prefer: respond-async").by(m.tenant.Client), "")
	}
}

// checkRejected checks that the only row is stored, or listed with its problem.
func (e *edge) checkRejected(t testing.TB, res *fanfaretest.Response) {
	t.Helper()
	var got struct {
		Accepted int `json:"accepted"`
		Rejected []struct {
			Index  int                  `json:"index"`
			Errors []fanfaretest.Detail `json:"errors"`
		} `json:"rejected"`
	}
	res.Want(200).Data(&got)
	if e.codes == nil {
		if got.Accepted != 1 || len(got.Rejected) != 0 {
			t.Errorf("%s: got %+v want the row to be stored", e.name, got)
		}
		return
	}
	if got.Accepted != 0 || len(got.Rejected) != 1 || got.Rejected[0].Index != 0 {
		t.Errorf("%s: got %+v want the row to be listed", e.name, got)
		return
	}
	details := got.Rejected[0].Errors
	for i := range details {
		details[i].In, details[i].Field = "body", "[0]."+details[i].Field
	}
	e.checkDetails(t, details, "")
}

// encode encodes a body.
func (e *edge) encode(t testing.TB, body any) string {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if e.raw != nil {
		return e.raw(string(raw))
	}
	return string(raw)
}

// check checks that a response fits the edge. Field names in it start with a
// prefix.
func (e *edge) check(t testing.TB, res *fanfaretest.Response, prefix string) {
	t.Helper()
	if e.codes == nil {
		if res.Status >= 300 {
			t.Errorf("%s: got %d want success: %.500s", e.name, res.Status, res.Body)
		}
		return
	}
	want, code := 422, "validation_failed"
	switch {
	case e.raw != nil:
		want, code = 400, "malformed_json"
	case broad[e.key()] != "":
		code = "query_too_broad"
	}
	if res.Status != want || res.Error().Code != code || len(res.Error().Details) == 0 {
		t.Errorf("%s: got %d want %d %s: %.500s", e.name, res.Status, want, code, res.Body)
		return
	}
	e.checkDetails(t, res.Error().Details, prefix)
}

func (e *edge) checkDetails(t testing.TB, details []fanfaretest.Detail, prefix string) {
	t.Helper()
	named := false
	for _, d := range details {
		// Invented ids do not exist, which is reported beside the problem of
		// the edge.
		if d.Code == "not_found" && !slices.Contains(e.codes, d.Code) {
			continue
		}
		named = true
		if e.field != "" && d.Field != prefix+e.field || !slices.Contains(e.codes, d.Code) || d.In != "body" {
			t.Errorf("%s: got detail %s %s in %s, want %v at %s", e.name, d.Field, d.Code, d.In, e.codes, e.field)
		}
	}
	if !named {
		t.Errorf("%s: no detail has %v: %+v", e.name, e.codes, details)
	}
}

// TestContractMediaTypes sends every media type that an operation accepts by
// contract, and requests every one that it returns if it has several.
func TestContractMediaTypes(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	for id, op := range fanfaretest.TheContract().Operations() {
		for media := range answers(op) {
			if media == "application/json" && len(answers(op)) == 1 {
				continue
			}
			res := goodCall(tenant, op).with("Accept: " + media).by(tenant.Client)
			if got, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); res.Status >= 300 || got != media {
				t.Errorf("%s: got %d with %s, want %s: %.200s", id, res.Status, got, media, res.Body)
			}
		}
		if op.RequestBody == nil {
			continue
		}
		for media, content := range op.RequestBody.Value.Content {
			if len(op.RequestBody.Value.Content) == 1 {
				continue
			}
			c := goodCall(tenant, op).with("Content-Type: " + media)
			for _, e := range content.Examples {
				if lines, ok := e.Value.Value.(string); ok {
					c.body = lines
				}
			}
			// The bytes decide the type of a table, except for this type.
			if res := c.by(tenant.Client); res.Status >= 300 && media != "application/vnd.apache.parquet" {
				t.Errorf("%s with %s: got %d want success: %.200s", id, media, res.Status, res.Body)
			}
		}
	}
}

// answers returns the media types of an operation's success that a caller can
// request. The type of an image depends on the image.
func answers(op *fanfaretest.Operation) openapi3.Content {
	all := openapi3.Content{}
	for status, ref := range op.Responses.Map() {
		for media, content := range ref.Value.Content {
			if status < "300" && !strings.HasPrefix(media, "image/") {
				all[media] = content
			}
		}
	}
	return all
}
