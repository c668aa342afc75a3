package httpapi_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// names returns the names of the campaigns that a query returns.
func names(c *fanfaretest.Client, query string) []string {
	list := []string{}
	for _, rec := range c.Do("GET", "/v1/campaigns"+query, nil).Want(200).List().Data {
		list = append(list, rec["name"].(string))
	}
	return list
}

// three creates the campaigns One, Two and Three, a minute apart.
func three(c *fanfaretest.Tenant) {
	for _, name := range []string{"One", "Two", "Three"} {
		create(c, map[string]any{"name": name})
		c.Service.Clock.Advance(time.Minute)
	}
}

func TestL1LimitDefaultsTo20(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	for i := range 21 {
		create(c, map[string]any{"name": fmt.Sprint(i)})
	}
	for query, want := range map[string]int{"": 20, "?limit=1": 1, "?limit=20": 20, "?limit=100": 21, "?limit=021": 21} {
		if got := len(names(c.Client, query)); got != want {
			t.Errorf("%q: got %d items want %d", query, got, want)
		}
	}
	for query, code := range map[string]string{
		"limit=0": "out_of_range", "limit=101": "out_of_range", "limit=-1": "invalid_type", "limit=1e2": "invalid_type", "limit=%2B5": "invalid_type",
		"limit=+5": "invalid_type", "limit=": "invalid_type", "limit": "invalid_type", "limit=99999999999999999999": "out_of_range",
	} {
		e := c.Do("GET", "/v1/campaigns?"+query, nil).WantError(400, "invalid_parameter")
		if e.Details[0].Code != code || e.Details[0].Field != "limit" {
			t.Errorf("%q: got %s want %s", query, e.Details[0].Code, code)
		}
	}
}

func TestL4CursorsAreOpaqueAndBound(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil, ample)
	mine, theirs := w.Tenant(account.Growth), w.Tenant(account.Growth)
	three(mine)
	three(theirs)
	cursor := func(c *fanfaretest.Tenant, target string) string {
		list := c.Do("GET", target, nil).Want(200).List()
		if list.NextCursor == nil {
			t.Fatalf("%s: got no cursor, want one", target)
		}
		return *list.NextCursor
	}
	good := cursor(mine, "/v1/campaigns?limit=1")
	if again := cursor(mine, "/v1/campaigns?limit=1"); again == good {
		t.Error("got the same cursor twice, want one that tells nothing")
	}
	filtered := cursor(mine, "/v1/campaigns?limit=1&status=draft,active&start_date=2026-11-01&end_date=2026-12-01")
	for name, c := range map[string]string{"plain": good, "filtered": filtered} {
		if len(c) > 300 || url.QueryEscape(c) != c || strings.Contains(c, "created") {
			t.Errorf("%s: got cursor %q of %d characters, want a short one that needs no escaping", name, c, len(c))
		}
	}
	bad := map[string]string{
		"empty": "", "word": "next", "another workspace": cursor(theirs, "/v1/campaigns?limit=1"), "another list": cursor(mine, "/v1/events?limit=1"),
		"cut": good[:len(good)-1], "longer": good + "A", "padded": good + "=", "upper case": strings.ToUpper(good), "white space": good + "%20",
	}
	for i := range good {
		letter := byte('A')
		if good[i] == 'A' {
			letter = 'B'
		}
		bad[fmt.Sprintf("changed at %d", i)] = good[:i] + string(letter) + good[i+1:]
	}
	for name, text := range bad {
		e := mine.Do("GET", "/v1/campaigns?cursor="+text, nil).WantError(400, "invalid_cursor")
		if e.Details[0].Code != "cursor_malformed" || e.Details[0].Field != "cursor" {
			t.Errorf("%s: got %+v want cursor_malformed", name, e.Details)
		}
	}
	// A cursor grants no permission: the caller's permissions are checked
	// again.
	narrow := mine.As(account.Owner, func(o *account.KeyOptions) { o.Scopes = account.Scopes{"audiences": account.Read} })
	narrow.Do("GET", "/v1/campaigns?cursor="+good, nil).WantError(403, "insufficient_scope")
}

