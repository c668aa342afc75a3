package guard_test

import (
	"net/url"
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// TestAssetsApart has two tenants with the same picture: neither can detect the
// other's, a link opens only its own asset, and cursors and links, which are
// sealed with the same keys, are not interchangeable.
func TestAssetsApart(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		a, b, anybody := w.Tenant(account.Growth), w.Tenant(account.Growth), w.Client("")
		upload := func(c *fanfaretest.Tenant, text string) map[string]any {
			return c.Do("POST", "/v1/assets", mediaBody{"image/svg+xml", text}.bytes(), "Content-Type: image/svg+xml").Want(201).Record()
		}
		theirs := upload(b, "the same")
		ours := upload(a, "the same")
		if ours["id"] == theirs["id"] || ours["sha256"] != theirs["sha256"] {
			t.Errorf("got %v and %v", ours, theirs)
		}
		foreign := "/v1/assets/" + theirs["id"].(string)
		tag := `If-None-Match: "` + theirs["sha256"].(string) + `"`
		a.Do("GET", foreign, nil).WantError(404, "not_found")
		a.Do("GET", foreign, nil, tag).WantError(404, "not_found")
		a.Do("HEAD", foreign, nil).Want(404)
		a.Do("POST", foreign+"/link", nil).WantError(404, "not_found")

		secret := upload(b, "secret "+string(b.Workspace))
		link := func(c *fanfaretest.Tenant, id any) string {
			made := c.Do("POST", "/v1/assets/"+id.(string)+"/link", nil).Want(200).Record()
			u, err := url.Parse(made["url"].(string))
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimPrefix(u.Path, "/assets/")
		}
		own, other := link(a, ours["id"]), link(b, secret["id"])
		if got := anybody.Do("GET", "/assets/"+own, nil).Want(200); strings.Contains(string(got.Body), "secret") {
			t.Errorf("got %s", got.Body)
		}
		// No combination of two links is valid.
		for i := 1; i < len(own); i++ {
			// If they share a beginning or an end, the combination can equal
			// one of them.
			if mixed := own[:i] + other[i:]; mixed != own && mixed != other {
				anybody.Do("GET", "/assets/"+mixed, nil).WantError(404, "not_found")
			}
		}
		for range 2 {
			a.Do("POST", "/v1/campaigns", `{"name":"One"}`).Want(201)
		}
		cursor := a.Do("GET", "/v1/campaigns?limit=1", nil).Want(200).List().NextCursor
		anybody.Do("GET", "/assets/"+*cursor, nil).WantError(404, "not_found")
		a.Do("GET", "/v1/campaigns?cursor="+own, nil).WantError(400, "invalid_cursor")
		// A key in the query of a link gives no access and is not revoked.
		anybody.Do("GET", "/assets/"+a.Key, nil).WantError(404, "not_found")
		a.Do("GET", "/v1/me", nil).Want(200)
	})
}
