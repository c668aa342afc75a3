package main

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/backup"
	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/control"
	"fanfare/internal/factsfile"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
	"fanfare/internal/money"
	"fanfare/internal/record"
	"fanfare/internal/seal"
	"fanfare/internal/store"
)

// operator is the cause of changes by commands on the host.
var operator = record.Cause{Actor: record.Actor{Type: record.ActorSystem, Name: "operator"}}

type workspaceIn struct {
	WorkspaceID ident.ID `json:"workspace_id"`
	Plan        string   `json:"plan,omitzero"`
	Suspended   bool     `json:"suspended,omitzero"`
	// RequireApproval and ModelBudget (US dollars, or none) each belong to one
	// command.
	RequireApproval bool   `json:"require_approval,omitzero"`
	ModelBudget     string `json:"model_budget,omitzero"`
}

type userIn struct {
	WorkspaceID ident.ID `json:"workspace_id"`
	Email       string   `json:"email,omitzero"`
	Role        string   `json:"role,omitzero"`
	Service     bool     `json:"service,omitzero"`
}

type keyIn struct {
	WorkspaceID ident.ID       `json:"workspace_id"`
	KeyID       ident.ID       `json:"key_id,omitzero"`
	User        string         `json:"user,omitzero"`
	Name        string         `json:"name,omitzero"`
	Seconds     int64          `json:"seconds,omitzero"`
	Scopes      account.Scopes `json:"scopes,omitzero"`
	Addresses   []netip.Prefix `json:"addresses,omitzero"`
}

type keyOut struct {
	ID     ident.ID `json:"id"`
	APIKey string   `json:"api_key"`
}

type connectionIn struct {
	ConnectionID ident.ID `json:"connection_id"`
}

type backupIn struct {
	Path string `json:"path"`
}

type nothing struct{}

// operations returns the commands that can run inside a server.
func operations(a *app.App) map[string]control.Op {
	ops := map[string]control.Op{}
	for _, some := range []map[string]control.Op{
		workspaceOperations(a.Accounts), memberOperations(a), dataOperations(a), peopleOperations(a), providerOperations(a), ratesOperations(a), importOperations(a),
	} {
		maps.Copy(ops, some)
	}
	return ops
}

func workspaceOperations(acc *account.Service) map[string]control.Op {
	return map[string]control.Op{
		"workspace.create": control.NewOp(func(ctx context.Context, in account.NewWorkspace, _ func(control.Progress)) (account.Created, error) {
			return acc.CreateWorkspace(ctx, operator, in)
		}),
		"workspace.list": control.NewOp(func(ctx context.Context, _ nothing, _ func(control.Progress)) ([]account.Workspace, error) {
			return acc.Workspaces(ctx)
		}),
		"workspace.set-plan": control.NewOp(func(ctx context.Context, in workspaceIn, _ func(control.Progress)) (account.Workspace, error) {
			return acc.SetPlan(ctx, operator, in.WorkspaceID, in.Plan)
		}),
		"workspace.suspend": control.NewOp(func(ctx context.Context, in workspaceIn, _ func(control.Progress)) (account.Workspace, error) {
			return acc.Suspend(ctx, operator, in.WorkspaceID, in.Suspended)
		}),
		"workspace.set-approval": control.NewOp(func(ctx context.Context, in workspaceIn, _ func(control.Progress)) (account.Workspace, error) {
			return acc.SetApproval(ctx, operator, in.WorkspaceID, in.RequireApproval)
		}),
		"workspace.set-model-budget": control.NewOp(func(ctx context.Context, in workspaceIn, _ func(control.Progress)) (account.Workspace, error) {
			budget, err := modelBudget(in.ModelBudget)
			if err != nil {
				return account.Workspace{}, err
			}
			return acc.SetModelBudget(ctx, operator, in.WorkspaceID, budget)
		}),
	}
}

// memberOperations returns the commands for the users of a workspace and their
// API keys.
func memberOperations(a *app.App) map[string]control.Op {
	acc := a.Accounts
	return map[string]control.Op{
		"user.create": control.NewOp(func(ctx context.Context, in userIn, _ func(control.Progress)) (account.Member, error) {
			return acc.AddMember(ctx, operator, in.WorkspaceID, in.Email, in.Role, in.Service)
		}),
		"user.list": control.NewOp(func(ctx context.Context, in userIn, _ func(control.Progress)) ([]account.Member, error) {
			return acc.Members(ctx, in.WorkspaceID)
		}),
		"user.set-role": control.NewOp(func(ctx context.Context, in userIn, _ func(control.Progress)) (account.Member, error) {
			return acc.SetRole(ctx, operator, in.WorkspaceID, in.Email, in.Role)
		}),
		"user.remove": control.NewOp(func(ctx context.Context, in userIn, _ func(control.Progress)) (account.Member, error) {
			return acc.Remove(ctx, operator, in.WorkspaceID, in.Email)
		}),
		"key.create": control.NewOp(func(ctx context.Context, in keyIn, _ func(control.Progress)) (keyOut, error) {
			secret, k, err := acc.CreateKey(ctx, operator, in.WorkspaceID, in.User, account.KeyOptions{
				Name: in.Name, Lifetime: time.Duration(in.Seconds) * time.Second, Scopes: in.Scopes, Addresses: in.Addresses,
			})
			return keyOut{k.ID, secret}, err
		}),
		"key.list": control.NewOp(func(ctx context.Context, in keyIn, _ func(control.Progress)) ([]account.Key, error) {
			if err := a.Keys.Flush(ctx); err != nil {
				return nil, err
			}
			return acc.Keys(ctx, in.WorkspaceID)
		}),
		"key.rotate": control.NewOp(func(ctx context.Context, in keyIn, _ func(control.Progress)) (keyOut, error) {
			secret, k, err := acc.Rotate(ctx, operator, in.WorkspaceID, in.KeyID, time.Duration(in.Seconds)*time.Second)
			return keyOut{k.ID, secret}, err
		}),
		"key.revoke": control.NewOp(func(ctx context.Context, in keyIn, _ func(control.Progress)) (account.Key, error) {
			return acc.Revoke(ctx, operator, in.WorkspaceID, in.KeyID, "by_operator")
		}),
	}
}

