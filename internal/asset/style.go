package asset

import (
	"regexp"
	"strings"
)

// properties are the allowed style properties, as attributes and in style.
var properties = wordSet(`fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin
	stroke-miterlimit stroke-dasharray stroke-dashoffset paint-order vector-effect color opacity visibility display overflow
	clip-path clip-rule mask stop-color stop-opacity transform-origin
	font-family font-size font-style font-weight font-stretch font-variant text-anchor text-decoration letter-spacing word-spacing
	dominant-baseline alignment-baseline baseline-shift writing-mode direction unicode-bidi shape-rendering text-rendering color-rendering
	color-interpolation mix-blend-mode isolation`)

const (
	// maxValue and maxSheet limit the length of styles. Drawing programs write
	// shorter ones.
	maxValue = 4 << 10
	maxSheet = 1 << 20
)

// colorFunctions are the allowed functions in values. None of them fetches
// anything.
var colorFunctions = wordSet(`rgb rgba hsl hsla`)

var (
	styleLetters = newByteSet(" .,%#+()-")
	call         = regexp.MustCompile(`([\w-]*)\s*\(`)
	localURL     = regexp.MustCompile(`^url\( ?['"]?#([A-Za-z_][\w.-]*)['"]? ?\)( [\w#]+)?$`)
	comment      = regexp.MustCompile(`(?s)/\*.*?\*/`)
	spaces       = regexp.MustCompile(`\s+`)
	selector     = regexp.MustCompile(`^[.#]?[A-Za-z_][\w-]*$`)
)

// drawingProperties are the properties whose references draw content. All
// others refer to colors.
var drawingProperties = wordSet(`clip-path mask`)

// cleanValue returns a safe value of a property, or empty. References may only
// name ids of the same SVG. It drops references that draw content where their
// number cannot be determined.
func cleanValue(property, value string, drawn bool) string {
	if len(value) > maxValue {
		return ""
	}
	if property == "font-family" {
		value = strings.NewReplacer(`'`, "", `"`, "").Replace(value)
	}
	value = strings.TrimSpace(spaces.ReplaceAllString(value, " "))
	if m := localURL.FindStringSubmatch(value); m != nil {
		if drawingProperties[property] && drawn || property == "fill" || property == "stroke" {
			return "url(#" + m[1] + ")" + m[2]
		}
		return ""
	}
	if !styleLetters.containsAll(value) {
		return ""
	}
	for _, m := range call.FindAllStringSubmatch(value, -1) {
		if !colorFunctions[m[1]] {
			return ""
		}
	}
	return value
}

// refsIn returns the ids that cleaned styles refer to.
func refsIn(value string) []string {
	var ids []string
	for {
		_, rest, found := strings.Cut(value, "url(#")
		if !found {
			return ids
		}
		var id string
		id, value, _ = strings.Cut(rest, ")")
		ids = append(ids, id)
	}
}

// cleanDeclarations cleans the declarations of a rule.
func cleanDeclarations(text string, drawn bool) string {
	if len(text) > maxSheet {
		return ""
	}
	var list []string
	for d := range strings.SplitSeq(text, ";") {
		property, value, _ := strings.Cut(d, ":")
		property = strings.ToLower(strings.TrimSpace(property))
		if !properties[property] {
			continue
		}
		if value = cleanValue(property, value, drawn); value != "" {
			list = append(list, property+":"+value)
		}
	}
	return strings.Join(list, ";")
}

// cleanSheet cleans a style sheet. It keeps rules for classes, ids and
// elements, which drawing programs write.
func cleanSheet(text string) string {
	if len(text) > maxSheet {
		return ""
	}
	var b strings.Builder
	for rule := range strings.SplitSeq(comment.ReplaceAllString(text, " "), "}") {
		names, body, found := strings.Cut(rule, "{")
		if !found || strings.Contains(body, "{") {
			continue
		}
		// Skip statements such as @import, which end with a semicolon, before a
		// rule.
		names = names[strings.LastIndexByte(names, ';')+1:]
		var kept []string
		for s := range strings.SplitSeq(names, ",") {
			if s = strings.TrimSpace(s); selector.MatchString(s) {
				kept = append(kept, s)
			}
		}
		if body = cleanDeclarations(body, false); len(kept) > 0 && body != "" {
			b.WriteString(strings.Join(kept, ",") + "{" + body + "}")
		}
	}
	return b.String()
}
