package body

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/fault"
)

// Limits of a body. No operation needs an object with more than 200 members or
// more than about 20,000 values, and each value takes 80 bytes in memory.
const (
	maxDepth   = 64
	maxMembers = 250
	maxValues  = 50_000
)

// Value is a parsed JSON value. Text is the content of a string or the literal
// of a number, so that numbers are never converted to float.
type Value struct {
	Kind    jsontext.Kind
	Text    string
	Items   []Value
	Members []Member
	// Cut is true if an object in the body has more than maxMembers members.
	// The rest of the body was not read.
	Cut bool
}

// Member is a name and value in an object.
type Member struct {
	Name  string
	Value Value
}

// Kinds of values, as in jsontext.
const (
	KindNull   = jsontext.KindNull
	KindString = jsontext.KindString
	KindNumber = jsontext.KindNumber
	KindObject = jsontext.KindBeginObject
	KindArray  = jsontext.KindBeginArray
)

// Get returns the member of an object, nil if it is absent.
func (v *Value) Get(name string) *Value {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return &v.Members[i].Value
		}
	}
	return nil
}

// JSON returns the value as JSON, with the members in their order and the numbers
// as they were sent.
func (v *Value) JSON() jsontext.Value { return v.append(nil) }

func (v *Value) append(b []byte) []byte {
	switch v.Kind {
	case KindString:
		return appendQuoted(b, v.Text)
	case KindNumber:
		return append(b, v.Text...)
	case KindArray:
		b = append(b, '[')
		for i := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.Items[i].append(b)
		}
		return append(b, ']')
	case KindObject:
		b = append(b, '{')
		for i := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, v.Members[i].Name), ':')
			b = v.Members[i].Value.append(b)
		}
		return append(b, '}')
	case jsontext.KindTrue:
		return append(b, "true"...)
	case jsontext.KindFalse:
		return append(b, "false"...)
	}
	return append(b, "null"...)
}

// appendQuoted appends a text that was parsed, which is always valid.
func appendQuoted(b []byte, text string) []byte {
	b, err := jsontext.AppendQuote(b, text)
	if err != nil {
		panic("body: " + err.Error())
	}
	return b
}

// Equal reports whether two values are the same JSON, regardless of the order
// of members.
func (v *Value) Equal(w *Value) bool {
	return v.Kind == w.Kind && v.Text == w.Text &&
		slices.EqualFunc(v.Items, w.Items, func(a, b Value) bool { return a.Equal(&b) }) &&
		len(v.Members) == len(w.Members) && !slices.ContainsFunc(v.Members, func(m Member) bool {
		other := w.Get(m.Name)
		return other == nil || !m.Value.Equal(other)
	})
}

// Merge applies a merge patch (RFC 7396), but keeps null members in the result,
// because the reader knows the effect of null for each member.
func (v Value) Merge(patch Value) Value {
	if v.Kind != KindObject || patch.Kind != KindObject {
		return patch
	}
	out := Value{Kind: KindObject, Members: slices.Clone(v.Members)}
	for _, m := range patch.Members {
		if old := out.Get(m.Name); old != nil {
			*old = old.Merge(m.Value)
		} else {
			out.Members = append(out.Members, m)
		}
	}
	return out
}

// ValueOf converts a Go value to a Value.
func ValueOf(v any) (*Value, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	object, err := Parse(text)
	return &object, err
}

// Parse reads one JSON object strictly: valid UTF-8, no duplicate names, no
// lone surrogates, no trailing data.
func Parse(body []byte) (Value, error) {
	switch {
	case len(bytes.TrimLeft(body, " \t\r\n")) == 0:
		return Value{}, Malformed("empty_body", "The request needs a JSON object as its body.", 0)
	case !utf8.Valid(body):
		return Value{}, Malformed("invalid_utf8", "The body is not valid UTF-8.", 0)
	case bytes.HasPrefix(body, []byte("\ufeff")):
		return Value{}, Malformed("syntax", "The body begins with a byte order mark (U+FEFF). Send it without.", 0)
	}
	d := jsontext.NewDecoder(bytes.NewReader(body))
	p := parser{d: d}
	v, err := p.value(0)
	var fromUs *fault.Error
	switch {
	case errors.Is(err, errCut):
		v.Cut = true
		return v, notObject(v)
	case errors.As(err, &fromUs):
		return v, err
	case errors.Is(err, jsontext.ErrDuplicateName):
		return v, duplicate(d, err)
	case err != nil && jsontext.Value(body).IsValid(jsontext.AllowInvalidUTF8(true)):
		// The bytes are valid UTF-8, so an escape sequence is invalid.
		return v, Malformed("invalid_utf8", "The body holds half of a surrogate pair.", d.InputOffset())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return v, Malformed("syntax", "The JSON is cut off. Send it to its end.", d.InputOffset())
	case err != nil:
		return v, Malformed("syntax", "The body is not valid JSON.", d.InputOffset())
	}
	if err := notObject(v); err != nil {
		return v, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return v, Malformed("trailing_data", "There is something after the JSON object.", d.InputOffset())
	}
	return v, nil
}

