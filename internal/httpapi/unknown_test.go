package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ratelimit"
)

// unknownFields returns an object with n unknown members.
func unknownFields(n int, more string) string {
	var b strings.Builder
	b.WriteString(`{`)
	for i := range n {
		fmt.Fprintf(&b, `"un%05d":1,`, i)
	}
	return b.String() + more + `}`
}

// TestUnknownFieldsAreCountedOut checks that the response lists the first fifty
// unknown fields and says that more exist, however many and wherever they are.
func TestUnknownFieldsAreCountedOut(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	id := create(c, `{"name":"One"}`)
	for _, tt := range []struct{ name, method, target, body, want string }{
		{"listed", "POST", "/v1/campaigns", unknownFields(50, `"name":"One"`), "50 fields are invalid: un00000, "},
		{"more than are listed", "POST", "/v1/campaigns", unknownFields(200, `"name":"One"`), "200 fields are invalid: un00000, "},
		{"more than are read", "POST", "/v1/campaigns", unknownFields(80_000, `"name":"One"`), "At least 251 fields are invalid: un00000, "},
		{"in a patch", "PATCH", "/v1/campaigns/" + id, unknownFields(80_000, `"name":"One"`), "At least 251 fields are invalid: un00000, "},
		{"inside", "POST", "/v1/campaigns", `{"name":"One","budget":` + unknownFields(80_000, `"type":"daily"`) + `}`, "At least 251 fields are invalid: budget.un00000, "},
		{"in a list", "POST", "/v1/creative", `{"name":"One","content":{"media":[` + unknownFields(80_000, `"asset_id":"x"`) + `]}}`, "At least "},
		{"metadata", "PATCH", "/v1/campaigns/" + id, `{"metadata":` + unknownFields(80_000, `"a":"b"`) + `}`, "At least 251 fields are invalid: metadata.un00000, "},
		{"unfinished", "POST", "/v1/campaigns", unknownFields(80_000, ``)[:800_000], "At least 251 fields are invalid: "},
	} {
		e := c.Do(tt.method, tt.target, tt.body).WantError(422, "validation_failed")
		if !strings.HasPrefix(e.Message, tt.want) || len(e.Details) != 50 {
			t.Errorf("%s: got %d details and %q, want 50 and %q", tt.name, len(e.Details), e.Message, tt.want)
		}
		if more := strings.HasSuffix(e.Message, "The first 50 are listed."); more != (tt.name != "listed") {
			t.Errorf("%s: got %q, which says that there are more: %v", tt.name, e.Message, more)
		}
		for _, d := range e.Details {
			if d.Code == "required" {
				t.Errorf("%s: %s may be in the part that was not read", tt.name, d.Field)
			}
		}
	}
	c.Do("GET", "/v1/campaigns/"+id, nil).Want(200)
}

// TestManyUnknownFieldsCostAsMuchAsFew compares the memory that bodies
// allocate: 80,000 unknown fields may take at most twice as much as 100.
func TestManyUnknownFieldsCostAsMuchAsFew(t *testing.T) {
	w := fanfaretest.New(t, nil, func(c *app.Config) {
		c.Limits = map[account.Plan]ratelimit.Limits{account.Enterprise: {PerMinute: 1 << 40, PerDay: 1 << 40}}
	})
	c := w.Tenant(account.Enterprise)
	id := c.Do("POST", "/v1/campaigns", `{"name":"One"}`).Want(201).ID()
	work := func(method, target string, fields int) float64 {
		body := unknownFields(fields, `"name":"One"`)
		return testing.AllocsPerRun(5, func() {
			r := httptest.NewRequest(method, target, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+c.Key)
			r.Header.Set("Content-Type", "application/json")
			r.RemoteAddr = "127.0.0.1:4711"
			w.App.API.ServeHTTP(&sink{h: http.Header{}}, r)
		})
	}
	for _, tt := range []struct{ method, target string }{{"POST", "/v1/campaigns"}, {"PATCH", "/v1/campaigns/" + id}} {
		few, many := work(tt.method, tt.target, 100), work(tt.method, tt.target, 80_000)
		t.Logf("%s: %.0f allocations for 100 fields, %.0f for 80,000", tt.method, few, many)
		if many > 2*few {
			t.Errorf("%s: got %.0f allocations for 80,000 unknown fields, want at most twice the %.0f for 100", tt.method, many, few)
		}
	}
}
