package sandbox

import (
	"net/http"
	"slices"
)

// Switches of access to accounts.
const (
	googleManagerTree = "manager_tree"
	googleLinkMoved   = "manager_link_moved"
	googleSuspended   = "status_suspended"
)

// googleCustomer is an account or a manager account.
type googleCustomer struct {
	// account has no campaigns if it is a manager.
	account *Account
	manager bool
	// status is one of CustomerStatusEnum, hidden is how managers show it.
	status string
	hidden bool
	// parents are the managers that it is linked to.
	parents []*googleCustomer
	// direct says that the person has access without a manager.
	direct bool
	// refusal is how it answers calls, nil if it can be read.
	refusal *googleFailure
}

// googleTree has all customers of a grant.
type googleTree []*googleCustomer

var (
	googleDenied     = googleFailure{http.StatusForbidden, "authorizationError", "USER_PERMISSION_DENIED", "User doesn't have permission to access customer.", nil}
	googleNotEnabled = googleFailure{http.StatusForbidden, "authorizationError", "CUSTOMER_NOT_ENABLED", "The customer account can't be accessed because it is not yet enabled or has been deactivated.", nil}
	googleWrongLogin = googleFailure{
		http.StatusForbidden, "authorizationError", "INVALID_LOGIN_CUSTOMER_ID_SERVING_CUSTOMER_ID_COMBINATION",
		"The login customer ID specified does not have access to the account specified.", nil,
	}
)

// customers returns the customers of a grant: its accounts, or with the switch a
// tree of managers that has an account in every state.
func (google) customers(s *Call, access string) (googleTree, error) {
	accounts, err := s.Accounts(access)
	if err != nil {
		return nil, err
	}
	tree := googleTree{}
	for _, a := range accounts {
		tree = append(tree, &googleCustomer{account: a, status: "ENABLED", direct: true})
	}
	if s.Behaves(nil, googleManagerTree) {
		tree = tree.underManagers(s)
	}
	for _, c := range tree {
		// A suspended account can be read and not changed.
		if !c.manager && s.Behaves(c.account, googleSuspended) {
			c.status = "SUSPENDED"
		}
	}
	return tree, nil
}

// underManagers links the accounts to managers: the first manager has the odd
// accounts, a manager below it the even ones, and the second manager some of
// both.
func (t googleTree) underManagers(s *Call) googleTree {
	first, second, below := t.newManager(1), t.newManager(2), t.newManager(3)
	below.parents, below.direct = []*googleCustomer{first}, false
	for i, c := range t {
		c.direct = i == 0
		c.parents = []*googleCustomer{first}
		if i%2 == 0 {
			c.parents[0] = below
		}
		if i%10 == 9 {
			c.parents = append(c.parents, second)
		}
		c.setState(i)
		if s.Behaves(c.account, googleLinkMoved) {
			c.parents = []*googleCustomer{second}
		}
	}
	return append(googleTree{first, second, below}, t...)
}

// setState gives some accounts of a tree their state, by their number.
func (c *googleCustomer) setState(number int) {
	switch number {
	case 3:
		c.status, c.refusal = "CANCELED", &googleNotEnabled
	case 4:
		c.status, c.refusal = "SUSPENDED", &googleNotEnabled
	case 5:
		c.status, c.refusal = "CLOSED", &googleNotEnabled
	case 6:
		c.hidden = true
	case 7:
		c.refusal = &googleDenied
	case 8:
		// Access without a manager that has been taken back.
		c.direct, c.parents, c.refusal = true, nil, &googleDenied
	case 10:
		c.direct, c.parents, c.status, c.refusal = true, nil, "CANCELED", &googleNotEnabled
	}
}

// newManager returns a manager of the tree's accounts.
func (t googleTree) newManager(number int64) *googleCustomer {
	first := t[0].account
	id := idFormat{lead: "8"}.newID(10, first.Set.seedKey().named("manager").numbered(number), func(string) bool { return false })
	return &googleCustomer{
		account: &Account{Set: first.Set, Platform: GoogleAds, ID: id, Name: "Agency " + id, First: first.First, zone: first.zone, traits: first.traits},
		manager: true, status: "ENABLED", direct: true,
	}
}

func (t googleTree) find(id string) *googleCustomer {
	for _, c := range t {
		if c.account.ID == id {
			return c
		}
	}
	return nil
}

// accessible returns the resource names of the customers that the person has
// access to without a manager.
func (t googleTree) accessible() []string {
	names := []string{}
	for _, c := range t {
		if c.direct {
			names = append(names, "customers/"+c.account.ID)
		}
	}
	return names
}

// open returns the customer that a call is for. login is the header
// login-customer-id.
func (t googleTree) open(id, login string) (*googleCustomer, *googleFailure) {
	c := t.find(id)
	switch {
	case c == nil || login == "" && !c.direct:
		return nil, &googleDenied
	case login != "" && login != id && !c.isBelow(login):
		return nil, &googleWrongLogin
	case login != "" && t.find(login) == nil:
		return nil, &googleDenied
	case c.refusal != nil:
		return nil, c.refusal
	}
	return c, nil
}

// isBelow reports whether a manager is above the customer.
func (c *googleCustomer) isBelow(manager string) bool {
	return slices.ContainsFunc(c.parents, func(p *googleCustomer) bool { return p.account.ID == manager || p.isBelow(manager) })
}

// googleClientRow is a row of customer_client: a customer and its distance to the
// manager that is queried.
type googleClientRow struct {
	*googleCustomer
	level int64
}

// below returns a customer and all below it, each once.
func (t googleTree) below(root *googleCustomer) []googleClientRow {
	list := []googleClientRow{{root, 0}}
	for i := 0; i < len(list); i++ {
		for _, c := range t {
			known := slices.ContainsFunc(list, func(r googleClientRow) bool { return r.googleCustomer == c })
			if !known && slices.Contains(c.parents, list[i].googleCustomer) {
				list = append(list, googleClientRow{c, list[i].level + 1})
			}
		}
	}
	return list
}
