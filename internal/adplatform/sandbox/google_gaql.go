package sandbox

import (
	"slices"
	"strconv"
	"strings"
)

// gaql is a question in Google's query language.
type gaql struct {
	fields []string
	from   string
	where  []gaqlCondition
	order  []gaqlOrder
	// limit is 0 for all.
	limit int
}

type gaqlCondition struct {
	field, operator string
	values          []string
}

type gaqlOrder struct {
	field      string
	descending bool
}

// gaqlReader reads a query word by word.
type gaqlReader struct {
	rest string
	// text says that the last word was in quotes.
	text bool
}

const gaqlLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

// next is the next word, empty at the end.
func (r *gaqlReader) next() string {
	r.rest, r.text = strings.TrimLeft(r.rest, " \t\r\n"), false
	if r.rest == "" {
		return ""
	}
	if quote := r.rest[0]; quote == '\'' || quote == '"' {
		if end := strings.IndexByte(r.rest[1:], quote); end >= 0 {
			word := r.rest[1 : end+1]
			r.rest, r.text = r.rest[end+2:], true
			return word
		}
	}
	n := len(r.rest) - len(strings.TrimLeft(r.rest, gaqlLetters))
	if n == 0 {
		n = 1
		if len(r.rest) > 1 && strings.IndexByte("!<>", r.rest[0]) >= 0 && r.rest[1] == '=' {
			n = 2
		}
	}
	word := r.rest[:n]
	r.rest = r.rest[n:]
	return word
}

// take reads a word if it comes next.
func (r *gaqlReader) take(word string) bool {
	before := *r
	if strings.EqualFold(r.next(), word) && !r.text {
		return true
	}
	*r = before
	return false
}

// list reads words with commas between them.
func (r *gaqlReader) list() []string {
	words := []string{r.next()}
	for r.take(",") {
		words = append(words, r.next())
	}
	return words
}

// readGAQL reads a query. The order of clauses is fixed, as it is at Google.
func readGAQL(text string) (*gaql, *googleFailure) {
	r, q := &gaqlReader{rest: text}, &gaql{}
	if !r.take("SELECT") {
		return nil, queryError("EXPECTED_SELECT", "A query begins with SELECT.")
	}
	q.fields = r.list()
	if !r.take("FROM") {
		return nil, queryError("EXPECTED_FROM", "FROM comes behind the fields.")
	}
	q.from = r.next()
	if r.take("WHERE") {
		for more := true; more; more = r.take("AND") {
			c, failure := r.condition()
			if failure != nil {
				return nil, failure
			}
			q.where = append(q.where, c)
		}
	}
	if r.take("ORDER") {
		if !r.take("BY") {
			return nil, queryError("EXPECTED_BY", "BY comes behind ORDER.")
		}
		for more := true; more; more = r.take(",") {
			o := gaqlOrder{field: r.next(), descending: r.take("DESC")}
			_ = o.descending || r.take("ASC")
			q.order = append(q.order, o)
		}
	}
	if r.take("LIMIT") {
		n, err := strconv.Atoi(r.next())
		if err != nil || n < 1 {
			return nil, queryError("BAD_LIMIT_VALUE", "LIMIT needs a number above 0.")
		}
		q.limit = n
	}
	if word := r.next(); word != "" {
		return nil, queryError("UNEXPECTED_INPUT", "Nothing is understood from "+strconv.Quote(word)+" on.")
	}
	return q, nil
}

func (r *gaqlReader) condition() (gaqlCondition, *googleFailure) {
	c := gaqlCondition{field: r.next(), operator: strings.ToUpper(r.next())}
	if c.operator == "NOT" && r.take("IN") {
		c.operator = "NOT IN"
	}
	switch c.operator {
	case "=", "!=", ">", ">=", "<", "<=":
		c.values = []string{r.next()}
	case "BETWEEN":
		c.values = []string{r.next()}
		if !r.take("AND") {
			return c, queryError("EXPECTED_VALUE_WITH_BETWEEN_OPERATOR", "BETWEEN needs two values with AND between them.")
		}
		c.values = append(c.values, r.next())
	case "IN", "NOT IN":
		if !r.take("(") {
			return c, queryError("EXPECTED_LIST", c.operator+" needs a list in parentheses.")
		}
		c.values = r.list()
		if !r.take(")") {
			return c, queryError("EXPECTED_LIST", "The list of "+c.operator+" does not end.")
		}
	default:
		return c, queryError("BAD_OPERATOR", strconv.Quote(c.operator)+" is no operator that is played here.")
	}
	return c, nil
}

// holds says whether a value meets the condition. Numbers are compared as
// numbers, all else as text, which is right for dates.
func (c gaqlCondition) holds(value string) bool {
	switch c.operator {
	case "=", "IN":
		return slices.ContainsFunc(c.values, func(v string) bool { return strings.EqualFold(v, value) })
	case "!=", "NOT IN":
		return !slices.ContainsFunc(c.values, func(v string) bool { return strings.EqualFold(v, value) })
	case ">":
		return compareGAQL(value, c.values[0]) > 0
	case ">=":
		return compareGAQL(value, c.values[0]) >= 0
	case "<":
		return compareGAQL(value, c.values[0]) < 0
	case "<=":
		return compareGAQL(value, c.values[0]) <= 0
	}
	return compareGAQL(value, c.values[0]) >= 0 && compareGAQL(value, c.values[1]) <= 0
}

func compareGAQL(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX != nil || errY != nil:
		return strings.Compare(a, b)
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