func TestL5ParametersBesideACursor(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	three(c)
	first := c.Do("GET", "/v1/campaigns?limit=1&sort=name&order=asc&status=draft,active&q=T", nil).Want(200).List()
	next := "?cursor=" + *first.NextCursor
	for _, query := range []string{
		"", "&limit=5", "&sort=name", "&order=asc&sort=name", "&status=active,draft", "&status=draft,active,draft", "&q=T&limit=100",
	} {
		if diff := cmp.Diff([]string{"Two"}, names(c.Client, next+query)); diff != "" {
			t.Errorf("%q: items differ (-want +got):\n%s", query, diff)
		}
	}
	for _, query := range []string{
		"&sort=created_at", "&order=desc", "&status=draft", "&status=all", "&q=t", "&q=Tw", "&tag=x", "&start_date=2026-01-01", "&timezone=UTC",
	} {
		e := c.Do("GET", "/v1/campaigns"+next+query, nil).WantError(400, "invalid_cursor")
		if e.Details[0].Code != "cursor_query_mismatch" {
			t.Errorf("%q: got %s want cursor_query_mismatch", query, e.Details[0].Code)
		}
	}
	c.Do("GET", "/v1/campaigns"+next+"&sort=fame", nil).WantError(400, "invalid_parameter")
	c.Do("GET", "/v1/campaigns"+next+"&limit=0", nil).WantError(400, "invalid_parameter")
	c.Do("GET", "/v1/campaigns"+next+"&"+next[1:], nil).WantError(400, "invalid_parameter")
}

func TestL6CursorLifetimeAndLink(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c := w.Tenant(account.Growth)
		three(c)
		res := c.Do("GET", "/v1/campaigns?limit=2&sort=name&order=asc", nil).Want(200)
		list := res.List()
		if !list.HasMore || list.NextCursor == nil {
			t.Fatalf("got has_more %v and next_cursor %v, want more", list.HasMore, list.NextCursor)
		}
		link := res.Header.Get("Link")
		target, found := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if !found {
			t.Fatalf("got Link %q want rel=next", link)
		}
		refresh := func(d time.Duration) {
			w.Clock.Advance(d)
			if err := w.App.Keyring.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, wait := range []time.Duration{0, 24 * time.Hour, 30 * 24 * time.Hour, 30 * 24 * time.Hour} {
			refresh(wait)
			last := c.Do("GET", target, nil).Want(200)
			page := last.List()
			if len(page.Data) != 1 || page.HasMore || page.NextCursor != nil || last.Header.Get("Link") != "" {
				t.Errorf("after %v: got %d items, has_more %v, next_cursor %v, Link %q, want the last one", wait, len(page.Data), page.HasMore, page.NextCursor, last.Header.Get("Link"))
			}
		}
		refresh(30 * 24 * time.Hour)
		c.Do("GET", target, nil).WantError(400, "invalid_cursor")
	})
}

func TestL7SortAndOrder(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	three(c)
	for query, want := range map[string]string{
		"": "Three Two One", "?order=asc": "One Two Three", "?sort=created_at": "Three Two One", "?sort=name": "Two Three One", "?sort=name&order=asc": "One Three Two",
	} {
		if got := strings.Join(names(c.Client, query), " "); got != want {
			t.Errorf("%q: got %s want %s", query, got, want)
		}
	}
	e := c.Do("GET", "/v1/campaigns?sort=budget&order=up", nil).WantError(400, "invalid_parameter")
	if len(e.Details) != 2 || len(e.Details[0].Meta["allowed"].([]any)) != 11 || len(e.Details[1].Meta["allowed"].([]any)) != 2 {
		t.Errorf("got details %+v, want both with what is allowed", e.Details)
	}
}

func TestL8Status(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c := w.Tenant(account.Growth)
		for name, steps := range map[string][]string{"draft": nil, "active": {"launch"}, "paused": {"launch", "pause"}} {
			id := create(c, map[string]any{"name": name})
			for _, step := range steps {
				c.Do("POST", "/v1/campaigns/"+id+"/"+step, nil).Want(200)
			}
		}
		c.Do("DELETE", "/v1/campaigns/"+create(c, `{"name":"archived"}`), nil).Want(200)
		for query, want := range map[string]string{
			"": "active draft paused", "status=archived": "archived", "status=all": "active archived draft paused", "status=active,paused": "active paused",
			"status=draft,archived": "archived draft", "status=completed": "", "status=all,draft": "active archived draft paused", "status=draft,draft": "draft",
		} {
			got := names(c.Client, "?"+query)
			slices.Sort(got)
			if strings.Join(got, " ") != want {
				t.Errorf("%q: got %v want %s", query, got, want)
			}
		}
		e := c.Do("GET", "/v1/campaigns?status=active,done", nil).WantError(400, "invalid_parameter")
		if diff := cmp.Diff([]any{"draft", "active", "paused", "completed", "archived", "all"}, e.Details[0].Meta["allowed"]); diff != "" {
			t.Errorf("allowed differs (-want +got):\n%s", diff)
		}
	})
}

