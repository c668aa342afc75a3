package words

import "testing"

func TestShapeOf(t *testing.T) {
	for phrase, want := range map[string]Shape{
		"free returns": NounPhrase, "no lock-in contract": NounPhrase, "two tasting menus": NounPhrase, "30-day trial": NounPhrase,
		"over 200 recipes": NounPhrase, "personal coaching": NounPhrase, "live support": NounPhrase, "no experience needed": NounPhrase,
		"lifetime warranty": NounPhrase, "24/7 support": NounPhrase, "all equipment included": NounPhrase, "small groups": NounPhrase,
		"track every invoice in one place": Imperative, "save hours every week": Imperative, "learn to throw a pot": Imperative, "book a slot online": Imperative,
		"cuts food waste by half": Predicate, "folds in ten seconds": Predicate, "weighs 9.8 kg": Predicate, "keeps drinks hot for 12 hours": Predicate,
		"fits in a backpack": Predicate, "tracks every invoice": Predicate,
		"dishwasher safe": Attribute, "made in Portugal": Attribute, "handmade in Leeds": Attribute, "suitable for beginners": Attribute, "fully insured": Attribute, "waterproof": Attribute,
		"dogs are welcome": Clause, "we bring the gloves": Clause, "kids eat free": Clause, "every jar is poured by hand": Clause, "you only pay for what you use": Clause,
		"": Unknown, "tennis, golf and more": Unknown,
	} {
		if got := ShapeOf(phrase); got != want {
			t.Errorf("%q: got %q want %q", phrase, got, want)
		}
	}
}

func TestNumberOf(t *testing.T) {
	for phrase, want := range map[string]Number{
		"handmade mugs": Plural, "folding bike": One, "online accounting course": One, "Ledgerly": Name, "emergency plumbing": NoNumber,
		"Lumo 8 folding bike": NoNumber, "evening classes in Leeds": Plural, "Kiln & Co": Name, "women's running shoes": Plural, "Emergency Plumbing": NoNumber,
	} {
		if got := NumberOf(phrase); got != want {
			t.Errorf("%q: got %q want %q", phrase, got, want)
		}
	}
}

func TestLowerFirst(t *testing.T) {
	for phrase, want := range map[string]string{
		"Folds in ten seconds": "folds in ten seconds", "Ledgerly for teams": "Ledgerly for teams", "NHS discount": "NHS discount", "Black Friday deals": "Black Friday deals", "24/7 support": "24/7 support",
	} {
		if got := LowerFirst(phrase); got != want {
			t.Errorf("%q: got %q want %q", phrase, got, want)
		}
	}
}
