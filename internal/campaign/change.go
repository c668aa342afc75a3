package campaign

import (
	"maps"
	"reflect"
	"slices"
)

// equal compares what two pointers point to.
func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// members compares two specs member by member, in the contract's order.
func members(a, b *Spec) []struct {
	name     string
	same     bool
	previous any
} {
	type member = struct {
		name     string
		same     bool
		previous any
	}
	return []member{
		{"name", a.Name == b.Name, a.Name},
		{"description", equal(a.Description, b.Description), a.Description},
		{"objective", equal(a.Objective, b.Objective), a.Objective},
		{"channels", slices.Equal(a.Channels, b.Channels), a.Channels},
		{"budget", reflect.DeepEqual(a.Budget, b.Budget), a.Budget},
		{"schedule", reflect.DeepEqual(a.Schedule, b.Schedule), a.Schedule},
		{"audience_ids", slices.Equal(a.AudienceIDs, b.AudienceIDs), a.AudienceIDs},
		{"excluded_audience_ids", slices.Equal(a.ExcludedAudienceIDs, b.ExcludedAudienceIDs), a.ExcludedAudienceIDs},
		{"creative_ids", slices.Equal(a.CreativeIDs, b.CreativeIDs), a.CreativeIDs},
		{"connection_ids", slices.Equal(a.ConnectionIDs, b.ConnectionIDs), a.ConnectionIDs},
		{"goal", equal(a.Goal, b.Goal), a.Goal},
		{"attribution", a.Attribution == b.Attribution, a.Attribution},
		{"tracking", reflect.DeepEqual(a.Tracking, b.Tracking), a.Tracking},
		{"experiment", reflect.DeepEqual(a.Experiment, b.Experiment), a.Experiment},
		{"tags", slices.Equal(a.Tags, b.Tags), a.Tags},
		{"metadata", maps.Equal(a.Metadata, b.Metadata), a.Metadata},
	}
}

// changed names the members that differ.
func changed(a, b *Spec) []string {
	var names []string
	for _, m := range members(a, b) {
		if !m.same {
			names = append(names, m.name)
		}
	}
	return names
}

// previous returns the old values of the members that differ.
func previous(a, b *Spec) map[string]any {
	old := map[string]any{}
	for _, m := range members(a, b) {
		if !m.same {
			old[m.name] = m.previous
		}
	}
	return old
}
