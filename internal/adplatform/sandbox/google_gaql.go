package sandbox

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/clock"
)

// gaql is a query in Google's query language.
type gaql struct {
	fields []string
	from   string
	where  []gaqlCondition
	order  []gaqlOrder
	// limit is 0 for no limit.
	limit int
	// parameters are those of the clause PARAMETERS, such as include_drafts.
	parameters map[string]string
}

type gaqlCondition struct {
	field, operator string
	values          []string
	// pattern is that of LIKE and REGEXP_MATCH.
	pattern *regexp.Regexp
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
	if failure := r.parameters(q); failure != nil {
		return nil, failure
	}
	if word := r.nextWord(); word != "" {
		return nil, queryError("UNEXPECTED_INPUT", "Nothing is understood from "+strconv.Quote(word)+" on.")
	}
	return q, nil
}

// gaqlParameters are the parameters of queries.
var gaqlParameters = []string{"include_drafts", "omit_unselected_resource_names"}

// parameters reads the clause PARAMETERS.
func (r *gaqlParser) parameters(q *gaql) *googleFailure {
	if !r.acceptWord("PARAMETERS") {
		return nil
	}
	q.parameters = map[string]string{}
	for more := true; more; more = r.acceptWord(",") {
		name := r.nextWord()
		if !slices.Contains(gaqlParameters, name) {
			return queryError("BAD_PARAMETER_NAME", "There is no parameter "+strconv.Quote(name)+".")
		}
		equals := r.acceptWord("=")
		if value := r.nextWord(); !equals || value != "true" && value != "false" {
			return queryError("BAD_PARAMETER_VALUE", name+" is true or false.")
		}
	}
	return nil
}

// gaqlPhrases are the operators of several words, by their first word.
var gaqlPhrases = map[string][]string{
	"NOT": {"IN", "LIKE", "REGEXP_MATCH"}, "CONTAINS": {"ANY", "ALL", "NONE"}, "IS": {"NOT NULL", "NULL"},
}

// operator reads an operator.
func (r *gaqlParser) operator() string {
	first := strings.ToUpper(r.nextWord())
	for _, phrase := range gaqlPhrases[first] {
		before := *r
		words := strings.Fields(phrase)
		if !slices.ContainsFunc(words, func(word string) bool { return !r.acceptWord(word) }) {
			return first + " " + phrase
		}
		*r = before
	}
	return first
}

func (r *gaqlParser) condition() (gaqlCondition, *googleFailure) {
	c := gaqlCondition{field: r.nextWord(), operator: r.operator()}
	switch c.operator {
	case "IS NULL", "IS NOT NULL":
		c.values = []string{""}
	case "=", "!=", ">", ">=", "<", "<=":
		c.values = []string{r.nextWord()}
	case "DURING":
		c.values = []string{strings.ToUpper(r.nextWord())}
		if c.field != "segments.date" {
			return c, queryError("OPERATOR_FIELD_MISMATCH", "DURING is for segments.date.")
		}
		if _, _, ok := gaqlPeriod(c.values[0], 0); !ok {
			return c, queryError("INVALID_VALUE_WITH_DURING_OPERATOR", strconv.Quote(c.values[0])+" is no period.")
		}
	case "LIKE", "NOT LIKE", "REGEXP_MATCH", "NOT REGEXP_MATCH":
		return r.pattern(c)
	case "BETWEEN":
		c.values = []string{r.nextWord()}
		if !r.acceptWord("AND") {
			return c, queryError("EXPECTED_VALUE_WITH_BETWEEN_OPERATOR", "BETWEEN needs two values with AND between them.")
		}
		c.values = append(c.values, r.nextWord())
	case "IN", "NOT IN", "CONTAINS ANY", "CONTAINS ALL", "CONTAINS NONE":
		if !r.acceptWord("(") {
			return c, queryError("EXPECTED_LIST", c.operator+" needs a list in parentheses.")
		}
		c.values = r.wordList()
		if !r.acceptWord(")") {
			return c, queryError("EXPECTED_LIST", "The list of "+c.operator+" does not end.")
		}
	default:
		return c, queryError("BAD_OPERATOR", strconv.Quote(c.operator)+" is no operator.")
	}
	return c, nil
}

