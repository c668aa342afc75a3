// Package account defines workspaces and plans, users and roles, API keys and
// permissions. It contains no HTTP and no SQL.
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
	// RequireApproval makes campaigns use only approved creatives.
	RequireApproval bool `json:"require_approval"`
	// ModelBudget is the maximum spend on language models per calendar month
	// (UTC) in millionths of a US dollar, nil for no limit.
	ModelBudget *int64 `json:"model_budget"`
	// EndlessKeys allows API keys without expiry.
	EndlessKeys bool `json:"endless_keys"`
	// Founder is the user whose workspaces share turns, empty if it is not
	// known. It never changes, so that a new owner does not get more turns.
	Founder ident.ID `json:"-"`
}

// WorkspaceRole is a workspace with a user's role in it.
type WorkspaceRole struct {
	Workspace
	Role Role `json:"role"`
}

// Plan is the plan of a workspace. It determines the rate limits.
type Plan string

// The plans.
const (
	Starter    Plan = "starter"
	Growth     Plan = "growth"
	Enterprise Plan = "enterprise"
)

// Plans lists the plans from small to large.
var Plans = []string{string(Starter), string(Growth), string(Enterprise)}

// User is a person, or a service user for an integration, which cannot sign in.
// A user may be a member of many workspaces.
type User struct {
	ID        ident.ID      `json:"id"`
	Email     string        `json:"email"`
	Name      string        `json:"name"`
	Service   bool          `json:"service"`
	CreatedAt clock.Instant `json:"created_at"`
	// Founder is the founder of the workspaces that the user creates, empty for
	// the user's own id. An invited user has the founder of the workspace of
	// the first invitation. So a founder cannot get more turns by inviting
	// users.
	Founder ident.ID `json:"-"`
}

// Member is a user in a workspace.
type Member struct {
	User
	Role Role `json:"role"`
	// InactiveAt is when the member was removed, nil while active.
	InactiveAt *clock.Instant `json:"inactive_at"`
}

// Role is a member's role in one workspace. Each role has all permissions of
// the lower roles.
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

// AtLeast reports whether the role is least or higher. An unknown role has no
// permissions.
func (r Role) AtLeast(least Role) bool {
	have, need := slices.Index(Roles, string(r)), slices.Index(Roles, string(least))
	return have >= 0 && need >= 0 && have >= need
}

// Access is the kind of access that an operation needs.
type Access string

// The kinds of access.
const (
	Read  Access = "read"
	Write Access = "write"
)

// ScopeGroups are the groups of operations that a scope can name.
var ScopeGroups = []string{"campaigns", "creative", "analytics", "audiences", "connections", "webhooks"}

// Scopes restrict a key to an access per group. Nil means no restriction
// beyond the role of the key's creator.
type Scopes map[string]Access

// MarshalJSON returns null for nil scopes, because an empty object would mean
// no access to any group.
func (s Scopes) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("null"), nil
	}
	return json.Marshal(map[string]Access(s))
}

// Allow reports whether the scopes include an access. Write includes read. An
// operation without a group needs no scope.
func (s Scopes) Allow(group string, access Access) bool {
	if s == nil || group == "" {
		return true
	}
	has := s[group]
	return has == Write || has == access
}

// Permission is the role and the scope that an operation needs.
type Permission struct {
	Least  Role
	Group  string
	Access Access
}

func (p Permission) String() string {
	if p.Group == "" {
		return "role:" + string(p.Least)
	}
	return p.Group + ":" + string(p.Access)
}

// operations maps every operation to its permission. Operations that are
// missing here are always denied.
var operations = map[string]Permission{
	"getApi": {Viewer, "", Read},
	"getMe":  {Viewer, "", Read},
	// Choice: a search needs no scope of its own. It finds only what the caller
	// may list.
	"search": {Viewer, "", Read},

	"listCampaigns":     {Viewer, "campaigns", Read},
	"getCampaign":       {Viewer, "campaigns", Read},
	"createCampaign":    {Editor, "campaigns", Write},
	"updateCampaign":    {Editor, "campaigns", Write},
	"bulkEditCampaigns": {Editor, "campaigns", Write},
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
	"understandBrief":      {Viewer, "creative", Read},
	"updateCreative":       {Editor, "creative", Write},
	"archiveCreative":      {Editor, "creative", Write},
	"restoreCreative":      {Editor, "creative", Write},
	"retryCreative":        {Editor, "creative", Write},

	"getVariant":            {Viewer, "creative", Read},
	"updateVariant":         {Editor, "creative", Write},
	"approveVariant":        {Editor, "creative", Write},
	"rejectVariant":         {Editor, "creative", Write},
	"regenerateVariantLine": {Editor, "creative", Write},

	"getBrandKit": {Viewer, "creative", Read},
	"setBrandKit": {Admin, "creative", Write},

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

	// Choice: views and dashboards belong to the scope group of analytics, because
	// most of them show metrics. report.Caller restricts changes of what others
	// have shared.
	"listSavedViews":   {Viewer, "analytics", Read},
	"getSavedView":     {Viewer, "analytics", Read},
	"createSavedView":  {Editor, "analytics", Write},
	"updateSavedView":  {Editor, "analytics", Write},
	"archiveSavedView": {Editor, "analytics", Write},
	"listDashboards":   {Viewer, "analytics", Read},
	"getDashboard":     {Viewer, "analytics", Read},
	"createDashboard":  {Editor, "analytics", Write},
	"updateDashboard":  {Editor, "analytics", Write},
	"archiveDashboard": {Editor, "analytics", Write},

	"listAnnotations":   {Viewer, "analytics", Read},
	"getAnnotation":     {Viewer, "analytics", Read},
	"createAnnotation":  {Editor, "analytics", Write},
	"updateAnnotation":  {Editor, "analytics", Write},
	"archiveAnnotation": {Editor, "analytics", Write},

	// Choice: ingesting own data belongs to the scope group of analytics,
	// because analytics reports on this data. Rates change every report, so
	// they need the admin role.
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
	"planConnectionCalls":    {Viewer, "connections", Read},
	"checkConnection":        {Admin, "connections", Read},
	"listConnectionEntities": {Viewer, "connections", Read},
	"linkConnectionEntities": {Admin, "connections", Write},
	"syncConnection":         {Editor, "connections", Write},
	"listConnectionSyncs":    {Viewer, "connections", Read},
	"getSync":                {Viewer, "connections", Read},
	"cancelSync":             {Editor, "connections", Write},
	"listPlatforms":          {Viewer, "connections", Read},

	// Choice: webhooks will deliver the events, so the event log has their
	// scope group.
	"listEvents": {Viewer, "webhooks", Read},
	"getEvent":   {Viewer, "webhooks", Read},
}

// PermissionFor returns the permission that an operation needs, and false for
// an unknown operation.
func PermissionFor(operation string) (Permission, bool) {
	p, ok := operations[operation]
	return p, ok
}
