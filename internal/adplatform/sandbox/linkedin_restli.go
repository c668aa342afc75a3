package sandbox

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// parseRestli parses a query in which parentheses, commas and colons have a
// meaning unless they are escaped: (a:1,b:List(2,3)). Objects become maps,
// lists slices, everything else strings.
func parseRestli(query string) (map[string]any, error) {
	found := map[string]any{}
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, text, _ := strings.Cut(part, "=")
		if name == "fields" {
			// This parameter has the format of an older protocol version.
			found[name] = text
			continue
		}
		p := restliParser{text}
		value, err := p.value()
		if err != nil || p.rest != "" {
			return nil, fmt.Errorf("parameter %s cannot be read", name)
		}
		found[name] = value
	}
	return found, nil
}

// restliParser parses a value at the start of the remaining text.
type restliParser struct{ rest string }

var errRestli = errors.New("a bracket is not closed")

func (p *restliParser) value() (any, error) {
	switch {
	case p.skip("List("):
		list := []any{}
		for !p.skip(")") {
			value, err := p.value()
			if err != nil {
				return nil, err
			}
			list = append(list, value)
			if !p.skip(",") && !strings.HasPrefix(p.rest, ")") {
				return nil, errRestli
			}
		}
		return list, nil
	case p.skip("("):
		object := map[string]any{}
		for !p.skip(")") {
			name, err := p.text()
			if err != nil || !p.skip(":") {
				return nil, errRestli
			}
			if object[name], err = p.value(); err != nil {
				return nil, err
			}
			if !p.skip(",") && !strings.HasPrefix(p.rest, ")") {
				return nil, errRestli
			}
		}
		return object, nil
	}
	return p.text()
}

// text reads up to the next punctuation.
func (p *restliParser) text() (string, error) {
	end := strings.IndexAny(p.rest, ",():")
	if end < 0 {
		end = len(p.rest)
	}
	text, err := url.QueryUnescape(p.rest[:end])
	p.rest = p.rest[end:]
	return text, err
}

func (p *restliParser) skip(token string) (found bool) {
	p.rest, found = strings.CutPrefix(p.rest, token)
	return found
}

// restliWord returns a word that may be alone or the value of an object.
func restliWord(value any) string {
	if object, ok := value.(map[string]any); ok {
		value = object["value"]
	}
	word, _ := value.(string)
	return word
}

// restliTexts returns a list of strings; ok is false for any other value.
func restliTexts(value any) (texts []string, ok bool) {
	list, ok := value.([]any)
	for _, v := range list {
		text, is := v.(string)
		ok = ok && is
		texts = append(texts, text)
	}
	return texts, ok
}

// linkedInParameters are the parameters of the finders.
var linkedInParameters = map[string]string{
	"adAnalytics": " q pivot pivots timeGranularity dateRange accounts campaigns creatives campaignGroups shares companies campaignType objectiveType sortBy fields start count ",
	"adAccounts":  " q search pageSize pageToken sortOrder fields ",
	"adCampaigns": " q search pageSize pageToken sortOrder fields ",
	"creatives":   " q creatives campaigns contentReferences intendedStatuses isTestAccount isTotalIncluded leadgenCreativeCallToActionDestinations pageSize pageToken sortOrder fields ",
	"adSegments":  " q accounts start count fields ",
}

// checkParameters rejects parameters that a finder does not have.
func (c *linkedInCall) checkParameters() *linkedInError {
	known, limited := linkedInParameters[c.resource()]
	if _, finder := c.query["q"]; !limited || !finder {
		return nil
	}
	for name := range c.query {
		if !strings.Contains(known, " "+name+" ") {
			return &linkedInError{Status: 400, Code: "QUERY_PARAM_NOT_ALLOWED", Message: "The query parameter " + name + " is not allowed."}
		}
	}
	return nil
}

// resource returns the name of the resource of a call: the last part of the path
// that is not an id.
func (c *linkedInCall) resource() (name string) {
	for part := range strings.SplitSeq(c.r.URL.Path, "/") {
		if part != "" && (part[0] < '0' || part[0] > '9') {
			name = part
		}
	}
	return name
}

// project limits objects to the fields that a call asks for. Reports have their
// own fields.
func (c *linkedInCall) project(answer any) any {
	text, given := c.query["fields"].(string)
	whole, is := answer.(map[string]any)
	if !given || !is || c.resource() == "adAnalytics" {
		return answer
	}
	only := func(object map[string]any) map[string]any {
		kept := map[string]any{}
		for name := range strings.SplitSeq(text, ",") {
			if value, there := object[name]; there {
				kept[name] = value
			}
		}
		return kept
	}
	elements, isList := whole["elements"].([]any)
	if !isList {
		return only(whole)
	}
	for i, element := range elements {
		if object, is := element.(map[string]any); is {
			elements[i] = only(object)
		}
	}
	return whole
}
