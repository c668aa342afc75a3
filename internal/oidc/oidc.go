// Package oidc signs people in with an OpenID Connect issuer: the code flow
// with PKCE, a state and a nonce. It verifies the issuer's tokens and does not
// know the accounts of users.
package oidc

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"fanfare/internal/fault"
	"fanfare/internal/secret"
	"fanfare/internal/signin"
)

// Options are the registration of this server at the issuer.
type Options struct {
	Issuer       string
	ClientID     string
	ClientSecret secret.Text
	// Name is the label of the sign-in button, by default "single sign-on".
	Name string
	// HTTP calls the issuer; nil means a client with a timeout.
	HTTP *http.Client
	Now  func() time.Time
}

// timeout is how long a call to the issuer may take.
const timeout = 10 * time.Second

// Label returns the label of the sign-in button, empty if single sign-on is off.
func (o Options) Label() string {
	if o.Issuer == "" {
		return ""
	}
	return cmp.Or(o.Name, "single sign-on")
}

// Check returns an error with its fix if the options are invalid.
func (o Options) Check() error {
	u, err := url.Parse(o.Issuer)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("oidc-issuer %q is not an address such as https://id.example.com: correct it", o.Issuer)
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return fmt.Errorf("oidc-issuer %s is not https: who listens in could sign in as anybody; use the https address", o.Issuer)
	case o.ClientID == "":
		return errors.New("oidc-client-id is missing: set the id under which the issuer knows this server")
	case o.ClientSecret.Empty():
		return errors.New("oidc-client-secret-file is missing or empty: name the file with the secret that the issuer gave out for the client")
	}
	return nil
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// Client is the client of one issuer. It is safe for concurrent use.
type Client struct {
	options Options

	mu       sync.Mutex
	provider *oidc.Provider
}

// New returns a client. It discovers the issuer at the first sign-in, so that
// the server starts without it.
func New(o Options) *Client {
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: timeout}
	}
	return &Client{options: o}
}

// discover returns the issuer's endpoints. It repeats a failed discovery.
func (c *Client) discover(ctx context.Context) (*oidc.Provider, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.provider != nil {
		return c.provider, nil
	}
	// The provider fetches new keys later, after this request has ended.
	p, err := oidc.NewProvider(context.WithoutCancel(c.withHTTPClient(ctx)), c.options.Issuer)
	if err != nil {
		return nil, unavailableFault(fmt.Errorf("discover %s: %w", c.options.Issuer, err))
	}
	c.provider = p
	return p, nil
}

func (c *Client) withHTTPClient(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, c.options.HTTP)
}

func (c *Client) config(p *oidc.Provider, redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: c.options.ClientID, ClientSecret: c.options.ClientSecret.Reveal(), Endpoint: p.Endpoint(), RedirectURL: redirect,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// Start returns the URL for the browser.
func (c *Client) Start(ctx context.Context, redirect string, f signin.Flow) (string, error) {
	p, err := c.discover(ctx)
	if err != nil {
		return "", err
	}
	return c.config(p, redirect).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), nil
}

// Finish exchanges the code and returns the identity in the token.
func (c *Client) Finish(ctx context.Context, redirect, code string, f signin.Flow) (signin.Identity, error) {
	p, err := c.discover(ctx)
	if err != nil {
		return signin.Identity{}, err
	}
	tokens, err := c.config(p, redirect).Exchange(c.withHTTPClient(ctx), code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		if refusal, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refusal.Response.StatusCode < http.StatusInternalServerError {
			return signin.Identity{}, refusedFault(fmt.Errorf("exchange code: %w", err))
		}
		return signin.Identity{}, unavailableFault(fmt.Errorf("exchange code: %w", err))
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return signin.Identity{}, refusedFault(errors.New("the issuer sent no id token"))
	}
	token, err := p.Verifier(&oidc.Config{ClientID: c.options.ClientID, Now: c.options.Now}).Verify(c.withHTTPClient(ctx), raw)
	if err != nil {
		return signin.Identity{}, refusedFault(fmt.Errorf("verify id token: %w", err))
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.Nonce)) != 1 {
		return signin.Identity{}, refusedFault(errors.New("the id token has another nonce"))
	}
	var claims struct {
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
		Name     string `json:"name"`
	}
	if err := token.Claims(&claims); err != nil {
		return signin.Identity{}, refusedFault(fmt.Errorf("read claims: %w", err))
	}
	return signin.Identity{Issuer: token.Issuer, Subject: token.Subject, Email: claims.Email, Verified: claims.Verified, Name: claims.Name}, nil
}

func unavailableFault(cause error) error {
	return fault.New(fault.UpstreamError, "The single sign-on does not answer at the moment. Try again, or sign in another way.").Because(cause)
}

func refusedFault(cause error) error {
	const message = "The single sign-on did not confirm who you are. Start again."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "not_confirmed", Message: message}).Because(cause)
}
