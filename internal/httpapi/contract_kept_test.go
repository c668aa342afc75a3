package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// keepsBody reports whether an operation returns the record that its body
// describes, so that the response contains every value that was sent.
func keepsBody(op *fanfaretest.Operation) bool {
	return op.Method == http.MethodPatch || op.Method == http.MethodPost && op.Responses.Value("201") != nil
}

// nestedIn has the objects of a response that contain members of the body, by
// operation, if the record itself does not.
var nestedIn = map[string][]path{
	"generateCreative": {{"generation"}, {"generation", "parameters"}},
	"updateImport":     {{"detected"}},
}

// chosen are members whose empty list means the default.
var chosen = map[string][]string{"generateCreative": {"channels", "formats", "aspect_ratios"}}

// checkKept checks that the response to an accepted body contains every value
// that was sent.
func checkKept(t testing.TB, op *fanfaretest.Operation, name, body string, res *fanfaretest.Response) {
	t.Helper()
	var sent map[string]any
	var got struct {
		Data map[string]any `json:"data"`
	}
	for text, out := range map[string]any{body: &sent, string(res.Body): &got} {
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		if err := d.Decode(out); err != nil {
			t.Fatalf("%s: read %.200s: %v", name, text, err)
		}
	}
	for _, member := range slices.Sorted(maps.Keys(sent)) {
		answered, there := got.Data[member]
		if sent[member] == nil && answered != nil && op.Method == http.MethodPatch && clears(op, member) {
			t.Errorf("%s: sent null for %s, got %v", name, member, answered)
		}
		for _, p := range nestedIn[op.OperationID] {
			part, _ := p.child(member).parent(got.Data).(map[string]any)
			if v, has := part[member]; has && !there {
				answered, there = v, true
			}
		}
		list, isList := sent[member].([]any)
		if isList && len(list) == 0 && slices.Contains(chosen[op.OperationID], member) {
			continue
		}
		if !there {
			t.Errorf("%s: the answer does not have %s", name, member)
			continue
		}
		for _, lost := range lostIn(member, sent[member], answered) {
			t.Errorf("%s: %s", name, lost)
		}
	}
}

// clears reports whether null removes the value of a member: the contract
// allows null and names no default.
func clears(op *fanfaretest.Operation, member string) bool {
	property := alternatives(jsonBody(op).Schema)[0].Value.Properties[member]
	return property != nil && property.Value.Default == nil && property.Value.Type.Includes("null")
}

// lostIn returns the values that were sent and are missing in the response.
// Null means the default, whatever that is; amounts and instants are equal in
// any notation.
func lostIn(at string, sent, got any) []string {
	switch want := sent.(type) {
	case nil:
		return nil
	case map[string]any:
		var lost []string
		answered, _ := got.(map[string]any)
		for _, member := range slices.Sorted(maps.Keys(want)) {
			lost = append(lost, lostIn(at+"."+member, want[member], answered[member])...)
		}
		return lost
	case []any:
		answered, _ := got.([]any)
		if at == "accounts" { // a patch names some of them
			answered = named(want, answered)
		}
		if len(answered) != len(want) {
			return []string{fmt.Sprintf("%s: sent %d items, got %v", at, len(want), got)}
		}
		var lost []string
		for i := range want {
			lost = append(lost, lostIn(fmt.Sprintf("%s[%d]", at, i), want[i], answered[i])...)
		}
		return lost
	}
	if sent == got || sameNumber(sent, got) || sameInstant(sent, got) {
		return nil
	}
	return []string{fmt.Sprintf("%s: sent %v, got %v", at, sent, got)}
}

// named returns the accounts of the response that were sent, in the same order.
func named(sent, got []any) (list []any) {
	for _, s := range sent {
		list = append(list, slices.DeleteFunc(slices.Clone(got), func(g any) bool {
			return g.(map[string]any)["external_id"] != s.(map[string]any)["external_id"]
		})...)
	}
	return list
}

func sameNumber(a, b any) bool {
	x, ok := new(big.Rat).SetString(fmt.Sprint(a))
	y, also := new(big.Rat).SetString(fmt.Sprint(b))
	return ok && also && x.Cmp(y) == 0
}

func sameInstant(a, b any) bool {
	x, err := time.Parse(time.RFC3339, fmt.Sprint(a))
	y, other := time.Parse(time.RFC3339, fmt.Sprint(b))
	return err == nil && other == nil && x.Equal(y)
}

// otherValue returns a valid value of a member that differs from its sample, if no
// edge has one.
func (m *maker) otherValue(member string, before map[string]any) any {
	switch member {
	case "audience_ids", "excluded_audience_ids":
		return []any{newRecord(m.tenant, "/v1/audiences")}
	case "creative_ids":
		return []any{newRecord(m.tenant, "/v1/creative")}
	case "connection_ids":
		return []any{newRecord(m.tenant, "/v1/connections")}
	case "accounts":
		list := before["accounts"].([]any)
		first := list[0].(map[string]any)
		return []any{map[string]any{"external_id": first["external_id"], "enabled": first["enabled"] == false}}
	}
	if flag, ok := before[member].(bool); ok {
		return !flag
	}
	return map[string]any{
		"currency": "CHF", "timezone": "America/New_York", "decimal": ".", "date_format": "YYYY-MM-DD",
	}[member]
}

// TestContractPatchMembers changes each member of a record alone and checks
// that the response shows it.
func TestContractPatchMembers(t *testing.T) {
	t.Parallel()
	for id, op := range fanfaretest.TheContract().Operations() {
		if op.Method != http.MethodPatch {
			continue
		}
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			m := newMaker(t, fanfaretest.New(t, nil, ample).Tenant(account.Growth))
			schema := alternatives(jsonBody(op).Schema)[0]
			c := m.fitting(op, m.sample("", schema))
			if op.Path == "/v1/connections/{id}" {
				c = goodCall(m.tenant, op) // which is connected and has accounts
			}
			record := func() map[string]any { return m.tenant.Do(http.MethodGet, c.target, nil).Want(200).Record() }
			changed := map[string]bool{}
			send := func(name, member string, v any) *fanfaretest.Response {
				c.body = (&edge{}).encode(t, map[string]any{member: v})
				before := record()["version"]
				res := c.by(m.tenant.Client)
				if res.Status < 300 {
					checkKept(t, op, name, c.body.(string), res)
					changed[member] = changed[member] || res.Record()["version"] != before
				}
				return res
			}
			for _, e := range m.memberEdges(nil, schema.Value) {
				if e.codes != nil || beyond[e.key()] != "" {
					continue
				}
				body := m.sample("", schema).(map[string]any)
				e.change(body)
				member := e.name[:strings.IndexAny(e.name, " .[")]
				// A value that requires another member is rejected here;
				// TestContractEdges sends it with all of them.
				send(e.name, member, body[member])
			}
			for name, property := range schema.Value.Properties {
				// data_lost_at can only be ended, after a loss.
				if property.Value.ReadOnly || changed[name] || name == "data_lost_at" {
					continue
				}
				if res := send(name, name, m.otherValue(name, record())); !changed[name] {
					t.Errorf("no value of %s by itself changes the record: %s", name, res.Body)
				}
			}
		})
	}
}