// pattern reads the value of LIKE or REGEXP_MATCH.
func (r *gaqlParser) pattern(c gaqlCondition) (gaqlCondition, *googleFailure) {
	c.values = []string{r.nextWord()}
	pattern := c.values[0]
	if strings.HasSuffix(c.operator, "LIKE") {
		pattern = likePattern(pattern)
	}
	compiled, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil || !r.text {
		return c, queryError("INVALID_VALUE_WITH_LIKE_OPERATOR", "The value of "+c.operator+" must be a pattern in quotes.")
	}
	c.pattern = compiled
	return c, nil
}

// likePattern converts a pattern of LIKE: a percent sign is any text, an
// underscore any letter, and both are themselves in brackets.
func likePattern(like string) string {
	text := regexp.QuoteMeta(like)
	for _, replacement := range [][2]string{{`\[%\]`, "\x00"}, {`\[_\]`, "\x01"}, {"%", "(?s:.*)"}, {"_", "(?s:.)"}, {"\x00", "%"}, {"\x01", "_"}} {
		text = strings.ReplaceAll(text, replacement[0], replacement[1])
	}
	return text
}

// gaqlPeriod returns the days of a period.
func gaqlPeriod(name string, today clock.Date) (first, last clock.Date, ok bool) {
	monday := today - clock.Date(today.Weekday())
	sunday := today - clock.Date((today.Weekday()+1)%7)
	month := today.FirstOfMonth()
	switch name {
	case "TODAY":
		return today, today, true
	case "YESTERDAY":
		return today - 1, today - 1, true
	case "LAST_7_DAYS":
		return today - 7, today - 1, true
	case "LAST_14_DAYS":
		return today - 14, today - 1, true
	case "LAST_30_DAYS":
		return today - 30, today - 1, true
	case "LAST_BUSINESS_WEEK":
		return monday - 7, monday - 3, true
	case "THIS_MONTH":
		return month, today, true
	case "LAST_MONTH":
		return (month - 1).FirstOfMonth(), month - 1, true
	case "THIS_WEEK_SUN_TODAY":
		return sunday, today, true
	case "THIS_WEEK_MON_TODAY":
		return monday, today, true
	case "LAST_WEEK_SUN_SAT":
		return sunday - 7, sunday - 1, true
	case "LAST_WEEK_MON_SUN":
		return monday - 7, monday - 1, true
	}
	return 0, 0, false
}

// resolvePeriods replaces periods with their days.
func (q *gaql) resolvePeriods(today clock.Date) {
	for i, c := range q.where {
		if c.operator == "DURING" {
			first, last, _ := gaqlPeriod(c.values[0], today)
			q.where[i].operator, q.where[i].values = "BETWEEN", []string{first.String(), last.String()}
		}
	}
}

// gaqlNull is the text of a field without a value.
const gaqlNull = "<nil>"

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
	case "IS NULL", "IS NOT NULL":
		return (value == gaqlNull) == (c.operator == "IS NULL")
	case "LIKE", "REGEXP_MATCH", "NOT LIKE", "NOT REGEXP_MATCH":
		return c.pattern.MatchString(value) != strings.HasPrefix(c.operator, "NOT")
	case "CONTAINS ANY", "CONTAINS ALL", "CONTAINS NONE":
		return c.matchesList(strings.Fields(strings.Trim(value, "[]")))
	case "DURING":
		return false // resolvePeriods has replaced it
	}
	return compareGAQL(value, c.values[0]) >= 0 && compareGAQL(value, c.values[1]) <= 0
}

// matchesList reports whether a list satisfies a condition on its elements.
func (c gaqlCondition) matchesList(list []string) bool {
	has := func(v string) bool { return slices.Contains(list, v) }
	switch c.operator {
	case "CONTAINS ANY":
		return slices.ContainsFunc(c.values, has)
	case "CONTAINS NONE":
		return !slices.ContainsFunc(c.values, has)
	}
	return !slices.ContainsFunc(c.values, func(v string) bool { return !has(v) })
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
