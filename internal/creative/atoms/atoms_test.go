package atoms

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAtoms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"Ab 9.900 € inklusive Speicher", []string{"9.900 €"}},
		{"299 € until 3 May, 59 € par personne", []string{"299 €", "3 May", "59 €"}},
		{"1泊18,000円から", []string{"1", "18,000円"}},
		{"18,000원부터, 日曜日まで20%オフ", []string{"18,000원", "20%"}},
		{"Aktion bis 30. Juni, am 3. März, am 24. Dez. und 1. bis 31. Oktober 2027", []string{"30. Juni", "3. März", "24. Dez.", "1. bis 31. Oktober 2027"}},
		{"bis 28.2. verlängert, Version 4.5. Neu", []string{"28.2.", "4.5"}},
		{"du 3 au 16 février, le 1er mars, 12 de diciembre de 2027, 1° giugno, 15 aprile", []string{"3 au 16 février", "1er mars", "12 de diciembre de 2027", "1° giugno", "15 aprile"}},
		{"Sept. 7, Oct 5, 2027, May 1 – Oct 15, 4/15/2027, 31.12.2027", []string{"Sept. 7", "Oct 5, 2027", "May 1 – Oct 15", "4/15/2027", "31.12.2027"}},
		{"Energy label A+++, C++, C#, F# and .NET, R&D", []string{"A+++", "C++", "C#", "F#", ".NET", "R&D"}},
		{"-20 % pour tous, 7.5 percent, 10–15 %, 5 por ciento", []string{"-20 %", "7.5 percent", "10–15 %", "5 por ciento"}},
		{"CHF 1'290.–, US$ 49, A$6, R$ 2.199,90, 1 990 €, 45–60 €, $10k, 1,5 Mio. €", []string{"CHF 1'290.–", "US$ 49", "A$6", "R$ 2.199,90", "1 990 €", "45–60 €", "$10k", "1,5 Mio. €"}},
		{"35 quid, 45p a mile, R 11,450 per person, R2 and 1080p", []string{"35 quid", "45p", "R 11,450", "R2", "1080p"}},
		{"20 €5 vouchers", []string{"20", "€5"}},
		{"code SHARP-9 or HELLO15", []string{"SHARP-9", "HELLO15"}},
		{"24/7, 3,200+ firms, 8:00–19:00, ~20 min, 7-day, 10x, 11 a.m.", []string{"24/7", "3,200+", "8:00–19:00", "~20", "7", "10x", "11 a.m."}},
		{"0117 496 0000, (512) 555-0188, +33 5 56 55 01 10, 600 555 014", []string{"0117 496 0000", "(512) 555-0188", "+33 5 56 55 01 10", "600 555 014"}},
		{"No facts at all. Nothing, really", nil},
	} {
		var got []string
		for _, a := range Find(tt.text) {
			got = append(got, tt.text[a.Start:a.End])
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: got + want -\n%s", tt.text, diff)
		}
	}
}

func TestPhones(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0117 496 0000", "+44 20 7946 0123", "(512) 555-0188", "512-555-0188", "02 40 55 01 23", "03.80.55.01.77", "040/555 0133", "0800 5550123", "600 555 014", "91 555 01 42", "+55 11 95555-0142"} {
		if found := Find(text); len(found) != 1 || found[0].Kind != Phone || found[0].End != len(text) {
			t.Errorf("%s: got %+v want a phone number", text, found)
		}
	}
	for _, text := range []string{"10.000.000", "12 345 678", "15.10.2027", "01/09 – 31/12", "2026-11-16", "1 250 000 €", "$1,250,000", "18:30–20:00", "2027/2028"} {
		if slices.ContainsFunc(Find(text), func(a Atom) bool { return a.Kind == Phone }) {
			t.Errorf("%s: got a phone number", text)
		}
	}
}
