package httpapi_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/account"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/app"
	"fanfare/internal/asset"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

// show causes the error of an example in the contract.
type show func(s *statusCase) *fanfaretest.Response

func get(target string, headers ...string) show {
	return func(s *statusCase) *fanfaretest.Response { return s.Do("GET", target, nil, headers...) }
}

func post(body string, headers ...string) show {
	return func(s *statusCase) *fanfaretest.Response { return s.Do("POST", "/v1/campaigns", body, headers...) }
}

// on calls an operation on a campaign after some actions.
func on(steps, method, verb, body string, headers ...string) show {
	return func(s *statusCase) *fanfaretest.Response {
		id := create(s.Tenant, `{"name":"One"}`)
		for step := range strings.FieldsSeq(steps) {
			if step == "archive" {
				s.Do("DELETE", "/v1/campaigns/"+id, nil).Want(200)
				continue
			}
			s.Do("POST", "/v1/campaigns/"+id+"/"+step, nil).Want(200)
		}
		var sent any = body
		if body == "" {
			sent = nil
		}
		return s.Do(method, "/v1/campaigns/"+id+verb, sent, headers...)
	}
}

// generating requests the generation of a creative.
func generating(body string, headers ...string) show {
	return func(s *statusCase) *fanfaretest.Response {
		return s.Do("POST", "/v1/creative/generate", body, headers...)
	}
}

// ingesting sends rows of own data.
func ingesting(query, body string, headers ...string) show {
	return func(s *statusCase) *fanfaretest.Response {
		return s.Do("POST", "/v1/ingest/metrics"+query, body, headers...)
	}
}

// querying sends an analytics query.
func querying(body string) show {
	return func(s *statusCase) *fanfaretest.Response { return s.Do("POST", "/v1/analytics/query", body) }
}

// importing calls an operation on an import after one action.
func importing(rows, step, method, verb, body string) show {
	return func(s *statusCase) *fanfaretest.Response {
		target := "/v1/imports/" + s.Do("POST", "/v1/imports", "date,clicks\n"+rows+"\n", "Content-Type: text/csv").Want(201).ID()
		if step != "" {
			s.Do("POST", target+"/"+step, nil).Want(200)
		}
		return s.Do(method, target+verb, body)
	}
}

// connecting connects a platform.
func connecting(body string) show {
	return func(s *statusCase) *fanfaretest.Response { return s.Do("POST", "/v1/connections", body) }
}

// connected calls an operation on a sandbox connection after some actions.
func connected(step, method, verb, body string) show {
	return func(s *statusCase) *fanfaretest.Response {
		id := connect(s.Tenant, "sandbox")
		switch step {
		case "disconnect":
			s.Do("DELETE", "/v1/connections/"+id, nil).Want(200)
		case "lose":
			cause := record.Cause{Workspace: s.Workspace, Actor: record.System}
			if _, _, err := s.Service.App.Connections.Lost(s.Service.T.Context(), cause, ident.ID(id)); err != nil {
				s.Service.T.Fatal(err)
			}
		case "revoke":
			if err := s.Service.Sandbox().AddFault(sandbox.FaultRule{Fault: sandbox.FaultRevokedToken}); err != nil {
				s.Service.T.Fatal(err)
			}
			s.Sync(id)
			s.Service.Sandbox().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodDelete, "/_sandbox/faults", nil))
		}
		return s.Do(method, "/v1/connections/"+id+verb, body)
	}
}

// members changes the members of a new audience.
func members(audience, change string) show {
	return func(s *statusCase) *fanfaretest.Response {
		id := s.Do("POST", "/v1/audiences", audience).Want(201).ID()
		return s.Do("POST", "/v1/audiences/"+id+"/members", change)
	}
}

