package console

import (
	"context"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// dollarDigits is the number of decimals of a model budget.
const dollarDigits = 6

type workspaceView struct {
	ID              ident.ID       `json:"id"`
	Name            string         `json:"name"`
	Plan            account.Plan   `json:"plan"`
	Timezone        string         `json:"timezone"`
	Currency        money.Currency `json:"currency"`
	RequireApproval bool           `json:"require_approval"`
	ModelBudget     *string        `json:"model_budget"`
	EndlessKeys     bool           `json:"endless_keys"`
	CreatedAt       clock.Instant  `json:"created_at"`
}

func showWorkspace(w account.Workspace) workspaceView {
	out := workspaceView{w.ID, w.Name, w.Plan, w.Timezone, w.Currency, w.RequireApproval, nil, w.EndlessKeys, w.CreatedAt}
	if w.ModelBudget != nil {
		budget := dollars(*w.ModelBudget)
		out.ModelBudget = &budget
	}
	return out
}

// dollars formats millionths of a dollar with at least two decimals.
func dollars(micros int64) string { return money.Amount{Micros: micros, Digits: 2}.String() }

func (c *Console) getWorkspace(_ context.Context, v *consoleRequest) (any, error) {
	return showWorkspace(v.caller.Workspace), nil
}

func (c *Console) updateWorkspace(ctx context.Context, v *consoleRequest) (any, error) {
	var change account.WorkspaceChange
	if err := v.Read(func(f httpapi.Fields) {
		change.Name, change.Timezone, change.Currency = f.TextOr("name", 1, maxName), f.TextOr("timezone", 1, maxName), f.TextOr("currency", 1, maxName)
		change.RequireApproval, change.EndlessKeys = f.Flag("require_approval"), f.Flag("endless_keys")
		if f.Has("model_budget") {
			change.ModelBudget = readModelBudget(f)
		}
	}); err != nil {
		return nil, err
	}
	w, err := c.Accounts.Update(ctx, v.cause(), v.workspace(), change)
	return showWorkspace(w), err
}

// readModelBudget reads an amount in dollars, or null for no limit.
func readModelBudget(f httpapi.Fields) **int64 {
	var budget *int64
	if text := f.TextOr("model_budget", 1, maxCode); text != nil {
		a, reason := money.Parse(*text, dollarDigits)
		if reason != "" {
			f.Bad("model_budget", reason, `must be a plain decimal of US dollars, such as "25.00".`)
		}
		budget = &a.Micros
	}
	return &budget
}

// addWorkspace creates another workspace for the user.
// Choice: it has the smallest plan; only the operator assigns plans.
func (c *Console) addWorkspace(ctx context.Context, v *consoleRequest) (any, error) {
	if c.MaxWorkspaces == 0 {
		return nil, fault.New(fault.InvalidState, "Only the operator creates workspaces on this server, with fanfare workspace create.")
	}
	n := account.NewWorkspace{Plan: string(account.Starter), Owner: v.caller.User.Email, Keyless: true, MostOwned: c.MaxWorkspaces}
	if err := v.Read(func(f httpapi.Fields) { readWorkspace(f, &n) }); err != nil {
		return nil, err
	}
	made, err := c.Accounts.CreateWorkspace(ctx, v.cause(), n)
	if err != nil {
		return nil, err
	}
	w, err := c.Accounts.Workspace(ctx, made.WorkspaceID)
	return showWorkspace(w), err
}

type modelView struct {
	Spent  string  `json:"spent"`
	Budget *string `json:"budget"`
}

type usageView struct {
	Minute *httpapi.Window `json:"minute"`
	Day    *httpapi.Window `json:"day"`
	Daily  []int64         `json:"daily"`
	Model  modelView       `json:"model"`
}

func (c *Console) getUsage(ctx context.Context, v *consoleRequest) (any, error) {
	out := usageView{Daily: make([]int64, useDays)}
	out.Minute, out.Day = v.Quotas(v.caller.Workspace)
	use, err := c.Accounts.KeyUse(ctx, v.workspace(), useDays)
	if err != nil {
		return nil, err
	}
	for _, days := range use {
		for i, n := range days {
			out.Daily[i] += n
		}
	}
	spent, err := c.ModelSpent(ctx, v.workspace(), v.Now.UTC().Format("2006-01"))
	out.Model = modelView{dollars(spent), showWorkspace(v.caller.Workspace).ModelBudget}
	return out, err
}
