package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
	"fanfare/internal/metrics/pgtables"
)

// Begin waits for the turn of a request. All requests share the same places,
// because the database divides its cores itself.
func (e *Engine) Begin(ctx context.Context, id ident.ID, wait time.Duration, _ ...*analytics.Plan) (turn context.Context, end func(), err error) {
	end, err = e.queries.Take(ctx, id, wait)
	return ctx, end, err
}

// Query answers a plan from one snapshot.
func (e *Engine) Query(ctx context.Context, p *analytics.Plan) (groups []analytics.Group, err error) {
	err = e.prepare(ctx, p, func(tx pgx.Tx, texts *numbers.Texts, s *statement) error {
		found := numbers.NewGroups(p, s.question, texts)
		if err := s.queryRows(ctx, tx, found.Add); err != nil {
			return err
		}
		groups, err = found.List()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("query facts: %w", err)
	}
	return groups, nil
}

// Explain returns the statement that answers a plan now, and its arguments.
func (e *Engine) Explain(ctx context.Context, p *analytics.Plan) (text string, args []any, err error) {
	err = e.prepare(ctx, p, func(_ pgx.Tx, _ *numbers.Texts, s *statement) error {
		text, args = numbers.Compile(s.question, s), s.args
		return nil
	})
	if err != nil {
		return "", nil, fmt.Errorf("explain: %w", err)
	}
	return text, args, nil
}

// prepare calls f with the statement of a plan, in one snapshot.
func (e *Engine) prepare(ctx context.Context, p *analytics.Plan, f func(tx pgx.Tx, texts *numbers.Texts, s *statement) error) error {
	return pgtables.Snapshot(ctx, e.DB, p.Workspace, func(tx pgx.Tx, w pgtables.Workspace) error {
		texts, err := e.cache.Texts(ctx, tx, p.Workspace, w)
		if err != nil {
			return err
		}
		q, err := numbers.Translate(p, texts)
		if err != nil {
			return err
		}
		s := &statement{question: q, workspace: w.Key, days: answeredByDays(q)}
		if !s.days && answeredByMonths(q) {
			if s.months, err = summedMonths(ctx, tx, w.Key, q); err != nil {
				return err
			}
		}
		return f(tx, texts, s)
	})
}

// statement is a question in PostgreSQL's SQL, with its parameters. It implements
// numbers.Dialect.
type statement struct {
	question  *numbers.Question
	workspace int32
	args      []any
	// days says that the sums by day answer the question. months are those of
	// which sums by month do.
	days   bool
	months []int32
	// starts are the first days of the buckets, if the SQL returns positions of
	// buckets; nil if the SQL returns days.
	starts []int32
}

// arg adds a parameter and returns its placeholder.
func (s *statement) arg(v any) string {
	s.args = append(s.args, v)
	return fmt.Sprintf("$%d", len(s.args))
}

// BucketStart returns the position of the bucket among starts. PostgreSQL's
// functions for months are slow.
func (s *statement) BucketStart(starts []int32) string {
	s.starts = starts
	return "width_bucket(f.day, " + s.arg(starts) + "::int4[])"
}

// Sum returns sums as text, because they may be longer than 64 bits.
func (s *statement) Sum(m fact.Measure) string {
	column := "f." + m.String()
	switch {
	case m == fact.Reach:
		return fmt.Sprintf("max(%s)::text, count(%[1]s), 0::int8", column)
	case s.question.Converts(m):
		return fmt.Sprintf(`sum(CASE WHEN u.source IS NULL THEN %[1]s::numeric
			ELSE sign(%[1]s::numeric) * div(abs(%[1]s::numeric) * x.over * 2 + x.under, x.under::numeric * 2) END)::text,
			count(%[1]s), count(*) FILTER (WHERE %[1]s IS NOT NULL AND u.source IS NOT NULL AND x.day IS NULL)`, column)
	}
	return fmt.Sprintf("sum(%s)::text, count(%[1]s), 0::int8", column)
}

// Facts sums the facts column if the query reads sums.
func (s *statement) Facts() string {
	if s.days || len(s.months) > 0 {
		return "coalesce(sum(f.facts), 0)::int8"
	}
	return "count(*)"
}

// From returns the family's table and the joins of tags and rates.
func (s *statement) From() string {
	q := s.question
	from := tableOf(q.Family.String()) + " f"
	switch {
	case s.days:
		from = dayTable + " f"
	case len(s.months) > 0:
		from = s.fromMonths()
	}
	if slices.Contains(q.Columns, numbers.TagColumn) {
		from += s.joinTags()
	}
	if len(q.Foreign) > 0 {
		from += s.joinRates()
	}
	if len(s.months) > 0 {
		return from + " WHERE true"
	}
	return from + " WHERE f.workspace = " + s.arg(s.workspace) + " AND f.day BETWEEN " + s.arg(int32(q.First)) + " AND " + s.arg(int32(q.Last))
}

func (s *statement) joinTags() string {
	list := s.question.Tags
	campaigns, tags := make([]int32, len(list)), make([]int32, len(list))
	for i, t := range list {
		campaigns[i], tags[i] = t.Campaign, t.Tag
	}
	return " LEFT JOIN unnest(" + s.arg(campaigns) + "::int4[], " + s.arg(tags) + "::int4[]) AS t(campaign, tag) ON t.campaign = f.campaign"
}

func (s *statement) joinRates() string {
	var source, currency, rateCurrency, day []int32
	var over, under []int64
	for _, f := range s.question.Foreign {
		source, currency = append(source, f.Source), append(currency, f.Currency)
	}
	for _, r := range s.question.Rates {
		rateCurrency, day, over, under = append(rateCurrency, r.Currency), append(day, r.Day), append(over, r.Over), append(under, r.Under)
	}
	return " LEFT JOIN unnest(" + s.arg(source) + "::int4[], " + s.arg(currency) + "::int4[]) AS u(source, currency) ON u.source = f.source" +
		" LEFT JOIN unnest(" + s.arg(rateCurrency) + "::int4[], " + s.arg(day) + "::int4[], " + s.arg(over) + "::int8[], " + s.arg(under) +
		"::int8[]) AS x(currency, day, over, under) ON x.currency = u.currency AND x.day = f.day"
}

// In compares with an array.
func (s *statement) In(expression string, list []int32) string {
	return expression + " = ANY(" + s.arg(list) + "::int4[])"
}

// queryRows executes the statement and passes each row to add.
func (s *statement) queryRows(ctx context.Context, tx pgx.Tx, add func(*numbers.Row) error) error {
	q := s.question
	text := numbers.Compile(q, s)
	rows, err := tx.Query(ctx, text, s.args...)
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
