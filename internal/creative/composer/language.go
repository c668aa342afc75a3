package composer

import "strings"

// english reports whether the templates can be used for a language tag.
func english(tag string) bool {
	tag = strings.ToLower(tag)
	return tag == "en" || strings.HasPrefix(tag, "en-") || strings.HasPrefix(tag, "en_")
}

// set makes a set of the words in a string.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		m[word] = true
	}
	return m
}
