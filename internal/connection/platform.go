package connection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/secret"
)

// Client speaks the API of one platform, for every workspace. It keeps nothing
// between calls but how fast the platform may be asked. Whatever goes wrong on
// the way is an *Error.
type Client interface {
	About() About
	// Accounts lists what the credentials give access to, without managers.
	// Enabled is false for accounts that are closed or cannot be read; the latter
	// have a Problem and may have no currency and no time zone. One account never
	// fails the list.
	Accounts(ctx context.Context, c Credentials) ([]Account, error)
	// Entities lists what an account has.
	Entities(ctx context.Context, c Credentials, account string) (*Entities, error)
	// Report reads the rows of a report, some at a time as they come. They
	// have no source and no links. It stops at the first error of each and
	// returns it.
	Report(ctx context.Context, c Credentials, q Report, each func([]fact.Row) error) error
	// Status reads the state of a campaign.
	Status(ctx context.Context, c Credentials, account, campaign string) (Observed, error)
	// SetStatus has a campaign run or pause. It may be repeated.
	SetStatus(ctx context.Context, c Credentials, account, campaign string, run bool) error
}

// Grantor is a Client whose platform gives access by OAuth.
type Grantor interface {
	// AuthorizeURL is where a person grants access.
	AuthorizeURL(a OAuthClient, g Grant) string
	// Exchange trades the code that the person came back with.
	Exchange(ctx context.Context, a OAuthClient, g Grant, code string) (Credentials, error)
	// Refresh returns credentials that live on. What the platform does not
	// give anew is as before.
	Refresh(ctx context.Context, a OAuthClient, c Credentials) (Credentials, error)
	// Revoke gives the access back. It may end everything that has the Grant of
	// the credentials. It is right to call it twice.
	Revoke(ctx context.Context, a OAuthClient, c Credentials) error
}

// OAuthClient is how the operator of the server is registered with a platform.
type OAuthClient struct {
	ID     string
	Secret secret.Text
	// Configuration is the id of a saved set of permissions that Meta asks
	// people for instead of scopes, empty without one.
	Configuration string
}

// Grant is what belongs to one granting of access.
type Grant struct {
	// Redirect is where the platform sends the person back to, State what it
	// has to repeat, Verifier what PKCE proves with.
	Redirect, State, Verifier string
	// Write asks for changing campaigns too.
	Write bool
}

// Credentials open a platform.
type Credentials struct {
	Access, Refresh secret.Text
	// ServiceAccount is what Access is got with, nil unless a caller brought one.
	ServiceAccount *ServiceAccount
	IssuedAt       clock.Instant
	// ExpiresAt is the end of Access, RefreshExpiresAt that of Refresh; nil
	// for never.
	ExpiresAt, RefreshExpiresAt *clock.Instant
	Scopes                      []string
	// Grant names what a revocation ends: all tokens that have the same one,
	// of every connection. Exchange sets it. It is empty if it is not known,
	// and for credentials that a caller brought; these are never revoked.
	Grant string
	// App is needed where a platform wants it with every call.
	App OAuthClient
}

// About is what a platform is like.
type About struct {
	Platform string
	Name     string
	// Version is the one of its API that is spoken, Sunset its last day, nil
	// where it is not known.
	Version string
	Sunset  *clock.Date
	// LookbackDays is for how long figures of a day still change, HistoryDays
	// how far back there are some, WindowDays how many fit into one request.
	LookbackDays, HistoryDays, WindowDays int
	// DeepDays is how far back figures are read again once a week, 0 for no
	// more than usual.
	DeepDays int
	Levels   []Level
	// Scopes are needed to read, WriteScopes to change.
	Scopes, WriteScopes []string
	Capabilities        []string
	// Calls is what syncs cost, Quotas are the limits that the platform
	// documents.
	Calls  CallCost
	Quotas []Quota
}

// Level is a cut through a platform's figures.
type Level uint8

// The levels. Those up to LevelAd make the base family: what a campaign has
// beyond its ads belongs to no ad, and the account says what all must add up
// to.
const (
	LevelAccount Level = iota
	LevelCampaign
	LevelAd
	LevelGeo
	LevelDemographic
	LevelDevice
)

