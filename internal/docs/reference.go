package docs

import (
	"cmp"
	"html/template"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Inputs of the reference's template.
type (
	referenceView struct {
		Intro  template.HTML
		Groups []groupView
		// Objects are the schemas of answers, each described once.
		Objects []objectView
	}
	groupView struct {
		ID, Name, Description string
		Operations            []operationView
	}
	operationView struct {
		ID, Method, Path, Summary, Description string
		Public                                 bool
		Parameters                             []parameterView
		Body                                   *bodyView
		Responses                              []responseView
		Errors                                 []string
		Curl, Answer                           string
	}
	parameterView struct {
		field
		In, Example string
	}
	bodyView struct {
		Types    []string
		Required bool
		Fields   []field
		// Whole describes a body without members.
		Whole string
	}
	responseView struct {
		Status, Description string
		// Object is the schema of the answer, if it is described.
		Object string
		List   bool
	}
	objectView struct {
		Name, Description string
		Fields            []field
	}
)

// referencePage returns the whole contract on one page.
func (s *Site) referencePage() (*page, error) {
	c, err := s.contract()
	if err != nil {
		return nil, err
	}
	intro, contents, err := renderMarkdown([]byte(c.Info.Description))
	if err != nil {
		return nil, err
	}
	v := referenceView{Intro: intro}
	objects := map[string]bool{}
	for _, tag := range c.Tags {
		g := groupView{ID: "tag-" + strings.ToLower(tag.Name), Name: tag.Name, Description: tag.Description}
		entry := heading{ID: g.ID, Text: g.Name}
		for _, path := range c.Paths {
			for _, o := range path.Value.operations() {
				if slices.Contains(o.Value.Tags, tag.Name) {
					g.Operations = append(g.Operations, c.operationView(o.Name, path.Name, path.Value, o.Value, objects))
					entry.Sub = append(entry.Sub, heading{ID: o.Value.ID, Text: o.Value.Summary})
				}
			}
		}
		v.Groups = append(v.Groups, g)
		contents = append(contents, entry)
	}
	entry := heading{ID: "objects", Text: "Objects"}
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		o := c.Components.Schemas[name]
		v.Objects = append(v.Objects, objectView{Name: name, Description: o.Description, Fields: c.fields(o)})
		entry.Sub = append(entry.Sub, heading{ID: "object-" + name, Text: name})
	}
	return &page{
		Title: "API reference", Summary: "Every operation of the Fanfare API with its parameters, fields, limits, answers and errors.",
		name: "reference", Data: v, Contents: append(contents, entry),
	}, nil
}

func (c *contract) operationView(method, path string, item *pathItem, o *operation, objects map[string]bool) operationView {
	v := operationView{
		ID: o.ID, Method: method, Path: path, Summary: o.Summary, Description: o.Description,
		Public: o.Security != nil && len(*o.Security) == 0,
	}
	parameters := make([]*parameter, 0, len(item.Parameters)+len(o.Parameters))
	for _, p := range slices.Concat(item.Parameters, o.Parameters) {
		parameters = append(parameters, resolveRef(c.Components.Parameters, p.Ref, p))
	}
	for _, p := range parameters {
		f := c.fieldOf(p.Schema, p.Name, p.Required)
		f.Description = cmp.Or(p.Description, f.Description)
		v.Parameters = append(v.Parameters, parameterView{f, p.In, queryExample(p)})
	}
	var sent *media
	mediaType := ""
	if o.RequestBody != nil {
		b := resolveRef(c.Components.RequestBodies, o.RequestBody.Ref, o.RequestBody)
		v.Body = c.requestBodyView(b)
		sent, mediaType = b.Content[0].Value, b.Content[0].Name
	}
	for _, r := range o.Responses {
		res := resolveRef(c.Components.Responses, r.Value.Ref, r.Value)
		line := responseView{Status: r.Name, Description: res.Description}
		if len(res.Content) > 0 {
			line.Object, line.List = c.answeredObject(res.Content[0].Value.Schema)
		}
		if r.Name >= "400" {
			line.Object = ""
			v.Errors = append(v.Errors, c.errorCodes(res)...)
		}
		if line.Object != "" {
			objects[line.Object] = true
		}
		if r.Name < "300" && v.Answer == "" {
			v.Answer = c.firstExample(res.Content)
		}
		v.Responses = append(v.Responses, line)
	}
	slices.Sort(v.Errors)
	v.Errors = slices.Compact(v.Errors)
	v.Curl = c.curlCommand(&v, parameters, sent, mediaType)
	return v
}

