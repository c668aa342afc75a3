package guard_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// busyTenant uses every operation of the contract. Every string that it sends
// contains a token that no other tenant may see.
type busyTenant struct {
	t       *testing.T
	service *fanfaretest.Service
	token   string
	roles   map[string]*fanfaretest.Client
	// ids are those in answers, by prefix; cursors, etags and idempotencyKeys
	// are other values that were received or sent.
	ids             map[string][]string
	known           map[string]bool
	cursors         map[string][]string
	etags           []string
	idempotencyKeys []string
}

var (
	onlyID   = regexp.MustCompile(`^([a-z]{3})_[0-9a-hjkmnp-tv-z]{26}$`)
	inBraces = regexp.MustCompile(`\{[^}]+\}`)
)

// idsIn returns the ids in a text.
func idsIn(text string) (found []string) {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '_')
		if i < 0 {
			return found
		}
		at += i + 1
		if at < 4 || len(text) < at+26 {
			continue
		}
		if id := text[at-4 : at+26]; onlyID.MatchString(id) {
			found = append(found, id)
		}
	}
}

// keyedOperations returns the operations that need a key, in a fixed order:
// collections before their members, and deletions last.
func keyedOperations() []*fanfaretest.Operation {
	var list []*fanfaretest.Operation
	for _, op := range fanfaretest.TheContract().Operations() {
		if op.Path == "/v1" || strings.HasPrefix(op.Path, "/v1/") {
			list = append(list, op)
		}
	}
	rank := map[string]int{"POST": 0, "PATCH": 1, "PUT": 1, "GET": 2, "DELETE": 3}
	slices.SortFunc(list, func(a, b *fanfaretest.Operation) int {
		return cmp.Or(cmp.Compare(strings.Count(a.Path, "{"), strings.Count(b.Path, "{")), cmp.Compare(rank[a.Method], rank[b.Method]), cmp.Compare(a.Path, b.Path))
	})
	return list
}

// mediaBody is a body of a media type other than JSON.
type mediaBody struct{ media, text string }

