package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/account"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/fanfaretest"
)

// exampleNames returns the names of the contract's examples in order.
func exampleNames() []string {
	return slices.Sorted(maps.Keys(fanfaretest.TheContract().Doc.Components.Examples))
}

// exampleOf returns an example of the contract, nil if it is not an object.
func exampleOf(t testing.TB, name string) map[string]any {
	t.Helper()
	v, _ := masked(t, fanfaretest.TheContract().Doc.Components.Examples[name].Value.Value, nil).(map[string]any)
	return v
}

// mask replaces what differs between two services.
type mask struct {
	pattern     *regexp.Regexp
	replacement string
}

// exampleMasks hide ids, times and the address of the service.
var exampleMasks = []mask{
	{regexp.MustCompile(`\b[a-z]{2,4}_[0-9a-z]{26}\b`), "id"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`), "time"},
	{regexp.MustCompile(`https://(localhost:8443|fanfare\.test)/`), "/"},
}

// masked returns a value, or JSON, as decoded JSON with the masks applied.
func masked(t testing.TB, v any, masks []mask) (decoded any) {
	t.Helper()
	raw, ok := v.([]byte)
	if !ok {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range masks {
		raw = m.pattern.ReplaceAll(raw, []byte(m.replacement))
	}
	if err := json.Unmarshal(raw, &decoded); err != nil {
		t.Fatalf("read %s: %v", raw, err)
	}
	return decoded
}

// stated returns the parts of a value that describe problems: the delivery of
// campaigns, and all other objects with a message.
func stated(v any) (list []any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["message"].(string); ok {
			return []any{v}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name == "delivery" {
				list = append(list, v[name])
				continue
			}
			list = append(list, stated(v[name])...)
		}
	case []any:
		for _, item := range v {
			list = append(list, stated(item)...)
		}
	}
	return list
}

// request returns the body of an example.
func request(name string) any {
	return fanfaretest.TheContract().Doc.Components.Examples[name].Value.Value
}

// winterSale creates the campaign of most examples and performs some actions on
// it. It returns the last response.
func winterSale(actions ...string) show {
	return func(s *statusCase) *fanfaretest.Response {
		res := s.Do("POST", "/v1/campaigns", request("create_full")).Want(201)
		target := "/v1/campaigns/" + res.ID()
		for _, action := range actions {
			switch action {
			case "update":
				res = s.Do("PATCH", target, request("patch_budget")).Want(200)
			case "wait":
				// The campaign has started.
				s.Service.Clock.Advance(16 * 24 * time.Hour)
			case "archive":
				res = s.Do("DELETE", target, nil).Want(200)
			case "duplicate":
				res = s.Do("POST", target+"/duplicate", request("duplicate_named")).Want(201)
			default:
				res = s.Do("POST", target+"/"+action, nil).Want(200)
			}
		}
		return res
	}
}

// newsletter creates the campaign with nothing but a name.
func newsletter(s *statusCase) *fanfaretest.Response {
	return s.Do("POST", "/v1/campaigns", request("create_minimal")).Want(201)
}

// states maps each example that describes problems, or that there are none, to
// the calls that return it.
var states = map[string]show{
	"campaign_created":         winterSale(),
	"campaign_created_minimal": newsletter,
	"campaign_updated":         winterSale("update"),
	"campaign_active":          winterSale("update", "wait", "launch"),
	"campaign_launch_preview": func(s *statusCase) *fanfaretest.Response {
		return s.Do("POST", "/v1/campaigns/"+newsletter(s).ID()+"/launch", request("launch_validate_only")).Want(200)
	},
	"campaign_paused":   winterSale("update", "wait", "launch", "pause"),
	"campaign_archived": winterSale("update", "wait", "launch", "pause", "archive"),
	"campaign_copy":     winterSale("update", "wait", "duplicate"),
	"campaign_page": func(s *statusCase) *fanfaretest.Response {
		newsletter(s)
		return s.Do("GET", "/v1/campaigns", nil).Want(200)
	},
	"bulk_result": func(s *statusCase) *fanfaretest.Response {
		change := map[string]any{"budget": map[string]any{"percent": 10}}
		return s.Do("POST", "/v1/campaigns/bulk", map[string]any{"ids": []string{winterSale()(s).ID(), newsletter(s).ID()}, "change": change}).Want(200)
	},
	"event_read": func(s *statusCase) *fanfaretest.Response {
		s.Do("POST", "/v1/campaigns/"+newsletter(s).ID()+"/launch", nil).Want(200)
		event := s.Do("GET", "/v1/events?type=campaign.launched", nil).Want(200).List().Data[0]["id"].(string)
		return s.Do("GET", "/v1/events/"+event, nil).Want(200)
	},
	"audience_insights": func(s *statusCase) *fanfaretest.Response {
		id := s.Do("POST", "/v1/audiences", customerList).Want(201).ID()
		return s.Do("GET", "/v1/audiences/"+id+"/insights", nil).Want(200)
	},
	"call_plan": func(s *statusCase) *fanfaretest.Response {
		id := withToken(s, sandbox.GoogleAds, sandbox.BehaviorRule{Platform: sandbox.GoogleAds, Switch: sandbox.BehaviorAccounts, Value: "20"})
		return s.Do("GET", "/v1/connections/"+id+"/call-plan", nil).Want(200)
	},
	"check_report": func(s *statusCase) *fanfaretest.Response {
		id := withToken(s, sandbox.LinkedInAds)
		if err := s.Service.Sandbox().AddFault(sandbox.FaultRule{Platform: sandbox.LinkedInAds, Path: "adAnalytics", Fault: sandbox.FaultAccountDisabled}); err != nil {
			s.Service.T.Fatal(err)
		}
		defer s.Service.Sandbox().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodDelete, "/_sandbox/faults", nil))
		return s.Do("POST", "/v1/connections/"+id+"/check", nil).Want(200)
	},
	"ingested_partly": ingesting("", `[{"date":"2026-11-14","clicks":1},{"date":"2026-11-13","clicks":-1}]`),
}