// shows maps each example to the calls that cause its error.
var shows = map[string]show{
	"malformed_request":        get("/v1/me?a=%zz"),
	"malformed_json":           post(`{"name":`),
	"duplicate_key":            post(`{"name":"One","name":"Two"}`),
	"unknown_parameter":        get("/v1/campaigns?stauts=active"),
	"no_parameters_here":       get("/v1/me?expand=1"),
	"limit_out_of_range":       get("/v1/campaigns?limit=500"),
	"invalid_range":            get("/v1/campaigns?start_date=2026-11-01&end_date=2026-10-01"),
	"invalid_cursor":           get("/v1/campaigns?cursor=nonsense"),
	"cursor_query_mismatch":    mismatch,
	"invalid_idempotency_key":  post(`{"name":"One"}`, "Idempotency-Key: two words"),
	"missing_api_key":          get("/v1/me", "Authorization:"),
	"invalid_api_key":          get("/v1/me", "Authorization: Bearer "+account.NewSecret(rand.Reader)),
	"api_key_expired":          expired,
	"api_key_revoked":          revoked,
	"api_key_owner_inactive":   inactive,
	"insufficient_permissions": viewing,
	"insufficient_scope":       narrowed,
	"workspace_suspended":      suspended,
	"not_found":                get("/v1/campaigns/cmp_01h455vb4pex5vsknk084sn02q"),
	"not_acceptable":           get("/v1/me", "Accept: text/html"),
	"already_active":           on("launch", "POST", "/launch", ""),
	"not_active":               on("", "POST", "/pause", ""),
	"not_paused":               on("launch", "POST", "/resume", ""),
	"not_archived":             on("", "POST", "/restore", ""),
	"immutable_field":          on("launch", "PATCH", "", `{"objective":"sales"}`),
	"archived":                 on("archive", "PATCH", "", `{"name":"Two"}`),
	"idempotency_in_progress": func(s *statusCase) *fanfaretest.Response {
		return provoke[409](s, fanfaretest.TheContract().Operations()["createCampaign"])
	},
	"body_timeout": func(s *statusCase) *fanfaretest.Response {
		return provoke[408](s, fanfaretest.TheContract().Operations()["createCampaign"])
	},
	"precondition_failed":    on("", "PATCH", "", `{"name":"Two"}`, `If-Match: "9"`),
	"body_too_large":         post(strings.Repeat(" ", 1<<20+1)),
	"unsupported_media_type": post(`{"name":"One"}`, "Content-Type: text/plain"),
	"unsupported_patch_type": on("", "PATCH", "", `{"name":"Two"}`, "Content-Type: text/plain"),
	"validation_failed":      post(`{"budget":{"type":"daily","amount":0}}`),
	"unknown_field":          post(`{"name":"One","chanels":[]}`),
	"read_only_field":        post(`{"name":"One","status":"active"}`),
	"end_already_past": func(s *statusCase) *fanfaretest.Response {
		id := create(s.Tenant, `{"name":"One","schedule":{"end_at":"2026-11-01T00:00:00Z"}}`)
		return s.Do("POST", "/v1/campaigns/"+id+"/launch", nil)
	},
	"unknown_audience": func(s *statusCase) *fanfaretest.Response {
		return s.Do("POST", "/v1/audiences", `{"name":"One","type":"lookalike","definition":{"seed_audience_id":"aud_01h455vb4pex5vsknk084sn02q","size_percent":1}}`)
	},
	"raw_member":             members(`{"name":"One","type":"customer_list"}`, `{"add":["ada@example.com"]}`),
	"no_customer_list":       members(`{"name":"One"}`, `{"add":[]}`),
	"no_options_here":        on("launch", "POST", "/pause", `{"reason":"tired"}`),
	"name_too_long":          on("", "POST", "/duplicate", `{"name":"`+strings.Repeat("x", 201)+`"}`),
	"idempotency_key_reused": reused,
	"rate_limited_minute":    limited(account.Starter),
	"rate_limited_day":       limited(account.Enterprise),
	"rate_limited_concurrency": func(s *statusCase) *fanfaretest.Response {
		s.plan(account.Starter)
		arrived, release := s.engine.hold()
		defer release()
		busy := make(chan struct{})
		go func() { s.Do("POST", "/v1/campaigns", `{"name":"One"}`); close(busy) }()
		<-arrived
		res := s.Do("GET", "/v1/me", nil)
		release()
		<-busy
		return res
	},
	"rate_limited_ip": func(s *statusCase) *fanfaretest.Response {
		stranger := s.Service.Client("")
		stranger.From = "198.51.100.9:1"
		for range ratelimit.FailuresPerMinute {
			stranger.Do("GET", "/v1/me", nil).Want(401)
		}
		return stranger.Do("GET", "/v1/me", nil)
	},
	"unknown_asset": func(s *statusCase) *fanfaretest.Response {
		return s.Do("POST", "/v1/creative", `{"name":"One","type":"image","content":{"media":[{"asset_id":"ast_01h455vb4pex5vsknk084sn02q"}]}}`)
	},
	"unknown_channel":         generating(`{"prompt":"Tea","channels":["serch"]}`),
	"provider_not_configured": generating(`{"prompt":"Tea","provider":"openai"}`),
	"language_mismatch":       generating(`{"prompt":"Oat milk latte for students, 20% off until Sunday","language":"de"}`),
	"content_rejected":        generating(`{"prompt":"Buy untraceable ghost guns online"}`),
	"brief_not_understood":    generating(`{"prompt":"make it punchy please"}`),
	"still_generating": func(s *statusCase) *fanfaretest.Response {
		id := generating(`{"prompt":"Tea","type":"image"}`, "Prefer: respond-async")(s).Want(202).ID()
		return s.Do("PATCH", "/v1/creative/"+id, `{"content":{"headline":"Tea"}}`)
	},
	"variant_policy_blocked": func(s *statusCase) *fanfaretest.Response {
		return s.Do("PATCH", "/v1/variants/"+secondVariant(s.Tenant), `{"content":{"by_channel":{"social":{"primary_text":"Cures cancer."}}}}`)
	},
	"no_alternative": func(s *statusCase) *fanfaretest.Response {
		made := generating(`{"brief":{"product":"绿茶","benefits":["手工采摘"]},"variants":1}`)(s).Want(201).Record()
		return s.Do("POST", "/v1/variants/"+made["primary_variant_id"].(string)+"/regenerate", `{"field":"content.by_channel.social.headlines[0]"}`)
	},
	"last_variant": func(s *statusCase) *fanfaretest.Response {
		made := generating(`{"prompt":"Tea","variants":1}`)(s).Want(201).Record()
		return s.Do("POST", "/v1/variants/"+made["primary_variant_id"].(string)+"/reject", nil)
	},
	"not_failed": func(s *statusCase) *fanfaretest.Response {
		id := generating(`{"prompt":"Tea"}`)(s).Want(201).ID()
		return s.Do("POST", "/v1/creative/"+id+"/retry", nil)
	},
	"not_a_picture":          uploading("hello"),
	"too_many_pixels":        uploading(hugePNG),
	"asset_too_large":        uploading(strings.Repeat("x", asset.MaxBytes+1)),
	"unsupported_asset_type": uploading("hello", "Content-Type: text/plain"),
	"link_not_found":         get("/assets/AQ3vXk9TqLw2mZr7YpN0dGfHs5uJcBe8iKoRt1WyUaVxMhPlQzEnS4gDb6FjCkIwOt_Xr-2LmA8"),
	"feed_too_large":         ingesting("", strings.Repeat(" ", 10<<20+1)),
	"unsupported_feed_type":  ingesting("", "[]", "Content-Type: text/plain"),
	"wrong_rows":             ingesting("?atomic=true", `[{"date":"2026-11-14","clicks":1},{"date":"2026-11-13","clicks":-1}]`),
	"replace_without_days":   ingesting("?mode=replace", "[]"),
	"unsupported_import_type": func(s *statusCase) *fanfaretest.Response {
		return s.Do("POST", "/v1/imports", "Day,Clicks\n", "Content-Type: text/plain")
	},
	"unreadable_file": func(s *statusCase) *fanfaretest.Response {
		return s.Do("POST", "/v1/imports", "\n\n", "Content-Type: text/csv")
	},
	"import_committed_already": importing("2026-11-14,1", "commit", "PATCH", "", `{"mode":"replace"}`),
	"import_has_errors":        importing("2026-11-14,1\n2026-11-13,one\n2026-11-12,two\n2026-11-11,three", "", "POST", "/commit", "{}"),
	"import_not_committed":     importing("2026-11-14,1", "", "POST", "/undo", "{}"),
	"report_range":             get("/v1/analytics/overview?start_date=2026-11-10&end_date=2026-11-01"),
	"unknown_metric":           querying(`{"metrics":["spent"]}`),
	"incompatible_dimensions":  querying(`{"metrics":["spend"],"dimensions":["country","device"]}`),
	"result_expired": func(s *statusCase) *fanfaretest.Response {
		ingesting("", `[{"date":"2026-11-14","clicks":1},{"date":"2026-11-13","clicks":1}]`)(s).Want(200)
		cursor := *querying(`{"metrics":["clicks"],"granularity":"day","limit":1}`)(s).Want(200).List().NextCursor
		s.Service.Clock.Advance(16 * time.Minute)
		return querying(`{"cursor":"` + cursor + `"}`)(s)
	},
	"query_too_broad": func(s *statusCase) *fanfaretest.Response {
		var rows []string
		for i := range 100 {
			rows = append(rows, fmt.Sprintf(`{"date":"2026-11-14","campaign_name":"%d","clicks":1}`, i))
		}
		ingesting("", "["+strings.Join(rows, ",")+"]")(s).Want(200)
		return querying(`{"metrics":["clicks"],"dimensions":["campaign_id"],"granularity":"day","date_range":{"preset":"lifetime"}}`)(s)
	},
	"platform_not_configured": connecting(`{"platform":"google_ads","name":"One"}`),
	"credentials_refused":     connecting(`{"platform":"meta_ads","name":"One","credentials":{"access_token":"EAAB-example"}}`),
	"upstream_error": func(s *statusCase) *fanfaretest.Response {
		s.Service.DisconnectPlatforms(true)
		defer s.Service.DisconnectPlatforms(false)
		return connecting(`{"platform":"meta_ads","name":"One","credentials":{"access_token":"EAAB-example"}}`)(s)
	},
	"connection_exists": func(s *statusCase) *fanfaretest.Response {
		connecting(`{"platform":"sandbox","name":"Northwind"}`)(s).Want(201)
		return connecting(`{"platform":"sandbox","name":"Northwind"}`)(s)
	},
	"connection_archived":        connected("disconnect", "PATCH", "", `{"name":"Two"}`),
	"unknown_account":            connected("", "PATCH", "", `{"accounts":[{"external_id":"1","enabled":false}]}`),
	"data_being_read_again":      connected("lose", "PATCH", "", `{"data_lost_at":null}`),
	"data_lost_set":              connected("", "PATCH", "", `{"data_lost_at":"2026-11-15T09:14:07.512Z"}`),
	"connection_gone":            connected("disconnect", "POST", "/sync", "{}"),
	"connection_reauth_required": connected("revoke", "POST", "/sync", "{}"),
	"backfill_without_days":      connected("", "POST", "/sync", `{"mode":"backfill"}`),
	"unknown_entity":             connected("", "POST", "/links", `{"links":[{"kind":"campaign","external_id":"1","record_id":null}]}`),
	"sync_over": func(s *statusCase) *fanfaretest.Response {
		target := "/v1/syncs/" + firstRun(s.Tenant) + "/cancel"
		s.Do("POST", target, nil).Want(200)
		return s.Do("POST", target, nil)
	},
	"internal_error": broken("/v1/campaigns", fmt.Errorf("bug")),
	"unavailable":    broken("/v1/campaigns", store.ErrUnavailable),
	"not_ready":      broken("/readyz", store.ErrUnavailable),
	"timeout":        broken("/v1/campaigns", context.DeadlineExceeded),
}

