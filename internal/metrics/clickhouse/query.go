package clickhouse

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/numbers"
	"fanfare/internal/metrics/pgtables"
)

// Query answers a plan from one snapshot of PostgreSQL's texts and slots. The
// facts of a slot never change, so ClickHouse needs no snapshot.
func (e *Engine) Query(ctx context.Context, p *analytics.Plan) (groups []analytics.Group, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	var s *statement
	var texts *numbers.Texts
	err = pgtables.Snapshot(ctx, e.DB, p.Workspace, func(tx pgx.Tx, w pgtables.Workspace) (err error) {
		if texts, err = e.cache.Texts(ctx, tx, p.Workspace, w); err != nil {
			return err
		}
		q, err := numbers.Translate(p, texts)
		if err != nil {
			return err
		}
		s = &statement{question: q, workspace: w.Key, params: params{}}
		s.slots, err = readSlots(ctx, tx, "SELECT source, day, slot, n FROM metrics_slot WHERE workspace = $1 AND family = $2 AND day BETWEEN $3 AND $4", w.Key, int16(q.Family), int32(q.First), int32(q.Last))
		return err
	})
	if err == nil && s != nil && len(s.slots) > 0 {
		found := numbers.NewGroups(p, s.question, texts)
		if err = s.queryRows(ctx, e.facts, found.Add); err == nil {
			groups, err = found.List()
		}
	}
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("query facts: %w", err)
	}
	return groups, nil
}

// maxResultRows is the number of groups of numbers that the server returns. They
// are merged to at most Plan.MaxGroups groups of texts.
const maxResultRows = "20000000"

// statement is a question in ClickHouse's SQL, with its parameters. It implements
// numbers.Dialect.
type statement struct {
	question  *numbers.Question
	workspace int32
	slots     []slot
	params    params
	// currencyExpr is the cached result of currency.
	currencyExpr string
}

// BucketStart rounds the day down to one of the starts. ClickHouse's own
// functions for months are wrong before 1970.
func (s *statement) BucketStart(starts []int32) string {
	return "roundDown(f.day, " + arrayParam(s.params, starts) + ")"
}

// Facts counts the facts of a group.
func (s *statement) Facts() string { return "count()" }

// Sum adds in more bits than facts have, because sums of 64 bits overflow in
// ClickHouse without an error. The value of an unknown measure is 0.
func (s *statement) Sum(m fact.Measure) string {
	column, known := "f."+m.String(), fmt.Sprintf("bitTest(f.known, %d)", m)
	switch {
	case m == fact.Reach:
		return fmt.Sprintf("max(%s), countIf(%s), 0", column, known)
	case s.question.Converts(m):
		// Without a rate, x.under is 0.
		return fmt.Sprintf(`sum(if(%[1]s < 0, toInt256(%[2]s), toInt256(sign(%[2]s) * intDiv(toInt128(abs(%[2]s)) * x.over * 2 + x.under, toInt128(greatest(x.under, 1)) * 2)))),
			countIf(%[3]s), countIf(%[3]s AND %[1]s >= 0 AND x.under = 0)`, s.currency(), column, known)
	}
	return fmt.Sprintf("sum(toInt128(%s)), countIf(%s), 0", column, known)
}

// currency returns an expression for the number of a foreign source's currency,
// -1 for other sources.
func (s *statement) currency() string {
	if s.currencyExpr != "" {
		return s.currencyExpr
	}
	sources, currencies := make([]int32, len(s.question.Foreign)), make([]int32, len(s.question.Foreign))
	for i, f := range s.question.Foreign {
		sources[i], currencies[i] = f.Source, f.Currency
	}
	s.currencyExpr = "transform(toInt64(f.source), " + arrayParam(s.params, sources) + ", " + arrayParam(s.params, currencies) + ", toInt64(-1))"
	return s.currencyExpr
}

