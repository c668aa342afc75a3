package llm

import "fanfare/internal/creative"

// Internals for tests.
var (
	PlainText            = plainText
	DropForeignSentences = dropForeignSentences
	FindJSON             = findJSON
	SystemPrompt         = systemPrompt

	FitPicture = fitPicture
)

// MaxPixels is the largest picture that is decoded.
const MaxPixels = maxPixels

// OccupyScalingSlot blocks the scaling of pictures until release is called.
func OccupyScalingSlot() (release func()) {
	scalingSlot <- struct{}{}
	return func() { <-scalingSlot }
}

// RequestFor returns the request for a brief.
func RequestFor(b *creative.Brief) Request { return briefRequest(b) }
