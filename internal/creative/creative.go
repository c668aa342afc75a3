// Package creative defines creatives and their variants, their generation from
// a prompt, and the provider interface. It uses no HTTP and no SQL; store.go
// declares the interfaces that it needs.
package creative

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/clock"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/policy"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Limits of the writable fields. The OpenAPI contract has the same limits.
const (
	MaxName        = 200
	MaxPrompt      = 4000
	MaxNegative    = 1000
	MaxTone        = 100
	MaxVariants    = 10
	MaxReferences  = 10
	MaxMedia       = 20
	MaxHeadline    = 255
	MaxBody        = 10_000
	MaxDescription = 1000
	MaxAltText     = 500
	MaxNote        = 1000
	MaxLicence     = 500
	MaxBrandName   = 100
	MaxVoice       = 500
	MaxColors      = 8
	MaxBanned      = 100
	MaxBannedWord  = 50
	MaxSeed        = 1<<53 - 1

	// Limits of the fields of a brief.
	MaxFact        = 200
	MaxTerms       = 500
	MaxCode        = 50
	MaxBenefits    = 10
	MaxProof       = 5
	MaxMustInclude = 5

	// Limits of the copy of a channel. MaxHeadline, MaxDescription, MaxBody and
	// MaxBrandName apply to it too.
	MaxHeadlines    = 15
	MaxDescriptions = 5
	MaxPrimaryText  = 5000
	MaxShortText    = 500
	MaxSubject      = 255
	MaxPreheader    = 255
	MaxScript       = 5000
	MaxPaths        = 2
	MaxPath         = 50

	// DefaultVariants is the default number of variants.
	DefaultVariants = 3
)

// Allowed values of the enumerated fields.
var (
	Types           = []string{"text", "image", "video", "audio", "carousel", "email", "html"}
	GeneratedTypes  = []string{"text", "image", "email"}
	UploadedTypes   = []string{"text", "image", "carousel", "email"}
	Sources         = []string{"generated", "uploaded", "synced"}
	Approvals       = []string{ApprovalNotRequired, ApprovalPending, ApprovalApproved, ApprovalRejected}
	Channels        = []string{"search", "social", "display", "video", "audio", "email", "sms", "push", "affiliate", "influencer", "direct_mail", "other"}
	Providers       = []string{BuiltIn, "openai", "anthropic", "gemini"}
	Formats         = []string{"png", "jpeg", "svg"}
	TypefaceNames   = []string{"inter", "dm_sans", "barlow_condensed", "oswald", "fraunces", "bodoni_moda"}
	CallsToAction   = []string{"learn_more", "shop_now", "sign_up", "get_offer", "book_now", "contact_us", "download", "subscribe", "get_quote", "apply_now", "donate_now", "order_now", "get_started", "register_now", "buy_tickets", "watch_now", "get_directions", "call_now"}
	AspectRatios    = []Shape{{"1:1", 1080, 1080}, {"4:5", 1080, 1350}, {"9:16", 1080, 1920}, {"16:9", 1920, 1080}, {"1.91:1", 1200, 628}}
	Sizes           = []Shape{{"300x250", 300, 250}, {"336x280", 336, 280}, {"728x90", 728, 90}, {"970x90", 970, 90}, {"970x250", 970, 250}, {"160x600", 160, 600}, {"300x600", 300, 600}, {"320x50", 320, 50}, {"320x100", 320, 100}}
	defaultChannels = map[string]string{"text": "social", "image": "display", "email": "email"}
)

// BuiltIn is the provider that needs no configuration.
const BuiltIn = "composer"

// Approval statuses.
const (
	ApprovalNotRequired = "not_required"
	ApprovalPending     = "pending"
	ApprovalApproved    = "approved"
	ApprovalRejected    = "rejected"
)

// Status is the lifecycle status of a creative.
type Status string

// The statuses.
const (
	StatusGenerating Status = "generating"
	StatusReady      Status = "ready"
	StatusFailed     Status = "failed"
	StatusArchived   Status = "archived"
)

