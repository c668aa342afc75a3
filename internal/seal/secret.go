package seal

import (
	"fmt"
	"log/slog"
)

// hidden is what a secret looks like wherever it is printed.
const hidden = "[sealed]"

// Secret is a decrypted value on its way to where it is needed. It prints,
// logs and marshals as [sealed]. The text is behind a pointer because fmt
// prints the inside of unexported fields without asking for methods. The zero
// Secret is empty.
type Secret struct{ text *string }

// NewSecret hides a text.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal returns the text. Every use of it is a place to look at twice.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Empty reports whether there is nothing to hide.
func (s Secret) Empty() bool { return s.Reveal() == "" }

func (s Secret) String() string { return hidden }

// Format hides the text from every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// LogValue hides the text from logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the text from JSON and every other text form.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
