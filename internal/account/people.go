package account

import (
	"context"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

// WorkspaceChange has the settings that an admin may change. A nil field stays
// unchanged.
type WorkspaceChange struct {
	Name            *string
	Timezone        *string
	Currency        *string
	RequireApproval *bool
	// ModelBudget points to the new budget; a pointer to nil removes the limit.
	ModelBudget **int64
	EndlessKeys *bool
}

// Update changes a workspace. The fault contains all problems.
//
// Existing campaigns keep their time zone and currency, because their budgets
// and schedules were planned in them.
func (s *Service) Update(ctx context.Context, cause record.Cause, id ident.ID, c WorkspaceChange) (Workspace, error) {
	var problems []fault.Detail
	if c.Name != nil {
		problems = append(problems, checkWorkspaceName(*c.Name)...)
	}
	if c.Currency != nil {
		problems = append(problems, checkCurrency(*c.Currency)...)
	}
	if c.Timezone != nil {
		problems = append(problems, checkTimezone(*c.Timezone)...)
	}
	if c.ModelBudget != nil {
		problems = append(problems, checkModelBudget(*c.ModelBudget)...)
	}
	if problems != nil {
		return Workspace{}, fault.Invalid(problems)
	}
	return s.saveWorkspace(ctx, cause, id, "workspace.update", func(w *Workspace) {
		set(&w.Name, c.Name)
		set(&w.Timezone, c.Timezone)
		set(&w.Currency, (*money.Currency)(c.Currency))
		set(&w.RequireApproval, c.RequireApproval)
		set(&w.ModelBudget, c.ModelBudget)
		set(&w.EndlessKeys, c.EndlessKeys)
	})
}

// set assigns given unless it is nil.
func set[T any](member, given *T) {
	if given != nil {
		*member = *given
	}
}

// WorkspacesOf lists the workspaces where a user is an active member.
func (s *Service) WorkspacesOf(ctx context.Context, user ident.ID) ([]WorkspaceRole, error) {
	return s.store.WorkspacesOf(ctx, user)
}

// CallerFor returns the caller of a signed-in user, without a key and with the
// current role. It returns a not_found fault if the user is not an active
// member.
func (s *Service) CallerFor(ctx context.Context, workspace, user ident.ID) (*Caller, error) {
	c, err := s.store.MemberCaller(ctx, workspace, user)
	if err != nil {
		return nil, err
	}
	if c == nil || c.InactiveAt != nil {
		return nil, fault.Missing()
	}
	return c, nil
}

// KeyUse returns the number of requests of each key on each of the last days
// (UTC), from the oldest day to today. It omits unused keys.
func (s *Service) KeyUse(ctx context.Context, workspace ident.ID, days int) (map[ident.ID][]int64, error) {
	after := s.now().Unix()/86400 - int64(days)
	uses, err := s.store.KeyUse(ctx, workspace, after)
	if err != nil {
		return nil, err
	}
	counts := map[ident.ID][]int64{}
	for _, u := range uses {
		if counts[u.KeyID] == nil {
			counts[u.KeyID] = make([]int64, days)
		}
		// A node whose clock is ahead may have counted for tomorrow.
		if i := u.Day - after - 1; i < int64(days) {
			counts[u.KeyID][i] = u.Count
		}
	}
	return counts, nil
}

// Exposed stores when a key was first sent in a URL or over plain HTTP without
// being revoked.
func (s *Service) Exposed(ctx context.Context, cause record.Cause, k Key) error {
	if k.ExposedAt != nil {
		return nil
	}
	now := clock.At(s.now())
	k.ExposedAt = &now
	cause.Workspace = k.WorkspaceID
	return s.store.SaveKey(ctx, k, Note{Cause: cause, At: now, Action: "api_key.exposed"})
}

// checkExpiry returns a fault for a key without expiry if the workspace does
// not allow it.
func (s *Service) checkExpiry(ctx context.Context, workspace ident.ID, life time.Duration) error {
	if life > 0 {
		return nil
	}
	w, err := s.Workspace(ctx, workspace)
	if err == nil && !w.EndlessKeys {
		err = fault.Invalid([]fault.Detail{{Field: "expires", Code: "invalid_value", Message: "expires must be given: this workspace allows no keys that never end."}})
	}
	return err
}
