package llm

import (
	"fmt"
	"slices"

	"fanfare/internal/creative"
	"fanfare/internal/creative/claims"
	"fanfare/internal/creative/policy"
)

// refuseInvented refuses what a variant has invented: names, numbers and prices
// that the brief does not have. A line is left out if its list has enough
// others; else the variant cannot be used, so that the model is asked for
// another one.
//
// Choice: a sentence is not cut out of a longer text, because the next one often
// refers to it.
func (d *draft) refuseInvented(b *creative.Brief, language string) {
	if d.problem != "" {
		return
	}
	src := b.Source()
	src.Language = language
	refused := map[string]policy.Finding{}
	key := func(channel, field string, index int) string { return fmt.Sprint(channel, field, index) }
	for _, f := range claims.Review(src, b.Channels, d.ByChannel, policy.Block).Findings {
		if claims.IsInvented(f) {
			refused[key(f.Channel, f.Field, f.Index)] = f
		}
	}
	for _, channel := range b.Channels {
		c := d.ByChannel[channel]
		for _, l := range policy.LimitsOf(channel) {
			var kept, left []string
			var first *policy.Finding
			for i, text := range c.Texts(l.Field) {
				f, bad := refused[key(channel, l.Field, i)]
				if !bad {
					kept = append(kept, text)
					continue
				}
				if first == nil {
					first = &f
				}
				left = append(left, fmt.Sprintf("Variant %d: a line of %s.%s was left out, because the brief does not say “%s”.", d.number, channel, l.Field, f.Text))
			}
			if first != nil && len(kept) < max(l.MinItems, 1) {
				d.refuseChannel(channel, fmt.Sprintf("%s %s says “%s”, which is not in the brief", channel, l.Field, first.Text))
				break
			}
			if first != nil {
				c.SetTexts(l.Field, slices.Clone(kept))
				d.leftOut = append(d.leftOut, left...)
			}
		}
		d.ByChannel[channel] = c
	}
}
