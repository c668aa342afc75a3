package httpapi_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"fanfare/internal/account"
	"fanfare/internal/analytics"
	"fanfare/internal/asset"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/store"
)

// call is a valid request; a test makes one part of it invalid.
type call struct {
	method, target string
	body           any
	headers        []string
}

func (c call) with(headers ...string) call {
	c.headers = append(slices.Clone(c.headers), headers...)
	return c
}

func (c call) by(client *fanfaretest.Client) *fanfaretest.Response {
	return client.Do(c.method, c.target, c.body, c.headers...)
}

// steps are the actions that a new record needs before an action is possible.
var steps = map[string][]string{"pause": {"launch"}, "resume": {"launch", "pause"}, "restore": {"archive"}, "undo": {"commit"}}

// origins are the operations that create the data of paths without a create
// operation.
var origins = map[string]string{"/v1/analytics": "ingestMetrics"}

// connect creates a connection with a unique name.
func connect(t *fanfaretest.Tenant, platform string) string {
	return t.Do("POST", "/v1/connections", map[string]any{"platform": platform, "name": rand.Text()}).Want(201).ID()
}

// firstRun returns the id of a new connection's first sync run.
func firstRun(t *fanfaretest.Tenant) string {
	return t.Do("GET", "/v1/connections/"+connect(t, "sandbox")+"/syncs", nil).Want(200).List().Data[0]["id"].(string)
}

// ownCall returns the calls that the rules of goodCall do not cover.
func ownCall(t *fanfaretest.Tenant, op *fanfaretest.Operation) (c call, ok bool) {
	switch op.OperationID {
	case "followAssetLink":
		return call{method: op.Method, target: linkTo(t, newRecord(t, "/v1/assets"))}, true
	case "retryCreative":
		// A prompt without a word fails at once, and every time.
		failed := t.Do("POST", "/v1/creative/generate", `{"prompt":"???"}`).Want(201)
		return call{method: op.Method, target: "/v1/creative/" + failed.ID() + "/retry"}, true
	case "createConnection":
		return call{method: op.Method, target: op.Path, body: map[string]any{"platform": "sandbox", "name": rand.Text()}}, true
	case "reconnectConnection":
		return call{method: op.Method, target: "/v1/connections/" + connect(t, "google_ads") + "/reconnect"}, true
	case "syncConnection":
		// A run that waits already would be the answer.
		run := t.Do("GET", "/v1/syncs/"+firstRun(t), nil).Want(200).Record()
		t.Do("POST", "/v1/syncs/"+run["id"].(string)+"/cancel", nil).Want(200)
		return call{method: op.Method, target: "/v1/connections/" + run["connection_id"].(string) + "/sync"}, true
	case "getSync", "cancelSync":
		return call{method: op.Method, target: strings.Replace(op.Path, "{id}", newRecord(t, "/v1/syncs"), 1)}, true
	default:
		return c, false
	}
}

// goodCall returns a request that succeeds, with its own record if the path has
// an id.
func goodCall(t *fanfaretest.Tenant, op *fanfaretest.Operation) call {
	if c, ok := ownCall(t, op); ok {
		return c
	}
	c := call{method: op.Method, target: op.Path, body: newMaker(t.World.T, t).referring("", smallestExample(t.World.T, op))}
	if media := rawType(op); media != "" {
		c = c.with("Content-Type: " + media)
	}
	collection, rest, named := strings.Cut(op.Path, "/{id}")
	if !named {
		bringIn(t, op.Path)
		return c
	}
	id := newRecord(t, collection)
	for _, step := range steps[strings.Trim(rest, "/")] {
		if step == "archive" {
			t.Do("DELETE", collection+"/"+id, nil).Want(200)
			continue
		}
		t.Do("POST", collection+"/"+id+"/"+step, nil).Want(200)
	}
	c.target = collection + "/" + id + rest
	return c
}

// bringIn creates the data of a path without a create operation.
func bringIn(t *fanfaretest.Tenant, path string) {
	if id := origins[strings.Join(strings.SplitN(path, "/", 4)[:min(3, strings.Count(path, "/")+1)], "/")]; id != "" {
		goodCall(t, fanfaretest.TheContract().Operations()[id]).by(t.Client).Want(200)
	}
}

// newRecord creates a record of a collection, or finds one in a collection that
// the service fills.
func newRecord(t *fanfaretest.Tenant, collection string) string {
	if collection == "/v1/syncs" {
		return firstRun(t)
	}
	for _, op := range fanfaretest.TheContract().Operations() {
		if op.Method == http.MethodPost && op.Path == collection {
			return goodCall(t, op).by(t.Client).Want(201).ID()
		}
	}
	bringIn(t, collection)
	list := t.Do("GET", collection+"?limit=1", nil).Want(200).List()
	return list.Data[0]["id"].(string)
}

