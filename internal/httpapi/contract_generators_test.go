package httpapi_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fanfare/api"
)

// schemaWalk visits every schema below one, each once.
type schemaWalk struct {
	seen  map[*openapi3.Schema]bool
	visit func(at string, ref *openapi3.SchemaRef)
}

func (w *schemaWalk) walk(at string, ref *openapi3.SchemaRef) {
	if ref == nil || ref.Value == nil {
		return
	}
	if name, ok := strings.CutPrefix(ref.Ref, "#/components/schemas/"); ok {
		at = name
	}
	if w.seen[ref.Value] {
		return
	}
	w.seen[ref.Value] = true
	w.visit(at, ref)
	s := ref.Value
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		w.walk(at+"."+name, s.Properties[name])
	}
	for _, part := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf, openapi3.SchemaRefs{s.Items, s.AdditionalProperties.Schema, s.PropertyNames}) {
		w.walk(at+"[]", part)
	}
}

func newWalk(visit func(at string, ref *openapi3.SchemaRef)) *schemaWalk {
	return &schemaWalk{map[*openapi3.Schema]bool{}, visit}
}

// TestContractGenerators checks what client generators need: open enumerations
// in responses, so that a new value breaks no client; closed ones in requests;
// a unique name for every object; examples that work repeatedly.
func TestContractGenerators(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.YAML)
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?m)^.*&\w+$`).FindAllString(string(api.YAML), -1); slices.ContainsFunc(m, func(line string) bool { return strings.Contains(line, "enum:") }) {
		t.Errorf("a list begins on the line of its anchor, because some readers of YAML lose it otherwise: %q", m)
	}
	named := func(at string, ref *openapi3.SchemaRef) {
		if ref.Ref == "" && len(ref.Value.Properties) > 0 && strings.ContainsAny(at, ".[ ") {
			t.Errorf("%s: an object with members needs a name under components/schemas", at)
		}
		if ref.Ref == "" && ref.Value.Type.Includes("object") && ref.Value.Type.Includes("null") && strings.ContainsAny(at, ".[ ") {
			t.Errorf("%s: an object that may be null needs a name under components/schemas", at)
		}
	}
	answers := newWalk(func(at string, ref *openapi3.SchemaRef) {
		named(at, ref)
		if ref.Value.Enum != nil {
			t.Errorf("%s: an answer says x-extensible-enum, because new values may come", at)
		}
	})
	requests := newWalk(func(at string, ref *openapi3.SchemaRef) {
		named(at, ref)
		if ref.Value.Extensions["x-extensible-enum"] != nil {
			t.Errorf("%s: a request says enum, because other values are refused", at)
		}
	})
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			at := method + " " + path
			for _, p := range slices.Concat(item.Parameters, op.Parameters) {
				requests.walk(at+" "+p.Value.Name, p.Value.Schema)
			}
			if op.RequestBody != nil {
				for _, content := range op.RequestBody.Value.Content {
					requests.walk(at+" request", content.Schema)
				}
			}
			for status, res := range op.Responses.Map() {
				for _, content := range res.Value.Content {
					answers.walk(at+" "+status, content.Schema)
				}
				for name, header := range res.Value.Headers {
					answers.walk(at+" "+status+" "+name, header.Value.Schema)
				}
			}
		}
	}
	schemas := map[string]bool{}
	for name := range doc.Components.Schemas {
		schemas[strings.ToLower(name)] = true
	}
	for name, p := range doc.Components.Parameters {
		if schemas[strings.ReplaceAll(name, "_", "")] {
			t.Errorf("parameter %s: a schema has the same name", name)
		}
		if once := p.Value.Name == "cursor" || p.Value.Name == "Idempotency-Key"; once && (p.Value.Example != nil || p.Value.Examples != nil) {
			t.Errorf("parameter %s: an example of it works once or never, and tools send it", name)
		}
	}
}
