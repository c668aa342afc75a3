package body_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/body"
	"fanfare/internal/fault"
)

// FuzzBody checks that any bytes are parsed or rejected, and that a parsed
// value stays the same when it is encoded and parsed again.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,-2.5e3,"\ud83d\ude00",null,true,{"b":{}}]}`, `{"a":1,"a":2}`, `[]`, "{\"a\":\"\xff\"}", `{"a":"\ud800"}`, `{} {}`, strings.Repeat(`{"a":`, 70)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		once, err := reencode(sent)
		if err != nil {
			if !fault.Is(err, fault.MalformedJSON) {
				t.Fatalf("got error %v, want a fault", err)
			}
			return
		}
		if !json.Valid(sent) || !utf8.Valid(sent) {
			t.Fatalf("%q was read and is not JSON", sent)
		}
		twice, err := reencode(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("got %q (%v) from %q, want the same again", twice, err, once)
		}
	})
}

// reencode parses a body and encodes it again.
func reencode(text []byte) ([]byte, error) {
	v, err := body.Parse(text)
	if err != nil {
		return nil, err
	}
	return appendValue(nil, &v), nil
}

func appendValue(b []byte, v *body.Value) []byte {
	quote := func(s string) {
		var err error
		if b, err = jsontext.AppendQuote(b, s); err != nil {
			panic(err)
		}
	}
	switch v.Kind {
	case body.KindString:
		quote(v.Text)
	case body.KindNumber:
		b = append(b, v.Text...)
	case body.KindArray:
		b = append(b, '[')
		for i := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, &v.Items[i])
		}
		b = append(b, ']')
	case body.KindObject:
		b = append(b, '{')
		for i, m := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			quote(m.Name)
			b = appendValue(append(b, ':'), &m.Value)
		}
		b = append(b, '}')
	case 't':
		b = append(b, "true"...)
	case 'f':
		b = append(b, "false"...)
	default:
		b = append(b, "null"...)
	}
	return b
}
