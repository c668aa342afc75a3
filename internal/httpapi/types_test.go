package httpapi_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/fanfaretest"
)

func TestT1IDs(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c := w.Tenant("growth")
		rec := c.Do("POST", "/v1/campaigns", `{"name":"One"}`).Want(201)
		shape := func(prefix string) *regexp.Regexp {
			return regexp.MustCompile("^" + prefix + "_[0-7][0-9a-hjkmnp-tv-z]{25}$")
		}
		event := c.Do("GET", "/v1/events?type=campaign.*", nil).Want(200).List().Data[0]
		actor, _ := event["actor"].(map[string]any)
		for prefix, id := range map[string]any{
			"cmp": rec.ID(), "evt": event["id"], "wks": event["workspace_id"], "key": actor["id"], "req": event["request_id"],
		} {
			if text, _ := id.(string); !shape(prefix).MatchString(text) {
				t.Errorf("got id %v, want %s_ and a UUIDv7 in base 32", id, prefix)
			}
		}
		if got := rec.Header.Get("X-Request-Id"); got != event["request_id"] {
			t.Errorf("got request_id %v in the event, want %s", event["request_id"], got)
		}
	})
}

func TestT2Instants(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	for in, want := range map[string]string{
		"2027-01-01T00:00:00Z":             "2027-01-01T00:00:00.000Z",
		"2027-01-01T00:00:00.5Z":           "2027-01-01T00:00:00.500Z",
		"2027-01-01T00:00:00.123456789Z":   "2027-01-01T00:00:00.123Z",
		"2027-01-01T01:30:00+01:30":        "2027-01-01T00:00:00.000Z",
		"2026-12-31T19:00:00-05:00":        "2027-01-01T00:00:00.000Z",
		"2027-01-01T00:00:00-00:00":        "2027-01-01T00:00:00.000Z",
		"2027-01-01T00:00:00.000999+00:00": "2027-01-01T00:00:00.000Z",
		"9999-12-31T23:59:59.999Z":         "9999-12-31T23:59:59.999Z",
		"0001-01-01T00:00:00Z":             "0001-01-01T00:00:00.000Z",
		"1969-12-31T23:59:59.9999Z":        "1969-12-31T23:59:59.999Z",
	} {
		rec := c.Do("POST", "/v1/campaigns", map[string]any{"name": "One", "schedule": map[string]any{"start_at": in}}).Want(201).Record()
		if got := rec["schedule"].(map[string]any)["start_at"]; got != want {
			t.Errorf("%s: got %v want %s", in, got, want)
		}
	}
	for _, in := range []string{"9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00", "2027-01-01T24:00:00Z", "2027-01-01T00:00:60Z", "2027-13-01T00:00:00Z", "2027-01-01t00:00:00z", "+2027-01-01T00:00:00Z"} {
		e := c.Do("POST", "/v1/campaigns", map[string]any{"name": "One", "schedule": map[string]any{"start_at": in}}).WantError(422, "validation_failed")
		if d := e.Details[0]; d.Field != "schedule.start_at" || d.Code != "invalid_format" {
			t.Errorf("%s: got %s at %s, want invalid_format", in, d.Code, d.Field)
		}
	}
}

func TestT4Money(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	for _, tt := range []struct{ amount, currency, want string }{
		{`5000`, "USD", "5000.00"},
		{`"5000.00"`, "USD", "5000.00"},
		{`5000.1`, "USD", "5000.10"},
		{`"0.01"`, "USD", "0.01"},
		{`"007.50"`, "USD", "7.50"},
		{`1500`, "JPY", "1500"},
		{`"1500.00"`, "JPY", "1500"},
		{`"1.234"`, "KWD", "1.234"},
		{`1`, "KWD", "1.000"},
		{`9007199254740993`, "USD", ""},
		{`9223372036853.99`, "USD", "9223372036853.99"},
		{`9223372036854`, "USD", ""},
		{`0.1`, "EUR", "0.10"},
		{`1e3`, "USD", ""},
		{`0.30000000000000004`, "USD", ""},
		{`-0`, "USD", ""},
		{`"1.005"`, "USD", ""},
		{`"10.50"`, "IDR", "10.50"},
		{`"1.234"`, "IQD", "1.234"},
		{`"1"`, "VES", "1.00"},
		{`"1"`, "XXX", ""},
		{`"1"`, "ZZZ", ""},
	} {
		res := c.Do("POST", "/v1/campaigns", `{"name":"One","budget":{"type":"daily","amount":`+tt.amount+`,"currency":"`+tt.currency+`"}}`)
		if tt.want == "" {
			res.WantError(422, "validation_failed")
			continue
		}
		want := map[string]any{"type": "daily", "amount": tt.want, "currency": tt.currency, "pacing": "even", "daily_cap": nil}
		if diff := cmp.Diff(want, res.Want(201).Record()["budget"]); diff != "" {
			t.Errorf("%s %s: budget differs (-want +got):\n%s", tt.amount, tt.currency, diff)
		}
	}
	// The number and the text are the same budget, so this changes nothing.
	id := create(c, `{"name":"One","budget":{"type":"daily","amount":"5000.00"}}`)
	if v := c.Do("PATCH", "/v1/campaigns/"+id, `{"budget":{"amount":5000}}`).Want(200).Record()["version"]; v != 1.0 {
		t.Errorf("got version %v after the same amount as a number, want 1", v)
	}
}

