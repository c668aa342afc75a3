package app

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/mail"
	"fanfare/internal/oidc"
	"fanfare/internal/seal"
	"fanfare/internal/signin"
)

// SignInConfig configures sign-in and email. The zero value has neither email nor
// single sign-on.
type SignInConfig struct {
	Mail mail.Options
	OIDC oidc.Options
	// OIDCName is the label of the single sign-on button.
	OIDCName string
}

// ticketPurpose limits the sealed sign-in state of browsers to this purpose.
const ticketPurpose = "sign-in "

// issuerTime is the timeout of calls to the single sign-on issuer.
const issuerTime = 10 * time.Second

// buildSignIn creates the sign-in service.
func (a *App) buildSignIn() error {
	c := a.config
	d := signin.Deps{
		Store: a.DB.SignIn(), Roles: account.Roles, Now: c.Now, Random: c.Random, Cores: runtime.NumCPU(), Log: c.Log,
		Origin:     func() string { return strings.TrimSuffix(c.PublicURL, "/") },
		SealTicket: func(kind string, plain []byte) string { return a.cursors.Load().SealBytes(ticketPurpose+kind, plain) },
		OpenTicket: func(kind, text string) ([]byte, bool) { return a.cursors.Load().OpenBytes(ticketPurpose+kind, text) },
	}
	if a.ring != nil {
		d.Seal = seal.UserSecrets{Ring: a.ring}
	}
	if o := c.SignIn.OIDC; o.Issuer != "" {
		if err := o.Check(); err != nil {
			return err
		}
		o.HTTP, o.Now = &http.Client{Timeout: issuerTime}, c.Now
		d.Issuer = oidc.New(o)
	}
	if m := c.SignIn.Mail; !m.URL.Empty() {
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

// SetupURL returns the one-time link to set up the owner, empty if a user can
// already sign in.
func (a *App) SetupURL(ctx context.Context) (string, error) {
	token, needed, err := a.SignIn.SetupToken(ctx)
	if err != nil || !needed {
		return "", err
	}
	return a.SignIn.Origin() + "/setup#" + token, nil
}

// SSOName returns the label of the single sign-on button, empty if single
// sign-on is off.
func (a *App) SSOName() string {
	switch p := a.config.SignIn; {
	case p.OIDC.Issuer == "":
		return ""
	case p.OIDCName == "":
		return "single sign-on"
	default:
		return p.OIDCName
	}
}
