package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/fault"
)

// Bounds of a body. No operation needs an object with more than 200 members
// or more than some 20,000 values, and each value takes 80 bytes in memory.
const (
	maxDepth   = 64
	maxMembers = 250
	maxValues  = 50_000
)

// value is a parsed JSON value: text holds a string's content or a number's
// literal, so that no number ever goes through a float.
type value struct {
	kind    jsontext.Kind
	text    string
	items   []value
	members []member
	// cut says of a body that an object in it has more than maxMembers: what
	// comes after those was not read.
	cut bool
}

type member struct {
	name  string
	value value
}

// Kinds as jsontext names them.
const (
	kindNull   = jsontext.KindNull
	kindString = jsontext.KindString
	kindNumber = jsontext.KindNumber
	kindObject = jsontext.KindBeginObject
	kindArray  = jsontext.KindBeginArray
)

func (v *value) get(name string) *value {
	for i := range v.members {
		if v.members[i].name == name {
			return &v.members[i].value
		}
	}
	return nil
}

func (v *value) equal(w *value) bool {
	return v.kind == w.kind && v.text == w.text &&
		slices.EqualFunc(v.items, w.items, func(a, b value) bool { return a.equal(&b) }) &&
		len(v.members) == len(w.members) && !slices.ContainsFunc(v.members, func(m member) bool {
		other := w.get(m.name)
		return other == nil || !m.value.equal(other)
	})
}

// merge applies a merge patch as RFC 7396 has it, except that a null stays in
// the result: the field reader knows what clearing means for each member.
func (v value) merge(patch value) value {
	if v.kind != kindObject || patch.kind != kindObject {
		return patch
	}
	out := value{kind: kindObject, members: slices.Clone(v.members)}
	for _, m := range patch.members {
		if old := out.get(m.name); old != nil {
			*old = old.merge(m.value)
		} else {
			out.members = append(out.members, m)
		}
	}
	return out
}

// parseObject reads one JSON object strictly: UTF-8, no duplicate names, no
// lone surrogates, nothing after it.
func parseObject(body []byte) (value, error) {
	switch {
	case len(bytes.TrimLeft(body, " \t\r\n")) == 0:
		return value{}, malformed("empty_body", "The request needs a JSON object as its body.", 0)
	case !utf8.Valid(body):
		return value{}, malformed("invalid_utf8", "The body is not valid UTF-8.", 0)
	case bytes.HasPrefix(body, []byte("\ufeff")):
		return value{}, malformed("syntax", "The body begins with a byte order mark (U+FEFF). Send it without.", 0)
	}
	d := jsontext.NewDecoder(bytes.NewReader(body))
	p := parser{d: d}
	v, err := p.value(0)
	var fromUs *fault.Error
	switch {
	case errors.Is(err, errCut):
		v.cut = true
		return v, notObject(v)
	case errors.As(err, &fromUs):
		return v, err
	case errors.Is(err, jsontext.ErrDuplicateName):
		return v, duplicate(d, err)
	case err != nil && jsontext.Value(body).IsValid(jsontext.AllowInvalidUTF8(true)):
		// The bytes are UTF-8, so it is an escape that is not.
		return v, malformed("invalid_utf8", "The body holds half of a surrogate pair.", d.InputOffset())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return v, malformed("syntax", "The JSON is cut off. Send it to its end.", d.InputOffset())
	case err != nil:
		return v, malformed("syntax", "The body is not valid JSON.", d.InputOffset())
	}
	if err := notObject(v); err != nil {
		return v, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return v, malformed("trailing_data", "There is something after the JSON object.", d.InputOffset())
	}
	return v, nil
}

// duplicate names the member that the decoder has met for the second time.
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
		case kind == kindArray:
			path.WriteString("[" + token + "]")
		case path.Len() > 0:
			path.WriteString("." + token)
		default:
			path.WriteString(token)
		}
	}
	f := malformed("duplicate_key", "The body names a member twice.", d.InputOffset())
	f.Details[0].Field = path.String()
	return f
}

func malformed(code, message string, offset int64) *fault.Error {
	d := fault.Detail{In: "body", Code: code, Message: message}
	if offset > 0 {
		d.Message = fmt.Sprintf("%s Near byte %d.", message, offset)
		d.Meta = fault.Meta{"offset": offset}
	}
	return fault.New(fault.MalformedJSON, message, d)
}

func notObject(v value) error {
	if v.kind != kindObject {
		return malformed("not_an_object", "The body must be one JSON object.", 0)
	}
	return nil
}

// errCut ends the reading of a body at an object with too many members. What
// was read before is returned with it, so that the answer can name fields that
// are wrong.
var errCut = errors.New("too many members")

// parser reads the values of one body.
type parser struct {
	d *jsontext.Decoder
	// values is how many were read.
	values int
}

func (p *parser) value(depth int) (v value, err error) {
	t, err := p.d.ReadToken()
	if err != nil {
		return v, err
	}
	v.kind = t.Kind()
	if p.values++; p.values > maxValues {
		return v, malformed("too_many_values", fmt.Sprintf("The body has more than %d values.", maxValues), p.d.InputOffset())
	}
	if depth >= maxDepth && (v.kind == kindArray || v.kind == kindObject) {
		return v, malformed("too_deep", fmt.Sprintf("The body nests deeper than %d levels.", maxDepth), p.d.InputOffset())
	}
	switch v.kind {
	case kindString, kindNumber:
		v.text = t.String()
	case kindArray:
		err = p.items(&v, depth)
	case kindObject:
		err = p.members(&v, depth)
	default:
	}
	return v, err
}

func (p *parser) items(v *value, depth int) error {
	for p.d.PeekKind() != jsontext.KindEndArray {
		item, err := p.value(depth + 1)
		if err != nil && !errors.Is(err, errCut) {
			return err
		}
		v.items = append(v.items, item)
		if err != nil {
			return err
		}
	}
	_, err := p.d.ReadToken()
	return err
}

func (p *parser) members(v *value, depth int) error {
	for p.d.PeekKind() != jsontext.KindEndObject {
		name, err := p.d.ReadToken()
		if err != nil {
			return err
		}
		if len(v.members) == maxMembers {
			return errCut
		}
		m := member{name: name.String()}
		if m.value, err = p.value(depth + 1); err != nil && !errors.Is(err, errCut) {
			return err
		}
		v.members = append(v.members, m)
		if err != nil {
			return err
		}
	}
	_, err := p.d.ReadToken()
	return err
}
