package httpapi_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/asset"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
)

// picture is a small PNG.
func picture(t testing.TB) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 20, 10))
	m.SetGray(3, 3, color.Gray{Y: 200})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// hugePNG is the start of a PNG of 65,536 by 65,536 pixels.
const hugePNG = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01\x00\x00\x00\x01\x00\x00\x08\x06\x00\x00\x00\x6c\x84\x30\xe3"

// uploading uploads bytes as an asset.
func uploading(body string, headers ...string) show {
	return func(s *statusCase) *fanfaretest.Response {
		return s.Do("POST", "/v1/assets", body, append([]string{"Content-Type: application/octet-stream"}, headers...)...)
	}
}

// linkTo creates a link to an asset and returns its path.
func linkTo(t *fanfaretest.Tenant, id string) string {
	t.Service.T.Helper()
	return linkPath(t.Service.T, t.Do("POST", "/v1/assets/"+id+"/link", nil).Want(200))
}

func linkPath(t testing.TB, res *fanfaretest.Response) string {
	t.Helper()
	u, err := url.Parse(res.Record()["url"].(string))
	if err != nil || u.Scheme != "https" || u.Host != "fanfare.test" {
		t.Fatalf("got link %v, %v", u, err)
	}
	return u.Path
}

// TestAssets uploads an image, reads it with the key, and follows a link to it
// without a key.
func TestAssets(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		tenant := w.Tenant(account.Growth)
		res := tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: image/jpeg").Want(201)
		made := res.Record()
		id := made["id"].(string)
		if made["mime_type"] != "image/png" || made["width"] != 20.0 || made["url"] != "/v1/assets/"+id || res.Header.Get("Location") != made["url"] || res.Header.Get("ETag") != "" {
			t.Errorf("got %v, %v", made, res.Header)
		}
		if again := tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: application/octet-stream").Want(201); again.ID() != id {
			t.Errorf("the same bytes: got %s want %s", again.ID(), id)
		}
		link := linkTo(tenant, id)
		anybody := w.Client("")
		for name, get := range map[string]func(method string, headers ...string) *fanfaretest.Response{
			"with the key": func(method string, headers ...string) *fanfaretest.Response {
				return tenant.Do(method, "/v1/assets/"+id, nil, headers...)
			},
			"by the link": func(method string, headers ...string) *fanfaretest.Response {
				return anybody.Do(method, link, nil, headers...)
			},
		} {
			res := get("GET").Want(200)
			if !bytes.HasPrefix(res.Body, []byte("\x89PNG")) || float64(len(res.Body)) != made["bytes"] {
				t.Errorf("%s: got %d bytes", name, len(res.Body))
			}
			for header, want := range map[string]string{
				"Content-Type": "image/png", "ETag": `"` + made["sha256"].(string) + `"`, "Cache-Control": "private, max-age=31536000, immutable",
				"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
			} {
				if got := res.Header.Get(header); got != want {
					t.Errorf("%s: got %s %q want %q", name, header, got, want)
				}
			}
			head := get("HEAD").Want(200)
			if len(head.Body) > 0 || head.Header.Get("Content-Length") != res.Header.Get("Content-Length") {
				t.Errorf("%s: got %d bytes of HEAD, length %s", name, len(head.Body), head.Header.Get("Content-Length"))
			}
			get("GET", "If-None-Match: W/"+res.Header.Get("ETag")).Want(304)
			get("GET", `If-None-Match: "other"`).Want(200)
		}
		tenant.Do("GET", link, nil).Want(200)
		anybody.Do("POST", link, nil).WantError(405, "method_not_allowed")
		anybody.Do("GET", link+"/more", nil).WantError(404, "route_not_found")
		anybody.Do("GET", "/assets", nil).WantError(404, "route_not_found")
		w.Clock.Advance(15 * time.Minute)
		anybody.Do("GET", link, nil).WantError(404, "not_found")
	})
}

