package creative_test

import (
	"testing"
)

// TestLanguageMismatch checks that the built-in composer rejects only prompts
// that it would have to translate.
func TestLanguageMismatch(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	const english, german = "Oat milk latte for students, 20% off until Sunday, free refills", "Hafermilch-Latte für Studierende, 20 % Rabatt bis Sonntag und kostenlose Lieferung"
	for _, tt := range []struct{ prompt, language, is string }{
		{english, "de", "en"},
		{english, "fr-CA", "en"},
		{english, "ja", "en"},
		{english, "pl", "en"},
		{"Oat milk latte for students, 20% off", "pl", "en"},
		{"Winter jackets, 25% off", "de", "en"},
		{"Leather wallets, buy one today", "sv", "en"},
		{german, "en", "de"},
		{german, "pt-BR", "de"},
		{"Clases de guitarra en Sevilla para niños, desde 18 € y sin matrícula", "it", "es"},
		{"京都の抹茶カフェ", "en", "ja"},
		{"кожаные кошельки", "de", "ru"},
	} {
		e := generate(c, map[string]any{"prompt": tt.prompt, "language": tt.language}).Fault("validation_failed")
		want(t, tt.prompt+" in "+tt.language, []any{"language", "language_mismatch", tt.is}, []any{e.Details[0].Field, e.Details[0].Code, e.Details[0].Meta["prompt_language"]})
	}
	for _, tt := range []struct{ prompt, language string }{
		{english, "en-GB"},
		{german, "de-AT"},
		// A name alone may be in any language.
		{"Tea", "de"},
		{"Handcrafted leather", "fr"},
		{"Ny kaffe for Oslo by, best i test", "nb"},
		{"Ręcznie robione skórzane portfele z Krakowa, 20% taniej do niedzieli", "pl"},
		{"Håndlavede punge til mænd, for at du kan rejse let, 20% billigere", "da"},
		{"Carteres de pell fetes a mà, per a homes i dones, amb un 20% de descompte", "ca"},
		{"шкіряні гаманці ручної роботи", "uk"},
		{"手工皮革钱包", "zh-Hant"},
		{"手作革財布", "ja"},
	} {
		if res := generate(c, map[string]any{"prompt": tt.prompt, "language": tt.language}); res.Err != nil {
			t.Errorf("%s: got %v", tt.prompt, res.Err)
		}
	}
}
