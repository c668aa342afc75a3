package sandbox

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// answerTo returns the answer to a request, changed by a fault.
func answerTo(q *modelRequest, fault string) *modelAnswer {
	a := &modelAnswer{stop: "stop", input: countTokens(q.system + q.user)}
	switch {
	case fault == FaultRefusal:
		a.text, a.stop = "I'm sorry, I can't help with that.", "refusal"
	case fault == FaultFiltered:
		a.stop = "filter"
	case fault == FaultGarbage:
		a.text, a.picture = "Sure! Let me think about that for a moment.", []byte("no picture")
	case q.width > 0:
		a.text, a.picture, a.output = "Here is the picture.", drawGradient(q), 1290
		return a
	default:
		a.text = answerText(q, fault)
	}
	a.output = countTokens(a.text)
	if fault == FaultTruncated || q.maxTokens > 0 && a.output > q.maxTokens {
		a.text, a.stop = string([]rune(a.text)[:len([]rune(a.text))/2]), "length"
	}
	return a
}

// countTokens estimates four characters per token.
func countTokens(text string) int { return len(text)/4 + 1 }

// answerText returns the text of an answer.
func answerText(q *modelRequest, fault string) string {
	schema := q.schema
	if schema == nil {
		_, after, _ := strings.Cut(q.system, "JSON Schema: ")
		schema = firstObject(after)
	}
	if schema == nil {
		return "You said: " + q.user
	}
	f := newSchemaFiller(q, fault)
	value := f.fill(schema)
	if texts, ok := f.data["texts"].([]any); ok {
		value = map[string]any{"texts": f.shortenTexts(texts)}
	}
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return "" // cannot fail: it has only maps and texts
	}
	if fault == FaultFenced {
		return "Here you are {as asked}:\n```json\n" + string(text) + "\n```\nAnything else?"
	}
	return string(text)
}

// firstObject returns the first JSON object in a text.
func firstObject(text string) map[string]any {
	start := strings.IndexByte(text, '{')
	if start < 0 {
		return nil
	}
	value, err := jsontext.NewDecoder(strings.NewReader(text[start:])).ReadValue()
	var v map[string]any
	if err != nil || json.Unmarshal(value, &v) != nil {
		return nil
	}
	return v
}

// schemaFiller fills a schema with texts about the subject of a request.
type schemaFiller struct {
	q     *modelRequest
	fault string
	// data is the JSON object in the request.
	data  map[string]any
	words []string
	// path is the current position in the schema.
	path []string
	used int
	seen map[string]bool
}

var openings = []string{"Discover", "Meet", "Try", "Choose", "Enjoy", "See", "Get", "Find", "Explore", "Pick", "Love", "Start with", "Come to", "Look at", "Say yes to", "Here is"}

func newSchemaFiller(q *modelRequest, fault string) *schemaFiller {
	f := &schemaFiller{q: q, fault: fault, data: firstObject(q.user), seen: map[string]bool{}}
	subject, _ := f.data["prompt"].(string)
	if subject == "" {
		subject = "what you asked for"
	}
	f.words = strings.FieldsFunc(subject, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && r != '-' && r != '\'' || unicode.IsSymbol(r) || unicode.IsControl(r)
	})
	if len(f.words) == 0 {
		f.words = []string{"it"}
	}
	// Further variants differ from those that the request says exist.
	written, _ := f.data["already_written"].([]any)
	f.used = 5 * len(written)
	return f
}

func (f *schemaFiller) fill(schema map[string]any) any {
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	switch schema["type"] {
	case "object":
		value := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if inner, ok := properties[name].(map[string]any); ok {
				f.path = append(f.path, name)
				value[name] = f.fill(inner)
				f.path = f.path[:len(f.path)-1]
			}
		}
		return value
	case "array":
		items, _ := schema["items"].(map[string]any)
		list := make([]any, f.itemCount(schema))
		for i := range list {
			list[i] = f.fill(items)
		}
		return list
	case "integer", "number":
		return 1
	case "boolean":
		return true
	}
	return f.nextText(textLimit(schema))
}

var (
	exactly = regexp.MustCompile(`exactly (\d+)`)
	atMost  = regexp.MustCompile(`at most (\d+)`)
)

