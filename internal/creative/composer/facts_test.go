package composer_test

import (
	"context"
	"strings"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/creative/composer"
	"fanfare/internal/creative/policy"
)

// written is all copy of a brief on some channels, checked by the policy.
func written(t *testing.T, prompt string, channels ...string) (all string, drafts []creative.Draft) {
	t.Helper()
	b := &creative.Brief{Prompt: prompt, Channels: channels, Variants: 3, Seed: 1}
	result, err := composer.New().Write(context.Background(), b)
	if err != nil {
		t.Fatalf("%s: got %v", prompt, err)
	}
	b.Language = result.Language
	var out strings.Builder
	for _, d := range result.Drafts {
		if p := policy.Review(b.Source(), channels, d.ByChannel); p.Status == policy.Block {
			t.Errorf("%s: got blocked: %+v", prompt, p.Findings)
		}
		for _, channel := range channels {
			out.WriteString(strings.Join(texts(channel, d.ByChannel[channel]), "\n") + "\n")
		}
	}
	return out.String(), result.Drafts
}

// TestFactsStayWhole wants what a reader relies on to be said in full.
func TestFactsStayWhole(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ prompt, has, never string }{
		{"Solaranlage mit Speicher. Ab 9.900 € inklusive Speicher. Montage in zwei Tagen.", "Ab 9.900 € inklusive Speicher", "9.900 inklusive"},
		{"Atelier de cuisine à Lyon, 59 € par personne, tablier offert.", "59 € par personne", "59 par"},
		{"Garden chairs, 299 € until 3 May, free delivery.", "299 €", "299 until"},
		{"温泉旅館。1泊18,000円から。露天風呂、朝食付き。", "18,000円", "1泊18\n"},
		{"Gartenmöbel aus Eiche. Aktion bis 30. Juni. Lieferung frei Haus.", "Aktion bis 30. Juni", "bis 30\n"},
		{"C++ evening course for beginners, 12 weeks, small groups.", "C++ evening course", "C+ "},
		{"Washing machines with energy label A+++, quiet and small.", "A+++", "A+,"},
		{"Our repair shop in Bath fixes bikes while you wait: 1 May – 15 October in the old town hall; Loved by families; Starts 1 May – 15 October, limited seats", "1 May – 15 October", "\noctober\n"},
		{"Course for engineers. Use code TULIP at checkout to save $20.", "TULIP", "Tulip"},
	} {
		all, _ := written(t, tt.prompt, "social", "email", "search")
		if !strings.Contains(all, tt.has) || strings.Contains(all, tt.never) {
			t.Errorf("%s: got\n%s\nwant %q and not %q", tt.prompt, all, tt.has, tt.never)
		}
	}
}

// TestPhoneNumber wants a brief with a phone number to become ads, with the
// number in running text only and the call to action to match.
func TestPhoneNumber(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{
		"Emergency plumber in Bristol, no call-out fee, same-day repairs. Ring 0117 496 0000, day or night.",
		"Klempner in Freiburg, Notdienst auch am Wochenende, keine Anfahrtskosten. Tel. 0761 555 01 42.",
	} {
		phone := "0117 496 0000"
		if !strings.Contains(prompt, phone) {
			phone = "0761 555 01 42"
		}
		all, drafts := written(t, prompt, "search", "social", "email", "display")
		if !strings.Contains(all, phone) {
			t.Errorf("%s: got no phone number", prompt)
		}
		for _, d := range drafts {
			if d.CallToAction != "call_now" {
				t.Errorf("%s: got %s want call_now", prompt, d.CallToAction)
			}
			c := d.ByChannel["social"]
			if heads := strings.Join(append(texts("search", d.ByChannel["search"]), append(c.Headlines, *d.ByChannel["email"].Subject)...), "\n"); strings.Contains(heads, phone) {
				t.Errorf("%s: got the phone number in %s", prompt, heads)
			}
		}
	}
}
