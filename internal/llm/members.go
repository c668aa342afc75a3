package llm

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// member returns a member of an object by the first of its names. Models write
// names in other ways: with capitals, hyphens, or without a plural.
func member(m map[string]any, names ...string) any {
	for _, name := range names {
		if v, ok := m[name]; ok {
			return v
		}
	}
	for _, name := range names {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if foldName(key) == foldName(name) {
				return m[key]
			}
		}
	}
	return nil
}

// foldName returns a name without capitals, separators and plural.
func foldName(name string) string {
	name = strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
	return strings.TrimSuffix(name, "s")
}

// copyOf returns the copy of a variant by channel.
func copyOf(variant map[string]any) map[string]any {
	channels, _ := member(variant, "copy", "channels").(map[string]any)
	return channels
}

// variantsIn returns the variants that are members of an object, by name.
func variantsIn(m map[string]any) (list []any) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if isVariant(m[name]) {
			list = append(list, m[name])
		}
	}
	return list
}

var (
	listMark = regexp.MustCompile(`^\s*(?:\d{1,2}[.)]|[-*•–])\s+`)
	// placeholder matches what a template leaves open: [Price], {{offer}}.
	placeholder = regexp.MustCompile(`\[[\pL][^\]\n]{0,60}\]|\{\{?[^}\n]{1,60}\}\}?|(?i:lorem ipsum)`)
)

// splitLines returns the lines of a list that is written as one text, without
// the numbers or dashes that all of them begin with.
func splitLines(text string) []string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	if !slices.ContainsFunc(lines, func(line string) bool { return !listMark.MatchString(line) }) {
		for i, line := range lines {
			lines[i] = listMark.ReplaceAllString(line, "")
		}
	}
	return lines
}

// hasPlaceholder reports whether a text is a template. The placeholders of an
// email's sender are not open, and a brief may have brackets of its own.
func hasPlaceholder(text string, b *creative.Brief) bool {
	text = strings.NewReplacer("{{landing_url}}", "", "{{postal_address}}", "", "{{unsubscribe_url}}", "").Replace(text)
	return slices.ContainsFunc(placeholder.FindAllString(text, -1), func(found string) bool { return !strings.Contains(b.Prompt, found) })
}

// refusesEmoji reports whether platforms refuse emoji in a field.
func refusesEmoji(l policy.Limit) bool {
	return l.Channel == "search" || l.Channel == "display" || l.Field == "short_text"
}

// dropEmoji removes emoji and the space that they leave.
func dropEmoji(text string) string {
	emoji := false
	kept := strings.Map(func(r rune) rune {
		switch {
		case r == 0x203c || r == 0x2049 || r == 0xfe0f || r == 0x20e3 || r == 0x200d,
			0x2300 <= r && r <= 0x23ff, 0x2600 <= r && r <= 0x27bf, 0x2b00 <= r && r <= 0x2bff, 0x1f000 <= r && r <= 0x1faff:
			emoji = true
			return -1
		}
		return r
	}, text)
	if !emoji {
		return text
	}
	return strings.Join(strings.Fields(kept), " ")
}

// standIns are fields of the same channel whose text can take the place of a
// required one that a model left out.
var standIns = map[string][]string{"short_text": {"headlines", "descriptions"}, "long_headline": {"headlines", "descriptions"}, "preheader": {"subject"}}

// fillMissing fills required single texts from other fields of the channel.
func fillMissing(c *policy.Copy, channel string) {
	for _, l := range policy.LimitsOf(channel) {
		if l.MinItems != 1 || len(c.Texts(l.Field)) > 0 {
			continue
		}
		for _, field := range standIns[l.Field] {
			texts := c.Texts(field)
			if i := slices.IndexFunc(texts, func(text string) bool { return l.Length(text) <= l.Hard }); i >= 0 {
				c.SetTexts(l.Field, []string{texts[i]})
				break
			}
		}
	}
}

// refuseLanguage refuses a variant in another language than the one of the
// request, or of the prompt if there is none. A prompt can ask for a language.
func (d *draft) refuseLanguage(b *creative.Brief) {
	var texts []string
	for _, channel := range b.Channels {
		c := d.ByChannel[channel]
		texts = append(texts, c.AllTexts(channel)...)
	}
	language := b.Language
	if language == "" {
		language = policy.DetectLanguage(b.Prompt)
	}
	const least = 60
	text := strings.Join(texts, "\n")
	if d.problem != "" || len([]rune(text)) < least {
		return
	}
	tag, differs := policy.LanguageMismatch(text, language)
	name := policy.LanguageName(tag)
	if differs && (b.Language != "" || !strings.Contains(b.Prompt, name)) {
		d.problem = "it is in " + name
	}
}
