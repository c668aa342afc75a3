// Package fanfare holds what the binary carries of the project's own files.
package fanfare

import _ "embed"

// Changelog is what has changed, for users.
//
//go:embed CHANGELOG.md
var Changelog []byte
