package analytics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// Deps are the dependencies of a Service.
type Deps struct {
	Facts   Facts
	Rates   RateReader
	Results Results
	Flights Flights
	Records RecordReader
	// Workspace returns the time zone and currency of a workspace.
	Workspace func(ctx context.Context, id ident.ID) (Workspace, error)
	// Catchup updates the mirror of records to the state of the store, so that
	// queries see the caller's latest writes.
	Catchup func(ctx context.Context, workspace ident.ID) error
	// Seal and Open encrypt and decrypt cursors. A cursor of one workspace
	// cannot be opened in another.
	Seal func(workspace ident.ID, plain []byte) string
	Open func(workspace ident.ID, text string) (plain []byte, ok bool)
	// ChangesLost, if set, returns the message of the warning changes_lost,
	// empty if no acknowledged changes are missing from the database.
	ChangesLost func() string
	Now         func() time.Time
	Random      io.Reader
}

// Service answers queries of facts. It is safe for concurrent use.
type Service struct {
	Deps
}

// New returns a service.
func New(d Deps) *Service { return &Service{d} }

const (
	// maxWait is how long a request waits for its turn.
	maxWait = 5 * time.Second
	// queryTimeout is the time limit of a request. It begins with its turn: the
	// wait is caused by others.
	queryTimeout = 10 * time.Second
)

// Query runs the query of a body. Invalid fields are a validation fault, a result
// that is too large or takes too long is query_too_broad, and a cursor that
// cannot be continued is invalid_cursor. Faults of Facts.Begin are returned.
func (s *Service) Query(ctx context.Context, w Workspace, sent *body.Value) (*Answer, error) {
	q, err := parseQuery(sent, w, s.Now())
	if err != nil {
		return nil, err
	}
	return s.run(ctx, w, q)
}

// CheckQuery checks the query of a body without running it.
func (s *Service) CheckQuery(w Workspace, sent *body.Value) error {
	q, err := parseQuery(sent, w, s.Now())
	if err != nil {
		return err
	}
	if _, problems := Resolve(q, w, s.Now()); len(problems) > 0 {
		return invalidQuery(problems)
	}
	return nil
}

// run is Query for a query that was read.
func (s *Service) run(ctx context.Context, w Workspace, q *Query) (*Answer, error) {
	started := s.Now()
	if q.Cursor != nil && !q.DryRun {
		return s.storedPage(ctx, w, q, started)
	}
	r, problems := Resolve(q, w, started)
	if len(problems) > 0 {
		return nil, invalidQuery(problems)
	}
	return s.answer(ctx, w, q, r, started)
}

// catchUp updates the mirror of records for a request. It waits for the writes
// of others for a limited time.
func (s *Service) catchUp(ctx context.Context, workspace ident.ID) error {
	limited, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	err := s.Catchup(limited, workspace)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		f := fault.New(fault.Unavailable, "The server is busy with writes of metrics. Try again in 5 seconds.").Because(err)
		f.RetryAfter = 5 * time.Second
		return f
	}
	if err != nil {
		return fmt.Errorf("bring records up to date: %w", err)
	}
	return nil
}

// usesRecords reports whether a query groups or filters by records, so that
// their mirror must be up to date.
func (r *Resolved) usesRecords() bool {
	isRecord := func(dimension string) bool {
		kind, _, _ := strings.Cut(dimension, "_")
		return slices.Contains([]string{fact.KindCampaign, fact.KindCreative, fact.KindAudience, "objective", "tag"}, kind)
	}
	return slices.ContainsFunc(r.dimensions, func(d *Dimension) bool { return isRecord(d.Name) }) || r.where.uses(isRecord)
}

// begin waits for the turn of an evaluation. limited is the context of the turn
// with its time limit; end ends both.
func (s *Service) begin(ctx context.Context, e *evaluation) (limited context.Context, end func(), err error) {
	if e.state, err = s.Facts.State(ctx, e.workspace); err != nil {
		return nil, nil, fmt.Errorf("read state of facts: %w", err)
	}
	var plans []*Plan
	for _, p := range e.plans() {
		plans = append(plans, p.plan)
	}
	turn, leave, err := s.Facts.Begin(ctx, e.workspace, maxWait, plans...)
	if err != nil {
		return nil, nil, fmt.Errorf("wait to query facts: %w", err)
	}
	limited, cancel := context.WithTimeout(turn, queryTimeout)
	return limited, func() { cancel(); leave() }, nil
}

// invalidQuery returns the fault for an invalid query. A query that only
// exceeds size limits is query_too_broad.
func invalidQuery(problems []fault.Detail) error {
	if slices.ContainsFunc(problems, func(d fault.Detail) bool { return d.Meta["bound"] == nil }) {
		return fault.Invalid(problems)
	}
	return fault.New(fault.QueryTooBroad, "The query is too broad: "+problems[0].Message, problems...)
}

// queryError maps engine errors to API faults. Only an expired query time limit
// is query_too_broad; other timeouts, such as the store's, are not.
func queryError(ctx, limited context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return tooBroad("seconds", int64(queryTimeout/time.Second),
			"The query takes longer than 10 seconds. Ask for fewer days or dimensions.").Because(err)
	case errors.Is(err, ErrTooMany):
		return tooBroad("rows", MaxRows,
			"The result has more than 100,000 rows. Ask for fewer days, dimensions or buckets.").Because(err)
	case errors.Is(err, ErrTooLarge):
		return tooBroad("magnitude", nil,
			"A sum of the result is too large to be exact. Ask for fewer days, or check the data for impossible values.").Because(err)
	}
	return err
}

