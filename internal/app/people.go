package app

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/ident"
	"fanfare/internal/mail"
	"fanfare/internal/oidc"
	"fanfare/internal/seal"
	"fanfare/internal/secret"
	"fanfare/internal/signin"
)

// People is how people get in and hear from the server; its zero value has
// neither mail nor single sign-on.
type People struct {
	Mail mail.Options
	OIDC oidc.Options
	// OIDCName is what the button for single sign-on says.
	OIDCName string
}

// ticketPurpose binds what browsers keep during a sign-in to nothing else.
const ticketPurpose = "sign-in "

// issuerTime is how long the issuer of single sign-on may take to answer.
const issuerTime = 10 * time.Second

// buildPeople makes the service that lets people in.
func (a *App) buildPeople() error {
	c := a.config
	d := signin.Deps{
		Store: a.DB.SignIn(), Roles: account.Roles, Now: c.Now, Random: c.Random, Cores: runtime.NumCPU(), Log: c.Log,
		Origin:     func() string { return strings.TrimSuffix(c.PublicURL, "/") },
		SealTicket: func(kind string, plain []byte) string { return a.cursors.Load().SealBytes(ticketPurpose+kind, plain) },
		OpenTicket: func(kind, text string) ([]byte, bool) { return a.cursors.Load().OpenBytes(ticketPurpose+kind, text) },
	}
	if a.ring != nil {
		d.Seal = seeds{a.ring}
	}
	if o := c.People.OIDC; o.Issuer != "" {
		if err := o.Check(); err != nil {
			return err
		}
		o.HTTP, o.Now = &http.Client{Timeout: issuerTime}, c.Now
		d.Issuer = issuer{oidc.New(o)}
	}
	if m := c.People.Mail; !m.URL.Empty() {
		m.Now = c.Now
		sender, err := mail.New(m)
		if err != nil {
			return fmt.Errorf("prepare mail: %w", err)
		}
		a.Mail = sender
	}
	a.SignIn = signin.New(d)
	return nil
}

// SetupURL is where the first person sets the server up, once; empty when
// somebody can sign in.
func (a *App) SetupURL(ctx context.Context) (string, error) {
	token, needed, err := a.SignIn.SetupToken(ctx)
	if err != nil || !needed {
		return "", err
	}
	return a.SignIn.Origin() + "/setup#" + token, nil
}

// SSOName is what the button for single sign-on says, empty without it.
func (a *App) SSOName() string {
	switch p := a.config.People; {
	case p.OIDC.Issuer == "":
		return ""
	case p.OIDCName == "":
		return "single sign-on"
	default:
		return p.OIDCName
	}
}

// issuer lets sign-in use the client for OpenID Connect.
type issuer struct{ client *oidc.Client }

// Start implements signin.Issuer.
func (i issuer) Start(ctx context.Context, redirect string, f signin.Flow) (string, error) {
	return i.client.Start(ctx, redirect, oidc.Flow(f))
}

// Finish implements signin.Issuer.
func (i issuer) Finish(ctx context.Context, redirect, code string, f signin.Flow) (signin.Identity, error) {
	id, err := i.client.Finish(ctx, redirect, code, oidc.Flow(f))
	return signin.Identity(id), err
}

// seeds keeps the secrets of people under the master key.
type seeds struct{ ring *seal.Ring }

// people stands where other secrets name their workspace: people have none.
const people = "people"

// Seal implements signin.Seal.
func (s seeds) Seal(user ident.ID, field string, plain secret.Text) (string, error) {
	return s.ring.Seal(seal.Context{Workspace: people, Record: string(user), Field: field}, plain)
}

// Open implements signin.Seal.
func (s seeds) Open(user ident.ID, field, sealed string) (secret.Text, error) {
	return s.ring.Open(seal.Context{Workspace: people, Record: string(user), Field: field}, sealed)
}
