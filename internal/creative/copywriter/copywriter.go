// Package copywriter writes advertising copy from the facts of a brief without a
// language model. A line is a pattern filled with facts, or words of the brief
// as they are. It says nothing that the brief does not say, and the same brief
// and seed give the same text.
package copywriter

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/creative"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
	"fanfare/internal/creative/policy"
)

// Model names this generation of patterns.
const Model = "composer-2"

// mostRetries is how many ideas are tried beyond the number of variants, if some
// repeat others.
const mostRetries = 2

// Writer implements creative.Provider. It has no state.
type Writer struct{}

// New returns a writer.
func New() *Writer { return &Writer{} }

// takenUses is how often a line that exists counts as used.
const takenUses = 4

// writer writes one brief.
type writer struct {
	brief *creative.Brief
	m     *material
	bank  *copybank.Bank
	gate  *gate
	kind  brief.Kind
	brand string
	tone  string
	// address is how people are addressed, in languages that have a choice.
	address address
	lines   map[copybank.Role][]line
	// used counts the uses of a line by its text.
	used map[string]int
	// variant, idea and said belong to the variant that is being written.
	variant int
	idea    idea
	// others are the facts that the other variants lead with.
	others mask
	// chosen are the facts that the variant says where room is short.
	chosen mask
	// meaning are the meaningful words of texts.
	meaning map[string][]string
	// trade are the words of the brief, once they were asked for.
	trade []string
	// skipped are the reasons why channels are left out.
	skipped []string
}

// Write implements creative.Provider.
func (*Writer) Write(ctx context.Context, b *creative.Brief) (*creative.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	set := b.Facts
	w := newWriter(b, set)
	if missing := w.missing(); len(missing) > 0 {
		return nil, creative.NotUnderstood(missing)
	}
	result := &creative.Result{Language: set.Language, Model: Model}
	var kept []map[string]grams
	var lost []string
	ideas := w.ideas()
	for i, idea := range ideas {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(result.Drafts) == b.Variants || i >= b.Variants+mostRetries {
			break
		}
		w.variant, w.idea, w.others = len(result.Drafts), idea, 0
		for _, other := range ideas[:min(len(ideas), b.Variants)] {
			w.others |= other.lead &^ idea.lead
		}
		w.chosen = w.choose()
		draft, why := w.draft()
		if why == "" {
			made := map[string]grams{}
			for channel, text := range draft.ByChannel {
				made[channel] = gramsOf(channel, &text)
			}
			if slices.ContainsFunc(kept, func(other map[string]grams) bool { return resembles(made, other) }) {
				why = "A variant would repeat another. Add a benefit, an offer or an audience to the brief."
			} else {
				kept = append(kept, made)
			}
		}
		if why != "" {
			lost = append(lost, why)
			continue
		}
		result.Drafts = append(result.Drafts, draft)
	}
	for i := len(result.Drafts); i < b.Variants; i++ {
		why := fmt.Sprintf("Variant %d needs an idea of its own. Add a benefit, an offer, a proof or an audience to the brief.", i+1)
		if n := i - len(result.Drafts); n < len(lost) {
			why = lost[n]
		}
		result.Dropped = append(result.Dropped, why)
	}
	result.Skipped = w.skipped
	if len(result.Drafts) == 0 {
		return nil, creative.Fail(creative.FailRefused, false, "The brief gives no text that fits the channels. %s", strings.Join(result.Dropped, " "))
	}
	return result, nil
}

func newWriter(b *creative.Brief, set *brief.Understood) *writer {
	w := &writer{brief: b, gate: newGate(b), lines: map[copybank.Role][]line{}, used: map[string]int{}, meaning: map[string][]string{}, kind: brief.General, tone: toneOf(b.Tone)}
	w.brand = policy.Clean(b.Brand.Name, false)
	w.m = newMaterial(w.allowed(set), w.brand, actionText(set, b.CallToAction))
	w.bank = copybank.For(set.Language)
	if set.KindConfidence >= brief.SureKind {
		w.kind = set.Kind
	}
	w.address = w.addressOf()
	for _, text := range b.Taken {
		w.used[text] = takenUses
	}
	return w
}

// allowed returns the facts that may be said.
func (w *writer) allowed(set *brief.Understood) *brief.Understood {
	kept := *set
	kept.Facts = slices.DeleteFunc(slices.Clone(set.Facts), func(f brief.Fact) bool { return w.gate.bans(f.Text) })
	return &kept
}

// missing returns the types of facts that a brief needs and does not have.
func (w *writer) missing() []brief.Type {
	if w.m.set.IsEnough() {
		return nil
	}
	if len(w.m.set.Missing) > 0 {
		return w.m.set.Missing
	}
	return []brief.Type{brief.Product, brief.Offer, brief.Benefit}
}

// Paint implements creative.Provider.
func (*Writer) Paint(context.Context, *creative.Brief, *creative.Draft, creative.Shape, string) (*creative.Picture, creative.Usage, error) {
	return nil, creative.Usage{}, creative.ErrNoPictures
}

// draft writes one variant for all channels. It leaves out a channel for which the
// brief has too little, as long as another one has a text. why says what does not
// fit.
func (w *writer) draft() (d creative.Draft, why string) {
	d = creative.Draft{Angle: w.idea.name, ByChannel: map[string]policy.Copy{}, CallToAction: w.button()}
	for _, channel := range w.brief.Channels {
		text := w.channel(channel)
		if over := text.LimitViolations(channel); len(over) > 0 {
			field := strings.ReplaceAll(over[0].Limit.Field, "_", " ")
			why = fmt.Sprintf("The brief has too little for the %s of %s. Add facts, or shorten long ones.", field, channel)
			d.Skipped = append(d.Skipped, channel)
			if !slices.Contains(w.skipped, why) {
				w.skipped = append(w.skipped, why)
			}
			continue
		}
		d.ByChannel[channel] = text
	}
	if len(d.ByChannel) == 0 {
		return d, why
	}
	return d, ""
}
