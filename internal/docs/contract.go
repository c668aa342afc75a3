package docs

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// contract has the parts of an OpenAPI 3.1 document that the pages show.
type contract struct {
	Info struct {
		Title, Version, Summary, Description string
	}
	Tags []struct {
		Name, Description string
	}
	Paths      orderedMap[pathItem]
	Components struct {
		Parameters    map[string]*parameter
		RequestBodies map[string]*requestBody `yaml:"requestBodies"`
		Responses     map[string]*response
		Schemas       map[string]*schema
		Examples      map[string]*example
	}
	Errors []struct {
		Code, Meaning, Fix, Retry string
		Status                    int
	} `yaml:"x-error-codes"`
	Details []struct {
		Code, Meaning string
		Under         []string
	} `yaml:"x-detail-codes"`
}

type (
	pathItem struct {
		Parameters               []*parameter
		Get, Post, Patch, Delete *operation
	}
	operation struct {
		ID                   string `yaml:"operationId"`
		Tags                 []string
		Summary, Description string
		Security             *[]map[string]any
		Parameters           []*parameter
		RequestBody          *requestBody `yaml:"requestBody"`
		Responses            orderedMap[response]
	}
	parameter struct {
		Ref                   string `yaml:"$ref"`
		Name, In, Description string
		Required              bool
		Schema                *schema
		Example               yaml.Node
	}
	requestBody struct {
		Ref         string `yaml:"$ref"`
		Description string
		Required    bool
		Content     orderedMap[media]
	}
	response struct {
		Ref         string `yaml:"$ref"`
		Description string
		Content     orderedMap[media]
	}
	media struct {
		Schema   *schema
		Examples orderedMap[example]
	}
	example struct {
		Ref     string `yaml:"$ref"`
		Summary string
		Value   yaml.Node
	}
	schema struct {
		Ref              string `yaml:"$ref"`
		Type             stringOrList
		Description      string
		Properties       orderedMap[schema]
		Required         []string
		Items            *schema
		AnyOf            []*schema `yaml:"anyOf"`
		OneOf            []*schema `yaml:"oneOf"`
		Enum             []any
		Extensible       []any `yaml:"x-extensible-enum"`
		Const            any
		Default          any
		Format, Pattern  string
		Minimum          any
		Maximum          any
		ExclusiveMinimum any                  `yaml:"exclusiveMinimum"`
		MinLength        any                  `yaml:"minLength"`
		MaxLength        any                  `yaml:"maxLength"`
		MinItems         any                  `yaml:"minItems"`
		MaxItems         any                  `yaml:"maxItems"`
		MaxProperties    any                  `yaml:"maxProperties"`
		UniqueItems      bool                 `yaml:"uniqueItems"`
		WriteOnly        bool                 `yaml:"writeOnly"`
		Additional       additionalProperties `yaml:"additionalProperties"`
	}
)

// orderedMap is a mapping in the order of the document.
type orderedMap[T any] []namedValue[T]

type namedValue[T any] struct {
	Name  string
	Value *T
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *orderedMap[T]) UnmarshalYAML(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		v := new(T)
		if err := n.Content[i+1].Decode(v); err != nil {
			return fmt.Errorf("%s: %w", n.Content[i].Value, err)
		}
		*o = append(*o, namedValue[T]{n.Content[i].Value, v})
	}
	return nil
}

// stringOrList is a string or a list of strings.
type stringOrList []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (w *stringOrList) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*w = stringOrList{n.Value}
		return nil
	}
	return n.Decode((*[]string)(w))
}

// additionalProperties is the schema of additional members, nil if it is true
// or false.
type additionalProperties struct{ *schema }

// UnmarshalYAML implements yaml.Unmarshaler.
func (e *additionalProperties) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return nil
	}
	e.schema = &schema{}
	return n.Decode(e.schema)
}

func readContract(source []byte) (*contract, error) {
	c := &contract{}
	if err := yaml.Unmarshal(source, c); err != nil {
		return nil, fmt.Errorf("read contract: %w", err)
	}
	return c, nil
}

// resolveRef returns the target of a reference, or here if there is none.
func resolveRef[T any](list map[string]*T, ref string, here *T) *T {
	if ref == "" {
		return here
	}
	if there := list[ref[strings.LastIndexByte(ref, '/')+1:]]; there != nil {
		return there
	}
	return here
}

// resolve follows a schema's reference. Members beside the reference override
// its target.
func (c *contract) resolve(s *schema) *schema {
	if s == nil || s.Ref == "" {
		return s
	}
	there := *c.resolve(resolveRef(c.Components.Schemas, s.Ref, &schema{}))
	if s.Description != "" {
		there.Description = s.Description
	}
	if s.Default != nil {
		there.Default = s.Default
	}
	return &there
}

func (m pathItem) operations() orderedMap[operation] {
	var list orderedMap[operation]
	all := orderedMap[operation]{{"GET", m.Get}, {"POST", m.Post}, {"PATCH", m.Patch}, {"DELETE", m.Delete}}
	for _, o := range all {
		if o.Value != nil {
			list = append(list, o)
		}
	}
	return list
}

// exampleJSON encodes an example with its members in their order. A string that
// is not JSON, such as a file, stays unchanged.
func exampleJSON(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		return n.Value
	}
	var b strings.Builder
	e := jsontext.NewEncoder(&b, jsontext.WithIndent("  "))
	if err := writeJSON(e, n); err != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

func writeJSON(e *jsontext.Encoder, n *yaml.Node) error {
	begin, end := jsontext.BeginObject, jsontext.EndObject
	switch n.Kind {
	case yaml.AliasNode:
		return writeJSON(e, n.Alias)
	case yaml.ScalarNode:
		return writeScalar(e, n)
	case yaml.SequenceNode:
		begin, end = jsontext.BeginArray, jsontext.EndArray
	default:
	}
	if err := e.WriteToken(begin); err != nil {
		return err
	}
	for i, member := range n.Content {
		var err error
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			err = e.WriteToken(jsontext.String(member.Value))
		} else {
			err = writeJSON(e, member)
		}
		if err != nil {
			return err
		}
	}
	return e.WriteToken(end)
}

func writeScalar(e *jsontext.Encoder, n *yaml.Node) error {
	switch n.Tag {
	case "!!null":
		return e.WriteToken(jsontext.Null)
	case "!!int", "!!float", "!!bool":
		return e.WriteValue(jsontext.Value(n.Value))
	}
	return e.WriteToken(jsontext.String(n.Value))
}
