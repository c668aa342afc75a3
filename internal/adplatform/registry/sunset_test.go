package registry_test

import (
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/registry"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/connection"
)

// TestPlatforms checks that the connection knows the platforms of all clients, in
// the same order, and that the sandbox plays each of them.
func TestPlatforms(t *testing.T) {
	t.Parallel()
	c, err := registry.New(registry.Options{State: filepath.Join(t.TempDir(), "sandbox.json"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range c.About() {
		names = append(names, p.Platform)
		if sandbox.Prefix(p.Platform) == "" {
			t.Errorf("the sandbox does not play %s", p.Platform)
		}
	}
	if !slices.Equal(names, connection.Played) {
		t.Errorf("got %v want %v of package connection", names, connection.Played)
	}
}

// TestWarnOfSunsets checks that the log warns of an API version from 60 days
// before its last day on.
func TestWarnOfSunsets(t *testing.T) {
	t.Parallel()
	c, err := registry.New(registry.Options{State: filepath.Join(t.TempDir(), "sandbox.json"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, p := range c.About() {
		if p.Sunset == nil {
			continue
		}
		checked++
		for days, want := range map[int]bool{61: false, 60: true, -10: true} {
			var text strings.Builder
			now, err := time.Parse(time.DateOnly, p.Sunset.String())
			if err != nil {
				t.Fatal(err)
			}
			c.WarnOfSunsets(now.AddDate(0, 0, -days), slog.New(slog.NewTextHandler(&text, nil)))
			if got := strings.Contains(text.String(), "platform="+p.Platform+" "); got != want {
				t.Errorf("%s, %d days before its last day: got a warning %v want %v", p.Platform, days, got, want)
			}
		}
	}
	if checked == 0 {
		t.Error("no platform has a last day")
	}
}
