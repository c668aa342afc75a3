package composer

import "strings"

// kind is what sort of thing is advertised. It decides which invitations make
// sense.
type kind string

const (
	goods    kind = "goods"
	food     kind = "food"
	software kind = "software"
	service  kind = "service"
	event    kind = "event"
	cause    kind = "cause"
	course   kind = "course"
	travel   kind = "travel"
	property kind = "property"
	media    kind = "media"
)

// facts are what the brief says. Copy is made of nothing else.
type facts struct {
	// name is what the thing is called, brand who offers it; often the same.
	name, brand string
	// ownName says that name is the product's own, so that it can be the
	// subject of what the product does.
	ownName bool
	// self says that the product is the advertiser: a bakery, a plumber.
	self    bool
	product noun
	// articled says that the brief has the product with an "a".
	articled bool
	// forms are shorter ways to say product, the longest first.
	forms []string
	kind  kind
	// guessed says that the kind is not known for sure.
	guessed  bool
	fresh    bool
	occasion string
	offers   []offer
	deadline deadline
	price    string
	audience string
	benefits []benefit
	proofs   []string
	place    string
	when     string
	where    string
	// says are whole sentences of the brief that can be used as they are.
	says []statement
	// pain is what the customer wants to be rid of.
	pain string
	// painFrom is the benefit that pain was read from, as a mask.
	painFrom mask
	cta      string
	// ask is the call to action in the brief's own words, where it has any.
	ask  string
	tone string
	// families are what slots can choose from, found out once.
	families map[string][]int
}

// statement is a sentence of the brief, which facts it repeats, and whether it
// speaks of "it", so that the thing must have been named before.
type statement struct {
	text  string
	also  mask
	needs bool
}

// offer is a reduction or a gift: "20% off", and as an invitation "get 20%
// off".
type offer struct {
	text, do string
	// noun is the offer as the object of a sentence, where it can be one.
	noun string
	// on says that a noun can follow: "20% off running shoes".
	on bool
}

// deadline is "until Sunday", and where it can be said so, "ends Sunday".
type deadline struct {
	adverb, ends string
}

// benefitKind is the grammar of a benefit.
type benefitKind int

const (
	thing  benefitKind = iota // "free returns"
	trait                     // "waterproof", "made in Portugal"
	deed                      // "saves time": the product does it
	invite                    // "track invoices": the customer does it
	remark                    // "dogs welcome": stands alone only
)

// benefit is one thing that speaks for the product.
type benefit struct {
	kind benefitKind
	// text is as said in the brief; of deeds and invitations the base form.
	text string
}

// fragment is how a benefit stands alone.
func (b benefit) fragment() string {
	switch b.kind {
	case deed:
		return b.conjugate(false)
	case thing:
		return bare(b.text)
	default:
		return b.text
	}
}

// inSentence is a thing with the article it needs inside a sentence, or
// nothing where that is not certain.
func (b benefit) inSentence() string {
	first, head := strings.ToLower(firstWord(b.text)), strings.ToLower(headOf(b.text))
	switch n := newNoun(b.text); {
	case determiners[first], first == "no", n.plural, n.mass:
		return b.text
	case countable[head] && first != "one":
		return n.withA()
	}
	return ""
}

// conjugate fits a deed to its subject.
func (b benefit) conjugate(plural bool) string {
	verb, rest := cutWord(b.text)
	return strings.TrimSpace(choose(plural, manyBe(verb), third(verb)) + " " + rest)
}

func cutWord(s string) (first, rest string) {
	first, rest, _ = strings.Cut(s, " ")
	return first, rest
}

// bare drops the article in front of a noun phrase.
func bare(s string) string {
	if first, rest := cutWord(s); rest != "" && (strings.EqualFold(first, "a") || strings.EqualFold(first, "an") || strings.EqualFold(first, "the") || strings.EqualFold(first, "our")) {
		return rest
	}
	return s
}

// of lists the benefits of some kinds.
func (f *facts) of(kinds ...benefitKind) []int {
	var list []int
	for i, b := range f.benefits {
		for _, k := range kinds {
			if b.kind == k {
				list = append(list, i)
			}
		}
	}
	return list
}

// persons do things and have no parts.
var persons = set("plumber electrician roofer painter gardener cleaner handyman mechanic locksmith lawyer solicitor accountant photographer tutor coach trainer therapist consultant broker sweep fitters movers builder builders nanny chef interpreter translator")

// lone reports a thing that is too near to the product to be a part of it.
func (f *facts) lone(i int) bool {
	text := f.benefits[i].text
	if persons[strings.ToLower(headOf(f.product.text))] {
		return true
	}
	return strings.HasPrefix(text, "no ") || f.benefits[i].inSentence() == "" || strings.EqualFold(headOf(text), headOf(f.product.text))
}

// subject is who does the deeds, and whether it is plural. The name of a shop
// is not that of its goods.
func (f *facts) subject() (text string, plural bool) {
	switch {
	case f.name != "" && (f.ownName || f.self || f.product.text == ""):
		return f.name, false
	case f.self:
		return "we", true
	case f.product.text == "":
		return "", false
	}
	return choose(f.fresh, "our new ", "our ") + f.product.text, f.product.plural
}
