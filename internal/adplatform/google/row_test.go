package google

import "testing"

func TestCountries(t *testing.T) {
	t.Parallel()
	for criterion, want := range map[string]string{
		"2840": "US", "2276": "DE", "2826": "GB", "2250": "FR", "2124": "CA", "2528": "NL", "2752": "SE", "2036": "AU", "2724": "ES", "2392": "JP",
		"2004": "AF", "2894": "ZM", "2158": "TW", "2000": "", "2001": "", "1014221": "", "": "", "-": "", "840": "",
	} {
		if got := countryOf(criterion); got != want {
			t.Errorf("criterion %q: got %q want %q", criterion, got, want)
		}
	}
}
