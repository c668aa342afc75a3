// Package outbound is the one way out: every request to a platform, a model or
// any URL that somebody set goes through a Client. It decides where the server
// may connect to, bounds what comes back, and keeps secrets out of errors. It
// knows nothing of what is asked.
package outbound

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Options make a Client.
type Options struct {
	Policy Policy
	// Timeout bounds a whole exchange, 30 seconds if it is 0.
	Timeout time.Duration
	// MaxBytes bounds the body of an answer, 64 KiB if it is 0.
	MaxBytes int64
	// Resolver looks names up, the system's if it is nil.
	Resolver *net.Resolver
	// Roots are the authorities to trust, the system's if it is nil.
	Roots *x509.CertPool
}

// Client sends requests. It uses no proxy of the environment, keeps no cookies
// and follows no redirects: where a request may go is decided once, and a
// credential never travels to a second place.
type Client struct {
	policy   Policy
	maxBytes int64
	http     http.Client
}

const (
	dialTimeout     = 10 * time.Second
	defaultTimeout  = 30 * time.Second
	defaultMaxBytes = 64 << 10
)

// New makes a client. It fails only for origins that nobody could mean.
func New(o Options) (*Client, error) {
	if err := o.Policy.checkOrigins(); err != nil {
		return nil, err
	}
	c := &Client{policy: o.Policy, maxBytes: o.MaxBytes}
	if c.maxBytes == 0 {
		c.maxBytes = defaultMaxBytes
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	guarded := net.Dialer{Timeout: dialTimeout, Resolver: o.Resolver, Control: o.Policy.dialControl()}
	vouched := net.Dialer{Timeout: dialTimeout, Resolver: o.Resolver}
	c.http = http.Client{
		Timeout:       o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if o.Policy.isAllowedOrigin("", address) {
					return vouched.DialContext(ctx, network, address)
				}
				return guarded.DialContext(ctx, network, address)
			},
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots},
			TLSHandshakeTimeout:    dialTimeout,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
	return c, nil
}

// Do sends a request. Reading more of the body than the client's bound is an
// error. Errors name the URL without its query and wrap ErrForbidden where the
// policy refused.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if err := c.policy.check(req.URL); err != nil {
		return nil, fmt.Errorf("%s %s: %w", req.Method, redactedURL(req.URL), err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		// What net/http wraps around the reason is the whole URL.
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("%s %s: %w", req.Method, redactedURL(req.URL), err)
	}
	resp.Body = &limitedBody{resp.Body, c.maxBytes}
	return resp, nil
}

// Get downloads what a URL returns. Any status but 200 is an error.
func (c *Client) Get(ctx context.Context, from string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, fmt.Errorf("download: %w", err)
	}
	res, err := c.Do(req)
	if err != nil {
		return nil, fmt.Errorf("download: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("download: got status %d", res.StatusCode)
	}
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("download: %w", err)
	}
	return b, nil
}

// Close lets idle connections go.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// redactedURL is a URL without what may be secret.
func redactedURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// ErrTooLong says that an answer is longer than the client's bound.
var ErrTooLong = errors.New("the answer is too long")

type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	// One byte more than is left tells the end from too much.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooLong
	}
	return n, err
}

// StatusError is an answer other than 2xx.
type StatusError struct {
	Status int
	Header http.Header
	// Body is the beginning of the answer, without the credentials of the
	// request where the server repeats them. It is for reading codes out of,
	// not for logs.
	Body []byte
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
}

// ErrMalformed says that an answer is not the JSON it should be.
var ErrMalformed = errors.New("the answer is malformed")

// maxErrorBody is how much of a refusal is kept.
const maxErrorBody = 4 << 10

// credentialHeaders are the headers that no error may repeat.
var credentialHeaders = []string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key", "Developer-Token", "Access-Token"}

// Post sends a value as JSON and reads the JSON answer into out. It returns a
// *StatusError for every answer other than 2xx, ErrMalformed or ErrTooLong for
// one that cannot be read, and what Do returns.
func (c *Client) Post(ctx context.Context, to string, header http.Header, in, out any) error {
	body, err := json.Marshal(in, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: this is not a URL", ErrForbidden)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		// A refusal that breaks off is still a refusal.
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return &StatusError{resp.StatusCode, resp.Header, redact(text, req.Header)}
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", redactedURL(req.URL), err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("read the answer of %s: %w", redactedURL(req.URL), ErrMalformed)
	}
	return nil
}

// redact takes the request's credentials out of a text.
func redact(text []byte, header http.Header) []byte {
	for _, name := range credentialHeaders {
		secret := strings.TrimPrefix(header.Get(name), "Bearer ")
		if secret != "" {
			text = bytes.ReplaceAll(text, []byte(secret), []byte("[sealed]"))
		}
	}
	return text
}
