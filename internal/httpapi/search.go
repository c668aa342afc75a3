package httpapi

import (
	"context"
	"net/url"

	"fanfare/internal/search"
)

var searchText = filter{name: "q", longest: search.MaxText}

// search handles the search over records, members and the documentation. It
// waits for a turn like a list. Without a text, it finds nothing.
func (a *API) search(ctx context.Context, r *request) (response, error) {
	values, err := r.query("q", "types", "limit")
	if err != nil {
		return response{}, err
	}
	p := &params{values: values}
	q := search.Query{Limit: p.limit(), May: func(operation string) bool { return r.caller.Authorize(operation, r.from) == nil }}
	if text := p.filter(searchText, url.Values{}); text != nil {
		q.Text = text[0]
	}
	for _, name := range p.readSet("types", search.Types) {
		q.Types = append(q.Types, search.Type(name))
	}
	if err := p.err(); err != nil {
		return response{}, err
	}
	leave, err := a.lists.Take(ctx, r.caller.Workspace.ID, listWait)
	if err != nil {
		return response{}, err
	}
	defer leave()
	found, err := a.Search.Search(ctx, r.caller.Workspace.ID, q)
	if err != nil {
		return response{}, err
	}
	return encoded(found)
}
