package connection

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// CheckReport is what a check of a connection found.
type CheckReport struct {
	ConnectionID ident.ID      `json:"connection_id"`
	CheckedAt    clock.Instant `json:"checked_at"`
	// OK says that no check failed.
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// Check is one thing that was tried.
type Check struct {
	Name      string  `json:"name"`
	Platform  string  `json:"platform"`
	AccountID *string `json:"account_id"`
	Status    string  `json:"status"`
	// Code is the platform's code of an error.
	Code        *string `json:"code"`
	Message     string  `json:"message"`
	Remediation *string `json:"remediation"`
}

// Statuses of checks.
const (
	CheckOK      = "ok"
	CheckFailed  = "failed"
	CheckWarning = "warning"
	CheckSkipped = "skipped"
)

// Names of checks. Reports are named like the report.
const (
	checkCredentials = "credentials"
	checkScopes      = "scopes"
	checkAccounts    = "accounts"
	checkEntities    = "entities"
	checkWrites      = "writes"
	checkQuota       = "quota"
)

// maxCheckedAccounts is the largest number of accounts that one check reads.
//
// Choice: a check answers a person who waits, and makes five calls and more for
// each account.
const maxCheckedAccounts = 5

// checkTime is how long a check may take. What has not answered by then has
// failed.
const checkTime = 20 * time.Second

// checker collects the results of a check.
type checker struct {
	s      *Checker
	c      *Connection
	ring   PlatformCredentials
	report *CheckReport
}

// Check tries what the connection needs: its credentials, scopes, accounts,
// every report, writing and quotas. It changes nothing on the platform. The body
// can name accounts; without it, the first ones that are synced are read.
func (s *Checker) Check(ctx context.Context, workspace, id ident.ID, sent *body.Value) (*CheckReport, error) {
	f := body.NewReader(sent, false)
	accounts := f.Texts("account_ids", maxCheckedAccounts, MaxAccountID)
	f.Done()
	c, err := s.store.Load(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := c.syncs(); err != nil {
		return nil, err
	}
	if c.Status == StatusPending {
		return nil, fault.New(fault.InvalidState, "Nobody has granted access yet.", c.stateDetail("Not possible while pending."))
	}
	k := &checker{s: s, c: c, report: &CheckReport{ConnectionID: id, CheckedAt: clock.At(s.now()), Checks: []Check{}}}
	if k.try(ctx, accounts) {
		if err := k.quota(ctx); err != nil {
			return nil, err
		}
	}
	k.report.OK = !slices.ContainsFunc(k.report.Checks, func(c Check) bool { return c.Status == CheckFailed })
	return k.report, nil
}

// try asks the platform. Checks that need what failed before are left out; it
// reports whether none is.
func (k *checker) try(ctx context.Context, accounts []string) bool {
	ctx, cancel := context.WithTimeout(WaiveHolds(ctx), checkTime)
	defer cancel()
	var listed map[string][]Account
	err := k.s.withAccess(ctx, k.c, func(ring PlatformCredentials) (err error) {
		k.ring = ring
		listed, err = k.s.listAccounts(ctx, k.c, ring)
		return err
	})
	switch class := ClassOf(err); {
	case err != nil && (k.ring == nil || class == Expired || class == Revoked):
		k.add(checkCredentials, k.c.Platform, "", err, "")
		return false
	case err != nil && (class == Transient || class == Throttled):
		k.report.Checks = append(k.report.Checks, Check{
			Name: checkCredentials, Platform: k.c.Platform, Status: CheckSkipped, Message: "The platform did not say whether it accepts the credentials.",
		})
	default:
		k.add(checkCredentials, k.c.Platform, "", nil, "The platform accepts the credentials.")
	}
	k.scopes()
	if err != nil {
		k.add(checkAccounts, k.c.Platform, "", err, "")
		return false
	}
	k.accounts(listed)
	k.readAccounts(ctx, accounts)
	k.writes()
	return true
}

// add adds the result of a check. platform and account are empty if the check is
// about the connection.
func (k *checker) add(name, platform, account string, err error, fine string) {
	k.report.Checks = append(k.report.Checks, newCheck(name, platform, account, err, fine))
}

func newCheck(name, platform, account string, err error, fine string) Check {
	c := Check{Name: name, Platform: platform, Status: CheckOK, Message: fine}
	if account != "" {
		c.AccountID = &account
	}
	if err != nil {
		e := runError(err)
		c.Status, c.Code, c.Message, c.Remediation = CheckFailed, &e.Code, e.Message, e.Remediation
	}
	return c
}

func (k *checker) scopes() {
	c := Check{Name: checkScopes, Platform: k.c.Platform, Status: CheckOK, Message: "All scopes are granted."}
	switch missing := k.s.missing(k.c); {
	case len(missing) > 0:
		c.Status, c.Message = CheckFailed, "These scopes were not granted: "+strings.Join(missing, ", ")+"."
		c.Remediation = some("Grant access again with POST /v1/connections/{id}/reconnect, and leave every permission ticked on the platform's page.")
	case len(k.c.ScopesGranted) == 0:
		c.Status, c.Message = CheckSkipped, "The platform does not say which scopes were granted."
	}
	k.report.Checks = append(k.report.Checks, c)
}

// accounts checks that the platform lists the accounts that are synced.
func (k *checker) accounts(listed map[string][]Account) {
	for _, platform := range Played {
		list, there := listed[platform]
		if !there {
			continue
		}
		k.add(checkAccounts, platform, "", nil, fmt.Sprintf("Accounts that the platform lists: %d.", len(list)))
		for _, a := range list {
			if a.Problem != nil {
				k.add(checkAccounts, platform, a.ExternalID, a.Problem, "")
			}
		}
		for _, a := range k.c.Accounts {
			if a.Platform == platform && a.Enabled && !slices.ContainsFunc(list, func(b Account) bool { return b.ExternalID == a.ExternalID }) {
				k.add(checkAccounts, platform, a.ExternalID, &Error{Class: Forbidden, Code: accountNotListed, Message: "The platform does not list the account for these credentials."}, "")
			}
		}
	}
}

// readAccounts reads what accounts have and every report of yesterday.
func (k *checker) readAccounts(ctx context.Context, ids []string) {
	if len(ids) == 0 {
		ids = k.c.enabled()
	}
	results := make([][]Check, min(len(ids), maxCheckedAccounts))
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() { results[i] = k.readAccount(ctx, ids[i]) })
	}
	group.Wait()
	k.report.Checks = append(k.report.Checks, slices.Concat(results...)...)
	for _, id := range ids[len(results):] {
		k.report.Checks = append(k.report.Checks, Check{
			Name: checkEntities, Platform: k.c.Platform, AccountID: &id, Status: CheckSkipped, Message: fmt.Sprintf("A check reads %d accounts at most. Name this one to check it.", maxCheckedAccounts),
		})
	}
}

