package llm

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// errUnreadable is returned if an answer has no JSON object of the expected
// shape.
var errUnreadable = errors.New("the answer is not the asked JSON")

// maxActionLength is the longest label of a button, in characters.
const maxActionLength = 25

// reply is the answer to a brief. Variants are parsed separately, so that an
// invalid one does not affect the others.
//
// Choice: unknown members are ignored, because models without an enforced
// schema often add an explanation.
type reply struct {
	Language string           `json:"language"`
	Variants []jsontext.Value `json:"variants"`
}

type variant struct {
	Angle        string                 `json:"angle"`
	CallToAction string                 `json:"call_to_action"`
	Copy         map[string]policy.Copy `json:"copy"`
}

// draft is a variant that is being processed, with its number for messages.
type draft struct {
	number int
	creative.Draft
	// problem is why the variant cannot be used, empty if it can.
	problem string
}

type parsedReply struct {
	language string
	channels []string
	drafts   []*draft
}

// decodeFirstObject decodes the first JSON object in a text into v. The text
// may have a code fence or words around the object.
func decodeFirstObject(text string, v any) error {
	// Several attempts, because words before the object can contain braces.
	for range 5 {
		start := strings.IndexByte(text, '{')
		if start < 0 {
			break
		}
		text = text[start:]
		value, err := jsontext.NewDecoder(strings.NewReader(text)).ReadValue()
		if err == nil {
			if json.Unmarshal(value, v) != nil {
				return errUnreadable
			}
			return nil
		}
		text = text[1:]
	}
	return errUnreadable
}

// readReply parses an answer. It keeps unusable variants with their problem and
// ignores surplus ones.
func readReply(text string, b *creative.Brief) (*parsedReply, error) {
	var r reply
	if err := decodeFirstObject(text, &r); err != nil {
		return nil, err
	}
	w := &parsedReply{language: languageOrReported(b.Language, r.Language), channels: b.Channels}
	for i := range b.Variants {
		d := &draft{number: i + 1}
		w.drafts = append(w.drafts, d)
		var v variant
		switch {
		case i >= len(r.Variants):
			d.problem = "the model did not write it"
		case json.Unmarshal(r.Variants[i], &v) != nil:
			d.problem = "it cannot be read"
		default:
			d.copyFields(v, b)
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

// copyFields copies the requested fields of a variant as plain text.
func (d *draft) copyFields(v variant, b *creative.Brief) {
	d.Angle = truncate(dropForeignSentences(plainText(v.Angle, false), allowedDomains(b)), 80)
	d.CallToAction = b.CallToAction
	if action := dropForeignSentences(plainText(v.CallToAction, false), allowedDomains(b)); d.CallToAction == "" && len([]rune(action)) <= maxActionLength {
		d.CallToAction = action
	}
	d.ByChannel = map[string]policy.Copy{}
	for _, channel := range b.Channels {
		from, to := v.Copy[channel], policy.Copy{}
		for _, l := range policy.LimitsOf(channel) {
			to.SetTexts(l.Field, d.usableTexts(l, from.Texts(l.Field), b))
		}
		d.ByChannel[channel] = to
	}
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
		if l.Field == "paths" {
			text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '/' }), "-")
		}
		if repeatsInstructions(text) {
			d.problem = "it repeats our instructions"
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

// dropUnusable drops what still exceeds a limit: items of a list with enough
// others, else the whole variant. dropped has one reason per missing variant.
func (w *parsedReply) dropUnusable() (drafts []creative.Draft, dropped []string) {
	for _, d := range w.drafts {
		for _, channel := range w.channels {
			if d.problem == "" {
				d.applyLimits(channel)
			}
		}
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
			d.problem = fmt.Sprintf("%s %s has %d characters, at most %d are allowed", channel, l.Field, longest, l.Hard)
			return
		default:
			d.problem = fmt.Sprintf("%s %s has %d usable texts, at least %d are needed", channel, l.Field, len(texts), l.MinItems)
			return
		}
	}
	d.ByChannel[channel] = c
}
