package copywriter

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
	"fanfare/internal/creative/policy"
)

// Placeholders that the sender of emails replaces.
const (
	unsubscribeURL = "{{unsubscribe_url}}"
	postalAddress  = "{{postal_address}}"
	landingURL     = "{{landing_url}}"
)

// mostBenefits is how many benefits an email lists.
const mostBenefits = 6

// email writes the body of an email in the form of the variant: what it is, the
// offer, why, the action, the conditions.
func (w *writer) email(l policy.Limit) string {
	var blocks []string
	add := func(text string) {
		if text != "" {
			blocks = append(blocks, text)
		}
	}
	t := w.newText(l, l.Hard, " ")
	t.open()
	add(t.flush())
	benefits, proofs := w.maskOf(brief.Benefit), w.maskOf(brief.Proof)
	others := ^(benefits | proofs)
	switch w.form() {
	case formList:
		add(t.bullets("- "))
		add(t.sayAll(benefits))
		add(t.sayAll(others))
	case formLines:
		add(t.sayAll(w.maskOf(brief.Offer)))
		add(t.sheet())
		add(t.sayAll(others))
		add(w.reasons(t, benefits))
	default:
		add(t.sayAll(others))
		if bits.OnesCount64(uint64(benefits&^t.said)) <= mostInParagraph {
			add(t.sayAll(benefits))
		}
		add(w.reasons(t, benefits))
	}
	add(t.sayAll(proofs))
	add(w.emailAction())
	add(w.emailContact())
	add(strings.Join(w.withTerms(nil, l, l.Hard, " "), " "))
	add(strings.TrimSpace(w.advertiser() + "\n" + postalAddress + "\n" + unsubscribeURL))
	return strings.Join(blocks, "\n\n")
}

// reasons are the benefits, two as sentences and more as a list.
func (w *writer) reasons(t *text, benefits mask) string {
	if bits.OnesCount64(uint64(benefits&^t.said)) <= mostInProse {
		return t.sayAll(benefits)
	}
	list := t.bullets("- ")
	if rest := t.sayAll(benefits); rest != "" && list != "" {
		return list + "\n\n" + rest
	} else if list == "" {
		return rest
	}
	return list
}

// mostInParagraph is how many benefits the email without a list has as sentences.
const mostInParagraph = 4

// mostInProse is how many benefits an email has as sentences.
const mostInProse = 2

// emailAction is the paragraph with the button, or with the number to call.
func (w *writer) emailAction() string {
	action := w.buttonText()
	if action == "" {
		return ""
	}
	if w.callsByPhone() && w.brief.LandingURL == "" {
		if l, ok := w.peek(query{roles: []copybank.Role{copybank.Closing}, limit: policy.LimitsOf("email")[2], needs: w.m.phones & (w.maskOf(brief.CallToAction) | w.maskOf(brief.Contact)), again: true, stock: true}); ok {
			return l.text
		}
	}
	landing := w.brief.LandingURL
	if landing == "" {
		landing = landingURL
	}
	if strings.HasPrefix(w.m.set.Language, "fr") {
		return action + "\u00a0: " + landing
	}
	return action + ": " + landing
}

// emailContact says how else to reach the advertiser.
func (w *writer) emailContact() string {
	f, ok := first(w.m.facts, brief.Contact)
	if !ok || w.gate.bans(f.Text) || w.callsByPhone() && w.brief.LandingURL == "" {
		return ""
	}
	if w.m.lang == nil || !isContact(f.Text) {
		return f.Text
	}
	name := "contact_other"
	if atoms.HasPhone(f.Text) {
		name = "contact_phone"
	}
	return cmp.Or(w.m.lang.with(name, f.Text), f.Text)
}

// advertiser is the name at the end of an email.
func (w *writer) advertiser() string {
	if f, ok := w.m.set.First(brief.Brand, 0); ok {
		return f.Text
	}
	return w.brand
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
