package app

import (
	"context"

	"fanfare/internal/console"
	"fanfare/internal/ident"
	"fanfare/internal/llm/provider"
	"fanfare/internal/mail"
	"fanfare/internal/record"
	"fanfare/internal/secret"
	"fanfare/internal/signin"
	"fanfare/internal/store"
)

// buildConsole creates the HTTP layer of the console, in front of that of the API.
func (a *App) buildConsole() (err error) {
	c := a.config
	d := console.Deps{
		API: a.API, Accounts: a.Accounts, SignIn: a.SignIn, Audit: auditLog{a.DB}, Providers: models{a.Providers},
		ModelSpent: a.DB.Creatives().Spent, OIDC: a.SSOName(), Authority: c.Authority, Build: c.Build, MaxWorkspaces: c.MaxWorkspaces, Now: c.Now, Log: c.Log,
	}
	if a.Mail != nil {
		d.Mail = post{a.Mail}
	}
	a.Console, err = console.New(d)
	a.Handler = a.Console
	return err
}

// post sends the console's links by email.
type post struct{ sender *mail.Sender }

// Invite implements console.Mail.
func (p post) Invite(ctx context.Context, to, workspace, by string, link signin.Link) error {
	return p.sender.Send(ctx, mail.Invitation(to, workspace, by, link.URL, link.ExpiresAt.Time()))
}

// Reset implements console.Mail.
func (p post) Reset(ctx context.Context, to string, link signin.Link) error {
	return p.sender.Send(ctx, mail.Reset(to, link.URL, link.ExpiresAt.Time()))
}

// auditLog gives the console access to the audit log.
type auditLog struct{ db *store.DB }

// Entries implements console.Audit.
func (l auditLog) Entries(ctx context.Context, workspace ident.ID, before int64, action string, most int) ([]console.AuditEntry, error) {
	found, err := l.db.AuditEntries(ctx, workspace, before, action, most)
	list := make([]console.AuditEntry, len(found))
	for i, e := range found {
		list[i] = console.AuditEntry(e)
	}
	return list, err
}

// models lets the console configure language models.
type models struct{ providers *provider.Service }

// modelNames are the display names of model vendors.
var modelNames = map[string]string{"openai": "OpenAI", "anthropic": "Anthropic", "gemini": "Google Gemini"}

// List implements console.Providers.
func (m models) List(ctx context.Context, workspace ident.ID) ([]console.Provider, error) {
	found, err := m.providers.List(ctx, workspace)
	list := make([]console.Provider, len(found))
	for i, p := range found {
		list[i] = console.Provider{
			Kind: p.Kind, Name: modelNames[p.Kind], Scope: console.ScopeWorkspace,
			Settings: console.ProviderSettings{BaseURL: p.BaseURL, Model: p.Model, ImageModel: p.ImageModel, Default: p.Default, Priced: p.Priced},
		}
		if p.WorkspaceID == "" {
			// Only the operator may see the URLs of the operator's models.
			list[i].Scope, list[i].Settings.BaseURL = console.ScopeServer, ""
		}
	}
	return list, err
}

// Set implements console.Providers.
func (m models) Set(ctx context.Context, cause record.Cause, p console.Provider, key secret.Text) error {
	_, err := m.providers.Set(ctx, cause, cause.Workspace, p.Kind, provider.Settings{
		Model: p.Settings.Model, ImageModel: p.Settings.ImageModel, Default: p.Settings.Default,
	}, key)
	return err
}

// Remove implements console.Providers.
func (m models) Remove(ctx context.Context, cause record.Cause, kind string) error {
	return m.providers.Remove(ctx, cause, cause.Workspace, kind)
}
