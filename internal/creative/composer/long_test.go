package composer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/creative/composer"
)

// longBriefs are prompts of the maximum length that cost the most, on many
// channels.
func longBriefs() map[string]*creative.Brief {
	numbered := func(format string) string {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	list := map[string]*creative.Brief{}
	for name, prompt := range map[string]string{
		"compound words": numbered("Kaffeehaus%dröstung "), "sentences": numbered("Der Kaffee %d ist gut. "), "items": numbered("green tea %d, "), "words": numbered("w%d "),
		"Thai": strings.Repeat("ชา", 2000), "Burmese": strings.Repeat("မြ", 2000), "Lao": strings.Repeat("ລາ", 2000),
	} {
		list[name] = &creative.Brief{Prompt: string([]rune(prompt)[:4000]), Channels: []string{"search", "social", "display", "email", "sms", "push", "video"}, Variants: 10}
	}
	return list
}

// endingContext ends after its error was asked for a number of times.
type endingContext struct {
	context.Context
	left int
}

func (c *endingContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestWriteEnds checks that nothing more is written for a caller who has left.
func TestWriteEnds(t *testing.T) {
	t.Parallel()
	brief := longBriefs()["sentences"]
	for left := range 20 {
		ctx := &endingContext{t.Context(), left}
		if _, err := composer.New().Write(ctx, brief); !errors.Is(err, context.Canceled) || ctx.left != -1 {
			t.Errorf("got %v after %d questions want the context's error at once", err, left-ctx.left)
		}
	}
}

// BenchmarkLongPrompts measures what a prompt can cost at most. BenchmarkWrite
// has an ordinary one.
func BenchmarkLongPrompts(b *testing.B) {
	for name, brief := range longBriefs() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = composer.New().Write(b.Context(), brief) // some are refused
			}
		})
	}
}
