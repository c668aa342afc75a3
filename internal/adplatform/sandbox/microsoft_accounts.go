package sandbox

import (
	"slices"
	"strconv"
)

// Roles of users.
const (
	microsoftAdmin  = 41
	microsoftViewer = 100
)

// microsoftFamily is the number of accounts that a customer owns.
const microsoftFamily = 4

// microsoftCustomerID returns the customer that owns an account. Several accounts
// of a grant belong to one customer.
func microsoftCustomerID(a *Account) string {
	return microsoftCustomerOf(a.Set, a.Set.Member/microsoftFamily)
}

func microsoftCustomerOf(w AccountSet, family int) string {
	// The sets of members have seeds of their own, so the customer depends on what
	// they share.
	k := seedKey(0).named(w.Currency).named(w.Timezone).named("customer").numbered(int64(family))
	return "19" + strconv.FormatInt(k.intBetween(1_000_000, 9_999_999), 10)
}

// microsoftUserID is the user of all tokens.
const microsoftUserID = "87654321"

// user answers with the user and the role for each customer. Empty account ids
// mean all accounts of the customer.
func (c *microsoftCall) user() (any, *microsoftError) {
	accounts, err := c.Accounts(c.token)
	if err != nil {
		return nil, microsoftRefusal(microsoftBadToken, "")
	}
	roles := []any{}
	var seen []string
	for _, a := range accounts {
		customer := microsoftCustomerID(a)
		if slices.Contains(seen, customer) {
			continue
		}
		seen = append(seen, customer)
		role := map[string]any{"RoleId": c.roleFor(a), "CustomerId": customer, "AccountIds": nil, "LinkedAccountIds": nil, "CustomerLinkPermission": nil}
		if len(seen) > 1 && c.Behaves(nil, microsoftLinked) {
			role["LinkedAccountIds"], role["CustomerLinkPermission"] = []string{a.ID}, "Standard"
		}
		roles = append(roles, role)
	}
	return map[string]any{
		"User": map[string]any{
			"Id": microsoftUserID, "UserName": "sandbox@northwind-outdoor.example", "CustomerId": microsoftCustomerID(accounts[0]), "UserLifeCycleStatus": "Active",
			"Name": map[string]any{"FirstName": "Sam", "LastName": "Northwind", "MiddleInitial": nil},
		},
		"CustomerRoles": roles,
	}, nil
}

// roleFor returns the role of the user for an account.
func (c *microsoftCall) roleFor(a *Account) int {
	if c.Behaves(a, microsoftLinked) && a.Set.Member/microsoftFamily == 1 {
		return microsoftViewer
	}
	return microsoftAdmin
}

// searchAccounts answers with a page of the accounts of a user. An account that
// is linked to a second customer is listed twice.
func (c *microsoftCall) searchAccounts() (any, *microsoftError) {
	var in struct {
		Predicates []struct{ Field, Operator, Value string }
		PageInfo   struct{ Index, Size int }
	}
	if refused := c.read(&in); refused != nil {
		return nil, refused
	}
	size := in.PageInfo.Size
	if len(in.Predicates) != 1 || in.Predicates[0].Field != "UserId" || in.Predicates[0].Operator != "Equals" || size < 1 || size > 1000 || in.PageInfo.Index < 0 {
		return nil, microsoftRefusal(microsoftNullRequest, "Predicates, PageInfo")
	}
	accounts, err := c.Accounts(c.token)
	if err != nil {
		return nil, microsoftRefusal(microsoftBadToken, "")
	}
	list := []any{}
	for _, a := range accounts {
		if in.Predicates[0].Value != microsoftUserID {
			break
		}
		list = append(list, c.accountFields(a))
		if a.Set.Member > 0 && a.Set.Member%microsoftFamily == 0 && c.Behaves(nil, microsoftLinked) || c.Fault(FaultDuplicatePage) {
			list = append(list, c.accountFields(a))
		}
	}
	from := min(in.PageInfo.Index*size, len(list))
	return map[string]any{"Accounts": list[from:min(from+size, len(list))]}, nil
}

// getAccount answers with one account.
func (c *microsoftCall) getAccount() (any, *microsoftError) {
	var in struct {
		AccountID string `json:"AccountId"`
	}
	if refused := c.read(&in); refused != nil {
		return nil, refused
	}
	a, err := c.AccountByID(c.token, in.AccountID)
	if err != nil || a == nil {
		return nil, microsoftRefusal(microsoftForbidden, "")
	}
	return map[string]any{"Account": c.accountFields(a)}, nil
}

// microsoftStates are the states of the accounts of a grant with the switch on,
// beginning with the second.
var microsoftStates = []string{"Pause", "Pending", "Draft", "Inactive", "Suspended"}

func (c *microsoftCall) accountFields(a *Account) map[string]any {
	state, reason := "Active", any(nil)
	if i := a.Set.Member; i > 0 && i <= len(microsoftStates) && c.Behaves(a, microsoftAccountStates) {
		state = microsoftStates[i-1]
		if state == "Pause" {
			reason = 1
		}
	}
	zone, _ := microsoftZone(a.zone)
	if c.Behaves(a, microsoftNewZone) {
		zone = "Atlantis"
	}
	return map[string]any{
		"Id": a.ID, "Name": a.Name, "Number": "F" + a.ID[:7], "CurrencyCode": a.Set.Currency, "TimeZone": zone, "ParentCustomerId": microsoftCustomerID(a),
		"AccountLifeCycleStatus": state, "PauseReason": reason, "AccountFinancialStatus": "ClearFinancialStatus", "Language": "English", "AccountMode": "Expert",
		"PrimaryUserId": microsoftUserID, "BillToCustomerId": microsoftCustomerID(a), "LinkedAgencies": nil, "ForwardCompatibilityMap": []any{},
	}
}
