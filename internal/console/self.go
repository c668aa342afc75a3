package console

import (
	"context"

	"fanfare/internal/clock"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/signin"
)

type openSession struct {
	ID         ident.ID      `json:"id"`
	Current    bool          `json:"current"`
	CreatedAt  clock.Instant `json:"created_at"`
	LastUsedAt clock.Instant `json:"last_used_at"`
	ExpiresAt  clock.Instant `json:"expires_at"`
	Address    string        `json:"ip"`
	Agent      string        `json:"user_agent"`
	Method     string        `json:"method"`
}

func (c *Console) listSessions(ctx context.Context, v *consoleRequest) (any, error) {
	all, err := c.SignIn.Sessions(ctx, v.session.UserID)
	list := []openSession{}
	for _, s := range all {
		list = append(list, openSession{s.ID, s.ID == v.session.ID, s.CreatedAt, s.UsedAt, s.ExpiresAt, s.Address, s.Agent, s.Method})
	}
	return list, err
}

func (c *Console) endSession(ctx context.Context, v *consoleRequest) (any, error) {
	return nothing{}, c.SignIn.Revoke(ctx, v.session, ident.ID(v.id))
}

func (c *Console) renameUser(ctx context.Context, v *consoleRequest) (any, error) {
	var name string
	if err := v.Read(func(f httpapi.Fields) { name = f.Text("name", 1, maxName) }); err != nil {
		return nil, err
	}
	return nothing{}, c.SignIn.Rename(ctx, v.session, name)
}

func (c *Console) setPassword(ctx context.Context, v *consoleRequest) (any, error) {
	var current *string
	var next string
	if err := v.Read(func(f httpapi.Fields) {
		current, next = f.TextOr("current", 0, maxPassword), f.Text("next", 1, maxPassword)
	}); err != nil {
		return nil, err
	}
	return nothing{}, c.SignIn.SetPassword(ctx, v.session, orEmpty(current), next)
}

type passkeyView struct {
	ID         ident.ID       `json:"id"`
	Name       string         `json:"name"`
	CreatedAt  clock.Instant  `json:"created_at"`
	LastUsedAt *clock.Instant `json:"last_used_at"`
}

func showPasskey(p signin.Passkey) passkeyView {
	return passkeyView{p.ID, p.Name, p.CreatedAt, p.LastUsedAt}
}

func (c *Console) listPasskeys(ctx context.Context, v *consoleRequest) (any, error) {
	all, err := c.SignIn.Passkeys(ctx, v.session.UserID)
	list := []passkeyView{}
	for _, p := range all {
		list = append(list, showPasskey(p))
	}
	return list, err
}

func (c *Console) beginRegister(ctx context.Context, v *consoleRequest) (any, error) {
	return showCeremony(c.SignIn.BeginRegister(ctx, v.session))
}

func (c *Console) finishRegister(ctx context.Context, v *consoleRequest) (any, error) {
	var ticket, name string
	var response []byte
	if err := v.Read(func(f httpapi.Fields) {
		ticket, name, response = f.Text("ticket", 1, maxTicket), f.Text("name", 1, maxName), f.Raw("response")
	}); err != nil {
		return nil, err
	}
	p, err := c.SignIn.FinishRegister(ctx, v.session, ticket, name, response)
	return showPasskey(p), err
}

func (c *Console) removePasskey(ctx context.Context, v *consoleRequest) (any, error) {
	return nothing{}, c.SignIn.RemovePasskey(ctx, v.session, ident.ID(v.id))
}

func (c *Console) beginTOTP(ctx context.Context, v *consoleRequest) (any, error) {
	t, err := c.SignIn.BeginTOTP(ctx, v.session)
	return struct {
		Secret string `json:"secret"`
		URI    string `json:"uri"`
	}{t.Secret, t.URI}, err
}

func (c *Console) confirmTOTP(ctx context.Context, v *consoleRequest) (any, error) {
	var code string
	if err := v.Read(func(f httpapi.Fields) { code = f.Text("code", 1, maxCode) }); err != nil {
		return nil, err
	}
	recovery, err := c.SignIn.ConfirmTOTP(ctx, v.session, code)
	return struct {
		Recovery []string `json:"recovery_codes"`
	}{recovery}, err
}

func (c *Console) removeTOTP(ctx context.Context, v *consoleRequest) (any, error) {
	return nothing{}, c.SignIn.RemoveTOTP(ctx, v.session)
}
