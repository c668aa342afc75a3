package policy

// RuleIDs returns the id of every finding that the check can return.
func RuleIDs() []string {
	list := []string{"over_limit"}
	for _, r := range rules {
		list = append(list, r.id)
	}
	return list
}
