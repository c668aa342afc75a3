package httpapi

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestRefusalsAreCounted: a flood of refused requests writes one line a second,
// with their number.
func TestRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	var f refusals
	log, now := slog.New(slog.NewTextHandler(&b, nil)), time.Unix(1_700_000_000, 0)
	for i := range 3000 {
		f.countRefusal(log, now.Add(time.Duration(i)*time.Millisecond))
	}
	for i, want := range []string{"count=1\n", "count=1000\n", "count=1000\n", ""} {
		lines := strings.SplitAfter(b.String(), "\n")
		if len(lines) != 4 || !strings.HasSuffix(lines[i], want) || want != "" && !strings.Contains(lines[i], "level=WARN") {
			t.Fatalf("got %q want line %d with %q", lines, i, want)
		}
	}
}
