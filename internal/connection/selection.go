package connection

import (
	"context"
	"fmt"
	"slices"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// Selection says which accounts of a grant are synced. An agency's grant opens
// the accounts of all its clients.
type Selection struct {
	// Mode is SelectAll or SelectSome, IDs the external ids that the creator
	// chose.
	Mode string   `json:"mode"`
	IDs  []string `json:"ids"`
	// AutoAdd says that accounts which the grant opens later are synced too.
	AutoAdd bool `json:"auto_add"`
}

// The modes of a selection.
const (
	SelectAll  = "all"
	SelectSome = "selected"
)

// SelectionModes lists the modes.
var SelectionModes = []string{SelectSome, SelectAll}

// readSelection reads the selection of a new connection, nil for none.
func readSelection(f *body.Reader) *Selection {
	n := f.Nested("account_selection", body.Optional)
	if n == nil {
		return nil
	}
	chosen := &Selection{}
	body.Set(&chosen.Mode, n.Choice("mode", body.Required, SelectionModes))
	chosen.IDs = n.Texts("ids", MaxAccounts, MaxAccountID)
	chosen.AutoAdd = chosen.Mode == SelectAll
	body.Set(&chosen.AutoAdd, n.Flag("auto_add"))
	if chosen.Mode == SelectAll && len(chosen.IDs) > 0 {
		n.Bad(n.At("ids"), "incompatible_fields", "is for mode selected only.", nil)
	}
	n.Done()
	return chosen
}

// defaultSelection returns the selection of a connection whose creator chose
// none.
//
// Choice: nothing of a real platform is read before someone has chosen, unless
// the grant opens one account only: a login of an agency opens the accounts of
// all its clients.
func defaultSelection(platform string) Selection {
	if platform == PlatformSandbox {
		return Selection{Mode: SelectAll, AutoAdd: true}
	}
	return Selection{Mode: SelectSome}
}

// selects reports whether an account that is new to the connection is synced.
// One that the platform lists as closed is only if it was chosen.
// first says that the connection knew no account of the platform before, alone
// that the platform lists this one only.
func (c *Connection) selects(a *Account, first, alone bool) bool {
	switch {
	case slices.Contains(c.AccountSelection.IDs, a.ExternalID):
		return true
	case !a.Enabled:
		return false
	case !first:
		return c.AccountSelection.AutoAdd
	case c.AccountSelection.Mode == SelectAll:
		return true
	}
	return alone && len(c.AccountSelection.IDs) == 0
}

// chooseAccounts is the reason of a connection none of whose accounts is synced.
const chooseAccounts = "choose_accounts"

// unselected returns the reason for a connection none of whose accounts was
// chosen. One that the service has switched off was.
func (c *Connection) unselected(at clock.Instant) *Reason {
	if len(c.enabled()) > 0 || c.offCount() > 0 {
		return nil
	}
	return &Reason{
		Code: chooseAccounts, Message: fmt.Sprintf("The access reaches %d accounts, and none is synced yet.", len(c.Accounts)), Since: at,
		Remediation: some("Choose the accounts to sync with PATCH /v1/connections/{id}."),
	}
}

// startAfterChoice has a connection synced for the first time once someone has
// chosen an account.
func (s *Connector) startAfterChoice(c *Connection, ch *Change) {
	if c.StatusReason == nil || c.StatusReason.Code != chooseAccounts || len(c.enabled()) == 0 {
		return
	}
	c.StatusReason = nil
	if c.Sync.LastSuccessAt == nil && c.Sync.CurrentRunID == nil && len(c.Private.Queue) == 0 {
		s.enqueue(c, s.newRun(c, ch.Cause, Request{Mode: ModeFull}, TriggerInitial, ch.At), ch)
	}
}

// eraseAccounts takes out the metrics of accounts. Those that are synced are
// read again from the beginning.
func (s *Connector) eraseAccounts(ctx context.Context, workspace, id ident.ID, accounts []Account) error {
	if len(accounts) == 0 {
		return nil
	}
	ctx, unlock, err := s.Lock(ctx, factsLock(id))
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.Begin(ctx, workspace, id); err != nil {
		return err
	}
	for _, a := range accounts {
		batch := &fact.Batch{Workspace: workspace}
		source := &fact.Source{Connection: id, Platform: a.Platform, Account: a.ExternalID, Currency: a.Currency, Zone: a.Timezone}
		for _, r := range a.Reports {
			if reached, ok := r.reached(); ok {
				family := fact.Family(slices.Index(fact.Families, r.Report))
				batch.Replace = append(batch.Replace, fact.Window{Source: source, Family: family, First: reached, Last: *r.Through})
			}
		}
		if len(batch.Replace) == 0 {
			continue
		}
		if err := s.Facts.Write(ctx, batch); err != nil {
			return fmt.Errorf("delete metrics of account %s: %w", a.ExternalID, err)
		}
	}
	return s.store.Enqueue(ctx, spendJob(workspace, id, clock.At(s.now())))
}

// erased removes what accounts say about metrics that are deleted, and returns
// them as they were.
func (c *Connection) erased(u *Update, before *Connection) (list []Account) {
	for _, id := range u.Delete {
		if old := before.account(id); old != nil {
			list = append(list, *old)
			c.account(id).Reports = nil
		}
	}
	return list
}
