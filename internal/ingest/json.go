package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/fault"
)

// rowDecoder parses JSON rows into a rowSet.
type rowDecoder struct {
	rows   *rowSet
	source bytes.Reader
	d      *jsontext.Decoder
	// scratch is the buffer for strings with escapes.
	scratch []byte
}

func newRowDecoder(s *rowSet) *rowDecoder {
	l := &rowDecoder{rows: s}
	l.d = jsontext.NewDecoder(&l.source)
	return l
}

// decodeArray parses one JSON array of objects. Invalid JSON is a fault; the
// rows is then unusable.
func (l *rowDecoder) decodeArray(body []byte) error {
	switch {
	case len(bytes.TrimLeft(body, " \t\r\n")) == 0:
		return malformed("empty_body", "The request needs a JSON array of rows as its body.", 0)
	case !utf8.Valid(body):
		return malformed("invalid_utf8", "The body is not valid UTF-8.", 0)
	}
	l.source.Reset(body)
	l.d.Reset(&l.source)
	if l.d.PeekKind() != jsontext.KindBeginArray {
		if err := l.skip(); err != nil && !errors.Is(err, errLarge) {
			return l.syntax(body, err)
		}
		return malformed("not_an_array", "The body must be one JSON array of rows, or lines of JSON with the type application/x-ndjson.", 0)
	}
	if _, err := l.d.ReadToken(); err != nil {
		return l.syntax(body, err)
	}
	n := 0
	for ; l.d.PeekKind() != jsontext.KindEndArray; n++ {
		if n == MaxRows {
			return tooManyRows(MaxRows)
		}
		l.rows.beginRow(n)
		finish, err := l.decodeRow()
		if err != nil {
			return l.syntax(body, err)
		}
		finish()
	}
	if _, err := l.d.ReadToken(); err != nil {
		return l.syntax(body, err)
	}
	if _, err := l.d.ReadToken(); !errors.Is(err, io.EOF) {
		return malformed("trailing_data", "There is something after the JSON array.", l.d.InputOffset())
	}
	return nil
}

// decodeLines parses one JSON object per line. An invalid line is a rejected
// row. Blank lines are skipped.
func (l *rowDecoder) decodeLines(body []byte) error {
	n := 0
	for line := range bytes.Lines(body) {
		line = bytes.Trim(line, " \t\r\n")
		if len(line) == 0 {
			continue
		}
		if n == MaxRows {
			return tooManyRows(MaxRows)
		}
		l.rows.beginRow(n)
		n++
		l.source.Reset(line)
		l.d.Reset(&l.source)
		finish, err := l.decodeRow()
		if err == nil {
			if _, err = l.d.ReadToken(); errors.Is(err, io.EOF) {
				finish()
				continue
			}
			err = malformed("trailing_data", "There is something after the JSON object.", l.d.InputOffset())
		}
		// Discard what was parsed before the error.
		l.rows.beginRow(n - 1)
		d := l.syntax(line, err).Details[0]
		l.rows.refuse(d.Field, d.Code, d.Message, d.Meta)
		l.rows.reject(rejectedRow{index: n - 1, problems: l.rows.problems})
	}
	return nil
}

// decodeRow parses one row and returns the function that adds it to the rows.
// A value that is not an object is rejected only for that.
func (l *rowDecoder) decodeRow() (finish func(), err error) {
	if l.d.PeekKind() == jsontext.KindBeginObject {
		return l.rows.endRow, l.decodeObject()
	}
	err = l.skip()
	if errors.Is(err, errLarge) {
		err = notARow(l.rows.index)
	}
	return func() {
		l.rows.refuse("", "invalid_type", "A row must be a JSON object.", fault.Meta{"expected": "an object"})
		l.rows.reject(rejectedRow{index: l.rows.index, problems: l.rows.problems})
	}, err
}

// decodeObject parses the members of a row.
func (l *rowDecoder) decodeObject() error {
	if _, err := l.d.ReadToken(); err != nil {
		return err
	}
	for n := 0; l.d.PeekKind() != jsontext.KindEndObject; n++ {
		name, err := l.d.ReadValue()
		if err != nil {
			return err
		}
		if n == MaxMembers {
			return tooManyMembers(l.rows.index)
		}
		if name, err = l.text(name); err != nil {
			return err
		}
		f, known := fieldsByName[string(name)]
		if !known || f >= fieldEndDate {
			l.rows.unknown(string(name))
			if err := l.skipMember(string(name)); err != nil {
				return err
			}
			continue
		}
		if err := l.decodeMember(f); err != nil {
			return err
		}
	}
	_, err := l.d.ReadToken()
	return err
}

