package llm

import (
	"context"
	"errors"
	"slices"

	"fanfare/internal/creative"
)

// maxExtraCalls is how many requests a generation sends besides the first one,
// not counting retries: to shorten texts, to give a cut answer more room, to
// repair what cannot be used, and to write missing variants.
const maxExtraCalls = 2

// writing is one generation in progress.
type writing struct {
	w     *Writer
	brief *creative.Brief
	usage *creative.Usage
	// extra is the number of extra calls that are left.
	extra int
	// drafts has one draft per requested variant. Those with a problem cannot
	// be used.
	drafts   []*draft
	language string
	model    string
}

func newWriting(w *Writer, b *creative.Brief, u *creative.Usage) *writing {
	g := &writing{w: w, brief: b, usage: u, extra: maxExtraCalls, language: b.Language}
	for i := range b.Variants {
		g.drafts = append(g.drafts, &draft{number: i + 1, problem: "the model did not write it"})
	}
	return g
}

// write requests all variants, then those that are missing: once because
// nothing can be used, and once because something can.
func (g *writing) write(ctx context.Context) error {
	err := g.ask(ctx, briefRequest(g.brief))
	if g.mayRepair(err) {
		g.extra--
		err = g.ask(ctx, repairRequest(g.brief, g.problems(err)))
		isPart := func(d *draft) bool { return d.isPart(g.brief.Channels) }
		if slices.ContainsFunc(g.drafts, isPart) && !errors.Is(ctx.Err(), context.Canceled) {
			return nil
		}
	}
	if missing, written := len(g.open()), g.written(); err == nil && missing > 0 && len(written) > 0 && g.extra > 0 {
		g.extra--
		// What has been written is kept if this fails, but not if the generation
		// is canceled, because another instance may repeat it.
		_ = g.ask(ctx, topUpRequest(g.brief, missing, written, g.problems(nil)))
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
	}
	return err
}

// mayRepair reports whether to ask again because an answer has nothing that can
// be used.
//
// Choice: a variant that repeats the instructions is not asked for again,
// because a hostile brief would only pay for more of them.
func (g *writing) mayRepair(err error) bool {
	if _, unreadable := errors.AsType[*unreadableError](err); g.extra == 0 || err != nil && !unreadable {
		return false
	}
	return len(g.open()) == g.brief.Variants
}

// open returns the drafts that the model may still write.
func (g *writing) open() (list []*draft) {
	for _, d := range g.drafts {
		if d.problem != "" && !d.leaks {
			list = append(list, d)
		}
	}
	return list
}

// written returns the ideas and first texts of the usable drafts.
func (g *writing) written() (list []string) {
	for _, d := range g.drafts {
		if d.problem == "" {
			list = append(list, d.Angle+": "+leadText(g.brief, &d.Draft))
		}
	}
	return list
}

// problems returns the different problems of the drafts, or of the answer.
func (g *writing) problems(err error) (list []string) {
	if err != nil {
		return []string{"the answer cannot be read: " + err.Error()}
	}
	for _, d := range g.drafts {
		if d.problem != "" && !slices.Contains(list, d.problem) {
			list = append(list, d.problem)
		}
	}
	return list
}

// ask sends a request and puts the variants of its answer in the place of
// missing ones.
func (g *writing) ask(ctx context.Context, r Request) error {
	answer, err := g.completeWithRoom(ctx, r)
	if err != nil && (!errors.Is(err, ErrTruncated) || !hasVariants(answer.Text)) {
		return err
	}
	if answer.Model != "" {
		g.model = answer.Model
	}
	places := g.open()
	read, unread := readReply(answer.Text, g.brief, len(places))
	if unread != nil {
		return unread
	}
	g.language = languageOrReported(g.language, read.language)
	var before []draft
	for i, d := range read.drafts {
		before = append(before, *places[i])
		d.number = places[i].number
		*places[i] = *d
	}
	g.shortenTexts(ctx, places)
	for i, d := range places {
		d.refuseLanguage(g.brief)
		d.refuseInvented(g.brief, g.language)
		d.applyAllLimits(g.brief.Channels)
		// A variant that lacks some channels is better than none.
		if old := before[i]; d.problem != "" && old.isPart(g.brief.Channels) && !d.isPart(g.brief.Channels) {
			*d = old
		}
	}
	return nil
}

// completeWithRoom sends a request, and once more with twice the room if the
// answer reached its limit before its first variant was whole: a model that
// thinks can use up all of it.
func (g *writing) completeWithRoom(ctx context.Context, r Request) (Answer, error) {
	answer, err := g.w.complete(ctx, r, g.usage)
	if !errors.Is(err, ErrTruncated) || hasVariants(answer.Text) || g.extra == 0 {
		return answer, err
	}
	g.extra--
	r.MaxTokens *= 2
	if second, again := g.w.complete(ctx, r, g.usage); again == nil || errors.Is(again, ErrTruncated) {
		return second, again
	}
	return answer, err
}

// hasVariants reports whether an answer has a whole variant.
func hasVariants(text string) bool {
	r, err := readText(text)
	return err == nil && len(r.variants) > 0
}
