package body_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

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
	return v.JSON(), nil
}
