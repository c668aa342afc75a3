package httpapi_test

import (
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

func TestSmoke(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.World) {
		a := w.Tenant(account.Growth)
		id := a.Do("POST", "/v1/campaigns", map[string]any{"name": "One", "budget": map[string]any{"type": "daily", "amount": 5000}}).Want(201).ID()
		a.Do("GET", "/v1/campaigns/"+id, nil).Want(200)
		a.Do("PATCH", "/v1/campaigns/"+id, map[string]any{"budget": map[string]any{"pacing": "asap"}, "tags": []string{"A"}}, "If-Match: \"1\"").Want(200)
		a.Do("POST", "/v1/campaigns/"+id+"/launch", nil, "Idempotency-Key: k1").Want(200)
		a.Do("POST", "/v1/campaigns/"+id+"/launch", nil, "Idempotency-Key: k1").Want(200)
		a.Do("POST", "/v1/campaigns/"+id+"/launch", nil).WantError(409, "invalid_state")
		a.Do("POST", "/v1/campaigns/"+id+"/pause", "{}").Want(200)
		a.Do("POST", "/v1/campaigns/"+id+"/resume", nil).Want(200)
		a.Do("POST", "/v1/campaigns/"+id+"/duplicate", nil).Want(201)
		a.Do("DELETE", "/v1/campaigns/"+id, nil).Want(200)
		a.Do("POST", "/v1/campaigns/"+id+"/restore", nil).Want(200)
		for _, s := range []string{"created_at", "updated_at", "name", "status", "start_at", "end_at", "launched_at", "spend"} {
			l := a.Do("GET", "/v1/campaigns?limit=1&status=all&tag=a&sort="+s, nil).Want(200).List()
			t.Log(s, len(l.Data), l.HasMore)
			l = a.Do("GET", "/v1/campaigns?limit=1&sort="+s, nil).Want(200).List()
			a.Do("GET", "/v1/campaigns?limit=1&cursor="+*l.NextCursor, nil).Want(200)
		}
		l := a.Do("GET", "/v1/events?type=campaign.*", nil).Want(200).List()
		t.Log(len(l.Data), l.Data[0])
		a.Do("GET", "/v1/me", nil).Want(200)
		a.Do("GET", "/v1", nil).Want(200)
		a.Do("GET", "/docs/errors", nil).Want(200)
		a.Do("GET", "/openapi/v1.json", nil).Want(200)
		r, err := w.App.DB.VerifyAudit(t.Context(), func(int64) {})
		if err != nil || len(r.Faults) > 0 {
			t.Fatal(r, err)
		}
	})
}