func broken(target string, err error) show {
	return func(s *statusCase) *fanfaretest.Response {
		s.Do("GET", "/v1/me", nil).Want(200)
		s.engine.fail(err, err)
		defer s.engine.fail(nil, nil)
		return s.Do("GET", target, nil)
	}
}

func limited(plan account.Plan) show {
	return func(s *statusCase) *fanfaretest.Response {
		s.Do("GET", "/v1/me", nil).Want(200)
		s.plan(plan)
		return s.Do("GET", "/v1/me", nil)
	}
}

func mismatch(s *statusCase) *fanfaretest.Response {
	three(s.Tenant)
	cursor := *s.Do("GET", "/v1/campaigns?limit=1", nil).Want(200).List().NextCursor
	return s.Do("GET", "/v1/campaigns?status=active&cursor="+cursor, nil)
}

func reused(s *statusCase) *fanfaretest.Response {
	post(`{"name":"One"}`, "Idempotency-Key: k")(s).Want(201)
	return post(`{"name":"Two"}`, "Idempotency-Key: k")(s)
}

func viewing(s *statusCase) *fanfaretest.Response {
	return s.As(account.Viewer).Do("POST", "/v1/campaigns", `{"name":"One"}`)
}

func narrowed(s *statusCase) *fanfaretest.Response {
	narrow := s.As(account.Editor, func(o *account.KeyOptions) { o.Scopes = account.Scopes{"campaigns": account.Read} })
	return narrow.Do("POST", "/v1/campaigns", `{"name":"One"}`)
}

