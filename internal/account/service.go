package account

import (
	"context"
	"fmt"
	"io"
	"net/mail"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

// Service changes accounts. Its callers are the operator's command line and
// signed-in users, never API keys.
type Service struct {
	store interface {
		Store
		MemberReader
	}
	now    func() time.Time
	random io.Reader
	// founders has the founder of each workspace that was asked for. They never
	// change.
	founders sync.Map
}

// New returns a Service.
func New(store interface {
	Store
	MemberReader
}, now func() time.Time, random io.Reader,
) *Service {
	return &Service{store: store, now: now, random: random}
}

// Created is the result of CreateWorkspace. The secret of the first key is
// returned only here.
type Created struct {
	WorkspaceID ident.ID `json:"workspace_id"`
	UserID      ident.ID `json:"user_id"`
	APIKey      string   `json:"api_key"`
}

// NewWorkspace is the input of CreateWorkspace.
type NewWorkspace struct {
	Name     string `json:"name"`
	Plan     string `json:"plan"`
	Owner    string `json:"owner"`
	Currency string `json:"currency"`
	Timezone string `json:"timezone"`
	// Keyless creates no first key, because a signed-in owner can create keys.
	Keyless bool `json:"-"`
	// MostOwned is the maximum number of workspaces of the owner including this
	// one, 0 for no maximum, if the operator creates it.
	MostOwned int64 `json:"-"`
}

// CreateWorkspace creates a workspace, its owner and, unless n is keyless, a
// first key that does not expire.
func (s *Service) CreateWorkspace(ctx context.Context, cause record.Cause, n NewWorkspace) (Created, error) {
	if err := n.check(); err != nil {
		return Created{}, err
	}
	t := s.now()
	now := clock.At(t)
	w := Workspace{
		ID: ident.New(ident.Workspace, t, s.random), Name: n.Name, Plan: Plan(n.Plan),
		Timezone: n.Timezone, Currency: money.Currency(n.Currency), CreatedAt: now, EndlessKeys: true,
	}
	owner := s.newUser(n.Owner, t)
	cause.Workspace = w.ID
	note := Note{Cause: cause, At: now, Action: "workspace.create"}
	var secret string
	var first *NewKey
	if !n.Keyless {
		var key NewKey
		secret, key = s.newKey(Key{WorkspaceID: w.ID, Name: "First key"}, t)
		first, note.Event = &key, keyEvent("created")
	}
	owner, err := s.store.AddWorkspace(ctx, w, owner, first, n.MostOwned, note)
	if err != nil {
		return Created{}, err
	}
	return Created{WorkspaceID: w.ID, UserID: owner.ID, APIKey: secret}, nil
}

func (n NewWorkspace) check() error {
	var details []fault.Detail
	bad := func(field, code, message string, meta fault.Meta) {
		details = append(details, fault.Detail{Field: field, Code: code, Message: message, Meta: meta})
	}
	details = append(details, checkWorkspaceName(n.Name)...)
	if !slices.Contains(Plans, n.Plan) {
		bad("plan", "invalid_value", "plan must be one of "+strings.Join(Plans, ", ")+".", fault.Meta{"allowed": Plans})
	}
	if !validEmail(n.Owner) {
		bad("owner", "invalid_format", "owner must be an e-mail address.", nil)
	}
	details = append(details, checkCurrency(n.Currency)...)
	details = append(details, checkTimezone(n.Timezone)...)
	if details != nil {
		return fault.Invalid(details)
	}
	return nil
}

func checkWorkspaceName(name string) []fault.Detail {
	if strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > 200 {
		return []fault.Detail{{Field: "name", Code: "invalid_value", Message: "name must have 1 to 200 characters."}}
	}
	return nil
}

func checkCurrency(code string) []fault.Detail {
	if _, ok := money.Currency(code).Digits(); !ok {
		return []fault.Detail{{Field: "currency", Code: "invalid_value", Message: "currency must be an ISO 4217 code such as USD."}}
	}
	return nil
}

func checkTimezone(name string) []fault.Detail {
	if _, err := clock.Zone(name); err != nil {
		return []fault.Detail{{Field: "timezone", Code: "invalid_value", Message: "timezone must be an IANA name such as Europe/Berlin."}}
	}
	return nil
}

func checkModelBudget(micros *int64) []fault.Detail {
	if micros != nil && *micros < 0 {
		return []fault.Detail{{Field: "model_budget", Code: "too_small", Message: "model_budget must be at least 0.", Meta: fault.Meta{"minimum": 0}}}
	}
	return nil
}

func validEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && len(s) <= 254
}

