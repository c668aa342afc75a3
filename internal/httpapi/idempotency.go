package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// pending is the set of Idempotency-Keys of running requests.
type pending struct {
	mu   *sync.Mutex
	keys map[string]bool
}

func newPending() pending { return pending{mu: &sync.Mutex{}, keys: map[string]bool{}} }

func (p pending) start(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys[key] {
		return false
	}
	p.keys[key] = true
	return true
}

func (p pending) end(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.keys, key)
}

// runIdempotent runs a POST at most once per Idempotency-Key. The operation
// stores the response in the transaction of its changes.
func (a *API) runIdempotent(ctx context.Context, r *request) (response, error) {
	key, err := idempotencyKey(r.http.Header["Idempotency-Key"])
	if err != nil {
		return response{}, err
	}
	if key == "" {
		return r.route.handle(ctx, r)
	}
	if r.route.exists != nil {
		if err := r.route.exists(ctx, r); err != nil {
			return response{}, err
		}
	}
	workspace := r.caller.Workspace.ID
	slot := string(workspace) + "\x00" + key
	if !a.pending.start(slot) {
		const message = "A request with this Idempotency-Key is still being worked on. Try again in a second."
		f := fault.New(fault.IdempotencyInProgress, message, fault.Detail{
			Field: "Idempotency-Key", In: "header", Code: string(fault.IdempotencyInProgress), Message: message, Meta: fault.Meta{"retry_after": 1},
		})
		f.RetryAfter = time.Second
		return response{}, f
	}
	defer a.pending.end(slot)
	mark := fingerprint(r)
	if res, ok, err := a.replay(ctx, r, workspace, key, mark); ok || err != nil {
		return res, err
	}
	r.idempotencyKey, r.fingerprint = key, mark
	res, err := r.route.handle(ctx, r)
	if errors.Is(err, record.ErrKeyUsed) {
		// Another node ran the same request first.
		if res, ok, err := a.replay(ctx, r, workspace, key, mark); ok || err != nil {
			return res, err
		}
	}
	return res, err
}

// replay returns the stored response of this key. The result is false if none
// is stored.
func (a *API) replay(ctx context.Context, r *request, workspace ident.ID, key, mark string) (response, bool, error) {
	answer, err := a.Answers.StoredResponse(ctx, workspace, key)
	if err != nil || answer == nil {
		return response{}, false, err
	}
	if answer.Fingerprint != mark {
		return response{}, false, fault.New(fault.IdempotencyKeyReused, "This Idempotency-Key was used for another request. Use a new key for a new request.",
			fault.Detail{Field: "Idempotency-Key", In: "header", Code: string(fault.IdempotencyKeyReused), Message: "The key belongs to another method, path or body."})
	}
	res := found(answer.Doc)
	res.status, res.replayed = answer.Status, true
	if res.status == http.StatusAccepted {
		res.retryAfter = pollSeconds
	}
	if res.status != http.StatusOK {
		res.location = r.recordPath(answer.Resource)
	}
	return res, true, nil
}

// collection returns the path prefix of an operation's records:
// "/v1/campaigns/" for both "/v1/campaigns" and "/v1/campaigns/{id}/launch".
func collection(pattern string) string {
	parts := strings.SplitN(pattern, "/", 4)
	return strings.Join(parts[:3], "/") + "/"
}

// idempotentCause returns the cause of a write with the Idempotency-Key of the
// request.
func (r *request) idempotentCause(status int) record.Cause {
	c := r.cause()
	if r.idempotencyKey != "" {
		c.Idempotency = &record.Idempotency{Key: r.idempotencyKey, Fingerprint: r.fingerprint, Status: status}
	}
	return c
}

func fingerprint(r *request) string {
	h := sha256.New()
	h.Write([]byte(r.http.Method + "\n" + r.http.URL.EscapedPath() + "?" + r.http.URL.Query().Encode() + "\n"))
	h.Write(r.body)
	return hex.EncodeToString(h.Sum(nil))
}

// idempotencyKey reads the Idempotency-Key header, either raw or as a quoted
// string (structured fields).
func idempotencyKey(values []string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if n := len(key); n >= 2 && key[0] == '"' && key[n-1] == '"' {
		key = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(key[1 : n-1])
	}
	ok := len(values) == 1 && key != "" && len(key) <= 255
	for _, c := range []byte(key) {
		ok = ok && c > ' ' && c < 0x7f
	}
	if !ok {
		const message = "Idempotency-Key must be one header of 1 to 255 visible ASCII characters."
		return "", fault.New(fault.InvalidIdempotencyKey, message, fault.Detail{
			Field: "Idempotency-Key", In: "header", Code: string(fault.InvalidIdempotencyKey), Message: message, Meta: fault.Meta{"maximum": 255},
		})
	}
	return key, nil
}
