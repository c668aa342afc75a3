package creative

import (
	"context"
	"errors"
	"fmt"
)

// Brief is what a provider works from: the caller's own words and the facts in
// them. A provider that states anything else invents it.
type Brief struct {
	Prompt string
	// NegativePrompt is what must not be said or shown.
	NegativePrompt string
	Type           string
	// Channels are never empty: the service fills in what fits the type.
	Channels []string
	// Variants is how many are wanted, from 1 to MaxVariants.
	Variants int
	// Shapes are the pictures that each variant needs, none for pure text.
	Shapes []Shape
	// Formats are the picture formats of each shape: png, svg.
	Formats []string
	// Language is a BCP 47 tag, empty where the prompt's own is to be found
	// out.
	Language     string
	Tone         string
	Brand        Brand
	CallToAction string
	LandingURL   string
	// Objective is that of the campaign the creative is for, often empty.
	Objective string
	// Examples are texts of earlier creatives, for style only: nothing in them
	// is a fact about this one.
	Examples []string
	// Seed makes the built-in generator's work repeatable.
	Seed int64
}

// Brand is how the advertiser looks and sounds.
type Brand struct {
	Name  string `json:"name"`
	Voice string `json:"voice"`
	// Colors are #rrggbb, the main one first.
	Colors      []string `json:"colors"`
	LogoURL     string   `json:"logo_url"`
	BannedWords []string `json:"banned_words"`
	// Logo is the picture that LogoURL names, once it was fetched.
	Logo []byte `json:"-"`
}

// Shape is the size of a picture in pixels, with the name it was asked by:
// an aspect ratio such as 1:1 or a size such as 300x250.
type Shape struct {
	Name          string
	Width, Height int
}

// Copy is the text of one variant for one channel. Limits says which members a
// channel uses and how long they may be; the others stay empty.
type Copy struct {
	Headlines    []string `json:"headlines"`
	LongHeadline *string  `json:"long_headline"`
	Descriptions []string `json:"descriptions"`
	PrimaryText  *string  `json:"primary_text"`
	ShortText    *string  `json:"short_text"`
	Subject      *string  `json:"subject"`
	Preheader    *string  `json:"preheader"`
	Body         *string  `json:"body"`
	Script       *string  `json:"script"`
	BusinessName *string  `json:"business_name"`
	Paths        []string `json:"paths"`
}

// Draft is one variant as a provider makes it.
type Draft struct {
	// Angle names the idea behind the variant, where the provider has a name
	// for it.
	Angle        string
	ByChannel    map[string]Copy
	CallToAction string
}

// Picture is one picture of a variant.
type Picture struct {
	Shape    Shape
	MIMEType string
	Bytes    []byte
	AltText  string
}

// Result is what a provider made of a brief.
type Result struct {
	Drafts []Draft
	// Language is the BCP 47 tag of what was written.
	Language string
	Model    string
	Usage    Usage
	// Dropped says in words why variants are missing, one entry each.
	Dropped []string
}

// Usage is what a call consumed.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Images       int64 `json:"images"`
	// Calls counts requests to the provider, Retries those that had to be
	// repeated.
	Calls   int64 `json:"calls"`
	Retries int64 `json:"retries"`
	// CostMicros is in US dollars; nil where no price is known.
	CostMicros *int64 `json:"-"`
}

// Add sums two usages. A sum with an unknown price is unknown.
func (u *Usage) Add(v Usage) {
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.Images += v.Images
	u.Calls += v.Calls
	u.Retries += v.Retries
	switch {
	case v.Calls == 0:
	case u.Calls == v.Calls:
		u.CostMicros = v.CostMicros
	case u.CostMicros != nil && v.CostMicros != nil:
		sum := *u.CostMicros + *v.CostMicros
		u.CostMicros = &sum
	default:
		u.CostMicros = nil
	}
}

// Provider makes creatives. The built-in composer is one, language models are
// others. What a provider returns is checked all the same: limits, policy and
// plain text are the service's business. An error that is not a *FailureError is a
// fault of ours.
type Provider interface {
	// Write makes the copy of b.Variants variants for every asked channel. It
	// may return fewer and says why in Result.Dropped.
	Write(ctx context.Context, b *Brief) (*Result, error)
	// Paint makes one picture for a draft. ErrNoPictures says that this
	// provider makes none; the built-in renderer then does.
	Paint(ctx context.Context, b *Brief, d *Draft, s Shape, format string) (*Picture, Usage, error)
}

// FailureError is why a generation failed, in words for the caller.
type FailureError struct {
	Code      string
	Message   string
	Retryable bool
	cause     error
}

// Codes of failures.
const (
	// FailTimeout: the provider did not finish in time.
	FailTimeout = "timeout"
	// FailProvider: the provider could not be reached or answered 5xx.
	FailProvider = "provider_unavailable"
	// FailThrottled: the provider kept answering 429.
	FailThrottled = "provider_throttled"
	// FailCredentials: the provider refused our key.
	FailCredentials = "provider_credentials"
	// FailRefused: the provider refused the brief.
	FailRefused = "provider_refused"
	// FailAnswer: the provider answered what nobody can read or use.
	FailAnswer = "provider_invalid_answer"
	// FailPolicy: every variant was blocked by the policy check.
	FailPolicy = "policy_blocked"
	// FailBudget: the workspace's monthly budget is used up.
	FailBudget = "budget_exhausted"
	// FailScript: the fonts cannot draw the text of a picture.
	FailScript = "unsupported_script"
	// FailLogo: the logo cannot be fetched or read.
	FailLogo = "logo_unavailable"
	// FailInternal: a fault of ours.
	FailInternal = "internal_error"
)

// Fail makes a failure.
func Fail(code string, retryable bool, format string, args ...any) *FailureError {
	return &FailureError{Code: code, Message: fmt.Sprintf(format, args...), Retryable: retryable}
}

// Because keeps the cause for the log.
func (f *FailureError) Because(cause error) *FailureError {
	f.cause = cause
	return f
}

func (f *FailureError) Error() string {
	if f.cause != nil {
		return f.Code + ": " + f.Message + ": " + f.cause.Error()
	}
	return f.Code + ": " + f.Message
}

func (f *FailureError) Unwrap() error { return f.cause }

// ErrNoPictures says that a provider makes no pictures.
var ErrNoPictures = errors.New("this provider makes no pictures")
