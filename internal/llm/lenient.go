package llm

import (
	"errors"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxDepth is the deepest nesting that is read. Answers have six levels.
	maxDepth = 32
	// maxStarts is how many braces and brackets are tried as the start of the
	// JSON, because words before it can contain some.
	maxStarts = 5
	// maxAnswer is how much of an answer is read. The longest that is requested
	// has a fifth of it.
	maxAnswer = 1 << 20
)

var errSyntax = errors.New("no JSON")

// findJSON returns the first JSON object or array in a text that accept takes.
// The text may have a code fence or words around it. The JSON may have trailing
// commas, comments, names without quotes, single quotes, line ends and quotes in
// strings, and no end: then whole is false, and an item of a list, a text or a
// number that has no end is left out. The same holds for a list from its first
// invalid item on. found reports whether the text has any JSON.
func findJSON(text string, accept func(any) bool) (value any, whole, found bool) {
	text = text[:min(len(text), maxAnswer)]
	for range maxStarts {
		start := strings.IndexAny(text, "{[")
		if start < 0 {
			break
		}
		r := lenientReader{text: text[start:]}
		v, end, err := r.value(0)
		if err != nil {
			text = text[start+1:]
			continue
		}
		found = true
		if accept(v) {
			return v, end, true
		}
		text = r.text[r.at:]
	}
	return nil, false, found
}

// lenientReader reads one JSON value of a model.
type lenientReader struct {
	text string
	at   int
}

// next skips space and comments and returns the next byte, 0 at the end.
func (r *lenientReader) next() byte {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		end := ""
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			r.at++
			continue
		case strings.HasPrefix(rest, "//"):
			end = "\n"
		case strings.HasPrefix(rest, "/*"):
			end = "*/"
		default:
			return c
		}
		n := strings.Index(rest, end)
		if n < 0 {
			r.at = len(r.text)
			return 0
		}
		r.at += n + len(end)
	}
	return 0
}

// value reads a value. whole is false if the text ends before it.
func (r *lenientReader) value(depth int) (v any, whole bool, err error) {
	if depth > maxDepth {
		return nil, false, errSyntax
	}
	switch c := r.next(); c {
	case 0:
		return nil, false, nil
	case '{':
		return r.object(depth)
	case '[':
		return r.array(depth)
	case '"', '\'':
		return r.string(c)
	default:
		return r.literal()
	}
}

func (r *lenientReader) object(depth int) (any, bool, error) {
	members := map[string]any{}
	for r.at++; ; {
		var name any
		var whole bool
		var err error
		switch c := r.next(); c {
		case 0:
			return members, false, nil
		case '}':
			r.at++
			return members, true, nil
		case ',':
			r.at++
			continue
		case '"', '\'':
			name, whole, err = r.string(c)
		default:
			name, whole, err = r.bareName()
		}
		if err != nil {
			return nil, false, err
		}
		if c := r.next(); !whole || c == 0 {
			return members, false, nil
		} else if c != ':' {
			return nil, false, errSyntax
		}
		r.at++
		v, whole, err := r.value(depth + 1)
		if err != nil {
			return nil, false, err
		}
		// The start of a list or of a wrapper is kept; that of a text is not.
		if key, ok := name.(string); ok && v != nil {
			members[key] = v
		}
		if !whole {
			return members, false, nil
		}
	}
}

func (r *lenientReader) array(depth int) (any, bool, error) {
	items := []any{}
	for r.at++; ; {
		switch r.next() {
		case 0:
			return items, false, nil
		case ']':
			r.at++
			return items, true, nil
		case ',':
			r.at++
			continue
		}
		v, whole, err := r.value(depth + 1)
		if err != nil && len(items) == 0 {
			return nil, false, err
		}
		if err != nil || !whole {
			return items, false, nil //nolint:nilerr // the items before the invalid one are kept
		}
		items = append(items, v)
	}
}

// bareName reads the name of a member that has no quotes.
func (r *lenientReader) bareName() (any, bool, error) {
	start := r.at
	for r.at < len(r.text) && (unicode.IsLetter(rune(r.text[r.at])) || r.text[r.at] == '_') {
		r.at++
	}
	if r.at == start {
		return nil, false, errSyntax
	}
	return r.text[start:r.at], r.at < len(r.text), nil
}

// string reads a text up to a quote after which JSON can go on, so that other
// quotes are part of the text.
func (r *lenientReader) string(quote byte) (any, bool, error) {
	for end := r.at + 1; end < len(r.text); end++ {
		switch r.text[end] {
		case '\\':
			end++
		case quote:
			after := lenientReader{text: r.text, at: end + 1}
			if c := after.next(); c != 0 && strings.IndexByte(",:]}\"{[", c) < 0 {
				continue
			}
			quoted := r.text[r.at+1 : end]
			r.at = end + 1
			return unquote(quoted), true, nil
		}
	}
	r.at = len(r.text)
	return nil, false, nil
}

// unquote returns the text of a JSON string. If an escape is invalid, the text
// has it without its backslash.
func unquote(quoted string) string {
	escaped := strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`, `\\`, `\\`, `\"`, `\"`, `\'`, `'`, `"`, `\"`).Replace(quoted)
	text, err := jsontext.AppendUnquote(nil, `"`+escaped+`"`)
	if err != nil {
		return strings.ReplaceAll(quoted, `\`, "")
	}
	return string(text)
}

// literal reads a number, true, false or null. Numbers stay text.
func (r *lenientReader) literal() (any, bool, error) {
	start := r.at
	for r.at < len(r.text) && (unicode.IsLetter(rune(r.text[r.at])) || unicode.IsDigit(rune(r.text[r.at])) || strings.IndexByte("+-.", r.text[r.at]) >= 0) {
		r.at++
	}
	word := jsontext.Value(r.text[start:r.at])
	switch {
	case r.at == len(r.text):
		return nil, false, nil // more of it may be missing
	case string(word) == "None":
		return nil, true, nil
	case string(word) == "True" || string(word) == "False":
		return string(word) == "True", true, nil
	case !word.IsValid():
		return nil, false, errSyntax
	case word.Kind() == 'n':
		return nil, true, nil
	case word.Kind() == 't', word.Kind() == 'f':
		return word.Kind() == 't', true, nil
	}
	return word, true, nil
}
