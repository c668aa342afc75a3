package llm

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// unreadableError is returned if an answer has no variants. It says why.
type unreadableError struct {
	why string
	// refusal says that the answer is a refusal in words.
	refusal bool
}

func (e *unreadableError) Error() string { return e.why }

//go:embed refusals.txt
var refusalsText string

// isRefusal reports whether a model refuses in words. Vendors also have a field
// for that, which models of other servers do not use.
func isRefusal(text string) bool {
	const most = 1500
	text = strings.ToLower(strings.ReplaceAll(truncate(text, most), "’", "'"))
	for line := range strings.Lines(refusalsText) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && strings.Contains(text, line) {
			return true
		}
	}
	return false
}

// maxActionLength is the longest label of a button, in characters.
const maxActionLength = 25

// reply is the answer to a brief. Variants are read separately, so that an
// invalid one does not affect the others.
//
// Choice: unknown members are ignored, because models without an enforced
// schema often add an explanation.
type reply struct {
	language string
	variants []any
	// single says that the answer is one variant without a list.
	single bool
	// whole is false if the answer ends in the middle.
	whole bool
}

// draft is a variant that is being processed, with its number for messages.
type draft struct {
	number int
	creative.Draft
	// problem is why the variant cannot be used, empty if it can. If only some
	// channels are at fault, bad has the problem of each.
	problem string
	bad     map[string]string
	// leftOut has a reason for each line that was taken out.
	leftOut []string
	// leaks says that the variant repeats the instructions of the model.
	leaks bool
}

type parsedReply struct {
	language string
	drafts   []*draft
}

// readText reads the JSON of an answer.
func readText(text string) (*reply, error) {
	var r *reply
	accept := func(v any) bool {
		r = findVariants(v, 0)
		return r != nil
	}
	_, whole, found := findJSON(text, accept)
	if r == nil && strings.ContainsAny(text, "“”") {
		// Some models write the quotes of JSON as typographic ones.
		_, whole, _ = findJSON(strings.NewReplacer("“", `"`, "”", `"`).Replace(text), accept)
	}
	switch {
	case r != nil:
		if r.whole = whole; r.single && !whole {
			r.variants = nil
		}
		return r, nil
	case found:
		return nil, &unreadableError{"its JSON has no variants", isRefusal(text)}
	case strings.TrimSpace(text) == "":
		return nil, &unreadableError{why: "it is empty"}
	}
	return nil, &unreadableError{"it is words and not JSON", isRefusal(text)}
}

// findVariants returns the variants in the JSON of an answer, nil if it has
// none. Models wrap the document in a member of any name, write the list
// without the document, the list as text, or one variant without the list.
func findVariants(v any, depth int) *reply {
	const maxWrappers = 3
	switch v := v.(type) {
	case []any:
		if len(v) > 0 && slices.ContainsFunc(v, isVariant) {
			return &reply{variants: v}
		}
	case map[string]any:
		language, _ := v["language"].(string)
		if list := member(v, "variants"); list != nil {
			return &reply{language: language, variants: listOf(list)}
		}
		if isVariant(v) {
			return &reply{variants: []any{v}, single: true}
		}
		if list := variantsIn(v); len(list) > 1 {
			return &reply{language: language, variants: list}
		}
		if depth == maxWrappers {
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if r := findVariants(v[name], depth+1); r != nil {
				return r
			}
		}
	case string:
		// A document can be written as a text in a document.
		var r *reply
		if depth > 0 && depth <= maxWrappers && strings.ContainsAny(v, "{[") {
			findJSON(v, func(v any) bool {
				r = findVariants(v, depth+1)
				return r != nil
			})
		}
		return r
	}
	return nil
}

func isVariant(v any) bool {
	m, _ := v.(map[string]any)
	return copyOf(m) != nil
}

// listOf returns a list that may be written as one item or as text.
func listOf(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case map[string]any:
		if list := variantsIn(v); len(list) > 0 {
			return list
		}
		return []any{v}
	case string:
		list, _, _ := findJSON(v, func(v any) bool { _, ok := v.([]any); return ok })
		items, _ := list.([]any)
		return items
	}
	return nil
}

// readReply reads an answer with so many variants. It keeps unusable variants
// with their problem and ignores surplus ones.
func readReply(text string, b *creative.Brief, variants int) (*parsedReply, error) {
	r, err := readText(text)
	if err != nil {
		return nil, err
	}
	w := &parsedReply{language: r.language}
	for i := range variants {
		d := &draft{}
		w.drafts = append(w.drafts, d)
		switch {
		case i < len(r.variants):
			d.copyVariant(r.variants[i], b)
		case r.whole:
			d.problem = "the model did not write it"
		default:
			d.problem = "the model's answer ends before it is complete"
		}
	}
	return w, nil
}

var languageTag = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

// languageOrReported returns the language that was asked for, or the one that
// the model reported if none was.
func languageOrReported(asked, answered string) string {
	if asked == "" && languageTag.MatchString(answered) {
		return answered
	}
	return asked
}

