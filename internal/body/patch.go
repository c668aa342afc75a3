package body

import (
	"slices"
	"strings"

	"fanfare/internal/fault"
)

// Merge applies a patch to the writable members of the current record.
// Read-only members that repeat the current value are ignored, so that a client
// may send back a record as it read it.
func Merge(current []byte, patch Value, readOnly []string) (*Reader, error) {
	now, err := Parse(current)
	if err != nil {
		return nil, err
	}
	var changed []fault.Detail
	wanted := without(&patch, "", readOnly, func(path string, sent *Value) {
		is := &now
		for name := range strings.SplitSeq(path, ".") {
			if is = is.Get(name); is == nil {
				break
			}
		}
		if is == nil || !is.Equal(sent) {
			changed = append(changed, fault.Detail{Field: path, In: "body", Code: "read_only", Message: path + " is set by the service and cannot be written."})
		}
	})
	writable := without(&now, "", readOnly, func(string, *Value) {})
	merged := writable.Merge(wanted)
	merged.Cut = patch.Cut
	f := NewReader(&merged, true)
	f.Problems.Add(changed...)
	return f, nil
}

// without returns a copy of an object without the members at some paths, such
// as status or content.media. It calls left for each removed member.
func without(object *Value, at string, paths []string, left func(path string, v *Value)) Value {
	out := Value{Kind: KindObject}
	for _, m := range object.Members {
		path := at + m.Name
		inside := slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, path+".") })
		switch {
		case slices.Contains(paths, path):
			left(path, &m.Value)
			continue
		case inside && m.Value.Kind == KindObject:
			m.Value = without(&m.Value, path+".", paths, left)
		}
		out.Members = append(out.Members, m)
	}
	return out
}
