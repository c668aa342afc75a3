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

// MissingWords returns the classes of the frames that have no words in a
// language.
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
			if set.isUsed(i) && i >= len(builtInClasses) && !words[name][class] && !words["any"][class] {
				missing[name] = append(missing[name], class)
			}
		}
	}
	return missing
}

// isUsed reports whether a frame needs a word of the class.
func (set *frameSet) isUsed(class int) bool {
	for _, list := range set.byRule {
		for _, f := range list {
			for _, part := range f.parts {
				if slices.Contains(part.classes, class) {
					return true
				}
			}
		}
	}
	return false
}