// StatusOf returns the status in the document of a creative, empty if it has
// none.
func StatusOf(doc []byte) Status {
	d := jsontext.NewDecoder(bytes.NewBuffer(doc))
	if t, err := d.ReadToken(); err != nil || t.Kind() != jsontext.KindBeginObject {
		return ""
	}
	for d.PeekKind() == jsontext.KindString {
		// A token is valid until the next read.
		name, err := d.ReadToken()
		if err != nil {
			return ""
		}
		if name.String() != "status" {
			if d.SkipValue() != nil {
				return ""
			}
			continue
		}
		if value, err := d.ReadToken(); err == nil && value.Kind() == jsontext.KindString {
			return Status(value.String())
		}
		return ""
	}
	return ""
}

// Usability returns whether campaigns can deliver the creative.
func (c *Creative) Usability() record.Usability { return Usability(c.Status, c.Approval.Status) }

// Usability returns whether campaigns can deliver a creative of this status and
// approval.
func Usability(s Status, approval string) record.Usability {
	switch {
	case s == StatusArchived:
		return record.Usability{Archived: true, Issue: "no_creative_ready"}
	case s != StatusReady || approval == ApprovalPending:
		return record.Usability{Issue: "no_creative_ready"}
	case approval == ApprovalRejected:
		return record.Usability{Issue: "creative_rejected"}
	}
	return record.Usability{}
}

// Statuses lists all statuses.
var Statuses = []string{string(StatusGenerating), string(StatusReady), string(StatusFailed), string(StatusArchived)}

// Creative is the whole record as the API returns it.
type Creative struct {
	ID     ident.ID `json:"id"`
	Status Status   `json:"status"`
	Type   string   `json:"type"`
	Source string   `json:"source"`

	Spec

	Policy           policy.Result `json:"policy"`
	Generation       *Generation   `json:"generation"`
	VariantCount     int           `json:"variant_count"`
	PrimaryVariantID *ident.ID     `json:"primary_variant_id"`

	record.Common
}

// Spec has the fields that a caller can write.
type Spec struct {
	Name     string            `json:"name"`
	Approval Approval          `json:"approval"`
	Channels []string          `json:"channels"`
	Content  Content           `json:"content"`
	Rights   *Rights           `json:"rights"`
	Tags     []string          `json:"tags"`
	Metadata map[string]string `json:"metadata"`
}

// Approval is the decision of a member whether the creative may be shown.
type Approval struct {
	Status string         `json:"status"`
	By     *record.Actor  `json:"by"`
	At     *clock.Instant `json:"at"`
	Note   *string        `json:"note"`
}

// Content is the text and the media of a creative.
type Content struct {
	Headline     *string                `json:"headline"`
	Body         *string                `json:"body"`
	Description  *string                `json:"description"`
	CallToAction *string                `json:"call_to_action"`
	LandingURL   *string                `json:"landing_url"`
	Language     *string                `json:"language"`
	ByChannel    map[string]policy.Copy `json:"by_channel"`
	Media        []Media                `json:"media"`
}

// emptyContent returns the content of a creative that has none yet.
func emptyContent() Content { return Content{ByChannel: map[string]policy.Copy{}, Media: []Media{}} }

// Media is one image of a creative.
type Media struct {
	AssetID    ident.ID `json:"asset_id"`
	URL        string   `json:"url"`
	MIMEType   string   `json:"mime_type"`
	Width      *int64   `json:"width"`
	Height     *int64   `json:"height"`
	DurationMS *int64   `json:"duration_ms"`
	Bytes      int64    `json:"bytes"`
	SHA256     string   `json:"sha256"`
	AltText    *string  `json:"alt_text"`
}

// Rights are the usage rights of the content.
type Rights struct {
	ExpiresAt    *clock.Instant `json:"expires_at"`
	Licence      *string        `json:"licence"`
	AIDisclosure bool           `json:"ai_disclosure"`
}

// Generation describes how a creative was generated.
type Generation struct {
	// Prompt is empty if the brief was given as fields only.
	Prompt         string        `json:"prompt"`
	Brief          *brief.Fields `json:"brief"`
	NegativePrompt *string       `json:"negative_prompt"`
	Parameters     Parameters    `json:"parameters"`
	// Provider and Model wrote the copy.
	Provider string   `json:"provider"`
	Model    *string  `json:"model"`
	Seed     int64    `json:"seed"`
	Cost     *Cost    `json:"cost"`
	Dropped  []string `json:"dropped"`
	// Understood is what was understood of the prompt and the brief.
	Understood *brief.Understood `json:"understood"`
	// Replaced says in what the built-in generator replaced a model, nil for
	// nothing.
	Replaced   *Replaced      `json:"replaced"`
	StartedAt  *clock.Instant `json:"started_at"`
	FinishedAt *clock.Instant `json:"finished_at"`
	Error      *GenerationErr `json:"error"`
}

