package connection_test

import (
	"testing"

	"fanfare/internal/connection"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store/storetest"
)

// TestActionRules sends bodies to the actions of a connection of own data, which
// has nothing to sync: limits, choices, rules across fields, and their order
// among the other faults.
func TestActionRules(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, own := w.Connections(), find(t, w, shop()).Connection
	s.Links = w.DB.Links()
	type action func(id ident.ID, body string, match ...string) *storetest.Answer
	actions := map[string]action{
		"sync": func(id ident.ID, body string, match ...string) *storetest.Answer {
			return w.Answer(s.Sync(t.Context(), w.Cause(), id, record.ParseMatch(match), storetest.Sent(t, body)))
		},
		"link": func(id ident.ID, body string, match ...string) *storetest.Answer {
			answer, err := s.Link(t.Context(), w.Cause(), id, record.ParseMatch(match), storetest.Sent(t, body))
			return w.Answer(record.Doc{JSON: answer}, err)
		},
		"reconnect": func(id ident.ID, body string, match ...string) *storetest.Answer {
			return w.Answer(s.Reconnect(t.Context(), w.Cause(), id, record.ParseMatch(match), storetest.Sent(t, body), home))
		},
	}
	for _, tt := range []struct {
		action, body string
		want         []string
	}{
		{"sync", `{"mode":"all","days":3}`, []string{"mode invalid_value", "days unknown_field"}},
		{"sync", `{"mode":"backfill"}`, []string{"start_date required", "end_date required"}},
		{"sync", `{"start_date":"2026-11-01"}`, []string{"start_date incompatible_fields"}},
		{"sync", `{"mode":"backfill","start_date":"2026-11-02","end_date":"2026-11-01"}`, []string{"end_date invalid_value"}},
		{"sync", `{"mode":"backfill","start_date":"2026-02-30","end_date":"today"}`, []string{"start_date invalid_format", "end_date invalid_format"}},
		{"sync", `{"streams":[]}`, []string{"streams too_few_items"}},
		{"link", `{"links":[{"kind":"ad","external_id":""},{"kind":"campaign","external_id":"1","record_id":null}],"match":"id","by":1}`, []string{
			"links[0].kind invalid_value", "links[0].external_id too_short", "links[0].record_id required", "match invalid_value", "by unknown_field",
		}},
		{"reconnect", `{"credentials":{"access_token":"","secret":"x"},"platform":"meta"}`, []string{
			"credentials.access_token too_short", "credentials.secret unknown_field", "platform unknown_field",
		}},
	} {
		act := actions[tt.action]
		var got []string
		for _, d := range act(own, tt.body).Fault(fault.ValidationFailed).Details {
			got = append(got, d.Field+" "+d.Code)
		}
		want(t, tt.action+" "+tt.body, tt.want, got)
		act("con_01h455vb4pex5vsknk084sn02q", tt.body).Fault(fault.NotFound)
		act(own, tt.body, `"9"`).Fault(fault.PreconditionFailed)
	}
	actions["sync"](own, `{}`, `"9"`).Fault(fault.InvalidState)
	actions["link"](own, `{}`, `"9"`).OK()
	actions["reconnect"](own, `{}`).Fault(fault.InvalidState)
	actions["reconnect"](own, `{}`, `"9"`).Fault(fault.PreconditionFailed)
}

// twoPlatforms is a registry of two platforms. The operator is registered with
// the first.
type twoPlatforms struct{ connection.PlatformRegistry }

func (twoPlatforms) About() []connection.About {
	return []connection.About{
		{Platform: "a", Name: "A", Version: "v1", LookbackDays: 30, HistoryDays: 90, Scopes: []string{"read"}, Capabilities: []string{"read_metrics", "push_status"}},
		{Platform: "b", Name: "B", Version: "v2", LookbackDays: 7, HistoryDays: 400, Capabilities: []string{"read_metrics", "read_audiences"}},
	}
}

func (twoPlatforms) App(platform string) (connection.OAuthClient, bool) {
	return connection.OAuthClient{}, platform == "a"
}

// TestPlatforms checks that the sandbox can do what one of the platforms can.
func TestPlatforms(t *testing.T) {
	t.Parallel()
	s := newFixture(t).Connections()
	s.Registry = twoPlatforms{}
	first, second := "v1", "v2"
	credentials := []string{"access_token", "refresh_token", "client_id", "client_secret"}
	want(t, "platforms", []connection.PlatformInfo{
		{
			Platform: "a", Name: "A", Auth: "oauth", Configured: true, APIVersion: &first, LookbackDays: 30, HistoryDays: 90, Scopes: []string{"read"},
			Capabilities: []string{"read_metrics", "push_status"}, ConfigFields: []string{}, CredentialFields: credentials,
		},
		{
			Platform: "b", Name: "B", Auth: "oauth", APIVersion: &second, LookbackDays: 7, HistoryDays: 400,
			Capabilities: []string{"read_metrics", "read_audiences"}, ConfigFields: []string{}, CredentialFields: credentials,
		},
		{
			Platform: "sandbox", Name: "Sandbox", Auth: "none", Configured: true, LookbackDays: 30, HistoryDays: 400, Scopes: []string{}, WriteScopes: []string{},
			Capabilities: []string{"read_metrics", "push_status", "read_audiences"}, ConfigFields: []string{"seed", "currency", "timezone"}, CredentialFields: []string{},
		},
	}, s.Platforms())
}