func (s *Service) newUser(email string, t time.Time) User {
	name, _, _ := strings.Cut(email, "@")
	return User{ID: ident.New(ident.User, t, s.random), Email: strings.ToLower(email), Name: name, CreatedAt: clock.At(t)}
}

func (s *Service) newKey(k Key, t time.Time) (secret string, key NewKey) {
	secret = NewSecret(s.random)
	k.ID, k.CreatedAt, k.Last4 = ident.New(ident.Key, t, s.random), clock.At(t), secret[KeyLength-4:]
	return secret, NewKey{Key: k, Hash: HashSecret(secret)}
}

func keyEvent(what string) record.Event {
	return record.Event{Type: "api_key." + what, Restricted: true}
}

// Workspaces lists all workspaces.
func (s *Service) Workspaces(ctx context.Context) ([]Workspace, error) {
	return s.store.Workspaces(ctx)
}

// WorkspaceIDs lists the ids of all workspaces.
func (s *Service) WorkspaceIDs(ctx context.Context) ([]ident.ID, error) {
	list, err := s.store.Workspaces(ctx)
	ids := make([]ident.ID, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids, err
}

// Workspace returns one workspace.
func (s *Service) Workspace(ctx context.Context, id ident.ID) (Workspace, error) {
	w, err := s.store.Workspace(ctx, id)
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, fmt.Sprintf("There is no workspace %s.", id))
	}
	return w, err
}

// Founder returns the user with whose other workspaces a workspace shares its
// turns. A workspace without a founder shares them with no other.
func (s *Service) Founder(ctx context.Context, workspace ident.ID) (ident.ID, error) {
	if known, ok := s.founders.Load(workspace); ok {
		return known.(ident.ID), nil
	}
	founder, err := s.store.Founder(ctx, workspace)
	if err != nil {
		return "", err
	}
	if founder == "" {
		founder = workspace
	}
	s.founders.Store(workspace, founder)
	return founder, nil
}

// SetPlan changes the plan from the next request on. The request counts are
// kept.
func (s *Service) SetPlan(ctx context.Context, cause record.Cause, id ident.ID, plan string) (Workspace, error) {
	if !slices.Contains(Plans, plan) {
		return Workspace{}, fault.Invalid([]fault.Detail{{Field: "plan", Code: "invalid_value", Message: "plan must be one of " + strings.Join(Plans, ", ") + ".", Meta: fault.Meta{"allowed": Plans}}})
	}
	return s.saveWorkspace(ctx, cause, id, "workspace.set_plan", func(w *Workspace) { w.Plan = Plan(plan) })
}

// Suspend suspends or reopens a workspace. All operations of a suspended
// workspace are denied.
func (s *Service) Suspend(ctx context.Context, cause record.Cause, id ident.ID, suspended bool) (Workspace, error) {
	action := "workspace.suspend"
	if !suspended {
		action = "workspace.reopen"
	}
	return s.saveWorkspace(ctx, cause, id, action, func(w *Workspace) { w.Suspended = suspended })
}

// SetApproval sets whether campaigns need approved creatives. It applies to
// creatives that are created afterward.
func (s *Service) SetApproval(ctx context.Context, cause record.Cause, id ident.ID, required bool) (Workspace, error) {
	return s.saveWorkspace(ctx, cause, id, "workspace.set_approval", func(w *Workspace) { w.RequireApproval = required })
}

// SetModelBudget sets the maximum monthly spend on language models in
// millionths of a US dollar; nil removes the limit.
func (s *Service) SetModelBudget(ctx context.Context, cause record.Cause, id ident.ID, micros *int64) (Workspace, error) {
	if problems := checkModelBudget(micros); problems != nil {
		return Workspace{}, fault.Invalid(problems)
	}
	return s.saveWorkspace(ctx, cause, id, "workspace.set_model_budget", func(w *Workspace) { w.ModelBudget = micros })
}

func (s *Service) saveWorkspace(ctx context.Context, cause record.Cause, id ident.ID, action string, change func(*Workspace)) (Workspace, error) {
	if w, err := s.Workspace(ctx, id); err != nil {
		return w, err
	}
	cause.Workspace = id
	return s.store.ChangeWorkspace(ctx, id, change, Note{Cause: cause, At: clock.At(s.now()), Action: action})
}

