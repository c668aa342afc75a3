package httpapi_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"fanfare/internal/fanfaretest"
)

// TestV1PathIsTheOnlySwitch checks that no header or parameter selects a
// version.
func TestV1PathIsTheOnlySwitch(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	want := c.Do("GET", "/v1", nil).Want(200).Body
	for _, h := range []string{"API-Version: 2", "X-Api-Version: 2099-01-01", "Accept: application/json; version=2", "Accept-Version: 9"} {
		if got := c.Do("GET", "/v1", nil, h).Want(200).Body; !bytes.Equal(got, want) {
			t.Errorf("%s: got %s want %s", h, got, want)
		}
	}
	for path := range fanfaretest.TheContract().Doc.Paths.Map() {
		if strings.HasPrefix(path, "/v") && path != "/v1" && !strings.HasPrefix(path, "/v1/") {
			t.Errorf("got path %s, want every version but v1 to be absent", path)
		}
	}
}

// TestV5NothingIsDeprecated checks that no operation is deprecated. Once one
// is, the client checks its headers.
func TestV5NothingIsDeprecated(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	for _, target := range []string{"/v1", "/v1/campaigns", "/v1/events"} {
		h := c.Do("GET", target, nil).Want(200).Header
		if h.Get("Deprecation") != "" || h.Get("Sunset") != "" {
			t.Errorf("%s: got Deprecation %q and Sunset %q, want none", target, h.Get("Deprecation"), h.Get("Sunset"))
		}
	}
}

func TestV6Discovery(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	got := c.Do("GET", "/v1", nil).Want(200).Record()
	want := map[string]any{
		"version": "v1", "status": "current", "deprecated_at": nil, "sunset_at": nil, "build": "test",
		"docs_url": "https://fanfare.test/docs", "openapi_url": "https://fanfare.test/openapi/v1.json", "changelog_url": "https://fanfare.test/docs/changelog",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the answer differs (-want +got):\n%s", diff)
	}
	stranger := c.Service.Client("")
	for _, name := range []string{"docs_url", "openapi_url", "changelog_url"} {
		stranger.Do("GET", strings.TrimPrefix(got[name].(string), "https://fanfare.test"), nil).Want(200)
	}
	stranger.Do("GET", "/v1", nil).WantError(401, "missing_api_key")
	for _, target := range []string{"/v9", "/v9/campaigns", "/v0", "/v2/campaigns/x/launch", "/v01/campaigns", "/v11", "/v999999999999999999999"} {
		e := c.Do("GET", target, nil).WantError(404, "unknown_api_version")
		if diff := cmp.Diff([]any{"v1"}, e.Details[0].Meta["supported"]); diff != "" {
			t.Errorf("%s: supported differs (-want +got):\n%s", target, diff)
		}
		c.Do("BREW", target, nil).WantError(404, "unknown_api_version")
		stranger.Do("GET", target, nil).WantError(401, "missing_api_key")
	}
	for _, target := range []string{"/v", "/vx", "/v1.1/campaigns", "/version"} {
		c.Do("GET", target, nil).WantError(404, "route_not_found")
	}
}

// TestV7ContractIsServed checks that both forms of the contract are the same,
// and that the documents need no outside resource.
func TestV7ContractIsServed(t *testing.T) {
	t.Parallel()
	c := newTenant(t).Service.Client("")
	var fromYAML, fromJSON any
	if err := yaml.Unmarshal(c.Do("GET", "/openapi/v1.yaml", nil).Want(200).Body, &fromYAML); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(c.Do("GET", "/openapi/v1.json", nil).Want(200).Body, &fromJSON); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(fromYAML)
	if err != nil {
		t.Fatal(err)
	}
	var again any
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(again, fromJSON); diff != "" {
		t.Errorf("the two forms differ (-yaml +json):\n%s", diff)
	}
	for _, target := range []string{"/docs", "/docs/errors", "/docs/changelog"} {
		body := string(c.Do("GET", target, nil).Want(200).Body)
		for _, foreign := range []string{"<script", "src=", "@import", "url("} {
			if strings.Contains(body, foreign) {
				t.Errorf("%s: got %s in it, want a page that stands alone", target, foreign)
			}
		}
	}
}
