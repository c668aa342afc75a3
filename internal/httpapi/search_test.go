package httpapi_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// found is the data of a search.
type found struct {
	Results []struct {
		Type     string   `json:"type"`
		Title    string   `json:"title"`
		Subtitle string   `json:"subtitle"`
		Path     string   `json:"path"`
		ID       *string  `json:"id"`
		Status   *string  `json:"status"`
		Actions  []string `json:"actions"`
	} `json:"results"`
	More []string `json:"more"`
}

func look(c *fanfaretest.Client, text, more string) (f found) {
	c.Do("GET", "/v1/search?q="+url.QueryEscape(text)+more, nil).Want(200).Data(&f)
	return f
}

// kinds lists the types of the results.
func (f found) kinds() string {
	var list []string
	for _, r := range f.Results {
		list = append(list, r.Type)
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

func TestSearch(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c, other := w.Tenant(account.Growth), w.Tenant(account.Growth)
		id := create(c, `{"name":"Zebra winter","tags":["eu"],"channels":["search"]}`)
		create(other, `{"name":"Zebra of others"}`)
		c.Do("POST", "/v1/audiences", `{"name":"Zebra lovers"}`).Want(201)
		c.Do("POST", "/v1/creative", `{"name":"Zebra banner","type":"text","channels":["social"],"content":{"headline":"Zebra"}}`).Want(201)
		connection := c.Do("POST", "/v1/connections", `{"platform":"sandbox","name":"Zebra ads"}`).Want(201).ID()
		c.Do("POST", "/v1/campaigns/"+id+"/launch", nil).Want(200)

		got := look(c.Client, "ZÉBRA", "")
		if got.kinds() != "audience campaign connection creative" || len(got.Results) != 4 || len(got.More) != 0 {
			t.Errorf("got %+v", got)
		}
		first := look(c.Client, "zeb win", "").Results[0]
		if *first.ID != id || first.Title != "Zebra winter" || first.Subtitle != "search · eu" || *first.Status != "active" || first.Path != "/campaigns/"+id || !slices.Contains(first.Actions, "pause") {
			t.Errorf("got %+v", first)
		}
		if got := look(c.Client, connection, ""); len(got.Results) != 1 || *got.Results[0].ID != connection {
			t.Errorf("by id: got %+v", got)
		}
		if got := look(other.Client, connection, ""); len(got.Results) != 0 {
			t.Errorf("another workspace got %+v", got)
		}
		if got := look(other.Client, "zebra winter", ""); len(got.Results) != 0 {
			t.Errorf("another workspace got %+v", got)
		}
		if got := look(c.Client, "zebra", "&types=audience,doc&limit=1"); got.kinds() != "audience" || len(got.Results) != 1 {
			t.Errorf("audiences: got %+v", got)
		}
		var me struct {
			User struct {
				ID    string `json:"id"`
				Email string `json:"email"`
			} `json:"user"`
		}
		c.Do("GET", "/v1/me", nil).Want(200).Data(&me)
		if got := look(c.Client, me.User.Email, ""); got.kinds() != "member" || *got.Results[0].ID != me.User.ID {
			t.Errorf("members: got %+v", got)
		}
		if got := look(c.Client, "error codes", "&types=doc"); got.kinds() != "doc" || got.Results[0].ID != nil {
			t.Errorf("documentation: got %+v", got)
		}
		viewer := look(c.As(account.Viewer), "zebra", "")
		for _, r := range viewer.Results {
			if len(r.Actions) > 0 {
				t.Errorf("a viewer may %v", r.Actions)
			}
		}
		narrow := c.As(account.Owner, func(o *account.KeyOptions) { o.Scopes = account.Scopes{"audiences": "read"} })
		if got := look(narrow, "zebra", ""); got.kinds() != "audience" || len(got.Results[0].Actions) > 0 {
			t.Errorf("a narrowed key got %+v", got)
		}
		c.Do("DELETE", "/v1/campaigns/"+id, nil).Want(200)
		if got := look(c.Client, "zebra winter", ""); len(got.Results) != 0 {
			t.Errorf("archived: got %+v", got)
		}
		if got := look(c.Client, id, ""); fmt.Sprint(got.Results[0].Actions) != "[duplicate restore]" {
			t.Errorf("archived, by id: got %+v", got)
		}
	})
}

func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	for query, want := range map[string][]string{
		"?q=":                            {"q"},
		"?q=%20":                         {"q"},
		"?q=" + strings.Repeat("a", 201): {"q"},
		"?q=a&types=campaigns&limit=0":   {"limit", "types"},
		"?q=a&type=doc":                  {"type"},
	} {
		e := c.Do("GET", "/v1/search"+query, nil).WantError(400, "invalid_parameter")
		var fields []string
		for _, d := range e.Details {
			fields = append(fields, d.Field)
		}
		slices.Sort(fields)
		if !slices.Equal(fields, want) {
			t.Errorf("%s: got problems of %v want %v", query, fields, want)
		}
	}
}
