package storetest

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// entry is a record as the naive evaluator has it.
type entry interface {
	// position returns the position of the entry in a list with this sort
	// order.
	position(sort string) page.Position
	matches(q page.Query) bool
	document() record.Doc
}

// listedCampaign is a campaign as the naive evaluator has it.
type listedCampaign struct {
	c   *campaign.Campaign
	doc record.Doc
}

func (k listedCampaign) document() record.Doc { return k.doc }

// What the random records are made of: few values, so that there are ties, and
// names in which bytes, letters and case disagree about the order.
var (
	listNames = []string{
		"Alpha", "alpha", "ALPHA 2", "beta", "Beta_1", "beta%1", `back\slash`, "Éclair", "éclair", "eclair", "Zebra", "zebra",
		"Öl", "öl", "ol", "ß", "ss", "İstanbul", "ıstanbul", "istanbul", "Ω", "ω", "中文", "日本語", "😀 smile", "ﬁ", "fi", "a b", "a-b", "a_b", "ab", "a%b", "100%", "100",
	}
	listTags       = []string{"eu", "us", "q1", "q2", "été", "100%", "a_b"}
	listAudiences  = []ident.ID{"aud_1", "aud_2"}
	listCreatives  = []ident.ID{"crv_1", "crv_2"}
	listSorts      = []string{"created_at", "updated_at", "name", "status", "start_at", "end_at", "launched_at", "spend", "delivery_status", "objective"}
	listQuestions  = []string{"a", "A", "É", "ß", "%", "_", `\`, "100%", "a_b", "文", "😀", "İ", "nothing", " "}
	listStatuses   = append([][]string{nil, {}}, [][]string{{"draft"}, {"active", "paused"}, {"archived"}, {"archived", "completed", "draft"}}...)
	listObjectives = []string{"sales", "leads"}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func some[T any](r *rand.Rand, list []T) []T {
	taken := []T{}
	for _, v := range list {
		if r.IntN(3) == 0 {
			taken = append(taken, v)
		}
	}
	return taken
}

// fill stores random records, some of them in another workspace.
func (w *Fixture) fill(n int, seed uint64) []listedCampaign {
	w.T.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	other, _, _ := w.AddWorkspace(fmt.Sprintf("other-%d@example.com", seed))
	base := w.Now()
	instant := func() clock.Instant { return base.Add(time.Duration(r.IntN(6)) * 12 * time.Hour) }
	perhaps := func() *clock.Instant {
		if r.IntN(3) == 0 {
			return nil
		}
		i := instant()
		return &i
	}
	var list []listedCampaign
	for i := range n {
		w.Clock.Advance(time.Millisecond)
		c := w.Draft(pick(r, listNames))
		c.Status = campaign.Status(pick(r, campaign.Statuses))
		c.CreatedAt, c.UpdatedAt = instant(), instant()
		c.Schedule.StartAt, c.Schedule.EndAt, c.LaunchedAt = perhaps(), perhaps(), perhaps()
		c.Delivery.Status = campaign.DeliveryStatus(pick(r, campaign.DeliveryStatuses))
		if r.IntN(2) == 0 {
			c.SpendToDate = sum(int64(r.IntN(4)-1) * 1_000_000)
		}
		if r.IntN(3) > 0 {
			objective := pick(r, listObjectives)
			c.Objective = &objective
		}
		c.Channels, c.Tags = some(r, campaign.Channels[:4]), some(r, listTags)
		c.AudienceIDs, c.CreativeIDs = some(r, listAudiences), some(r, listCreatives)
		save := w.Save("campaign.created")
		if i%4 == 3 {
			c.WorkspaceID, save.Cause.Workspace = other, other
		}
		d, err := w.DB.Campaigns().Save(w.T.Context(), c, save)
		w.must(err)
		if c.WorkspaceID == w.Workspace {
			list = append(list, listedCampaign{c, d})
		}
	}
	return list
}

// position is the naive evaluator's sort value.
func (k listedCampaign) position(sort string) page.Position {
	p := page.Position{ID: string(k.c.ID)}
	optional := func(i *clock.Instant) {
		if p.Null = i == nil; !p.Null {
			p.Int = int64(*i)
		}
	}
	switch sort {
	case "created_at":
		p.Int = int64(k.c.CreatedAt)
	case "updated_at":
		p.Int = int64(k.c.UpdatedAt)
	case "name":
		p.Text = strings.ToLower(k.c.Name)
	case "status":
		p.Text = string(k.c.Status)
	case "start_at":
		optional(k.c.Schedule.StartAt)
	case "end_at":
		optional(k.c.Schedule.EndAt)
	case "launched_at":
		optional(k.c.LaunchedAt)
	case "delivery_status":
		p.Text = string(k.c.Delivery.Status)
	case "objective":
		if p.Null = k.c.Objective == nil; !p.Null {
			p.Text = *k.c.Objective
		}
	case page.ByRanking:
		p.Int = rankOf(k.c.ID)
		p.Null = p.Int == noRank
		if p.Null {
			p.Int = 0
		}
	case "spend":
		if p.Null = k.c.SpendToDate == nil; !p.Null {
			p.Int = k.c.SpendToDate.Amount.Micros
		}
	}
	return p
}

// matches is the naive evaluator's condition.
func (k listedCampaign) matches(q page.Query) bool {
	values := map[string][]string{
		"delivery_status": {string(k.c.Delivery.Status)}, "channel": k.c.Channels, "tag": k.c.Tags,
		"audience_id": words(k.c.AudienceIDs), "creative_id": words(k.c.CreativeIDs),
	}
	if k.c.Objective != nil {
		values["objective"] = []string{*k.c.Objective}
	}
	return satisfies(q, string(k.c.Status), &k.c.Common, k.c.Name, values)
}

// satisfies reports whether a record is in a list. values are its values for
// each filter.
func satisfies(q page.Query, status string, c *record.Common, name string, values map[string][]string) bool {
	switch {
	case q.Status == nil && status == "archived",
		len(q.Status) > 0 && !slices.Contains(q.Status, status),
		q.From != nil && c.CreatedAt < *q.From,
		q.Until != nil && c.CreatedAt >= *q.Until:
		return false
	}
	for _, f := range q.Filters {
		ok := slices.ContainsFunc(values[f.Name], func(v string) bool { return slices.Contains(f.Values, v) })
		if f.Name == "q" {
			ok = strings.Contains(strings.ToLower(name), strings.ToLower(f.Values[0]))
		}
		if !ok {
			return false
		}
	}
	return true
}

func words(ids []ident.ID) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = string(id)
	}
	return list
}

// naive is the whole list that a query asks for.
func naive[E entry](all []E, q page.Query) []E {
	var list []E
	for _, k := range all {
		if k.matches(q) {
			list = append(list, k)
		}
	}
	slices.SortFunc(list, func(a, b E) int {
		x, y := a.position(q.Sort), b.position(q.Sort)
		if x.Null != y.Null {
			if x.Null {
				return 1
			}
			return -1
		}
		n := cmp.Or(cmp.Compare(x.Int, y.Int), strings.Compare(x.Text, y.Text), strings.Compare(x.ID, y.ID))
		if q.Desc {
			return -n
		}
		return n
	})
	return list
}

// fataler is a test or a check within one.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// compare compares lists of campaigns with the naive list.
func (w *Fixture) compare(t fataler, all []listedCampaign, q page.Query) {
	t.Helper()
	compare(t, func(q page.Query) (page.Page, error) { return w.DB.Campaigns().List(w.T.Context(), w.Workspace, q) }, all, q)
}

// compare reads all pages of a query and compares them with the naive list.
func compare[E entry](t fataler, read func(page.Query) (page.Page, error), all []E, q page.Query) {
	t.Helper()
	want := naive(all, q)
	for at := 0; ; {
		p, err := read(q)
		if err != nil {
			t.Fatalf("%s: %v", show(q), err)
		}
		end := min(at+q.Limit, len(want))
		if len(p.Docs) != end-at {
			t.Fatalf("%s: got %d records from %d on, want %d", show(q), len(p.Docs), at, end-at)
		}
		for i, d := range p.Docs {
			if k := want[at+i].document(); string(d.JSON) != string(k.JSON) || d.Stamp != k.Stamp {
				t.Fatalf("%s: place %d: got %s want %s", show(q), at+i, d.JSON, k.JSON)
			}
		}
		at = end
		if (p.Next != nil) != (at < len(want)) {
			t.Fatalf("%s: after %d of %d: next is %v", show(q), at, len(want), p.Next)
		}
		if p.Next == nil {
			return
		}
		if place := want[at-1].position(q.Sort); *p.Next != place {
			t.Fatalf("%s: got next %+v want %+v", show(q), *p.Next, place)
		}
		q.After = p.Next
	}
}

func show(q page.Query) string {
	return fmt.Sprintf("sort %s desc %v limit %d status %q filters %v", q.Sort, q.Desc, q.Limit, q.Status, q.Filters)
}

func recordsListAll(t *testing.T, w *Fixture) {
	all := w.fill(160, 1)
	for _, sort := range listSorts {
		for _, desc := range []bool{false, true} {
			for _, status := range listStatuses {
				w.compare(t, all, page.Query{Sort: sort, Desc: desc, Limit: 7, Status: status})
			}
			w.compare(t, all, page.Query{Sort: sort, Desc: desc, Limit: 100, Status: []string{}})
			w.compare(t, all, page.Query{Sort: sort, Desc: desc, Limit: 1, Status: []string{"draft"}})
			for name, values := range listFilters() {
				w.compare(t, all, page.Query{Sort: sort, Desc: desc, Limit: 9, Filters: []page.Filter{{Name: name, Values: values[:1]}}})
			}
		}
	}
	for _, text := range listQuestions {
		w.compare(t, all, page.Query{Sort: "name", Limit: 2, Status: []string{}, Filters: []page.Filter{{Name: "q", Values: []string{text}}}})
	}
	if _, err := w.DB.Campaigns().List(t.Context(), w.Workspace, page.Query{Sort: "doc", Limit: 1}); err == nil {
		t.Error("a sort that is not on the list was taken")
	}
}

// listFilters are the filters, each with its possible values.
func listFilters() map[string][]string {
	return map[string][]string{
		"delivery_status": campaign.DeliveryStatuses, "objective": append(listObjectives, "traffic"), "channel": campaign.Channels[:5], "tag": append(listTags, "none"),
		"audience_id": append(words(listAudiences), "aud_3"), "creative_id": append(words(listCreatives), "crv_3"), "q": listQuestions,
	}
}

// noRank says that a campaign has no value.
const noRank = math.MinInt64

// rankOf is the value of a campaign in a ranking with ties and gaps, from its
// id.
func rankOf(id ident.ID) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	if n := int64(h.Sum32() % 9); n < 6 {
		return n - 3
	}
	return noRank
}

// recordsListRanked sorts by values that the store does not have.
func recordsListRanked(t *testing.T, w *Fixture) {
	all := w.fill(160, 3)
	// What is ranked need not be in the list.
	ranking := map[ident.ID]int64{"cmp_nothing": 1, "cmp_other": -3}
	for _, k := range all {
		if n := rankOf(k.c.ID); n != noRank {
			ranking[k.c.ID] = n
		}
	}
	if len(ranking) < 40 || len(ranking) > len(all)-20 {
		t.Fatalf("got %d of %d campaigns with a value, want some with and some without", len(ranking), len(all))
	}
	for _, desc := range []bool{false, true} {
		q := page.Query{Sort: page.ByRanking, Ranking: ranking, Desc: desc}
		for _, limit := range []int{1, 7, 100} {
			q.Limit = limit
			for _, status := range listStatuses {
				q.Status = status
				w.compare(t, all, q)
			}
			q.Status = nil
			for name, values := range listFilters() {
				q.Filters = []page.Filter{{Name: name, Values: values[:1]}}
				w.compare(t, all, q)
			}
			q.Filters = nil
		}
	}
}

func recordsListRandom(t *testing.T, w *Fixture) {
	all := w.fill(120, 2)
	base := all[0].c.CreatedAt
	filters := listFilters()
	names := []string{"delivery_status", "objective", "channel", "tag", "audience_id", "creative_id", "q"}
	rapid.Check(t, func(t *rapid.T) {
		q := page.Query{
			Sort: rapid.SampledFrom(listSorts).Draw(t, "sort"), Desc: rapid.Bool().Draw(t, "desc"),
			Limit: rapid.IntRange(1, 40).Draw(t, "limit"), Status: rapid.SampledFrom(listStatuses).Draw(t, "status"),
		}
		bound := func(name string) *clock.Instant {
			if !rapid.Bool().Draw(t, name) {
				return nil
			}
			i := base.Add(time.Duration(rapid.IntRange(-3, 6).Draw(t, name+" at")) * 12 * time.Hour)
			return &i
		}
		q.From, q.Until = bound("from"), bound("until")
		for _, name := range names {
			if rapid.IntRange(0, 4).Draw(t, name) > 0 {
				continue
			}
			most := 3
			if name == "q" {
				most = 1
			}
			values := rapid.SliceOfNDistinct(rapid.SampledFrom(filters[name]), 1, most, rapid.ID[string]).Draw(t, name+" values")
			q.Filters = append(q.Filters, page.Filter{Name: name, Values: values})
		}
		w.compare(t, all, q)
	})
}

func recordsListEvents(t *testing.T, w *Fixture) {
	other, _, _ := w.AddWorkspace("other@example.com")
	types := []string{"campaign.created", "campaign.updated", "campaign.paused"}
	type event struct{ kind, resource, restricted string }
	var made []event
	for i := range 60 {
		c := w.Draft("Event")
		c.Tags = []string{fmt.Sprint(i)}
		save := w.Save(types[i%3])
		save.Events[0].Restricted = i%5 == 0
		if i%4 == 3 {
			c.WorkspaceID, save.Cause.Workspace = other, other
		} else {
			made = append(made, event{save.Events[0].Type, string(c.ID), fmt.Sprint(save.Events[0].Restricted)})
		}
		_, err := w.DB.Campaigns().Save(t.Context(), c, save)
		w.must(err)
		w.Clock.Advance(time.Millisecond)
	}
	read := func(q page.Query) []event {
		var got []event
		for {
			p, err := w.DB.Events().List(t.Context(), w.Workspace, q)
			w.must(err)
			for _, d := range p.Docs {
				var v struct {
					ID          ident.ID `json:"id"`
					Type        string   `json:"type"`
					WorkspaceID ident.ID `json:"workspace_id"`
					Data        struct {
						ID ident.ID `json:"id"`
					} `json:"data"`
				}
				w.must(json.Unmarshal(d.JSON, &v))
				if v.Type == "api_key.created" {
					continue
				}
				one, err := w.DB.Events().Doc(t.Context(), w.Workspace, v.ID, true)
				if err != nil || string(one.JSON) != string(d.JSON) || v.WorkspaceID != w.Workspace {
					t.Fatalf("event %s read alone: %v", v.ID, err)
				}
				_, err = w.DB.Events().Doc(t.Context(), w.Workspace, v.ID, false)
				got = append(got, event{v.Type, string(v.Data.ID), fmt.Sprint(err != nil)})
				if _, err := w.DB.Events().Doc(t.Context(), other, v.ID, true); err == nil {
					t.Fatalf("event %s can be read from another workspace", v.ID)
				}
			}
			if p.Next == nil {
				return got
			}
			q.After = p.Next
		}
	}
	want := func(keep func(event) bool, desc bool) []event {
		var list []event
		for _, e := range made {
			if keep(e) {
				list = append(list, e)
			}
		}
		if desc {
			slices.Reverse(list)
		}
		return list
	}
	for _, desc := range []bool{false, true} {
		for _, test := range []struct {
			filters []page.Filter
			keep    func(event) bool
		}{
			{nil, func(event) bool { return true }},
			{[]page.Filter{{Name: "open"}}, func(e event) bool { return e.restricted == "false" }},
			{[]page.Filter{{Name: "type", Values: types[:2]}, {Name: "open"}}, func(e event) bool { return e.kind != types[2] && e.restricted == "false" }},
			{[]page.Filter{{Name: "resource_id", Values: []string{made[7].resource}}}, func(e event) bool { return e.resource == made[7].resource }},
		} {
			got := read(page.Query{Sort: "created_at", Desc: desc, Limit: 7, Filters: test.filters})
			if wanted := want(test.keep, desc); !slices.Equal(got, wanted) {
				t.Errorf("desc %v %v: got %v want %v", desc, test.filters, got, wanted)
			}
		}
	}
}

// docName reads the name in a document.
func docName(t *testing.T, d record.Doc) string {
	t.Helper()
	var v struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(d.JSON, &v); err != nil {
		t.Fatal(err)
	}
	return v.Name
}