// Families are those of the levels that have one to themselves.
var Families = map[Level]fact.Family{LevelAd: fact.Base, LevelGeo: fact.Geo, LevelDemographic: fact.Demographic, LevelDevice: fact.Device}

// Report is what is asked for: an account's figures by day at a level. Rows of
// LevelAccount have neither campaign nor creative nor audience, those of
// LevelCampaign no creative and no audience. All others have campaign and,
// where the group of ads is for one, audience; two groups of one campaign for
// one audience are added up.
type Report struct {
	Account     string
	Level       Level
	First, Last clock.Date
	Entities    *Entities
	// Conversions are the platform's names of the events that count as
	// conversions, empty for the account's own choice.
	Conversions []string
	// Currency and Zone are those of the stored numbers, empty if they do not
	// matter. A client whose platform can change them compares them with the
	// answer and returns AccountChanged.
	Currency money.Currency
	Zone     string
	// Note receives what a reader of the numbers should know; see AddNote.
	Note func(Note)
}

// AddNote passes a note on, if anyone wants notes.
func (q *Report) AddNote(n Note) {
	if q.Note != nil {
		q.Note(n)
	}
}

// Note says that rows of a report are not all that the platform has counted, or
// not exactly what it has counted.
type Note struct {
	Code  NoteCode   `json:"code"`
	First clock.Date `json:"first"`
	Last  clock.Date `json:"last"`
	// Measure and Amount are what is missing, if the platform lets us know.
	// Amount has the unit of the measure in facts.
	Measure fact.Measure `json:"measure,omitzero"`
	Amount  *int64       `json:"amount,omitzero"`
	// Message is a sentence for people.
	Message string `json:"message"`
}

// NoteCode is the reason for a note.
type NoteCode string

// The reasons for notes.
const (
	// NoteWithheld is for rows that the platform leaves out to protect people.
	NoteWithheld NoteCode = "withheld"
	// NoteOther is for rows that the platform has put together as "other".
	NoteOther NoteCode = "other_row"
	// NoteSampled is for values that the platform has estimated from a part.
	NoteSampled NoteCode = "sampled"
	// NoteUnattributed is for an amount of the account that belongs to no
	// campaign in the report.
	NoteUnattributed NoteCode = "unattributed"
	// NoteTotalDiffers is for parts that do not add up to their total.
	NoteTotalDiffers NoteCode = "total_differs"
	// NoteNotIncluded is for campaigns whose numbers the report does not have.
	NoteNotIncluded NoteCode = "not_included"
	// NoteExcluded is a note of the totals about numbers that no report of the
	// account has.
	NoteExcluded NoteCode = "excluded"
)

// Entities are what an account has.
type Entities struct {
	Campaigns, Ads, Audiences []Entity
	// Groups tells for a group of ads, by its external id, which audience it
	// is for.
	Groups map[string]string
	// Results are the platform's names of the events that the account's ads
	// optimize for, nil where the platform does not tell.
	Results []string
	// Cut says that the account has more ads and audiences than are listed.
	Cut bool
}

// Entity is a campaign, an ad or an audience on a platform.
type Entity struct {
	External string
	Name     string
	// Status is the platform's word, Runs what it means.
	Status string
	Runs   bool
	// Deleted says that the platform keeps it for its numbers only. It is not
	// offered for linking.
	Deleted bool
	Channel string
	URL     string
	// Size is how many an audience has, nil where the platform does not tell.
	Size *int64
}

// Observed is the state that a platform reports for a campaign.
type Observed struct {
	// Status is the platform's word.
	Status string
	// Runs and Stopped say what Status means. Both are false for a missing
	// word, a word that the platform's documentation does not list, and an
	// answer about another campaign: such an answer confirms nothing.
	Runs, Stopped bool
}

// Confirms reports whether the platform reports the requested state.
func (o Observed) Confirms(run bool) bool { return run && o.Runs || !run && o.Stopped }

type waiveKey struct{}

// WaiveHolds marks the calls of a context as ones that a person waits for: they
// pass the holds that a client imposes on itself. What the platform has asked
// for still counts.
func WaiveHolds(ctx context.Context) context.Context {
	return context.WithValue(ctx, waiveKey{}, true)
}

