package app

import (
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
		SealTicket: func(kind string, plain []byte) string { return a.Cursors.Sealer().SealBytes(ticketPurpose+kind, plain) },
		OpenTicket: func(kind, text string) ([]byte, bool) { return a.Cursors.Sealer().OpenBytes(ticketPurpose+kind, text) },
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