// Members lists the members of a workspace, including removed ones.
func (s *Service) Members(ctx context.Context, workspace ident.ID) ([]Member, error) {
	if _, err := s.Workspace(ctx, workspace); err != nil {
		return nil, err
	}
	return s.store.Members(ctx, workspace)
}

// AddMember adds a member or restores a removed one.
func (s *Service) AddMember(ctx context.Context, cause record.Cause, workspace ident.ID, email, role string, service bool) (Member, error) {
	if !validEmail(email) {
		return Member{}, fault.Invalid([]fault.Detail{{Field: "email", Code: "invalid_format", Message: "email must be an e-mail address."}})
	}
	members, err := s.Members(ctx, workspace)
	if err != nil {
		return Member{}, err
	}
	if m := find(members, email); m != nil {
		if m.InactiveAt == nil {
			return Member{}, fault.New(fault.AlreadyExists, email+" is a member already; use user set-role to change the role.")
		}
		if err := s.revokeLapsedKeys(ctx, cause, workspace, m); err != nil {
			return Member{}, err
		}
	}
	user := s.newUser(email, s.now())
	user.Service = service
	return s.saveMember(ctx, cause, workspace, Member{User: user, Role: Role(role)}, "user.create")
}

// revokeLapsedKeys revokes the keys of a member who left too long ago to get them back.
func (s *Service) revokeLapsedKeys(ctx context.Context, cause record.Cause, workspace ident.ID, m *Member) error {
	if !leftLongAgo(m.InactiveAt, clock.At(s.now())) {
		return nil
	}
	keys, err := s.store.Keys(ctx, workspace)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.UserID != m.ID {
			continue
		}
		if _, err := s.Revoke(ctx, cause, workspace, k.ID, "owner_inactive"); err != nil {
			return err
		}
	}
	return nil
}

// SetRole changes the role of a member from the next request on.
func (s *Service) SetRole(ctx context.Context, cause record.Cause, workspace ident.ID, email, role string) (Member, error) {
	m, err := s.member(ctx, workspace, email)
	if err != nil {
		return m, err
	}
	m.Role = Role(role)
	return s.saveMember(ctx, cause, workspace, m, "user.set_role")
}

// Remove removes a member. The member's keys stop working at once. They work
// again if the member is restored within 30 days.
func (s *Service) Remove(ctx context.Context, cause record.Cause, workspace ident.ID, email string) (Member, error) {
	m, err := s.member(ctx, workspace, email)
	if err != nil || m.InactiveAt != nil {
		return m, err
	}
	now := clock.At(s.now())
	m.InactiveAt = &now
	return s.saveMember(ctx, cause, workspace, m, "user.remove")
}

func (s *Service) saveMember(ctx context.Context, cause record.Cause, workspace ident.ID, m Member, action string) (Member, error) {
	if !slices.Contains(Roles, string(m.Role)) {
		return m, fault.Invalid([]fault.Detail{{Field: "role", Code: "invalid_value", Message: "role must be one of " + strings.Join(Roles, ", ") + ".", Meta: fault.Meta{"allowed": Roles}}})
	}
	cause.Workspace = workspace
	return s.store.SaveMember(ctx, workspace, m, Note{Cause: cause, At: clock.At(s.now()), Action: action})
}

func (s *Service) member(ctx context.Context, workspace ident.ID, email string) (Member, error) {
	members, err := s.Members(ctx, workspace)
	if err != nil {
		return Member{}, err
	}
	if m := find(members, email); m != nil {
		return *m, nil
	}
	return Member{}, fault.New(fault.NotFound, fmt.Sprintf("%s is not a member of workspace %s.", email, workspace))
}

func find(members []Member, email string) *Member {
	for i := range members {
		if members[i].Email == strings.ToLower(email) {
			return &members[i]
		}
	}
	return nil
}

// KeyOptions are the settings of a new key.
type KeyOptions struct {
	Name      string
	Lifetime  time.Duration // 0 never ends
	Scopes    Scopes
	Addresses []netip.Prefix
}