// duplicate returns the fault for a repeated member, with its path.
func duplicate(d *jsontext.Decoder, cause error) error {
	var at *jsontext.SyntacticError
	if !errors.As(cause, &at) {
		return cause
	}
	var path strings.Builder
	level := 0
	for token := range at.JSONPointer.Tokens() {
		token = fault.Clip(token)
		level++
		kind, _ := d.StackIndex(level)
		switch {
		case kind == KindArray:
			path.WriteString("[" + token + "]")
		case path.Len() > 0:
			path.WriteString("." + token)
		default:
			path.WriteString(token)
		}
	}
	f := Malformed("duplicate_key", path.String()+" is in the body twice. Send it once.", d.InputOffset())
	f.Details[0].Field = path.String()
	return f
}

// Malformed returns the fault for a body that is not valid JSON or not an
// object.
func Malformed(code, message string, offset int64) *fault.Error {
	d := fault.Detail{In: "body", Code: code, Message: message}
	if offset > 0 {
		d.Message = fmt.Sprintf("%s Near byte %d.", message, offset)
		d.Meta = fault.Meta{"offset": offset}
	}
	return fault.New(fault.MalformedJSON, message, d)
}

func notObject(v Value) error {
	if v.Kind != KindObject {
		return Malformed("not_an_object", "The body must be one JSON object.", 0)
	}
	return nil
}

// errCut stops parsing at an object with too many members. The values before it
// are returned too, so that the response can name invalid fields.
var errCut = errors.New("too many members")

// parser reads the values of one body.
type parser struct {
	d *jsontext.Decoder
	// values is the number of values read so far.
	values int
}

func (p *parser) value(depth int) (v Value, err error) {
	t, err := p.d.ReadToken()
	if err != nil {
		return v, err
	}
	v.Kind = t.Kind()
	if p.values++; p.values > maxValues {
		return v, Malformed("too_many_values", fmt.Sprintf("The body has more than %d values.", maxValues), p.d.InputOffset())
	}
	if depth >= maxDepth && (v.Kind == KindArray || v.Kind == KindObject) {
		return v, Malformed("too_deep", fmt.Sprintf("The body nests deeper than %d levels.", maxDepth), p.d.InputOffset())
	}
	switch v.Kind {
	case KindString, KindNumber:
		v.Text = t.String()
	case KindArray:
		err = p.items(&v, depth)
	case KindObject:
		err = p.members(&v, depth)
	default:
	}
	return v, err
}

func (p *parser) items(v *Value, depth int) error {
	for p.d.PeekKind() != jsontext.KindEndArray {
		item, err := p.value(depth + 1)
		if err != nil && !errors.Is(err, errCut) {
			return err
		}
		v.Items = append(v.Items, item)
		if err != nil {
			return err
		}
	}
	_, err := p.d.ReadToken()
	return err
}

func (p *parser) members(v *Value, depth int) error {
	for p.d.PeekKind() != jsontext.KindEndObject {
		name, err := p.d.ReadToken()
		if err != nil {
			return err
		}
		if len(v.Members) == maxMembers {
			return errCut
		}
		m := Member{Name: name.String()}
		if m.Value, err = p.value(depth + 1); err != nil && !errors.Is(err, errCut) {
			return err
		}
		v.Members = append(v.Members, m)
		if err != nil {
			return err
		}
	}
	_, err := p.d.ReadToken()
	return err
}