func (c *contract) requestBodyView(b *requestBody) *bodyView {
	v := &bodyView{Required: b.Required, Fields: c.fields(b.Content[0].Value.Schema)}
	for _, m := range b.Content {
		v.Types = append(v.Types, m.Name)
	}
	if len(v.Fields) == 0 {
		s := c.resolve(b.Content[0].Value.Schema)
		v.Whole = cmp.Or(b.Description, s.Description, "The file as it is.")
	}
	return v
}

// answeredObject returns the name of the object in an envelope.
func (c *contract) answeredObject(s *schema) (name string, list bool) {
	for _, p := range c.resolve(s).Properties {
		if p.Name != "data" {
			continue
		}
		d := p.Value
		if items := c.resolve(d).Items; items != nil {
			d, list = items, true
		}
		if d.Ref == "" && s.Ref != "" {
			d = s
			list = false
		}
		return d.Ref[strings.LastIndexByte(d.Ref, '/')+1:], list
	}
	return "", false
}

var quotedCode = regexp.MustCompile("`([a-z_]+)`")

// errorCodes returns the error codes of a response.
func (c *contract) errorCodes(res *response) []string {
	var list []string
	known := func(code string) bool {
		for _, e := range c.Errors {
			if e.Code == code {
				return true
			}
		}
		return false
	}
	for _, m := range quotedCode.FindAllStringSubmatch(res.Description, -1) {
		if known(m[1]) {
			list = append(list, m[1])
		}
	}
	for _, m := range res.Content {
		for _, e := range m.Value.Examples {
			var v struct{ Error struct{ Code string } }
			ex := resolveRef(c.Components.Examples, e.Value.Ref, e.Value)
			if ex.Value.Decode(&v) == nil && known(v.Error.Code) {
				list = append(list, v.Error.Code)
			}
		}
	}
	return list
}

// queryExample returns a parameter's example in the form of a query.
func queryExample(p *parameter) string {
	var list []string
	if p.Example.Decode(&list) == nil {
		return strings.Join(list, ",")
	}
	return p.Example.Value
}

func (c *contract) firstExample(content orderedMap[media]) string {
	for _, m := range content {
		for _, e := range m.Value.Examples {
			return exampleJSON(&resolveRef(c.Components.Examples, e.Value.Ref, e.Value).Value)
		}
	}
	return ""
}

// curlCommand returns the call as a command.
func (c *contract) curlCommand(v *operationView, parameters []*parameter, sent *media, mediaType string) string {
	path := v.Path
	var query []string
	for _, p := range parameters {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", queryExample(p))
		case p.In == "query" && p.Required:
			query = append(query, p.Name+"="+queryExample(p))
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	var b strings.Builder
	b.WriteString("curl -s")
	if v.Method != http.MethodGet && (v.Method != http.MethodPost || sent == nil) {
		b.WriteString(" -X " + v.Method)
	}
	b.WriteString(" " + strconv.Quote("$FANFARE_URL"+path))
	if !v.Public {
		b.WriteString(" \\\n  -H \"Authorization: Bearer $FANFARE_API_KEY\"")
	}
	if sent == nil {
		return b.String()
	}
	b.WriteString(" \\\n  -H \"Content-Type: " + mediaType + "\"")
	if strings.HasSuffix(mediaType, "json") {
		body := c.firstExample(orderedMap[media]{{mediaType, sent}})
		b.WriteString(" \\\n  -d '" + strings.ReplaceAll(body, "'", `'\''`) + "'")
	} else {
		b.WriteString(" \\\n  --data-binary @file")
	}
	return b.String()
}