// TestL9Dates creates one campaign per hour around midnight and filters them by
// day (T3) and by instant. The dates are those of created_at (L10).
func TestL9Dates(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil, ample)
	c := w.Tenant(account.Growth)
	w.Clock.Advance(10 * time.Hour) // 22:00 UTC
	for _, hour := range []string{"22", "23", "00", "01"} {
		create(c, map[string]any{"name": hour, "schedule": map[string]any{"start_at": "2030-01-01T00:00:00Z"}})
		w.Clock.Advance(time.Hour)
	}
	for query, want := range map[string]string{
		"start_date=2026-11-15&end_date=2026-11-15":                             "22 23",
		"end_date=2026-11-15":                                                   "22 23",
		"start_date=2026-11-16":                                                 "00 01",
		"start_date=2026-11-16&end_date=2026-11-16":                             "00 01",
		"start_date=2026-11-15&end_date=2026-11-16":                             "22 23 00 01",
		"end_date=2026-11-14":                                                   "",
		"start_date=2026-11-15T23:00:00Z":                                       "23 00 01",
		"end_date=2026-11-15T23:00:00Z":                                         "22",
		"start_date=2026-11-15T23:00:00Z&end_date=2026-11-15T23:00:00Z":         "",
		"start_date=2026-11-15T23:00:00.000Z&end_date=2026-11-15T23:00:00.001Z": "23",
		"start_date=2026-11-16T00:00:00%2B01:00":                                "23 00 01",
		"start_date=2026-11-15T23:00:00Z&end_date=2026-11-15":                   "23",
		"start_date=2026-11-16&timezone=Europe/Berlin":                          "23 00 01",
		"end_date=2026-11-15&timezone=America/New_York":                         "22 23 00 01",
		"end_date=2026-11-15&timezone=Asia/Tokyo":                               "",
		"start_date=2026-11-16&end_date=2026-11-16&timezone=Asia/Tokyo":         "22 23 00 01",
		"start_date=2026-11-15T23:00:00Z&timezone=Asia/Tokyo":                   "23 00 01",
		"start_date=0001-01-01&end_date=9999-12-31":                             "22 23 00 01",
	} {
		if got := strings.Join(names(c.Client, "?order=asc&"+query), " "); got != want {
			t.Errorf("%q: got %s want %s", query, got, want)
		}
	}
	for query, code := range map[string]string{
		"start_date=2026-11-16&end_date=2026-11-15":                     "invalid_range",
		"start_date=2026-11-15T10:00:01Z&end_date=2026-11-15T10:00:00Z": "invalid_range",
		"start_date=2026-11-17T00:00:00Z&end_date=2026-11-15":           "invalid_range",
		"start_date=2026-11-15T10:00:00+01:00":                          "invalid_format",
		"timezone=Local":                                                "invalid_value",
		"timezone=../../etc/passwd":                                     "invalid_value",
		"timezone=CET-1CEST":                                            "invalid_value",
	} {
		e := c.Do("GET", "/v1/campaigns?"+query, nil).WantError(400, "invalid_parameter")
		if e.Details[0].Code != code {
			t.Errorf("%q: got %s want %s", query, e.Details[0].Code, code)
		}
	}
	e := c.Do("GET", "/v1/campaigns?start_date=2026-11-15T10:00:00+01:00", nil).Error()
	if !strings.Contains(e.Details[0].Message, "%2B") {
		t.Errorf("got message %q, want the reason for the space", e.Details[0].Message)
	}
}

