package docs

import (
	"fmt"
	"slices"
	"strings"
)

// field is a row of a table: a member of a body. Nested members follow it, with
// its name as a prefix.
type field struct {
	Name, Type  string
	Required    bool
	Limits      []string
	Values      []string
	Description string
}

// maxDepth is how deep nested members are shown. Deeper ones are conditions
// inside conditions.
const maxDepth = 5

// fields returns the members of an object, each followed by its nested ones.
func (c *contract) fields(s *schema) []field { return c.fieldsOf(s, "", nil) }

// fieldsOf returns the members below prefix. within are the enclosing schemas,
// which end a recursion.
func (c *contract) fieldsOf(s *schema, prefix string, within []string) []field {
	if s.Ref != "" {
		if slices.Contains(within, s.Ref) || len(within) > 2*maxDepth {
			return nil
		}
		within = append(slices.Clip(within), s.Ref)
		s = c.resolve(s)
	}
	if strings.Count(prefix, ".") >= maxDepth {
		return nil
	}
	var list []field
	for _, p := range s.Properties {
		list = append(list, c.fieldOf(p.Value, prefix+p.Name, slices.Contains(s.Required, p.Name)))
		list = append(list, c.fieldsOf(p.Value, prefix+p.Name+".", within)...)
	}
	for _, alternative := range slices.Concat(s.OneOf, s.AnyOf) {
		list = append(list, c.fieldsOf(alternative, prefix, within)...)
	}
	if s.Items != nil {
		list = append(list, c.fieldsOf(s.Items, strings.TrimSuffix(prefix, ".")+"[].", within)...)
	}
	if s.Additional.schema != nil {
		list = append(list, c.fieldsOf(s.Additional.schema, prefix+"*.", within)...)
	}
	return uniqueFields(list)
}

// uniqueFields drops members that several alternatives share.
func uniqueFields(list []field) []field {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(f field) bool {
		if seen[f.Name] {
			return true
		}
		seen[f.Name] = true
		return false
	})
}

func (c *contract) fieldOf(s *schema, name string, required bool) field {
	s = c.resolve(s)
	f := field{Name: name, Type: c.typeOf(s), Required: required, Description: s.Description, Limits: limitsOf(s)}
	of := s
	if s.Items != nil {
		of = c.resolve(s.Items)
		for _, l := range limitsOf(of) {
			f.Limits = append(f.Limits, "each "+l)
		}
		if f.Description == "" {
			f.Description = of.Description
		}
	}
	for _, v := range slices.Concat(of.Enum, of.Extensible) {
		if v != nil {
			f.Values = append(f.Values, fmt.Sprint(v))
		}
	}
	return f
}

// typeOf returns the type of a value in words.
func (c *contract) typeOf(s *schema) string {
	s = c.resolve(s)
	types := slices.Clone(s.Type)
	for _, alternative := range slices.Concat(s.OneOf, s.AnyOf) {
		for t := range strings.SplitSeq(c.typeOf(alternative), " or ") {
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	for i, t := range types {
		switch {
		case t == "array" && s.Items != nil:
			types[i] = "array of " + c.typeOf(s.Items)
		case t == "string" && s.Format != "":
			types[i] = s.Format
		}
	}
	if len(types) == 0 {
		return "any"
	}
	return strings.Join(types, " or ")
}

// limitsOf returns the rules for a value.
func limitsOf(s *schema) []string {
	var list []string
	add := func(text string, v any) {
		if v != nil {
			list = append(list, fmt.Sprintf(text, v))
		}
	}
	add("at least %v", s.Minimum)
	add("more than %v", s.ExclusiveMinimum)
	add("at most %v", s.Maximum)
	if s.MinLength != 1 || s.MaxLength == nil {
		add("at least %v characters", s.MinLength)
	}
	add("at most %v characters", s.MaxLength)
	add("at least %v items", s.MinItems)
	add("at most %v items", s.MaxItems)
	add("at most %v members", s.MaxProperties)
	if s.UniqueItems {
		list = append(list, "no repeats")
	}
	if s.Pattern != "" {
		add("pattern %v", s.Pattern)
	}
	add("default %v", s.Default)
	return list
}
