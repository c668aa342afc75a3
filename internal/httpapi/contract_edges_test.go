package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// edge is a body at the limit of a request schema.
type edge struct {
	name string
	// field and codes are what the response must contain; no codes means that
	// the body is just inside the limit.
	field string
	codes []string
	// change modifies a valid body.
	change func(body any)
	// raw rewrites the encoded body, for changes that a map cannot express.
	raw func(string) string
}

// path is the path of a member: names and, in arrays, positions.
type path []any

func (p path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

func (p path) child(step any) path { return append(slices.Clone(p), step) }

// parent returns the object or array that contains the member.
func (p path) parent(body any) any {
	at := body
	for _, step := range p[:len(p)-1] {
		switch s := step.(type) {
		case int:
			at = at.([]any)[s]
		case string:
			at = at.(map[string]any)[s]
		}
	}
	return at
}

func (p path) set(v any) func(any) {
	return func(body any) {
		switch s := p[len(p)-1].(type) {
		case int:
			p.parent(body).([]any)[s] = v
		case string:
			p.parent(body).(map[string]any)[s] = v
		}
	}
}

func (p path) remove(body any) {
	delete(p.parent(body).(map[string]any), p[len(p)-1].(string))
}

// last returns the last element of the path, in an array with its position.
func (p path) last() string {
	text := p.String()
	return text[strings.LastIndexByte(text, '.')+1:]
}

// setBeside sets a member and the other members that it requires.
func (p path) setBeside(v any) func(any) {
	return func(body any) {
		p.set(v)(body)
		for name, other := range beside[fmt.Sprintf("%s is %v", p.last(), v)] {
			if sibling := p[:len(p)-1].child(name); other == nil {
				sibling.remove(body)
			} else {
				sibling.set(other)(body)
			}
		}
	}
}

// edgesOf derives the edges of a member from its schema.
func (m *maker) edgesOf(p path, ref *openapi3.SchemaRef, required bool) []edge {
	var list []edge
	ref = first(ref)
	s, field := ref.Value, p.String()
	pass := func(what string, v any) {
		list = append(list, edge{name: field + " " + what, change: p.setBeside(v)})
	}
	fail := func(what string, v any, at string, codes ...string) {
		list = append(list, edge{name: field + " " + what, field: at, codes: codes, change: p.set(v)})
	}
	if s.ReadOnly {
		fail("read-only", "another value", field, "read_only")
		return list
	}
	// A member with a single allowed value distinguishes alternatives: without
	// it, the body is another alternative.
	if required && len(s.Enum) != 1 {
		list = append(list, edge{name: field + " missing", field: field, codes: []string{"required"}, change: p.remove})
	}
	if s.Type.Includes("null") {
		pass("null", nil)
	} else {
		fail("null", nil, field, "not_nullable")
	}
	list = append(list, typeEdges(p, s)...)
	for _, v := range s.Enum {
		what := fmt.Sprintf("is %v", v)
		switch text, _ := v.(string); {
		case v == nil:
		case slices.Contains(absent[field], text):
			fail(what, v, field, "invalid_value")
		default:
			pass(what, v)
		}
	}
	if len(s.Enum) > 0 {
		var other any = "no_such_value"
		if s.Type.Includes("integer") {
			other = 12345
		}
		fail("not in enum", other, field, "invalid_value")
		return list
	}
	list = append(list, numberEdges(p, s)...)
	switch {
	case s.Type.Includes("string"):
		list = append(list, m.textEdges(p, ref)...)
	case s.Type.Includes("array"):
		list = append(list, m.arrayEdges(p, s)...)
	case s.Type.Includes("object"):
		list = append(list, m.objectEdges(p, s)...)
	}
	return list
}

// typeEdges returns a value of each JSON type that the schema does not allow.
func typeEdges(p path, s *openapi3.Schema) []edge {
	var list []edge
	for name, v := range map[string]any{
		"string": "text", "number": json.Number("1.5"), "boolean": true, "array": []any{}, "object": map[string]any{},
	} {
		taken, _ := s.Extensions[markTaken].([]string)
		if !s.Type.Includes(name) && !slices.Contains(taken, name) {
			list = append(list, edge{name: p.String() + " as " + name, field: p.String(), codes: []string{"invalid_type"}, change: p.set(v)})
		}
	}
	if s.Type.Includes("integer") {
		codes := []string{"invalid_type"}
		if s.Type.Includes("string") {
			// If the schema also allows a string, the format is invalid instead
			// of the type.
			codes = append(codes, "invalid_format")
		}
		for _, literal := range []string{"1.0", "1e0"} {
			list = append(list, edge{name: p.String() + " as " + literal, field: p.String(), codes: codes, change: p.set(json.Number(literal))})
		}
	}
	return list
}

func numberEdges(p path, s *openapi3.Schema) []edge {
	var list []edge
	field := p.String()
	add := func(what string, v any, codes ...string) {
		list = append(list, edge{name: fmt.Sprintf("%s %s %v", field, what, v), field: field, codes: codes, change: p.set(v)})
	}
	if s.Min != nil {
		add("least", json.Number(fmt.Sprintf("%.0f", *s.Min)))
		add("below", json.Number(fmt.Sprintf("%.0f", *s.Min-1)), "too_small")
	}
	if s.Max != nil {
		add("most", json.Number(fmt.Sprintf("%.0f", *s.Max)))
		add("above", json.Number(fmt.Sprintf("%.0f", *s.Max+1)), "too_large")
	}
	if bound := s.ExclusiveMin.Value; bound != nil {
		add("above bound", json.Number(fmt.Sprint(*bound+0.01)))
		add("at bound", json.Number(fmt.Sprint(*bound)), "too_small")
		add("at bound", fmt.Sprint(*bound), "too_small")
		add("below bound", json.Number(fmt.Sprint(*bound-1)), "too_small")
	}
	return list
}

func (m *maker) textEdges(p path, ref *openapi3.SchemaRef) []edge {
	var list []edge
	s, field := ref.Value, p.String()
	add := func(what, v string, codes ...string) {
		if codes == nil && isReference(ref) {
			// An invented id does not exist, which is its only problem.
			codes = []string{"not_found"}
		}
		list = append(list, edge{name: field + " " + what, field: field, codes: codes, change: p.set(v)})
	}
	for _, rule := range []string{s.Pattern, s.Format} {
		known, ok := shapes[rule]
		if !ok || rule != "" && known.wrong == nil {
			m.t.Errorf("%s: nobody knows a text that breaks %q", field, rule)
		}
		for _, w := range known.wrong {
			add(fmt.Sprintf("as %q", w.text), w.text, w.code)
		}
	}
	if s.MinLength > 0 {
		add("empty", "", "too_short", "invalid_value")
	}
	if s.MaxLength == nil {
		return list
	}
	start := shapes[s.Pattern].start
	fill := func(n uint64, letter string) string { return start + strings.Repeat(letter, int(n)-len(start)) }
	add("too long", fill(*s.MaxLength+1, "x"), "too_long")
	add("with U+0000", start+"a\x00b", "invalid_value")
	if shapes[s.Pattern].item != nil {
		add("longest", longest[s.Pattern])
		add("shortest", m.text(s, 0))
		return list
	}
	add("longest", fill(*s.MaxLength, "x"))
	add("longest in code points", fill(*s.MaxLength, "\U0001d11e"))
	if s.MinLength > 0 {
		add("shortest", fill(max(s.MinLength, uint64(len(start))), "x"))
	}
	return list
}

func (m *maker) arrayEdges(p path, s *openapi3.Schema) []edge {
	var list []edge
	field := p.String()
	add := func(what string, v []any, at string, codes ...string) {
		list = append(list, edge{name: field + " " + what, field: at, codes: codes, change: p.set(v)})
	}
	if s.MinItems > 0 {
		add("empty", []any{}, field, "too_few_items")
	} else {
		add("empty", []any{}, "")
	}
	if s.MaxItems == nil {
		m.t.Fatalf("%s: an array in a request needs maxItems", field)
	}
	most := int(*s.MaxItems)
	add("too many", m.several(s.Items, most+1), field, "too_many_items")
	if isReference(s.Items) {
		// None of these ids exist, which is their only problem.
		add("most", m.several(s.Items, most), "", "not_found")
	} else {
		add("most", m.several(s.Items, most), "")
	}
	twice := m.several(s.Items, 1)
	switch twice = append(twice, twice...); {
	case s.UniqueItems:
		add("twice the same", twice, p.child(1).String(), "duplicate_item")
	case most > 1:
		add("twice the same", twice, "")
	}
	for _, e := range m.edgesOf(p.child(0), s.Items, false) {
		change := e.change
		e.change = func(body any) {
			p.set(m.several(s.Items, 1))(body)
			change(body)
		}
		list = append(list, e)
	}
	return list
}

func (m *maker) objectEdges(p path, s *openapi3.Schema) []edge {
	list := m.memberEdges(p, s)
	more := s.AdditionalProperties.Schema
	if more == nil {
		return list
	}
	field := p.String()
	list = append(list, m.edgesOf(p.child(keyOf(p.last(), s)), more, false)...)
	add := func(what string, keys []string, at string, codes ...string) {
		v := map[string]any{}
		for _, k := range keys {
			v[k] = m.sample("", more)
		}
		list = append(list, edge{name: field + " " + what, field: at, codes: codes, change: p.set(v)})
	}
	if names := s.PropertyNames; names != nil && names.Value.MaxLength != nil {
		longest := strings.Repeat("k", int(*names.Value.MaxLength))
		add("longest key", []string{longest}, "")
		add("key too long", []string{longest + "k"}, field+"."+longest+"k", "too_long")
		add("empty key", []string{""}, field+".", "too_short")
	}
	if names := s.PropertyNames; names != nil && len(names.Value.Enum) > 0 {
		var all []string
		for _, name := range names.Value.Enum {
			all = append(all, name.(string))
		}
		add("all keys", all, "")
		add("another key", []string{"no_such_key"}, field+".no_such_key", "unknown_field")
	}
	if s.MaxProps != nil {
		if p.last() == "metadata" && *s.MaxProps != 50 {
			m.t.Errorf("%s: got maxProperties %d want 50 (T8)", field, *s.MaxProps)
		}
		var keys []string
		for i := range *s.MaxProps {
			keys = append(keys, fmt.Sprintf("key-%d", i))
		}
		add("most keys", keys, "")
		add("too many keys", append(keys, "one-more"), field, "too_many_items")
	}
	return list
}

// apart changes the edges of a member that does not fit into samples, so that
// room adapts the sample first.
func (m *maker) apart(edges []edge, p path, ref *openapi3.SchemaRef, room func(map[string]any)) []edge {
	for i := range edges {
		change := edges[i].change
		edges[i].change = func(body any) {
			room(body.(map[string]any))
			p.set(m.sample("", ref))(body)
			change(body)
		}
	}
	return edges
}

// memberEdges returns the edges of an object's members and of an unknown
// member.
func (m *maker) memberEdges(p path, s *openapi3.Schema) []edge {
	var list []edge
	// Without its only member, an alternative is another one.
	other := s.Extensions[markTaken] != nil && len(s.Properties) == 1
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		edges := m.edgesOf(p.child(name), s.Properties[name], slices.Contains(s.Required, name) && !other)
		if room := apart[name]; room != nil {
			edges = m.apart(edges, p.child(name), s.Properties[name], room)
		}
		list = append(list, edges...)
	}
	if s.AdditionalProperties.Schema != nil {
		return list
	}
	if s.AdditionalProperties.Has == nil || *s.AdditionalProperties.Has {
		m.t.Errorf("%s: a request object must refuse unknown members", p)
	}
	unknown := p.child("no_such_field")
	list = append(list, edge{name: unknown.String(), field: unknown.String(), codes: []string{"unknown_field"}, change: unknown.set(1)})
	return append(list, edge{
		name: p.String() + " duplicate key", codes: []string{"duplicate_key"}, change: func(body any) {
			p.child("twice").set(1)(body)
			p.child("again").set(2)(body)
		},
		raw: func(body string) string { return strings.ReplaceAll(body, `"again":`, `"twice":`) },
	})
}