// readAccount reads what one account has and its reports.
func (k *checker) readAccount(ctx context.Context, id string) []Check {
	a := k.c.account(id)
	client, creds, ok := k.s.clientFor(k.c, k.ring, id)
	if !ok {
		return []Check{newCheck(checkEntities, k.c.Platform, id, &Error{Class: Gone, Code: "no_account", Message: "The connection has no such account."}, "")}
	}
	ctx = k.s.appContext(ctx, a.Platform, creds)
	found, err := client.Entities(ctx, creds, id)
	if err != nil {
		return []Check{newCheck(checkEntities, a.Platform, id, err, "")}
	}
	list := []Check{newCheck(checkEntities, a.Platform, id, nil, fmt.Sprintf("%d campaigns, %d ads and %d audiences can be read.", len(found.Campaigns), len(found.Ads), len(found.Audiences)))}
	day := a.today(k.report.CheckedAt) - 1
	for family, name := range fact.Families {
		var rows int
		tried := false
		for _, level := range levelsOf(fact.Family(family)) {
			if slices.Contains(client.About().Levels, level) && err == nil {
				tried = true
				err = client.Report(ctx, creds, Report{Account: id, Level: level, First: day, Last: day, Entities: found}, func(r []fact.Row) error {
					rows += len(r)
					return nil
				})
			}
		}
		if tried {
			list = append(list, newCheck("report_"+name, a.Platform, id, err, fmt.Sprintf("The report %s of %s can be read and has %d rows.", name, day, rows)))
		}
		err = nil
	}
	return list
}

// writes checks whether states can be written. It writes none.
func (k *checker) writes() {
	c := Check{Name: checkWrites, Platform: k.c.Platform, Status: CheckOK, Message: "States of campaigns can be written. Whether the platform accepts one shows when one is written."}
	switch {
	case !slices.Contains(k.c.Capabilities, CapabilityWriteCampaigns):
		c.Status, c.Message = CheckSkipped, "States of campaigns cannot be written to this platform."
	case !k.c.WriteEnabled:
		c.Status, c.Message = CheckSkipped, "write_enabled is off, so pauses are not written to the platform."
		c.Remediation = some("To have pauses written, set write_enabled to true with PATCH /v1/connections/{id}.")
	}
	k.report.Checks = append(k.report.Checks, c)
}

// quota compares the calls that syncs need with what platforms allow.
func (k *checker) quota(ctx context.Context) error {
	plans, err := k.s.CallPlan(ctx, k.c.WorkspaceID, k.c.ID)
	if err != nil {
		return err
	}
	for _, p := range plans {
		c := Check{Name: checkQuota, Platform: p.Platform, Status: CheckOK, Message: p.Message}
		if slices.ContainsFunc(p.Quotas, func(q PlanQuota) bool { return !q.Fits }) {
			c.Status = CheckWarning
			c.Remediation = some("Choose fewer accounts, sync less often, or ask the platform for a higher access level.")
		}
		k.report.Checks = append(k.report.Checks, c)
	}
	return nil
}