// HoldsWaived reports whether WaiveHolds has marked a context.
func HoldsWaived(ctx context.Context) bool { return ctx.Value(waiveKey{}) != nil }

type appKey struct{}

// WithApp names the OAuth client that the calls of a context are made with, empty
// for that of the operator.
func WithApp(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, appKey{}, id)
}

// AppOf returns the OAuth client of a context.
func AppOf(ctx context.Context) string {
	id, _ := ctx.Value(appKey{}).(string)
	return id
}

// Holds are the times until which the calls of an account wait.
type Holds struct {
	// NotBefore is the time that the platform has named. HeldUntil is how long
	// the client waits by itself, because most of the quota is used.
	NotBefore, HeldUntil time.Time
}

// Later returns the later time of each hold.
func (h Holds) Later(other Holds) Holds {
	if other.NotBefore.After(h.NotBefore) {
		h.NotBefore = other.NotBefore
	}
	if other.HeldUntil.After(h.HeldUntil) {
		h.HeldUntil = other.HeldUntil
	}
	return h
}

// Class says what can be done about an error.
type Class string

// The classes.
const (
	// Transient goes away by itself.
	Transient Class = "transient"
	// Throttled goes away at a moment.
	Throttled Class = "rate"
	// Expired needs new tokens, Revoked a person.
	Expired Class = "expired"
	Revoked Class = "auth"
	// Forbidden is about rights that credentials do not have.
	Forbidden Class = "permission"
	// TooLarge asks for fewer days at once.
	TooLarge Class = "too_large"
	// Refused is a request that the platform calls wrong, Sunset a version of
	// its API that is over.
	Refused Class = "validation"
	Sunset  Class = "sunset"
	// Gone is an account or campaign that is not there any more.
	Gone Class = "gone"
	// PagesDisagree says that pages of one report do not belong together.
	PagesDisagree Class = "drift"
)

// Error is what a platform, or the way to it, has against a call. It never
// holds a secret.
type Error struct {
	Class Class
	// Code is the platform's, or one of ours where none came.
	Code    string
	Message string
	// Remedy is what a person can do about it, empty if the client knows nothing
	// better than what all errors of the class have in common.
	Remedy string
	// Until is when it is worth trying again, zero where that is unknown.
	// Stated says that the platform itself named it; else it is an estimate.
	Until  time.Time
	Stated bool
	// WholeApp says that the limit belongs to the OAuth client, so that all
	// accounts have to wait.
	WholeApp bool
	// RequestID is the platform's name for the call, for its support.
	RequestID string
	Cause     error
}

func (e *Error) Error() string {
	if e.RequestID != "" {
		return fmt.Sprintf("%s (%s, %s, request %s)", e.Message, e.Class, e.Code, e.RequestID)
	}
	return fmt.Sprintf("%s (%s, %s)", e.Message, e.Class, e.Code)
}

func (e *Error) Unwrap() error { return e.Cause }

// ClassOf is what can be done about any error; what is none of a platform's is
// worth another try.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return Transient
}

// PlatformRegistry finds the clients of ad platforms.
type PlatformRegistry interface {
	// About lists what can be connected, by name.
	About() []About
	// Client finds the one for a platform, as the connection reaches it: the
	// real one, or its double in the sandbox.
	Client(platform string, sandbox bool) (Client, bool)
	// App is how the operator is registered with a platform; false where he
	// is not.
	App(platform string) (OAuthClient, bool)
	// DailyCalls is how many calls a day the operator allows his OAuth client, 0
	// for any number.
	DailyCalls(platform string) int64
}

// Sandbox gives access to made-up accounts.
type Sandbox interface {
	// Open creates one account on every platform, or finds them again: equal
	// options always give the same accounts. It returns the credentials by
	// platform.
	Open(ctx context.Context, o SandboxOptions) (map[string]Credentials, error)
}

// SandboxOptions determine the accounts of a sandbox.
type SandboxOptions struct {
	// Seed is nil for the sandbox's own choice.
	Seed       *int64
	Connection ident.ID
	Defaults   WorkspaceDefaults
	Now        time.Time
}
