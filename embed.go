// Package fanfare embeds the files of the repository that the binary needs.
package fanfare

import "embed"

// Changelog lists the changes of each version, for users.
//
//go:embed CHANGELOG.md
var Changelog []byte

// Guides are the guides for users of the API, as docs/guides/NAME.md, and the
// document for operators.
//
//go:embed docs/guides/*.md docs/OPERATING.md
var Guides embed.FS