// dataOperations returns the commands for backups, facts, the master key and
// checks of the stored data.
func dataOperations(a *app.App) map[string]control.Op {
	return map[string]control.Op{
		"backup.create": control.NewOp(func(ctx context.Context, in backupIn, report func(control.Progress)) (backup.Summary, error) {
			keys, err := a.MasterKey.Used(ctx)
			if err != nil {
				return backup.Summary{}, err
			}
			m := backup.Manifest{CreatedAt: clock.At(now()), Build: version, MasterKeys: keys}
			out, err := backup.Create(ctx, backup.Parts{Store: a.Engine, Files: a.Files, Facts: a.Facts}, in.Path, m, func(done, total int64) { report(control.Progress{Done: done, Total: total}) })
			if err == nil {
				out.DataLost, err = lostConnections(ctx, a.DB)
			}
			return out, err
		}),
		"facts.reset": control.NewOp(func(ctx context.Context, _ nothing, _ func(control.Progress)) (factsfile.Replaced, error) {
			return a.FactsReplacement.Replace(ctx, operator, func(metrics.ReplaceableEngine, string) error { return nil })
		}),
		"facts.restore": control.NewOp(func(ctx context.Context, in backupIn, report func(control.Progress)) (factsfile.Replaced, error) {
			workspaces, err := a.Accounts.WorkspaceIDs(ctx)
			if err != nil {
				return factsfile.Replaced{}, err
			}
			return a.FactsReplacement.Replace(ctx, operator, func(e metrics.ReplaceableEngine, dir string) error {
				return restoreFacts(ctx, e, dir, workspaces, in.Path, func(done, total int64) { report(control.Progress{Done: done, Total: total}) })
			})
		}),
		"master_key.rotate": control.NewOp(func(ctx context.Context, _ nothing, _ func(control.Progress)) (seal.Rotated, error) {
			return a.MasterKey.Rotate(ctx, operator)
		}),
		"master_key.accept": control.NewOp(func(ctx context.Context, _ nothing, _ func(control.Progress)) (acceptedKey, error) {
			id, err := a.MasterKey.Accept(ctx)
			return acceptedKey{id}, err
		}),
		"migrate": control.NewOp(func(ctx context.Context, in migrateIn, _ func(control.Progress)) (migrated, error) {
			return migrateStore(ctx, a.Engine, in.Contract)
		}),
		"doctor": control.NewOp(func(ctx context.Context, _ nothing, _ func(control.Progress)) ([]finding, error) {
			return append(examineStore(ctx, a.Engine, a.DB, ""), examineAssets(ctx, a.DB, a.Files), examineMasterKey(ctx, a.MasterKey), examineConnections(ctx, a.DB), examineFacts(ctx, a)), nil
		}),
		"connection.check": control.NewOp(func(ctx context.Context, in connectionIn, _ func(control.Progress)) (*connection.CheckReport, error) {
			return checkConnection(ctx, a, in.ConnectionID)
		}),
		"audit.verify": control.NewOp(func(ctx context.Context, _ nothing, report func(control.Progress)) (store.AuditReport, error) {
			return a.DB.VerifyAudit(ctx, func(entries int64) { report(control.Progress{Done: entries}) })
		}),
	}
}

// checkConnection checks a connection of any workspace.
func checkConnection(ctx context.Context, a *app.App, id ident.ID) (*connection.CheckReport, error) {
	workspaces, err := a.DB.Accounts().Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range workspaces {
		if _, err := a.Connections.Get(ctx, w.ID, id); fault.Is(err, fault.NotFound) {
			continue
		}
		return a.Connections.Check(ctx, w.ID, id, &body.Value{})
	}
	return nil, fault.New(fault.NotFound, fmt.Sprintf("No workspace has a connection %s. List them with GET /v1/connections.", id))
}

// modelBudget parses an amount of US dollars; none means no limit.
func modelBudget(text string) (*int64, error) {
	if text == "none" {
		return nil, nil
	}
	amount, reason := money.Parse(text, 2)
	if reason != "" {
		return nil, fault.Invalid([]fault.Detail{{Field: "monthly", Code: reason, Message: "monthly must be an amount of US dollars such as 50.00, or none."}})
	}
	return &amount.Micros, nil
}

// knownWorkspace returns an error if no workspace has the id. An empty id means
// all workspaces.
func knownWorkspace(ctx context.Context, a *app.App, id ident.ID) error {
	if id == "" {
		return nil
	}
	_, err := a.Accounts.Workspace(ctx, id)
	return err
}
