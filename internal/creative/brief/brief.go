// Package brief defines what a brief says: typed facts in the caller's own
// words. The parser finds them in a text, callers give them as fields, and the
// writer makes lines of them. Nothing else passes between the two.
package brief

import (
	"slices"
	"strings"
)

// Type is what a fact is about.
type Type string

// The types of facts. A brief has at most one fact of a single type.
const (
	// Product is what is advertised: a noun phrase or a name.
	Product Type = "product"
	// Brand is the name of the advertiser.
	Brand Type = "brand"
	// Offer is a discount, a gift or a trial.
	Offer Type = "offer"
	// Price has its unit and its preposition, if any: "from £14 a visit".
	Price         Type = "price"
	PreviousPrice Type = "previous_price"
	// Deadline is the date until when the offer counts or people must act.
	Deadline Type = "deadline"
	// When is the date and the time of an event or of a start.
	When     Type = "when"
	Place    Type = "place"
	Audience Type = "audience"
	Benefit  Type = "benefit"
	// Proof is a rating, a number, an award or a certificate.
	Proof        Type = "proof"
	CallToAction Type = "call_to_action"
	// Contact is a phone number, an email address or a web address.
	Contact Type = "contact"
	Code    Type = "code"
	// Occasion is a named sale or holiday.
	Occasion Type = "occasion"
	// Terms are conditions and small print.
	Terms Type = "terms"
	// Sentence is a whole sentence of the brief that may be repeated as it is.
	// Other facts can be parts of it.
	Sentence Type = "sentence"
)

// Types lists all types in their order of importance.
var Types = []Type{
	Product, Brand, Offer, Price, PreviousPrice, Deadline, When, Place, Audience, Proof, Benefit, CallToAction, Contact, Code, Occasion, Terms, Sentence,
}

// Repeated reports whether a brief may have several facts of the type.
func (t Type) Repeated() bool { return slices.Contains([]Type{Benefit, Proof, Terms, Sentence}, t) }

// Field returns the name of the field for facts of a type.
func (t Type) Field() string {
	if t == Benefit {
		return "benefits"
	}
	return string(t)
}

// Confidences of facts. Patterns are filled with facts of at least Sure.
const (
	// Given is a field of the brief.
	Given = 1.0
	// Labeled is the value of a known label.
	Labeled = 0.9
	// Cued is an amount or a date with a word that says what it is.
	Cued = 0.8
	// Sure is the least confidence for slots of patterns.
	Sure = 0.7
	// Guessed is found by the form of a sentence alone.
	Guessed = 0.6
	// Unlabeled is the value of an unknown label.
	Unlabeled = 0.5
)

// Fact is one fact in the words of the brief.
type Fact struct {
	Type Type `json:"type"`
	// Text is a part of the prompt, or the value of a field.
	Text string `json:"text"`
	// Start and End are positions in the prompt in characters, nil for a field.
	Start *int `json:"start"`
	End   *int `json:"end"`
	// Confidence is from 0 to 1.
	Confidence float64 `json:"confidence"`
	// Scope is what a deadline, a code or terms belong to: Offer, Price, or
	// CallToAction for a date by which people must act. It is empty if unknown.
	Scope Type `json:"-"`
}

// Kind is the kind of advertiser or ad.
type Kind string

// General is the kind of a brief whose kind is not known.
const General Kind = "general"

// Kinds lists the kinds that a caller can name.
var Kinds = []string{
	"product", "food", "service", "software", "course", "event", "travel", "property", "hiring", "appeal", "finance",
	"health", "beauty", "fitness", "fashion", "home", "auto", "pets", "kids", "media", "b2b",
}

// SureKind is the confidence from which the lines of a kind are used.
const SureKind = 0.8

// Understood is what was understood of a brief.
type Understood struct {
	// Language is a BCP 47 tag.
	Language string `json:"language"`
	// Arranged says that the built-in writer has no patterns of the language.
	Arranged bool `json:"arranged"`
	// Form is the form of the prompt: fields, prose, short, labels, bullets,
	// page or message.
	Form           string  `json:"form"`
	Kind           Kind    `json:"kind"`
	KindConfidence float64 `json:"kind_confidence"`
	Facts          []Fact  `json:"facts"`
	// IgnoredLines is the number of lines of the prompt that are not for ads:
	// navigation, legal text, testimonials, instructions.
	IgnoredLines int `json:"ignored_lines"`
	// Avoid are the words that the notes of the prompt forbid, MustInclude those that
	// they ask for.
	Avoid       []string `json:"avoid"`
	MustInclude []string `json:"must_include"`
	// Missing are the types of facts that would help most.
	Missing []Type `json:"missing"`
}

