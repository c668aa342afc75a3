// Package search finds records, members and documentation pages by words. It
// defines what a word is and how results are ranked; store.go declares the
// index that it needs. It uses no HTTP and no SQL.
package search

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"fanfare/internal/ident"
)

// Type is the type of a result.
type Type string

// The types, in the order in which equally good results are listed.
const (
	Campaign   Type = "campaign"
	Creative   Type = "creative"
	Audience   Type = "audience"
	Connection Type = "connection"
	Member     Type = "member"
	Doc        Type = "doc"
)

// Types lists all types.
var Types = []string{string(Campaign), string(Creative), string(Audience), string(Connection), string(Member), string(Doc)}

// MaxText is the greatest length of the text of a query.
const MaxText = 200

// Query is what a caller looks for.
type Query struct {
	Text string
	// Types are the types to search, none for all.
	Types []Type
	Limit int
	// May reports whether the caller may use an operation. Types that the
	// caller cannot read are not searched, and actions that the caller cannot
	// take are not offered.
	May func(operation string) bool
}

// Result is one result. ID is nil for a documentation page, Status for what has
// none. Path is the address of the page below that of the server.
type Result struct {
	Type     Type      `json:"type"`
	ID       *ident.ID `json:"id"`
	Title    string    `json:"title"`
	Subtitle string    `json:"subtitle"`
	Status   *string   `json:"status"`
	Path     string    `json:"path"`
	Actions  []string  `json:"actions"`

	// score is higher for a better result.
	score int
}

// Found is the answer to a query. More lists the types with further results.
type Found struct {
	Results []Result `json:"results"`
	More    []Type   `json:"more"`
}

// Service searches.
type Service struct {
	index   Index
	members Members
	pages   func() ([]page, error)
}

// New returns the service. pages returns the pages of the documentation. It is
// called with the first search of pages, because reading them all takes time.
func New(index Index, members Members, pages func() ([]Page, error)) *Service {
	return &Service{index: index, members: members, pages: sync.OnceValues(func() ([]page, error) {
		list, err := pages()
		if err != nil {
			return nil, err
		}
		read := make([]page, len(list))
		for i, p := range list {
			read[i] = newPage(p)
		}
		return read, nil
	})}
}

// readable is the operation that a caller must be allowed to use in order to
// find a type. Everybody may find the other types.
//
// Choice: members are found by everybody in the workspace, because the console
// shows the list of members to every role.
var readable = map[Type]string{Campaign: "listCampaigns", Creative: "listCreatives", Audience: "listAudiences", Connection: "listConnections"}

// Search returns the best results of all types.
func (s *Service) Search(ctx context.Context, workspace ident.ID, q Query) (Found, error) {
	words := Words(q.Text)
	if len(words) == 0 {
		return Found{Results: []Result{}, More: []Type{}}, nil
	}
	found := map[Type][]Result{}
	for _, name := range Types {
		kind := Type(name)
		operation, restricted := readable[kind]
		if !q.asks(kind) || restricted && !q.May(operation) {
			continue
		}
		list, err := s.find(ctx, workspace, kind, q, words)
		if err != nil {
			return Found{}, fmt.Errorf("search %s: %w", kind, err)
		}
		found[kind] = list
	}
	return merge(found, q.Limit), nil
}

func (q *Query) asks(kind Type) bool {
	return len(q.Types) == 0 || slices.Contains(q.Types, kind)
}

// find returns the results of one type, the best first, one more than the limit
// if there are more.
func (s *Service) find(ctx context.Context, workspace ident.ID, kind Type, q Query, words []string) ([]Result, error) {
	switch kind {
	case Member:
		return s.findMembers(ctx, workspace, words, q)
	case Doc:
		return s.findPages(words, q)
	}
	return s.findRecords(ctx, workspace, kind, words, q)
}
