package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/signin"
)

// SignIn stores credentials, sessions and sign-in tokens.
type SignIn struct{ db *DB }

var _ signin.Store = (*SignIn)(nil)

// SignIn returns the store of sign-ins.
func (db *DB) SignIn() *SignIn { return &SignIn{db} }

var (
	credentialTable = newTable(table{
		name: "credential", key: []string{"kind", "id"}, columns: names("kind", "id", "user_id", "rev", "doc", "sealed"),
		parents: []*table{userTable},
	})
	// A restore must neither restore an ended session nor a used link.
	sessionTable = newTable(table{
		name: "session", key: []string{"hash"}, transient: true,
		columns: names("hash", "id", "user_id", "current_workspace", "method", "created_at", "used_at", "expires_at", "proved_at", "address", "agent"),
		parents: []*table{userTable},
	})
	tokenTable = newTable(table{
		name: "token", key: []string{"hash"}, transient: true,
		columns: names("hash", "id", "kind", "workspace_id", "subject", "doc", "tries", "created_at", "expires_at"),
	})
)

const sessionColumns = `s.id, s.user_id, s.method, s.created_at, s.used_at, s.expires_at, s.proved_at, s.address, s.agent`

func readSession(r *Rows) signin.Session {
	return signin.Session{
		ID: ident.ID(r.Text()), UserID: ident.ID(r.Text()), Method: r.Text(), CreatedAt: clock.Instant(r.Int()), UsedAt: clock.Instant(r.Int()),
		ExpiresAt: clock.Instant(r.Int()), ProvedAt: clock.Instant(r.Int()), Address: r.Text(), Agent: r.Text(), WorkspaceID: ident.ID(r.Text()),
	}
}

const selectSession = `SELECT ` + sessionColumns + `, m.workspace_id FROM session s
LEFT JOIN member m ON m.workspace_id = s.current_workspace AND m.user_id = s.user_id AND m.inactive_at IS NULL WHERE s.hash = $1`

// Session returns the session of a token, nil if none exists.
func (s *SignIn) Session(ctx context.Context, hash signin.Hash) (*signin.Session, error) {
	rows, err := s.db.engine.Query(Across(ctx), selectSession, hash.String())
	if err != nil {
		return nil, toFault(fmt.Errorf("read session: %w", err))
	}
	if !rows.Next() {
		return nil, nil
	}
	session := readSession(rows)
	return &session, nil
}

// Used stores a session's last use.
func (s *SignIn) Used(ctx context.Context, id ident.ID, at clock.Instant, address, agent string) error {
	return s.db.writeAsync(ctx, func(tx Tx) error {
		_, err := tx.Exec(`UPDATE session SET used_at = $1, address = $2, agent = $3 WHERE id = $4`, int64(at), address, agent, string(id))
		return err
	})
}

// Sessions lists the sessions of a user, the latest first.
func (s *SignIn) Sessions(ctx context.Context, user ident.ID) ([]signin.Session, error) {
	rows, err := s.db.engine.Query(ctx, `SELECT `+sessionColumns+`, s.current_workspace FROM session s WHERE s.user_id = $1 ORDER BY s.id DESC`, string(user))
	if err != nil {
		return nil, toFault(fmt.Errorf("list sessions: %w", err))
	}
	var list []signin.Session
	for rows.Next() {
		list = append(list, readSession(rows))
	}
	return list, nil
}

const selectPerson = `SELECT u.id, u.email, u.name, u.service FROM account_user u WHERE `

// Person returns a user with memberships and credentials, nil if none exists.
func (s *SignIn) Person(ctx context.Context, by signin.UserQuery) (*signin.User, error) {
	var rows *Rows
	var err error
	switch {
	case by.ID != "":
		rows, err = s.db.engine.Query(ctx, selectPerson+`u.id = $1`, string(by.ID))
	case by.Email != "":
		rows, err = s.db.engine.Query(ctx, selectPerson+`u.email = $1`, by.Email)
	default:
		rows, err = s.db.engine.Query(ctx, selectPerson+`u.id = (SELECT user_id FROM credential WHERE kind = 'identity' AND id = $1)`, by.Identity)
	}
	if err != nil {
		return nil, toFault(fmt.Errorf("read person: %w", err))
	}
	if !rows.Next() {
		return nil, nil
	}
	p := &signin.User{ID: ident.ID(rows.Text()), Email: rows.Text(), Name: rows.Text(), Service: rows.Bool()}
	if rows, err = s.db.engine.Query(Across(ctx), selectMemberships, string(p.ID)); err != nil {
		return nil, toFault(fmt.Errorf("read memberships: %w", err))
	}
	for rows.Next() {
		p.Workspaces = append(p.Workspaces, ident.ID(rows.Text()))
	}
	rows, err = s.db.engine.Query(ctx, `SELECT kind, id, rev, doc, sealed FROM credential WHERE user_id = $1 ORDER BY kind, id`, string(p.ID))
	if err != nil {
		return nil, toFault(fmt.Errorf("read credentials: %w", err))
	}
	for rows.Next() {
		p.Credentials = append(p.Credentials, signin.Credential{User: p.ID, Kind: rows.Text(), ID: rows.Text(), Rev: rows.Int(), Doc: rows.Bytes(), Sealed: rows.Text()})
	}
	return p, nil
}

