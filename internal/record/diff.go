package record

import (
	"cmp"
	"reflect"
	"strings"
)

// Diff returns the old values of all fields that differ, by JSON name. It
// compares every JSON field, including those of embedded structs, so that new
// fields need no registration. An empty list or map equals a missing one.
func Diff[T any](old, next *T) map[string]any {
	previous := map[string]any{}
	diffStruct(reflect.ValueOf(old).Elem(), reflect.ValueOf(next).Elem(), previous)
	return previous
}

func diffStruct(old, next reflect.Value, previous map[string]any) {
	for i := range old.NumField() {
		field := old.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch was, is := old.Field(i), next.Field(i); {
		case field.Anonymous && name == "":
			diffStruct(was, is, previous)
		case name == "-" || !field.IsExported():
		case !equalValues(was, is):
			previous[cmp.Or(name, field.Name)] = was.Interface()
		}
	}
}

func equalValues(a, b reflect.Value) bool {
	if k := a.Kind(); (k == reflect.Slice || k == reflect.Map) && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}
