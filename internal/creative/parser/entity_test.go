package parser

import (
	"slices"
	"testing"

	"fanfare/internal/creative/brief"
)

// factsOf returns the texts of the facts of a type.
func factsOf(u *brief.Understood, t brief.Type) (list []string) {
	for _, f := range u.All(t, 0) {
		list = append(list, f.Text)
	}
	return list
}

// TestEntities reads the entities of a pasted page as the characters that they
// stand for.
func TestEntities(t *testing.T) {
	t.Parallel()
	u := Parse("Product: Salt &amp; pepper mill\nPrice: &pound;24&nbsp;each\nBenefits: ceramic grinder; caf&eacute; quality", "en", nil)
	for want, of := range map[string]brief.Type{"Salt & pepper mill": brief.Product, "£24\u00a0each": brief.Price, "café quality": brief.Benefit} {
		if got := factsOf(u, of); !slices.Contains(got, want) {
			t.Errorf("%s: got %q want %q", of, got, want)
		}
	}
}

// TestRequirementsAreTerms keeps what people must bring or pay as a condition.
func TestRequirementsAreTerms(t *testing.T) {
	t.Parallel()
	u := Parse("Evening pottery classes in Hull, £18 a session.\n- clay and firing included\n- apron needed\n- £10 deposit\n- small groups", "en", nil)
	for _, want := range []string{"apron needed", "£10 deposit"} {
		if got := factsOf(u, brief.Terms); !slices.Contains(got, want) {
			t.Errorf("got terms %q want %q", got, want)
		}
	}
}

// TestPeopleWanted takes the job that a message asks people for.
func TestPeopleWanted(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"We need 4 more night porters for the Leith hotel. £13.10 an hour, meals on shift.":                  "night porters",
		"Alder Nursery is after a qualified gardener, 30 hours a week. Pension and staff discount.":          "qualified gardener",
		"Volunteer readers needed!!\n- read with a child for one hour a week\n- training given\n- Gateshead": "Volunteer readers",
	} {
		u := Parse(prompt, "en", nil)
		if f, ok := u.First(brief.Product, brief.Sure); !ok || f.Text != want {
			t.Errorf("%s: got product %q want %q", prompt, f.Text, want)
		}
		if u.Kind != "hiring" && u.Kind != "appeal" || u.KindConfidence < brief.SureKind {
			t.Errorf("%s: got kind %s %.1f", prompt, u.Kind, u.KindConfidence)
		}
	}
}

// TestPriceOfSomethingElse keeps the line of a price whose subject is not the
// product.
func TestPriceOfSomethingElse(t *testing.T) {
	t.Parallel()
	u := Parse("Harbour Deli: summer hampers\n- picnic blankets from £30\n- open daily\n- collect in Whitby", "en", nil)
	if f, ok := u.First(brief.Price, brief.Sure); ok {
		t.Errorf("got the price %q of another thing", f.Text)
	}
	if got := factsOf(u, brief.Sentence); !slices.Contains(got, "picnic blankets from £30") {
		t.Errorf("got sentences %q without the line of the price", got)
	}
}
