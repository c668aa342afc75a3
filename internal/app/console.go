package app

import "fanfare/internal/console"

// buildConsole creates the HTTP layer of the console, in front of that of the API.
func (a *App) buildConsole() (err error) {
	c := a.config
	d := console.Deps{
		API: a.API, Accounts: a.Accounts, SignIn: a.SignIn, Audit: a.DB, Providers: a.Providers,
		ModelSpent: a.DB.Creatives().ModelSpend, OIDC: c.SignIn.OIDC.Label(), Authority: c.Authority, Build: c.Build, MaxWorkspaces: c.MaxWorkspaces, Now: c.Now, Log: c.Log,
	}
	if a.Mail != nil {
		d.Mail = a.Mail
	}
	a.Console, err = console.New(d)
	a.Handler = a.Console
	return err
}
