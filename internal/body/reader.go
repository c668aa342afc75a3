// Package body reads the JSON objects of requests strictly. It reports all
// problems at once, each with the path of its member. The packages of the
// records define the rules and call this package.
package body

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fanfare/internal/fault"
	"fanfare/internal/nearest"
)

// Reader reads the members of one JSON object. It does not stop at a problem:
// it counts all and collects the first ones, each with the path of its member.
// Each read method marks its member as known; Done reports the others as
// unknown.
type Reader struct {
	Object   *Value
	path     string
	read     map[string]bool
	Problems *Problems
	// Patch is true if the object is the result of a merge patch, where null in
	// a map removes the key.
	Patch bool
}

// NewReader returns a Reader of an object. patch is true if the object is the
// result of a merge patch.
func NewReader(object *Value, patch bool) *Reader {
	f := &Reader{Object: object, read: map[string]bool{}, Problems: &Problems{cut: object.Cut}, Patch: patch}
	if object.Cut {
		f.Problems.Add(fault.Detail{
			In: "body", Code: "too_many_items", Message: fmt.Sprintf("A JSON object in the body has more than %d members. What follows them was not read.", maxMembers),
			Meta: fault.Meta{"maximum": maxMembers},
		})
	}
	return f
}

// At returns the path of a member. It shortens names, because the caller may
// have made them up.
func (f *Reader) At(name string) string {
	name = fault.Clip(name)
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

// Presence defines whether a member may be absent or null.
type Presence int

// The presences.
const (
	Required Presence = iota // must be there and not null
	Optional                 // may be absent, but not null
	Nullable                 // may be absent or null
)

// Take returns a member, nil if it is absent or null. It reports a problem if p
// does not allow that.
func (f *Reader) Take(name string, p Presence) *Value {
	f.read[name] = true
	v := f.Object.Get(name)
	switch {
	case v == nil && p == Required && f.Problems.cut:
		// The member may be in the part that was not read.
		return nil
	case v == nil && p == Required:
		f.Bad(f.At(name), "required", "is required.", nil)
		return nil
	case v == nil:
		return nil
	case v.Kind == KindNull && p != Nullable:
		f.Bad(f.At(name), "not_nullable", "cannot be null.", nil)
		return nil
	case v.Kind == KindNull:
		return nil
	}
	return v
}

// Skip marks a member as known without reading it.
func (f *Reader) Skip(name string) { f.read[name] = true }

// Typed returns a member of the wanted kind. It returns nil if the member is
// absent, null or of another kind.
func (f *Reader) Typed(name string, p Presence, kind func(*Value) bool, want string) *Value {
	v := f.Take(name, p)
	if v != nil && !kind(v) {
		f.Bad(f.At(name), "invalid_type", "must be "+want+".", fault.Meta{"expected": want})
		return nil
	}
	return v
}

// Nested returns a Reader of a member that is an object, nil if it is absent,
// null or not an object.
func (f *Reader) Nested(name string, p Presence) *Reader {
	v := f.Typed(name, p, func(v *Value) bool { return v.Kind == KindObject }, "an object")
	if v == nil {
		return nil
	}
	return &Reader{Object: v, path: f.At(name), read: map[string]bool{}, Problems: f.Problems, Patch: f.Patch}
}

// Done reports members that were not read as unknown. Members in readOnly are
// reported as read-only.
func (f *Reader) Done(readOnly ...string) {
	var known []string
	for _, m := range f.Object.Members {
		switch {
		case f.read[m.Name]:
		case f.Problems.full():
			f.Problems.more++
		case slices.Contains(readOnly, m.Name):
			f.Bad(f.At(m.Name), "read_only", "is set by the service and cannot be written.", nil)
		default:
			if known == nil {
				known = slices.Sorted(maps.Keys(f.read))
			}
			meta, hint := fault.Meta(nil), ""
			place := places[m.Name]
			outer, _, _ := strings.Cut(place, ".")
			switch near := nearest.Word(m.Name, known); {
			case near != "":
				meta, hint = fault.Meta{"did_you_mean": near}, " Did you mean "+near+"?"
			case f.read[outer]:
				meta, hint = fault.Meta{"did_you_mean": place}, " Use "+place+"."
			}
			f.Bad(f.At(m.Name), "unknown_field", "is not a known field."+hint, meta)
		}
	}
}

// Objects reads an array of objects.
func (f *Reader) Objects(name string, most int) []*Reader {
	v := f.Typed(name, Optional, func(v *Value) bool { return v.Kind == KindArray }, "an array")
	if v == nil {
		return nil
	}
	if len(v.Items) > most {
		f.Bad(f.At(name), "too_many_items", fmt.Sprintf("must have at most %d items; it has %d.", most, len(v.Items)), fault.Meta{"maximum": most, "actual": len(v.Items)})
		return nil
	}
	var list []*Reader
	for i := range v.Items {
		if o := f.Item(fmt.Sprintf("%s[%d]", f.At(name), i), &v.Items[i]); o != nil {
			list = append(list, o)
		}
	}
	return list
}

// Item returns a Reader of an object in an array, nil if v is not an object.
func (f *Reader) Item(path string, v *Value) *Reader {
	switch v.Kind {
	case KindObject:
		return &Reader{Object: v, path: path, read: map[string]bool{}, Problems: f.Problems, Patch: f.Patch}
	case KindNull:
		f.Bad(path, "not_nullable", "cannot be null.", nil)
	default:
		f.Bad(path, "invalid_type", "must be an object.", fault.Meta{"expected": "an object"})
	}
	return nil
}

// places maps members to their path, for callers who put them one level too
// high.
var places = map[string]string{
	"start_date": "date_range.start_date", "end_date": "date_range.end_date", "preset": "date_range.preset",
	"start_at": "schedule.start_at", "end_at": "schedule.end_at", "amount": "budget.amount", "currency": "budget.currency",
	"landing_url": "tracking.landing_url", "countries": "definition.countries",
}

// Set assigns v unless it is nil.
func Set[T any](to *T, v *T) {
	if v != nil {
		*to = *v
	}
}
