package connection

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fanfare/internal/clock"
)

// discover brings the accounts up to date. New ones are switched on, and those
// that are gone off; a currency or zone never changes, because figures rely on
// both.
func (s *Access) discover(ctx context.Context, c *Connection, ring PlatformCredentials) error {
	c.Capabilities = nil
	c.ScopesMissing = []string{}
	denied, deniedRemedies := map[string]string{}, map[string]string{}
	for _, platform := range Played {
		k, there := ring[platform]
		if !there {
			continue
		}
		client, ok := s.Registry.Client(platform, c.Platform == PlatformSandbox)
		if !ok {
			return fmt.Errorf("there is no client for %s", platform)
		}
		list, err := client.Accounts(s.appContext(ctx, platform, k), k)
		if err != nil {
			return fmt.Errorf("list accounts of %s: %w", platform, err)
		}
		c.Capabilities = append(c.Capabilities, client.About().Capabilities...)
		for _, a := range list {
			if a.Problem != nil && a.Problem.Class == Forbidden {
				denied[a.ExternalID], deniedRemedies[a.ExternalID] = a.Problem.Message, *Remediation(a.Problem)
			}
		}
		c.accounts(platform, slices.DeleteFunc(list, func(a Account) bool { return a.Problem != nil && c.account(a.ExternalID) == nil }), clock.At(s.now()))
	}
	c.Private.Denied, c.Private.DeniedRemedies = denied, deniedRemedies
	slices.Sort(c.Capabilities)
	c.Capabilities = slices.Compact(c.Capabilities)
	if len(c.Accounts) == 0 {
		return &Error{Class: Forbidden, Code: "no_accounts", Message: "The credentials open no account.", Remedy: "Give the user access to an account on the platform, or connect with another user who has it."}
	}
	return nil
}

// accountChanged is the reason of a connection with an account that is not what
// it was.
const accountChanged = "account_changed"

func (c *Connection) accounts(platform string, list []Account, at clock.Instant) {
	next := slices.Clone(c.Accounts)
	first := !slices.ContainsFunc(next, func(a Account) bool { return a.Platform == platform })
	for i := range next {
		if next[i].Platform != platform || slices.ContainsFunc(list, func(a Account) bool { return a.ExternalID == next[i].ExternalID }) {
			continue
		}
		if next[i].Enabled {
			next[i].Enabled = false
			c.Private.Unlisted = append(slices.Clip(c.Private.Unlisted), next[i].ExternalID)
		}
	}
	for _, a := range list {
		a.Platform = platform
		i := slices.IndexFunc(next, func(b Account) bool { return b.ExternalID == a.ExternalID })
		switch {
		case i >= 0 && a.Problem != nil:
			// Its days that cannot be read are gaps.
		case i >= 0 && (next[i].Currency != a.Currency || next[i].Timezone != a.Timezone):
			// Its figures would mean something else from here on.
			next[i].Enabled = false
			c.StatusReason = &Reason{
				Code: accountChanged, Message: fmt.Sprintf("Account %s has another currency or time zone than before and is switched off.", a.ExternalID),
				Since: at, Remediation: some("Connect the platform anew to read the account as it is now."),
			}
		case i >= 0:
			next[i].Name, next[i].URL = a.Name, a.URL
			if slices.Contains(c.Private.Unlisted, a.ExternalID) {
				next[i].Enabled = true
				c.Private.Unlisted = without(c.Private.Unlisted, a.ExternalID)
			}
		case len(next) < MaxAccounts && a.Currency != "":
			a.Enabled = c.selects(&a, first, len(list) == 1)
			next = append(next, a)
		}
	}
	c.Accounts = next
}

// accountNotListed is the reason of a connection with an account that the
// platform no longer lists.
const accountNotListed = "account_not_listed"

// unlisted is the reason for accounts that are switched off because the platform
// no longer lists them, nil where there are none.
func (c *Connection) unlisted(at clock.Instant) *Reason {
	if len(c.Private.Unlisted) == 0 {
		return nil
	}
	return &Reason{
		Code: accountNotListed, Message: fmt.Sprintf("The platform no longer lists the accounts %s for these credentials; they are switched off.", strings.Join(c.Private.Unlisted, ", ")),
		Since: at, Remediation: some("Grant access with credentials that open them; they are then switched on again."),
	}
}

// accountsDenied is the reason of a connection with accounts that the platform
// lists and does not let us read.
const accountsDenied = "accounts_denied"

// listingReason returns what is wrong with the list of accounts, nil for
// nothing.
func (c *Connection) listingReason(at clock.Instant) *Reason {
	if why := c.unlisted(at); why != nil || len(c.Private.Denied) == 0 {
		return why
	}
	ids := slices.Sorted(maps.Keys(c.Private.Denied))
	remedy := cmp.Or(c.Private.DeniedRemedies[ids[0]], classRemedies[Forbidden]) + " All other accounts are synced."
	return &Reason{
		Code: accountsDenied, Message: fmt.Sprintf("The platform denies access to the accounts %s: %s", strings.Join(ids, ", "), c.Private.Denied[ids[0]]),
		Since: at, Remediation: &remedy,
	}
}

// without is a list without an element.
func without(list []string, element string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(e string) bool { return e == element })
}
