package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
)

// Begin waits for the turn of a request. All requests share the same places,
// because the database divides its cores itself.
func (e *Engine) Begin(ctx context.Context, id ident.ID, wait time.Duration, _ ...*analytics.Plan) (turn context.Context, end func(), err error) {
	end, err = e.queries.Take(ctx, id, wait)
	return ctx, end, err
}

// Query answers a plan from one unchanging state.
func (e *Engine) Query(ctx context.Context, p *analytics.Plan) (groups []analytics.Group, err error) {
	err = e.snapshot(ctx, func(tx pgx.Tx) error {
		w, err := readWorkspace(ctx, tx, p.Workspace)
		if err != nil || w.key == 0 {
			return err
		}
		texts, err := e.readTexts(ctx, tx, p.Workspace, w)
		if err != nil {
			return err
		}
		q, err := numbers.Ask(p, texts)
		if err != nil {
			return err
		}
		s := compile(q, w.key)
		found := numbers.NewGroups(p, q, texts)
		if err := s.run(ctx, tx, q, found.Add); err != nil {
			return err
		}
		groups, err = found.List()
		return err
	})
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("query facts: %w", err)
	}
	return groups, nil
}

// statement is SQL with its parameters. Only names of this package and of
// columns become text; everything else is a parameter.
type statement struct {
	strings.Builder
	args []any
	// starts are the first days of the buckets that the SQL counts, if it does.
	starts []int32
}

// arg adds a parameter and returns its name.
func (s *statement) arg(v any) string {
	s.args = append(s.args, v)
	return fmt.Sprintf("$%d", len(s.args))
}

// weekday counts from Monday, also before 1970.
const weekday = "((f.day % 7 + 10) % 7)"

func expression(c numbers.Column) string {
	switch c {
	case numbers.WeekdayColumn:
		return weekday
	case numbers.TagColumn:
		return "coalesce(t.tag, 0)"
	default:
		return "f." + string(c)
	}
}

func compile(q *numbers.Question, workspace int32) *statement {
	s := &statement{}
	s.WriteString("SELECT " + s.bucket(q) + ", count(*)")
	for _, c := range q.Columns {
		s.WriteString(", " + expression(c))
	}
	for _, m := range q.Measures {
		s.WriteString(", " + sum(q, m))
	}
	s.WriteString(" FROM " + tableOf(q.Family.String()) + " f")
	if slices.Contains(q.Columns, numbers.TagColumn) {
		s.joinTags(q)
	}
	if len(q.Foreign) > 0 {
		s.joinRates(q)
	}
	s.WriteString(" WHERE f.workspace = " + s.arg(workspace) + " AND f.day BETWEEN " + s.arg(int32(q.First)) + " AND " + s.arg(int32(q.Last)))
	if q.Match != nil {
		s.WriteString(" AND ")
		s.match(q.Match)
	}
	s.WriteString(" GROUP BY 1")
	for i := range q.Columns {
		fmt.Fprintf(s, ", %d", i+3)
	}
	return s
}

// bucket returns the expression of a bucket.
func (s *statement) bucket(q *numbers.Question) string {
	switch q.Granularity {
	case analytics.Day:
		return "f.day"
	case analytics.Week:
		return "f.day - " + weekday
	case analytics.Whole:
		return "0"
	default:
		return s.calendarBucket(q)
	}
}

// calendarBucket returns the expression of a month, quarter or year: its position
// among the days that they begin with. PostgreSQL's functions for months are slow.
func (s *statement) calendarBucket(q *numbers.Question) string {
	months := map[analytics.Granularity]time.Month{analytics.Month: 1, analytics.Quarter: 3, analytics.Year: 12}[q.Granularity]
	year, month, _ := q.First.Calendar()
	month -= (month - 1) % months
	for d := clock.MakeDate(year, month, 1); d <= q.Last; d = clock.MakeDate(year, month, 1) {
		s.starts = append(s.starts, int32(d))
		month += months
	}
	if s.starts == nil {
		return "0"
	}
	return "width_bucket(f.day, " + s.arg(s.starts) + "::int4[])"
}

