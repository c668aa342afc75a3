package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// long is a name or a value that no operation accepts.
var long = strings.Repeat("long", 3_000)

// lengthen calls try with the body once for each position in it: with a long
// text instead of the value, and with a long member name in each object.
func lengthen(body, at any, set func(any), name string, try func(name string, body any)) {
	if set != nil {
		set(long)
		try(name, body)
		set(map[string]any{long: long})
		try(name+" as an object", body)
		set(at)
	}
	switch v := at.(type) {
	case map[string]any:
		for key, old := range v {
			lengthen(body, old, func(n any) { v[key] = n }, name+"."+key, try)
		}
		v[long] = long
		try(name+" with an unknown member", body)
		delete(v, long)
	case []any:
		for i, old := range v {
			lengthen(body, old, func(n any) { v[i] = n }, fmt.Sprintf("%s[%d]", name, i), try)
		}
	}
}

// TestContractLongValues puts a name and a value of 12 kB at every position of
// every body. An error must repeat only a short part of them.
func TestContractLongValues(t *testing.T) {
	t.Parallel()
	const most = 8 << 10
	for id, op := range fanfaretest.TheContract().Operations() {
		if jsonBody(op) == nil {
			continue
		}
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			m := newMaker(t, fanfaretest.New(t, nil, ample).Tenant(account.Growth))
			for _, schema := range alternatives(jsonBody(op).Schema) {
				body := m.sample("", schema)
				c := m.fitting(op, body)
				send := func(name, text string) {
					c.body = text
					res := c.with("Prefer: respond-async").by(m.tenant.Client)
					if (res.Status >= 300 || takesRows(op)) && len(res.Body) > most {
						t.Errorf("%s: got %d with %d bytes, want at most %d: %.300s", name, res.Status, len(res.Body), most, res.Body)
					}
				}
				lengthen(body, body, nil, id, func(name string, body any) {
					raw, err := json.Marshal(body)
					if err != nil {
						t.Fatal(err)
					}
					send(name, string(raw))
				})
				twice := `{"` + long + `":1,"` + long + `":1}`
				if takesRows(op) {
					twice = "[" + twice + "]"
				}
				send(id+" with a member twice", twice)
			}
		})
	}
}