func TestT7TextIsKeptAsSent(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c := w.Tenant("growth")
		decomposed, composed := "e\u0301", "\u00e9"
		for _, name := range []string{"  padded\t", decomposed, composed, "😀", "a\u200db", "<b>&\"'", "a\u2028b", "\ufffd", strings.Repeat("😀", 200), "\u202eright to left", "it's 100% \\ \x7f"} {
			rec := c.Do("POST", "/v1/campaigns", map[string]any{"name": name, "description": name, "metadata": map[string]any{"k": name}}).Want(201)
			for _, r := range []*fanfaretest.Response{rec, c.Do("GET", "/v1/campaigns/"+rec.ID(), nil).Want(200)} {
				got := r.Record()
				if got["name"] != name || got["description"] != name || got["metadata"].(map[string]any)["k"] != name {
					t.Errorf("%q: got name %q, description %q, metadata %v, want it everywhere", name, got["name"], got["description"], got["metadata"])
				}
			}
		}
		c.Do("POST", "/v1/campaigns", map[string]any{"name": strings.Repeat("😀", 201)}).WantError(422, "validation_failed")
		rec := c.Do("POST", "/v1/campaigns", `{"name":"One","description":"","tags":["Winter","SALE","straße"," x "]}`).Want(201).Record()
		if diff := cmp.Diff([]any{"winter", "sale", "straße", " x "}, rec["tags"]); diff != "" {
			t.Errorf("tags differ (-want +got):\n%s", diff)
		}
		if rec["description"] != "" {
			t.Errorf("got description %v, want the empty text and not null", rec["description"])
		}
	})
}

func TestT8Metadata(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	id := create(c, `{"name":"One","metadata":{"a":"1","b":"2"}}`)
	patch := func(body string) any {
		return c.Do("PATCH", "/v1/campaigns/"+id, body).Want(200).Record()["metadata"]
	}
	for _, tt := range []struct {
		body string
		want map[string]any
	}{
		{`{"metadata":{"b":"3","c":""}}`, map[string]any{"a": "1", "b": "3", "c": ""}},
		{`{"metadata":{"a":null,"never":null}}`, map[string]any{"b": "3", "c": ""}},
		{`{"metadata":{}}`, map[string]any{"b": "3", "c": ""}},
		{`{"metadata":{"Ä.b c":"x"}}`, map[string]any{"b": "3", "c": "", "Ä.b c": "x"}},
	} {
		if diff := cmp.Diff(any(tt.want), patch(tt.body)); diff != "" {
			t.Errorf("%s: metadata differs (-want +got):\n%s", tt.body, diff)
		}
	}
	full := map[string]any{}
	for _, r := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU" {
		full["key-"+string(r)] = "x"
	}
	c.Do("PATCH", "/v1/campaigns/"+id, map[string]any{"metadata": full}).Want(200)
	e := c.Do("PATCH", "/v1/campaigns/"+id, `{"metadata":{"one-more":"x"}}`).WantError(422, "validation_failed")
	if d := e.Details[0]; d.Field != "metadata" || d.Code != "too_many_items" {
		t.Errorf("got %s at %s, want too_many_items for the 51st key", d.Code, d.Field)
	}
	c.Do("PATCH", "/v1/campaigns/"+id, `{"metadata":{"one-more":"x","b":null}}`).Want(200)
	long := strings.Repeat("k", 41)
	e = c.Do("PATCH", "/v1/campaigns/"+id, map[string]any{"metadata": map[string]any{long: nil}}).WantError(422, "validation_failed")
	if d := e.Details[0]; d.Field != "metadata."+long || d.Code != "too_long" {
		t.Errorf("got %s at %s, want too_long for a key that cannot be", d.Code, d.Field)
	}
}

func TestT9CommonFields(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	res := c.Do("POST", "/v1/campaigns", `{"name":"One"}`).Want(201)
	rec := res.Record()
	for field, want := range map[string]any{
		"status": "draft", "version": 1.0, "created_at": "2026-11-15T12:00:00.000Z", "updated_at": "2026-11-15T12:00:00.000Z", "archived_at": nil,
	} {
		if rec[field] != want {
			t.Errorf("got %s %v want %v", field, rec[field], want)
		}
	}
	by, _ := rec["created_by"].(map[string]any)
	if id, _ := by["id"].(string); by["type"] != "api_key" || !strings.HasPrefix(id, "key_") || by["name"] != "First key" {
		t.Errorf("got created_by %v, want the key", by)
	}
}

// TestT7LandingURLs checks that landing URLs are https with a host and have
// known macros only.
func TestT7LandingURLs(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	for landing, code := range map[string]string{
		"https://example.com": "", "https://example.com:8443/a?b=c#d": "", "https://müller.example/ä": "", "https://{{channel}}.example.com/{{campaign.id}}?a={{creative.name}}": "",
		"https://": "invalid_format", "https://:443/": "invalid_format", "https://u:p@example.com": "invalid_format", "http://example.com": "invalid_format", "https:example.com": "invalid_format",
		"https://example.com/a b": "invalid_format", "https://exa mple.com": "invalid_format", "https://example.com/%zz": "invalid_format", "//example.com": "invalid_format",
		"javascript:alert(1)": "invalid_format", "https://example.com/{{campaign.secret}}": "invalid_value", "https://example.com/{{campaign.id": "invalid_value", "https://example.com/{{}}": "invalid_value",
	} {
		res := c.Do("POST", "/v1/campaigns", map[string]any{"name": "One", "tracking": map[string]any{"landing_url": landing}})
		if code == "" {
			if got := res.Want(201).Record()["tracking"].(map[string]any)["landing_url"]; got != landing {
				t.Errorf("got %v want %s as it was sent", got, landing)
			}
			continue
		}
		if d := res.WantError(422, "validation_failed").Details[0]; d.Field != "tracking.landing_url" || d.Code != code {
			t.Errorf("%s: got %s at %s want %s", landing, d.Code, d.Field, code)
		}
	}
}