const selectMemberships = `SELECT workspace_id FROM member WHERE user_id = $1 AND inactive_at IS NULL ORDER BY workspace_id`

const selectTokens = `SELECT t.hash, t.id, t.kind, t.workspace_id, w.name, t.subject, t.doc, t.created_at, t.expires_at FROM token t LEFT JOIN workspace w ON w.id = t.workspace_id `

func (s *SignIn) tokens(ctx context.Context, where string, args ...any) ([]signin.Token, error) {
	rows, err := s.db.engine.Query(Across(ctx), selectTokens+where, args...)
	if err != nil {
		return nil, toFault(fmt.Errorf("read tokens: %w", err))
	}
	var list []signin.Token
	for rows.Next() {
		hash, err := hex.DecodeString(rows.Text())
		if err != nil {
			return nil, fmt.Errorf("read token: %w", err)
		}
		list = append(list, signin.Token{
			Hash: signin.Hash(hash), ID: ident.ID(rows.Text()), Kind: rows.Text(), WorkspaceID: ident.ID(rows.Text()), WorkspaceName: rows.Text(),
			Subject: rows.Text(), Doc: rows.Bytes(), CreatedAt: clock.Instant(rows.Int()), ExpiresAt: clock.Instant(rows.Int()),
		})
	}
	return list, nil
}