// copyVariant copies the requested fields of a variant as plain text.
func (d *draft) copyVariant(v any, b *creative.Brief) {
	members, ok := v.(map[string]any)
	if !ok {
		d.problem = "it is not a JSON object"
		return
	}
	angle, _ := member(members, "angle").(string)
	action, _ := member(members, "call_to_action").(string)
	d.Angle = truncate(dropForeignSentences(plainText(angle, false), allowedDomains(b)), 80)
	d.CallToAction = b.CallToAction
	if action = dropForeignSentences(plainText(action, false), allowedDomains(b)); d.CallToAction == "" && len([]rune(action)) <= maxActionLength {
		d.CallToAction = action
	}
	channels := copyOf(members)
	d.ByChannel = map[string]policy.Copy{}
	for _, channel := range b.Channels {
		fields, _ := member(channels, channel).(map[string]any)
		var to policy.Copy
		for _, l := range policy.LimitsOf(channel) {
			to.SetTexts(l.Field, d.usableTexts(l, textsOf(member(fields, l.Field), l), b))
		}
		fillMissing(&to, channel)
		d.ByChannel[channel] = to
	}
}

// textsOf returns the texts of a field. A list may be written as one text with
// a line per item, and its items as objects with a member text.
func textsOf(v any, l policy.Limit) (list []string) {
	switch v := v.(type) {
	case string:
		if l.MaxItems > 1 {
			return splitLines(v)
		}
		return []string{v}
	case []any:
		for _, item := range v {
			if m, ok := item.(map[string]any); ok {
				item = m["text"]
			}
			if text, ok := item.(string); ok {
				list = append(list, text)
			}
		}
	}
	return list
}

// usableTexts returns the usable items of one field.
func (d *draft) usableTexts(l policy.Limit, from []string, b *creative.Brief) []string {
	if l.Field == "business_name" {
		if b.Brand.Name == "" || l.Length(b.Brand.Name) > l.Hard {
			return nil
		}
		return []string{b.Brand.Name}
	}
	var list []string
	for _, text := range from {
		text = dropForeignSentences(plainText(text, l.Field == "body" || l.Field == "script" || l.Field == "primary_text"), allowedDomains(b))
		if refusesEmoji(l) {
			text = dropEmoji(text)
		}
		if hasPlaceholder(text, b) {
			continue
		}
		if l.Field == "paths" {
			text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '/' }), "-")
		}
		if repeatsInstructions(text) {
			d.problem, d.leaks = "it repeats our instructions", true
		}
		twice := slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, text) })
		if text != "" && !twice && len(list) < l.MaxItems {
			list = append(list, text)
		}
	}
	return list
}

// systemPromptLines are the lines of the system prompt in the form of a cleaned
// text.
var systemPromptLines = strings.Split(plainText(systemPrompt, true), "\n")

// repeatsInstructions reports whether a text contains a line of the system
// prompt.
func repeatsInstructions(text string) bool {
	return slices.ContainsFunc(systemPromptLines, func(line string) bool { return strings.Contains(text, line) })
}

func truncate(s string, most int) string {
	r := []rune(s)
	return strings.TrimSpace(string(r[:min(len(r), most)]))
}

// applyAllLimits drops what still exceeds a limit: items of a list with enough
// others, else the whole variant.
func (d *draft) applyAllLimits(channels []string) {
	for _, channel := range channels {
		if d.problem == "" || d.bad != nil && d.bad[channel] == "" {
			d.applyLimits(channel)
		}
	}
}

// refuseChannel records the problem of a channel.
func (d *draft) refuseChannel(channel, problem string) {
	if d.bad == nil {
		d.bad = map[string]string{}
	}
	d.bad[channel] = problem
	if d.problem == "" {
		d.problem = problem
	}
}

// isPart reports whether only some channels are at fault.
func (d *draft) isPart(channels []string) bool {
	return len(d.bad) > 0 && len(d.bad) < len(channels) && !d.leaks
}

// keepParts makes a variant usable without the channels that are at fault, and
// returns a reason for each. It keeps nothing if all are.
func (d *draft) keepParts(channels []string) (skipped []string) {
	if !d.isPart(channels) {
		return nil
	}
	for _, channel := range channels {
		if why := d.bad[channel]; why != "" {
			delete(d.ByChannel, channel)
			d.Skipped = append(d.Skipped, channel)
			skipped = append(skipped, fmt.Sprintf("Variant %d has no copy for %s: %s.", d.number, channel, why))
		}
	}
	d.problem = ""
	return skipped
}

// splitUsable returns the usable drafts, and one reason per other one.
func splitUsable(all []*draft) (drafts []creative.Draft, dropped []string) {
	for _, d := range all {
		if d.problem != "" {
			dropped = append(dropped, fmt.Sprintf("variant %d: %s", d.number, d.problem))
			continue
		}
		drafts = append(drafts, d.Draft)
	}
	return drafts, dropped
}

func (d *draft) applyLimits(channel string) {
	c := d.ByChannel[channel]
	for _, l := range policy.LimitsOf(channel) {
		texts := c.Texts(l.Field)
		longest := 0
		fitting := slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
			longest = max(longest, l.Length(text))
			return l.Length(text) > l.Hard
		})
		switch {
		case len(fitting) >= l.MinItems:
			c.SetTexts(l.Field, fitting)
		case len(texts) >= l.MinItems:
			d.refuseChannel(channel, fmt.Sprintf("%s %s has %d characters, at most %d are allowed", channel, l.Field, longest, l.Hard))
			return
		default:
			d.refuseChannel(channel, fmt.Sprintf("%s %s has %d usable texts, at least %d are needed", channel, l.Field, len(texts), l.MinItems))
			return
		}
	}
	d.ByChannel[channel] = c
}
