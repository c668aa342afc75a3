package creative_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"fanfare/internal/creative"
	"fanfare/internal/fairqueue"
	"fanfare/internal/ident"
)

// slowPainter draws a picture when the test says so. It notes the prompts of the
// pictures that it begins.
type slowPainter struct {
	creative.Painter
	begun chan string
	next  chan struct{}
}

func (p *slowPainter) Paint(ctx context.Context, b *creative.Brief, d *creative.Draft, s creative.Shape, format string) (*creative.Picture, error) {
	p.begun <- b.Prompt
	<-p.next
	return p.Painter.Paint(ctx, b, d, s, format)
}

// TestPicturesTakeTurns wants the picture of one workspace to be drawn before
// those that another, whose generations were begun earlier, has waiting.
func TestPicturesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const more = 5
		many := newFixture(t)
		one := many.another()
		p := &slowPainter{many.Creatives.Painter, make(chan string, 100), make(chan struct{})}
		many.Creatives.Painter = p
		done := make(chan error, 100)
		start := func(c *fixture, prompt string) {
			t.Helper()
			id := begin(c, map[string]any{"prompt": prompt, "type": "image", "variants": 1, "formats": []string{"svg"}})
			go func() { done <- c.Creatives.Run(fairqueue.InBackground(t.Context()), c.Workspace, ident.ID(id)) }()
			synctest.Wait()
		}
		cores := runtime.GOMAXPROCS(0)
		for range cores + more {
			start(many, "Green tea")
		}
		if got := len(p.begun); got != cores {
			t.Errorf("got %d pictures at once want %d", got, cores)
		}
		start(one, "Black coffee")
		for range cores + more + 1 {
			p.next <- struct{}{}
			synctest.Wait()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		close(p.begun)
		var order []string
		for prompt := range p.begun {
			order = append(order, prompt)
		}
		if got := slices.Index(order, "Black coffee"); got != cores {
			t.Errorf("got picture %d want %d: %v", got, cores, order)
		}
	})
}