// Token returns an invitation, a link or a ticket, nil if none exists.
func (s *SignIn) Token(ctx context.Context, hash signin.Hash) (*signin.Token, error) {
	list, err := s.tokens(ctx, `WHERE t.hash = $1`, hash.String())
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// Invitations lists the invitations to a workspace, or to an email address.
func (s *SignIn) Invitations(ctx context.Context, workspace ident.ID, email string) ([]signin.Token, error) {
	if workspace != "" {
		return s.tokens(ctx, `WHERE t.workspace_id = $1 AND t.kind = 'invite' ORDER BY t.id`, string(workspace))
	}
	return s.tokens(ctx, `WHERE t.kind = 'invite' AND t.subject = $1 ORDER BY t.id`, email)
}

// HasCredentials reports whether any credential exists.
func (s *SignIn) HasCredentials(ctx context.Context) (bool, error) {
	rows, err := s.db.engine.Query(ctx, `SELECT kind FROM credential LIMIT 1`)
	if err != nil {
		return false, toFault(fmt.Errorf("look for credentials: %w", err))
	}
	return rows.Next(), nil
}

// Sweep deletes expired sessions, idle sessions and expired tokens.
func (s *SignIn) Sweep(ctx context.Context, now, idle clock.Instant) error {
	return s.db.writeTx(Across(ctx), func(tx Tx) error {
		if _, err := tx.Exec(`DELETE FROM session WHERE expires_at <= $1 OR used_at <= $2`, int64(now), int64(idle)); err != nil {
			return fmt.Errorf("delete sessions: %w", err)
		}
		if _, err := tx.Exec(`DELETE FROM token WHERE expires_at <= $1`, int64(now)); err != nil {
			return fmt.Errorf("delete tokens: %w", err)
		}
		return nil
	})
}

// Rewrap passes the sealed secrets of all users to rewrap, stores the results
// and returns how many changed.
func (s *SignIn) Rewrap(ctx context.Context, rewrap func(string) (string, error)) (moved int, err error) {
	err = s.db.writeTx(ctx, func(tx Tx) error {
		moved = 0
		rows, err := tx.Query(`SELECT kind, id, sealed FROM credential WHERE sealed <> ''`)
		if err != nil {
			return fmt.Errorf("list sealed seeds: %w", err)
		}
		for rows.Next() {
			kind, id, before := rows.Text(), rows.Text(), rows.Text()
			after, err := rewrap(before)
			if err != nil {
				return err
			}
			if after == before {
				continue
			}
			n, err := tx.Exec(`UPDATE credential SET sealed = $1 WHERE kind = $2 AND id = $3 AND sealed = $4`, after, kind, id, before)
			if err != nil {
				return fmt.Errorf("write sealed seed: %w", err)
			}
			moved += int(n)
		}
		return nil
	})
	return moved, err
}

// Save writes a change and its audit entries in one transaction.
func (s *SignIn) Save(ctx context.Context, c signin.UserChange) error {
	return s.db.writeTx(Across(ctx), func(tx Tx) error {
		err := s.apply(tx, c)
		if taken := (*UniqueError)(nil); errors.As(err, &taken) {
			return fmt.Errorf("%w: %w", record.ErrRace, err)
		}
		return err
	})
}

func (s *SignIn) apply(tx Tx, c signin.UserChange) error {
	chains, err := s.lockAuditChains(tx, c)
	if err != nil {
		return err
	}
	for _, step := range []func(Tx, signin.UserChange) error{useTokens, joinWorkspaces, changeCredentials, changeSessions, keepToken} {
		if err := step(tx, c); err != nil {
			return err
		}
	}
	if len(c.Join) > 0 || c.Name != "" {
		tx.Touch(topicAuth)
	}
	target := c.Target
	if target == "" {
		target = c.User
	}
	for _, chain := range chains {
		c.Cause.Workspace = chain.workspace
		entry, err := s.db.audit(c.Cause, c.At, c.Action, target, 0)
		if err != nil {
			return err
		}
		if err := chain.end.extend(tx, entry); err != nil {
			return err
		}
	}
	return nil
}

// chain is the end of an audit log that a change extends.
type chain struct {
	workspace ident.ID
	end       chainEnd
}

// lockAuditChains locks the audit logs that a change extends, first and in
// sorted order, so that concurrent changes wait for each other without a
// deadlock.
func (s *SignIn) lockAuditChains(tx Tx, c signin.UserChange) ([]chain, error) {
	if c.Action == "" {
		return nil, nil
	}
	workspaces := []ident.ID{}
	if c.Cause.Workspace != "" {
		workspaces = append(workspaces, c.Cause.Workspace)
	} else {
		rows, err := tx.Query(selectMemberships, string(c.User))
		if err != nil {
			return nil, fmt.Errorf("read memberships: %w", err)
		}
		for rows.Next() {
			workspaces = append(workspaces, ident.ID(rows.Text()))
		}
	}
	for _, j := range c.Join {
		workspaces = append(workspaces, j.Workspace)
	}
	slices.Sort(workspaces)
	var list []chain
	for _, id := range slices.Compact(workspaces) {
		end, err := s.db.lockChain(tx, string(id))
		if err != nil {
			return nil, err
		}
		list = append(list, chain{id, end})
	}
	return list, nil
}

// requireRow returns none if a statement succeeded without changing a row.
func requireRow(n int64, err, none error) error {
	if err == nil && n == 0 {
		return none
	}
	return err
}

func useTokens(tx Tx, c signin.UserChange) error {
	for _, hash := range c.Burn {
		n, err := tx.Exec(`DELETE FROM token WHERE hash = $1`, hash.String())
		if err := requireRow(n, err, signin.ErrTokenUsed); err != nil {
			return fmt.Errorf("use token: %w", err)
		}
	}
	if c.Try != nil {
		n, err := tx.Exec(`UPDATE token SET tries = tries + 1 WHERE hash = $1 AND tries < $2`, c.Try.String(), signin.MaxTries)
		if err := requireRow(n, err, signin.ErrTokenUsed); err != nil {
			return fmt.Errorf("try token: %w", err)
		}
	}
	if t := c.Spend; t != nil {
		n, err := tx.Exec(tokenTable.insert+` ON CONFLICT DO NOTHING`, tokenValues(t)...)
		if err := requireRow(n, err, signin.ErrTokenUsed); err != nil {
			return fmt.Errorf("spend ticket: %w", err)
		}
	}
	if c.Withdraw != "" {
		n, err := tx.Exec(`DELETE FROM token WHERE workspace_id = $1 AND id = $2 AND kind = 'invite'`, string(c.Cause.Workspace), string(c.Withdraw))
		if err := requireRow(n, err, signin.ErrTokenUsed); err != nil {
			return fmt.Errorf("withdraw invitation: %w", err)
		}
	}
	return nil
}

const endKeys = `UPDATE api_key SET revoked_at = $1, revoke_reason = 'owner_inactive' WHERE workspace_id = $2 AND user_id = $3 AND revoked_at IS NULL
AND user_id IN (SELECT m.user_id FROM member m WHERE m.workspace_id = $4 AND m.inactive_at <= $5)`

var joinMember = upsertMember + ` WHERE member.inactive_at IS NOT NULL`

func joinWorkspaces(tx Tx, c signin.UserChange) error {
	for _, j := range c.Join {
		if j.New != nil {
			u, err := addUserTo(tx, j.Workspace, account.User{ID: j.New.ID, Email: j.Email, Name: j.New.Name, CreatedAt: c.At})
			if err != nil {
				return err
			}
			if u.ID != j.New.ID {
				return fmt.Errorf("make user: %w", record.ErrRace)
			}
		}
		// A member who was inactive for too long does not get old keys back.
		if _, err := tx.Exec(endKeys, int64(c.At), string(j.Workspace), string(c.User), string(j.Workspace), int64(j.Forget)); err != nil {
			return fmt.Errorf("end keys: %w", err)
		}
		if _, err := tx.Exec(joinMember, string(j.Workspace), string(c.User), j.Role, nil); err != nil {
			return fmt.Errorf("join workspace: %w", err)
		}
	}
	return nil
}

func changeCredentials(tx Tx, c signin.UserChange) error {
	if c.Name != "" {
		if _, err := tx.Exec(`UPDATE account_user SET name = $1 WHERE id = $2`, c.Name, string(c.User)); err != nil {
			return fmt.Errorf("rename user: %w", err)
		}
	}
	for _, k := range c.Drop {
		n, err := tx.Exec(`DELETE FROM credential WHERE kind = $1 AND id = $2 AND user_id = $3 AND rev = $4`, k.Kind, k.ID, string(c.User), k.Rev)
		if err := requireRow(n, err, record.ErrRace); err != nil {
			return fmt.Errorf("drop %s: %w", k.Kind, err)
		}
	}
	for _, k := range c.Put {
		if err := putCredential(tx, c.User, k); err != nil {
			return fmt.Errorf("write %s: %w", k.Kind, err)
		}
	}
	return nil
}

func putCredential(tx Tx, user ident.ID, k signin.Credential) error {
	if k.Rev == 0 {
		_, err := tx.Exec(credentialTable.insert, k.Kind, k.ID, string(user), 1, k.Doc, k.Sealed)
		return err
	}
	n, err := tx.Exec(`UPDATE credential SET rev = rev + 1, doc = $1, sealed = $2 WHERE kind = $3 AND id = $4 AND user_id = $5 AND rev = $6`, k.Doc, k.Sealed, k.Kind, k.ID, string(user), k.Rev)
	return requireRow(n, err, record.ErrRace)
}

const switchSession = `UPDATE session SET current_workspace = $1 WHERE id = $2 AND user_id = $3
AND user_id IN (SELECT m.user_id FROM member m WHERE m.workspace_id = $4 AND m.inactive_at IS NULL)`

func changeSessions(tx Tx, c signin.UserChange) error {
	if err := endSessions(tx, c); err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	if n := c.Open; n != nil {
		_, err := tx.Exec(sessionTable.insert, n.Hash.String(), string(n.ID), string(c.User), string(n.WorkspaceID), n.Method,
			int64(n.CreatedAt), int64(n.UsedAt), int64(n.ExpiresAt), int64(n.ProvedAt), n.Address, n.Agent)
		if err != nil {
			return fmt.Errorf("open session: %w", err)
		}
	}
	if c.Proved != "" {
		if _, err := tx.Exec(`UPDATE session SET proved_at = $1 WHERE id = $2 AND user_id = $3`, int64(c.At), string(c.Proved), string(c.User)); err != nil {
			return fmt.Errorf("note proof: %w", err)
		}
	}
	if to := c.Switch; to != nil {
		n, err := tx.Exec(switchSession, string(to.Workspace), string(to.Session), string(c.User), string(to.Workspace))
		if err := requireRow(n, err, signin.ErrTokenUsed); err != nil {
			return fmt.Errorf("switch workspace: %w", err)
		}
	}
	return nil
}

func endSessions(tx Tx, c signin.UserChange) error {
	switch {
	case c.End == nil:
		return nil
	case c.End.Only != "":
		n, err := tx.Exec(`DELETE FROM session WHERE id = $1 AND user_id = $2`, string(c.End.Only), string(c.User))
		return requireRow(n, err, signin.ErrTokenUsed)
	}
	_, err := tx.Exec(`DELETE FROM session WHERE user_id = $1 AND id <> $2`, string(c.User), string(c.End.Except))
	return err
}

var upsertToken = tokenTable.upsert("kind", "workspace_id", "subject")

func tokenValues(t *signin.Token) []any {
	return []any{t.Hash.String(), string(t.ID), t.Kind, string(t.WorkspaceID), t.Subject, t.Doc, 0, int64(t.CreatedAt), int64(t.ExpiresAt)}
}

func keepToken(tx Tx, c signin.UserChange) error {
	t := c.Keep
	if t == nil {
		return nil
	}
	_, err := tx.Exec(upsertToken, tokenValues(t)...)
	if err != nil {
		return fmt.Errorf("keep token: %w", err)
	}
	return nil
}
