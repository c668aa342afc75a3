package guard_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"

	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
)

// prober calls as one tenant with ids and names of another.
type prober struct {
	t       *testing.T
	service *fanfaretest.Service
	a, b    *busyTenant
	role    string
	client  *fanfaretest.Client
	// sampleEvery makes only one in so many probes.
	sampleEvery, turn int
	probes, missing   int
	reusedKeys        int // Idempotency-Keys
}

// skip reports whether to omit this probe.
func (p *prober) skip() bool {
	p.turn++
	return p.turn%p.sampleEvery != 0
}

// call sends one request and returns all parts of the answer that must not
// depend on the other tenant's data. It removes the id or name in the request
// from the answer.
func (p *prober) call(method, target string, body any, named string, headers ...string) string {
	var reader io.Reader
	bytesOf, isFile := body.(mediaBody)
	if body != nil {
		raw, ok := body.(string)
		switch {
		case isFile:
			raw = string(bytesOf.bytes())
		case !ok:
			b, err := json.Marshal(body, json.Deterministic(true))
			if err != nil {
				p.t.Fatal(err)
			}
			raw = string(b)
		}
		reader = strings.NewReader(raw)
	}
	r := newRequest(p.t.Context(), p.client, method, target, reader, headers...)
	if isFile {
		r.Header.Set("Content-Type", bytesOf.media)
	}
	rec := serveRequest(p.service, r)
	p.probes++
	if rec.Code == http.StatusNotFound && bytes.Contains(rec.Body.Bytes(), []byte(`"not_found"`)) {
		p.missing++
	}
	if rec.Code >= 500 {
		p.t.Errorf("%s %s as %s: got %d: %s", method, target, p.role, rec.Code, rec.Body)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", rec.Code)
	names := make([]string, 0, len(rec.Header()))
	for name := range rec.Header() {
		if name != "X-Request-Id" && !strings.Contains(name, "Ratelimit") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%s: %s\n", name, rec.Header()[name])
	}
	b.WriteString(strings.ReplaceAll(rec.Body.String(), rec.Header().Get("X-Request-Id"), "req"))
	text := b.String()
	if named != "" {
		text = strings.ReplaceAll(text, named, "NAMED")
	}
	if strings.Contains(text, p.b.token) {
		p.t.Fatalf("%s %s as %s: got the other tenant's text: %s", method, target, p.role, text)
	}
	return text
}

// mustEqual fails unless an answer equals that for an id that never existed.
func (p *prober) mustEqual(what, want, got string) {
	if got != want {
		p.t.Fatalf("%s as %s:\n got %s\nwant %s", what, p.role, got, want)
	}
}

// newID returns an id that does not exist.
func (p *prober) newID(prefix string) string {
	return string(ident.New(prefix, p.service.Clock.Now(), rand.Reader))
}

// foreignIDs returns ids that do not exist in this workspace: the other
// tenant's of the right and of every other kind, new ones, and invalid ones.
func (p *prober) foreignIDs(prefix string) []string {
	foreign := p.b.ids[prefix]
	if len(foreign) == 0 {
		p.t.Fatalf("the other tenant has no %s_…: no operation of the contract made one from its examples", prefix)
	}
	list := slices.Clone(foreign[:min(len(foreign), 20)])
	for other, ids := range p.b.ids {
		if other != prefix {
			list = append(list, ids[0])
		}
	}
	one := foreign[0]
	return append(list, p.newID(prefix), p.newID(prefix), p.newID("xyz"), strings.ToUpper(one), one[:len(one)-1], one+"0", one+"%20", one+"%00",
		one+"%2F", one[:4]+"8"+one[5:], prefix+"_", prefix, "x", "0", "null", "%2F", "%C3%A9", "..%2F"+one, strings.Repeat("9", 300), one+"%3F", one+";a=b", "*")
}

// probePaths uses foreign ids in the path, with every example body and with
// every header that could reveal a record.
func (p *prober) probePaths(op *fanfaretest.Operation) {
	names := inBraces.FindAllString(op.Path, -1)
	for at, name := range names {
		pattern := op.Path
		for i, other := range names {
			if i != at {
				own := p.a.ids[prefixOf(p.t, op, other)]
				if len(own) == 0 {
					p.t.Fatalf("%s: there is nothing of our own for %s", op.OperationID, other)
				}
				pattern = strings.Replace(pattern, other, own[0], 1)
			}
		}
		prefix := prefixOf(p.t, op, name)
		payloads := append(exampleBodies(op), map[string]any{}, map[string]any{"nonsense": true}, `{"broken":`)
		if op.RequestBody == nil {
			payloads = []any{nil}
		}
		methods := []string{op.Method}
		if op.Method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		headers := [][]string{nil, {"If-Match: *"}, {`If-Match: "1"`}, {"If-None-Match: *"}, {"Accept-Encoding: gzip"}, {"Accept: text/html"}}
		for _, tag := range p.b.etags[:min(2, len(p.b.etags))] {
			headers = append(headers, []string{"If-Match: " + tag}, []string{"If-None-Match: " + tag})
		}
		if op.Method == http.MethodPost {
			headers = append(headers, []string{"Idempotency-Key: " + p.b.idempotencyKeys[0]}, []string{"Idempotency-Key: " + p.b.idempotencyKeys[len(p.b.idempotencyKeys)-1]}, []string{"Idempotency-Key: fresh"})
		}
		for _, method := range methods {
			for i, payload := range payloads {
				for j, header := range headers {
					if !fullDrill && i > 0 && j > 0 {
						continue
					}
					never := strings.Replace(pattern, name, p.newID(prefix), 1)
					want := p.call(method, never, payload, "", header...)
					for _, id := range p.foreignIDs(prefix) {
						if p.skip() {
							continue
						}
						target := strings.Replace(pattern, name, id, 1)
						p.mustEqual(fmt.Sprintf("%s %s %v", method, target, header), want, p.call(method, target, payload, "", header...))
					}
				}
			}
		}
	}
}

// probeQueries uses the other tenant's ids and words in every parameter, on an
// own record if the path names one.
func (p *prober) probeQueries(op *fanfaretest.Operation) {
	path := op.Path
	if own := p.a.ownPaths(op); len(own) > 0 {
		path = own[0]
	}
	for _, param := range op.Parameters() {
		if param.In != "query" || param.Name == "cursor" {
			continue
		}
		ask := func(value string) string {
			target := inBraces.ReplaceAllString(path, p.newID("cmp")) + "?" + param.Name + "=" + url.QueryEscape(value)
			return p.call(op.Method, target, nil, url.QueryEscape(value))
		}
		for _, word := range []string{p.b.token, p.b.token[:10]} {
			// The other tenant's word and a word that does not exist.
			p.mustEqual(op.OperationID+"?"+param.Name, ask("zz"+strings.ToLower(rand.Text())[:len(word)-2]), ask(word))
		}
		for prefix, ids := range p.b.ids {
			want := ask(p.newID(prefix))
			for _, id := range ids[:min(len(ids), 8)] {
				if !p.skip() {
					p.mustEqual(op.OperationID+"?"+param.Name, want, ask(id))
				}
			}
		}
	}
}

// probeCursors uses cursors of all lists of the other tenant at all lists: they
// must look like damaged ones.
func (p *prober) probeCursors(op *fanfaretest.Operation) {
	if op.Parameter("query", "cursor") == nil {
		return
	}
	ask := func(cursor string) string {
		return p.call(op.Method, op.Path+"?cursor="+url.QueryEscape(cursor), nil, "")
	}
	for of, cursors := range p.b.cursors {
		for _, cursor := range cursors {
			damaged := cursor[:len(cursor)/2] + strings.ToLower(rand.Text())[:8] + cursor[len(cursor)/2+8:]
			want := ask(damaged)
			if p.role == "owner" && !strings.Contains(want, `"invalid_cursor"`) {
				p.t.Fatalf("%s: got %s for a damaged cursor, want invalid_cursor", op.OperationID, want)
			}
			p.mustEqual(op.OperationID+" with a cursor of "+of, want, ask(cursor))
			if own := p.a.cursors[of]; of != op.OperationID && len(own) > 0 {
				p.mustEqual(op.OperationID+" with our own cursor of "+of, want, ask(own[0]))
			}
		}
	}
}

// probeReferences uses the other tenant's records in every member of a body
// that has ids.
func (p *prober) probeReferences(op *fanfaretest.Operation) {
	if op.RequestBody == nil || op.RequestBody.Value.Content.Get("application/json") == nil {
		return
	}
	schema := op.RequestBody.Value.Content.Get("application/json").Schema
	for _, place := range idMembers(schema.Value, nil) {
		for _, base := range exampleBodies(op) {
			p.probeReference(op, place, base)
		}
	}
}

// probeReference uses the other tenant's records in one member of a body.
func (p *prober) probeReference(op *fanfaretest.Operation, at memberPath, base any) {
	ask := func(target, id string) string {
		item := map[string]any{}
		members, _ := base.(map[string]any)
		rows, many := base.([]any)
		if many {
			members, _ = rows[0].(map[string]any)
		}
		maps.Copy(item, members)
		setMember(item, at, id)
		if many {
			return p.call(op.Method, target, []any{item}, id)
		}
		return p.call(op.Method, target, item, id)
	}
	for _, target := range p.a.ownPaths(op)[:min(1, len(p.a.ownPaths(op)))] {
		for prefix, ids := range p.b.ids {
			want := ask(target, p.newID(prefix))
			for _, id := range ids[:min(len(ids), 4)] {
				if !p.skip() {
					p.mustEqual(fmt.Sprintf("%s with %v", op.OperationID, at), want, ask(target, id))
				}
			}
		}
	}
}

// memberPath is the path of a member of a body; a list at its end is marked.
type memberPath []string

// idMembers returns the members whose names say that they have ids.
func idMembers(s *openapi3.Schema, at memberPath) []memberPath {
	if s == nil || len(at) > 6 {
		return nil
	}
	var found []memberPath
	if s.Type.Is("array") && len(at) == 0 {
		return idMembers(s.Items.Value, nil)
	}
	for name, ref := range s.Properties {
		here := append(slices.Clone(at), name)
		switch {
		case strings.HasSuffix(name, "_ids"):
			found = append(found, append(here, "[]"))
		case strings.HasSuffix(name, "_id"), name == "id":
			found = append(found, here)
		default:
			found = append(found, idMembers(ref.Value, here)...)
		}
	}
	for _, refs := range []openapi3.SchemaRefs{s.AllOf, s.AnyOf, s.OneOf} {
		for _, ref := range refs {
			found = append(found, idMembers(ref.Value, at)...)
		}
	}
	return found
}

func setMember(body map[string]any, at memberPath, id string) {
	switch {
	case len(at) == 1:
		body[at[0]] = id
	case at[1] == "[]":
		body[at[0]] = []any{id}
	default:
		next := map[string]any{}
		body[at[0]] = next
		setMember(next, at[1:], id)
	}
}

// probeIdempotencyKeys sends the other tenant's requests with its
// Idempotency-Keys: no answer is replayed, and the keys are as usable as new
// ones.
func (p *prober) probeIdempotencyKeys(op *fanfaretest.Operation) {
	if op.Method != http.MethodPost {
		return
	}
	status := func(text string) string { return text[:3] }
	for _, target := range p.a.ownPaths(op)[:min(1, len(p.a.ownPaths(op)))] {
		for _, body := range exampleBodies(op) {
			if p.reusedKeys == len(p.b.idempotencyKeys) {
				return
			}
			key := p.b.idempotencyKeys[p.reusedKeys]
			p.reusedKeys++
			// Once before, so that the record is in the state after the call,
			// then with a new key and with one of the other tenant's.
			p.call(op.Method, target, body, "")
			want := p.call(op.Method, target, body, "", "Idempotency-Key: "+rand.Text())
			got := p.call(op.Method, target, body, "", "Idempotency-Key: "+key)
			if status(got) != status(want) || strings.Contains(got, "Idempotency-Replayed") {
				p.t.Fatalf("%s under another tenant's key: got %s, want %s", op.OperationID, got, want)
			}
			for _, id := range idsIn(got) {
				if p.b.known[id] {
					p.t.Fatalf("%s under another tenant's key: got the other tenant's %s", op.OperationID, id)
				}
			}
		}
	}
}
