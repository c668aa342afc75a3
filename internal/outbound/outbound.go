// Package outbound sends every HTTP request to an ad platform, a model or a URL
// that a user set. It limits the addresses that the server may connect to and
// the size of answers, and keeps secrets out of errors. It does not know what
// the requests are for.
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

// Options are the settings of a Client.
type Options struct {
	Policy Policy
	// Timeout limits a whole exchange, 30 seconds if it is 0.
	Timeout time.Duration
	// MaxBytes limits the body of an answer, 64 KiB if it is 0.
	MaxBytes int64
	// Resolver resolves names, the system's resolver if it is nil.
	Resolver *net.Resolver
	// Roots are the trusted certificate authorities, the system's if it is nil.
	Roots *x509.CertPool
}

// Client sends requests. It uses no proxy of the environment, stores no cookies
// and follows no redirects: the target of a request is decided once, and a
// credential is never sent to a second one.
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

// New returns a client. It returns an error only for invalid origins.
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

// Do sends a request. Reading a body beyond MaxBytes is an error. Errors
// contain the URL without its query, and wrap ErrForbidden if the policy
// refused it.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if err := c.policy.check(req.URL); err != nil {
		return nil, fmt.Errorf("%s %s: %w", req.Method, redactedURL(req.URL), err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		// net/http adds the whole URL to the error.
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("%s %s: %w", req.Method, redactedURL(req.URL), err)
	}
	resp.Body = &limitedBody{resp.Body, c.maxBytes}
	return resp, nil
}

// Get downloads a URL. Any status but 200 is an error.
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

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// redactedURL returns a URL without its query and other parts that may be
// secret.
func redactedURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// ErrTooLong is returned if an answer is longer than MaxBytes.
var ErrTooLong = errors.New("the answer is too long")

type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	// Reading one byte more distinguishes the end from a body that is too long.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooLong
	}
	return n, err
}

// StatusError is an answer with a status other than 2xx.
type StatusError struct {
	Status int
	Header http.Header
	// Body is the beginning of the answer, without credentials of the request
	// that the server repeats. It is for error codes and not for logs.
	Body []byte
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
}

// ErrMalformed is returned if an answer is not the expected JSON.
var ErrMalformed = errors.New("the answer is malformed")

// maxErrorBody is how much of an error's body is kept.
const maxErrorBody = 4 << 10

// credentialHeaders are the headers that errors must not contain.
var credentialHeaders = []string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key", "Developer-Token", "DeveloperToken", "Access-Token"}

// Post sends a value as JSON and decodes the JSON answer into out. It returns a
// *StatusError for a status other than 2xx, ErrMalformed or ErrTooLong for an
// invalid body, and the errors of Do.
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
		// An incomplete error answer is still an error answer.
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

// redact removes the request's credentials from a text.
func redact(text []byte, header http.Header) []byte {
	for _, name := range credentialHeaders {
		secret := strings.TrimPrefix(header.Get(name), "Bearer ")
		if secret != "" {
			text = bytes.ReplaceAll(text, []byte(secret), []byte("[sealed]"))
		}
	}
	return text
}
