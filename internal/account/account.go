// Package account holds who may do what: workspaces and their plans, users and
// their roles, API keys and what they prove. It knows no HTTP and no SQL.
package account

import (
	"encoding/json"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Workspace is a tenant.
type Workspace struct {
	ID        ident.ID       `json:"id"`
	Name      string         `json:"name"`
	Plan      Plan           `json:"plan"`
	Timezone  string         `json:"timezone"`
	Currency  money.Currency `json:"currency"`
	Suspended bool           `json:"suspended"`
	CreatedAt clock.Instant  `json:"created_at"`
	// RequireApproval says that campaigns show only creatives that somebody
	// has approved.
	RequireApproval bool `json:"require_approval"`
	// ModelBudget is the most that may be spent on language models in a
	// calendar month (UTC), in millionths of a US dollar; nil for no limit.
	ModelBudget *int64 `json:"model_budget"`
	// EndlessKeys says that keys may be made that never expire.
	EndlessKeys bool `json:"endless_keys"`
}

// WorkspaceRole is a workspace with the role that somebody has in it.
type WorkspaceRole struct {
	Workspace
	Role Role `json:"role"`
}

// Plan is what a workspace pays for.
type Plan string

// The plans.
const (
	Starter    Plan = "starter"
	Growth     Plan = "growth"
	Enterprise Plan = "enterprise"
)

// Plans lists the plans from small to large.
var Plans = []string{string(Starter), string(Growth), string(Enterprise)}

// User is a person or, without sign-in, an integration's own identity. A user
// may belong to many workspaces.
type User struct {
	ID        ident.ID      `json:"id"`
	Email     string        `json:"email"`
	Name      string        `json:"name"`
	Service   bool          `json:"service"`
	CreatedAt clock.Instant `json:"created_at"`
}

// Member is a user in a workspace.
type Member struct {
	User
	Role Role `json:"role"`
	// InactiveAt is when the member was removed, nil while active.
	InactiveAt *clock.Instant `json:"inactive_at"`
}

// Role is a member's standing in one workspace. Each role may do all that the
// roles before it may.
type Role string

// The roles.
const (
	Viewer Role = "viewer"
	Editor Role = "editor"
	Admin  Role = "admin"
	Owner  Role = "owner"
)

// Roles lists the roles from least to most.
var Roles = []string{string(Viewer), string(Editor), string(Admin), string(Owner)}

// Reaches reports whether the role is at least the other. An unknown role
// reaches nothing.
func (r Role) Reaches(least Role) bool {
	have, need := slices.Index(Roles, string(r)), slices.Index(Roles, string(least))
	return have >= 0 && need >= 0 && have >= need
}

// Access is what an operation does to its family.
type Access string

// The kinds of access.
const (
	Read  Access = "read"
	Write Access = "write"
)

// Families lists what scopes can narrow a key to.
var Families = []string{"campaigns", "creative", "analytics", "audiences", "connections", "webhooks"}

// Scopes narrow a key: the access it has in each family. Nil is everything
// its creator may do.
type Scopes map[string]Access

// MarshalJSON writes null where nothing was narrowed: an empty object would
// say that every family is closed.
func (s Scopes) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("null"), nil
	}
	return json.Marshal(map[string]Access(s))
}

// Allow reports whether the scopes admit an access. Write includes read; an
// operation without family needs no scope.
func (s Scopes) Allow(family string, access Access) bool {
	if s == nil || family == "" {
		return true
	}
	has := s[family]
	return has == Write || has == access
}

// Permission is what a role must have for an operation.
type Permission struct {
	Least  Role
	Family string
	Access Access
}

func (p Permission) String() string {
	if p.Family == "" {
		return "role:" + string(p.Least)
	}
	return p.Family + ":" + string(p.Access)
}

