package httpapi_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// FuzzQuery checks that any query string is read or rejected, and that the
// canonical form means the same.
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

// FuzzAccept checks that any header is parsed, and that the order of media
// ranges of different specificity does not matter.
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

// FuzzIdempotencyKey checks that an accepted key follows the rules, and that
// its quoted form is the same key.
func FuzzIdempotencyKey(f *testing.F) {
	for _, seed := range []string{"k", `"k"`, `"a\"b"`, "", `"`, `""`, strings.Repeat("x", 256), "a b", "ä", `\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		key, err := httpapi.IdempotencyKey([]string{header})
		if err != nil {
			aFault(t, err, fault.InvalidIdempotencyKey)
			return
		}
		if key == "" || len(key) > 255 || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%q: got key %q, want 1 to 255 visible ASCII characters", header, key)
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		if again, err := httpapi.IdempotencyKey([]string{quoted}); err != nil || again != key {
			t.Fatalf("%q: got key %q (%v) from %s, want %q", header, again, err, quoted, key)
		}
	})
}

// FuzzEntityTag checks that If-None-Match never matches a tag that it does not
// contain.
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
