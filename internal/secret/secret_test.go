package secret_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"fanfare/internal/secret"
)

func TestTextStaysHidden(t *testing.T) {
	t.Parallel()
	const text = "sk-very-secret"
	hidden := secret.New(text)
	inside := struct {
		Key    secret.Text
		hidden secret.Text
	}{hidden, hidden}
	marshalled, err := json.Marshal(inside)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "key", hidden, "struct", inside)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "key", hidden, "struct", inside)
	shown := []string{string(marshalled), log.String(), hidden.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		shown = append(shown, fmt.Sprintf(verb, hidden), fmt.Sprintf(verb, inside), fmt.Sprintf(verb, &inside), fmt.Sprintf(verb, []secret.Text{hidden}))
	}
	for _, s := range shown {
		if strings.Contains(s, text) || strings.Contains(s, fmt.Sprintf("%x", text)) {
			t.Errorf("got %q, which shows the secret", s)
		}
	}
	if got := string(marshalled); got != `{"Key":"[sealed]"}` {
		t.Errorf("got %s want [sealed]", got)
	}
	if (secret.Text{}).Reveal() != "" || !(secret.Text{}).Empty() || hidden.Empty() || hidden.Reveal() != text {
		t.Error("a secret must give back its text, and an empty one nothing")
	}
}
