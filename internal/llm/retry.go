package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/creative"
	"fanfare/internal/outbound"
)

const (
	// maxRetries is how often a call is retried.
	maxRetries     = 2
	firstRetryWait = time.Second
	maxRetryWait   = 20 * time.Second
	// maxRetryAfter is the longest wait that a server may request.
	maxRetryAfter = 30 * time.Second
)

// retryCall repeats a call until it succeeds, fails permanently or reaches
// maxRetries. It adds the usage of all attempts to u.
func retryCall[T any](ctx context.Context, w *Writer, u *creative.Usage, call func(context.Context) (T, creative.Usage, error)) (T, error) {
	for attempt := 0; ; attempt++ {
		result, used, err := call(ctx)
		u.Add(used)
		if err == nil || attempt == maxRetries || ctx.Err() != nil || !isTransient(err) {
			return result, err
		}
		wait, ok := w.retryWait(err, attempt)
		if !ok || !sleep(ctx, wait) {
			return result, err
		}
		u.Retries++
	}
}

// isTransient reports whether a retry can succeed: throttling, server errors
// and network errors.
func isTransient(err error) bool {
	for _, lasting := range []error{ErrFormat, ErrRefused, ErrTruncated, outbound.ErrForbidden, outbound.ErrMalformed, outbound.ErrTooLong} {
		if errors.Is(err, lasting) {
			return false
		}
	}
	status, ok := errors.AsType[*outbound.StatusError](err)
	switch {
	case !ok:
		return true
	case status.Status == http.StatusTooManyRequests:
		// An account without credit also returns 429, but a retry does not
		// help.
		return !bytes.Contains(status.Body, []byte("insufficient_quota"))
	}
	return status.Status == http.StatusRequestTimeout || status.Status >= 500
}

// retryWait returns how long to wait after an attempt: the time that the server
// requests, else a random part of a time that doubles.
//
// Choice: if the server requests more than 30 seconds, there is no retry,
// because an early retry would count against the rate limit.
func (w *Writer) retryWait(err error, attempt int) (time.Duration, bool) {
	if status, ok := errors.AsType[*outbound.StatusError](err); ok {
		if hint, ok := w.parseRetryAfter(status.Header.Get("Retry-After")); ok {
			return hint, hint <= maxRetryAfter
		}
	}
	return w.options.Jitter(min(firstRetryWait<<attempt, maxRetryWait)), true
}

// parseRetryAfter parses a Retry-After header: seconds or a date.
func (w *Writer) parseRetryAfter(header string) (time.Duration, bool) {
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds >= 0 && seconds < 1e9 {
		return time.Duration(seconds * float64(time.Second)), true
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(w.options.Now())), true
	}
	return 0, false
}

// sleep waits. It returns false if ctx ends first.
func sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// callFailure converts an error to a failure for the caller. A canceled context
// is not a failure of the provider and stays unchanged.
func callFailure(ctx context.Context, err error) error {
	status, answered := errors.AsType[*outbound.StatusError](err)
	said, unreadable := errors.AsType[*unreadableError](err)
	fail := func(code string, retryable bool, format string, args ...any) error {
		return creative.Fail(code, retryable, format, args...).Because(err)
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("ask model: %w", context.Cause(ctx))
	case ctx.Err() != nil:
		return fail(creative.FailTimeout, true, "the provider did not finish in time")
	case errors.Is(err, ErrRefused), unreadable && said.refusal:
		return fail(creative.FailRefused, false, "the provider refused the brief: reword it")
	case errors.Is(err, ErrTruncated):
		return fail(creative.FailAnswer, true, "the provider's answer was cut off: ask for fewer variants or channels")
	case unreadable:
		return fail(creative.FailAnswer, true, "the provider's answer cannot be read: %s", said.why)
	case errors.Is(err, outbound.ErrMalformed), errors.Is(err, outbound.ErrTooLong):
		return fail(creative.FailAnswer, true, "the provider's answer cannot be read")
	case errors.Is(err, outbound.ErrForbidden):
		return fail(creative.FailProvider, false, "the provider's address may not be reached from this server")
	case !answered && isTimeout(err):
		return fail(creative.FailTimeout, true, "the provider did not answer in time")
	case !answered:
		return fail(creative.FailProvider, true, "the provider cannot be reached: try again later, or use provider composer")
	}
	switch code := status.Status; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fail(creative.FailCredentials, false, "the provider refused the key: set another one")
	case code == http.StatusTooManyRequests:
		const used = "the provider's limits are used up"
		if seconds, err := strconv.Atoi(status.Header.Get("Retry-After")); err == nil && seconds > 0 {
			return fail(creative.FailThrottled, isTransient(status), used+": try again in %d seconds", seconds)
		}
		return fail(creative.FailThrottled, isTransient(err), used)
	case code >= 500 || code == http.StatusRequestTimeout:
		return fail(creative.FailProvider, true, "the provider answered %d", code)
	}
	return fail(creative.FailProvider, false, "the provider answered %d: check its address and the model's name%s", status.Status, vendorMessage(status.Body))
}

func isTimeout(err error) bool {
	slow, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && slow.Timeout()
}

// vendorMessage returns the error message of a vendor as short plain text. All
// vendors have it in the same member.
func vendorMessage(body []byte) string {
	var said struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	text := []rune(plainText(said.Error.Message, false))
	if len(text) == 0 {
		return ""
	}
	return " (" + strings.TrimSpace(string(text[:min(len(text), 200)])) + ")"
}