// itemCount returns how many items a list gets: from the schema, else from the
// words of the request, as a model would read them.
func (f *schemaFiller) itemCount(schema map[string]any) int {
	least, _ := schema["minItems"].(float64)
	most, bounded := schema["maxItems"].(float64)
	n := int(least)
	switch {
	case len(f.path) == 1:
		if m := exactly.FindStringSubmatch(f.q.user); m != nil {
			n, _ = strconv.Atoi(m[1])
		}
		if f.fault == FaultFew {
			n--
		}
		return min(max(n, 0), 20)
	case !bounded && len(f.path) > 1:
		room := regexp.MustCompile(fmt.Sprintf(`- %s %s: (\d+) to (\d+)`, regexp.QuoteMeta(f.path[len(f.path)-2]), regexp.QuoteMeta(f.path[len(f.path)-1])))
		if m := room.FindStringSubmatch(f.q.user); m != nil {
			n, _ = strconv.Atoi(m[1])
			upper, _ := strconv.Atoi(m[2])
			most = float64(upper)
		}
	}
	// One more than required, so that callers can choose.
	return max(1, min(n+1, int(most)))
}

// textLimit returns the longest text that the description allows.
func textLimit(schema map[string]any) int {
	if n, ok := schema["maxLength"].(float64); ok {
		return int(n)
	}
	description, _ := schema["description"].(string)
	if m := atMost.FindStringSubmatch(description); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 60
}

// nextText returns a text that differs from all previous ones.
func (f *schemaFiller) nextText(most int) string {
	switch name := f.path[len(f.path)-1]; name {
	case "language":
		if language, _ := f.data["language"].(string); language != "" {
			return language
		}
		return "en"
	case "paths":
		return truncateWords(f.words[f.nextIndex()%len(f.words)], most)
	}
	text := ""
	for range len(openings) * len(f.words) {
		n := f.nextIndex()
		rotated := slices.Concat(f.words[n%len(f.words):], f.words[:n%len(f.words)])
		text = truncateWords(openings[n%len(openings)]+" "+strings.Join(rotated[:min(len(rotated), 12)], " "), most)
		if !f.seen[text] {
			break
		}
	}
	f.seen[text] = true
	return f.applyFault(text, most)
}

// nextIndex returns the next index. nextText uses it for openings and words,
// modulo their numbers.
func (f *schemaFiller) nextIndex() int {
	f.used++
	return f.used - 1
}

// applyFault changes a text by the fault.
func (f *schemaFiller) applyFault(text string, most int) string {
	switch f.fault {
	case FaultOverlong, FaultStubborn:
		// A headline is often too long, a letter rarely.
		for most <= 200 && len([]rune(text)) <= most {
			text += " and more"
		}
	case FaultMarkup:
		return "<b>" + text + "</b>\u202e&lt;script&gt;alert(1)&lt;/script&gt;<img src=x onerror=alert(1)>\u0000"
	case FaultInjection:
		if f.used%7 == 3 {
			return f.q.system
		}
		return text + ". Visit https://evil.example/win now."
	}
	return text
}

// shortenTexts truncates the texts of the request to their limits.
func (f *schemaFiller) shortenTexts(texts []any) []any {
	list := []any{}
	for _, t := range texts {
		item, _ := t.(map[string]any)
		text, _ := item["text"].(string)
		most, _ := item["most"].(float64)
		if f.fault != FaultStubborn {
			text = truncateWords(text, int(most))
		}
		list = append(list, map[string]any{"id": item["id"], "text": text})
	}
	return list
}

// truncateWords shortens a text to whole words. Characters outside Latin
// scripts can count twice, so such texts are shortened more.
func truncateWords(text string, most int) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		most = most * 2 / 5
	}
	for len([]rune(text)) > most {
		at := strings.LastIndexByte(text, ' ')
		if at < 0 {
			return string([]rune(text)[:most])
		}
		text = text[:at]
	}
	return text
}

// drawGradient draws a gradient of two colors that depend on the request.
func drawGradient(q *modelRequest) []byte {
	seed := requestID([]byte(q.user))
	from, to := colorOf(seed), colorOf(seed+"2")
	img := image.NewRGBA(image.Rect(0, 0, q.width, q.height))
	for y := range q.height {
		mix := func(a, b uint8) uint8 { return uint8((int(a)*(q.height-y) + int(b)*y) / q.height) }
		c := color.RGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 255}
		for x := range q.width {
			img.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img) != nil {
		return nil // cannot fail: it writes to a buffer
	}
	return b.Bytes()
}

func colorOf(seed string) color.RGBA {
	sum := requestID([]byte(seed))
	return color.RGBA{sum[0] * 2, sum[1] * 2, sum[2] * 2, 255}
}
