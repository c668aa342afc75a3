package ingest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

// Feed is one call that sends rows.
type Feed struct {
	// Source is a name or the id of a connection. Empty means DefaultSource.
	Source string
	// Account applies to rows that name none. Empty means DefaultAccount.
	Account string
	// Mode defaults to Upsert.
	Mode Mode
	// Atomic rejects all rows if one is invalid.
	Atomic bool
	// Currency and Zone are those of the accounts. If they are empty, new
	// accounts use those of Defaults.
	Currency money.Currency
	Zone     string
	Defaults connection.WorkspaceDefaults
	// First and Last are the days to replace.
	First, Last *clock.Date
	// Families are the families to replace. The default is those of the rows,
	// or base without rows.
	Families []fact.Family
	// Body is a JSON array or NDJSON.
	Body   []byte
	NDJSON bool
}

// FeedResult is the result of a feed.
type FeedResult struct {
	Accepted int `json:"accepted"`
	// Rejected lists the first rejected rows. RejectedCount counts all.
	Rejected      []Rejected `json:"rejected"`
	RejectedCount int        `json:"rejected_count"`
	ConnectionID  *ident.ID  `json:"connection_id"`
	Mode          Mode       `json:"mode"`
	// Window is the replaced days.
	Window   *Days    `json:"window"`
	Families []string `json:"families"`
}

// Rejected is a rejected row.
type Rejected struct {
	Index  int       `json:"index"`
	Errors []Problem `json:"errors"`
}

// Days is a range of days, both included.
type Days struct {
	StartDate clock.Date `json:"start_date"`
	EndDate   clock.Date `json:"end_date"`
}

// Ingest writes the rows of a feed and returns the FeedResult as a document, which
// is also stored under the caller's idempotency key. The valid rows are written
// together or not at all. Repeating a call changes nothing, so it is safe after
// a failure.
func (s *Service) Ingest(ctx context.Context, cause record.Cause, f Feed) ([]byte, error) {
	if details := f.fill(); len(details) > 0 {
		return nil, fault.Invalid(details)
	}
	leave, err := s.takeFeed(ctx, cause.Workspace, len(f.Body))
	if err != nil {
		return nil, err
	}
	defer leave()
	rows, err := s.readFeed(ctx, cause.Workspace, &f)
	if err != nil {
		return nil, err
	}
	if rows.rejected > 0 && (f.Atomic || f.Mode == Replace && len(rows.rows) == 0) {
		// Choice: a window is not deleted if all rows are invalid. To delete
		// it, the caller sends no rows.
		return nil, rows.fault()
	}
	a := FeedResult{Accepted: len(rows.rows), Rejected: rows.rejectedRows(), RejectedCount: rows.rejected, Mode: f.Mode, Families: []string{}}
	if len(rows.rows) == 0 && f.Mode == Upsert {
		return encode(a)
	}
	l := pendingWrite{rows: rows, mode: f.Mode, first: f.First, last: f.Last, families: f.Families}
	if f.Account != "" || len(rows.rows) == 0 {
		l.account = rows.account
	}
	return s.feed(ctx, cause, &f, &l, a)
}

// feed writes the rows and stores the answer.
func (s *Service) feed(ctx context.Context, cause record.Cause, f *Feed, l *pendingWrite, a FeedResult) ([]byte, error) {
	source := connection.Source{Platform: PlatformAPI, Currency: f.Currency, Zone: f.Zone, Default: f.Defaults}
	setSource(&source, f.Source)
	batch, err := s.openBatch(ctx, cause, source, l)
	if err != nil {
		return nil, err
	}
	id := l.connection
	a.ConnectionID = &id
	if f.Mode == Replace {
		a.Window = &Days{*l.first, *l.last}
	}
	for _, family := range l.families {
		a.Families = append(a.Families, family.String())
	}
	answer, err := encode(a)
	if err != nil {
		return nil, err
	}
	return answer, s.writeBatch(ctx, cause, l, batch, answer)
}

// fill sets defaults and checks the fields of a feed.
func (f *Feed) fill() []fault.Detail {
	var details []fault.Detail
	bad := func(field, code, message string) {
		details = append(details, fault.Detail{Field: field, Code: code, Message: field + " " + message})
	}
	if f.Mode == "" {
		f.Mode = Upsert
	}
	if f.Source == "" {
		f.Source = DefaultSource
	}
	if f.Account = strings.TrimSpace(f.Account); utf8.RuneCountInString(f.Account) > MaxID {
		bad("account_id", "too_long", fmt.Sprintf("must have at most %d characters.", MaxID))
	}
	if !slices.Contains(Modes, string(f.Mode)) {
		details = append(details, fault.Detail{Field: "mode", Code: "invalid_value", Message: "mode must be upsert or replace.", Meta: fault.Meta{"allowed": Modes}})
	}
	if f.Mode != Replace {
		if f.First != nil || f.Last != nil {
			bad("start_date", "incompatible_fields", "and end_date are for mode replace only.")
		}
		if f.Families != nil {
			bad("families", "incompatible_fields", "is for mode replace only.")
		}
		return details
	}
	if f.First == nil {
		bad("start_date", "required", "is required for mode replace.")
	}
	if f.Last == nil {
		bad("end_date", "required", "is required for mode replace.")
	}
	if f.First != nil && f.Last != nil && *f.First > *f.Last {
		bad("end_date", "invalid_value", "must not be before start_date.")
	}
	return details
}

