package analytics

import "errors"

// Faults of a plan that only those find who run it.
var (
	ErrTooMany  = errors.New("the result has more groups than it may have")
	ErrTooLarge = errors.New("a sum is too large to be exact")
)
