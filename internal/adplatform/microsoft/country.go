package microsoft

import (
	"maps"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"fanfare/internal/fact"
)

// otherNames are names of countries that Unicode's English ones do not have.
var otherNames = map[string]string{
	"Hong Kong SAR": "HK", "Hong Kong": "HK", "Macao SAR": "MO", "Macau": "MO", "Turkey": "TR", "Türkiye": "TR", "Czech Republic": "CZ", "Korea": "KR", "Viet Nam": "VN",
	"Russian Federation": "RU", "United States of America": "US", "Bosnia and Herzegovina": "BA", "Myanmar": "MM", "Macedonia": "MK", "Swaziland": "SZ",
	"Trinidad and Tobago": "TT", "Antigua and Barbuda": "AG", "Saint Lucia": "LC", "Palestinian Authority": "PS", "Côte d'Ivoire": "CI",
}

// countryNames maps the English names of countries to their codes.
var countryNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	regions := display.English.Regions()
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string([]rune{a, b})
			if region, err := language.ParseRegion(code); err == nil && fact.IsCountry(code) {
				names[regions.Name(region)] = code
			}
		}
	}
	maps.Copy(names, otherNames)
	return names
})

// countryOf returns the code of a country, empty for an unknown one. Reports have
// the names of countries and no codes.
func countryOf(name string) string { return countryNames()[name] }
