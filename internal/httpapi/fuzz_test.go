package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fanfare/internal/fault"
	"fanfare/internal/httpapi"
)

// aFault fails the test unless err is a fault of this code, with its details.
func aFault(t *testing.T, err error, codes ...fault.Code) {
	t.Helper()
	if !slices.ContainsFunc(codes, func(c fault.Code) bool { return fault.Is(err, c) }) {
		t.Fatalf("got error %v, want a fault of %v", err, codes)
	}
}

// FuzzBody wants any bytes to be read or refused, and what was read to be the
// same when written and read again.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,-2.5e3,"\ud83d\ude00",null,true,{"b":{}}]}`, `{"a":1,"a":2}`, `[]`, "{\"a\":\"\xff\"}", `{"a":"\ud800"}`, `{} {}`, strings.Repeat(`{"a":`, 70)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		once, err := httpapi.Reencode(body)
		if err != nil {
			aFault(t, err, fault.MalformedJSON)
			return
		}
		if !json.Valid(body) || !utf8.Valid(body) {
			t.Fatalf("%q was read and is not JSON", body)
		}
		twice, err := httpapi.Reencode(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("got %q (%v) from %q, want the same again", twice, err, once)
		}
	})
}

// FuzzCampaign wants an accepted body to survive the way into the record and
// back: the record sent as a patch of itself changes nothing.
func FuzzCampaign(f *testing.F) {
	for _, seed := range []string{
		`{"name":"One"}`,
		`{"name":"One","budget":{"type":"daily","amount":5000,"daily_cap":"0.01"},"tags":["A","b"],"metadata":{"k":"v"}}`,
		`{"name":"One","schedule":{"start_at":"2027-01-01T00:00:00+01:00","end_at":null,"timezone":"Europe/Berlin"},"channels":["search"]}`,
		`{"name":"One","goal":{"metric":"cpa","target":1e-7,"direction":"at_most"},"attribution":{"click_days":30},"experiment":{"split":"even","winner_metric":"ctr"}}`,
		`{"name":"One","tracking":{"landing_url":"https://example.com/{{campaign.id}}","utm":{"source":"{{channel}}"},"auto_tag":true}}`,
		`{"name":5,"x":1,"status":"active","tags":[null]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		spec, err := httpapi.ReadCampaign(body)
		if err != nil {
			aFault(t, err, fault.MalformedJSON, fault.ValidationFailed)
			return
		}
		stored, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, patch := range [][]byte{stored, []byte(`{}`)} {
			again, err := httpapi.PatchCampaign(stored, patch)
			if err != nil {
				t.Fatalf("%s: got %v for %s, want it to be accepted again", body, err, stored)
			}
			if diff := cmp.Diff(spec, again, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s: the record changed (-first +second):\n%s", body, diff)
			}
		}
	})
}

// FuzzPatch wants any patch of a full record to be taken or refused with
// faults that name fields.
func FuzzPatch(f *testing.F) {
	const full = `{"name":"One","description":"d","budget":{"type":"daily","amount":"5.00","currency":"USD","pacing":"even","daily_cap":null},"tags":["a"],"metadata":{"k":"v"},"status":"draft","version":3}`
	for _, seed := range []string{`{}`, `{"name":null}`, `{"budget":{"amount":6}}`, `{"budget":null,"metadata":{"k":null}}`, `{"status":"draft","version":3}`, `{"status":"active"}`, `{"tags":[]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, patch []byte) {
		spec, err := httpapi.PatchCampaign([]byte(full), patch)
		if err != nil {
			aFault(t, err, fault.MalformedJSON, fault.ValidationFailed)
			return
		}
		if strings.TrimSpace(spec.Name) == "" || len(spec.Metadata) > 50 {
			t.Fatalf("got %+v from %s, want a valid record", spec, patch)
		}
	})
}

// FuzzQuery wants any query string to be read or refused, and the canonical
// form to mean the same.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=5&sort=name&order=asc", "status=active,paused&tag=Winter&q=%C3%A4", "start_date=2026-11-15&end_date=2026-11-16&timezone=Asia/Tokyo",
		"start_date=2026-11-15T10:00:00%2B01:00", "limit=5&limit=6", "%", "a;b", "audience_id=aud_01h455vb4pex5vsknk084sn02q", "timezone=../x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, canonical, err := httpapi.ListQuery(raw)
		if err != nil {
			aFault(t, err, fault.InvalidParameter, fault.MalformedRequest)
			return
		}
		if q.Limit < 1 || q.Limit > 100 || !slices.Contains(httpapi.CampaignSorts, q.Sort) {
			t.Fatalf("%q: got %+v, want it within the limits", raw, q)
		}
		again, same, err := httpapi.ListQuery(canonical.Encode())
		again.Limit = q.Limit
		if diff := cmp.Diff(q, again); err != nil || diff != "" || same.Encode() != canonical.Encode() {
			t.Fatalf("%q: the canonical form %q means something else (%v):\n%s", raw, canonical.Encode(), err, diff)
		}
		if _, err := url.ParseQuery(canonical.Encode()); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzAccept wants any header to be understood, and the order of ranges not to
// matter where they are of different closeness.
func FuzzAccept(f *testing.F) {
	for _, seed := range []string{"", "*/*", "application/json;q=0", "text/html, application/*;q=0.1", "a/b;q=;q", ",,;;", "application/json ; Q=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got := httpapi.AcceptsJSON([]string{header})
		if split := httpapi.AcceptsJSON(strings.Split(header, ",")); len(header) > 0 && header != "*/*" && got != split {
			t.Fatalf("%q: got %v as one header and %v as several", header, got, split)
		}
		if !httpapi.AcceptsJSON([]string{header + ", application/json"}) && !strings.Contains(strings.ToLower(header), "json") {
			t.Fatalf("%q with JSON behind it is refused", header)
		}
		httpapi.AcceptsGzip(header)
	})
}

// FuzzIdempotencyKey wants an accepted key to be what the rules allow, and its
// quoted form to be the same key.
func FuzzIdempotencyKey(f *testing.F) {
	for _, seed := range []string{"k", `"k"`, `"a\"b"`, "", `"`, `""`, strings.Repeat("x", 256), "a b", "ä", `\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		key, err := httpapi.OnceKey([]string{header})
		if err != nil {
			aFault(t, err, fault.InvalidIdempotencyKey)
			return
		}
		if key == "" || len(key) > 255 || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%q: got key %q, want 1 to 255 visible ASCII characters", header, key)
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		if again, err := httpapi.OnceKey([]string{quoted}); err != nil || again != key {
			t.Fatalf("%q: got key %q (%v) from %s, want %q", header, again, err, quoted, key)
		}
	})
}

// FuzzEntityTag wants If-None-Match never to hold for a tag it does not name.
func FuzzEntityTag(f *testing.F) {
	for _, seed := range []string{`"1.0"`, `W/"1.0"`, `*`, `"1.0", "2.0"`, `1.0`, `"1.0`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if httpapi.NoneMatch([]string{header}, `"1.0"`) && !strings.Contains(header, `"1.0"`) && !strings.Contains(header, "*") {
			t.Fatalf("%q holds for \"1.0\"", header)
		}
	})
}