// decodeMember parses the value of a field. Null means absent.
func (l *rowDecoder) decodeMember(f field) error {
	kind := l.d.PeekKind()
	switch kind {
	case jsontext.KindNull, jsontext.KindNumber, jsontext.KindString:
	default:
		l.rows.given |= 1 << f
		want := "a string"
		if _, counts := f.measure(); counts {
			want = "a number"
		}
		l.rows.refuseField(f, "invalid_type", "must be "+want+".", fault.Meta{"expected": want})
		return l.skipMember(f.String())
	}
	v, err := l.d.ReadValue()
	if err != nil || kind == jsontext.KindNull {
		return err
	}
	if kind == jsontext.KindString {
		if v, err = l.text(v); err != nil {
			return err
		}
	}
	l.rows.setField(f, v, kind == jsontext.KindNumber)
	return nil
}

// skip skips an unexpected value. It fails on a value with very many tokens:
// the decoder remembers the names of every object, so each one is expensive.
func (l *rowDecoder) skip() error {
	depth := l.d.StackDepth()
	for n := 0; ; n++ {
		if _, err := l.d.ReadToken(); err != nil {
			return err
		}
		if l.d.StackDepth() <= depth {
			return nil
		}
		if n == maxSkipped {
			return errLarge
		}
	}
}

// errLarge means that a value has more than maxSkipped tokens.
var errLarge = errors.New("a value has too many values inside")

// skipMember skips the value of a member.
func (l *rowDecoder) skipMember(name string) error {
	err := l.skip()
	if !errors.Is(err, errLarge) {
		return err
	}
	row, name := l.rows.index, fault.Clip(name)
	return fault.Invalid([]fault.Detail{{
		Field: fmt.Sprintf("rows[%d].%s", row, name), Code: "too_many_items",
		Message: fmt.Sprintf("%s of row %d has more than %d values inside. A field of a row takes one string or number. The rows were read up to there.", name, row, maxSkipped),
		Meta:    fault.Meta{"index": row, "maximum": maxSkipped},
	}})
}

// maxSkipped is the maximum number of tokens of a skipped value.
const maxSkipped = 10 * MaxMembers

// text returns the content of a JSON string. It is valid until the next call.
func (l *rowDecoder) text(v []byte) ([]byte, error) {
	if len(v) >= 2 && bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1], nil
	}
	var err error
	l.scratch, err = jsontext.AppendUnquote(l.scratch[:0], v)
	return l.scratch, err
}

// syntax returns the fault for invalid JSON, with the same messages as for
// other request bodies.
func (l *rowDecoder) syntax(body []byte, err error) *fault.Error {
	var ours *fault.Error
	offset := l.d.InputOffset()
	switch {
	case errors.As(err, &ours):
		return ours
	case !utf8.Valid(body):
		return malformed("invalid_utf8", "The body is not valid UTF-8.", 0)
	case bytes.HasPrefix(body, []byte("\ufeff")):
		return malformed("syntax", "The body begins with a byte order mark (U+FEFF). Send it without.", 0)
	case errors.Is(err, jsontext.ErrDuplicateName):
		var name string
		if at, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			name = fault.Clip(at.JSONPointer.LastToken())
		}
		f := malformed("duplicate_key", name+" is in a row twice. Send it once.", offset)
		f.Details[0].Field = name
		return f
	case jsontext.Value(body).IsValid(jsontext.AllowInvalidUTF8(true)):
		return malformed("invalid_utf8", "The body holds half of a surrogate pair.", offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return malformed("syntax", "The JSON is cut off. Send it to its end.", offset)
	}
	return malformed("syntax", "The body is not valid JSON.", offset)
}

func malformed(code, message string, offset int64) *fault.Error {
	d := fault.Detail{In: "body", Code: code, Message: message}
	if offset > 0 {
		d.Message = fmt.Sprintf("%s Near byte %d.", message, offset)
		d.Meta = fault.Meta{"offset": offset}
	}
	return fault.New(fault.MalformedJSON, message, d)
}

func tooManyMembers(row int) error {
	return fault.Invalid([]fault.Detail{{
		Field: fmt.Sprintf("rows[%d]", row), Code: "too_many_items", Message: fmt.Sprintf("Row %d has more than %d members. The rows were read up to there.", row, MaxMembers), Meta: fault.Meta{"index": row, "maximum": MaxMembers},
	}})
}

// notARow returns the fault for a value that is not a row and is too large to
// skip.
func notARow(row int) error {
	return fault.Invalid([]fault.Detail{{
		Field: fmt.Sprintf("rows[%d]", row), Code: "invalid_type", Message: fmt.Sprintf("Row %d must be a JSON object. The rows were read up to there.", row), Meta: fault.Meta{"index": row, "expected": "an object"},
	}})
}

func tooManyRows(most int) error {
	return fault.Invalid([]fault.Detail{{
		Field: "rows", Code: "too_many_items", Message: fmt.Sprintf("There are more than %d rows. Send them in several parts.", most), Meta: fault.Meta{"maximum": most},
	}})
}
