package httpapi_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
)

const (
	// async is the header of callers who do not wait.
	async = "Prefer: respond-async"
	// smallPicture is a request whose work a job does.
	smallPicture = `{"prompt":"Mountain tea","type":"image","variants":1,"sizes":["320x50"]}`
	// unreadable is a request that fails: no font has the script.
	unreadable = `{"brief":{"product":"绿茶","benefits":["手工采摘","春天的味道"]},"provider":"composer","type":"image","sizes":["320x50"]}`
)

func generate(c *fanfaretest.Tenant, body any, headers ...string) *fanfaretest.Response {
	return c.Do("POST", "/v1/creative/generate", body, headers...)
}

// runGeneration does the work of a creative, as its job does.
func runGeneration(t testing.TB, c *fanfaretest.Tenant, id string) {
	t.Helper()
	c.Service.Clock.Advance(time.Millisecond)
	if err := c.Service.App.Creatives.Run(t.Context(), c.Workspace, ident.ID(id)); err != nil {
		t.Fatal(err)
	}
}

// runJobs runs the background jobs until the test ends.
func runJobs(t testing.TB, c *fanfaretest.Tenant) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Service.App.Jobs.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func equal(t testing.TB, what string, wanted, got any) {
	t.Helper()
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// headers returns the values of headers.
func headers(res *fanfaretest.Response, names ...string) (values []string) {
	for _, name := range names {
		values = append(values, res.Header.Get(name))
	}
	return values
}

// TestGenerationHeaders checks the headers of finished and unfinished work
// (W9).
func TestGenerationHeaders(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	names := []string{"Location", "ETag", "Retry-After", "Preference-Applied"}
	text := generate(c, `{"prompt":"Mountain tea"}`).Want(201)
	equal(t, "text", []string{"/v1/creative/" + text.ID(), `"1.0"`, "", ""}, headers(text, names...))
	picture := generate(c, smallPicture, async).Want(202)
	target := "/v1/creative/" + picture.ID()
	equal(t, "a picture", []string{target, `"1.0"`, "2", "respond-async"}, headers(picture, names...))
	equal(t, "while generating", []string{"", `"1.0"`, "2", ""}, headers(c.Do("GET", target, nil).Want(200), names...))
	runGeneration(t, c, picture.ID())
	ready := c.Do("GET", target, nil).Want(200)
	equal(t, "once ready", []string{"", `"2.0"`, "", ""}, headers(ready, names...))
	media := ready.Record()["content"].(map[string]any)["media"].([]any)[0].(map[string]any)
	file := c.Do("GET", media["url"].(string), nil, "Accept: */*").Want(200)
	equal(t, "type and size of the picture", []any{media["mime_type"], media["bytes"]}, []any{file.Header.Get("Content-Type"), float64(len(file.Body))})
}

// TestVariantPages reads the variants of a creative page by page.
func TestVariantPages(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	target := "/v1/creative/" + generate(c, `{"prompt":"Mountain tea, 20% off until Sunday, for students. Rated 4.8 by 2,000 customers. It brews in two minutes. Hand-picked in Nepal. Free delivery on every order.","variants":3}`).Want(201).ID() + "/variants"
	// How many variants the brief gives depends on the seed, at least two.
	n := float64(len(c.Do("GET", target, nil).Want(200).List().Data))
	first := c.Do("GET", target+"?limit=1&sort=position&order=desc", nil).Want(200).List()
	second := c.Do("GET", target+"?limit=1&cursor="+*first.NextCursor, nil).Want(200).List()
	var positions []any
	for _, v := range append(first.Data, second.Data...) {
		positions = append(positions, v["position"])
	}
	equal(t, "positions on two pages", []any{n, n - 1}, positions)
	c.Do("GET", "/v1/creative/crv_01h455vb4pex5vsknk084sn02q/variants", nil).WantError(404, "not_found")
}

// TestViewersDoNotApprove checks that an approval needs the right to change.
func TestViewersDoNotApprove(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	target := "/v1/creative/" + generate(c, `{"prompt":"Mountain tea"}`).Want(201).ID()
	c.As(account.Viewer).Do("PATCH", target, `{"approval":{"status":"approved"}}`).WantError(403, "insufficient_permissions")
	by := c.As(account.Editor).Do("PATCH", target, `{"approval":{"status":"approved"}}`).Want(200).Record()["approval"].(map[string]any)["by"].(map[string]any)
	if by["type"] != "api_key" || by["id"] == nil {
		t.Errorf("got by %v want the key", by)
	}
}

// TestPreferences checks the Prefer header (RFC 7240).
func TestPreferences(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	for _, tt := range []struct{ prefer, applied string }{
		{"respond-async", "respond-async"},
		{"wait=0", "wait=0"},
		{"Respond-Async, wait=30", "respond-async"},
		{"wait=30, respond-async", "respond-async"},
		{`handling=lenient, wait="0"`, "wait=0"},
		{"wait=0, wait=20", "wait=0"},
	} {
		res := generate(c, smallPicture, "Prefer: "+tt.prefer).Want(202)
		equal(t, "Preference-Applied of "+tt.prefer, tt.applied, res.Header.Get("Preference-Applied"))
	}
	runJobs(t, c)
	for _, tt := range []struct{ prefer, applied string }{
		{"wait=30", "wait=30"}, {"wait=600", "wait=30"}, {"wait=99999999999999999999, wait=25", "wait=25"}, {"wait=-1, wait=20", "wait=20"}, {"wait = 30", "wait=30"},
	} {
		res := generate(c, smallPicture, "Prefer: "+tt.prefer).Want(201)
		equal(t, "status and Preference-Applied of "+tt.prefer, []any{"ready", tt.applied, ""},
			[]any{res.Record()["status"], res.Header.Get("Preference-Applied"), res.Header.Get("Retry-After")})
		equal(t, "the record of "+tt.prefer, c.Do("GET", "/v1/creative/"+res.ID(), nil).Want(200).Record(), res.Record())
	}
	// Text is there at once, whatever is preferred.
	res := generate(c, `{"prompt":"Mountain tea"}`, async).Want(201)
	equal(t, "status of text", any("ready"), res.Record()["status"])
}

// TestIdempotentGeneration checks that a repeated request gets the same
// response as the first one, also if the first one waited for the result.
func TestIdempotentGeneration(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	again := func(what string, first *fanfaretest.Response, body string, sent ...string) {
		t.Helper()
		res := generate(c, body, sent...).Want(first.Status)
		equal(t, what+": body", string(first.Body), string(res.Body))
		equal(t, what+": replayed", "true", res.Header.Get("Idempotency-Replayed"))
		equal(t, what+": headers", headers(first, "Location", "Retry-After", "ETag"), headers(res, "Location", "Retry-After", "ETag"))
	}
	text := generate(c, `{"prompt":"Mountain tea"}`, "Idempotency-Key: text").Want(201)
	again("text", text, `{"prompt":"Mountain tea"}`, "Idempotency-Key: text")
	failed := generate(c, `{"prompt":"Tea","brand":{"banned_words":["tea"]},"provider":"composer"}`, "Idempotency-Key: failed").Want(201)
	again("a failure", failed, `{"prompt":"Tea","brand":{"banned_words":["tea"]},"provider":"composer"}`, "Idempotency-Key: failed")
	later := generate(c, smallPicture, async, "Idempotency-Key: later").Want(202)
	again("while generating", later, smallPicture, async, "Idempotency-Key: later")
	runGeneration(t, c, later.ID())
	again("once ready", later, smallPicture, async, "Idempotency-Key: later")
	generate(c, `{"prompt":"Another"}`, "Idempotency-Key: later").WantError(422, "idempotency_key_reused")
	runJobs(t, c)
	waited := generate(c, smallPicture, "Prefer: wait=30", "Idempotency-Key: waited").Want(201)
	again("what was waited for", waited, smallPicture, "Prefer: wait=30", "Idempotency-Key: waited")
	c.Do("PATCH", "/v1/creative/"+waited.ID(), `{"name":"Another"}`).Want(200)
	again("after a change", waited, smallPicture, "Idempotency-Key: waited")
	equal(t, "creatives", 4, len(c.Do("GET", "/v1/creative?status=all", nil).Want(200).List().Data))
}

// TestIdempotentRetry checks that each retry has its own response.
func TestIdempotentRetry(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	id := generate(c, unreadable, async).Want(202).ID()
	runGeneration(t, c, id)
	target := "/v1/creative/" + id
	first := c.Do("POST", target+"/retry", nil, async, "Idempotency-Key: one").Want(202)
	res := c.Do("POST", target+"/retry", nil, async, "Idempotency-Key: one").Want(202)
	equal(t, "the same key", string(first.Body), string(res.Body))
	equal(t, "replayed", "true", res.Header.Get("Idempotency-Replayed"))
	c.Do("POST", target+"/retry", nil, async, "Idempotency-Key: two").WantError(409, "invalid_state")
	runJobs(t, c)
	for c.Do("GET", target, nil).Want(200).Record()["status"] == "generating" {
		if t.Context().Err() != nil {
			t.Fatal("the generation did not end")
		}
	}
	waited := c.Do("POST", target+"/retry", nil, "Prefer: wait=30", "Idempotency-Key: two").Want(200)
	equal(t, "status", any("failed"), waited.Record()["status"])
	res = c.Do("POST", target+"/retry", nil, "Idempotency-Key: two").Want(200)
	equal(t, "the answer that was waited for", string(waited.Body), string(res.Body))
	equal(t, "Location of a retry", "", res.Header.Get("Location"))
}
