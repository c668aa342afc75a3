// Package creative holds what campaigns show: creatives and their variants,
// how they are generated from a prompt, what keeps a text from being shown,
// and which providers can write one. It knows no HTTP and no SQL; what it
// needs from a store is in store.go.
package creative

import (
	"fmt"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Limits of the writable members. The contract says the same.
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
	// DefaultVariants is how many variants are made where nobody says.
	DefaultVariants = 3
)

// Values of the enumerated members.
var (
	Types           = []string{"text", "image", "video", "audio", "carousel", "email", "html"}
	GeneratedTypes  = []string{"text", "image", "email"}
	UploadedTypes   = []string{"text", "image", "carousel", "email"}
	Sources         = []string{"generated", "uploaded", "synced"}
	Approvals       = []string{ApprovalNotRequired, ApprovalPending, ApprovalApproved, ApprovalRejected}
	Channels        = []string{"search", "social", "display", "video", "audio", "email", "sms", "push", "affiliate", "influencer", "direct_mail", "other"}
	Providers       = []string{BuiltIn, "openai", "anthropic", "gemini"}
	Formats         = []string{"png", "svg"}
	CallsToAction   = []string{"learn_more", "shop_now", "sign_up", "get_offer", "book_now", "contact_us", "download", "subscribe", "get_quote", "apply_now", "donate_now", "order_now", "get_started", "register_now", "buy_tickets", "watch_now", "get_directions", "call_now"}
	AspectRatios    = []Shape{{"1:1", 1080, 1080}, {"4:5", 1080, 1350}, {"9:16", 1080, 1920}, {"16:9", 1920, 1080}, {"1.91:1", 1200, 628}}
	Sizes           = []Shape{{"300x250", 300, 250}, {"336x280", 336, 280}, {"728x90", 728, 90}, {"970x90", 970, 90}, {"970x250", 970, 250}, {"160x600", 160, 600}, {"300x600", 300, 600}, {"320x50", 320, 50}, {"320x100", 320, 100}}
	defaultChannels = map[string]string{"text": "social", "image": "display", "email": "email"}
)

// BuiltIn is the provider that needs nothing.
const BuiltIn = "composer"

// Approval statuses.
const (
	ApprovalNotRequired = "not_required"
	ApprovalPending     = "pending"
	ApprovalApproved    = "approved"
	ApprovalRejected    = "rejected"
)

// Status is where a creative is in its life.
type Status string

// The statuses.
const (
	StatusGenerating Status = "generating"
	StatusReady      Status = "ready"
	StatusFailed     Status = "failed"
	StatusArchived   Status = "archived"
)

// Statuses lists all statuses.
var Statuses = []string{string(StatusGenerating), string(StatusReady), string(StatusFailed), string(StatusArchived)}

// Creative is the whole record as the API answers it.
type Creative struct {
	ID     ident.ID `json:"id"`
	Status Status   `json:"status"`
	Type   string   `json:"type"`
	Source string   `json:"source"`

	Spec

	Policy           Policy      `json:"policy"`
	Generation       *Generation `json:"generation"`
	VariantCount     int         `json:"variant_count"`
	PrimaryVariantID *ident.ID   `json:"primary_variant_id"`

	record.Common
}

// Spec is everything a caller may write.
type Spec struct {
	Name     string            `json:"name"`
	Approval Approval          `json:"approval"`
	Channels []string          `json:"channels"`
	Content  Content           `json:"content"`
	Rights   *Rights           `json:"rights"`
	Tags     []string          `json:"tags"`
	Metadata map[string]string `json:"metadata"`
}

// Approval is whether people let it be shown.
type Approval struct {
	Status string         `json:"status"`
	By     *record.Actor  `json:"by"`
	At     *clock.Instant `json:"at"`
	Note   *string        `json:"note"`
}

// Content is what is shown.
type Content struct {
	Headline     *string         `json:"headline"`
	Body         *string         `json:"body"`
	Description  *string         `json:"description"`
	CallToAction *string         `json:"call_to_action"`
	LandingURL   *string         `json:"landing_url"`
	Language     *string         `json:"language"`
	ByChannel    map[string]Copy `json:"by_channel"`
	Media        []Media         `json:"media"`
}

