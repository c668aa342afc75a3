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

// errUnreadable says that there is no JSON document of the asked kind in an
// answer.
var errUnreadable = errors.New("the answer is not the asked JSON")

// longestAction is how long the words on a button may be.
const longestAction = 25

// reply is the answer to a brief. A variant is read on its own, so that a bad
// one does not take the others with it.
//
// Choice: members that were not asked for are ignored rather than refused.
// Nothing of them goes anywhere, and models without an enforced schema like to
// add a word of explanation.
type reply struct {
	Language string           `json:"language"`
	Variants []jsontext.Value `json:"variants"`
}

type variant struct {
	Angle        string                 `json:"angle"`
	CallToAction string                 `json:"call_to_action"`
	Copy         map[string]policy.Copy `json:"copy"`
}

// draft is a variant on its way, with its number for reports.
type draft struct {
	number int
	creative.Draft
	// fault is why it cannot be used.
	fault string
}

type written struct {
	language string
	channels []string
	drafts   []*draft
}

// document finds the first JSON object in a text, which may have a fence or
// words around it, and reads it into v.
func document(text string, v any) error {
	// Some tries, because words before the document may have braces as well.
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

// read takes an answer apart. Variants that cannot be used are in it with their
// fault; more than were asked for are not.
func read(text string, b *creative.Brief) (*written, error) {
	var r reply
	if err := document(text, &r); err != nil {
		return nil, err
	}
	w := &written{language: language(b.Language, r.Language), channels: b.Channels}
	for i := range b.Variants {
		d := &draft{number: i + 1}
		w.drafts = append(w.drafts, d)
		var v variant
		switch {
		case i >= len(r.Variants):
			d.fault = "the model did not write it"
		case json.Unmarshal(r.Variants[i], &v) != nil:
			d.fault = "it cannot be read"
		default:
			d.take(v, b)
		}
	}
	return w, nil
}

var tag = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

func language(asked, answered string) string {
	if asked == "" && tag.MatchString(answered) {
		return answered
	}
	return asked
}

// take copies the asked fields of a variant as plain text.
func (d *draft) take(v variant, b *creative.Brief) {
	d.Angle = clip(keepOwn(plain(v.Angle, false), own(b)), 80)
	d.CallToAction = b.CallToAction
	if action := keepOwn(plain(v.CallToAction, false), own(b)); d.CallToAction == "" && len([]rune(action)) <= longestAction {
		d.CallToAction = action
	}
	d.ByChannel = map[string]policy.Copy{}
	for _, channel := range b.Channels {
		from, to := v.Copy[channel], policy.Copy{}
		for _, l := range policy.LimitsOf(channel) {
			to.SetTexts(l.Field, d.texts(l, from.Texts(l.Field), b))
		}
		d.ByChannel[channel] = to
	}
}

// texts are the usable items of one field.
func (d *draft) texts(l policy.Limit, from []string, b *creative.Brief) []string {
	if l.Field == "business_name" {
		if b.Brand.Name == "" || l.Length(b.Brand.Name) > l.Hard {
			return nil
		}
		return []string{b.Brand.Name}
	}
	var list []string
	for _, text := range from {
		text = keepOwn(plain(text, l.Field == "body" || l.Field == "script" || l.Field == "primary_text"), own(b))
		if l.Field == "paths" {
			text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '/' }), "-")
		}
		if leaked(text) {
			d.fault = "it repeats our instructions"
		}
		twice := slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, text) })
		if text != "" && !twice && len(list) < l.MaxItems {
			list = append(list, text)
		}
	}
	return list
}

// instructions are the lines of ours, as they look in a cleaned text.
var instructions = strings.Split(plain(system, true), "\n")

// leaked reports whether a text has a line of our instructions in it.
func leaked(text string) bool {
	return slices.ContainsFunc(instructions, func(line string) bool { return strings.Contains(text, line) })
}

func clip(s string, most int) string {
	r := []rune(s)
	return strings.TrimSpace(string(r[:min(len(r), most)]))
}

// finish drops what still breaks a limit: items of a list that can spare them,
// else the variant. It says why, one entry for each missing variant.
func (w *written) finish() (drafts []creative.Draft, dropped []string) {
	for _, d := range w.drafts {
		for _, channel := range w.channels {
			if d.fault == "" {
				d.fit(channel)
			}
		}
		if d.fault != "" {
			dropped = append(dropped, fmt.Sprintf("variant %d: %s", d.number, d.fault))
			continue
		}
		drafts = append(drafts, d.Draft)
	}
	return drafts, dropped
}

func (d *draft) fit(channel string) {
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
			d.fault = fmt.Sprintf("%s %s has %d characters, at most %d are allowed", channel, l.Field, longest, l.Hard)
			return
		default:
			d.fault = fmt.Sprintf("%s %s has %d usable texts, at least %d are needed", channel, l.Field, len(texts), l.MinItems)
			return
		}
	}
	d.ByChannel[channel] = c
}
