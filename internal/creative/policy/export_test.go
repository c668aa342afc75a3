package policy

import "slices"

// RuleIDs returns the id of every finding that the check can return.
func RuleIDs() []string {
	list := []string{"over_limit"}
	for _, r := range rules {
		list = append(list, r.id)
	}
	return list
}

// MissingWords returns the classes of the frames for all languages that have no
// words in a language.
func MissingWords() map[string][]string {
	words := map[string]map[string]bool{}
	for _, name := range lexiconFiles {
		words[name] = map[string]bool{}
		for _, line := range dataLines(readData("lexicon/" + name + ".txt")) {
			words[name][line[0]] = true
		}
	}
	missing, set := map[string][]string{}, grammar()
	for class, i := range set.lexicon.classes {
		for _, name := range lexiconFiles[:len(lexiconFiles)-1] {
			if set.isShared(i) && i >= len(builtInClasses) && class[0] != '(' && !words[name][class] && !words["any"][class] {
				missing[name] = append(missing[name], class)
			}
		}
	}
	return missing
}

// isShared reports whether a frame of all languages needs a word of the class.
func (set *frameSet) isShared(class int) bool {
	return slices.ContainsFunc(set.frames, func(f *frame) bool {
		return f.languages == allLanguages && slices.ContainsFunc(f.parts, func(part framePart) bool { return slices.Contains(part.classes, class) })
	})
}
