package connection

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

type callsKey struct{}

// WithCalls has the calls to platforms counted that are made with the context.
func WithCalls(ctx context.Context, n *atomic.Int64) context.Context {
	return context.WithValue(ctx, callsKey{}, n)
}

// CountCall counts a call to a platform.
func CountCall(ctx context.Context) {
	if n, ok := ctx.Value(callsKey{}).(*atomic.Int64); ok {
		n.Add(1)
	}
}

// CallCost is how many calls a platform needs for an account with few ads. Large
// accounts need more, because their lists and reports have several pages.
type CallCost struct {
	// Entities is for what an account has, Reports for one window of days at a
	// level.
	Entities int64
	Reports  map[Level]int64
	// Chosen replaces Reports at the levels that it has, if events are chosen that
	// count as conversions.
	Chosen map[Level]int64
	// Empty is how many more calls a level needs for days without any rows.
	Empty int64
	// List is for the list of accounts, and one more for every ListSize accounts on
	// it; 0 for none.
	List, ListSize int64
}

// list returns the calls for a list of accounts.
func (c *CallCost) list(accounts int64) int64 {
	if c.ListSize == 0 {
		return c.List
	}
	return c.List + (accounts+c.ListSize-1)/c.ListSize
}

// Quota is a limit of calls that a platform documents.
type Quota struct {
	Name string
	// Calls are allowed in Seconds, for an app or for an account.
	Calls, Seconds int64
	Scope          string
}

// Scopes of quotas.
const (
	ScopeApp     = "app"
	ScopeAccount = "account"
)

// CallPlan says how many calls the accounts of a platform need, and what the
// platform allows.
type CallPlan struct {
	Platform string `json:"platform"`
	Accounts int64  `json:"accounts"`
	// FirstSync reads 90 days, History all before, Daily is for the largest day
	// afterwards.
	FirstSync int64 `json:"first_sync_calls"`
	History   int64 `json:"history_calls"`
	Daily     int64 `json:"daily_calls"`
	// WorkspaceDaily is Daily of all connections of the workspace.
	WorkspaceDaily int64       `json:"workspace_daily_calls"`
	Quotas         []PlanQuota `json:"quotas"`
	Message        string      `json:"message"`
}

// PlanQuota is a quota with the calls that a plan needs of it.
type PlanQuota struct {
	Name    string `json:"name"`
	Scope   string `json:"scope"`
	Calls   int64  `json:"calls"`
	Seconds int64  `json:"period_seconds"`
	Needed  int64  `json:"needed_calls"`
	Fits    bool   `json:"fits"`
}

const (
	secondsPerHour = 3600
	secondsPerDay  = 24 * secondsPerHour
)

// accountCalls are the calls for one account.
type accountCalls struct{ first, history, brief, nightly int64 }

// pageShare is the share of calls that a plan adds for further pages: one tenth.
//
// Choice: nobody knows before the first sync how many rows reports have. Of 22
// simulated accounts, those of TikTok Ads needed 3 percent more.
const pageShare = 10

// callsOf returns the calls for an account of a platform. A plan promises no less
// than accounts with few ads need: the history may have days without rows, and
// the daily run is one that reads days far back.
func (s *Checker) callsOf(about *About, c *Connection) (n accountCalls) {
	windows := func(days int64) int64 {
		size := int64(about.WindowDays)
		if size <= 0 {
			size = fullDays
		}
		return (max(0, days) + size - 1) / size
	}
	cost := about.Calls
	var base, all int64
	for level, calls := range cost.Reports {
		if chosen, ok := cost.Chosen[level]; ok && len(c.ConversionEvents) > 0 {
			calls = chosen
		}
		if all += calls; level <= LevelAd {
			base += calls
		}
	}
	past := int64(s.HistoryDays)
	if about.HistoryDays > 0 {
		past = min(past, int64(about.HistoryDays))
	}
	n.first = cost.Entities + windows(fullDays)*all
	if past > fullDays {
		n.history = cost.Entities + windows(past-fullDays)*(all+cost.Empty*int64(len(cost.Reports)))
	}
	n.brief = cost.Entities + windows(recentDays)*base
	n.nightly = cost.Entities + windows(max(c.Sync.LookbackDays+1, int64(about.DeepDays)))*all
	for _, calls := range []*int64{&n.first, &n.history, &n.brief, &n.nightly} {
		*calls += (*calls + pageShare - 1) / pageShare
	}
	return n
}

// daily returns the calls of a day for an account of the connection. The time
// between two syncs can be a twentieth shorter than the interval.
func (n *accountCalls) daily(c *Connection) int64 {
	shortest := int64(c.interval().Seconds()) * 19 / 20
	return n.nightly + max(0, (secondsPerDay+shortest-1)/shortest-1)*n.brief
}

