package linkedin_test

import (
	"fmt"
	"testing"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// TestConversionChoice checks that conversions are those of all rules unless
// some are chosen, and that the chosen ones of all rules add up to all.
func TestConversionChoice(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 3)
	entities := w.entities(t)
	first, second := w.account.ID+"1", "urn:lla:llaPartnerConversion:"+w.account.ID+"2"
	read := func(level connection.Level, rules ...string) fact.Values {
		today := w.server.Today(w.account)
		sums := fact.Values{}
		q := connection.Report{Account: w.account.ID, Level: level, First: today - 29, Last: today, Entities: entities, Conversions: rules}
		err := w.client.Report(t.Context(), w.access, q, func(rows []fact.Row) error {
			for _, r := range rows {
				for m := range fact.Measure(fact.NumMeasures) {
					if n, known := r.Values.Get(m); known {
						sums.Set(m, sums.V[m]+n)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return sums
	}
	for _, level := range []connection.Level{connection.LevelAccount, connection.LevelCampaign, connection.LevelAd} {
		all, one, other, both, none := read(level), read(level, first), read(level, second), read(level, first, second), read(level, "9")
		for _, m := range []fact.Measure{fact.Conversions, fact.Revenue} {
			if n, known := none.Get(m); one.V[m] == 0 || one.V[m]+other.V[m] != all.V[m] || both.V[m] != all.V[m] || n != 0 || !known {
				t.Errorf("level %d, %s: got %d and %d, both %d, none %d want %d in all", level, m, one.V[m], other.V[m], both.V[m], n, all.V[m])
			}
		}
		compareSums(t, fmt.Sprint("level ", level), one, all)
	}
	compareSums(t, "all", read(connection.LevelCampaign), w.truth(30))
	if days := w.client.About().DeepDays; days < 90 {
		t.Errorf("got %d days that are read again want those of the longest window", days)
	}
	countries := read(connection.LevelGeo, first)
	if _, known := countries.Get(fact.Conversions); known {
		t.Error("got conversions of countries, which cannot be chosen, want none")
	}
}
