// Package composer writes advertising copy from a brief without asking anyone:
// it reads the prompt into facts, fills templates with them and fits the result
// into each channel's limits. It says nothing that the brief does not say, and
// the same brief and seed give the same bytes. What it returns goes through the
// same checks as the work of every other provider.
package composer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// Model names this generation of templates.
const Model = "composer-1"

// Composer writes copy. It has no state, so one serves everybody at once.
type Composer struct{}

// New makes a composer.
func New() *Composer { return &Composer{} }

// Write makes the copy of every asked channel for as many variants as wanted.
// A variant that would repeat another is left out and named in Dropped. A brief
// without a single usable word is refused.
func (c *Composer) Write(ctx context.Context, b *creative.Brief) (*creative.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text, phone := takePhone(clean(b.Prompt))
	bar := newBar(b)
	// A language that is asked for is the prompt's own: the service refuses
	// others, since nothing here translates.
	tag := b.Language
	if tag == "" {
		tag = policy.DetectLanguage(text)
	}
	var author author
	if english(tag) {
		author = newWriter(b, read(b, settle(text, plainName(b.Brand.Name), bar.names), phone), bar)
	} else {
		author = newArranger(b, text, tag, phone, bar)
	}
	if !author.able() {
		return nil, creative.Fail(creative.FailRefused, false, "the prompt has no words that can be used in an ad: name the product, what it is and what speaks for it, and check that the banned words and the negative prompt leave something to say")
	}
	result := &creative.Result{Language: tag, Model: Model}
	if err := drafts(ctx, b, author, bar.gate, result); err != nil {
		return nil, err
	}
	if len(result.Drafts) == 0 {
		return nil, creative.Fail(creative.FailRefused, false, "the prompt gives no text that fits the channels: %s", strings.Join(result.Dropped, "; "))
	}
	return result, nil
}

// author writes one channel of one variant.
type author interface {
	// able reports whether there is anything to write about.
	able() bool
	// angle names the idea of a variant.
	angle(variant int) string
	// write makes the copy. Each try gives another, where there is one.
	write(channel string, variant int, r *rand.Rand) policy.Copy
	// keep notes that a copy was taken, so that the next ones differ.
	keep(channel string, c policy.Copy)
	action() string
}

const (
	// tries is how often a copy is written again because it resembles another
	// variant's.
	tries = 16
	// alike is the share of common word trigrams from which two texts say the
	// same.
	alike = 0.5
)

// drafts writes all variants. It stops when ctx ends.
func drafts(ctx context.Context, b *creative.Brief, a author, g *gate, result *creative.Result) error {
	kept := map[string][]grams{}
	randoms := map[string]*rand.Rand{}
	for i, channel := range b.Channels {
		randoms[channel] = rand.New(rand.NewPCG(uint64(b.Seed), uint64(i)+1)) //nolint:gosec // the seed's bits matter, not its sign
	}
	for variant := range b.Variants {
		draft := creative.Draft{Angle: a.angle(variant), ByChannel: map[string]policy.Copy{}, CallToAction: a.action()}
		made := map[string]grams{}
		var why string
		for _, channel := range b.Channels {
			if err := ctx.Err(); err != nil {
				return err
			}
			text, g, reason := attempt(a, g, channel, variant, kept[channel], randoms[channel])
			if reason != "" {
				why = reason
				break
			}
			draft.ByChannel[channel], made[channel] = text, g
		}
		if why != "" {
			result.Dropped = append(result.Dropped, why)
			continue
		}
		for _, channel := range b.Channels {
			kept[channel] = append(kept[channel], made[channel])
			a.keep(channel, draft.ByChannel[channel])
		}
		result.Drafts = append(result.Drafts, draft)
	}
	return nil
}

// attempt writes one channel until it differs from the variants before.
func attempt(a author, g *gate, channel string, variant int, others []grams, r *rand.Rand) (policy.Copy, grams, string) {
	why := ""
	for range tries {
		text := a.write(channel, variant, r)
		g.filter(channel, &text)
		if violations := text.LimitViolations(channel); len(violations) > 0 {
			why = fmt.Sprintf("variant %d has no %s that fits %s; shorten the names in the prompt or say more", variant+1, strings.ReplaceAll(violations[0].Limit.Field, "_", " "), channel)
			continue
		}
		g := gramsOf(channel, &text)
		if !slices.ContainsFunc(others, func(other grams) bool { return g.likeness(other) >= alike }) {
			return text, g, ""
		}
		why = fmt.Sprintf("variant %d on %s would repeat another; add a benefit, an offer or an audience to the prompt", variant+1, channel)
	}
	return policy.Copy{}, nil, why
}

// grams are the word trigrams of a copy; a text of fewer words is one.
type grams map[string]bool

func gramsOf(channel string, c *policy.Copy) grams {
	g := grams{}
	for _, l := range policy.LimitsOf(channel) {
		if l.Field == "paths" || l.Field == "business_name" {
			continue
		}
		for _, text := range c.Texts(l.Field) {
			words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if len(words) < 3 {
				g[strings.Join(words, " ")] = true
			}
			for i := range max(0, len(words)-2) {
				g[strings.Join(words[i:i+3], " ")] = true
			}
		}
	}
	return g
}

// likeness is the share of trigrams that two copies have in common.
func (g grams) likeness(other grams) float64 {
	common := 0
	for gram := range g {
		if other[gram] {
			common++
		}
	}
	all := len(g) + len(other) - common
	if all == 0 {
		return 1
	}
	return float64(common) / float64(all)
}

// domain is the host of the landing page, as people say it.
func domain(landing string) string {
	u, err := url.Parse(landing)
	if err != nil {
		return ""
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	if strings.ContainsFunc(host, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
	}) {
		return ""
	}
	return host
}
