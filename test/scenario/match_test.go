package scenario

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var placeholder = regexp.MustCompile(`\{\{([^{}]+)\}\}`)

// captures are the captured values of a conversation.
type captures struct {
	values map[string]string
	begin  time.Time
}

const timeFormat = "2006-01-02T15:04:05.000Z"

// replacePlaceholders replaces placeholders by their values.
func (m *captures) replacePlaceholders(text string) (string, error) {
	var fault error
	out := placeholder.ReplaceAllStringFunc(text, func(p string) string {
		v, err := m.placeholderValue(strings.Fields(p[2 : len(p)-2]))
		if err != nil {
			fault = err
		}
		return v
	})
	return out, fault
}

func (m *captures) placeholderValue(words []string) (string, error) {
	if len(words) == 1 {
		if v, known := m.values[words[0]]; known {
			return v, nil
		}
		return "", fmt.Errorf("nothing was captured as %q", words[0])
	}
	if len(words) == 2 {
		switch d, err := time.ParseDuration(words[1]); {
		case words[0] == "in" && err == nil:
			return m.begin.Add(d).UTC().Format(timeFormat), nil
		case words[0] == "ago" && err == nil:
			return m.begin.Add(-d).UTC().Format(timeFormat), nil
		}
		if n, err := strconv.Atoi(words[1]); words[0] == "letters" && err == nil {
			return strings.Repeat("x", n), nil
		}
	}
	return "", fmt.Errorf("{{%s}} is not a placeholder that can be used here", strings.Join(words, " "))
}

// pattern returns a regular expression for an expected text, and the names of
// its captures in order.
func (m *captures) pattern(want string) (*regexp.Regexp, []string, error) {
	var names []string
	expr, last := `(?s)^`, 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(want, -1) {
		expr += regexp.QuoteMeta(want[last:at[0]])
		last = at[1]
		words := strings.Fields(want[at[2]:at[3]])
		switch {
		case len(words) == 1 && words[0] == "any":
			expr += `.+`
		case len(words) == 1 && words[0] == "time":
			expr += `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
		case len(words) == 2 && words[0] == "capture":
			expr += `(.+?)`
			names = append(names, words[1])
		case len(words) == 3 && words[0] == "capture":
			expr += `(` + regexp.QuoteMeta(words[2]) + `_[0-9a-z]{26})`
			names = append(names, words[1])
		default:
			v, err := m.placeholderValue(words)
			if err != nil {
				return nil, nil, err
			}
			expr += regexp.QuoteMeta(v)
		}
	}
	re, err := regexp.Compile(expr + regexp.QuoteMeta(want[last:]) + `$`)
	return re, names, err
}

// match compares a text and stores its captures.
func (m *captures) match(want, got string) error {
	re, names, err := m.pattern(want)
	if err != nil {
		return err
	}
	groups := re.FindStringSubmatch(got)
	if groups == nil {
		return fmt.Errorf("got %s want %s", quoteShort(got), quoteShort(want))
	}
	for i, name := range names {
		m.values[name] = groups[i+1]
	}
	return nil
}

func quoteShort(s string) string {
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return strconv.Quote(s)
}

// clone returns a copy.
func (m *captures) clone() *captures { return &captures{maps.Clone(m.values), m.begin} }

// differences compares a document with the expected one and returns the
// differences with their paths.
func (m *captures) differences(want, got *node, at string) []string {
	if want.kind == '"' && placeholder.FindString(want.text) == want.text && got.kind != '"' {
		// A whole placeholder can be any scalar, {{any}} any value.
		switch {
		case got.kind == 'n':
		case want.text == "{{any}}":
			return nil
		case got.kind == '0':
			return problem(at, m.match(want.text, got.text))
		}
	}
	if want.kind != got.kind {
		return []string{fmt.Sprintf("%s: got %s want %s", at, got, want)}
	}
	switch want.kind {
	case '{':
		var list []string
		for _, w := range want.members {
			place := at + "." + w.name
			g := got.get(w.name)
			if g == nil {
				list = append(list, fmt.Sprintf("%s: is missing, want %s", place, w.value))
				continue
			}
			list = append(list, m.differences(w.value, g, place)...)
		}
		return list
	case '[':
		if len(want.items) != len(got.items) {
			return []string{fmt.Sprintf("%s: got %d items want %d", at, len(got.items), len(want.items))}
		}
		var list []string
		for i := range want.items {
			list = append(list, m.differences(want.items[i], got.items[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
		return list
	case '"':
		return problem(at, m.match(want.text, got.text))
	default:
		if want.text != got.text {
			return []string{fmt.Sprintf("%s: got %s want %s", at, got.text, want.text)}
		}
		return nil
	}
}

func problem(at string, err error) []string {
	if err == nil {
		return nil
	}
	return []string{at + ": " + err.Error()}
}
