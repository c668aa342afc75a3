// Package nearest finds the word that a caller probably meant.
package nearest

import "strings"

// Word returns the candidate closest to s by edit distance, or "" when none is
// close enough to be a likely slip: a third of the length, at least one. Case
// does not count, and a word is close to its plural.
func Word(s string, candidates []string) string {
	s = strings.ToLower(s)
	best, least := "", max(1, len(s)/3)+1
	for _, c := range candidates {
		lower := strings.ToLower(c)
		if s != "" && (plural(s) == lower || plural(lower) == s) {
			return c
		}
		if d := distance(s, lower, least); d < least {
			best, least = c, d
		}
	}
	return best
}

func plural(word string) string {
	if stem, ok := strings.CutSuffix(word, "y"); ok {
		return stem + "ies"
	}
	return word + "s"
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbors between two words, giving up at most.
func distance(a, b string, most int) int {
	if len(a) > 64 || len(b) > 64 || max(len(a)-len(b), len(b)-len(a)) >= most {
		return most
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
