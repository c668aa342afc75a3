package sandbox

import (
	"slices"
	"strconv"
	"strings"
)

// gaql is a query in Google's query language.
type gaql struct {
	fields []string
	from   string
	where  []gaqlCondition
	order  []gaqlOrder
	// limit is 0 for no limit.
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

// gaqlParser reads a query word by word.
type gaqlParser struct {
	rest string
	// text says that the last word was in quotes.
	text bool
}

const gaqlLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

// nextWord returns the next word, empty at the end.
func (r *gaqlParser) nextWord() string {
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

// acceptWord consumes a word if it comes next.
func (r *gaqlParser) acceptWord(word string) bool {
	before := *r
	if strings.EqualFold(r.nextWord(), word) && !r.text {
		return true
	}
	*r = before
	return false
}

// wordList reads words separated by commas.
func (r *gaqlParser) wordList() []string {
	words := []string{r.nextWord()}
	for r.acceptWord(",") {
		words = append(words, r.nextWord())
	}
	return words
}

// parseGAQL parses a query. The order of clauses is fixed, as it is at Google.
func parseGAQL(text string) (*gaql, *googleFailure) {
	r, q := &gaqlParser{rest: text}, &gaql{}
	if !r.acceptWord("SELECT") {
		return nil, queryError("EXPECTED_SELECT", "A query begins with SELECT.")
	}
	q.fields = r.wordList()
	if !r.acceptWord("FROM") {
		return nil, queryError("EXPECTED_FROM", "FROM comes behind the fields.")
	}
	q.from = r.nextWord()
	if r.acceptWord("WHERE") {
		for more := true; more; more = r.acceptWord("AND") {
			c, failure := r.condition()
			if failure != nil {
				return nil, failure
			}
			q.where = append(q.where, c)
		}
	}
	if r.acceptWord("ORDER") {
		if !r.acceptWord("BY") {
			return nil, queryError("EXPECTED_BY", "BY comes behind ORDER.")
		}
		for more := true; more; more = r.acceptWord(",") {
			o := gaqlOrder{field: r.nextWord(), descending: r.acceptWord("DESC")}
			_ = o.descending || r.acceptWord("ASC")
			q.order = append(q.order, o)
		}
	}
	if r.acceptWord("LIMIT") {
		n, err := strconv.Atoi(r.nextWord())
		if err != nil || n < 1 {
			return nil, queryError("BAD_LIMIT_VALUE", "LIMIT needs a number above 0.")
		}
		q.limit = n
	}
	if word := r.nextWord(); word != "" {
		return nil, queryError("UNEXPECTED_INPUT", "Nothing is understood from "+strconv.Quote(word)+" on.")
	}
	return q, nil
}

func (r *gaqlParser) condition() (gaqlCondition, *googleFailure) {
	c := gaqlCondition{field: r.nextWord(), operator: strings.ToUpper(r.nextWord())}
	if c.operator == "NOT" && r.acceptWord("IN") {
		c.operator = "NOT IN"
	}
	switch c.operator {
	case "=", "!=", ">", ">=", "<", "<=":
		c.values = []string{r.nextWord()}
	case "BETWEEN":
		c.values = []string{r.nextWord()}
		if !r.acceptWord("AND") {
			return c, queryError("EXPECTED_VALUE_WITH_BETWEEN_OPERATOR", "BETWEEN needs two values with AND between them.")
		}
		c.values = append(c.values, r.nextWord())
	case "IN", "NOT IN":
		if !r.acceptWord("(") {
			return c, queryError("EXPECTED_LIST", c.operator+" needs a list in parentheses.")
		}
		c.values = r.wordList()
		if !r.acceptWord(")") {
			return c, queryError("EXPECTED_LIST", "The list of "+c.operator+" does not end.")
		}
	default:
		return c, queryError("BAD_OPERATOR", strconv.Quote(c.operator)+" is no operator that is played here.")
	}
	return c, nil
}

// matches reports whether a value satisfies the condition. Numbers are compared
// as numbers, all else as text, which is correct for dates.
func (c gaqlCondition) matches(value string) bool {
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
