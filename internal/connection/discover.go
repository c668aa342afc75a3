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
	listed, err := s.listAccounts(ctx, c, ring)
	if err != nil {
		return err
	}
	denied, deniedRemedies := map[string]string{}, map[string]string{}
	for _, platform := range Played {
		list, there := listed[platform]
		if !there {
			continue
		}
		client, _ := s.Registry.Client(platform, c.Platform == PlatformSandbox)
		c.Capabilities = append(c.Capabilities, client.About().Capabilities...)
		for _, a := range list {
			if a.Problem != nil && a.Problem.Class == Forbidden {
				denied[a.ExternalID], deniedRemedies[a.ExternalID] = a.Problem.Message, *Remediation(a.Problem)
			}
		}
		c.accounts(platform, slices.DeleteFunc(list, func(a Account) bool { return a.Problem != nil && c.account(a.ExternalID) == nil }))
	}
	c.Private.Denied, c.Private.DeniedRemedies = denied, deniedRemedies
	slices.Sort(c.Capabilities)
	c.Capabilities = slices.Compact(c.Capabilities)
	if len(c.Accounts) == 0 {
		return &Error{Class: Forbidden, Code: "no_accounts", Message: "The credentials open no account.", Remedy: "Give the user access to an account on the platform, or connect with another user who has it."}
	}
	return nil
}

// listAccounts lists the accounts that credentials open, by platform.
func (s *Access) listAccounts(ctx context.Context, c *Connection, ring PlatformCredentials) (map[string][]Account, error) {
	listed := map[string][]Account{}
	for _, platform := range Played {
		k, there := ring[platform]
		if !there {
			continue
		}
		client, ok := s.Registry.Client(platform, c.Platform == PlatformSandbox)
		if !ok {
			return nil, fmt.Errorf("there is no client for %s", platform)
		}
		list, err := client.Accounts(s.appContext(ctx, platform, k), k)
		if err != nil {
			return nil, fmt.Errorf("list accounts of %s: %w", platform, err)
		}
		listed[platform] = list
	}
	return listed, nil
}

func (c *Connection) accounts(platform string, list []Account) {
	next := slices.Clone(c.Accounts)
	first := !slices.ContainsFunc(next, func(a Account) bool { return a.Platform == platform })
	for i := range next {
		if next[i].Platform != platform || slices.ContainsFunc(list, func(a Account) bool { return a.ExternalID == next[i].ExternalID }) {
			continue
		}
		if next[i].Enabled {
			c.switchAccount(&next[i], isUnlisted)
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
			if next[i].Enabled || c.switchedOff(a.ExternalID) != nil {
				c.switchAccount(&next[i], hasChanged)
			}
		case i >= 0:
			next[i].Name, next[i].URL = a.Name, a.URL
			if c.switchedOff(a.ExternalID) != nil {
				c.switchAccount(&next[i], nil)
			}
		case len(next) < MaxAccounts && a.Currency != "":
			a.Enabled = c.selects(&a, first, len(list) == 1)
			next = append(next, a)
		}
	}
	c.Accounts = next
}

// accountsDenied is the reason of a connection with accounts that the platform
// lists and does not let us read.
const accountsDenied = "accounts_denied"

// listingReason returns what is wrong with the list of accounts, nil for
// nothing.
func (c *Connection) listingReason(at clock.Instant) *Reason {
	if why := c.switchedOffReason(at); why != nil || len(c.Private.Denied) == 0 {
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
