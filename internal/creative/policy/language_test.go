package policy_test

import (
	"testing"

	"fanfare/internal/creative/policy"
)

func TestDetectLanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"handmade leather wallets": "en", "Write ads for our new latte": "en", "": "en",
		"Schreibe eine Anzeige für handgemachte Bretter aus Eiche": "de", "Écris une annonce pour notre nouvelle boulangerie à Lyon": "fr",
		"Clases de español para profesionales, primera clase gratis": "es", "Scrivi un annuncio per il nostro ristorante con gli amici": "it",
		"Crie um anúncio para o nosso café em Lisboa": "pt", "Schrijf een advertentie voor onze nieuwe fietsen": "nl", "Sommerfest am 12. Juli in Köln": "de",
		"京都の抹茶カフェ": "ja", "手工皮革钱包": "zh", "수제 가죽 지갑": "ko", "عطور عربية": "ar", "ελαιόλαδο από την Κρήτη": "el", "кожаные кошельки": "ru",
	} {
		if got := policy.DetectLanguage(text); got != want {
			t.Errorf("%q: got %s want %s", text, got, want)
		}
	}
}