// files are file contents of each media type of raw bodies. The table is that
// of the contract's import examples.
var files = map[string]func(testing.TB) []byte{
	"image/png": picture,
	"text/csv": func(testing.TB) []byte {
		return []byte("Tag;Ausgaben;Notiz\n13.11.2026;96,31;ok\n14.11.2026;90,00;ok\n")
	},
}

// jsonBody is what an operation says about its body where that is JSON, nil
// where it has none or takes bytes as they are.
func jsonBody(op *fanfaretest.Operation) *openapi3.MediaType {
	if op.RequestBody == nil {
		return nil
	}
	return op.RequestBody.Value.Content["application/json"]
}

// rawType returns a media type of an operation's raw body, empty for none.
func rawType(op *fanfaretest.Operation) string {
	if op.RequestBody == nil || jsonBody(op) != nil {
		return ""
	}
	for media := range files {
		if op.RequestBody.Value.Content[media] != nil {
			return media
		}
	}
	panic("nobody knows a good body for " + op.OperationID)
}

// takesRows reports whether the body is an array of independent items.
func takesRows(op *fanfaretest.Operation) bool {
	content := jsonBody(op)
	return content != nil && content.Schema.Value.Type.Is("array")
}

// changes reports whether an operation has an effect.
func changes(op *fanfaretest.Operation) bool {
	p, listed := account.PermissionFor(op.OperationID)
	return listed && p.Access == account.Write
}

// smallestExample is the shortest request body that the contract shows, good
// bytes where those are taken, nil where none is needed. A patch changes what
// every record has.
func smallestExample(t testing.TB, op *fanfaretest.Operation) any {
	t.Helper()
	if op.RequestBody == nil || !op.RequestBody.Value.Required {
		return nil
	}
	if media := rawType(op); media != "" {
		return files[media](t)
	}
	if op.Method == http.MethodPatch && jsonBody(op).Schema.Value.Properties["name"] != nil {
		return map[string]any{"name": "Another name " + rand.Text()}
	}
	var best []byte
	var value any
	for name, e := range jsonBody(op).Examples {
		raw, err := json.Marshal(e.Value.Value)
		if err != nil {
			t.Fatalf("example %s: %v", name, err)
		}
		if best == nil || len(raw) < len(best) || len(raw) == len(best) && bytes.Compare(raw, best) < 0 {
			best, value = raw, e.Value.Value
		}
	}
	return value
}

// stage is a server for causing one status.
type stage struct {
	*fanfaretest.Tenant
	engine *faulty
}

// end brings a record to its final state: archived, or committed if its kind is
// never archived.
func (s *stage) end(target string) {
	collection := target[:strings.LastIndexByte(target, '/')]
	if fanfaretest.TheContract().Doc.Paths.Find(collection+"/{id}").Delete != nil {
		s.Do("DELETE", target, nil).Want(200)
		return
	}
	s.Do("POST", target+"/commit", nil).Want(200)
}

