package copywriter

import (
	"slices"
	"strings"

	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
	"fanfare/internal/creative/policy"
)

// email is the body of an email in blocks, so that plain text and HTML say the
// same.
type email struct {
	opening  string
	offer    string
	benefits []string
	proof    string
	action   string
	contact  string
	terms    string
	brand    string
	landing  string
	// colon stands between the action and its address.
	colon string
}

// Placeholders that the sender of emails replaces.
const (
	unsubscribeURL = "{{unsubscribe_url}}"
	postalAddress  = "{{postal_address}}"
	landingURL     = "{{landing_url}}"
)

// mostBenefits is how many benefits an email lists.
const mostBenefits = 6

// mostSentences is how many sentences the paragraph with the offer has beyond what
// must be said.
const mostSentences = 4

// email writes the blocks of an email: what it is, the offer, why, the action.
func (w *writer) email(l policy.Limit) email {
	var e email
	t := w.newText(l, l.Hard, " ")
	t.open()
	e.opening = t.String()
	t.taken, t.list = append(t.taken, t.list...), nil
	benefits, proofs := w.maskOf(brief.Benefit), w.maskOf(brief.Proof)
	for _, fact := range w.order() {
		if fact&t.said == 0 && fact&(benefits|proofs) == 0 && (w.bank == nil || len(t.list) < mostSentences || fact&w.required() != 0) {
			t.sayOne(fact)
		}
	}
	e.offer = t.String()
	e.benefits, t.said = w.benefits(t.said)
	t.taken, t.list = append(t.taken, t.list...), nil
	for _, fact := range w.order() {
		if fact&proofs&^t.said != 0 {
			t.sayOne(fact)
		}
	}
	e.proof = t.String()
	e.action, e.colon = w.buttonText(), ": "
	if strings.HasPrefix(w.m.set.Language, "fr") {
		e.colon = "\u00a0: "
	}
	if f, ok := first(w.m.facts, brief.Contact); ok {
		e.contact = f.Text
	}
	for _, f := range w.m.set.All(brief.Terms, 0) {
		e.terms = strings.TrimSpace(e.terms + " " + sentenceCase(bare(f.Text)) + ".")
	}
	if f, ok := w.m.set.First(brief.Brand, 0); ok {
		e.brand = f.Text
	} else {
		e.brand = w.brand
	}
	if e.landing = w.brief.LandingURL; e.landing == "" {
		e.landing = landingURL
	}
	return e
}

// benefits returns the benefits that were not said, beginning with those of the
// variant's idea.
func (w *writer) benefits(said mask) ([]string, mask) {
	var list []string
	all := w.maskOf(brief.Benefit)
	for _, part := range []mask{all & w.idea.lead, all &^ w.idea.lead} {
		for i, f := range w.m.facts {
			bit := mask(1) << i
			if part&bit == 0 || said&bit != 0 || len(list) >= mostBenefits || w.gate.bans(f.Text) || !isSayable(f.Text) {
				continue
			}
			list, said = append(list, sentenceCase(bare(f.Text))), said|bit
		}
	}
	return list, said
}

// maskOf returns all facts of a type.
func (w *writer) maskOf(t brief.Type) mask { return w.m.masks[t] }

// buttonText is the text of the button, with the date until when people must act.
func (w *writer) buttonText() string {
	f, ok := first(w.m.facts, brief.CallToAction)
	if !ok || w.gate.bans(f.Text) {
		return ""
	}
	if dates := w.m.fill[copybank.ActBy]; len(dates) > 0 && w.m.generic == 0 && !w.m.hasDate(f.Text) {
		return sentenceCase(bare(f.Text)) + " " + dates[0].text
	}
	return sentenceCase(bare(f.Text))
}

func first(list []brief.Fact, t brief.Type) (brief.Fact, bool) {
	i := slices.IndexFunc(list, func(f brief.Fact) bool { return f.Type == t })
	if i < 0 {
		return brief.Fact{}, false
	}
	return list[i], true
}

// text returns the email as plain text.
func (e *email) text() string {
	var blocks []string
	add := func(text string) {
		if text != "" {
			blocks = append(blocks, text)
		}
	}
	add(e.opening)
	add(e.offer)
	if len(e.benefits) > 1 {
		add("- " + strings.Join(e.benefits, "\n- "))
	} else if len(e.benefits) == 1 {
		add(e.benefits[0] + ".")
	}
	add(e.proof)
	if e.action != "" {
		add(e.action + e.colon + e.landing)
	}
	add(e.contact)
	add(e.terms)
	add(strings.TrimSpace(e.brand + "\n" + postalAddress + "\n" + unsubscribeURL))
	return strings.Join(blocks, "\n\n")
}
