package main

import (
	"strings"
	"testing"
)

// TestOAuthApps reads the OAuth clients of the operator.
func TestOAuthApps(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		platform, client          string
		id, secret, configuration string
		refused                   bool
	}{
		"a client":                  {platform: "google_ads", client: "1-a.example:GOCSPX-s", id: "1-a.example", secret: "GOCSPX-s"},
		"a secret with a colon":     {platform: "linkedin_ads", client: "id:WPL:a=b", id: "id", secret: "WPL:a=b"},
		"Meta":                      {platform: "meta_ads", client: "12:abc", id: "12", secret: "abc"},
		"Meta with a configuration": {platform: "meta_ads", client: "12:abc:345", id: "12", secret: "abc", configuration: "345"},
		"no number":                 {platform: "meta_ads", client: "12:hush:config", refused: true},
		"no secret":                 {platform: "meta_ads", client: "12::345", refused: true},
		"no client":                 {platform: "ga4", client: "hush", refused: true},
	} {
		apps, err := oauthApps(map[string]string{tt.platform: tt.client})
		if tt.refused {
			if err == nil || strings.Contains(err.Error(), "hush") {
				t.Errorf("%s: got %v want an error without the secret", name, err)
			}
			continue
		}
		a := apps[tt.platform]
		if err != nil || a.ID != tt.id || a.Secret.Reveal() != tt.secret || a.Configuration != tt.configuration {
			t.Errorf("%s: got %+v, %v", name, a, err)
		}
	}
}