// IsEnough reports whether an ad can be made of the facts: the product is known,
// or a sentence says what it is about and another fact why. What is arranged
// needs one sentence.
func (u *Understood) IsEnough() bool {
	says, about := 0, false
	said := map[string]bool{}
	for _, f := range u.Facts {
		// A sentence that is a benefit says one thing.
		text := strings.TrimRight(f.Text, ".!")
		if said[text] && f.Type == Sentence {
			about = true
			continue
		}
		said[text] = true
		switch f.Type {
		case Product, Sentence:
			if f.Type == Product && f.Confidence >= Sure {
				return true
			}
			about = true
			says++
		case Offer, Price, Benefit, Proof, When, Audience, Occasion:
			says++
		case Brand, PreviousPrice, Deadline, Place, CallToAction, Contact, Code, Terms:
		}
	}
	return says >= 3 || about && says >= 2 || u.Arranged && says > 0
}

// First returns the first fact of a type with at least a confidence.
func (u *Understood) First(t Type, confidence float64) (Fact, bool) {
	for _, f := range u.Facts {
		if f.Type == t && f.Confidence >= confidence {
			return f, true
		}
	}
	return Fact{}, false
}

// All returns the facts of a type with at least a confidence.
func (u *Understood) All(t Type, confidence float64) (list []Fact) {
	for _, f := range u.Facts {
		if f.Type == t && f.Confidence >= confidence {
			list = append(list, f)
		}
	}
	return list
}

// Fields is a brief that the caller gives as fields.
type Fields struct {
	Product       *string  `json:"product"`
	Kind          *string  `json:"kind"`
	Offer         *string  `json:"offer"`
	Price         *string  `json:"price"`
	PreviousPrice *string  `json:"previous_price"`
	Deadline      *string  `json:"deadline"`
	When          *string  `json:"when"`
	Place         *string  `json:"place"`
	Audience      *string  `json:"audience"`
	Benefits      []string `json:"benefits"`
	Proof         []string `json:"proof"`
	CallToAction  *string  `json:"call_to_action"`
	Contact       *string  `json:"contact"`
	Code          *string  `json:"code"`
	Occasion      *string  `json:"occasion"`
	Terms         *string  `json:"terms"`
	MustInclude   []string `json:"must_include"`
	Avoid         []string `json:"avoid"`
}

// List returns the facts of the fields.
func (f *Fields) List() (list []Fact) {
	if f == nil {
		return nil
	}
	add := func(t Type, texts ...string) {
		for _, text := range texts {
			list = append(list, Fact{Type: t, Text: text, Confidence: Given})
		}
	}
	for _, one := range []struct {
		t    Type
		text *string
	}{
		{Product, f.Product}, {Offer, f.Offer}, {Price, f.Price}, {PreviousPrice, f.PreviousPrice}, {Deadline, f.Deadline},
		{When, f.When}, {Place, f.Place}, {Audience, f.Audience}, {CallToAction, f.CallToAction}, {Contact, f.Contact},
		{Code, f.Code}, {Occasion, f.Occasion}, {Terms, f.Terms},
	} {
		if one.text != nil && *one.text != "" {
			add(one.t, *one.text)
		}
	}
	add(Benefit, f.Benefits...)
	add(Proof, f.Proof...)
	return list
}

// Text returns the facts as lines, as a prompt would have them.
func (f *Fields) Text() string {
	var b strings.Builder
	for _, fact := range f.List() {
		b.WriteString(sentenceLabel(fact.Type) + ": " + fact.Text + "\n")
	}
	return strings.TrimSpace(b.String())
}

// Plain returns the facts without labels, as sentences.
func (f *Fields) Plain() string {
	var b strings.Builder
	for _, fact := range f.List() {
		b.WriteString(strings.TrimRight(fact.Text, ".") + ". ")
	}
	return strings.TrimSpace(b.String())
}

// sentenceLabel returns a type as people write it.
func sentenceLabel(t Type) string {
	words := strings.ReplaceAll(string(t), "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}
