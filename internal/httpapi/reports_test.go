package httpapi_test

import (
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// TestReports keeps a report and a dashboard on both engines: for their owner,
// for the workspace, and for nobody else.
func TestReports(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c, other := w.Tenant(account.Growth), w.Tenant(account.Growth)
		const report = `{"kind":"report","name":"Spend","page":"analytics","query":{"metrics":["spend"],"date_range":{"preset":"last_7_days"}}}`
		mine := c.Do("POST", "/v1/saved-views", report).Want(201)
		id := mine.ID()
		editor := c.As(account.Editor)
		for _, path := range []string{"/v1/saved-views", "/v1/dashboards"} {
			target := path + "/" + id
			if path == "/v1/dashboards" {
				target = path + "/" + c.Do("POST", path, `{"name":"Week","tiles":[{"id":"a","x":0,"y":0,"width":12,"height":4,"saved_view_id":"`+id+`"}]}`).Want(201).ID()
			}
			editor.Do("GET", target, nil).WantError(404, "not_found")
			editor.Do("PATCH", target, `{"name":"X"}`).WantError(404, "not_found")
			if n := len(editor.Do("GET", path, nil).Want(200).List().Data); n != 0 {
				t.Errorf("%s: got %d private records of another user", path, n)
			}
			c.Do("PATCH", target, `{"visibility":"shared"}`, `If-Match: "1"`).Want(200)
			c.Do("PATCH", target, `{"name":"X"}`, `If-Match: "1"`).WantError(412, "precondition_failed")
			editor.Do("GET", target, nil).Want(200)
			editor.Do("PATCH", target, `{"name":"X"}`).WantError(403, "insufficient_permissions")
			editor.Do("DELETE", target, nil).WantError(403, "insufficient_permissions")
			other.Do("GET", target, nil).WantError(404, "not_found")
			other.Do("PATCH", target, `{"name":"X"}`).WantError(404, "not_found")
			other.Do("DELETE", target, nil).WantError(404, "not_found")
			if n := len(other.Do("GET", path, nil).Want(200).List().Data); n != 0 {
				t.Errorf("%s: another workspace got %d records", path, n)
			}
		}
		c.As(account.Viewer).Do("POST", "/v1/dashboards", `{"name":"D","visibility":"shared"}`).WantError(403, "insufficient_permissions")
		query := c.Do("GET", "/v1/saved-views/"+id, nil).Want(200).Record()["query"].(map[string]any)
		if preset := query["date_range"].(map[string]any)["preset"]; preset != "last_7_days" {
			t.Errorf("the range of the query is %v, want the preset", preset)
		}
		if e := c.Do("POST", "/v1/saved-views", `{"kind":"report","name":"Spend","page":"analytics","query":{"metrics":["spent"],"limit":"x"}}`).WantError(422, "validation_failed"); len(e.Details) != 2 || e.Details[0].Field == "metrics[0]" {
			t.Errorf("got %+v", e.Details)
		}
		for _, e := range c.Do("GET", "/v1/events?limit=100", nil).Want(200).List().Data {
			if kind := e["type"].(string); kind != "api_key.created" {
				t.Errorf("got the event %s, which everybody in the workspace can read", kind)
			}
		}
	})
}
