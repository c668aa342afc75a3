package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse([]byte(`Title

About it.

-- serve --
--limits starter=1/2
--data "a b"

-- ask --
POST /v1/campaigns?q={{letters 3}}
If-Match: "1.0"
Accept:

{"name":
"x"}
>>> 201 soon
ETag: "1.0"

{"data": {}}

-- run --
$ fanfare key revoke --name 'a "b"' {{key}}
>>> 5
there is none

-- wait --
crash 3h later
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Scenario{
		Title: "Title", About: "About it.", Settings: []string{"--limits", "starter=1/2", "--data", "a b"},
		Steps: []*Step{
			{
				Name: "ask", Method: "POST", Target: "/v1/campaigns?q={{letters 3}}", Body: "{\"name\":\n\"x\"}",
				Header: []Field{{"If-Match", `"1.0"`}, {"Accept", ""}},
				Want:   Answer{Code: 201, Soon: true, Header: []Field{{"ETag", `"1.0"`}}, Body: `{"data": {}}`},
			},
			{Name: "run", Command: []string{"key", "revoke", "--name", `a "b"`, "{{key}}"}, Want: Answer{Code: 5, Body: "there is none"}},
			{Name: "wait", Restart: true, Crash: true, Later: 3 * time.Hour},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Step{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no title":          "-- a --\nGET /v1\n>>> 200\n",
		"no section":        "Title\n",
		"no answer":         "Title\n-- a --\nGET /v1\n",
		"no status":         "Title\n-- a --\nGET /v1\n>>> ok\n",
		"neither":           "Title\n-- a --\nlook at it\n>>> 200\n",
		"no header":         "Title\n-- a --\nGET /v1\nnonsense\n\n{}\n>>> 200\n",
		"open quote":        "Title\n-- a --\n$ fanfare key create --name \"x\n>>> 0\n",
		"two commands":      "Title\n-- a --\n$ fanfare version\n$ fanfare version\n>>> 0\n",
		"restart when":      "Title\n-- a --\nrestart tomorrow\n",
		"restart how later": "Title\n-- a --\nrestart soon later\n",
	} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want, got string
		same            bool
	}{
		{"subset", `{"a": 1}`, `{"a": 1, "b": 2}`, true},
		{"missing", `{"a": 1, "b": 2}`, `{"a": 1}`, false},
		{"null is not missing", `{"a": null}`, `{}`, false},
		{"number", `{"a": 1}`, `{"a": 2}`, false},
		{"type", `{"a": "1"}`, `{"a": 1}`, false},
		{"whole array", `[{"a": 1}]`, `[{"a": 1}, {"a": 2}]`, false},
		{"array of subsets", `[{"a": 1}]`, `[{"a": 1, "b": 2}]`, true},
		{"any object", `{"a": "{{any}}"}`, `{"a": {"b": 1}}`, true},
		{"any but null", `{"a": "{{any}}"}`, `{"a": null}`, false},
		{"any in a text", `"/v1/{{any}}/x"`, `"/v1/abc/x"`, true},
		{"time", `"{{time}}"`, `"2026-11-15T01:48:44.123Z"`, true},
		{"time without milliseconds", `"{{time}}"`, `"2026-11-15T01:48:44Z"`, false},
		{"known", `"{{name}}"`, `"Ada"`, true},
		{"known and other", `"{{name}}"`, `"Bob"`, false},
		{"unknown", `"{{nobody}}"`, `"Ada"`, false},
		{"letters of a pattern", `"a.c"`, `"abc"`, false},
		{"captured and used", `["{{capture x}}", "{{x}}"]`, `["1", "1"]`, true},
		{"captured number", `["{{capture x}}", "{{x}}"]`, `[1, "1"]`, true},
		{"captured and other", `["{{capture x}}", "{{x}}"]`, `["1", "2"]`, false},
		{"captured id", `"{{capture x cmp}}"`, `"cmp_01m7eed1vefw9bs159p71gx00q"`, true},
		{"captured id of another kind", `"{{capture x cmp}}"`, `"aud_01m7eed1vefw9bs159p71gx00q"`, false},
		{"captured null", `"{{capture x}}"`, `null`, false},
		{"moment", `"{{in 1h}}"`, `"2026-11-15T13:00:00.000Z"`, true},
		{"moment before", `"{{ago 1h}}"`, `"2026-11-15T11:00:00.000Z"`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := &captures{values: map[string]string{"name": "Ada"}, begin: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
			faults := m.compareBody(tt.want, tt.got)
			if !isJSON(tt.want) {
				want, err := parse(tt.want)
				if err != nil {
					t.Fatal(err)
				}
				got, err := parse(tt.got)
				if err != nil {
					t.Fatal(err)
				}
				faults = m.differences(want, got, "body")
			}
			if (len(faults) == 0) != tt.same {
				t.Errorf("got %q, want the same: %v", faults, tt.same)
			}
		})
	}
}

// TestUpdated checks that matching placeholders are kept and unnamed members
// stay unnamed.
func TestUpdated(t *testing.T) {
	t.Parallel()
	m := &captures{values: map[string]string{"campaign": "cmp_01m7eed1vefw9bs159p71gx00q"}}
	want, err := parse(`{"id": "{{capture x cmp}}", "status": "draft", "at": "{{time}}", "gone": 1, "list": [1]}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := parse(`{"id": "cmp_01m7eed1vefw9bs159p71gx00r", "status": "active", "at": "2026-11-15T01:48:44.123Z", "other": 2,
		"list": ["cmp_01m7eed1vefw9bs159p71gx00q", "2026-11-15T01:48:44.123Z", "usr_01m7eed1vefw9bs159p71gx00q"]}`)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	m.updated(want, got).pretty(&b, "")
	const fits = `{
  "id": "{{capture x cmp}}",
  "status": "active",
  "at": "{{time}}",
  "list": ["{{campaign}}", "{{time}}", "{{any}}"]
}`
	if diff := cmp.Diff(fits, b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if m.values["x"] != "cmp_01m7eed1vefw9bs159p71gx00r" {
		t.Errorf("got %q captured", m.values["x"])
	}
}