// Parameters are the other fields of a generation request. They are stored, so
// that the generation can be repeated.
type Parameters struct {
	Type         string      `json:"type"`
	Channels     []string    `json:"channels"`
	Variants     int         `json:"variants"`
	AspectRatios []string    `json:"aspect_ratios"`
	Sizes        []string    `json:"sizes"`
	Formats      []string    `json:"formats"`
	Language     *string     `json:"language"`
	Tone         *string     `json:"tone"`
	AudienceID   *ident.ID   `json:"audience_id"`
	CampaignID   *ident.ID   `json:"campaign_id"`
	Brand        *Brand      `json:"brand"`
	References   []Reference `json:"references"`
	CallToAction *string     `json:"call_to_action"`
	LandingURL   *string     `json:"landing_url"`
	Objective    *string     `json:"objective"`
	// Fallback is one of Fallbacks, nil for that of the model's setup.
	Fallback *string `json:"fallback"`
	// LikeVariantID is the variant whose idea leads all others.
	LikeVariantID *ident.ID `json:"like_variant_id"`
	// PhotoAssetID is the photo in pictures, nil for none.
	PhotoAssetID *ident.ID `json:"photo_asset_id"`
}

// Reference is an earlier creative or a web page whose style to follow.
type Reference struct {
	CreativeID *ident.ID `json:"creative_id"`
	URL        *string   `json:"url"`
}

// Cost is the cost and the usage of a generation.
type Cost struct {
	// Amount is in US dollars with six decimals, nil if no price is known.
	Amount   *string `json:"amount"`
	Currency string  `json:"currency"`
	Usage
}

// GenerationErr says why the last try failed.
type GenerationErr struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// Variant is one version of a creative.
type Variant struct {
	ID         ident.ID `json:"id"`
	CreativeID ident.ID `json:"creative_id"`
	Position   int      `json:"position"`
	Name       string   `json:"name"`
	Status     Status   `json:"status"`
	IsPrimary  bool     `json:"is_primary"`
	IsControl  bool     `json:"is_control"`
	Weight     int      `json:"weight"`
	Content    Content  `json:"content"`
	// Approval is nil without a decision.
	Approval    *Approval          `json:"approval"`
	Policy      policy.Result      `json:"policy"`
	Differences []string           `json:"differences"`
	AspectRatio *string            `json:"aspect_ratio"`
	Language    *string            `json:"language"`
	Generation  *VariantGeneration `json:"generation"`
	// Metrics is not stored. VariantsWithMetrics sets it from the facts.
	Metrics    *struct{}      `json:"metrics"`
	Version    int64          `json:"version"`
	CreatedAt  clock.Instant  `json:"created_at"`
	UpdatedAt  clock.Instant  `json:"updated_at"`
	ArchivedAt *clock.Instant `json:"archived_at"`
}

// VariantGeneration describes how a variant was generated.
type VariantGeneration struct {
	Seed       int64             `json:"seed"`
	Parameters map[string]string `json:"parameters"`
}

// notArchived are the statuses of a creative that is not archived.
var notArchived = []Status{StatusGenerating, StatusReady, StatusFailed}

// invalidState returns the fault for an action that the status does not allow.
func (c *Creative) invalidState(verb string, required ...Status) error {
	code := fault.InvalidState
	message := fmt.Sprintf("Cannot %s a creative that is %s; it must be %s.", verb, c.Status, record.JoinStatuses(required))
	if c.Status == StatusArchived && !slices.Contains(required, StatusArchived) {
		code = fault.Archived
		message = fmt.Sprintf("Cannot %s an archived creative; restore it first.", verb)
	}
	return fault.New(code, message, fault.Detail{Code: string(code), Message: message, Meta: fault.Meta{"current_status": c.Status, "required_status": required}})
}

// restoredStatus returns the status of an archived creative after a restore.
func (c *Creative) restoredStatus() Status {
	switch g := c.Generation; {
	case g != nil && g.Error != nil:
		return StatusFailed
	case g != nil && g.FinishedAt == nil:
		return StatusGenerating
	}
	return StatusReady
}