func tooBroad(bound string, limit any, message string) *fault.Error {
	meta := fault.Meta{"bound": bound}
	if limit != nil {
		meta["maximum"] = limit
	}
	return fault.New(fault.QueryTooBroad, message, fault.Detail{Code: string(fault.QueryTooBroad), Message: message, Meta: meta})
}

// resolveInternal returns the evaluation of an internal query. connections are
// those of the workspace.
func (s *Service) resolveInternal(w Workspace, q *Query, connections []Connection) (*evaluation, error) {
	r, problems := Resolve(q, w, s.Now())
	if len(problems) > 0 {
		return nil, fault.Invalid(problems)
	}
	return &evaluation{r: r, workspace: w.ID, connections: connections}, nil
}

// runInternal runs an internal query and returns all rows.
func (s *Service) runInternal(ctx context.Context, w Workspace, q *Query, connections []Connection) (*evaluation, error) {
	e, err := s.resolveInternal(w, q, connections)
	if err != nil {
		return nil, err
	}
	return e, s.compute(ctx, e)
}

// compute computes all rows.
func (s *Service) compute(ctx context.Context, e *evaluation) error {
	if err := s.gather(ctx, e); err != nil {
		return err
	}
	return e.evaluate()
}

func (s *Service) connections(ctx context.Context, workspace ident.ID) ([]Connection, error) {
	list, err := s.Records.Connections(ctx, workspace)
	if err != nil {
		return nil, fmt.Errorf("read connections: %w", err)
	}
	return list, nil
}

// answer computes the rows, and stores them if they exceed one page.
func (s *Service) answer(ctx context.Context, w Workspace, q *Query, r *Resolved, started time.Time) (*Answer, error) {
	if r.usesRecords() {
		if err := s.catchUp(ctx, w.ID); err != nil {
			return nil, err
		}
	}
	e := &evaluation{r: r, workspace: w.ID, changesLost: s.changesLost()}
	var err error
	if e.connections, err = s.connections(ctx, w.ID); err != nil {
		return nil, err
	}
	if q.DryRun {
		if e.state, err = s.Facts.State(ctx, w.ID); err != nil {
			return nil, fmt.Errorf("read state of facts: %w", err)
		}
		e.sources = e.sourcesOf(r.days)
		return e.estimate(started, s.Now()), nil
	}
	limited, end, err := s.begin(ctx, e)
	if err != nil {
		return nil, err
	}
	// The turn lasts until the result is stored: a long one takes longer to
	// compute and to store than to query.
	defer end()
	a, err := s.answerInTurn(limited, w, q, e, started)
	return a, queryError(ctx, limited, err)
}

func (s *Service) answerInTurn(ctx context.Context, w Workspace, q *Query, e *evaluation, started time.Time) (*Answer, error) {
	if err := s.compute(ctx, e); err != nil {
		return nil, err
	}
	a := e.answer(started)
	if len(e.rows) > e.r.limit {
		if err := s.storeResult(ctx, w, q, a); err != nil {
			return nil, err
		}
	}
	a.encodeMeta(s.Now().Sub(started))
	return a, nil
}

// maxTries is the maximum number of tries if facts change between the queries
// of an answer.
const maxTries = 3

// gather runs all fact queries of the answer. Several queries see the same
// facts, unless facts change during every try.
func (s *Service) gather(ctx context.Context, e *evaluation) error {
	for try := 1; ; try++ {
		var err error
		if e.state, err = s.Facts.State(ctx, e.workspace); err != nil {
			return fmt.Errorf("read state of facts: %w", err)
		}
		if err := s.loadRates(ctx, e); err != nil {
			return err
		}
		plans := e.plans()
		if err := s.runPlans(ctx, plans); err != nil {
			return err
		}
		more, err := s.findReported(ctx, e)
		if err != nil {
			return err
		}
		if err := s.loadRecords(ctx, e); err != nil {
			return err
		}
		if try == maxTries || len(plans) == 1 && !more {
			return nil
		}
		after, err := s.Facts.State(ctx, e.workspace)
		if err != nil {
			return fmt.Errorf("read state of facts: %w", err)
		}
		if after.Generation == e.state.Generation {
			return nil
		}
	}
}

// planTarget is a plan and the destination of its groups.
type planTarget struct {
	plan *Plan
	into *[]Group
}

// runPlans runs all plans in parallel and waits for them.
func (s *Service) runPlans(ctx context.Context, plans []planTarget) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make([]error, len(plans))
	var done sync.WaitGroup
	run := func(i int) {
		groups, err := s.Facts.Query(ctx, plans[i].plan)
		if err != nil {
			failed[i] = fmt.Errorf("query facts: %w", err)
			cancel()
		}
		*plans[i].into = groups
	}
	for i := range plans[1:] {
		done.Go(func() { run(i + 1) })
	}
	run(0)
	done.Wait()
	// The first failure cancels the other plans, so prefer it to their
	// context.Canceled.
	var reason error
	for _, err := range failed {
		if err != nil && (reason == nil || errors.Is(reason, context.Canceled)) {
			reason = err
		}
	}
	return reason
}
