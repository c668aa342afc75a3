package creative

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fanfare/internal/asset"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/policy"
)

// Brief is the input of a provider: the caller's prompt and its facts. A
// provider must not state other facts.
type Brief struct {
	Prompt string
	// Facts are what was understood of the prompt and the fields of the brief.
	Facts *brief.Understood
	// MustInclude are words that every variant must have on every channel.
	MustInclude []string
	// Avoid are words that must not appear.
	Avoid []string
	// NegativePrompt lists what must not be said or shown.
	NegativePrompt string
	Type           string
	// Channels is never empty: the service sets a default for the type.
	Channels []string
	// Variants is the number of variants, from 1 to MaxVariants.
	Variants int
	// Shapes are the image sizes of each variant, empty for text.
	Shapes []Shape
	// Formats are the image formats of each shape: png, svg.
	Formats []string
	// Language is a BCP 47 tag. If it is empty, the provider detects the
	// language of the prompt.
	Language     string
	Tone         string
	Brand        Brand
	CallToAction string
	LandingURL   string
	// Objective is the objective of the creative's campaign, often empty.
	Objective string
	// Examples are texts of earlier creatives. They are for style only and are
	// not facts about this one.
	Examples []string
	// Angle is the idea that leads every variant, empty for different ones.
	Angle string
	// Taken are lines that exist. Others are better.
	Taken []string
	// Photo is shown in pictures, nil for none.
	Photo Photo
	// Seed makes the output of the built-in composer reproducible.
	Seed int64
}

// Source returns the part of the brief that the policy check uses, nil without a
// brief.
func (b *Brief) Source() *policy.BriefSource {
	if b == nil {
		return nil
	}
	return &policy.BriefSource{
		Prompt: b.Prompt, NegativePrompt: b.NegativePrompt, BrandName: b.Brand.Name, BannedWords: b.Brand.BannedWords,
		CallToAction: b.CallToAction, LandingURL: b.LandingURL, Language: b.Language,
	}
}

// Brand describes the look and the voice of the advertiser.
type Brand struct {
	Name  string `json:"name"`
	Voice string `json:"voice"`
	// Colors are #rrggbb, primary color first.
	Colors      []string `json:"colors"`
	LogoURL     string   `json:"logo_url"`
	BannedWords []string `json:"banned_words"`
	// Typefaces are those of pictures, nil for the ones that suit the brief.
	Typefaces *Typefaces `json:"typefaces"`
	// Logo is the fetched image of LogoURL.
	Logo []byte `json:"-"`
}

// Typefaces are names of TypefaceNames.
type Typefaces struct {
	// Heading is for headlines, offers and prices, Text for all else.
	Heading string `json:"heading"`
	Text    string `json:"text"`
}

// Photo is what a Painter has made of the bytes of a photo.
type Photo any

// Shape is an image size in pixels with the requested name: an aspect ratio
// such as 1:1 or a size such as 300x250.
type Shape struct {
	Name          string
	Width, Height int
}

// Backgrounds are the shapes that models draw: one picture is the background of
// all images of about its shape.
var Backgrounds = []Shape{{"wide", 1536, 1024}, {"square", 1024, 1024}, {"tall", 1024, 1536}}

// background returns the background for images of a shape.
func (s Shape) background() Shape {
	switch aspect := float64(s.Width) / float64(s.Height); {
	case aspect > 1.18:
		return Backgrounds[0]
	case aspect > 0.9:
		return Backgrounds[1]
	default:
		return Backgrounds[2]
	}
}

// Draft is one variant as the provider returns it.
type Draft struct {
	// Angle names the idea of the variant, if the provider has a name for it.
	Angle        string
	ByChannel    map[string]policy.Copy
	CallToAction string
	// Skipped are channels for which the brief has too little.
	Skipped []string
}

// Picture is one image of a variant.
type Picture struct {
	Shape    Shape
	MIMEType string
	Bytes    []byte
	AltText  string
}

