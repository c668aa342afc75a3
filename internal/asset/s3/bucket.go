package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"fanfare/internal/fault"
)

const (
	// callTime is how long the service may take to answer a call, and for each
	// part of a longer answer.
	callTime = 20 * time.Second
	// uploadRate is the least number of bytes per second of an upload, which may
	// take longer than other calls by its size.
	uploadRate = 1 << 20
	// attempts is how often a call is made if it fails, within its time.
	attempts = 3
	// roleTime is how long a machine may take to answer which role it has.
	roleTime = 5 * time.Second
)

// errSlow is the cause of calls that ended because the service did not answer.
var errSlow = errors.New("the service did not answer in time")

// ErrUnreachable is the cause of a Check that failed because the service did not
// answer, so that it may succeed later.
var ErrUnreachable = errors.New("no answer")

// unavailable returns the fault of a call that failed.
func unavailable(cause error) error {
	f := fault.New(fault.Unavailable, "The storage of pictures and uploaded files cannot be used at the moment. Try again later; the operator finds the reason in the log.").Because(cause)
	f.RetryAfter = 10 * time.Second
	return f
}

// RefusedError is an answer of the service that only the operator can change.
type RefusedError struct{ error }

func (e *RefusedError) Unwrap() error { return e.error }

// bucket implements objects.
type bucket struct {
	at        Location
	client    *minio.Client
	creds     *credentials.Credentials
	transport *http.Transport
	wait      time.Duration
}

// newBucket returns a bucket without calling it. Keys are those of the
// environment, else those of the role of the machine or container.
func newBucket(at Location) (*bucket, error) {
	transport, err := minio.DefaultTransport(at.Endpoint.Scheme == "https")
	if err != nil {
		return nil, fmt.Errorf("prepare connections to %s: %w", at.Endpoint.Host, err)
	}
	creds := credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{},
		&credentials.IAM{Client: &http.Client{Timeout: roleTime}},
	})
	client, err := minio.New(at.Endpoint.Host, &minio.Options{
		Creds: creds, Secure: at.Endpoint.Scheme == "https", Region: at.Region, Transport: transport, MaxRetries: attempts,
	})
	if err != nil {
		return nil, fmt.Errorf("assets: %w: correct the endpoint in --assets", err)
	}
	return &bucket{at: at, client: client, creds: creds, transport: transport, wait: callTime}, nil
}

// Open returns the files of a location without calling the service; Check does.
// sub is a folder below the prefix, or empty.
func Open(at Location, sub string, now func() time.Time, random io.Reader) (*Files, error) {
	b, err := newBucket(at)
	if err != nil {
		return nil, err
	}
	prefix := at.Prefix
	if sub != "" {
		prefix += sub + "/"
	}
	return &Files{objects: b, prefix: prefix, now: now, random: random, close: b.transport.CloseIdleConnections}, nil
}

func (b *bucket) put(key string, data []byte) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), b.wait+time.Duration(len(data)/uploadRate)*time.Second, errSlow)
	defer cancel()
	// One request stores all or nothing. The service compares the MD5.
	_, err := b.client.PutObject(ctx, b.at.Bucket, key, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{
		ContentType: "application/octet-stream", DisableMultipart: true, SendContentMd5: true,
	})
	return mapError(ctx, "put", key, err)
}

func (b *bucket) copy(from, to string) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), b.wait, errSlow)
	defer cancel()
	_, err := b.client.CopyObject(ctx, minio.CopyDestOptions{Bucket: b.at.Bucket, Object: to}, minio.CopySrcOptions{Bucket: b.at.Bucket, Object: from})
	return mapError(ctx, "copy", from, err)
}

func (b *bucket) remove(key string) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), b.wait, errSlow)
	defer cancel()
	err := mapError(ctx, "remove", key, b.client.RemoveObject(ctx, b.at.Bucket, key, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// stallTimer ends a context if its owner waits for the service for too long. The
// owner may take any time between two waits.
type stallTimer struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	wait   time.Duration
}

func newStallTimer(ctx context.Context, wait time.Duration) *stallTimer {
	ctx, cancel := context.WithCancelCause(ctx)
	return &stallTimer{ctx: ctx, cancel: cancel, timer: time.AfterFunc(wait, func() { cancel(errSlow) }), wait: wait}
}

func (p *stallTimer) pause()   { p.timer.Stop() }
func (p *stallTimer) restart() { p.timer.Reset(p.wait) }

func (p *stallTimer) end() {
	p.timer.Stop()
	p.cancel(context.Canceled)
}

func (b *bucket) list(ctx context.Context, prefix string, each func(key string) error) error {
	p := newStallTimer(ctx, b.wait)
	defer p.end()
	owner := false
	for o := range b.client.ListObjectsIter(p.ctx, b.at.Bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true, FetchOwner: &owner}) {
		p.pause()
		if err := ctx.Err(); err != nil {
			return err
		}
		if o.Err != nil {
			return mapError(p.ctx, "list", prefix, o.Err)
		}
		if err := each(o.Key); err != nil {
			return err
		}
		p.restart()
	}
	p.pause()
	if err := ctx.Err(); err != nil {
		return err
	}
	// A list that was stopped may end without an error.
	return mapError(p.ctx, "list", prefix, context.Cause(p.ctx))
}

