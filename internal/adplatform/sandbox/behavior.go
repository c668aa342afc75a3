package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Behavior is a documented behavior of a platform that changes metrics or
// access. A behavior that is not always simulated has a switch, which is off
// unless a caller turns it on.
type Behavior struct {
	// ID is the row of docs/PLATFORM-BEHAVIORS.md, such as M24.
	ID       string
	Platform string
	// Switch is the name of the switch, empty for a behavior that is always
	// simulated. Several rows can have the same switch.
	Switch string
	// Values are the values that the switch takes, such as error codes. Without
	// them it takes "on", or a number if Number is true.
	Values []string
	Number bool
	// Summary says what the platform does, Client what our client does about it.
	Summary, Client string
	// Source is the page or the file of the platform's SDK that documents it.
	Source string
	// Test is the test that fails if the client does not handle it, as
	// "package TestName".
	Test string
}

// Switches of every platform.
const (
	// BehaviorAccounts is the number of accounts that a grant opens.
	BehaviorAccounts = "accounts"
	// BehaviorMaturation is the number of days for which metrics change, which
	// is otherwise that of the platform's usual attribution.
	BehaviorMaturation = "maturation_days"
)

var commonBehaviors = []Behavior{
	{Switch: BehaviorAccounts, Number: true},
	{Switch: BehaviorMaturation, Number: true},
}

// Behaviors returns all simulated behaviors in the order of the platforms.
func Behaviors() []Behavior {
	return slices.Concat(googleBehaviors, metaBehaviors, tikTokBehaviors, linkedInBehaviors, ga4Behaviors, microsoftBehaviors)
}

// BehaviorRule turns a switch on. An empty Platform or Account means all.
type BehaviorRule struct {
	Platform string `json:"platform,omitzero"`
	Account  string `json:"account,omitzero"`
	Switch   string `json:"switch"`
	// Value is "on" if not set.
	Value string `json:"value,omitzero"`
}

func (r *BehaviorRule) validate() error {
	if r.Platform != "" && apiOf(r.Platform) == nil {
		return fmt.Errorf("platform %q is not simulated: it is one of %s", r.Platform, strings.Join(platformNames(), ", "))
	}
	known := slices.DeleteFunc(slices.Concat(commonBehaviors, Behaviors()), func(b Behavior) bool {
		return b.Switch == "" || r.Platform != "" && b.Platform != "" && b.Platform != r.Platform
	})
	i := slices.IndexFunc(known, func(b Behavior) bool { return b.Switch == r.Switch })
	if i < 0 {
		var names []string
		for _, b := range known {
			names = append(names, b.Switch)
		}
		slices.Sort(names)
		return fmt.Errorf("switch %q is unknown: it is one of %s", r.Switch, strings.Join(slices.Compact(names), ", "))
	}
	if r.Value == "" && !known[i].Number && known[i].Values == nil {
		r.Value = "on"
	}
	return known[i].validate(r.Value)
}

func (b *Behavior) validate(value string) error {
	switch n, err := strconv.Atoi(value); {
	case b.Number && (err != nil || n < 1):
		return fmt.Errorf("value of %s must be a whole number from 1", b.Switch)
	case b.Values != nil && !slices.Contains(b.Values, value):
		return fmt.Errorf("value of %s must be one of %s", b.Switch, strings.Join(b.Values, ", "))
	case !b.Number && b.Values == nil && value != "on":
		return errors.New(`value must be "on" or left out`)
	}
	return nil
}

// behaviorRules are the switches that are on.
type behaviorRules struct {
	mu    sync.Mutex
	rules []BehaviorRule
}

// TurnOn turns a switch on, or changes its value.
func (s *Server) TurnOn(r BehaviorRule) error {
	if err := r.validate(); err != nil {
		return err
	}
	s.behaviors.mu.Lock()
	defer s.behaviors.mu.Unlock()
	s.behaviors.rules = slices.DeleteFunc(s.behaviors.rules, func(old BehaviorRule) bool {
		return old.Platform == r.Platform && old.Account == r.Account && old.Switch == r.Switch
	})
	s.behaviors.rules = append(s.behaviors.rules, r)
	return nil
}

// TurnAllOff turns all switches off.
func (s *Server) TurnAllOff() {
	s.behaviors.mu.Lock()
	defer s.behaviors.mu.Unlock()
	s.behaviors.rules = nil
}

func (b *behaviorRules) list() []BehaviorRule {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.rules)
}

// value returns the value of a switch for an account of a platform, an empty
// string if it is off. The last rule that applies counts.
func (b *behaviorRules) value(platform, account, name string) (value string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.rules {
		if r.Switch == name && (r.Platform == "" || r.Platform == platform) && (r.Account == "" || r.Account == account) {
			value = r.Value
		}
	}
	return value
}

// number returns the value of a switch that takes a number, otherwise if it is
// off.
func (b *behaviorRules) number(platform, account, name string, otherwise int) int {
	if n, err := strconv.Atoi(b.value(platform, account, name)); err == nil {
		return n
	}
	return otherwise
}

// Behavior returns the value of a switch of the platform for an account, which
// may be nil. It is empty if the switch is off.
func (s *Call) Behavior(a *Account, name string) string {
	id := ""
	if a != nil {
		id = a.ID
	}
	return s.server.behaviors.value(s.api.Platform(), id, name)
}

// Behaves reports whether a switch of the platform is on for an account, which
// may be nil.
func (s *Call) Behaves(a *Account, name string) bool { return s.Behavior(a, name) != "" }

// Accounts returns the accounts that an access token opens, that of its account
// set first.
func (s *Call) Accounts(access string) ([]*Account, error) {
	first, err := s.Open(access)
	if err != nil {
		return nil, err
	}
	list := []*Account{first}
	for i := 1; i < s.server.behaviors.number(s.api.Platform(), "", BehaviorAccounts, 1); i++ {
		a, err := s.server.accountOf(first.Set.member(i), s.api.Platform())
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// AccountByID returns the account with an id that an access token opens, nil if
// it opens no such account.
func (s *Call) AccountByID(access, id string) (*Account, error) {
	list, err := s.Accounts(access)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if a.ID == id {
			return a, nil
		}
	}
	return nil, nil
}

// member returns the set of a further account of a grant.
func (w AccountSet) member(i int) AccountSet {
	w.Seed = w.seedKey().named("member").numbered(int64(i)).intBelow(1 << 53)
	w.Member = i
	return w
}

// matured returns the account with metrics that change for as many days as the
// switch says.
func (s *Server) matured(a *Account) *Account {
	days := s.behaviors.number(a.Platform, a.ID, BehaviorMaturation, 0)
	if days == 0 {
		return a
	}
	changed, traits := *a, *a.traits
	traits.settledAge = days
	changed.traits = &traits
	return &changed
}

// AccountIDs returns the ids of the accounts that an access token of a platform
// opens, nil if the token is not valid.
func (s *Server) AccountIDs(platform, access string) (ids []string) {
	list, err := s.newCall(apiOf(platform), "", "").Accounts(access)
	if err != nil {
		return nil
	}
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	return ids
}