// withToken connects an account of a platform with a token while the sandbox shows
// some behaviors.
func withToken(s *statusCase, platform string, behaviors ...sandbox.BehaviorRule) string {
	granted, err := s.Service.Sandbox().Grant(sandbox.AccountSet{Seed: 7, Currency: "EUR", Timezone: "Europe/Berlin"})
	for _, b := range behaviors {
		err = errors.Join(err, s.Service.Sandbox().TurnOn(b))
	}
	defer s.Service.Sandbox().TurnAllOff()
	if err != nil {
		s.Service.T.Fatal(err)
	}
	return connecting(fmt.Sprintf(`{"platform":%q,"name":"One","credentials":{"access_token":%q}}`, platform, granted[platform].AccessToken))(s).Want(201).ID()
}

// TestContractStatedExamples checks that the service returns the delivery, the
// warnings and the problems in the contract's examples word for word.
func TestContractStatedExamples(t *testing.T) {
	t.Parallel()
	w, engine := newFaultyService(t, fanfaretest.SQLite)
	for _, name := range exampleNames() {
		want := exampleOf(t, name)
		if want["error"] != nil || len(stated(want)) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if name == "creative_failed" || name == "creative_fallback" {
				checkFailedExample(t, stated(want))
				return
			}
			if states[name] == nil {
				t.Fatal("the contract shows this and nobody knows how to get it")
			}
			w.T = t
			res := states[name](&statusCase{w.Tenant(account.Growth), engine})
			if diff := cmp.Diff(stated(masked(t, want, exampleMasks)), stated(masked(t, res.Body, exampleMasks))); diff != "" {
				t.Errorf("the example is not what the service returns (-contract +service):\n%s\n%s", diff, res.Body)
			}
		})
	}
}

// checkFailedExample checks the failure of a creative whose provider cannot be
// reached. It compares texts, because the service waits between its attempts to
// reach a provider.
func checkFailedExample(t *testing.T, problems []any) {
	source, err := os.ReadFile("../llm/retry.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if text := p.(map[string]any)["message"].(string); !strings.Contains(string(source), `"`+text+`"`) {
			t.Errorf("the service never sends %q", text)
		}
	}
}
