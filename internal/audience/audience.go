// Package audience holds the audience: who a campaign is meant for, the
// members of customer lists, and what is known about them. It knows no HTTP
// and no SQL, and no person: members are hashes from the caller's hands on.
// What it needs from a store is in store.go.
package audience

import (
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Limits of the writable members. The contract says the same.
const (
	MaxName        = 200
	MaxDescription = 2000
	// MaxItems is how long a list in a definition may be.
	MaxItems   = 200
	MaxWord    = 100
	MinAge     = 13
	MaxAge     = 120
	MinPercent = 1
	MaxPercent = 10
	// MaxMembers is how many members one call may add and remove.
	MaxMembers = 10_000
	// MinMembers is how many members a customer list needs to be used.
	MinMembers = 100
)

// Type is what an audience is made of.
type Type string

// The types.
const (
	TypeTargeting    Type = "targeting"
	TypeCustomerList Type = "customer_list"
	TypeLookalike    Type = "lookalike"
	TypePlatform     Type = "platform"
)

// Values of the enumerated members. Callers create all types but the last,
// which only comes from a platform.
var (
	Types     = []string{string(TypeTargeting), string(TypeCustomerList), string(TypeLookalike), string(TypePlatform)}
	Creatable = Types[:3]
	Genders   = []string{"female", "male", "other", "unknown"}
	Devices   = []string{"desktop", "mobile", "tablet", "tv"}
)

// Audience is the whole record as the API answers it.
type Audience struct {
	ID     ident.ID `json:"id"`
	Status Status   `json:"status"`

	Spec

	Size             *Size                `json:"size"`
	SizeByConnection []PlatformSize       `json:"size_by_connection"`
	ExternalRefs     []record.ExternalRef `json:"external_refs"`

	record.Common
}

// Spec is everything a caller may write; the type only at creation.
type Spec struct {
	Name        string            `json:"name"`
	Description *string           `json:"description"`
	Type        Type              `json:"type"`
	Definition  Definition        `json:"definition"`
	Tags        []string          `json:"tags"`
	Metadata    map[string]string `json:"metadata"`
}

// Size is how many people an audience has, as far as somebody knows.
type Size struct {
	Estimate int64         `json:"estimate"`
	Lower    int64         `json:"lower"`
	Upper    int64         `json:"upper"`
	Method   string        `json:"method"`
	AsOf     clock.Instant `json:"as_of"`
}

// counted is a size that is known exactly.
func counted(n int64, now clock.Instant) *Size {
	return &Size{Estimate: n, Lower: n, Upper: n, Method: "exact", AsOf: now}
}

// PlatformSize is how many people a platform has matched.
type PlatformSize struct {
	ConnectionID ident.ID      `json:"connection_id"`
	Platform     string        `json:"platform"`
	Matched      int64         `json:"matched"`
	AsOf         clock.Instant `json:"as_of"`
}
