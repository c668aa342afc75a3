package policy

import (
	"slices"
	"strings"
	"unicode"
)

var (
	// comparatives start a comparison; its second part names the competitor.
	comparatives = wordSet(`better cheaper faster stronger safer cleaner longer lighter quieter smarter tastier healthier fresher softer
		simpler easier nicer bigger smaller thinner tougher cooler warmer brighter greener newer kinder quicker sharper fairer more less fewer lower higher
		besser billiger gunstiger schneller starker sicherer sauberer langer leichter leiser gesunder frischer weicher einfacher grosser heller haltbarer mehr weniger preiswerter zuverlassiger
		moins plus mieux meilleur meilleure meilleurs meilleures
		mejor mejores mas menos meglio migliore migliori piu meno melhor melhores mais menos`)
	// comparisonWords are between the two parts.
	comparisonWords = wordSet("than als que qu di do da del dei")
	// verbsOfRivals are before the name of a competitor.
	verbsOfRivals = wordSet("unlike ditch dump beats outperforms outlasts outsells crushes destroys schlagt ubertrifft surpasse bat supera batte")
	// likeWords end an English comparison of equals: as long as.
	likeWords = wordSet("long soon early late far well little few low high much many")
	// articles may be before a name.
	articles = wordSet("the le la les l el los las il lo i gli o a os as der die das bei chez at em no na en da do dos das beim")
	// notBrands are capitalized words after a comparison that name no
	// competitor.
	notBrands = wordSet(`january february march april may june july august september october november december monday tuesday wednesday thursday friday
		saturday sunday christmas easter halloween spring summer autumn fall winter i english french german spanish italian ever before last you your the a an any
		all our most other others others' one two three just what when where we it that this those these usual expected normal average new never life sliced bread
		paris london rome berlin madrid lisbon milan europe america britain england germany france spain italy portugal wall street mars`)
	// brands are competitors in languages and headlines that capitalize other
	// words too.
	brands = wordSet(`salesforce hubspot amazon ebay google microsoft apple samsung sony nike adidas puma ikea aldi lidl tesco walmart target costco
		carrefour leclerc auchan mercadona esselunga coop conad rewe edeka netflix spotify disney uber lyft bolt airbnb booking expedia ryanair easyjet lufthansa
		mcdonald's mcdonalds starbucks coca pepsi nestle nespresso lavazza zara h&m shein temu zalando vodafone telekom orange movistar tim vivo paypal stripe revolut
		n26 klarna slack zoom notion asana trello jira shopify wix squarespace wordpress mailchimp adobe photoshop canva dropbox oracle sap datev lexoffice tesla bmw
		audi mercedes toyota volkswagen renault fiat duracell energizer varta dyson bosch philips miele gillette colgate l'oreal nivea dove lego iphone android
		windows chatgpt facebook instagram tiktok linkedin ryanair deliveroo lieferando glovo mediamarkt saturn decathlon fnac obi hornbach continente pingo nubank magalu`)
)

// maxComparisonDistance is the maximum number of words between the comparative
// and the word before the competitor.
const maxComparisonDistance = 4

// findComparisons finds claims to be better than a named competitor.
//
// Choice: a capitalized word after a comparison is a competitor. In German and
// in titles, where other words are capitalized too, it must be a known brand.
func findComparisons(p *parsedText, _ *sourceIndex) []span {
	var list []span
	titled := p.isTitleCase()
	for i, x := range p.tokens {
		if !comparisonWords[x.text] && x.text != "as" && !verbsOfRivals[x.text] {
			continue
		}
		start, ok := comparisonStart(p.tokens, i)
		if !ok {
			continue
		}
		name := i + 1
		for name < len(p.tokens) && articles[p.tokens[name].text] && !p.isCapitalized(p.tokens[name]) {
			name++
		}
		if name == len(p.tokens) || p.tokens[name].kind != wordToken || !p.isCapitalized(p.tokens[name]) || notBrands[p.tokens[name].text] {
			continue
		}
		known := brands[p.tokens[name].text] || brands[strings.TrimPrefix(strings.TrimPrefix(p.tokens[name].text, "l'"), "d'")]
		if known || !titled && x.text != "als" {
			list = append(list, span{start: p.tokens[start].start, end: p.tokens[name].end})
		}
	}
	return list
}

// comparisonStart returns the first word of the comparison that token i belongs
// to.
func comparisonStart(tokens []token, i int) (start int, ok bool) {
	switch {
	case verbsOfRivals[tokens[i].text]:
		return i, true
	case tokens[i].text == "as":
		// Choice: "as soft as" compares, "as soon as" does not, and "as long as"
		// does after "twice" or "times".
		multiple := i >= 3 && (tokens[i-3].text == "twice" || tokens[i-3].text == "times")
		if i >= 2 && tokens[i-2].text == "as" && (multiple || !likeWords[tokens[i-1].text]) {
			return i - 2, true
		}
		return 0, false
	}
	for start = i - 1; start >= max(0, i-maxComparisonDistance) && !endsSentence(tokens[start]); start-- {
		if comparatives[tokens[start].text] {
			// "More than Excel" is no claim of rank.
			return start, start < i-1 || !slices.Contains([]string{"more", "less", "fewer", "mehr", "weniger", "plus", "moins", "mas", "menos", "piu", "meno", "mais"}, tokens[start].text)
		}
	}
	return 0, false
}

// isCapitalized reports whether a word starts with a capital, after an article
// with an apostrophe.
func (p *parsedText) isCapitalized(x token) bool {
	word := p.slice(x.start, x.end)
	if article, rest, ok := strings.Cut(strings.ReplaceAll(word, "’", "'"), "'"); ok && len(article) == 1 && rest != "" {
		word = rest
	}
	return unicode.IsUpper([]rune(word)[0])
}

// isTitleCase reports whether most words start with a capital.
func (p *parsedText) isTitleCase() bool {
	words, capitals := 0, 0
	for _, x := range p.tokens {
		if x.kind == wordToken && len(x.text) > 3 {
			words++
			if p.isCapitalized(x) {
				capitals++
			}
		}
	}
	return words > 2 && capitals*3 > words*2
}
