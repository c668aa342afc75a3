package app

import (
	"context"
	"errors"
	"fmt"

	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/seal"
)

// openRing opens the master keys, if configured.
func (a *App) openRing(ctx context.Context) (err error) {
	c := a.config
	if c.MasterKey == "" {
		return nil
	}
	var ring *seal.Ring
	var created bool
	if a.Engine.Traits().Exclusive || c.AcceptMasterKey {
		ring, created, err = seal.OpenOrCreate(c.MasterKey, c.Random)
	} else {
		ring, created, err = seal.OpenShared(ctx, c.MasterKey, c.Random, a.DB)
	}
	if err != nil {
		return fmt.Errorf("open master key: %w", err)
	}
	if created {
		c.Log.Warn("master key created: back up this file separately from the data, because stored keys to other services cannot be read without it", "file", c.MasterKey)
	}
	a.ring = ring
	return nil
}

// RotateMasterKey replaces the master key. See seal.Ring.Rotate.
func (a *App) RotateMasterKey(ctx context.Context, cause record.Cause) (seal.Rotated, error) {
	providers := func(ctx context.Context, workspace ident.ID) (int, error) {
		return a.Providers.Rewrap(ctx, cause, workspace)
	}
	connections := func(ctx context.Context, workspace ident.ID) (int, error) {
		return a.Connections.Rewrap(ctx, workspace, a.ring.Rewrap)
	}
	workspaces := a.Accounts.WorkspaceIDs
	out, err := a.ring.Rotate(ctx, a.DB.Sealed,
		// The empty workspace has the models that all workspaces can use.
		func(ctx context.Context) (int, error) { return providers(ctx, "") },
		seal.RewrapEach(workspaces, providers), seal.RewrapEach(workspaces, connections),
		func(ctx context.Context) (int, error) { return a.DB.SignIn().Rewrap(ctx, a.ring.Rewrap) })
	if err != nil {
		return out, err
	}
	return out, a.DB.ReplaceMasterKey(ctx, out.Active)
}

// AcceptMasterKey makes the master key of this node that of all nodes, and returns
// its id.
func (a *App) AcceptMasterKey(ctx context.Context) (string, error) {
	if a.ring == nil {
		return "", errors.New("there is no master key; set --master-key")
	}
	return a.ring.Active(), a.DB.ReplaceMasterKey(ctx, a.ring.Active())
}

// MasterKeys returns the ids of the keys that stored secrets need, sorted.
func (a *App) MasterKeys(ctx context.Context) ([]string, error) {
	sealed, err := a.DB.Sealed(ctx)
	return seal.KeyIDs(sealed), err
}
