package llm

import "fanfare/internal/creative"

// What the tests look at from inside.
var (
	Plain    = plain
	KeepOwn  = keepOwn
	Document = document
	System   = system
)

// RequestFor is the request that a brief becomes.
func RequestFor(b *creative.Brief) Request { return request(b) }
