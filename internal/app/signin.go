package app

import (
	"fmt"
	"runtime"
	"strings"

	"fanfare/internal/account"
	"fanfare/internal/mail"
	"fanfare/internal/oidc"
	"fanfare/internal/page"
	"fanfare/internal/seal"
	"fanfare/internal/signin"
)

// SignInConfig configures sign-in and email. The zero value has neither email nor
// single sign-on.
type SignInConfig struct {
	Mail mail.Options
	OIDC oidc.Options
}

// buildSignIn creates the sign-in service.
func (a *App) buildSignIn() error {
	c := a.config
	tickets := page.ForEach[string](a.Keyring, "sign-in")
	d := signin.Deps{
		Store: a.DB.SignIn(), Roles: account.Roles, Now: c.Now, Random: c.Random, Cores: runtime.NumCPU(), Log: c.Log,
		Origin:     func() string { return strings.TrimSuffix(c.PublicURL, "/") },
		SealTicket: tickets.Seal, OpenTicket: tickets.Open,
	}
	if a.ring != nil {
		d.Seal = seal.UserSecrets{Ring: a.ring}
	}
	if o := c.SignIn.OIDC; o.Issuer != "" {
		if err := o.Check(); err != nil {
			return err
		}
		o.Now = c.Now
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
