package fanfaretest

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// uncheckedHeaders belong to HTTP or to every answer, so operations do not
// document them.
var uncheckedHeaders = []string{
	"Content-Type", "Content-Length", "Content-Encoding", "Vary", "X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy",
	"Strict-Transport-Security", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
}

// checkResponse checks that the status is documented, that exactly the
// documented headers are present, and that the body has the documented type and
// schema.
func (c *Contract) checkResponse(op *Operation, res *Response, answer []byte, bad reportProblem) {
	ref := op.Responses.Value(strconv.Itoa(res.Status))
	if ref == nil {
		bad("status %d is not documented for %s", res.Status, op.OperationID)
		return
	}
	pointer := refOr(ref.Ref, op.pointer()+"/responses/"+strconv.Itoa(res.Status))
	known := slices.Clone(uncheckedHeaders)
	for name, header := range ref.Value.Headers {
		known = append(known, http.CanonicalHeaderKey(name))
		c.checkHeader(res.Header, name, header, refOr(header.Ref, pointer+"/headers/"+escape(name)), bad)
	}
	for name := range res.Header {
		if !slices.Contains(known, name) {
			bad("header %s is not documented for %s %d", name, op.OperationID, res.Status)
		}
	}
	if announced := res.Header.Get("Deprecation") != ""; announced != op.Deprecated {
		bad("got Deprecation %q for an operation with deprecated: %v (V5)", res.Header.Get("Deprecation"), op.Deprecated)
	}
	got := res.Header.Get("Content-Type")
	if len(ref.Value.Content) == 0 {
		if len(answer) > 0 || got != "" {
			bad("got a body (%s), want none", got)
		}
		return
	}
	media, _, err := mime.ParseMediaType(got)
	content := ref.Value.Content[media]
	if err != nil || content == nil {
		bad("got Content-Type %q, want one of the documented", got)
		return
	}
	at := pointer + "/content/" + escape(media) + "/schema"
	switch media {
	case "application/json":
		checkCompact(answer, bad)
		c.checkJSON(refOr(content.Schema.Ref, at), content.Schema.Value, answer, bad)
	case "application/yaml":
		var v any
		if err := yaml.Unmarshal(answer, &v); err != nil {
			bad("the body is not YAML: %v", err)
			return
		}
		raw, err := json.Marshal(v)
		if err != nil {
			bad("the YAML has no JSON form: %v", err)
			return
		}
		c.checkJSON(refOr(content.Schema.Ref, at), content.Schema.Value, raw, bad)
	case "text/html":
		if !bytes.HasPrefix(answer, []byte("<!doctype html>")) {
			bad("got %.40q, want an HTML document", answer)
		}
	case "image/png", "image/jpeg", "image/svg+xml":
		// HEAD has no body.
		got := http.DetectContentType(answer)
		if bytes.HasPrefix(answer, []byte("<svg ")) {
			got = "image/svg+xml"
		}
		if got != media && len(answer) > 0 {
			bad("got bytes of %s, want %s", got, media)
		}
	case "text/csv":
		if _, err := csv.NewReader(bytes.NewReader(answer)).ReadAll(); err != nil {
			bad("the body is not CSV: %v", err)
		}
	case "application/x-ndjson":
		for line := range bytes.Lines(answer) {
			if !json.Valid(line) {
				bad("got line %.40q, want JSON", line)
			}
		}
	default:
		bad("no way to check the documented media type %s", media)
	}
}

func (c *Contract) checkHeader(h http.Header, name string, ref *openapi3.HeaderRef, pointer string, bad reportProblem) {
	values := h.Values(name)
	switch {
	case len(values) == 0 && ref.Value.Required:
		bad("header %s is missing", name)
		return
	case len(values) == 0:
		return
	case len(values) > 1:
		bad("header %s is there %d times", name, len(values))
	}
	var v any = values[0]
	if ref.Value.Schema.Value.Type.Is("integer") {
		v = json.Number(values[0])
		if _, err := strconv.ParseInt(values[0], 10, 64); err != nil {
			bad("header %s is %q, want an integer", name, values[0])
			return
		}
	}
	s, err := c.schema(pointer + "/schema")
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		bad("header %s: %v", name, err)
	}
}