// From selects the facts of live slots.
func (s *statement) From() string {
	q := s.question
	from := tableOf(q.Family) + " AS f"
	if slices.Contains(q.Columns, numbers.TagColumn) {
		from += s.joinTags()
	}
	if len(q.Foreign) > 0 {
		from += s.joinRates()
	}
	return from + " WHERE f.workspace = " + number(s.params, s.workspace) + " AND f.day BETWEEN " + number(s.params, int32(q.First)) + " AND " + number(s.params, int32(q.Last)) +
		" AND " + in(s.params, "f.slot", slotNumbers(s.slots))
}

func (s *statement) joinTags() string {
	campaigns, tags := make([]int32, len(s.question.Tags)), make([]int32, len(s.question.Tags))
	for i, t := range s.question.Tags {
		campaigns[i], tags[i] = t.Campaign, t.Tag
	}
	return " LEFT JOIN (SELECT r.1 AS campaign, r.2 AS tag FROM (SELECT arrayJoin(arrayZip(" + arrayParam(s.params, campaigns) + ", " + arrayParam(s.params, tags) +
		")) AS r)) AS t ON t.campaign = toInt64(f.campaign)"
}

func (s *statement) joinRates() string {
	n := len(s.question.Rates)
	currency, day, over, under := make([]int32, n), make([]int32, n), make([]int64, n), make([]int64, n)
	for i, r := range s.question.Rates {
		currency[i], day[i], over[i], under[i] = r.Currency, r.Day, r.Over, r.Under
	}
	return " LEFT JOIN (SELECT r.1 AS currency, r.2 AS day, r.3 AS over, r.4 AS under FROM (SELECT arrayJoin(arrayZip(" + arrayParam(s.params, currency) + ", " + arrayParam(s.params, day) + ", " +
		arrayParam(s.params, over) + ", " + arrayParam(s.params, under) + ")) AS r)) AS x ON x.currency = " + s.currency() + " AND x.day = toInt64(f.day)"
}

// In compares with lists.
func (s *statement) In(expression string, list []int32) string { return in(s.params, expression, list) }

// queryRows executes the statement and passes each row to add.
func (s *statement) queryRows(ctx context.Context, c *client, add func(*numbers.Row) error) error {
	q := s.question
	body, err := c.queryLimited(ctx, numbers.Compile(q, s)+" FORMAT TabSeparated", s.params, map[string]string{"max_result_rows": maxResultRows, "result_overflow_mode": "throw"})
	if failed := (*serverError)(nil); errors.As(err, &failed) && failed.code == tooManyRows {
		return analytics.ErrTooMany
	}
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	r := &numbers.Row{Values: make([]int32, len(q.Columns)), Sums: make([]numbers.Sum, len(q.Measures))}
	from, facts := bufio.NewReader(body), int64(0)
	for {
		line, err := from.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return s.checkFacts(ctx, facts)
		}
		if err != nil {
			return unavailable(ctx, err)
		}
		if err := parseRow(r, strings.Split(line[:len(line)-1], "\t")); err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		facts += r.Facts
		if err := add(r); err != nil {
			return err
		}
	}
}

// checkFacts compares the number of facts with that of the slots, if the query
// reads all of them. Fewer means lost or not replicated yet.
func (s *statement) checkFacts(ctx context.Context, got int64) error {
	if s.question.Match != nil || slices.Contains(s.question.Columns, numbers.TagColumn) {
		return nil
	}
	if want := countFacts(s.slots); got != int64(want) {
		return unavailable(ctx, missing(want, int(got)))
	}
	return nil
}

func parseRow(r *numbers.Row, fields []string) (err error) {
	if len(fields) != 2+len(r.Values)+3*len(r.Sums) {
		return fmt.Errorf("%d columns", len(fields))
	}
	next := func(bits int) (n int64) {
		if err == nil {
			n, err = strconv.ParseInt(fields[0], 10, bits)
		}
		fields = fields[1:]
		return n
	}
	r.Bucket, r.Facts = clock.Date(next(32)), next(64)
	for i := range r.Values {
		r.Values[i] = int32(next(32))
	}
	for i := range r.Sums {
		total, failed := numbers.ParseInt128(fields[0])
		if err == nil {
			err = failed
		}
		fields = fields[1:]
		r.Sums[i] = numbers.Sum{Total: total, Known: next(64), Unrated: next(64)}
	}
	return err
}
