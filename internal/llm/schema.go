package llm

import (
	"fmt"
	"slices"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// fields are the fields of a channel that a model writes. The business name is
// a fact and comes from the brand.
func fields(channel string) []policy.Limit {
	return slices.DeleteFunc(policy.LimitsOf(channel), func(l policy.Limit) bool { return l.Field == "business_name" })
}

// lists are the fields that hold several texts, even where a channel takes one.
var lists = []string{"headlines", "descriptions", "paths"}

// object is a schema in the form that the strictest platform takes: every
// member required, no others.
func object(members map[string]any) map[string]any {
	required := make([]string, 0, len(members))
	for name := range members {
		required = append(required, name)
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": members, "required": required, "additionalProperties": false}
}

func text(description string) map[string]any {
	return map[string]any{"type": "string", "description": description}
}

// schema is the answer to a brief. Lengths are in it as words only: servers
// ignore, refuse or miscount maxLength, so that they are checked afterwards.
func schema(b *creative.Brief) map[string]any {
	channels := map[string]any{}
	for _, channel := range b.Channels {
		members := map[string]any{}
		for _, l := range fields(channel) {
			one := text(fmt.Sprintf("at most %d characters", l.Hard))
			if !slices.Contains(lists, l.Field) {
				members[l.Field] = one
				continue
			}
			members[l.Field] = map[string]any{"type": "array", "items": one, "minItems": l.MinItems, "maxItems": l.MaxItems}
		}
		if len(members) > 0 {
			channels[channel] = object(members)
		}
	}
	variant := object(map[string]any{
		"angle":          text("the idea in a few words"),
		"call_to_action": text(fmt.Sprintf("at most %d characters", longestAction)),
		"copy":           object(channels),
	})
	return object(map[string]any{
		"language": text("BCP 47 tag of the language that the copy is in"),
		"variants": map[string]any{"type": "array", "items": variant, "minItems": b.Variants, "maxItems": b.Variants},
	})
}

// shorterSchema is the answer to a request for shorter texts.
func shorterSchema() map[string]any {
	return object(map[string]any{"texts": map[string]any{
		"type":  "array",
		"items": object(map[string]any{"id": map[string]any{"type": "integer"}, "text": text("the shorter text")}),
	}})
}
