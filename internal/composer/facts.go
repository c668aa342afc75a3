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
	// forms are shorter ways to say product, the longest first.
	forms    []string
	kind     kind
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
	tone     string
	// families are what slots can choose from, found out once.
	families map[string][]int
}

// statement is a sentence of the brief, and which facts it repeats.
type statement struct {
	text string
	also mask
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
	clause                    // "deliver in 30 minutes": we do it
	remark                    // "dogs welcome": stands alone only
)

// benefit is one thing that speaks for the product.
type benefit struct {
	kind benefitKind
	// text is as said in the brief; of deeds, invitations and clauses the base
	// form.
	text string
}

// fragment is how a benefit stands alone.
func (b benefit) fragment() string {
	switch b.kind {
	case deed:
		verb, rest := cutWord(b.text)
		return thirdAll(verb, rest)
	case clause:
		return "we " + b.text
	case thing:
		return bare(b.text)
	default:
		return b.text
	}
}

// inSentence is a thing with the article it needs inside a sentence.
func (b benefit) inSentence() string {
	first := strings.ToLower(firstWord(b.text))
	if first == "same" && (strings.Contains(b.text, " every ") || strings.Contains(b.text, " each ")) {
		return "the " + b.text
	}
	if headOf(b.text) == "service" || !strings.Contains(b.text, " ") {
		return b.text
	}
	if determiners[first] || first == "no" || first == "up" || first[0] >= '0' && first[0] <= '9' && isPlural(headOf(b.text)) {
		return b.text
	}
	return newNoun(b.text).withA()
}

// conjugate fits a deed to its subject.
func (b benefit) conjugate(plural bool) string {
	verb, rest := cutWord(b.text)
	if plural {
		return strings.TrimSpace(manyBe(verb) + " " + rest)
	}
	return thirdAll(verb, rest)
}

// thirdAll puts a verb, and a second one after "and", into the third person.
func thirdAll(verb, rest string) string {
	if before, after, ok := strings.Cut(rest, " and "); ok {
		second, more := cutWord(after)
		if verbs[second] && !spoken[second+"s"] && more != "" {
			rest = before + " and " + third(second) + " " + more
		}
	}
	return strings.TrimSpace(third(verb) + " " + rest)
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

// subject is who does the deeds, and whether it is plural.
func (f *facts) subject() (text string, plural bool) {
	if f.name != "" && (f.ownName || f.self || f.product.text == "" || f.kind != goods && f.kind != food && f.kind != property && f.kind != event) {
		return f.name, false
	}
	if f.self {
		return "we", true
	}
	if f.product.text == "" {
		return "", false
	}
	if f.fresh {
		return "our new " + f.product.text, f.product.plural
	}
	return "our " + f.product.text, f.product.plural
}