// provoke maps each status to a call that causes it for any operation that
// documents it.
var provoke = map[int]func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response{
	200: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		return goodCall(s.Tenant, op).by(s.Client)
	},
	201: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		return goodCall(s.Tenant, op).by(s.Client)
	},
	202: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		if op.OperationID == "syncConnection" {
			return goodCall(s.Tenant, op).by(s.Client)
		}
		// Images are generated by background work, which does not run here.
		c := call{method: op.Method, target: op.Path, body: `{"prompt":"???","sizes":["320x50"],"variants":1}`}
		if op.OperationID == "retryCreative" {
			made := s.Do("POST", "/v1/creative/generate", c.body, "Prefer: respond-async").Want(202)
			if err := s.World.App.Creatives.Run(context.Background(), s.Workspace, ident.ID(made.ID())); err != nil {
				s.World.T.Fatal(err)
			}
			c.target, c.body = "/v1/creative/"+made.ID()+"/retry", nil
		}
		return c.with("Prefer: respond-async").by(s.Client)
	},
	304: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		c := goodCall(s.Tenant, op)
		return c.with("If-None-Match: " + c.by(s.Client).Want(200).Header.Get("ETag")).by(s.Client)
	},
	400: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		c := goodCall(s.Tenant, op)
		c.target += "?no_such_parameter=1"
		return c.by(s.Client)
	},
	401: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		// Nobody may fail so often in one minute.
		s.World.Clock.Advance(time.Minute)
		return goodCall(s.Tenant, op).by(s.World.Client(""))
	},
	403: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		c := goodCall(s.Tenant, op)
		s.suspend(true)
		defer s.suspend(false)
		return c.by(s.Client)
	},
	404: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		c := goodCall(s.Tenant, op)
		parts := strings.Split(c.target, "/")
		if parts[1] == "assets" {
			c.target += "x"
			return c.by(s.Client)
		}
		parts[3] = parts[3][:4] + "01h455vb4pex5vsknk084sn02q"
		c.target = strings.Join(parts, "/")
		return c.by(s.Client)
	},
	406: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		return goodCall(s.Tenant, op).with("Accept: text/html").by(s.Client)
	},
	409: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		c := goodCall(s.Tenant, op)
		if op.Method != http.MethodPost {
			s.end(c.target)
			return c.by(s.Client)
		}
		c = c.with("Idempotency-Key: twice-at-once")
		arrived, release := s.engine.hold()
		defer release()
		first := make(chan *fanfaretest.Response, 1)
		go func() { first <- c.by(s.Client) }()
		select {
		case <-arrived:
		case r := <-first: // it was refused before it wrote anything
			return r
		}
		second := c.by(s.Client)
		release()
		if r := <-first; r.Status >= 300 {
			s.World.T.Errorf("%s: got %d for the first of two, want success", op.OperationID, r.Status)
		}
		return second
	},
	412: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		return goodCall(s.Tenant, op).with(`If-Match: "99999"`).by(s.Client)
	},
	413: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		c := goodCall(s.Tenant, op)
		// No operation accepts more than an upload.
		c.body = make([]byte, asset.MaxBytes+1)
		return c.by(s.Client)
	},
	415: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		c := goodCall(s.Tenant, op).with("Content-Type: text/plain")
		c.body = "{}"
		return c.by(s.Client)
	},
	422: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		c := goodCall(s.Tenant, op)
		switch c.body = `{"no_such_field":1}`; {
		case op.RequestBody == nil:
			c.body = nil
			if op.OperationID == "listCampaigns" {
				c.target += "?sort=metric"
			}
			s.engine.facts.fail(analytics.ErrTooMany)
			defer s.engine.facts.fail(nil)
		case rawType(op) != "":
			c.body = "\n"
		case takesRows(op):
			c.target, c.body = c.target+"?atomic=true", `[{"no_such_field":1}]`
		}
		return c.by(s.Client)
	},
	429: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		c := goodCall(s.Tenant, op)
		s.Do("GET", "/v1/me", nil).Want(200)
		s.plan(account.Starter)
		defer s.plan(account.Growth)
		// Requests that stop a campaign have ten more per minute beyond the
		// limit.
		for range 10 {
			if got := c.by(s.Client); got.Status == http.StatusTooManyRequests {
				return got
			}
		}
		return c.by(s.Client)
	},
	500: failing(errors.New("no such table: " + leak)),
	502: func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		c := goodCall(s.Tenant, op)
		c.body = `{"credentials":{"access_token":"EAAB-example"}}`
		if op.OperationID == "createConnection" {
			c.body = `{"platform":"meta_ads","name":"Out of reach","credentials":{"access_token":"EAAB-example"}}`
		}
		s.World.Unplug(true)
		defer s.World.Unplug(false)
		return c.by(s.Client)
	},
	503: failing(fmt.Errorf("%s: %w", leak, store.ErrUnavailable)),
	504: failing(fmt.Errorf("%s: %w", leak, context.DeadlineExceeded)),
}

// leak is part of every error of the faulty engine and must never be in a
// response.
const leak = "/var/lib/fanfare/secret.db"

// failing calls an operation while the store fails: first with an unknown
// caller, so that authentication fails; then with a cached caller, so that the
// operation fails; then with only the writes failing.
func failing(broken error) func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
	return func(s *stage, op *fanfaretest.Operation) *fanfaretest.Response {
		t := s.World.T
		c := goodCall(s.Tenant, op)
		defer s.engine.fail(nil, nil)
		before := s.state(c)
		s.World.App.Gate.Forget()
		s.engine.fail(broken, broken)
		res := c.by(s.Client)
		for _, reads := range []error{broken, nil} {
			s.engine.fail(nil, nil)
			s.Do("GET", "/v1/me", nil).Want(200)
			s.engine.fail(reads, broken)
			inside := c.by(s.Client)
			// Requests without a record do not use the store.
			needed := s.engine.asked() > 0 && needsStore(op)
			if needed && inside.Status != res.Status && (reads != nil || changes(op)) {
				t.Errorf("%s: got %d with reads %v and writes broken, want %d: %s", op.OperationID, inside.Status, reads, res.Status, inside.Body)
			}
			if inside.Status >= 400 && (bytes.Contains(inside.Body, []byte("fanfare/secret")) || bytes.Contains(inside.Body, []byte("table"))) {
				t.Errorf("%s: the cause of the fault is answered (E6): %s", op.OperationID, inside.Body)
			}
		}
		s.engine.fail(nil, nil)
		if after := s.state(c); after != before {
			t.Errorf("%s: a failed call left an effect:\nbefore %s\nafter  %s", op.OperationID, before, after)
		}
		return res
	}
}

