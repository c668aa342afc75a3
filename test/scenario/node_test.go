package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value that keeps the order of its members. Its kind is one of
// n t f " 0 { [ as in jsontext.
type node struct {
	kind    jsontext.Kind
	text    string
	members []member
	items   []*node
}

type member struct {
	name  string
	value *node
}

func (n *node) get(name string) *node {
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// isJSON reports whether a text should be JSON.
func isJSON(text string) bool {
	return strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "{{") || strings.HasPrefix(text, "[")
}

func parse(text string) (*node, error) {
	d := jsontext.NewDecoder(strings.NewReader(text))
	n, err := read(d)
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the JSON value")
	}
	return n, nil
}

func read(d *jsontext.Decoder) (*node, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{kind: t.Kind(), text: t.String()}
	switch n.kind {
	case '{':
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			v, err := read(d)
			if err != nil {
				return nil, err
			}
			n.members = append(n.members, member{key, v})
		}
		_, err = d.ReadToken()
	case '[':
		for d.PeekKind() != ']' {
			v, err := read(d)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, v)
		}
		_, err = d.ReadToken()
	default:
	}
	return n, err
}

// String writes the value on one line.
func (n *node) String() string {
	var b bytes.Buffer
	n.write(&b)
	return b.String()
}

func (n *node) write(b *bytes.Buffer) {
	switch n.kind {
	case '{':
		b.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				b.WriteString(", ")
			}
			b.Write(quote(m.name))
			b.WriteString(": ")
			m.value.write(b)
		}
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		for i, v := range n.items {
			if i > 0 {
				b.WriteString(", ")
			}
			v.write(b)
		}
		b.WriteByte(']')
	case '"':
		b.Write(quote(n.text))
	default:
		b.WriteString(n.text)
	}
}

func quote(s string) []byte {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err)
	}
	return b
}

// lineWidth is the longest value that is not broken into lines.
const lineWidth = 100

// pretty writes the value for readers: short values on one line.
func (n *node) pretty(b *strings.Builder, indent string) {
	line := n.String()
	if len(indent)+len(line) <= lineWidth || n.kind != '{' && n.kind != '[' {
		b.WriteString(line)
		return
	}
	deeper := indent + "  "
	open, end := "{", "}"
	count := len(n.members)
	if n.kind == '[' {
		open, end, count = "[", "]", len(n.items)
	}
	b.WriteString(open)
	for i := range count {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + deeper)
		if n.kind == '{' {
			b.Write(quote(n.members[i].name))
			b.WriteString(": ")
			n.members[i].value.pretty(b, deeper)
		} else {
			n.items[i].pretty(b, deeper)
		}
	}
	b.WriteString("\n" + indent + end)
}
