package store

import (
	"context"
	"fmt"
	"strings"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

// Accounts stores workspaces, users and API keys.
type Accounts struct{ db *DB }

var (
	_ account.Store        = (*Accounts)(nil)
	_ account.Credentials  = (*Accounts)(nil)
	_ account.MemberReader = (*Accounts)(nil)
)

// Accounts returns the store of accounts.
func (db *DB) Accounts() *Accounts { return &Accounts{db} }

var (
	workspaceTable = newTable(table{
		name: "workspace", key: []string{"id"},
		columns: names("id", "name", "plan", "timezone", "currency", "suspended", "created_at", "require_approval", "model_budget", "endless_keys", "founder"),
	})
	userTable = newTable(table{
		name: "account_user", key: []string{"id"}, columns: names("id", "email", "name", "service", "created_at", "founder"),
	})
	memberTable = newTable(table{
		name: "member", key: []string{"workspace_id", "user_id"}, columns: names("workspace_id", "user_id", "role", "inactive_at"),
		parents: []*table{workspaceTable, userTable},
	})
	keyTable = newTable(table{
		name: "api_key", key: workspaceID,
		columns: names("workspace_id", "id", "user_id", "hash", "name", "last4", "scopes", "addresses", "created_at", "expires_at",
			"revoked_at", "revoke_reason", "notified", "last_used_at", "last_address", "last_agent", "exposed_at"),
		parents: []*table{memberTable},
	})
	keyUseTable = newTable(table{
		name: "api_key_use", key: []string{"workspace_id", "key_id", "day"}, columns: names("workspace_id", "key_id", "day", "count"),
	})
)

// The columns that readWorkspace, readUser and readKey expect.
var (
	workspaceColumns = workspaceTable.all("w")
	userColumns      = userTable.all("u")
)

const keyColumns = `k.id, k.workspace_id, k.user_id, k.name, k.last4, k.scopes, k.addresses, k.created_at, k.expires_at, k.revoked_at, k.revoke_reason, k.notified, k.last_used_at, k.last_address, k.last_agent, k.exposed_at`

func readWorkspace(r *Rows) account.Workspace {
	w := account.Workspace{
		ID: ident.ID(r.Text()), Name: r.Text(), Plan: account.Plan(r.Text()), Timezone: r.Text(),
		Currency: money.Currency(r.Text()), Suspended: r.Bool(), CreatedAt: clock.Instant(r.Int()), RequireApproval: r.Bool(),
	}
	if budget, ok := r.IntOrNull(); ok {
		w.ModelBudget = &budget
	}
	w.EndlessKeys, w.Founder = r.Bool(), ident.ID(r.Text())
	return w
}

func readUser(r *Rows) account.User {
	return account.User{ID: ident.ID(r.Text()), Email: r.Text(), Name: r.Text(), Service: r.Bool(), CreatedAt: clock.Instant(r.Int()), Founder: ident.ID(r.Text())}
}

func readKey(r *Rows) (account.Key, error) {
	k := account.Key{ID: ident.ID(r.Text()), WorkspaceID: ident.ID(r.Text()), UserID: ident.ID(r.Text()), Name: r.Text(), Last4: r.Text()}
	scopes, addresses := r.Bytes(), r.Bytes()
	k.CreatedAt, k.ExpiresAt, k.RevokedAt = clock.Instant(r.Int()), readInstant(r), readInstant(r)
	k.Reason, k.Notified = r.Text(), r.Int()
	k.LastUsedAt, k.LastAddress, k.LastAgent, k.ExposedAt = readInstant(r), r.Text(), r.Text(), readInstant(r)
	if scopes != nil {
		if err := decode(scopes, &k.Scopes); err != nil {
			return k, err
		}
	}
	if addresses != nil {
		return k, decode(addresses, &k.Addresses)
	}
	return k, nil
}

func readInstant(r *Rows) *clock.Instant {
	n, ok := r.IntOrNull()
	if !ok {
		return nil
	}
	i := clock.Instant(n)
	return &i
}

// writeAudited writes an account change with its audit entry and event, in the
// scope of ctx, and notifies every node. fn may set target.
func (s *Accounts) writeAudited(ctx context.Context, note account.Note, target *ident.ID, shown func() any, fn func(Tx) error) error {
	return s.db.writeTx(ctx, func(tx Tx) error {
		// Lock the audit chain first. Changes of one workspace then wait for
		// each other, so that limits counted in fn cannot be exceeded.
		end, err := s.db.lockChain(tx, string(note.Cause.Workspace))
		if err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		entry, err := s.db.audit(note.Cause, note.At, note.Action, *target, 0)
		if err != nil {
			return err
		}
		if err := end.extend(tx, entry); err != nil {
			return err
		}
		tx.Touch(topicAuth)
		if note.Event.Type == "" {
			return nil
		}
		doc, err := encode(shown())
		if err != nil {
			return err
		}
		row, err := s.db.outbox(s.db.eventIDs(1)[0], note.Cause, note.At, *target, record.Doc{JSON: doc}, note.Event)
		if err != nil {
			return err
		}
		return row.insert(tx)
	})
}

func workspaceValues(w *account.Workspace) []any {
	var budget any
	if w.ModelBudget != nil {
		budget = *w.ModelBudget
	}
	return []any{
		string(w.ID), w.Name, string(w.Plan), w.Timezone, string(w.Currency), boolToInt(w.Suspended), int64(w.CreatedAt),
		boolToInt(w.RequireApproval), budget, boolToInt(w.EndlessKeys), string(w.Founder),
	}
}

// AddWorkspace stores a workspace, its owner and the first key, if any.
func (s *Accounts) AddWorkspace(ctx context.Context, w account.Workspace, owner account.User, first *account.NewKey, most int64, note account.Note) (account.User, error) {
	err := s.writeAudited(Across(ctx), note, &w.ID, func() any { return first.Key }, func(tx Tx) error {
		var err error
		if owner, err = addUser(tx, owner); err != nil {
			return err
		}
		if err := checkOwned(tx, owner.ID, most); err != nil {
			return err
		}
		if w.Founder = owner.Founder; most == 0 || w.Founder == "" {
			if w.Founder, err = owner.ID, becomeFounder(tx, owner.ID); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(workspaceTable.insert, workspaceValues(&w)...); err != nil {
			return fmt.Errorf("insert workspace: %w", err)
		}
		if err := putMember(tx, w.ID, account.Member{User: owner, Role: account.Owner}); err != nil {
			return err
		}
		if first == nil {
			return nil
		}
		first.UserID = owner.ID
		return insertKey(tx, *first)
	})
	return owner, err
}

// checkOwned returns an error if a user already owns the maximum number of
// workspaces. It locks the user's row first, so that concurrent requests cannot
// exceed the maximum.
func checkOwned(tx Tx, user ident.ID, most int64) error {
	if most == 0 {
		return nil
	}
	if _, err := tx.Exec(`UPDATE account_user SET name = name WHERE id = $1`, string(user)); err != nil {
		return fmt.Errorf("lock user: %w", err)
	}
	rows, err := tx.Query(`SELECT count(*) FROM member WHERE user_id = $1 AND role = 'owner' AND inactive_at IS NULL`, string(user))
	if err != nil || !rows.Next() {
		return fmt.Errorf("count workspaces: %w", err)
	}
	if rows.Int() < most {
		return nil
	}
	message := fmt.Sprintf("You own %d workspaces, and that is the most. Use one of them, or have the operator create another.", most)
	return fault.New(fault.InvalidState, message, fault.Detail{Code: "too_many_workspaces", Message: message, Meta: fault.Meta{"limit": most}})
}

var insertUser = userTable.insert + ` ON CONFLICT (email) DO NOTHING`

// addUser creates a user unless the email address is taken. It returns the user
// with that address.
func addUser(tx Tx, u account.User) (account.User, error) {
	if _, err := tx.Exec(insertUser, string(u.ID), u.Email, u.Name, boolToInt(u.Service), int64(u.CreatedAt), string(u.Founder)); err != nil {
		return u, fmt.Errorf("insert user: %w", err)
	}
	rows, err := tx.Query(`SELECT `+userColumns+` FROM account_user u WHERE u.email = $1`, u.Email)
	if err != nil || !rows.Next() {
		return u, fmt.Errorf("read user: %w", err)
	}
	return readUser(rows), nil
}

var upsertMember = memberTable.upsert("workspace_id", "user_id")

func putMember(tx Tx, workspace ident.ID, m account.Member) error {
	if _, err := tx.Exec(upsertMember, string(workspace), string(m.ID), string(m.Role), instant(m.InactiveAt)); err != nil {
		return fmt.Errorf("write member: %w", err)
	}
	return nil
}

// Workspaces lists all workspaces.
func (s *Accounts) Workspaces(ctx context.Context) ([]account.Workspace, error) {
	rows, err := s.db.engine.Query(Across(ctx), `SELECT `+workspaceColumns+` FROM workspace w ORDER BY w.id`)
	if err != nil {
		return nil, toFault(fmt.Errorf("list workspaces: %w", err))
	}
	list := []account.Workspace{}
	for rows.Next() {
		list = append(list, readWorkspace(rows))
	}
	return list, nil
}

func (db *DB) workspaceIDs(ctx context.Context) ([]ident.ID, error) {
	all, err := db.Accounts().Workspaces(ctx)
	list := make([]ident.ID, len(all))
	for i, w := range all {
		list[i] = w.ID
	}
	return list, err
}

var (
	selectWorkspace = `SELECT ` + workspaceColumns + ` FROM workspace w WHERE w.id = $1`
	upsertWorkspace = workspaceTable.upsert("id")
)

// Workspace reads one workspace.
func (s *Accounts) Workspace(ctx context.Context, id ident.ID) (account.Workspace, error) {
	rows, err := s.db.engine.Query(Within(ctx, id), selectWorkspace, string(id))
	if err != nil {
		return account.Workspace{}, toFault(fmt.Errorf("read workspace: %w", err))
	}
	if !rows.Next() {
		return account.Workspace{}, notFound(s.db.engine)
	}
	return readWorkspace(rows), nil
}

// boolToInt converts a bool for a number column: PostgreSQL accepts no bool
// there.
func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ChangeWorkspace changes a workspace.
func (s *Accounts) ChangeWorkspace(ctx context.Context, id ident.ID, change func(*account.Workspace), note account.Note) (w account.Workspace, err error) {
	err = s.writeAudited(Within(ctx, note.Cause.Workspace), note, &id, nil, func(tx Tx) error {
		rows, err := tx.Query(selectWorkspace, string(id))
		if err != nil {
			return fmt.Errorf("read workspace: %w", err)
		}
		if !rows.Next() {
			return fault.Missing()
		}
		w = readWorkspace(rows)
		change(&w)
		_, err = tx.Exec(upsertWorkspace, workspaceValues(&w)...)
		return err
	})
	return w, err
}

// SaveMember adds a user to a workspace or changes the role.
func (s *Accounts) SaveMember(ctx context.Context, workspace ident.ID, m account.Member, note account.Note) (account.Member, error) {
	err := s.writeAudited(Within(ctx, workspace), note, &m.ID, nil, func(tx Tx) error {
		u, err := addUserTo(tx, workspace, m.User)
		if err != nil {
			return err
		}
		m.User = u
		if err := putMember(tx, workspace, m); err != nil {
			return err
		}
		rows, err := tx.Query(`SELECT count(*) FROM member WHERE workspace_id = $1 AND role = $2 AND inactive_at IS NULL`, string(workspace), string(account.Owner))
		if err != nil {
			return fmt.Errorf("count owners: %w", err)
		}
		rows.Next()
		if rows.Int() == 0 {
			return fault.New(fault.InvalidState, m.Email+" is the only owner of the workspace; make somebody else owner first.")
		}
		return nil
	})
	return m, err
}

// Members lists the users of a workspace.
func (s *Accounts) Members(ctx context.Context, workspace ident.ID) ([]account.Member, error) {
	rows, err := s.db.engine.Query(Within(ctx, workspace), `SELECT `+userColumns+`, m.role, m.inactive_at FROM member m JOIN account_user u ON u.id = m.user_id WHERE m.workspace_id = $1 ORDER BY u.email`, string(workspace))
	if err != nil {
		return nil, toFault(fmt.Errorf("list members: %w", err))
	}
	list := []account.Member{}
	for rows.Next() {
		list = append(list, account.Member{User: readUser(rows), Role: account.Role(rows.Text()), InactiveAt: readInstant(rows)})
	}
	return list, nil
}

func insertKey(tx Tx, k account.NewKey) error {
	var scopes, addresses any
	if k.Scopes != nil {
		b, err := encode(k.Scopes)
		if err != nil {
			return err
		}
		scopes = string(b)
	}
	if k.Addresses != nil {
		b, err := encode(k.Addresses)
		if err != nil {
			return err
		}
		addresses = string(b)
	}
	_, err := tx.Exec(keyTable.insert, string(k.WorkspaceID), string(k.ID), string(k.UserID), k.Hash.String(), k.Name, k.Last4,
		scopes, addresses, int64(k.CreatedAt), instant(k.ExpiresAt), nil, "", 0, nil, "", "", nil)
	if err != nil {
		return fmt.Errorf("insert key: %w", err)
	}
	return nil
}

const countKeys = `SELECT count(*), coalesce(sum(CASE WHEN user_id = $1 THEN 1 ELSE 0 END), 0) FROM api_key WHERE workspace_id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)`

// AddKey stores a key, and the key that it replaces.
func (s *Accounts) AddKey(ctx context.Context, k account.NewKey, replaced *account.Key, note account.Note) error {
	return s.writeAudited(Within(ctx, note.Cause.Workspace), note, &k.ID, func() any { return k.Key }, func(tx Tx) error {
		rows, err := tx.Query(countKeys, string(k.UserID), string(k.WorkspaceID), int64(note.At))
		if err != nil {
			return fmt.Errorf("count keys: %w", err)
		}
		rows.Next()
		workspace, user := rows.Int(), rows.Int()
		if replaced == nil && (workspace >= account.MaxKeysPerWorkspace || user >= account.MaxKeysPerUser) {
			return fault.New(fault.InvalidState, fmt.Sprintf("A user may have %d active keys and a workspace %d; revoke one first.", account.MaxKeysPerUser, account.MaxKeysPerWorkspace))
		}
		if err := insertKey(tx, k); err != nil {
			return err
		}
		if replaced != nil {
			return replaceKey(tx, *replaced)
		}
		return nil
	})
}

// replaceKey stores a key that has a replacement. It fails if the key was
// revoked in the meantime: a revoked key has no replacement.
func replaceKey(tx Tx, k account.Key) error {
	rows, err := tx.Query(`SELECT count(*) FROM api_key WHERE workspace_id = $1 AND id = $2 AND revoked_at IS NULL`, string(k.WorkspaceID), string(k.ID))
	if err != nil {
		return fmt.Errorf("read key: %w", err)
	}
	rows.Next()
	if rows.Int() == 0 {
		return fault.New(fault.InvalidState, fmt.Sprintf("Key %s is not active; create a new one instead.", k.ID))
	}
	return updateKey(tx, k)
}

// The caller's copy can be outdated: an expiry can only move earlier, and a
// revoked key stays revoked.
const updateKeyText = `UPDATE api_key SET expires_at = CASE WHEN expires_at <= coalesce($1, 9223372036854775807) THEN expires_at ELSE $2 END,
revoke_reason = CASE WHEN revoked_at IS NULL THEN $3 ELSE revoke_reason END, revoked_at = coalesce(revoked_at, $4), notified = $5, exposed_at = coalesce(exposed_at, $6) WHERE workspace_id = $7 AND id = $8`

func updateKey(tx Tx, k account.Key) error {
	end := instant(k.ExpiresAt)
	_, err := tx.Exec(updateKeyText, end, end, k.Reason, instant(k.RevokedAt), k.Notified, instant(k.ExposedAt), string(k.WorkspaceID), string(k.ID))
	return err
}

// SaveKey saves a changed key.
func (s *Accounts) SaveKey(ctx context.Context, k account.Key, note account.Note) error {
	return s.writeAudited(Within(ctx, note.Cause.Workspace), note, &k.ID, func() any { return k }, func(tx Tx) error { return updateKey(tx, k) })
}

var selectKeys = `SELECT (SELECT CAST(coalesce(sum(x.count), 0) AS BIGINT) FROM api_key_use x WHERE x.workspace_id = $1 AND x.key_id = k.id AND x.day > $2), ` + keyColumns +
	` FROM api_key k WHERE k.workspace_id = $3 ORDER BY k.id`

// Keys lists the keys of a workspace.
func (s *Accounts) Keys(ctx context.Context, workspace ident.ID) ([]account.Key, error) {
	since := s.db.now().Unix()/86400 - 30
	rows, err := s.db.engine.Query(Within(ctx, workspace), selectKeys, string(workspace), since, string(workspace))
	if err != nil {
		return nil, toFault(fmt.Errorf("list keys: %w", err))
	}
	list := []account.Key{}
	for rows.Next() {
		uses := rows.Int()
		k, err := readKey(rows)
		if err != nil {
			return nil, err
		}
		k.Requests30d = uses
		list = append(list, k)
	}
	return list, nil
}

var selectCallers = `SELECT ` + workspaceColumns + `, ` + userColumns + `, m.role, m.inactive_at, ` + keyColumns + `
FROM api_key k
JOIN member m ON m.workspace_id = k.workspace_id AND m.user_id = k.user_id
JOIN account_user u ON u.id = m.user_id
JOIN workspace w ON w.id = m.workspace_id `

func (s *Accounts) callers(ctx context.Context, where string, args ...any) ([]*account.Caller, error) {
	rows, err := s.db.engine.Query(Across(ctx), selectCallers+where, args...)
	if err != nil {
		return nil, toFault(fmt.Errorf("read keys: %w", err))
	}
	var list []*account.Caller
	for rows.Next() {
		c := &account.Caller{Workspace: readWorkspace(rows), User: readUser(rows), Role: account.Role(rows.Text()), InactiveAt: readInstant(rows)}
		if c.Key, err = readKey(rows); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// Caller returns the owner of a key.
func (s *Accounts) Caller(ctx context.Context, hash account.Hash) (*account.Caller, error) {
	list, err := s.callers(ctx, `WHERE k.hash = $1`, hash.String())
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0 && s.db.engine.Traits().Damage != nil:
		return nil, notFound(s.db.engine)
	case len(list) == 0:
		return nil, nil
	}
	return list[0], nil
}

// Live returns all keys that are not revoked, with their owners.
func (s *Accounts) Live(ctx context.Context) ([]*account.Caller, error) {
	return s.callers(ctx, `WHERE k.revoked_at IS NULL ORDER BY k.id`)
}

var upsertUse = keyUseTable.insert + ` ON CONFLICT (workspace_id, key_id, day) DO UPDATE SET count = api_key_use.count + excluded.count`

const updateUsed = `UPDATE api_key SET last_used_at = $1, last_address = $2, last_agent = $3 WHERE workspace_id = $4 AND id = $5 AND (last_used_at IS NULL OR last_used_at < $6)`

// AddUses adds to the daily use counts of keys.
func (s *Accounts) AddUses(ctx context.Context, uses []account.Use) error {
	return s.db.writeAsync(Across(ctx), func(tx Tx) error {
		for _, u := range uses {
			if _, err := tx.Exec(upsertUse, string(u.WorkspaceID), string(u.KeyID), u.Day, u.Count); err != nil {
				return err
			}
			agent := strings.ToValidUTF8(strings.ReplaceAll(u.Agent, "\x00", ""), "")
			if _, err := tx.Exec(updateUsed, int64(u.At), u.Address.String(), agent, string(u.WorkspaceID), string(u.KeyID), int64(u.At)); err != nil {
				return err
			}
		}
		return nil
	})
}
