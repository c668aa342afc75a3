// Package secret has the type of texts that must not be printed or logged.
package secret

import (
	"fmt"
	"log/slog"
)

// hidden is what a secret looks like wherever it is printed.
const hidden = "[sealed]"

// Text is a decrypted value. It prints, logs and marshals as [sealed]. The text
// is behind a pointer because fmt prints the values of unexported fields
// without calling methods. The zero Text is empty.
type Text struct{ text *string }

// New hides a text.
func New(text string) Text { return Text{&text} }

// Reveal returns the text. Every use of it is a place to look at twice.
func (t Text) Reveal() string {
	if t.text == nil {
		return ""
	}
	return *t.text
}

// Empty reports whether there is nothing to hide.
func (t Text) Empty() bool { return t.Reveal() == "" }

func (t Text) String() string { return hidden }

// Format hides the text from every verb.
func (t Text) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// LogValue hides the text from logs.
func (t Text) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the text from JSON and every other text form.
func (t Text) MarshalText() ([]byte, error) { return []byte(hidden), nil }
