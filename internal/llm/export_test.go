package llm

import "fanfare/internal/creative"

// What the tests look at from inside.
var (
	PlainText            = plainText
	DropForeignSentences = dropForeignSentences
	DecodeFirstObject    = decodeFirstObject
	SystemPrompt         = systemPrompt

	FitPicture = fitPicture
)

// MaxPixels is the largest picture that is decoded.
const MaxPixels = maxPixels

// OccupyScalingSlot takes the place of pictures that are scaled.
func OccupyScalingSlot() (release func()) {
	scalingSlot <- struct{}{}
	return func() { <-scalingSlot }
}

// RequestFor is the request that a brief becomes.
func RequestFor(b *creative.Brief) Request { return briefRequest(b) }
