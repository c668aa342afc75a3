package audience

import "fanfare/internal/fact"

// IsCountry reports whether s is the code of a country, such as DE.
func IsCountry(s string) bool { return fact.IsCountry(s) }