func (s *Service) readFeed(ctx context.Context, workspace ident.ID, f *Feed) (*rowSet, error) {
	rows := newRowSet("index", clock.DateIn(s.now(), time.UTC))
	if f.Account != "" {
		rows.account = f.Account
	}
	if f.Mode == Replace {
		rows.first, rows.last = max(rows.first, *f.First), min(rows.last, *f.Last)
		rows.families = f.Families
	}
	rows.reserve(min(MaxRows, bytes.Count(f.Body, []byte(`"date"`))))
	lines := newRowDecoder(rows)
	read := lines.decodeArray
	if f.NDJSON {
		read = lines.decodeLines
	}
	if err := read(f.Body); err != nil {
		return nil, err
	}
	return rows, rows.resolveLinks(ctx, workspace, s.records)
}

// fault returns the fault that rejects the whole call for its rows.
func (s *rowSet) fault() error {
	var details []fault.Detail
	for _, r := range s.refused {
		for _, p := range r.problems {
			at, message := fmt.Sprintf("rows[%d]", r.index), p.Message
			if p.Field != "" {
				at += "." + p.Field
				if rest, named := strings.CutPrefix(message, p.Field+" "); named {
					message = at + " " + rest
				}
			}
			details = append(details, fault.Detail{Field: at, Code: p.Code, Message: message, Meta: p.Meta})
		}
	}
	return fault.Invalid(details)
}

func (s *rowSet) rejectedRows() []Rejected {
	list := make([]Rejected, len(s.refused))
	for i, r := range s.refused {
		list[i] = Rejected{r.index, r.problems}
	}
	return list
}

func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return b, nil
}

// pendingWrite is a set of rows to write to the facts of a source.
type pendingWrite struct {
	rows *rowSet
	mode Mode
	// first and last are the window to replace. The default is the days of the
	// rows.
	first, last *clock.Date
	families    []fact.Family
	// account, if set, is replaced even if no row names it.
	account    string
	imported   ident.ID
	connection ident.ID
}

// setSource sets the source from the id of a connection or from a name.
func setSource(s *connection.Source, given string) {
	if ident.Valid(ident.Connection, given) {
		s.ID = ident.ID(given)
		return
	}
	s.Name = given
}

// openBatch finds or creates the source of all rows and builds the batch.
func (s *Service) openBatch(ctx context.Context, cause record.Cause, source connection.Source, l *pendingWrite) (*fact.Batch, error) {
	used := map[*fact.Source]bool{}
	for i := range l.rows.rows {
		used[l.rows.rows[i].Source] = true
	}
	if l.account != "" {
		used[l.rows.source(l.account)] = true
	}
	if len(used) > MaxAccounts {
		return nil, fault.Invalid([]fault.Detail{{
			Field: "account_id", Code: "too_many_items", Message: fmt.Sprintf("The rows name more than %d accounts.", MaxAccounts), Meta: fault.Meta{"maximum": MaxAccounts, "actual": len(used)},
		}})
	}
	// The idempotency key stores the answer, not the source.
	cause.Idempotency = nil
	for _, account := range slices.Sorted(maps.Keys(l.rows.accounts)) {
		a := l.rows.accounts[account]
		if !used[a] {
			continue
		}
		source.Account = account
		found, err := s.sources.Source(ctx, cause, source)
		if err != nil {
			return nil, fmt.Errorf("find source: %w", err)
		}
		*a = found.Source
		source.ID, l.connection = found.Connection, found.Connection
	}
	return l.batch(cause.Workspace, used), nil
}

// batch returns the batch to write, and sets its window and families.
func (l *pendingWrite) batch(workspace ident.ID, used map[*fact.Source]bool) *fact.Batch {
	b := &fact.Batch{Workspace: workspace, Import: l.imported, Rows: l.rows.rows, MaxWait: maxWait}
	if l.first == nil || l.last == nil {
		first, last := l.rows.span()
		l.first, l.last = &first, &last
	}
	if l.families == nil {
		var there [4]bool
		for i := range b.Rows {
			there[b.Rows[i].Family] = true
		}
		for family, is := range there {
			if is || len(b.Rows) == 0 && family == int(fact.Base) {
				l.families = append(l.families, fact.Family(family))
			}
		}
	}
	if l.mode == Replace {
		for source := range used {
			for _, family := range l.families {
				b.Replace = append(b.Replace, fact.Window{Source: source, Family: family, First: *l.first, Last: *l.last})
			}
		}
	}
	return b
}

// writeBatch writes the batch between Begin and RecordFeed, which make it consistent
// after a crash.
func (s *Service) writeBatch(ctx context.Context, cause record.Cause, l *pendingWrite, b *fact.Batch, answer []byte) error {
	if err := s.sources.Begin(ctx, cause.Workspace, l.connection); err != nil {
		return fmt.Errorf("begin to feed: %w", err)
	}
	if err := s.facts.Write(ctx, b); err != nil {
		return fmt.Errorf("write facts: %w", err)
	}
	fed := connection.FeedResult{First: *l.first, Last: *l.last, Rows: int64(len(b.Rows)), Answer: answer}
	if err := s.sources.RecordFeed(ctx, cause, l.connection, fed); err != nil {
		return fmt.Errorf("note what was fed: %w", err)
	}
	return nil
}
