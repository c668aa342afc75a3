package fanfare

import "embed"

// Guides are the guides for users of the API, as docs/guides/NAME.md, and the
// document for operators.
//
//go:embed docs/guides/*.md docs/OPERATING.md
var Guides embed.FS