func (b *bucket) get(key string) (io.ReadCloser, int64, error) {
	p := newStallTimer(context.Background(), b.wait)
	r, info, _, err := minio.Core{Client: b.client}.GetObject(p.ctx, b.at.Bucket, key, minio.GetObjectOptions{})
	p.pause()
	if err != nil {
		err = mapError(p.ctx, "get", key, err)
		p.end()
		return nil, 0, err
	}
	return &body{r: r, p: p, key: key}, info.Size, nil
}

// body reads an object. Its errors are faults.
type body struct {
	r   io.ReadCloser
	p   *stallTimer
	key string
}

func (b *body) Read(to []byte) (int, error) {
	b.p.restart()
	n, err := b.r.Read(to)
	b.p.pause()
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = mapError(b.p.ctx, "read", b.key, err)
	}
	return n, err
}

// Close ends the answer of the service.
func (b *body) Close() error {
	b.p.end()
	return b.r.Close()
}

// mapError maps the error of a call: fs.ErrNotExist for a missing object, else
// the fault unavailable. Its text has neither keys nor signatures.
func mapError(ctx context.Context, call, key string, err error) error {
	if err == nil {
		return nil
	}
	if answer, ok := errors.AsType[minio.ErrorResponse](err); ok {
		if answer.Code == minio.NoSuchKey {
			return &fs.PathError{Op: call, Path: key, Err: fs.ErrNotExist}
		}
		return unavailable(fmt.Errorf("%s %s: %s: %w", call, key, answer.Code, err))
	}
	if errors.Is(context.Cause(ctx), errSlow) {
		err = errSlow
	}
	return unavailable(fmt.Errorf("%s %s: %w", call, key, err))
}

// Check finds out whether files can be written, listed, read and deleted at a
// location. It returns a RefusedError with the fix if the service says no, and
// the fault unavailable if it does not answer.
func Check(ctx context.Context, at Location, now func() time.Time, random io.Reader) error {
	f, err := Open(at, "check", now, random)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	b, ok := f.objects.(*bucket)
	if !ok {
		return errors.New("files are in no bucket")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*b.wait, errSlow)
	defer cancel()
	keys, err := b.creds.GetWithContext(&credentials.CredContext{Client: &http.Client{Timeout: roleTime}, Context: ctx})
	if err != nil || keys.AccessKeyID == "" || keys.SecretAccessKey == "" {
		return &RefusedError{fmt.Errorf("no credentials for %s: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role", at)}
	}
	return b.explain(f.checkCalls(ctx))
}

// checkCalls puts, lists, reads and deletes an object.
func (f *Files) checkCalls(ctx context.Context) error {
	key, err := f.newKey(f.prefix, nil)
	if err != nil {
		return err
	}
	if err := f.objects.put(key, []byte("check")); err != nil {
		return err
	}
	found := false
	err = f.objects.list(ctx, f.prefix, func(k string) error {
		found = found || k == key
		return nil
	})
	if err == nil && !found {
		err = &RefusedError{errors.New("the service does not list an object that was just stored: use one with strong consistency")}
	}
	if err == nil {
		var r io.ReadCloser
		if r, _, err = f.objects.get(key); err == nil {
			_, err = io.Copy(io.Discard, r)
			err = errors.Join(err, r.Close())
		}
	}
	return errors.Join(err, f.objects.remove(key))
}

// explain adds the fix to the error of a check.
func (b *bucket) explain(err error) error {
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused
	}
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	switch {
	case !ok || answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests:
		cause := err
		if f, ok := errors.AsType[*fault.Error](err); ok {
			cause = f.Unwrap()
		}
		return fault.New(fault.Unavailable, fmt.Sprintf("%s does not serve %s: start it, or correct the endpoint in --assets", b.at.Endpoint, b.at)).Because(fmt.Errorf("%w: %w", ErrUnreachable, cause))
	case answer.Code == minio.NoSuchBucket:
		return &RefusedError{fmt.Errorf("%s has no bucket %s: create it, or correct --assets", b.at.Endpoint, b.at.Bucket)}
	}
	return &RefusedError{fmt.Errorf("%s refuses %s (%s): correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the endpoint and the region in --assets, and allow s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject: %w", b.at.Endpoint, b.at, answer.Code, answer)}
}