// empty is the content of a creative that has none yet.
func empty() Content { return Content{ByChannel: map[string]Copy{}, Media: []Media{}} }

// Media is one picture of a creative.
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

// Rights is what may be done with it.
type Rights struct {
	ExpiresAt    *clock.Instant `json:"expires_at"`
	Licence      *string        `json:"licence"`
	AIDisclosure bool           `json:"ai_disclosure"`
}

// Generation is where a generated creative comes from.
type Generation struct {
	Prompt         string         `json:"prompt"`
	NegativePrompt *string        `json:"negative_prompt"`
	Parameters     Parameters     `json:"parameters"`
	Provider       string         `json:"provider"`
	Model          *string        `json:"model"`
	Seed           int64          `json:"seed"`
	Cost           *Cost          `json:"cost"`
	Dropped        []string       `json:"dropped"`
	StartedAt      *clock.Instant `json:"started_at"`
	FinishedAt     *clock.Instant `json:"finished_at"`
	Error          *GenerationErr `json:"error"`
}

// Parameters is the rest of a request, kept so that it can be run again.
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
}

// Reference is an earlier creative or a page to take the style from.
type Reference struct {
	CreativeID *ident.ID `json:"creative_id"`
	URL        *string   `json:"url"`
}

// Cost is what a generation took.
type Cost struct {
	// Amount is in US dollars with six decimals, nil where no price is known.
	Amount   *string `json:"amount"`
	Currency string  `json:"currency"`
	Usage
}

// GenerationErr is why the last try failed.
type GenerationErr struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// Variant is one version of a creative.
type Variant struct {
	ID          ident.ID           `json:"id"`
	CreativeID  ident.ID           `json:"creative_id"`
	Position    int                `json:"position"`
	Name        string             `json:"name"`
	Status      Status             `json:"status"`
	IsPrimary   bool               `json:"is_primary"`
	IsControl   bool               `json:"is_control"`
	Weight      int                `json:"weight"`
	Content     Content            `json:"content"`
	Policy      Policy             `json:"policy"`
	Differences []string           `json:"differences"`
	AspectRatio *string            `json:"aspect_ratio"`
	Language    *string            `json:"language"`
	Generation  *VariantGeneration `json:"generation"`
	// Metrics is never stored: who asks for it gets what facts say then.
	Metrics    *struct{}      `json:"metrics"`
	Experiment *struct{}      `json:"experiment"`
	Version    int64          `json:"version"`
	CreatedAt  clock.Instant  `json:"created_at"`
	UpdatedAt  clock.Instant  `json:"updated_at"`
	ArchivedAt *clock.Instant `json:"archived_at"`
}

// VariantGeneration is how a variant was made.
type VariantGeneration struct {
	Seed       int64             `json:"seed"`
	Parameters map[string]string `json:"parameters"`
}

// living are the statuses of a creative that is not archived.
var living = []Status{StatusGenerating, StatusReady, StatusFailed}

// refuse says why something is impossible now.
func (c *Creative) refuse(verb string, required ...Status) error {
	code := fault.InvalidState
	message := fmt.Sprintf("Cannot %s a creative that is %s; it must be %s.", verb, c.Status, record.Words(required))
	if c.Status == StatusArchived && !slices.Contains(required, StatusArchived) {
		code = fault.Archived
		message = fmt.Sprintf("Cannot %s an archived creative; restore it first.", verb)
	}
	return fault.New(code, message, fault.Detail{Code: string(code), Message: message, Meta: fault.Meta{"current_status": c.Status, "required_status": required}})
}

// unarchived is the status that an archived creative goes back to.
func (c *Creative) unarchived() Status {
	switch g := c.Generation; {
	case g != nil && g.Error != nil:
		return StatusFailed
	case g != nil && g.FinishedAt == nil:
		return StatusGenerating
	}
	return StatusReady
}