func (f mediaBody) bytes() []byte {
	if f.media == "text/csv" {
		return []byte("Tag;Ausgaben;Notiz\n13.11.2026;96,31;" + f.text + "\n14.11.2026;90,00;" + f.text + "\n")
	}
	return []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><text>` + f.text + `</text></svg>`)
}

// exampleBodies returns the examples of an operation's body, nil if it has
// none.
func exampleBodies(op *fanfaretest.Operation) []any {
	if op.RequestBody == nil {
		return []any{nil}
	}
	media := op.RequestBody.Value.Content.Get("application/json")
	if media == nil {
		for _, media := range []string{"image/svg+xml", "text/csv"} {
			if op.RequestBody.Value.Content[media] != nil {
				return []any{mediaBody{media, "example"}}
			}
		}
	}
	var names []string
	for name := range media.Examples {
		names = append(names, name)
	}
	slices.Sort(names)
	var list []any
	for _, name := range names {
		list = append(list, media.Examples[name].Value.Value)
	}
	if len(list) == 0 {
		return []any{map[string]any{}}
	}
	return list
}

// newBusyTenant creates a tenant and uses every operation several times.
func newBusyTenant(t *testing.T, w *fanfaretest.Service, lives int) *busyTenant {
	t.Helper()
	h := &busyTenant{
		t: t, service: w, token: "zz" + strings.ToLower(rand.Text())[:18] + "zz", roles: map[string]*fanfaretest.Client{},
		ids: map[string][]string{}, known: map[string]bool{}, cursors: map[string][]string{},
	}
	ctx, acc := context.Background(), w.App.Accounts
	made, err := acc.CreateWorkspace(ctx, fanfaretest.Operator, account.NewWorkspace{
		Name: "Workspace " + h.token, Plan: string(account.Enterprise), Owner: h.token + "@example.com", Currency: "USD", Timezone: "UTC",
	})
	if err != nil {
		t.Fatal(err)
	}
	client := func(name, role string, scopes account.Scopes) {
		email := name + "-" + h.token + "@example.com"
		if _, err := acc.AddMember(ctx, fanfaretest.Operator, made.WorkspaceID, email, role, false); err != nil {
			t.Fatal(err)
		}
		secret, _, err := acc.CreateKey(ctx, fanfaretest.Operator, made.WorkspaceID, email, account.KeyOptions{Name: "Key " + h.token, Scopes: scopes})
		if err != nil {
			t.Fatal(err)
		}
		h.roles[name] = w.Client(secret)
	}
	for _, role := range account.Roles {
		client(role, role, nil)
	}
	client("narrowed", string(account.Owner), account.Scopes{"campaigns": account.Read, "webhooks": account.Read})
	for range lives {
		h.useEveryOperation()
	}
	return h
}

// useEveryOperation uses every operation once with every example body and every
// own record.
func (h *busyTenant) useEveryOperation() {
	h.t.Helper()
	for _, op := range keyedOperations() {
		for _, target := range h.ownPaths(op) {
			for _, body := range exampleBodies(op) {
				h.sendMarked(op, target, body)
			}
		}
	}
}

// ownPaths returns the paths of an operation with own ids.
func (h *busyTenant) ownPaths(op *fanfaretest.Operation) []string {
	targets := []string{op.Path}
	for _, name := range inBraces.FindAllString(op.Path, -1) {
		var next []string
		for _, target := range targets {
			own := h.ids[prefixOf(h.t, op, name)]
			if op.Method == http.MethodDelete {
				own = own[:min(1, len(own))]
			}
			for _, id := range own[max(0, len(own)-6):] {
				next = append(next, strings.Replace(target, name, id, 1))
			}
		}
		targets = next
	}
	if op.Method == http.MethodGet && op.Parameter("query", "limit") != nil {
		targets = append(targets, op.Path+"?limit=1", op.Path+"?limit=100")
	}
	return targets
}

// prefixOf returns the kind of id of a path parameter, from the parameter's
// example.
func prefixOf(t *testing.T, op *fanfaretest.Operation, name string) string {
	t.Helper()
	p := op.Parameter("path", strings.Trim(name, "{}"))
	example, _ := p.Example.(string)
	m := onlyID.FindStringSubmatch(example)
	if m == nil {
		t.Fatalf("%s: the parameter %s needs an id as its example, so that this test knows what to put there", op.OperationID, name)
	}
	return m[1]
}

// sendMarked sends a body whose strings contain the token, as far as the
// service accepts it: a refused field gets its example, and is dropped if it is
// refused again.
func (h *busyTenant) sendMarked(op *fanfaretest.Operation, target string, example any) {
	keep, drop := map[string]bool{}, map[string]bool{}
	key := ""
	if op.Method == http.MethodPost {
		key = h.token + "-" + strings.ToLower(rand.Text())[:8]
		h.idempotencyKeys = append(h.idempotencyKeys, key)
	}
	for range 6 {
		body := h.markStrings(example, "", keep, drop)
		if op.RequestBody == nil {
			body = nil
		}
		headers := []string{"Idempotency-Key: " + key, "User-Agent: agent " + h.token}
		if f, ok := example.(mediaBody); ok {
			headers = append(headers, "Content-Type: "+f.media)
		}
		res := h.roles["owner"].Do(op.Method, target, body, headers...)
		refused := refusedFields(res)
		if len(refused) == 0 {
			h.collectIDs(op, res)
			return
		}
		for _, field := range refused {
			drop[field] = keep[field]
			keep[field] = true
		}
		// A partly refused request is recorded under its key.
		key += "-again"
	}
}

// refusedFields returns the members of a body that the service refused: those
// of an error, and those of items that a success lists.
func refusedFields(res *fanfaretest.Response) (fields []string) {
	if res.Status == 422 {
		for _, d := range res.Error().Details {
			fields = append(fields, d.Field)
		}
		return fields
	}
	var listed struct {
		Data struct {
			Rejected []struct {
				Index  int                  `json:"index"`
				Errors []fanfaretest.Detail `json:"errors"`
			} `json:"rejected"`
		} `json:"data"`
	}
	if res.Status != 200 || json.Unmarshal(res.Body, &listed) != nil {
		return nil
	}
	for _, item := range listed.Data.Rejected {
		for _, d := range item.Errors {
			fields = append(fields, fmt.Sprintf("[%d].%s", item.Index, d.Field))
		}
	}
	return fields
}

// markStrings adds the token to every string of a body.
func (h *busyTenant) markStrings(v any, path string, keep, drop map[string]bool) any {
	switch v := v.(type) {
	case mediaBody:
		return mediaBody{v.media, h.token}.bytes()
	case string:
		switch {
		case keep[path]:
			return v
		case strings.HasPrefix(v, "https://"):
			return v + "&t=" + h.token
		}
		return h.token
	case []any:
		var list []any
		for i, item := range v {
			if at := fmt.Sprintf("%s[%d]", path, i); !drop[at] {
				list = append(list, h.markStrings(item, at, keep, drop))
			}
		}
		return list
	case map[string]any:
		out := map[string]any{}
		for name, item := range v {
			at := strings.TrimPrefix(path+"."+name, ".")
			if !drop[at] {
				out[name] = h.markStrings(item, at, keep, drop)
			}
		}
		return out
	}
	return v
}

// collectIDs records the ids and cursors of an answer. Errors only repeat the
// request.
func (h *busyTenant) collectIDs(op *fanfaretest.Operation, res *fanfaretest.Response) {
	if res.Status >= 400 {
		return
	}
	for _, id := range idsIn(string(res.Body)) {
		if !h.known[id] && !strings.HasPrefix(id, "req_") {
			h.known[id] = true
			prefix, _, _ := strings.Cut(id, "_")
			h.ids[prefix] = append(h.ids[prefix], id)
		}
	}
	if tag := res.Header.Get("ETag"); tag != "" && !slices.Contains(h.etags, tag) {
		h.etags = append(h.etags, tag)
	}
	var list struct {
		Next *string `json:"next_cursor"`
	}
	if res.Status == 200 && json.Unmarshal(res.Body, &list) == nil && list.Next != nil {
		h.cursors[op.OperationID] = append(h.cursors[op.OperationID], *list.Next)
	}
}

// TestDrillE7TenantsApart is E7 for the whole contract: for every operation,
// role and way to refer to a record, another tenant's record looks exactly like
// one that never existed, and no string of that tenant is returned.
func TestDrillE7TenantsApart(t *testing.T) {
	for name, open := range fanfaretest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fanfaretest.New(t, open(t))
			w.App.API.Limits[account.Enterprise] = w.App.API.Limits["none"]
			// On the shared engine each probe costs a transaction.
			every, lives := 1, 3
			if name != "sqlite" {
				every = 8
			}
			if !fullDrill {
				every, lives = every*60, 1
			}
			p := &prober{t: t, service: w, a: newBusyTenant(t, w, lives), b: newBusyTenant(t, w, lives), sampleEvery: every}
			p.probeAll()
			p.readEverything(p.a, p.b)
			p.readEverything(p.b, p.a)
			for _, h := range []*busyTenant{p.a, p.b} {
				if strings.Contains(w.Log.String(), h.token) {
					t.Errorf("got a tenant's text in the log: %s", w.Log)
				}
			}
			t.Logf("cross_tenant %s %d probes of %d operations, 0 leaks, 0 oracles", name, p.probes, len(keyedOperations()))
		})
	}
}

// probeAll probes every operation in every way.
func (p *prober) probeAll() {
	for _, op := range keyedOperations() {
		before := p.missing
		for role, c := range p.a.roles {
			p.role, p.client = role, c
			p.probePaths(op)
			p.probeQueries(op)
			p.probeCursors(op)
			p.probeReferences(op)
			p.probeIdempotencyKeys(op)
			if p.t.Failed() {
				return
			}
		}
		if strings.Contains(op.Path, "{") && p.missing == before {
			p.t.Errorf("%s: no probe was answered 404, so nothing was tested", op.OperationID)
		}
	}
}

// readEverything reads everything that a tenant can read and looks for the
// other tenant's token.
func (p *prober) readEverything(reader, other *busyTenant) {
	for role, c := range reader.roles {
		for _, op := range keyedOperations() {
			if need, _ := account.PermissionFor(op.OperationID); need.Access != account.Read {
				continue
			}
			for _, target := range reader.ownPaths(op) {
				for _, body := range exampleBodies(op) {
					p.readPages(role, c, other, op, target, body)
				}
			}
		}
	}
}

// readPages reads all pages of a target and looks for the other tenant's token.
func (p *prober) readPages(role string, c *fanfaretest.Client, other *busyTenant, op *fanfaretest.Operation, target string, body any) {
	for pages := 0; target != "" && pages < 20; pages++ {
		var sent io.Reader
		if body != nil {
			raw, err := json.Marshal(body, json.Deterministic(true))
			if err != nil {
				p.t.Fatal(err)
			}
			sent = bytes.NewReader(raw)
		}
		rec := serveRequest(p.service, newRequest(p.t.Context(), c, op.Method, target, sent))
		p.probes++
		text := rec.Body.String() + fmt.Sprint(rec.Header())
		if strings.Contains(text, other.token) {
			p.t.Fatalf("%s %s: got the other tenant's text: %s", role, target, text)
		}
		for _, id := range idsIn(text) {
			if other.known[id] {
				p.t.Fatalf("%s %s: got the other tenant's %s", role, target, id)
			}
		}
		var list struct {
			Next *string `json:"next_cursor"`
		}
		target = ""
		if op.Method == http.MethodGet && json.Unmarshal(rec.Body.Bytes(), &list) == nil && list.Next != nil {
			target = op.Path + "?limit=100&cursor=" + url.QueryEscape(*list.Next)
		}
	}
}
