package httpapi_test

import (
	"fmt"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// TestBulkEdit edits campaigns on both engines: once per idempotency key, only
// those of the workspace, and only for editors.
func TestBulkEdit(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c, other := w.Tenant(account.Growth), w.Tenant(account.Growth)
		id := create(c, `{"name":"Mine","budget":{"type":"daily","amount":"100.00","currency":"EUR"}}`)
		foreign := create(other, `{"name":"Theirs","budget":{"type":"daily","amount":"100.00","currency":"EUR"}}`)
		body := fmt.Sprintf(`{"ids":[%q,%q],"change":{"budget":{"percent":10}}}`, id, foreign)
		for range 2 {
			var a struct {
				Changed int `json:"changed"`
				Failed  int `json:"failed"`
				Results []struct {
					Error *struct {
						Code string `json:"code"`
					} `json:"error"`
				} `json:"results"`
			}
			c.Do("POST", "/v1/campaigns/bulk", body, "Idempotency-Key: one").Want(200).Data(&a)
			if a.Changed != 1 || a.Failed != 1 || a.Results[1].Error.Code != "not_found" {
				t.Errorf("got %+v", a)
			}
		}
		for client, want := range map[*fanfaretest.Client]string{c.Client: "110.00", other.Client: "100.00"} {
			target := "/v1/campaigns/" + id
			if client == other.Client {
				target = "/v1/campaigns/" + foreign
			}
			if got := client.Do("GET", target, nil).Want(200).Record()["budget"].(map[string]any)["amount"]; got != want {
				t.Errorf("got a budget of %v want %s", got, want)
			}
		}
		c.As(account.Viewer).Do("POST", "/v1/campaigns/bulk", body).WantError(403, "insufficient_permissions")
		c.Do("POST", "/v1/campaigns/bulk", `{"ids":[],"change":{}}`).WantError(422, "validation_failed")

		// The changed budget is on the charts of this workspace only.
		var list []struct {
			Kind string `json:"kind"`
		}
		c.Do("GET", "/v1/annotations?kind=budget_changed,launched", nil).Want(200).Data(&list)
		if len(list) != 1 || list[0].Kind != "budget_changed" {
			t.Errorf("got annotations %+v", list)
		}
		note := c.Do("POST", "/v1/annotations", fmt.Sprintf(`{"date":"2026-11-10","text":"Note","campaign_id":%q}`, id)).Want(201).ID()
		other.Do("GET", "/v1/annotations/"+note, nil).WantError(404, "not_found")
		other.Do("DELETE", "/v1/annotations/"+note, nil).WantError(404, "not_found")
		c.As(account.Editor).Do("PATCH", "/v1/annotations/"+note, `{"text":"Other"}`).WantError(403, "insufficient_permissions")
		c.As(account.Viewer).Do("POST", "/v1/annotations", `{"date":"2026-11-10","text":"Note"}`).WantError(403, "insufficient_permissions")
		other.Do("POST", "/v1/annotations", fmt.Sprintf(`{"date":"2026-11-10","text":"Note","campaign_id":%q}`, id)).WantError(422, "validation_failed")
		if n := len(other.Do("GET", "/v1/annotations", nil).Want(200).List().Data); n != 0 {
			t.Errorf("another workspace got %d annotations", n)
		}
	})
}
