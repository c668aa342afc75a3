package parser

import (
	"testing"

	"fanfare/internal/creative/brief"
)

func TestLanguageOfShortTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Yoga classes in Vienna":                       "en",
		"Vintage denim pop-up, Saturday, Shoreditch":   "en",
		"emergency plumber Bristol":                    "en",
		"20% off all wetsuits":                         "en",
		"sourdough bakery open Sundays":                "en",
		"Yoga-Kurs in Wien":                            "de",
		"Sommerfest am 12. Juli in Köln":               "de",
		"Reifenwechsel 29 € ohne Termin":               "de",
		"handgemachte Seife aus Leipzig":               "de",
		"Schlüsseldienst Hamburg Tag und Nacht":        "de",
		"Cours de yoga à Lyon":                         "fr",
		"boulangerie artisanale à Nantes":              "fr",
		"dépannage chauffage le week-end":              "fr",
		"vélos d'occasion révisés":                     "fr",
		"Curso de yoga en Valencia":                    "es",
		"fontanero urgente Zaragoza":                   "es",
		"clases de guitarra para niños":                "es",
		"zapatos de cuero hechos a mano":               "es",
		"Corso di yoga a Torino":                       "it",
		"taglio e piega 25 euro mercoledì Monza":       "it",
		"borse in pelle fatte a mano":                  "it",
		"pizza al taglio vicino alla stazione":         "it",
		"Curso de yoga em Lisboa":                      "pt",
		"aulas de surf para iniciantes":                "pt",
		"pão caseiro com entrega grátis":               "pt",
		"sapatos de couro feitos à mão":                "pt",
		"Wij zoeken een vrijwilliger voor de bakkerij": "nl",
		"横浜の歯医者":                                       "ja",
	} {
		if u := Parse(text, "", nil); u.Language != want {
			t.Errorf("%q: got %s want %s", text, u.Language, want)
		}
	}
	product := "Fahrradhelme für Kinder"
	if u := Parse("", "", &brief.Fields{Product: &product}); u.Language != "de" || u.Form != formFields {
		t.Errorf("fields: got %s as %s want de as fields", u.Language, u.Form)
	}
}
