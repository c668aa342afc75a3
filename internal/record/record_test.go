package record_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"fanfare/internal/fault"
	"fanfare/internal/record"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		headers []string
		want    bool
	}{
		{nil, true},
		{[]string{`"3"`}, true},
		{[]string{`"3.0"`}, true},
		{[]string{`"3.17"`}, true},
		{[]string{`*`}, true},
		{[]string{` * `}, true},
		{[]string{`"1", "3.2"`}, true},
		{[]string{`"1"`, `"3"`}, true},
		{[]string{`"1","3"`}, true},
		{[]string{``}, false},
		{[]string{` `}, false},
		{[]string{`"4"`}, false},
		{[]string{`3`}, false},
		{[]string{`W/"3"`}, false},
		{[]string{`"33"`}, false},
		{[]string{`"03"`}, false},
		{[]string{`"+3"`}, false},
		{[]string{`"3`}, false},
		{[]string{`""`}, false},
		{[]string{`".3"`}, false},
		{[]string{`"99999999999999999999"`}, false},
		{[]string{`"*"`}, false},
		{[]string{`*, "4"`}, false},
	} {
		m := record.ParseMatch(tt.headers)
		if got := m.Matches(3); got != tt.want {
			t.Errorf("%q: got %v want %v", tt.headers, got, tt.want)
		}
		err := m.Check(3)
		if tt.want != (err == nil) || err != nil && !fault.Is(err, fault.PreconditionFailed) {
			t.Errorf("%q: got %v want precondition_failed only without a match", tt.headers, err)
		}
	}
}

func TestETag(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]record.Stamp{`"1.0"`: {Version: 1}, `"12.345"`: {Version: 12, Rev: 345}} {
		if got := s.ETag(); got != want {
			t.Errorf("got %s want %s", got, want)
		}
		if !record.ParseMatch([]string{want}).Matches(s.Version) {
			t.Errorf("%s does not match its own version", want)
		}
	}
}

func TestActorJSON(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]record.Actor{
		`{"type":"system","id":null,"name":"Fanfare"}`:  record.System,
		`{"type":"api_key","id":"key_1","name":"Shop"}`: {Type: record.ActorKey, ID: "key_1", Name: "Shop"},
	} {
		got, err := json.Marshal(a)
		if err != nil || string(got) != want {
			t.Errorf("got %s (%v) want %s", got, err, want)
		}
		var again record.Actor
		if err := json.Unmarshal(got, &again); err != nil || again != a {
			t.Errorf("got %+v (%v) want %+v", again, err, a)
		}
	}
}

// FuzzMatch checks that only a header with the version as ETag writes it, or a
// star, matches.
func FuzzMatch(f *testing.F) {
	for _, seed := range []string{`"3.0"`, `*`, `W/"3"`, `"1", "3"`, ``, `"3`, `"3.`, `,,,`, `"03"`} {
		f.Add(seed, int64(3))
	}
	f.Fuzz(func(t *testing.T, header string, version int64) {
		if !record.ParseMatch([]string{header}).Matches(version) {
			return
		}
		named := regexp.MustCompile(fmt.Sprintf(`(^|,)\s*"%d(\.[^"]*)?"`, version)).MatchString(header)
		if !named && strings.TrimSpace(header) != "*" {
			t.Fatalf("%q matches version %d", header, version)
		}
	})
}
