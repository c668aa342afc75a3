package httpapi_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
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

// secondVariant returns the id of a new variant that is not primary.
func secondVariant(t *fanfaretest.Tenant) string {
	made := t.Do("POST", "/v1/creative/generate", `{"prompt":"Mountain tea, 20% off until Sunday, for students. Rated 4.8 by 2,000 customers. It brews in two minutes. Hand-picked in Nepal. Free delivery on every order."}`).Want(201)
	return t.Do("GET", "/v1/creative/"+made.ID()+"/variants", nil).Want(200).List().Data[1]["id"].(string)
}

// ownCall returns the calls that the rules of goodCall do not cover.
func ownCall(t *fanfaretest.Tenant, op *fanfaretest.Operation) (c call, ok bool) {
	switch op.OperationID {
	case "followAssetLink":
		return call{method: op.Method, target: linkTo(t, newRecord(t, "/v1/assets"))}, true
	case "retryCreative":
		// A brief of which nothing may be said fails at once, and every time.
		failed := t.Do("POST", "/v1/creative/generate", `{"prompt":"Tea","brand":{"banned_words":["tea"]}}`).Want(201)
		return call{method: op.Method, target: "/v1/creative/" + failed.ID() + "/retry"}, true
	case "getVariant", "updateVariant", "approveVariant", "rejectVariant", "regenerateVariantLine":
		c := call{method: op.Method, target: strings.Replace(op.Path, "{id}", newRecord(t, "/v1/variants"), 1)}
		if op.OperationID == "updateVariant" || op.OperationID == "regenerateVariantLine" {
			c.body = smallestExample(t.Service.T, op)
		}
		return c, true
	case "bulkEditCampaigns":
		return call{method: op.Method, target: op.Path, body: map[string]any{"ids": []string{create(t, `{"name":"One"}`)}, "change": map[string]any{"add_tags": []string{"new"}}}}, true
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
	c := call{method: op.Method, target: op.Path, body: newMaker(t.Service.T, t).referring("", smallestExample(t.Service.T, op))}
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
	switch collection {
	case "/v1/syncs":
		return firstRun(t)
	case "/v1/variants":
		return secondVariant(t)
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