// checkJSON validates a document against the schema at a pointer, and reports
// members that the schema does not name.
func (c *Contract) checkJSON(pointer string, schema *openapi3.Schema, raw []byte, bad reportProblem) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		bad("the body is not JSON: %v", err)
		return
	}
	s, err := c.schema(pointer)
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		bad("the body differs from %s: %v", pointer, err)
	}
	for _, path := range undocumentedMembers(schema, v, "") {
		bad("member %s is not documented in %s", path, pointer)
	}
}

// undocumentedMembers returns the members that a schema does not name. A schema
// without properties, or with additional ones allowed, names all.
func undocumentedMembers(s *openapi3.Schema, v any, path string) []string {
	var list []string
	switch v := v.(type) {
	case []any:
		if s.Items == nil {
			return nil
		}
		for i, item := range v {
			list = append(list, undocumentedMembers(s.Items.Value, item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case map[string]any:
		more := s.AdditionalProperties
		if len(s.Properties) == 0 || more.Schema != nil || more.Has != nil && *more.Has {
			return nil
		}
		for name, item := range v {
			p := s.Properties[name]
			if p == nil {
				list = append(list, path+"."+name)
				continue
			}
			list = append(list, undocumentedMembers(p.Value, item, path+"."+name)...)
		}
	}
	return list
}

// acceptedBody returns the accepted part of a request body: lines become an
// array, and items that the answer lists as rejected are dropped.
func acceptedBody(r *http.Request, body, answer []byte) []byte {
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media == "application/x-ndjson" {
		lines := bytes.FieldsFunc(body, func(c rune) bool { return c == '\n' })
		for i, line := range lines {
			if !json.Valid(line) {
				lines[i] = []byte("null") // one of the rejected items
			}
		}
		body = slices.Concat([]byte("["), bytes.Join(lines, []byte(",")), []byte("]"))
	}
	var result struct {
		Data struct {
			RejectedCount int `json:"rejected_count"`
			Rejected      []struct{ Index int }
		}
	}
	var items []json.RawMessage
	if json.Unmarshal(answer, &result) != nil || result.Data.RejectedCount == 0 || json.Unmarshal(body, &items) != nil {
		return body
	}
	if result.Data.RejectedCount > len(result.Data.Rejected) {
		return []byte("[]") // it is unknown which other items were accepted
	}
	for _, item := range slices.Backward(result.Data.Rejected) {
		items = slices.Delete(items, item.Index, item.Index+1)
	}
	rest, err := json.Marshal(items)
	if err != nil {
		return body
	}
	return rest
}

// checkRequest checks that a successful request is valid by the contract, so
// that everything the service accepts is documented.
func (c *Contract) checkRequest(op *Operation, params map[string]string, r *http.Request, body []byte, bad reportProblem) {
	clone := r.Clone(context.Background())
	clone.Body = http.NoBody
	for name := range clone.URL.Query() {
		if op.Parameter("query", name) == nil && len(*op.Security) > 0 {
			bad("query parameter %s was accepted and is not documented", name)
		}
	}
	input := &openapi3filter.RequestValidationInput{
		Request: clone, PathParams: params,
		Route: &routers.Route{Spec: c.Doc, Path: op.Path, PathItem: op.Item, Method: op.Method, Operation: op.Operation},
		Options: &openapi3filter.Options{
			ExcludeRequestBody: true, SkipSettingDefaults: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
		},
	}
	if err := openapi3filter.ValidateRequest(clone.Context(), input); err != nil {
		bad("the request was accepted and is not documented: %v", err)
	}
	ref := op.RequestBody
	switch {
	case ref == nil:
		return
	case len(body) == 0:
		if ref.Value.Required {
			bad("an empty body was accepted where the contract requires one")
		}
		return
	}
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	content := ref.Value.Content[media]
	if content == nil {
		bad("Content-Type %q was accepted and is not documented", media)
		return
	}
	if content.Schema.Value.Format == "binary" {
		if most := content.Schema.Value.MaxLength; most != nil && uint64(len(body)) > *most {
			bad("%d bytes were accepted, more than the documented %d", len(body), *most)
		}
		return
	}
	if media == "application/x-ndjson" {
		// A line has the schema of an array item.
		media = "application/json"
		content = ref.Value.Content[media]
	}
	at := refOr(ref.Ref, op.pointer()+"/requestBody") + "/content/" + escape(media) + "/schema"
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		bad("a body was accepted that is not JSON: %v", err)
		return
	}
	s, err := c.schema(refOr(content.Schema.Ref, at))
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		bad("a body was accepted that the contract refuses: %v", err)
	}
}
