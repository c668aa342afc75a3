package creative

import (
	"context"
	"errors"
	"strings"

	"fanfare/internal/creative/policy"
	"fanfare/internal/record"
)

// What follows if a model cannot write or draw: FallbackComposer has the
// built-in composer and renderer do it, FallbackNone lets the generation fail.
//
// Choice: without a word in the request or in the setup of the model, the
// composer writes, because an ad from the facts of the brief is of more use than
// an error. The result says who wrote it and why, so that it is no surprise.
const (
	FallbackComposer = "composer"
	FallbackNone     = "none"
)

// Fallbacks lists them.
var Fallbacks = []string{FallbackComposer, FallbackNone}

// Replaced says what the built-in composer or renderer did in place of a model,
// and why.
type Replaced struct {
	// Provider is the one that failed, Part what it did not make: text or
	// pictures.
	Provider string `json:"provider"`
	Part     string `json:"part"`
	Code     string `json:"code"`
	Message  string `json:"message"`
}

// The parts of a generation.
const (
	partText     = "text"
	partPictures = "pictures"
)

// providerFailures are the failures that the built-in composer does not have.
var providerFailures = map[string]bool{
	FailTimeout: true, FailProvider: true, FailThrottled: true, FailCredentials: true, FailRefused: true, FailAnswer: true,
	FailPolicy: true, FailBudget: true,
}

// replacement returns what replaces a part of the generation after an error, nil
// if the error stands.
func (c *Creative) replacement(work OpenProvider, part string, err error) *Replaced {
	g := c.Generation
	f, failed := errors.AsType[*FailureError](err)
	if !failed || !providerFailures[f.Code] || g.Provider == BuiltIn {
		return nil
	}
	setting := FallbackComposer
	if work.NoFallback {
		setting = FallbackNone
	}
	if own := g.Parameters.Fallback; own != nil {
		setting = *own
	}
	if setting == FallbackNone {
		return nil
	}
	return &Replaced{Provider: g.Provider, Part: part, Code: f.Code, Message: f.Message}
}

// composeInstead has the built-in composer write what a model could not. If it
// cannot either, the failure of the model stands, with the reason of the
// composer.
func (s *Service) composeInstead(ctx context.Context, cause record.Cause, c *Creative, failed *outcome, why *Replaced) (*outcome, error) {
	g := c.Generation
	var o *outcome
	if tag, differs := mismatch(g.Prompt, g.Brief, g.Parameters.Language); differs {
		o = failedOutcome(Fail(FailNotUnderstood, false, "It does not translate from %s.", policy.LanguageName(tag)))
	} else {
		work, err := s.Providers.Open(ctx, c.WorkspaceID, BuiltIn)
		if err != nil {
			return nil, err
		}
		if o, err = s.generateVariants(ctx, cause, c, work); err != nil {
			return nil, err
		}
	}
	if f := o.failure; f != nil {
		failed.failure = Fail(why.Code, failed.failure.Retryable, "%s The built-in composer could not write it either: %s", endSentence(why.Message), f.Message).Because(failed.failure)
		return failed, nil
	}
	o.usage.Add(failed.usage)
	o.replaced = why
	return o, nil
}

// endSentence returns a message with a full stop.
func endSentence(message string) string { return strings.TrimRight(message, ". ") + "." }