// CallPlan returns the calls that a connection needs, by platform: for the
// accounts that are synced, or for all if none is chosen yet.
func (s *Checker) CallPlan(ctx context.Context, workspace, id ident.ID) ([]CallPlan, error) {
	c, err := s.store.Load(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	if err := c.syncs(); err != nil {
		return nil, err
	}
	chosen := c.enabled()
	all, err := All(ctx, s.store, workspace)
	if err != nil {
		return nil, err
	}
	list := []CallPlan{}
	for _, about := range s.Registry.About() {
		count := c.countAccounts(about.Platform, chosen)
		if count == 0 {
			continue
		}
		list = append(list, s.planPlatform(c, &about, count, all))
	}
	return list, nil
}

// countAccounts counts the accounts of a platform that are on a list, or all for
// none.
func (c *Connection) countAccounts(platform string, ids []string) (n int64) {
	for _, a := range c.Accounts {
		if a.Platform == platform && (len(ids) == 0 || slices.Contains(ids, a.ExternalID)) {
			n++
		}
	}
	return n
}

// planPlatform plans the calls of one platform.
func (s *Checker) planPlatform(c *Connection, about *About, count int64, all []*Connection) CallPlan {
	one, list := s.callsOf(about, c), about.Calls.list(c.countAccounts(about.Platform, nil))
	p := CallPlan{
		Platform: about.Platform, Accounts: count, FirstSync: count*one.first + list, History: count * one.history,
		Daily: count*one.daily(c) + list, Quotas: []PlanQuota{},
	}
	if p.History > 0 {
		p.History += list
	}
	p.WorkspaceDaily = p.Daily
	for _, other := range all {
		if other.ID != c.ID && other.Platform == c.Platform && other.Status != StatusDisconnected && other.Sync.IntervalMinutes != nil {
			calls := s.callsOf(about, other)
			if enabled := other.enabled(); len(enabled) > 0 {
				p.WorkspaceDaily += other.countAccounts(about.Platform, enabled)*calls.daily(other) + about.Calls.list(other.countAccounts(about.Platform, nil))
			}
		}
	}
	if c.Platform == PlatformSandbox {
		p.Message = "The sandbox has no quotas."
		return p
	}
	quotas := about.Quotas
	if n := s.Registry.DailyCalls(about.Platform); n > 0 {
		quotas = []Quota{{Name: "the operator's setting", Calls: n, Seconds: secondsPerDay, Scope: ScopeApp}}
	}
	for _, q := range quotas {
		p.Quotas = append(p.Quotas, p.use(&q, &one, c))
	}
	p.Message = p.describe(about.Name)
	return p
}

// use compares a plan with a quota.
func (p *CallPlan) use(q *Quota, one *accountCalls, c *Connection) PlanQuota {
	u := PlanQuota{Name: q.Name, Scope: q.Scope, Calls: q.Calls, Seconds: q.Seconds}
	switch {
	case q.Scope == ScopeApp:
		u.Needed = p.WorkspaceDaily * q.Seconds / secondsPerDay
	case q.Seconds < secondsPerDay:
		// The largest run can fall into one hour.
		u.Needed = max(one.nightly, one.first)
	default:
		u.Needed = one.daily(c) * q.Seconds / secondsPerDay
	}
	u.Fits = u.Needed <= q.Calls
	return u
}

// describe says in words what fits.
func (p *CallPlan) describe(platform string) string {
	text := fmt.Sprintf("Accounts: %d. They need up to %d calls for the first sync, %d for older days and %d a day afterwards, and more if reports have many pages.", p.Accounts, p.FirstSync, p.History, p.Daily)
	if len(p.Quotas) == 0 {
		return text + fmt.Sprintf(" %s publishes no quota.", platform)
	}
	for _, q := range p.Quotas {
		fits := "fits"
		if !q.Fits {
			fits = "does not fit"
		}
		per := "day"
		if q.Seconds == secondsPerHour {
			per = "hour"
		}
		text += fmt.Sprintf(" That %s %s: %d calls per %s and %s.", fits, q.Name, q.Calls, per, q.Scope)
	}
	if slices.ContainsFunc(p.Quotas, func(q PlanQuota) bool { return !q.Fits }) {
		text += " Choose fewer accounts, sync less often, or ask the platform for more; what does not fit is read later."
	}
	return text
}

// baseLevels are the levels of the totals.
var baseLevels = []Level{LevelAd, LevelCampaign, LevelAccount}

// levelsOf returns the levels that make up a family.
func levelsOf(f fact.Family) []Level {
	if f == fact.Base {
		return baseLevels
	}
	return []Level{levelOf(f)}
}
