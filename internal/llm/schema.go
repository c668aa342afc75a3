package llm

import (
	"fmt"
	"slices"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// writtenFields returns the fields of a channel that a model writes. The
// business name comes from the brand.
func writtenFields(channel string) []policy.Limit {
	return slices.DeleteFunc(policy.LimitsOf(channel), func(l policy.Limit) bool { return l.Field == "business_name" })
}

// listFields are the fields with several texts, even if a channel allows only
// one.
var listFields = []string{"headlines", "descriptions", "paths"}

// strictObject returns an object schema in the form that the strictest vendor
// accepts: every member required, no others.
func strictObject(members map[string]any) map[string]any {
	required := make([]string, 0, len(members))
	for name := range members {
		required = append(required, name)
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": members, "required": required, "additionalProperties": false}
}

func textSchema(description string) map[string]any {
	return map[string]any{"type": "string", "description": description}
}

// briefSchema returns the schema of an answer with so many variants. Lengths are only in
// the descriptions, because servers ignore, reject or miscount maxLength; they
// are checked afterwards.
func briefSchema(b *creative.Brief, variants int) map[string]any {
	channels := map[string]any{}
	for _, channel := range b.Channels {
		members := map[string]any{}
		for _, l := range writtenFields(channel) {
			one := textSchema(fmt.Sprintf("at most %d characters", l.Hard))
			if !slices.Contains(listFields, l.Field) {
				members[l.Field] = one
				continue
			}
			members[l.Field] = map[string]any{"type": "array", "items": one, "minItems": l.MinItems, "maxItems": l.MaxItems}
		}
		if len(members) > 0 {
			channels[channel] = strictObject(members)
		}
	}
	variant := strictObject(map[string]any{
		"angle":          textSchema("the idea in a few words"),
		"call_to_action": textSchema(fmt.Sprintf("at most %d characters", maxActionLength)),
		"copy":           strictObject(channels),
	})
	return strictObject(map[string]any{
		"language": textSchema("BCP 47 tag of the language that the copy is in"),
		"variants": map[string]any{"type": "array", "items": variant, "minItems": variants, "maxItems": variants},
	})
}

// shortenSchema returns the schema of the answer to a request for shorter
// texts.
func shortenSchema() map[string]any {
	return strictObject(map[string]any{"texts": map[string]any{
		"type":  "array",
		"items": strictObject(map[string]any{"id": map[string]any{"type": "integer"}, "text": textSchema("the shorter text")}),
	}})
}
