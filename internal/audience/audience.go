// Package audience defines audiences, the members of customer lists, and
// audience insights. It uses no HTTP and no SQL; store.go declares the
// interfaces that it needs. It has no personal data: callers send members as
// hashes.
package audience

import (
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Limits of the writable fields. The OpenAPI contract has the same limits.
const (
	MaxName        = 200
	MaxDescription = 2000
	// MaxItems is the maximum length of a list in a definition.
	MaxItems   = 200
	MaxWord    = 100
	MinAge     = 13
	MaxAge     = 120
	MinPercent = 1
	MaxPercent = 10
	// MaxMembers is the maximum number of members to add or remove per call.
	MaxMembers = 10_000
	// MinMembers is the minimum size of a usable customer list.
	MinMembers = 100
)

// Type is the type of an audience.
type Type string

// The types.
const (
	TypeTargeting    Type = "targeting"
	TypeCustomerList Type = "customer_list"
	TypeLookalike    Type = "lookalike"
	TypePlatform     Type = "platform"
)

// Allowed values of the enumerated fields. Callers can create all types except
// platform, which only an import creates.
var (
	Types     = []string{string(TypeTargeting), string(TypeCustomerList), string(TypeLookalike), string(TypePlatform)}
	Creatable = Types[:3]
	Genders   = []string{"female", "male", "other", "unknown"}
	Devices   = []string{"desktop", "mobile", "tablet", "tv"}
)

// Audience is the whole record as the API returns it.
type Audience struct {
	ID     ident.ID `json:"id"`
	Status Status   `json:"status"`

	Spec

	Size             *Size                `json:"size"`
	SizeByConnection []PlatformSize       `json:"size_by_connection"`
	ExternalRefs     []record.ExternalRef `json:"external_refs"`

	record.Common
}

// Spec has the fields that a caller can write. The type is fixed at creation.
type Spec struct {
	Name        string            `json:"name"`
	Description *string           `json:"description"`
	Type        Type              `json:"type"`
	Definition  Definition        `json:"definition"`
	Tags        []string          `json:"tags"`
	Metadata    map[string]string `json:"metadata"`
}

// Size is the number of people in an audience, exact or estimated.
type Size struct {
	Estimate int64         `json:"estimate"`
	Lower    int64         `json:"lower"`
	Upper    int64         `json:"upper"`
	Method   string        `json:"method"`
	AsOf     clock.Instant `json:"as_of"`
}

// exactSize returns an exact size.
func exactSize(n int64, now clock.Instant) *Size {
	return &Size{Estimate: n, Lower: n, Upper: n, Method: "exact", AsOf: now}
}

// PlatformSize is the number of people that a platform matched.
type PlatformSize struct {
	ConnectionID ident.ID      `json:"connection_id"`
	Platform     string        `json:"platform"`
	Matched      int64         `json:"matched"`
	AsOf         clock.Instant `json:"as_of"`
}
