package listen

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	logBurst   = 20          // lines per window
	logWindow  = time.Minute // one scan of the port writes hundreds
	maxLogText = 256         // bytes kept of text a client may have chosen
)

// rateLimitedLog logs events that any client can cause. Each level gets a few
// lines per minute; the next line reports how many were dropped.
type rateLimitedLog struct {
	log *slog.Logger
	now func() time.Time

	mu     sync.Mutex
	levels map[slog.Level]*quota
}

type quota struct {
	since         time.Time
	used, dropped int
}

func newRateLimitedLog(log *slog.Logger, now func() time.Time) *rateLimitedLog {
	return &rateLimitedLog{log: log, now: now, levels: make(map[slog.Level]*quota)}
}

func (q *rateLimitedLog) debug(msg string, args ...any) { q.logLine(slog.LevelDebug, msg, args) }
func (q *rateLimitedLog) warn(msg string, args ...any)  { q.logLine(slog.LevelWarn, msg, args) }

func (q *rateLimitedLog) logLine(level slog.Level, msg string, args []any) {
	ctx := context.Background()
	if !q.log.Enabled(ctx, level) {
		return
	}
	dropped, ok := q.spend(level)
	if !ok {
		return
	}
	if dropped > 0 {
		args = append(args, "dropped_before", dropped)
	}
	q.log.Log(ctx, level, msg, args...) //nolint:sloglint // msg is a constant at every call
}

func (q *rateLimitedLog) spend(level slog.Level) (dropped int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.levels[level]
	if u == nil {
		u = &quota{since: q.now()}
		q.levels[level] = u
	}
	// A clock that was set back also starts a new window, because the log would
	// stay silent otherwise.
	if age := q.now().Sub(u.since); age >= logWindow || age < 0 {
		u.since, u.used = q.now(), 0
	}
	if u.used >= logBurst {
		u.dropped++
		return 0, false
	}
	u.used++
	dropped, u.dropped = u.dropped, 0
	return dropped, true
}

// Write receives net/http's own log lines. They report clients and are logged
// as debug, except a handler's panic, which is a bug and is always logged.
func (q *rateLimitedLog) Write(line []byte) (int, error) {
	text := string(bytes.TrimSpace(line))
	if strings.HasPrefix(text, "http: panic serving") || strings.HasPrefix(text, "http2: panic serving") {
		q.log.Error("handler panicked", "report", text)
		return len(line), nil
	}
	if len(text) > maxLogText {
		text = strings.ToValidUTF8(text[:maxLogText], "")
	}
	q.debug("http server", "report", text)
	return len(line), nil
}