// CreateKey creates a key with the permissions of its creator, restricted by
// the options. The secret is returned only here.
func (s *Service) CreateKey(ctx context.Context, cause record.Cause, workspace ident.ID, email string, opt KeyOptions) (secret string, k Key, err error) {
	if strings.TrimSpace(opt.Name) == "" || utf8.RuneCountInString(opt.Name) > 100 {
		return "", k, fault.Invalid([]fault.Detail{{Field: "name", Code: "invalid_value", Message: "name must have 1 to 100 characters and say what the key is for."}})
	}
	if opt.Lifetime < 0 {
		return "", k, fault.Invalid([]fault.Detail{{Field: "expires", Code: "invalid_value", Message: "expires must not be negative; 0 never ends."}})
	}
	for group, access := range opt.Scopes {
		if !slices.Contains(ScopeGroups, group) || access != Read && access != Write {
			return "", k, fault.Invalid([]fault.Detail{{Field: "scopes." + group, Code: "invalid_value", Message: "scopes are read or write per family: " + strings.Join(ScopeGroups, ", ") + "."}})
		}
	}
	m, err := s.member(ctx, workspace, email)
	if err != nil {
		return "", k, err
	}
	if m.InactiveAt != nil {
		return "", k, fault.New(fault.InvalidState, email+" is not active in the workspace.")
	}
	if err := s.checkExpiry(ctx, workspace, opt.Lifetime); err != nil {
		return "", k, err
	}
	t := s.now()
	k = Key{WorkspaceID: workspace, UserID: m.ID, Name: opt.Name, Scopes: opt.Scopes, Addresses: opt.Addresses}
	if opt.Lifetime > 0 {
		end := clock.At(t.Add(opt.Lifetime))
		k.ExpiresAt = &end
	}
	cause.Workspace = workspace
	secret, key := s.newKey(k, t)
	err = s.store.AddKey(ctx, key, nil, Note{Cause: cause, At: clock.At(t), Action: "api_key.create", Event: keyEvent("created")})
	return secret, key.Key, err
}

// Keys lists the keys of a workspace, including revoked ones.
func (s *Service) Keys(ctx context.Context, workspace ident.ID) ([]Key, error) {
	if _, err := s.Workspace(ctx, workspace); err != nil {
		return nil, err
	}
	return s.store.Keys(ctx, workspace)
}

// Rotate creates a key with the same name, owner, scopes and addresses. The old
// key expires after the overlap, so that both work while the integration is
// changed.
func (s *Service) Rotate(ctx context.Context, cause record.Cause, workspace, id ident.ID, overlap time.Duration) (secret string, k Key, err error) {
	old, err := s.key(ctx, workspace, id)
	if err != nil {
		return "", k, err
	}
	t := s.now()
	now := clock.At(t)
	if !old.Active(now) {
		return "", k, fault.New(fault.InvalidState, fmt.Sprintf("Key %s is not active; create a new one instead.", id))
	}
	next := Key{WorkspaceID: workspace, UserID: old.UserID, Name: old.Name, Scopes: old.Scopes, Addresses: old.Addresses}
	if old.ExpiresAt != nil {
		end := now.Add(time.Duration(*old.ExpiresAt-old.CreatedAt) * time.Microsecond)
		next.ExpiresAt = &end
	}
	if end := now.Add(overlap); old.ExpiresAt == nil || end < *old.ExpiresAt {
		old.ExpiresAt = &end
	}
	cause.Workspace = workspace
	secret, key := s.newKey(next, t)
	err = s.store.AddKey(ctx, key, &old, Note{Cause: cause, At: now, Action: "api_key.rotate", Event: keyEvent("rotated")})
	return secret, key.Key, err
}

// Revoke revokes a key permanently. It does nothing if the key is already
// revoked.
func (s *Service) Revoke(ctx context.Context, cause record.Cause, workspace, id ident.ID, reason string) (Key, error) {
	k, err := s.key(ctx, workspace, id)
	if err != nil || k.RevokedAt != nil {
		return k, err
	}
	now := clock.At(s.now())
	k.RevokedAt, k.Reason = &now, reason
	cause.Workspace = workspace
	return k, s.store.SaveKey(ctx, k, Note{Cause: cause, At: now, Action: "api_key.revoke", Event: keyEvent("revoked")})
}

func (s *Service) key(ctx context.Context, workspace, id ident.ID) (Key, error) {
	keys, err := s.Keys(ctx, workspace)
	if err != nil {
		return Key{}, err
	}
	for _, k := range keys {
		if k.ID == id {
			return k, nil
		}
	}
	return Key{}, fault.New(fault.NotFound, fmt.Sprintf("There is no key %s in workspace %s.", id, workspace))
}