// TestAssetDrawing checks that active content of an SVG is removed.
func TestAssetDrawing(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	id := tenant.Do("POST", "/v1/assets", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script><rect width="1"/></svg>`,
		"Content-Type: image/svg+xml; charset=utf-8").Want(201).ID()
	res := tenant.Do("GET", "/v1/assets/"+id, nil, "Accept: image/svg+xml").Want(200)
	if got, want := string(res.Body), `<svg xmlns="http://www.w3.org/2000/svg"><rect width="1"/></svg>`; got != want {
		t.Errorf("got %s want %s", got, want)
	}
}

func TestAssetAccept(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	target := "/v1/assets/" + tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: image/png").Want(201).ID()
	for accept, want := range map[string]int{
		"image/png": 200, "image/*": 200, "*/*": 200, "text/html, */*;q=0.1": 200, "image/avif,image/webp,image/*,*/*;q=0.8": 200, "image/jpeg": 200,
		"text/html": 406, "application/json": 406, "image/*;q=0": 406, "image/webp": 406,
	} {
		res := tenant.Do("GET", target, nil, "Accept: "+accept)
		if res.Status != want {
			t.Errorf("%s: got %d want %d", accept, res.Status, want)
		}
	}
	tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: image/png", "Accept: image/png").WantError(406, "not_acceptable")
}

// TestAssetUploadRefused checks the errors that are found before the bytes are
// read.
func TestAssetUploadRefused(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	e := tenant.Do("POST", "/v1/assets", picture(t)).WantError(415, "unsupported_media_type")
	if allowed, _ := e.Details[0].Meta["allowed"].([]any); len(allowed) != 6 {
		t.Errorf("got %v", e.Details)
	}
	res := tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: image/bmp").Want(415)
	if got := res.Header.Get("Accept-Post"); got != "application/octet-stream, image/png, image/jpeg, image/gif, image/webp, image/svg+xml" {
		t.Errorf("got Accept-Post %q", got)
	}
	tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: image/png", "Content-Encoding: gzip").WantError(415, "unsupported_media_type")
	tenant.Do("POST", "/v1/assets", nil).WantError(422, "validation_failed")
	tenant.Do("POST", "/v1/assets?name=a", picture(t), "Content-Type: image/png").WantError(400, "invalid_parameter")
	e = tenant.Do("POST", "/v1/assets", make([]byte, asset.MaxBytes+1), "Content-Type: image/png").WantError(413, "body_too_large")
	if got := e.Details[0].Meta["limit_bytes"]; got != float64(asset.MaxBytes) || e.Message != "The body is larger than 25 MiB." {
		t.Errorf("got %v, %s", got, e.Message)
	}
	tenant.Do("POST", "/v1/assets", make([]byte, asset.MaxBytes), "Content-Type: image/png").WantError(422, "validation_failed")
	tenant.As(account.Viewer).Do("POST", "/v1/assets", picture(t), "Content-Type: image/png").WantError(403, "insufficient_permissions")
}

// TestAssetOnce repeats an upload and a link, each with one Idempotency-Key.
func TestAssetOnce(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	const key = "Idempotency-Key: once"
	first := tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: image/png", key).Want(201)
	again := tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: image/png", key).Want(201)
	if string(again.Body) != string(first.Body) || again.Header.Get("Idempotency-Replayed") != "true" || again.Header.Get("Location") != first.Header.Get("Location") {
		t.Errorf("got %s, %v", again.Body, again.Header)
	}
	tenant.Do("POST", "/v1/assets", append(picture(t), 0), "Content-Type: image/png", key).WantError(422, "idempotency_key_reused")
	target := "/v1/assets/" + first.ID() + "/link"
	link := tenant.Do("POST", target, `{"expires_in":86400}`, "Idempotency-Key: link").Want(200)
	replayed := tenant.Do("POST", target, `{"expires_in":86400}`, "Idempotency-Key: link").Want(200)
	if string(link.Body) != string(replayed.Body) || replayed.Header.Get("Idempotency-Replayed") != "true" || replayed.Header.Get("ETag") != "" {
		t.Errorf("got %s, %v want %s", replayed.Body, replayed.Header, link.Body)
	}
	if other := tenant.Do("POST", target, `{"expires_in":86400}`).Want(200); string(other.Body) == string(link.Body) {
		t.Error("got the same link without a key")
	}
	tenant.Do("POST", "/v1/assets/ast_01h455vb4pex5vsknk084sn02q/link", `{"expires_in":1}`).WantError(404, "not_found")
}

// TestAssetLinkLives checks that a link works for its whole lifetime, whatever
// happens to the keys that seal it.
func TestAssetLinkLives(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	w := tenant.Service
	id := tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: image/png").Want(201).ID()
	w.Clock.Advance(30*24*time.Hour - time.Hour)
	tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: image/png").Want(201)
	path := linkPath(t, tenant.Do("POST", "/v1/assets/"+id+"/link", `{"expires_in":86400}`).Want(200))
	for range 23 {
		w.Clock.Advance(time.Hour)
		if err := w.App.Keyring.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Client("").Do("GET", path, nil).Want(200)
	}
	w.Clock.Advance(time.Hour)
	w.Client("").Do("GET", path, nil).WantError(404, "not_found")
}

// TestAssetMemory checks that uploads are rejected before they fill the memory,
// that small bodies still pass, and that uploads work again after memory is
// released.
func TestAssetMemory(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	w := tenant.Service
	upload := func() *fanfaretest.Response {
		return tenant.DoWithHeader("POST", "/v1/assets", make([]byte, asset.MaxBytes), http.Header{"Content-Type": {"image/png"}})
	}
	var held []func()
	hold := func(owner string, n int64) {
		t.Helper()
		release, err := w.App.API.HoldUploads(owner, n)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, release)
	}
	for i := range 4 {
		hold(fmt.Sprint("other ", i), 112<<20)
	}
	e := upload().WantError(503, "unavailable")
	if !strings.Contains(e.Message, "overloaded") {
		t.Errorf("got %s", e.Message)
	}
	tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: image/png").Want(201)
	for _, release := range held {
		release()
	}
	// A founder has many workspaces, and a user can be a member of many.
	caller, err := w.App.Keys.Caller(t.Context(), account.HashSecret(tenant.Key))
	if err != nil {
		t.Fatal(err)
	}
	founder, err := w.App.Accounts.Founder(t.Context(), tenant.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range []ident.ID{founder, caller.User.ID} {
		hold(string(owner), 110<<20)
		if e := upload().WantError(429, "rate_limit_exceeded"); e.Details[0].Code != "concurrency" || e.Details[0].Meta["limit_bytes"] != float64(128<<20) {
			t.Errorf("got %+v want that %s sends too much at once", e, owner)
		}
		tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: image/png").Want(201)
		held[len(held)-1]()
	}
	upload().WantError(422, "validation_failed")
	if got := w.App.API.Uploading(); got != 0 {
		t.Errorf("got %d bytes still held", got)
	}
}

// TestAnonymousMemory checks that large bodies of clients that are not signed
// in share a part of the memory, that what is needed to sign in fits beside it,
// and that the memory is released.
func TestAnonymousMemory(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	signIn := func(padding int) int {
		t.Helper()
		body := `{"email":"ada@example.com","password":"guess"}` + strings.Repeat(" ", padding)
		r := httptest.NewRequest(http.MethodPost, "https://fanfare.test/console/api/session", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.ContentLength = -1
		rec := httptest.NewRecorder()
		w.App.Handler.ServeHTTP(rec, r)
		return rec.Code
	}
	if got := signIn(60 << 10); got != http.StatusForbidden {
		t.Errorf("got %d for a large body, want 403", got)
	}
	if got := w.App.API.Uploading(); got != 0 {
		t.Errorf("got %d bytes still held", got)
	}
	if _, err := w.App.API.HoldUploads(httpapi.AnonymousOwner, 128<<20); err != nil {
		t.Fatal(err)
	}
	if got := signIn(60 << 10); got != http.StatusTooManyRequests {
		t.Errorf("got %d for a large body beside others, want 429", got)
	}
	if got := signIn(1 << 10); got != http.StatusForbidden {
		t.Errorf("got %d for a small body beside large ones, want 403", got)
	}
}

// TestStorageFull wants an upload beyond the pictures of a workspace to be
// refused, and one of the same bytes not.
func TestStorageFull(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil, func(c *app.Config) { c.MaxAssetBytes = 64 << 10 })
	tenant := w.Tenant(account.Growth)
	for range 2 {
		tenant.Do("POST", "/v1/assets", picture(t), "Content-Type: image/png").Want(201)
	}
	e := tenant.Do("POST", "/v1/assets", `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>`, "Content-Type: image/svg+xml").WantError(422, "validation_failed")
	if d := e.Details[0]; d.Code != asset.StorageFull || d.Meta["limit_bytes"] != float64(64<<10) || d.Meta["used_bytes"] != float64(64<<10) {
		t.Errorf("got %+v", d)
	}
}
