package analytics_test

import (
	"strings"
	"testing"

	accounts "fanfare/internal/account"
	"fanfare/internal/ident"
)

func mustID(s string) ident.ID { return ident.ID(s) }

// TestWorkspacesAreSeparate: two workspaces with the same names and ids never
// see each other's data.
func TestWorkspacesAreSeparate(t *testing.T) {
	t.Parallel()
	w := startService(t)
	one, other := w.Tenant("enterprise"), w.Tenant("enterprise")
	rows := `[{"date":"2026-11-01","account_id":"a","channel":"email","external_campaign_id":"7","campaign_name":"Same","spend":1,"clicks":2}]`
	a := ingestAnswer(one.Do("POST", feedTarget+"?source=shop", rows))
	b := ingestAnswer(other.Do("POST", feedTarget+"?source=shop", strings.Replace(rows, `"spend":1`, `"spend":10`, 1)))
	if *a.ConnectionID == *b.ConnectionID {
		t.Errorf("got one connection %s for both", *a.ConnectionID)
	}
	wantTotals(t, one.Client, "1 2", "spend", "clicks")
	wantTotals(t, other.Client, "10 2", "spend", "clicks")
	// Connections and records of the other workspace cannot be named.
	one.Do("POST", feedTarget+"?source="+*b.ConnectionID, rows).WantError(400, "invalid_parameter")
	one.Do("GET", "/v1/connections/"+*b.ConnectionID, nil).Want(404)
	cmp := other.Do("POST", "/v1/campaigns", `{"name":"Theirs"}`).Want(201).ID()
	if in := ingestAnswer(one.Do("POST", feedTarget, `[{"date":"2026-11-01","campaign_id":"`+cmp+`","clicks":1}]`)); in.Accepted != 0 || in.Rejected[0].Errors[0].Code != "not_found" {
		t.Errorf("got %+v want the other's campaign not found", in)
	}
	ingestAnswer(other.Do("POST", feedTarget, `[{"date":"2026-11-01","campaign_id":"`+cmp+`","clicks":1}]`))
	none := readReply(t, one.Do("POST", "/v1/analytics/query", `{"metrics":["clicks"],"filters":{"field":"campaign_id","op":"eq","values":["`+cmp+`"]}}`).Want(200).Body)
	if got := formatNumber(none.Data[0].Metrics["clicks"]); got != "0" {
		t.Errorf("the other's campaign: got %s clicks want 0", got)
	}
	// Replacing data in one workspace does not change the other's, and neither
	// do rates and imports.
	ingestAnswer(one.Do("POST", feedTarget+"?source=shop&mode=replace&start_date=2026-11-01&end_date=2026-11-01", `[{"date":"2026-11-01","account_id":"a","clicks":5}]`))
	wantTotals(t, other.Client, "10 3", "spend", "clicks")
	one.Do("POST", "/v1/rates", `{"rates":[{"date":"2026-11-01","currency":"USD","rate":"2"}]}`).Want(200)
	if list := other.Do("GET", "/v1/rates", nil).Want(200).List(); len(list.Data) != 0 {
		t.Errorf("got %v want no rates", list.Data)
	}
	file := upload(one.Client, "source=shop&filename=f.csv&commit=true", []byte("date,clicks\n2026-11-02,1\n"))
	other.Do("GET", "/v1/imports/"+file.ID, nil).Want(404)
	other.Do("POST", "/v1/imports/"+file.ID+"/undo", nil).Want(404)
	wantTotals(t, one.Client, "6", "clicks")
}

// TestRoles: viewers read, editors send data, admins set rates; a key can be
// limited to reading or sending.
func TestRoles(t *testing.T) {
	t.Parallel()
	w := startService(t)
	c := w.Tenant("enterprise")
	const row, rate = `[{"date":"2026-11-01","clicks":1}]`, `{"rates":[{"date":"2026-11-01","currency":"USD","rate":"1.1"}]}`
	scoped := func(s accounts.Scopes) func(*accounts.KeyOptions) {
		return func(o *accounts.KeyOptions) { o.Scopes = s }
	}
	reader := c.As(accounts.Admin, scoped(accounts.Scopes{"analytics": accounts.Read}))
	stranger := c.As(accounts.Admin, scoped(accounts.Scopes{"campaigns": accounts.Write}))
	viewer, editor, admin := c.As(accounts.Viewer), c.As(accounts.Editor), c.As(accounts.Admin)
	for _, test := range []struct {
		name                string
		read, feed, setRate int
		try                 func(method, target string, body any) int
	}{
		{"viewer", 200, 403, 403, func(m, target string, b any) int { return viewer.Do(m, target, b).Status }},
		{"editor", 200, 200, 403, func(m, target string, b any) int { return editor.Do(m, target, b).Status }},
		{"admin", 200, 200, 200, func(m, target string, b any) int { return admin.Do(m, target, b).Status }},
		{"a key that reads", 200, 403, 403, func(m, target string, b any) int { return reader.Do(m, target, b).Status }},
		{"a key for campaigns", 403, 403, 403, func(m, target string, b any) int { return stranger.Do(m, target, b).Status }},
		{"nobody", 401, 401, 401, func(m, target string, b any) int { return w.Client("").Do(m, target, b).Status }},
	} {
		for target, want := range map[string]int{
			"POST /v1/analytics/query": test.read, "GET /v1/analytics/overview": test.read, "GET /v1/analytics/schema": test.read, "GET /v1/imports": test.read,
			"GET /v1/rates": test.read, "POST " + feedTarget: test.feed, "POST /v1/rates": test.setRate,
		} {
			method, path, _ := strings.Cut(target, " ")
			body := map[string]any{"POST /v1/analytics/query": `{"metrics":["clicks"]}`, "POST " + feedTarget: row, "POST /v1/rates": rate}[target]
			if got := test.try(method, path, body); got != want {
				t.Errorf("%s: %s: got %d want %d", test.name, target, got, want)
			}
		}
	}
	viewer.Do("POST", "/v1/imports", "date,clicks\n2026-11-02,1\n", "Content-Type: text/csv").Want(403)
}