func suspended(s *statusCase) *fanfaretest.Response {
	s.suspend(true)
	return s.Do("GET", "/v1/me", nil)
}

func expired(s *statusCase) *fanfaretest.Response {
	c := s.As(account.Viewer, func(o *account.KeyOptions) { o.Lifetime = time.Hour })
	s.Service.Clock.Advance(time.Hour)
	return c.Do("GET", "/v1/me", nil)
}

func revoked(s *statusCase) *fanfaretest.Response {
	w := s.Service
	keys, err := w.App.Accounts.Keys(context.Background(), s.Workspace)
	if err == nil {
		_, err = w.App.Accounts.Revoke(context.Background(), fanfaretest.Operator, s.Workspace, keys[0].ID, "lost")
	}
	if err != nil {
		w.T.Fatal(err)
	}
	return s.Do("GET", "/v1/me", nil)
}

func inactive(s *statusCase) *fanfaretest.Response {
	w := s.Service
	c := s.As(account.Viewer)
	members, err := w.App.Accounts.Members(context.Background(), s.Workspace)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, m := range members {
		if m.Role == account.Viewer {
			if _, err := w.App.Accounts.Remove(context.Background(), fanfaretest.Operator, s.Workspace, m.Email); err != nil {
				w.T.Fatal(err)
			}
		}
	}
	return c.Do("GET", "/v1/me", nil)
}