// needsStore reports whether an operation reads from the store. Operations
// without parameters return the same to all callers.
func needsStore(op *fanfaretest.Operation) bool {
	p, _ := account.PermissionFor(op.OperationID)
	return p.Family != "" && (op.RequestBody != nil || len(op.Parameters()) > 0) || op.Path == "/readyz"
}

// state returns the record of a call.
func (s *stage) state(c call) string {
	parts := strings.Split(c.target, "/")
	if len(parts) < 4 || parts[1] != "v1" || !strings.Contains(parts[3], "_") {
		return ""
	}
	return string(s.Do("GET", strings.Join(parts[:4], "/"), nil).Want(200).Body)
}

func (s *stage) suspend(on bool) {
	if _, err := s.World.App.Accounts.Suspend(context.Background(), fanfaretest.Operator, s.Workspace, on); err != nil {
		s.World.T.Fatal(err)
	}
}

func (s *stage) plan(p account.Plan) {
	if _, err := s.World.App.Accounts.SetPlan(context.Background(), fanfaretest.Operator, s.Workspace, string(p)); err != nil {
		s.World.T.Fatal(err)
	}
}

// TestContractStatuses causes every documented status of every operation. The
// client checks the exchange against the contract.
func TestContractStatuses(t *testing.T) {
	t.Parallel()
	ops := fanfaretest.TheContract().Operations()
	byStatus := map[int][]*fanfaretest.Operation{}
	for _, op := range ops {
		for text := range op.Responses.Map() {
			status, err := strconv.Atoi(text)
			if err != nil {
				t.Errorf("%s: got status %q, want a number", op.OperationID, text)
				continue
			}
			byStatus[status] = append(byStatus[status], op)
		}
	}
	for status, list := range byStatus {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			if provoke[status] == nil {
				t.Fatalf("status %d is documented and nobody knows how to provoke it", status)
			}
			slices.SortFunc(list, func(a, b *fanfaretest.Operation) int { return strings.Compare(a.OperationID, b.OperationID) })
			for name, open := range fanfaretest.Engines {
				if status < 500 && name != "sqlite" {
					continue
				}
				w, engine := newWorld(t, open)
				for _, op := range list {
					s := &stage{w.Tenant(account.Growth), engine}
					if got := provoke[status](s, op); got.Status != status {
						t.Errorf("%s on %s: got %d want %d: %s", op.OperationID, name, got.Status, status, got.Body)
					}
				}
			}
		})
	}
}

// TestContractRoles calls every operation in every role and with restricted
// keys, and checks that everything beyond the role table and the scopes is
// denied.
func TestContractRoles(t *testing.T) {
	t.Parallel()
	owner := fanfaretest.New(t, nil, ample).Tenant(account.Growth)
	clients := map[account.Role]*fanfaretest.Client{account.Owner: owner.Client}
	for _, role := range []account.Role{account.Viewer, account.Editor, account.Admin} {
		clients[role] = owner.As(role)
	}
	narrow := func(scopes account.Scopes) *fanfaretest.Client {
		return owner.As(account.Owner, func(o *account.KeyOptions) { o.Scopes = scopes })
	}
	none := narrow(account.Scopes{})
	readers, writers := map[string]*fanfaretest.Client{}, map[string]*fanfaretest.Client{}
	for _, family := range account.Families {
		readers[family], writers[family] = narrow(account.Scopes{family: account.Read}), narrow(account.Scopes{family: account.Write})
	}
	for id, op := range fanfaretest.TheContract().Operations() {
		need, listed := account.PermissionFor(id)
		if !listed {
			continue
		}
		good := goodCall(owner, op)
		wants := func(who string, c *fanfaretest.Client, allowed bool, code string) {
			res := good.by(c)
			if allowed && changes(op) {
				// The record is not what it was.
				good = goodCall(owner, op)
			}
			switch {
			case allowed && res.Status == 403:
				t.Errorf("%s as %s: got 403 want it allowed: %s", id, who, res.Body)
			case !allowed:
				res.WantError(403, code)
			}
		}
		for role, c := range clients {
			wants(string(role), c, role.AtLeast(need.Least), "insufficient_permissions")
		}
		wants("a key for nothing", none, need.Family == "", "insufficient_scope")
		for _, family := range account.Families {
			own := need.Family == "" || need.Family == family
			wants("a key that reads "+family, readers[family], need.Family == "" || own && need.Access == account.Read, "insufficient_scope")
			wants("a key that writes "+family, writers[family], own, "insufficient_scope")
		}
		text := fmt.Sprintf("Needs the role %s and, for a narrowed key, `%s: %s`.", need.Least, need.Family, need.Access)
		if need.Family != "" && !strings.Contains(op.Description, text) {
			t.Errorf("%s: got description %q, want it to say %q", id, op.Description, text)
		}
	}
}
