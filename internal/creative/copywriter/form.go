package copywriter

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
	"fanfare/internal/creative/policy"
)

// form is how the long texts of a variant are built, so that variants differ in
// more than their first line.
type form uint8

const (
	// formProse is one paragraph.
	formProse form = iota
	// formList has the benefits as a list.
	formList
	// formLines has a line for each sentence, and a sheet of facts in an email.
	formLines
	formCount
)

func (w *writer) form() form { return form(w.variant % int(formCount)) } //nolint:gosec // below 3

// leastOptional is how many benefits, proofs and audiences a variant keeps.
const leastOptional = 2

// choose returns the facts that the variant says where room is short: what must be
// said, what it leads with, and of the others so many that it has two thirds of all.
// Each variant begins with another one.
func (w *writer) choose() mask {
	all := w.maskOf(brief.Benefit) | w.maskOf(brief.Proof) | w.maskOf(brief.Audience)
	n := bits.OnesCount64(uint64(all))
	if w.brief.Variants == 1 || n <= leastOptional {
		return ^mask(0)
	}
	var others []mask
	for rest := all &^ w.idea.lead; rest != 0; rest &= rest - 1 {
		others = append(others, rest&-rest)
	}
	left := max(leastOptional, (2*n+2)/3) - (n - len(others))
	chosen := ^all | w.idea.lead
	for i := range others {
		if i < left {
			chosen |= others[(i+w.variant)%len(others)]
		}
	}
	return chosen
}

// listSign stands before each item of a list in a post.
const listSign = "• "

// bullets returns the benefits that were not said as lines of a list.
func (t *text) bullets(sign string) string {
	w := t.w
	all := w.maskOf(brief.Benefit)
	if t.limit.Channel != "email" {
		all &= w.chosen | w.idea.lead
	}
	var list []string
	said := t.said
	for _, fact := range w.order(t.limit.Channel) {
		i := bits.TrailingZeros64(uint64(fact))
		f := w.m.facts[i]
		if fact&all == 0 || said&fact != 0 || len(list) >= mostBenefits || w.gate.bans(f.Text) || !isSayable(f.Text) || strings.Contains(f.Text, "\n") {
			continue
		}
		list, said = append(list, sign+sentenceCase(bare(f.Text))), said|fact
	}
	if len(list) < 2 {
		return ""
	}
	t.said = said
	return strings.Join(list, "\n")
}

// sheet returns the facts of a job, an event or an offer as lines with a label.
func (t *text) sheet() string {
	w := t.w
	if w.m.lang == nil {
		return ""
	}
	var list []string
	said := t.said
	for _, one := range []brief.Type{brief.When, brief.Place, brief.Price, brief.Deadline} {
		fact := w.maskOf(one)
		f, ok := first(w.m.facts, one)
		if one == brief.Price && (!strings.ContainsFunc(f.Text, unicode.IsDigit) || strings.Contains(f.Text, "%")) {
			continue // A rate is no price, nor is "free".
		}
		if !ok || fact&said != 0 || f.Confidence < brief.Sure || f.Text == "" || w.gate.bans(f.Text) {
			continue
		}
		name, text := "label_"+string(one), f.Text
		switch one {
		case brief.Price:
			if w.m.set.Kind == "hiring" {
				name = "label_pay"
			}
			if was := w.m.fill[copybank.PriceWas]; w.m.have.Has(copybank.PriceWas) && !w.gate.bans(was[0].text) {
				text += " " + w.m.lang.with("instead", was[0].text)
				fact |= was[0].fact
			}
		case brief.Deadline:
			if w.m.saysWhatEnds(text) || w.m.actBy == 0 && w.maskOf(brief.Offer) != 0 && t.said&w.maskOf(brief.Offer) == 0 {
				continue
			}
			if !w.m.lang.starts("before_words", text) {
				text, _ = w.m.lang.cut("until_words", text)
			}
		case brief.When:
			text, _ = w.m.lang.cut("when_start", text)
		default:
		}
		if label := w.m.lang.with(name, ""); label != "" {
			colon := ": "
			if strings.HasPrefix(w.m.set.Language, "fr") {
				colon = "\u00a0: "
			}
			list, said = append(list, label+colon+bare(text)), said|fact
		}
	}
	if len(list) < 2 {
		return ""
	}
	t.said = said
	return strings.Join(list, "\n")
}

// flush returns what was said since the last flush as a paragraph.
func (t *text) flush() string {
	text := t.String()
	t.taken, t.list = append(slices.Clip(t.taken), t.list...), nil
	return text
}

// sayAll adds sentences with all facts of some types.
func (t *text) sayAll(types mask) string {
	for _, fact := range t.w.order(t.limit.Channel) {
		if fact&types&^t.said != 0 {
			t.sayOne(fact)
		}
	}
	return t.flush()
}

// post writes the text of a post in the form of the variant.
func (w *writer) post(l policy.Limit, room, ideal int) string {
	space := " "
	if w.form() != formProse {
		space = "\n"
	}
	t := w.newText(l, room, space)
	end := t.endRoom()
	t.room -= end
	t.open()
	t.room += end
	if w.form() == formList {
		before := t.said
		if list := t.bullets(listSign); list != "" {
			if t.length(list)+end <= room {
				t.list = append(t.list, list)
			} else {
				t.said = before
			}
		}
	}
	t.say(w.order(l.Channel), ideal, end)
	t.close()
	return strings.Join(w.withTerms(t.list, l, room, space), space)
}

// callsByPhone reports an action that is a call: the number says how.
func (w *writer) callsByPhone() bool {
	action, ok := first(w.m.facts, brief.CallToAction)
	return ok && (atoms.HasPhone(action.Text) || w.m.calls)
}
