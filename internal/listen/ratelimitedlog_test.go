package listen

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
)

func TestStrangersCannotFloodTheLog(t *testing.T) {
	t.Parallel()
	c, j := newClock(), &journal{}
	q := newRateLimitedLog(j.logger(), c.now)
	for i := range 1000 {
		_, _ = fmt.Fprintf(q, "http: TLS handshake error from %d: %s\n", i, strings.Repeat("\xff", 5000))
	}
	lines := j.all()
	if len(lines) != logBurst {
		t.Fatalf("%d lines want %d", len(lines), logBurst)
	}
	for _, l := range lines {
		if len(l) > 2*maxLogText || !strings.Contains(l, "level=DEBUG") {
			t.Errorf("line of %d bytes: %.80q", len(l), l)
		}
	}
	q.warn("other level")
	if n := len(j.all()); n != logBurst+1 {
		t.Errorf("%d lines want %d: levels have their own quota", n, logBurst+1)
	}
	c.add(logWindow)
	q.debug("later")
	if l := j.all(); !strings.Contains(l[len(l)-1], "dropped_before=980") {
		t.Errorf("got %q want the number dropped", l[len(l)-1])
	}
	c.add(-time.Hour)
	q.debug("clock set back")
	if l := j.all(); !strings.Contains(l[len(l)-1], "clock set back") {
		t.Error("a clock set back shut the log")
	}
}

func TestPanicsAreAlwaysLogged(t *testing.T) {
	t.Parallel()
	j := &journal{}
	q := newRateLimitedLog(slog.New(slog.NewTextHandler(j, nil)), newClock().now)
	for range 3 * logBurst {
		_, _ = fmt.Fprint(q, "http: panic serving 192.0.2.1:5: boom\ngoroutine 1\n")
		_, _ = fmt.Fprint(q, "http: URL query contains semicolon\n")
	}
	if lines := j.all(); len(lines) != 3*logBurst || !strings.Contains(lines[0], "level=ERROR") {
		t.Errorf("%d lines want %d errors", len(lines), 3*logBurst)
	}
}

func TestCertificateManagerLogIsBridged(t *testing.T) {
	t.Parallel()
	j := &journal{}
	z := zap.New(&zapToSlog{clientLog: newRateLimitedLog(j.logger(), newClock().now)}).With(zap.String("logger", "obtain"))
	z.Info("not this")
	z.Warn("but this", zap.String("domain", "a.example"))
	lines := j.all()
	if len(lines) != 1 || !strings.Contains(lines[0], "but this") || !strings.Contains(lines[0], "a.example") || !strings.Contains(lines[0], "obtain") {
		t.Errorf("got %q want the warning with its values", lines)
	}
	if err := z.Sync(); err != nil {
		t.Error(err)
	}
}
