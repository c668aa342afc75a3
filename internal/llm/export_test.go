package llm

import "fanfare/internal/creative"

// What the tests look at from inside.
var (
	Plain    = plain
	KeepOwn  = keepOwn
	Document = document
	System   = system

	FitPicture = fitPicture
)

// MaxPixels is the largest picture that is decoded.
const MaxPixels = maxPixels

// HoldScaling takes the place of pictures that are scaled.
func HoldScaling() (release func()) {
	scaling <- struct{}{}
	return func() { <-scaling }
}

// RequestFor is the request that a brief becomes.
func RequestFor(b *creative.Brief) Request { return request(b) }