// sum returns the columns of a measure: the sum or the largest value as text,
// the number of known values and of those without a rate.
func sum(q *numbers.Question, m fact.Measure) string {
	column := "f." + m.String()
	switch {
	case m == fact.Reach:
		return fmt.Sprintf("max(%s)::text, count(%[1]s), 0::int8", column)
	case q.Converts(m):
		return fmt.Sprintf(`sum(CASE WHEN u.source IS NULL THEN %[1]s::numeric
			ELSE sign(%[1]s::numeric) * div(abs(%[1]s::numeric) * x.over * 2 + x.under, x.under::numeric * 2) END)::text,
			count(%[1]s), count(*) FILTER (WHERE %[1]s IS NOT NULL AND u.source IS NOT NULL AND x.day IS NULL)`, column)
	}
	return fmt.Sprintf("sum(%s)::text, count(%[1]s), 0::int8", column)
}

func (s *statement) joinTags(q *numbers.Question) {
	campaigns, tags := make([]int32, len(q.Tags)), make([]int32, len(q.Tags))
	for i, t := range q.Tags {
		campaigns[i], tags[i] = t.Campaign, t.Tag
	}
	s.WriteString(" LEFT JOIN unnest(" + s.arg(campaigns) + "::int4[], " + s.arg(tags) + "::int4[]) AS t(campaign, tag) ON t.campaign = f.campaign")
}

func (s *statement) joinRates(q *numbers.Question) {
	var source, currency, rateCurrency, day []int32
	var over, under []int64
	for _, f := range q.Foreign {
		source, currency = append(source, f.Source), append(currency, f.Currency)
	}
	for _, r := range q.Rates {
		rateCurrency, day, over, under = append(rateCurrency, r.Currency), append(day, r.Day), append(over, r.Over), append(under, r.Under)
	}
	s.WriteString(" LEFT JOIN unnest(" + s.arg(source) + "::int4[], " + s.arg(currency) + "::int4[]) AS u(source, currency) ON u.source = f.source" +
		" LEFT JOIN unnest(" + s.arg(rateCurrency) + "::int4[], " + s.arg(day) + "::int4[], " + s.arg(over) + "::int8[], " + s.arg(under) +
		"::int8[]) AS x(currency, day, over, under) ON x.currency = u.currency AND x.day = f.day")
}

func (s *statement) match(m *numbers.Match) {
	switch {
	case m.Not != nil:
		s.WriteString("NOT (")
		s.match(m.Not)
		s.WriteString(")")
	case m.Column != "" && len(m.Numbers) == 0:
		s.WriteString("false")
	case m.Column != "":
		s.WriteString(expression(m.Column) + " = ANY(" + s.arg(m.Numbers) + "::int4[])")
	case len(m.And) > 0:
		s.matchAll(m.And, " AND ")
	default:
		s.matchAll(m.Or, " OR ")
	}
}

func (s *statement) matchAll(list []numbers.Match, with string) {
	s.WriteString("(")
	for i := range list {
		if i > 0 {
			s.WriteString(with)
		}
		s.match(&list[i])
	}
	s.WriteString(")")
}

// run executes the statement and passes each row to add.
func (s *statement) run(ctx context.Context, tx pgx.Tx, q *numbers.Question, add func(*numbers.Row) error) error {
	rows, err := tx.Query(ctx, s.String(), s.args...)
	if err != nil {
		return err
	}
	r := &numbers.Row{Values: make([]int32, len(q.Columns)), Sums: make([]numbers.Sum, len(q.Measures))}
	var bucket int32
	totals := make([]*string, len(q.Measures))
	into := []any{&bucket, &r.Facts}
	for i := range r.Values {
		into = append(into, &r.Values[i])
	}
	for i := range r.Sums {
		into = append(into, &totals[i], &r.Sums[i].Known, &r.Sums[i].Unrated)
	}
	_, err = pgx.ForEachRow(rows, into, func() error {
		r.Bucket = clock.Date(bucket)
		if s.starts != nil {
			r.Bucket = clock.Date(s.starts[bucket-1])
		}
		for i, text := range totals {
			r.Sums[i].Total = numbers.Int128{}
			if text == nil {
				continue
			}
			var err error
			if r.Sums[i].Total, err = numbers.ParseInt128(*text); err != nil {
				return err
			}
		}
		return add(r)
	})
	return err
}
