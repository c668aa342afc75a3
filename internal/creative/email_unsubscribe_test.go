package creative

import (
	"strings"
	"testing"

	"fanfare/internal/creative/policy"
)

// TestUnsubscribeInPortuguese wants the link that ends a subscription in the words of
// Portugal and of Brazil.
func TestUnsubscribeInPortuguese(t *testing.T) {
	t.Parallel()
	body := "Limpeza dental por R$ 120.\n\nClínica Viva\n{{postal_address}}\n{{unsubscribe_url}}"
	for language, want := range map[string]string{"pt": "Cancelar a subscrição", "pt-PT": "Cancelar a subscrição", "pt-BR": "Cancelar inscrição"} {
		c := withHTML(policy.Copy{Body: &body}, language)
		if c.HTML == nil || !strings.Contains(*c.HTML, ">"+want+"<") {
			t.Errorf("%s: got no %q in the HTML", language, want)
		}
	}
}