// Result is the output of a provider for a brief.
type Result struct {
	Drafts []Draft
	// Language is the BCP 47 tag of the text.
	Language string
	Model    string
	Usage    Usage
	// Dropped has one reason per missing variant.
	Dropped []string
	// Skipped has one reason per channel that variants lack, LeftOut one per line
	// that was taken out of a variant.
	Skipped, LeftOut []string
}

// Usage is the consumption of provider calls.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Images       int64 `json:"images"`
	// Calls counts requests to the provider. Retries counts the repeated ones.
	Calls   int64 `json:"calls"`
	Retries int64 `json:"retries"`
	// CostMicros is in US dollars, nil if no price is known.
	CostMicros *int64 `json:"-"`
}

// Add adds v to u. If one cost is unknown, the total is unknown.
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

// Provider generates creatives: the built-in composer or a language model. The
// service checks the output of every provider for limits, policy and plain
// text. An error that is not a *FailureError is an internal error.
type Provider interface {
	// Write writes the copy of b.Variants variants for every channel. It may
	// return fewer, with the reasons in Result.Dropped.
	Write(ctx context.Context, b *Brief) (*Result, error)
	// Paint creates the background of a draft's images: a picture without text
	// in a shape of Backgrounds. ErrNoPictures means that the provider draws
	// none, or not in the format.
	Paint(ctx context.Context, b *Brief, d *Draft, s Shape, format string) (*Picture, Usage, error)
}

// FailureError says why a generation failed, in a message for the caller.
type FailureError struct {
	Code      string
	Message   string
	Retryable bool
	cause     error
}

// Failure codes.
const (
	// FailTimeout: the provider did not finish in time.
	FailTimeout = "timeout"
	// FailProvider: the provider could not be reached or returned 5xx.
	FailProvider = "provider_unavailable"
	// FailThrottled: the provider kept returning 429.
	FailThrottled = "provider_throttled"
	// FailCredentials: the provider rejected the API key.
	FailCredentials = "provider_credentials"
	// FailRefused: the provider refused the brief.
	FailRefused = "provider_refused"
	// FailAnswer: the provider's response is invalid or unusable.
	FailAnswer = "provider_invalid_answer"
	// FailPolicy: every variant was blocked by the policy check.
	FailPolicy = "policy_blocked"
	// FailBudget: the workspace's monthly budget is used up.
	FailBudget = "budget_exhausted"
	// FailScript: the fonts do not support the script of the text.
	FailScript = "unsupported_script"
	// FailLogo: the logo could not be fetched or decoded.
	FailLogo = "logo_unavailable"
	// FailPhoto: the photo is gone or could not be decoded.
	FailPhoto = "photo_unavailable"
	// FailStorage: the workspace has no room for more pictures.
	FailStorage = asset.StorageFull
	// FailNotUnderstood: the brief has too few facts that are understood.
	FailNotUnderstood = "brief_not_understood"
	// FailInternal: an internal error.
	FailInternal = "internal_error"
)

// Fail returns a FailureError.
func Fail(code string, retryable bool, format string, args ...any) *FailureError {
	return &FailureError{Code: code, Message: fmt.Sprintf(format, args...), Retryable: retryable}
}

// NotUnderstood returns the failure of a brief in which too few facts were found.
// It names the fields that would help.
func NotUnderstood(missing []brief.Type) *FailureError {
	names := make([]string, len(missing))
	for i, t := range missing {
		names[i] = "brief." + t.Field()
	}
	return Fail(FailNotUnderstood, false, "Too little of the brief was understood to write an ad. Add %s, for example {\"product\": \"handmade mugs\", \"offer\": \"20%% off until Sunday\"}.", strings.Join(names, ", "))
}

// Because sets the cause, which is only logged.
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

// ErrNoPictures means that a provider does not create images.
var ErrNoPictures = errors.New("this provider creates no images")
