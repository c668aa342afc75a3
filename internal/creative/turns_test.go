package creative_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
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

// slowCatalog has a provider that writes when the test says so. It notes the
// prompts that it begins.
type slowCatalog struct {
	creative.ProviderCatalog
	begun chan string
	next  chan struct{}
}

func (c *slowCatalog) Open(ctx context.Context, workspace ident.ID, name string) (creative.OpenProvider, error) {
	p, err := c.ProviderCatalog.Open(ctx, workspace, name)
	p.Provider = &slowWriter{p.Provider, c}
	return p, err
}

type slowWriter struct {
	creative.Provider
	catalog *slowCatalog
}

func (w *slowWriter) Write(ctx context.Context, b *creative.Brief) (*creative.Result, error) {
	w.catalog.begun <- b.Prompt
	<-w.catalog.next
	return w.Provider.Write(ctx, b)
}

// TestTextsTakeTurns wants a place for the text of one workspace while another
// has more texts to write than there are places.
func TestTextsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const texts = 10
		many := newFixture(t)
		one := many.another()
		slow := &slowCatalog{many.Creatives.Providers, make(chan string, 100), make(chan struct{})}
		many.Creatives.Providers = slow
		var all sync.WaitGroup
		start := func(c *fixture, prompt string) {
			all.Go(func() { generate(c, map[string]any{"prompt": prompt}).OK() })
			synctest.Wait()
		}
		for range texts {
			start(many, "Green tea, grown in the mountains")
		}
		busy := len(slow.begun)
		if busy >= max(runtime.GOMAXPROCS(0), 2) {
			t.Errorf("got %d texts of one workspace at once want a place left", busy)
		}
		start(one, "Black coffee, roasted today")
		for range busy {
			<-slow.begun
		}
		if got := <-slow.begun; got != "Black coffee, roasted today" {
			t.Errorf("got %q want the text of the other workspace", got)
		}
		for range texts + 1 {
			slow.next <- struct{}{}
		}
		all.Wait()
	})
}
