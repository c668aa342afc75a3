package httpapi_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/store"
)

const customerList = `{"name":"List","type":"customer_list"}`

// memberHashes returns a change that adds the members from one number to
// another.
func memberHashes(from, to int) string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf(`"%064x"`, i))
	}
	return `{"add":[` + strings.Join(list, ",") + `]}`
}

// TestInsightsPeriod checks the query of insights, with days in the workspace's
// or the caller's time zone.
func TestInsightsPeriod(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	id, other := c.Do("POST", "/v1/audiences", customerList).Want(201).ID(), c.Do("POST", "/v1/audiences", customerList).Want(201).ID()
	target := "/v1/audiences/" + id + "/insights?"
	got := c.Do("GET", target, nil).Want(200).Record()
	if code := got["warnings"].([]any)[0].(map[string]any)["code"]; got["baseline"] != "workspace" || code != "no_facts" {
		t.Errorf("got baseline %v and warning %v want workspace and no_facts", got["baseline"], code)
	}
	if got := c.Do("GET", target+"baseline="+other, nil).Want(200).Record()["baseline"]; got != other {
		t.Errorf("got baseline %v want %s", got, other)
	}
	// It is noon in UTC, the 16th already in the far east.
	for query, period := range map[string]string{
		"":                              "2026-10-16 2026-11-14",
		"timezone=Pacific/Kiritimati":   "2026-10-17 2026-11-15",
		"start_date=2026-11-01":         "2026-11-01 2026-11-14",
		"end_date=2026-03-01":           "2026-01-31 2026-03-01",
		"end_date=2026-03-01T00:00:00Z": "2026-01-30 2026-02-28",
		"start_date=2026-11-14":         "2026-11-14 2026-11-14",
		"start_date=2026-02-01T10:00:00Z&end_date=2026-02-01T10:00:00Z":                     "2026-02-01 2026-02-01",
		"start_date=2026-02-01T23:30:00Z&end_date=2026-02-04T23:30:00Z&timezone=Asia/Tokyo": "2026-02-02 2026-02-05",
	} {
		p := c.Do("GET", target+query, nil).Want(200).Record()["period"].(map[string]any)
		if got := fmt.Sprint(p["start_date"], " ", p["end_date"]); got != period {
			t.Errorf("%s: got period %s want %s", query, got, period)
		}
	}
	foreign := c.Service.Tenant(account.Growth).Do("POST", "/v1/audiences", customerList).Want(201).ID()
	for query, problem := range map[string]string{
		"start_date=2026-11-15":                     "start_date invalid_range",
		"start_date=2026-11-02&end_date=2026-11-01": "start_date invalid_range",
		"end_date=soon":                             "end_date invalid_format",
		"timezone=Mars":                             "timezone invalid_value",
		"baseline=everybody":                        "baseline invalid_value",
		"baseline=" + foreign:                       "baseline invalid_value",
		"limit=1":                                   "limit unknown_parameter",
	} {
		d := c.Do("GET", target+query, nil).WantError(400, "invalid_parameter").Details[0]
		if got := d.Field + " " + d.Code; got != problem {
			t.Errorf("%s: got %s want %s", query, got, problem)
		}
	}
}

// TestMembersHaveNoTag checks that responses about members, which are no
// record, have no entity tag, and that a repeated change is answered from
// memory.
func TestMembersHaveNoTag(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	target := "/v1/audiences/" + c.Do("POST", "/v1/audiences", customerList).Want(201).ID() + "/members"
	first := c.Do("POST", target, memberHashes(0, 10), "Idempotency-Key: once").Want(200)
	again := c.Do("POST", target, memberHashes(0, 10), "Idempotency-Key: once").Want(200)
	if !bytes.Equal(first.Body, again.Body) || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("got %s with %v again, want %s", again.Body, again.Header, first.Body)
	}
	for _, res := range []*fanfaretest.Response{first, again, c.Do("GET", target, nil).Want(200)} {
		if tag := res.Header.Get("ETag"); tag != "" {
			t.Errorf("got entity tag %s of %s want none", tag, res.Body)
		}
	}
}

// TestMembersAreNotRepeated checks that an address that was sent in place of a
// hash is neither in the response nor in the log nor in the store.
func TestMembersAreNotRepeated(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	target := "/v1/audiences/" + c.Do("POST", "/v1/audiences", customerList).Want(201).ID() + "/members"
	for _, secret := range []string{"ada@example.com", "+491701234567"} {
		res := c.Do("POST", target, `{"add":["`+secret+`"]}`, "Idempotency-Key: "+secret[1:4])
		res.WantError(422, "validation_failed")
		if bytes.Contains(res.Body, []byte(secret)) || strings.Contains(c.Service.Log.String(), secret) {
			t.Errorf("got %s again: %s", secret, res.Body)
		}
		err := store.Dump(t.Context(), c.Service.App.Engine, func(chunk store.Chunk, _ int64) error {
			if bytes.Contains(chunk.Data, []byte(secret)) {
				t.Errorf("got %s in the table %s", secret, chunk.Table)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