// TestL9DaysInTheWorkspacesZone checks that days are those of the workspace's
// time zone, also if a day has no midnight.
func TestL9DaysInTheWorkspacesZone(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil, ample)
	made, err := w.App.Accounts.CreateWorkspace(t.Context(), fanfaretest.Operator, account.NewWorkspace{
		Name: "Abroad", Plan: "growth", Owner: "abroad@example.com", Currency: "EUR", Timezone: "Asia/Tokyo",
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &fanfaretest.Tenant{Client: w.Client(made.APIKey), Service: w, Workspace: made.WorkspaceID}
	w.Clock.Advance(3*time.Hour + 30*time.Minute) // 00:30 in Tokyo
	rec := c.Do("POST", "/v1/campaigns", `{"name":"Night","budget":{"type":"daily","amount":1}}`).Want(201).Record()
	if zone, money := rec["schedule"].(map[string]any)["timezone"], rec["budget"].(map[string]any)["currency"]; zone != "Asia/Tokyo" || money != "EUR" {
		t.Errorf("got zone %v and currency %v, want those of the workspace", zone, money)
	}
	for query, want := range map[string]int{"end_date=2026-11-15": 0, "start_date=2026-11-16": 1, "start_date=2026-11-16&timezone=UTC": 0} {
		if got := len(names(c.Client, "?"+query)); got != want {
			t.Errorf("%q: got %d items want %d", query, got, want)
		}
	}
	// Clocks in Beirut went from 24:00 to 01:00 that night.
	w.Clock.Advance(time.Date(2022, 3, 26, 21, 30, 0, 0, time.UTC).Sub(w.Clock.Now()))
	create(c, `{"name":"23:30 on the 26th"}`)
	w.Clock.Advance(time.Hour)
	create(c, `{"name":"01:30 on the 27th"}`)
	for query, want := range map[string]string{
		"end_date=2022-03-26": "23:30 on the 26th", "start_date=2022-03-27&end_date=2022-03-27": "01:30 on the 27th",
	} {
		if got := strings.Join(names(c.Client, "?timezone=Asia/Beirut&"+query), "; "); got != want {
			t.Errorf("%q: got %s want %s", query, got, want)
		}
	}
}

func TestL11Repeats(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	for query, code := range map[string]string{
		"limit=5&limit=5": "duplicate_parameter", "status=draft&status=active": "duplicate_parameter", "utm_source=x": "unknown_parameter",
		"limit%5B%5D=5": "unknown_parameter", "=5": "unknown_parameter", "Limit=5": "unknown_parameter", "a=1&a=2": "unknown_parameter",
	} {
		e := c.Do("GET", "/v1/campaigns?"+query, nil).WantError(400, "invalid_parameter")
		if len(e.Details) != 1 || e.Details[0].Code != code {
			t.Errorf("%q: got %+v want %s", query, e.Details, code)
		}
	}
	for _, query := range []string{"%", "a=%zz", "a=1;b=2"} {
		c.Do("GET", "/v1/campaigns?"+query, nil).WantError(400, "malformed_request")
	}
}

// TestListFilters checks each filter alone and all of them together.
func TestListFilters(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c := w.Tenant(account.Growth)
		create(c, `{"name":"Winter 100% Sale_","tags":["Winter","sale"],"channels":["search","email"],"objective":"sales"}`)
		create(c, `{"name":"ÄPFEL","tags":["winter"],"channels":["email"]}`)
		c.Do("POST", "/v1/campaigns/"+create(c, `{"name":"Running","channels":["sms"],"objective":"leads"}`)+"/launch", nil).Want(200)
		for query, want := range map[string]string{
			"tag=winter": "Winter 100% Sale_ ÄPFEL", "tag=WINTER": "Winter 100% Sale_ ÄPFEL", "tag=win": "", "tag=sale": "Winter 100% Sale_",
			"channel=email": "Winter 100% Sale_ ÄPFEL", "channel=search,sms": "Winter 100% Sale_ Running", "objective=sales": "Winter 100% Sale_",
			"objective=sales,leads": "Winter 100% Sale_ Running", "delivery_status=blocked": "Running", "delivery_status=not_launched,blocked": "Winter 100% Sale_ ÄPFEL Running",
			"q=SALE": "Winter 100% Sale_", "q=100%25": "Winter 100% Sale_", "q=%25": "Winter 100% Sale_", "q=_": "Winter 100% Sale_", "q=%C3%A4pf": "ÄPFEL", "q=%5C": "",
			"tag=winter&channel=search": "Winter 100% Sale_", "tag=winter&objective=leads": "", "audience_id=aud_01h455vb4pex5vsknk084sn02q": "",
		} {
			if got := strings.Join(names(c.Client, "?order=asc&sort=updated_at&"+query), " "); got != want && !sameWords(got, want) {
				t.Errorf("%q: got %q want %q", query, got, want)
			}
		}
		c.Do("GET", "/v1/campaigns?audience_id=cmp_01h455vb4pex5vsknk084sn02q", nil).WantError(400, "invalid_parameter")
	})
}

func sameWords(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
