package google

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/money"
)

const clientFields = "SELECT customer_client.id, customer_client.descriptive_name, customer_client.currency_code, customer_client.time_zone, " +
	"customer_client.manager, customer_client.status FROM customer_client"

// Accounts implements connection.Client. It lists accounts in every state;
// Problem says why one cannot be read.
func (c *Client) Accounts(ctx context.Context, creds connection.Credentials) ([]connection.Account, error) {
	roots, err := c.accessibleCustomers(ctx, creds, false)
	if err != nil {
		return nil, err
	}
	list := accountList{at: map[string]int{}, managers: map[string]bool{}}
	for _, root := range roots {
		// An account that a manager has listed needs no call of its own.
		if list.setDirect(root) {
			continue
		}
		rows, err := c.queryCustomer(ctx, creds, root, "", clientFields, false)
		e, ok := errors.AsType[*connection.Error](err)
		switch {
		case ok && isOfAccount(e):
			list.addProblem(root, e)
		case err != nil:
			return nil, err
		}
		for i := range rows {
			list.add(root, &rows[i])
		}
	}
	for i := range list.accounts {
		if err := c.probeSuspended(ctx, creds, &list.accounts[i]); err != nil {
			return nil, err
		}
	}
	return list.result()
}

// accessibleCustomers returns the customers that the credentials open without a
// manager. They are sorted, so that an account below two managers is always
// called through the same one.
func (c *Client) accessibleCustomers(ctx context.Context, creds connection.Credentials, urgent bool) ([]string, error) {
	var accessible struct {
		ResourceNames []string `json:"resourceNames"`
	}
	_, err := c.api.Do(ctx, transport.Call{
		Method: http.MethodGet, Path: "/" + version + "/customers:listAccessibleCustomers", Header: googleauth.Bearer(creds), Urgent: urgent,
	}, &accessible)
	if err != nil {
		return nil, err
	}
	roots := []string{}
	for _, name := range accessible.ResourceNames {
		if id := strings.TrimPrefix(name, "customers/"); isDigits(id) {
			roots = append(roots, id)
		}
	}
	slices.Sort(roots)
	return roots, nil
}

// accountList collects accounts. An account below several managers is in it once.
type accountList struct {
	accounts []connection.Account
	// at has the accounts by customer id.
	at map[string]int
	// managers are the customers that are managers.
	managers map[string]bool
}

// setDirect names a listed account by its id alone. It returns false if the
// customer has to be queried.
func (l *accountList) setDirect(customer string) bool {
	i, there := l.at[customer]
	if there {
		l.accounts[i].ExternalID = customer
	}
	return there
}

// The problems of accounts by their status, from the client library google-ads
// 34.0.0, google/ads/googleads/v26/enums/types/customer_status.py.
var statusProblems = map[string]connection.Error{
	"CANCELED":  {Class: connection.Gone, Code: "CANCELED", Message: "The account is canceled.", Remedy: reactivate},
	"SUSPENDED": {Class: connection.Forbidden, Code: "SUSPENDED", Message: "The account is suspended.", Remedy: "Follow the notice in Google Ads and contact Google support: only Google can end the suspension."},
	"CLOSED":    {Class: connection.Gone, Code: "CLOSED", Message: "The account is closed for good.", Remedy: "Turn the account off in the connection; its past metrics stay."},
}

// add adds a row of customer_client that was read from a root.
func (l *accountList) add(root string, r *row) {
	client := &r.CustomerClient
	if client.Manager {
		l.managers[client.ID] = true
	}
	if client.Manager || !isDigits(client.ID) {
		return
	}
	a := connection.Account{
		ExternalID: client.ID, Name: client.DescriptiveName,
		Currency: money.Currency(client.CurrencyCode), Timezone: client.TimeZone, Enabled: true,
	}
	if client.ID != root {
		a.ExternalID += "@" + root
	}
	if a.Name == "" {
		a.Name = "Google Ads " + client.ID
	}
	if problem, ok := statusProblems[client.Status]; ok {
		a.Problem, a.Enabled = &problem, false
	}
	i, there := l.at[client.ID]
	switch {
	case !there:
		l.at[client.ID] = len(l.accounts)
		l.accounts = append(l.accounts, a)
	case l.accounts[i].Currency == "" || client.ID == root:
		// A manager lists an account that refused direct calls, or the account
		// is now known to be open without a manager.
		l.accounts[i] = a
	}
}

// addProblem adds a customer that does not let us read it. Its currency and time
// zone are unknown.
func (l *accountList) addProblem(customer string, e *connection.Error) {
	if _, there := l.at[customer]; there || l.managers[customer] {
		return
	}
	l.at[customer] = len(l.accounts)
	l.accounts = append(l.accounts, connection.Account{ExternalID: customer, Name: "Google Ads " + customer, Problem: e})
}

// result returns the accounts. If none can be read because the Cloud project is not
// approved, that is the error: the person who connects cannot change it by
// choosing another account.
func (l *accountList) result() ([]connection.Account, error) {
	var refusal error
	for i := range l.accounts {
		switch problem := l.accounts[i].Problem; {
		case problem == nil:
			return l.accounts, nil
		case problem.Code == "CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION":
			refusal = problem
		}
	}
	return l.accounts, refusal
}

// probeSuspended finds out whether a suspended account can be read. Google
// documents only that it cannot be changed, and refuses to read some of them.
func (c *Client) probeSuspended(ctx context.Context, creds connection.Credentials, a *connection.Account) error {
	if a.Problem == nil || a.Problem.Code != "SUSPENDED" {
		return nil
	}
	customer, manager, _ := splitAccount(a.ExternalID) // it was built from ids
	_, err := c.queryCustomer(ctx, creds, customer, manager, "SELECT customer.id FROM customer", false)
	e, ok := errors.AsType[*connection.Error](err)
	switch {
	case err == nil:
		a.Problem, a.Enabled = nil, true
	case !ok || !isOfAccount(e):
		return err
	}
	return nil
}

// findManager looks for a manager that has access to a customer, other than the
// one that was tried.
func (c *Client) findManager(ctx context.Context, creds connection.Credentials, customer, tried string, urgent bool) (manager string, found bool) {
	roots, err := c.accessibleCustomers(ctx, creds, urgent)
	if err != nil {
		return "", false
	}
	for _, root := range roots {
		if root == tried || root == customer && tried == "" {
			continue
		}
		if root == customer {
			return "", true
		}
		rows, err := c.queryCustomer(ctx, creds, root, "", clientFields+" WHERE customer_client.id = "+customer, urgent)
		if err == nil && slices.ContainsFunc(rows, func(r row) bool { return r.CustomerClient.ID == customer }) {
			return root, true
		}
	}
	return "", false
}

// routeTable remembers through which manager an account is reached whose name has
// another one. An entry that is wrong costs one search for a manager.
type routeTable struct {
	mu       sync.Mutex
	managers map[string]string
	searched map[string]time.Time
}

// searchInterval is how often the managers of an account are searched at most: a
// search costs operations of the quota.
const searchInterval = time.Hour

func (t *routeTable) manager(account string) (manager string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	manager, ok = t.managers[account]
	return manager, ok
}

func (t *routeTable) set(account, manager string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.managers == nil {
		t.managers = map[string]string{}
	}
	t.managers[account] = manager
}

// maySearch reports whether it is time for a search.
func (t *routeTable) maySearch(account string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last, ok := t.searched[account]; ok && now.Sub(last) < searchInterval {
		return false
	}
	if t.searched == nil {
		t.searched = map[string]time.Time{}
	}
	t.searched[account] = now
	return true
}
