// Package llm makes a chat model a provider of creatives. It sends the request,
// validates the answer, has texts shortened to the limits of the channels and
// counts the cost. It does not know any vendor: their packages implement Chat
// and Painter. Its result is plain text that the service still checks.
package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// Chat is the language model of a vendor. Complete sends one request and does
// not retry it. The answer has the spent tokens, also if there is an error.
// Besides the errors below it returns those of package outbound.
type Chat interface {
	Complete(ctx context.Context, r Request) (Answer, error)
}

// Painter is a model that draws pictures. The picture can have another size
// than requested, with the nearest aspect ratio that the model supports.
type Painter interface {
	Draw(ctx context.Context, prompt string, width, height int) (Image, error)
}

var (
	// ErrFormat is returned if the server does not support the requested
	// format.
	ErrFormat = errors.New("the model does not take this answer format")
	// ErrRefused is returned if the model or a content filter refused to
	// answer.
	ErrRefused = errors.New("the model refused")
	// ErrTruncated is returned, with the text so far, if the answer reached its
	// length limit.
	ErrTruncated = errors.New("the answer was cut off")
)

// Format is how strictly a server enforces the schema. Servers with the same
// API differ in what they support, so Writer falls back to the next format.
type Format int32

// The formats, the strictest first.
const (
	// FormatSchema makes the server enforce the schema.
	FormatSchema Format = iota
	// FormatJSON makes the server enforce JSON of any shape.
	FormatJSON
	// FormatText enforces nothing.
	FormatText
)

// Request is one request to a chat model.
type Request struct {
	System, User string
	// Schema is the JSON Schema of the answer. Every object in it lists all its
	// members as required and allows no others, as the strictest vendor
	// requires.
	Schema    map[string]any
	Format    Format
	MaxTokens int
	// Seed is for vendors that support one; 0 is none.
	Seed int64
	// Without are the optional parameters that the server refuses, by the names
	// in ParameterError.
	Without []string
}

// Answer is the answer of a chat model.
type Answer struct {
	Text string
	// The tokens are 0 if the server does not report them.
	InputTokens, OutputTokens int64
	// Model is the vendor's name of the model.
	Model string
}

// Image is a picture in a format that the image package can decode.
type Image struct {
	Bytes                     []byte
	InputTokens, OutputTokens int64
	Model                     string
}

// Shortener rewrites a text to fit a limit without cutting words. It reports
// whether it succeeded.
type Shortener func(text string, l policy.Limit) (string, bool)

// Options are the settings of a Writer.
type Options struct {
	// ModelSettings name the models and their price.
	creative.ModelSettings
	// Shorten may be nil; then texts that the model leaves too long stay too
	// long.
	Shorten Shortener
	Now     func() time.Time
	// Learned is shared by the writers of one server and model; nil is a new one.
	Learned *Learned
	// Jitter returns a random wait of at most the given one; nil uses a
	// default.
	Jitter func(most time.Duration) time.Duration
}

// Writer is a creative.Provider on top of a chat model.
type Writer struct {
	chat    Chat
	painter Painter
	options Options
}

// Time limits.
//
// Choice: the first attempt of a request has 45 seconds, which is enough for
// most answers and loses little to a connection that hangs. A slow model, such
// as one on the operator's own machine, gets the time that is left of the
// generation, at most that of the HTTP client.
const (
	firstAttemptTimeout = 45 * time.Second
	// writeTimeout limits the texts of a generation, including all requests.
	writeTimeout = 3 * time.Minute
	// paintTimeout limits one picture, including retries.
	paintTimeout = 2 * time.Minute
)

// New returns a writer. The painter may be nil.
func New(chat Chat, painter Painter, o Options) *Writer {
	if o.Jitter == nil {
		o.Jitter = func(most time.Duration) time.Duration { return rand.N(most + 1) }
	}
	if o.Shorten == nil {
		o.Shorten = func(text string, _ policy.Limit) (string, bool) { return text, false }
	}
	if o.Learned == nil {
		o.Learned = &Learned{}
	}
	return &Writer{chat: chat, painter: painter, options: o}
}

// Write requests the copy of all variants at once, and again what cannot be
// used or is missing. On an error the result has only the usage, because
// refused and invalid answers cost money too.
func (w *Writer) Write(ctx context.Context, b *creative.Brief) (*creative.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	r := &creative.Result{Model: w.options.Model}
	g := newWriting(w, b, &r.Usage)
	if err := g.write(ctx); err != nil {
		return r, callFailure(ctx, err)
	}
	r.Model = cmp.Or(g.model, r.Model)
	for _, d := range g.drafts {
		r.Skipped = append(r.Skipped, d.keepParts(b.Channels)...)
		if d.problem == "" {
			r.LeftOut = append(r.LeftOut, d.leftOut...)
		}
	}
	drafts, dropped := splitUsable(g.drafts)
	if len(drafts) == 0 {
		return r, creative.Fail(creative.FailAnswer, true, "the model wrote no variant that can be used: %s", dropped[0])
	}
	r.Drafts, r.Dropped, r.Language = drafts, dropped, g.language
	return r, nil
}

// complete sends a request in the form that the server takes: in the strictest
// format, and without the parameters that it refuses.
func (w *Writer) complete(ctx context.Context, r Request, u *creative.Usage) (Answer, error) {
	for {
		shaped, timeout := w.options.Learned.shape(r), firstAttemptTimeout
		answer, err := retryCall(ctx, w, u, func(ctx context.Context) (Answer, creative.Usage, error) {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			timeout = writeTimeout
			a, err := w.chat.Complete(ctx, shaped)
			return a, w.callUsage(a.Model, w.options.Model, a.InputTokens, a.OutputTokens, 0, err), err
		})
		if err == nil || !w.options.Learned.learn(shaped, err) {
			return answer, err
		}
		u.Retries++
	}
}

// Paint has the model draw one background and crops it to the shape.
func (w *Writer) Paint(ctx context.Context, b *creative.Brief, d *creative.Draft, s creative.Shape, format string) (*creative.Picture, creative.Usage, error) {
	var u creative.Usage
	if w.painter == nil || format != "jpeg" {
		return nil, u, creative.ErrNoPictures
	}
	ctx, cancel := context.WithTimeout(ctx, paintTimeout)
	defer cancel()
	img, err := retryCall(ctx, w, &u, func(ctx context.Context) (Image, creative.Usage, error) {
		img, err := w.painter.Draw(ctx, picturePrompt(b, d), s.Width, s.Height)
		images := int64(0)
		if err == nil {
			images = 1
		}
		return img, w.callUsage(img.Model, w.options.ImageModel, img.InputTokens, img.OutputTokens, images, err), err
	})
	if err != nil {
		return nil, u, callFailure(ctx, err)
	}
	fitted, err := fitPicture(ctx, img.Bytes, s.Width, s.Height)
	if ctx.Err() != nil {
		return nil, u, callFailure(ctx, ctx.Err())
	}
	if err != nil {
		return nil, u, creative.Fail(creative.FailAnswer, true, "the model's picture cannot be read").Because(fmt.Errorf("read picture: %w", err))
	}
	return &creative.Picture{Shape: s, MIMEType: "image/jpeg", Bytes: fitted}, u, nil
}
