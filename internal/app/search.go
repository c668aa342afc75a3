package app

import (
	"context"

	"fanfare/internal/account"
	"fanfare/internal/docs"
	"fanfare/internal/ident"
	"fanfare/internal/search"
)

// buildSearch creates the search over records, members and the documentation.
func (a *App) buildSearch(site *docs.Site) *search.Service {
	return search.New(a.DB.Index(), people{a.Accounts}, func() ([]search.Page, error) {
		entries, err := site.Entries()
		pages := make([]search.Page, len(entries))
		for i, e := range entries {
			pages[i] = search.Page(e)
		}
		return pages, err
	})
}

// people lists the active members of a workspace.
type people struct{ accounts *account.Service }

func (p people) People(ctx context.Context, workspace ident.ID) ([]search.Person, error) {
	members, err := p.accounts.Members(ctx, workspace)
	list := []search.Person{}
	for _, m := range members {
		if m.InactiveAt == nil {
			list = append(list, search.Person{ID: m.ID, Name: m.Name, Email: m.Email, Role: string(m.Role)})
		}
	}
	return list, err
}
