package picture

import "fmt"

// adParts are the texts and images of an ad, measured and not yet placed.
type adParts struct {
	headline, body, label, brand, terms text
	offer                               offerText
	price                               priceText
	logo                                *logoImage
}

// offerText is an offer as one text, and in the three parts of a badge.
type offerText struct{ whole, before, main, after text }

func (o offerText) empty() bool { return o.whole.empty() }

// priceText is a price in its parts.
type priceText struct{ before, amount, after, previous text }

func (p priceText) empty() bool { return p.amount.empty() }

// measureParts measures the texts of an ad.
func measureParts(a Ad, rtl bool) (adParts, error) {
	p := adParts{logo: readLogo(a.Logo)}
	use := typefaces{heading: familyNamed(a.Typefaces.Heading), text: familyNamed(a.Typefaces.Text), more: a.Fonts}
	heading := func(s string) *faces { return use.facesFor(s, use.heading, true) }
	strong := func(s string) *faces { return use.facesFor(s, use.text, true) }
	small := func(s string) *faces { return use.facesFor(s, use.text, false) }
	tight, usual, loose := textSetting{-0.018, 1.12, rtl}, textSetting{0, 1.2, rtl}, textSetting{0, 1.42, rtl}
	for _, part := range []struct {
		name  string
		to    *text
		faces func(string) *faces
		words string
		set   textSetting
	}{
		{"headline", &p.headline, heading, a.Headline, tight},
		{"body", &p.body, small, a.Body, loose},
		{"call to action", &p.label, strong, a.CallToAction, usual},
		{"brand", &p.brand, heading, a.Brand, usual},
		{"terms", &p.terms, small, a.Terms, textSetting{0, 1.3, rtl}},
		{"offer", &p.offer.whole, strong, a.Offer.Text(), usual},
		{"offer", &p.offer.before, strong, a.Offer.Before, usual},
		{"offer", &p.offer.main, heading, a.Offer.Main, tight},
		{"offer", &p.offer.after, strong, a.Offer.After, usual},
		{"price", &p.price.before, small, a.Price.Before, usual},
		{"price", &p.price.amount, heading, a.Price.Amount, tight},
		{"price", &p.price.after, small, a.Price.After, usual},
		{"previous price", &p.price.previous, small, a.Price.Previous, usual},
	} {
		t, err := measureText(part.faces(part.words), part.words, part.set)
		if err != nil {
			return adParts{}, fmt.Errorf("set %s: %w", part.name, err)
		}
		*part.to = t
	}
	return p, nil
}

func (p adParts) hasBrand() bool { return p.logo != nil || !p.brand.empty() }

// without returns the parts without some of them.
func (p adParts) without(roles ...Role) adParts {
	for _, r := range roles {
		switch r {
		case RoleBody:
			p.body = noText
		case RoleBrand:
			p.brand, p.logo = noText, nil
		case RoleOffer:
			p.offer = offerText{}
		case RolePrice:
			p.price = priceText{}
		case RoleTerms:
			p.terms = noText
		case RoleLabel:
			p.label = noText
		case RoleHeadline:
			p.headline = noText
		case RoleButton, RoleLogo, RolePhoto:
		}
	}
	return p
}

// only returns some of the parts.
func (p adParts) only(roles ...Role) adParts {
	var q adParts
	for _, r := range roles {
		switch r {
		case RoleBody:
			q.body = p.body
		case RoleBrand:
			q.brand, q.logo = p.brand, p.logo
		case RoleOffer:
			q.offer = p.offer
		case RolePrice:
			q.price = p.price
		case RoleTerms:
			q.terms = p.terms
		case RoleLabel:
			q.label = p.label
		case RoleHeadline:
			q.headline = p.headline
		case RoleButton, RoleLogo, RolePhoto:
		}
	}
	return q
}
