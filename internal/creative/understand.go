package creative

import (
	"fmt"
	"strings"

	"fanfare/internal/body"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
	"fanfare/internal/creative/parser"
	"fanfare/internal/creative/policy"
	"fanfare/internal/fault"
)

// checkLanguage rejects a language that the built-in composer cannot use for
// the prompt. Language models translate.
func checkLanguage(r *Request) []fault.Detail {
	tag, differs := mismatch(r.Prompt, r.Brief, r.Language)
	if !differs || *r.Provider != BuiltIn {
		return nil
	}
	return []fault.Detail{{
		Field: "language", Code: "language_mismatch",
		Message: fmt.Sprintf("language is %s, but the prompt is in %s. The built-in composer does not translate. Leave language out, write the prompt in that language, or choose a provider that is a language model.", *r.Language, policy.LanguageName(tag)),
		Meta:    fault.Meta{"prompt_language": tag},
	}}
}

// mismatch returns the language of a brief if another one was asked for.
func mismatch(prompt string, fields *brief.Fields, language *string) (tag string, is bool) {
	if language == nil {
		return "", false
	}
	return policy.LanguageMismatch(plainSource(prompt, fields), *language)
}

// refuse returns an error if no platform accepts what the request asks for.
func refuse(r *Request) error {
	for _, part := range []struct{ field, text string }{{"prompt", r.Prompt}, {"brief", r.Brief.Text()}} {
		if reason, refused := policy.RefusePrompt(part.text); refused {
			return fault.New(fault.ContentRejected, reason, fault.Detail{Field: part.field, In: "body", Code: string(fault.ContentRejected), Message: reason})
		}
	}
	return nil
}

// Understand returns what the built-in composer understands of a brief.
func Understand(sent *body.Value) (*brief.Understood, error) {
	f := body.NewReader(sent, false)
	prompt, fields := readBrief(f)
	language := f.Language("language", body.Nullable)
	f.Done()
	if err := f.Err(); err != nil {
		return nil, err
	}
	return understand(prompt, deref(language), fields), nil
}

// understand returns the facts of a brief.
func understand(prompt, language string, fields *brief.Fields) *brief.Understood {
	u := parser.Parse(prompt, language, fields)
	u.Arranged = copybank.For(u.Language) == nil
	return u
}

// factExamples are fields of a brief as people fill them.
var factExamples = map[brief.Type]string{
	brief.Product: `"handmade mugs"`, brief.Offer: `"20% off until Sunday"`, brief.Price: `"from £14 a visit"`,
	brief.Benefit: `["dishwasher safe"]`, brief.Audience: `"busy parents"`, brief.Proof: `["4.8 stars from 2,100 reviews"]`,
}

// checkUnderstood rejects a brief with too few facts for the built-in composer.
// Language models read more into a text.
func checkUnderstood(r *Request) error {
	u := r.understood
	if *r.Provider != BuiltIn || u.IsEnough() {
		return nil
	}
	missing := u.Missing
	if len(missing) == 0 {
		missing = []brief.Type{brief.Product}
	}
	found := []string{}
	for _, f := range u.Facts {
		found = append(found, f.Text)
	}
	var details []fault.Detail
	for _, t := range missing {
		field := "brief." + t.Field()
		details = append(details, fault.Detail{
			Field: field, In: "body", Code: FailNotUnderstood,
			Message: "Too little of the brief was understood to write an ad. Add " + field + ", for example " + factExamples[t] + ".", Meta: fault.Meta{"understood": found},
		})
	}
	return fault.Invalid(details)
}

// sourceOf is everything that the caller said about what is advertised.
func sourceOf(prompt string, fields *brief.Fields) string {
	return strings.TrimSpace(prompt + "\n" + fields.Text())
}

// plainSource is sourceOf without the names of fields.
func plainSource(prompt string, fields *brief.Fields) string {
	return strings.TrimSpace(prompt + "\n" + fields.Plain())
}
