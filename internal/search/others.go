package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"fanfare/internal/ident"
)

// findMembers returns members by name and email address.
func (s *Service) findMembers(ctx context.Context, workspace ident.ID, words []string, q Query) ([]Result, error) {
	people, err := s.members.People(ctx, workspace)
	if err != nil {
		return nil, err
	}
	var list []Result
	for _, p := range people {
		if !startsWith(Words(p.Name, p.Email), words) {
			continue
		}
		title, subtitle := p.Name, p.Email
		if title == "" {
			title, subtitle = p.Email, ""
		}
		role := p.Role
		list = append(list, Result{
			Type: Member, ID: &p.ID, Title: title, Subtitle: subtitle, Status: &role, Path: "/settings/members", Actions: []string{},
			score: max(score(split(p.Name), words), score(split(p.Email), words)),
		})
	}
	return best(list, q.Limit), nil
}

// findPages returns pages of the documentation.
func (s *Service) findPages(words []string, q Query) ([]Result, error) {
	pages, err := s.pages()
	if err != nil {
		return nil, err
	}
	var list []Result
	for _, p := range pages {
		if !p.has(words) {
			continue
		}
		r := Result{Type: Doc, Title: p.Title, Subtitle: p.Section, Path: p.Path, Actions: []string{}, score: score(p.title, words) - scoreDoc}
		list = append(list, r)
	}
	return best(list, q.Limit), nil
}

// newPage returns a page with its words.
func newPage(p Page) page {
	words := split(p.Title + " " + p.Section + " " + p.Text)
	slices.Sort(words)
	return page{Page: p, title: split(p.Title), words: slices.Compact(words)}
}

// has reports whether each of the words is the beginning of a word of the page.
func (p *page) has(words []string) bool {
	for _, word := range words {
		i, _ := slices.BinarySearch(p.words, word)
		if i == len(p.words) || !strings.HasPrefix(p.words[i], word) {
			return false
		}
	}
	return true
}

// best returns the best results, one more than the limit if there are more.
func best(list []Result, limit int) []Result {
	slices.SortStableFunc(list, func(a, b Result) int { return cmp.Compare(b.score, a.score) })
	return list[:min(limit+1, len(list))]
}