// operations is the role × operation table. An operation that is not in it is
// allowed to nobody.
var operations = map[string]Permission{
	"getApi": {Viewer, "", Read},
	"getMe":  {Viewer, "", Read},

	"listCampaigns":     {Viewer, "campaigns", Read},
	"getCampaign":       {Viewer, "campaigns", Read},
	"createCampaign":    {Editor, "campaigns", Write},
	"updateCampaign":    {Editor, "campaigns", Write},
	"archiveCampaign":   {Editor, "campaigns", Write},
	"launchCampaign":    {Editor, "campaigns", Write},
	"pauseCampaign":     {Editor, "campaigns", Write},
	"resumeCampaign":    {Editor, "campaigns", Write},
	"restoreCampaign":   {Editor, "campaigns", Write},
	"duplicateCampaign": {Editor, "campaigns", Write},

	"listAudiences":         {Viewer, "audiences", Read},
	"getAudience":           {Viewer, "audiences", Read},
	"getAudienceInsights":   {Viewer, "audiences", Read},
	"getAudienceMembers":    {Viewer, "audiences", Read},
	"createAudience":        {Editor, "audiences", Write},
	"updateAudience":        {Editor, "audiences", Write},
	"archiveAudience":       {Editor, "audiences", Write},
	"restoreAudience":       {Editor, "audiences", Write},
	"changeAudienceMembers": {Editor, "audiences", Write},

	"listCreatives":        {Viewer, "creative", Read},
	"getCreative":          {Viewer, "creative", Read},
	"listCreativeVariants": {Viewer, "creative", Read},
	"createCreative":       {Editor, "creative", Write},
	"generateCreative":     {Editor, "creative", Write},
	"updateCreative":       {Editor, "creative", Write},
	"archiveCreative":      {Editor, "creative", Write},
	"restoreCreative":      {Editor, "creative", Write},
	"retryCreative":        {Editor, "creative", Write},

	"getAsset":    {Viewer, "creative", Read},
	"linkAsset":   {Editor, "creative", Write},
	"uploadAsset": {Editor, "creative", Write},

	"getAnalyticsOverview":  {Viewer, "analytics", Read},
	"getAnalyticsCampaigns": {Viewer, "analytics", Read},
	"getAnalyticsChannels":  {Viewer, "analytics", Read},
	"getAnalyticsCreative":  {Viewer, "analytics", Read},
	"getAnalyticsAudiences": {Viewer, "analytics", Read},
	"getAnalyticsSchema":    {Viewer, "analytics", Read},
	"queryAnalytics":        {Viewer, "analytics", Read},

	// Choice: numbers of one's own are what analytics is about, so bringing
	// them in belongs to its scope family. Rates change what every report
	// says, so they are for admins.
	"ingestMetrics":     {Editor, "analytics", Write},
	"listImports":       {Viewer, "analytics", Read},
	"getImport":         {Viewer, "analytics", Read},
	"getImportTemplate": {Viewer, "analytics", Read},
	"createImport":      {Editor, "analytics", Write},
	"updateImport":      {Editor, "analytics", Write},
	"commitImport":      {Editor, "analytics", Write},
	"undoImport":        {Editor, "analytics", Write},
	"listRates":         {Viewer, "analytics", Read},
	"setRates":          {Admin, "analytics", Write},

	"listConnections":        {Viewer, "connections", Read},
	"getConnection":          {Viewer, "connections", Read},
	"createConnection":       {Admin, "connections", Write},
	"updateConnection":       {Admin, "connections", Write},
	"disconnectConnection":   {Admin, "connections", Write},
	"reconnectConnection":    {Admin, "connections", Write},
	"listConnectionAccounts": {Viewer, "connections", Read},
	"listConnectionEntities": {Viewer, "connections", Read},
	"linkConnectionEntities": {Admin, "connections", Write},
	"syncConnection":         {Editor, "connections", Write},
	"listConnectionSyncs":    {Viewer, "connections", Read},
	"getSync":                {Viewer, "connections", Read},
	"cancelSync":             {Editor, "connections", Write},
	"listPlatforms":          {Viewer, "connections", Read},

	// Choice: the event log is what webhooks will deliver, so it shares their
	// scope family.
	"listEvents": {Viewer, "webhooks", Read},
	"getEvent":   {Viewer, "webhooks", Read},
}

// PermissionFor returns what an operation demands, and whether anybody may
// call it.
func PermissionFor(operation string) (Permission, bool) {
	p, ok := operations[operation]
	return p, ok
}