// TestContractErrorExamples checks that the service returns the contract's
// error examples word for word.
func TestContractErrorExamples(t *testing.T) {
	t.Parallel()
	w, engine := newFaultyService(t, fanfaretest.SQLite, func(c *app.Config) {
		c.Limits = map[account.Plan]ratelimit.Limits{account.Starter: {PerMinute: 1, InFlight: 1}, account.Growth: {}, account.Enterprise: {PerDay: 1}}
		delete(c.OAuth, "google_ads")
	})
	found := 0
	for _, name := range exampleNames() {
		want := exampleOf(t, name)
		fault, isError := want["error"].(map[string]any)
		if !isError {
			continue
		}
		found++
		t.Run(name, func(t *testing.T) {
			if shows[name] == nil {
				t.Fatal("the contract shows this error and nobody knows how to provoke it")
			}
			w.T = t
			res := shows[name](&statusCase{w.Tenant(account.Growth), engine})
			if want := fanfaretest.TheContract().Codes[fault["code"].(string)]; res.Status != want {
				t.Errorf("got status %d want %d", res.Status, want)
			}
			masks := exampleMasks
			if strings.HasPrefix(name, "rate_limited_") {
				masks = append(slices.Clone(masks), mask{regexp.MustCompile(`\d+`), "0"})
			}
			if diff := cmp.Diff(masked(t, want, masks), masked(t, res.Body, masks)); diff != "" {
				t.Errorf("the example is not what the service returns (-contract +service):\n%s\n%s", diff, res.Body)
			}
		})
	}
	if found != len(shows) {
		t.Errorf("got %d examples of errors in the contract, want the %d that are provoked here", found, len(shows))
	}
}
