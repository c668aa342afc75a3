// Package llm turns a chat model into a provider of creatives. It asks,
// reads what comes back with suspicion, has it fitted to the channels' limits
// and counts what it cost. It knows no platform: those implement Chat and
// Painter. What it returns is plain text and still goes through the service's
// own checks.
package llm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// Chat is a language model behind some platform. Complete sends one request
// and does not repeat it. Where tokens were spent the answer says so, with an
// error too. Besides the errors below it returns those of package outbound.
type Chat interface {
	Complete(ctx context.Context, r Request) (Answer, error)
}

// Painter is a model that draws. The picture may have another size than was
// asked for, as near to its shape as the model can do.
type Painter interface {
	Draw(ctx context.Context, prompt string, width, height int) (Image, error)
}

var (
	// ErrFormat says that the model cannot be held to the asked format.
	ErrFormat = errors.New("the model does not take this answer format")
	// ErrRefused says that the model or a filter before it refused to answer.
	ErrRefused = errors.New("the model refused")
	// ErrTruncated says that the answer ran into the limit of its length.
	ErrTruncated = errors.New("the answer was cut off")
)

// Format is how strictly a model is held to the schema. Servers that speak the
// same language differ in what they take, so one falls back to the next.
type Format int32

// The formats, from the strictest.
const (
	// FormatSchema has the server enforce the schema.
	FormatSchema Format = iota
	// FormatJSON has the server enforce JSON of any kind.
	FormatJSON
	// FormatText enforces nothing.
	FormatText
)

// Request is one question to a chat model.
type Request struct {
	System, User string
	// Schema is the JSON Schema of the answer. Every object in it lists all of
	// its members as required and allows no others, which is what the
	// strictest platform wants.
	Schema    map[string]any
	Format    Format
	MaxTokens int
	// Seed is for platforms that have such a thing; 0 is none.
	Seed int64
}

// Answer is what a chat model said.
type Answer struct {
	Text                      string
	InputTokens, OutputTokens int64
	// Model is the model as the platform names it.
	Model string
}

// Image is a picture in a format that the image package knows.
type Image struct {
	Bytes                     []byte
	InputTokens, OutputTokens int64
	Model                     string
}

// Shortener rewrites a text so that it fits a limit, without cutting words. It
// reports whether it could.
type Shortener func(text string, l policy.Limit) (string, bool)

// Options make a Writer.
type Options struct {
	// Model and ImageModel are the names that were asked for.
	Model, ImageModel string
	// Price replaces what the price table says; nil for that.
	Price *Price
	// Shorten may be nil; texts that the model leaves too long then stay so.
	Shorten Shortener
	Now     func() time.Time
	// Jitter picks a wait up to the given one, at random if it is nil.
	Jitter func(most time.Duration) time.Duration
}

// Writer is a creative.Provider on top of a chat model.
type Writer struct {
	chat    Chat
	painter Painter
	options Options
	// format is the strictest one that the server has not refused yet.
	format atomic.Int32
}

// workTimeout is how long one piece of work may take, repeats included.
const workTimeout = 120 * time.Second

// New makes a writer. The painter may be nil.
func New(chat Chat, painter Painter, o Options) *Writer {
	if o.Jitter == nil {
		o.Jitter = func(most time.Duration) time.Duration { return rand.N(most + 1) }
	}
	if o.Shorten == nil {
		o.Shorten = func(text string, _ policy.Limit) (string, bool) { return text, false }
	}
	return &Writer{chat: chat, painter: painter, options: o}
}

// Write asks for the copy of all variants at once. With an error, the result
// holds nothing but the usage: refused and unreadable answers are paid for as
// well.
func (w *Writer) Write(ctx context.Context, b *creative.Brief) (*creative.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	r := &creative.Result{Model: w.options.Model}
	answer, err := w.completeInFormat(ctx, briefRequest(b), &r.Usage)
	if err != nil {
		return r, callFailure(ctx, err)
	}
	if answer.Model != "" {
		r.Model = answer.Model
	}
	written, err := readReply(answer.Text, b)
	if err != nil {
		return r, callFailure(ctx, err)
	}
	w.shortenTexts(ctx, b, written.drafts, &r.Usage)
	drafts, dropped := written.dropUnusable()
	if len(drafts) == 0 {
		return r, creative.Fail(creative.FailAnswer, true, "the model wrote no variant that can be used: %s", dropped[0])
	}
	r.Drafts, r.Dropped, r.Language = drafts, dropped, written.language
	return r, nil
}

// completeInFormat completes a request in the strictest format that the server takes.
func (w *Writer) completeInFormat(ctx context.Context, r Request, u *creative.Usage) (Answer, error) {
	for {
		format := w.format.Load()
		shaped := r.inFormat(Format(format))
		answer, err := retryCall(ctx, w, u, func(ctx context.Context) (Answer, creative.Usage, error) {
			a, err := w.chat.Complete(ctx, shaped)
			return a, w.callUsage(a.Model, w.options.Model, a.InputTokens, a.OutputTokens, 0), err
		})
		if !errors.Is(err, ErrFormat) || Format(format) == FormatText {
			return answer, err
		}
		u.Retries++
		w.format.CompareAndSwap(format, format+1)
	}
}

// Paint has one picture drawn and brings it to the asked shape. It makes no
// vector graphics.
func (w *Writer) Paint(ctx context.Context, b *creative.Brief, d *creative.Draft, s creative.Shape, format string) (*creative.Picture, creative.Usage, error) {
	var u creative.Usage
	if w.painter == nil || format != "png" {
		return nil, u, creative.ErrNoPictures
	}
	ctx, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	img, err := retryCall(ctx, w, &u, func(ctx context.Context) (Image, creative.Usage, error) {
		img, err := w.painter.Draw(ctx, picturePrompt(b, d), s.Width, s.Height)
		images := int64(0)
		if err == nil {
			images = 1
		}
		return img, w.callUsage(img.Model, w.options.ImageModel, img.InputTokens, img.OutputTokens, images), err
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
	return &creative.Picture{Shape: s, MIMEType: "image/png", Bytes: fitted, AltText: altText(b, d)}, u, nil
}
