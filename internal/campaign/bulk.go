package campaign

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Limits of a bulk edit.
const (
	// MaxBulk is the number of campaigns per call. They are written in one
	// transaction, which delays other writes.
	MaxBulk = 200
	// MinPercent and MaxPercent limit the change of budgets.
	MinPercent = -99
	MaxPercent = 1000
)

// Outcomes of a bulk edit for one campaign.
const (
	outcomeChanged   = "changed"
	outcomeUnchanged = "unchanged"
	outcomeFailed    = "failed"
)

// bulk is a bulk edit that was read.
type bulk struct {
	ids    []ident.ID
	query  *page.Query
	after  ident.ID
	dryRun bool
	change change
}

// change is what a bulk edit does to each campaign. A nil member changes
// nothing.
type change struct {
	amount      *money.Amount
	currency    *money.Currency
	percent     *float64
	schedule    *body.Value
	add, remove []string
}

// BulkResult is the result for one campaign.
type BulkResult struct {
	ID      ident.ID `json:"id"`
	Outcome string   `json:"outcome"`
	// Version is that after the edit, nil for a campaign that does not exist.
	Version *int64     `json:"version"`
	Error   *BulkError `json:"error"`
}

// BulkError says why a campaign was not changed.
type BulkError struct {
	Code    fault.Code     `json:"code"`
	Message string         `json:"message"`
	Details []fault.Detail `json:"details"`
}

// BulkAnswer is the result of a bulk edit.
type BulkAnswer struct {
	Results   []BulkResult `json:"results"`
	Changed   int          `json:"changed"`
	Unchanged int          `json:"unchanged"`
	Failed    int          `json:"failed"`
	// NextAfter is set if more campaigns match the filter.
	NextAfter *ident.ID `json:"next_after"`
}

// Bulk changes budgets, dates and tags of many campaigns. Each is checked like a
// single update: one that cannot be changed is reported and does not stop the
// others. All changes are one transaction with the stored answer, so that a
// repeated call never changes a budget by a percentage twice.
func (s *Service) Bulk(ctx context.Context, cause record.Cause, sent *body.Value, d Defaults) (record.Doc, error) {
	b, err := readBulk(body.NewReader(sent, false))
	if err != nil {
		return record.Doc{}, err
	}
	return record.Retry(ctx, func() (record.Doc, error) {
		ids, next, err := s.selected(ctx, cause.Workspace, b)
		if err != nil {
			return record.Doc{}, err
		}
		answer := BulkAnswer{Results: make([]BulkResult, 0, len(ids)), NextAfter: next}
		var writes []Write
		for _, id := range ids {
			result, w, err := s.bulkOne(ctx, cause, id, &b.change, d)
			if err != nil {
				return record.Doc{}, err
			}
			if answer.add(result); w != nil {
				writes = append(writes, *w)
				if w.Stops {
					ctx = record.WithUrgent(ctx)
				}
			}
		}
		text, err := json.Marshal(answer, json.Deterministic(true))
		if err != nil {
			return record.Doc{}, fmt.Errorf("encode answer: %w", err)
		}
		doc := record.Doc{JSON: text}
		if b.dryRun || len(writes) == 0 && cause.Idempotency == nil {
			return doc, nil
		}
		return doc, s.store.SaveAll(ctx, cause, writes, text)
	})
}

func (a *BulkAnswer) add(r BulkResult) {
	a.Results = append(a.Results, r)
	switch r.Outcome {
	case outcomeChanged:
		a.Changed++
	case outcomeUnchanged:
		a.Unchanged++
	default:
		a.Failed++
	}
}

// selected returns the campaigns of a bulk edit. next is set if more campaigns
// match its filter.
func (s *Service) selected(ctx context.Context, workspace ident.ID, b *bulk) (ids []ident.ID, next *ident.ID, err error) {
	if b.query == nil {
		return b.ids, nil, nil
	}
	if ids, err = s.store.IDs(ctx, workspace, *b.query, b.after, MaxBulk+1); err != nil {
		return nil, nil, err
	}
	if len(ids) > MaxBulk {
		ids = ids[:MaxBulk]
		next = &ids[MaxBulk-1]
	}
	return ids, next, nil
}

// bulkOne changes one campaign in memory. err is a failure of the whole call.
func (s *Service) bulkOne(ctx context.Context, cause record.Cause, id ident.ID, ch *change, d Defaults) (BulkResult, *Write, error) {
	result := BulkResult{ID: id, Outcome: outcomeUnchanged}
	c, err := s.store.Load(ctx, cause.Workspace, id)
	if err == nil {
		result.Version = &c.Version
		c.restoreFlags()
		now, before := clock.At(s.now()), *c
		completed := c.complete(now)
		var events []record.Event
		if events, err = s.applyChange(ctx, c, now, ch, d); err == nil {
			if len(events) == 0 {
				return result, nil, nil
			}
			// The answer of the whole call is stored, not that of one campaign.
			single := cause
			single.Idempotency = nil
			save, err := s.prepare(ctx, single, c, &before, now, append(completed, events...))
			if err != nil || save == nil {
				return result, nil, err
			}
			result.Outcome = outcomeChanged
			return result, &Write{Campaign: c, Save: *save, Stops: stops(c, &before)}, nil
		}
	}
	f, is := errors.AsType[*fault.Error](err)
	if !is || !slices.Contains([]fault.Code{fault.NotFound, fault.ValidationFailed, fault.InvalidState, fault.Archived}, f.Code) {
		return result, nil, err
	}
	result.Outcome = outcomeFailed
	result.Error = &BulkError{f.Code, f.Message, append([]fault.Detail{}, f.Details...)}
	return result, nil, nil
}

// applyChange applies a change as a merge patch, so that the rules of updates
// apply.
func (s *Service) applyChange(ctx context.Context, c *Campaign, now clock.Instant, ch *change, d Defaults) ([]record.Event, error) {
	patch := body.Value{Kind: body.KindObject}
	set := func(name string, v body.Value) {
		patch.Members = append(patch.Members, body.Member{Name: name, Value: v})
	}
	if ch.amount != nil || ch.percent != nil {
		amount, err := ch.budget(c)
		if err != nil {
			return nil, err
		}
		set("budget", body.Value{Kind: body.KindObject, Members: []body.Member{{Name: "amount", Value: body.Value{Kind: body.KindString, Text: amount.String()}}}})
	}
	if ch.schedule != nil {
		set("schedule", *ch.schedule)
	}
	if len(ch.add)+len(ch.remove) > 0 {
		tags := body.Value{Kind: body.KindArray}
		for _, tag := range ch.tags(c.Tags) {
			tags.Items = append(tags.Items, body.Value{Kind: body.KindString, Text: tag})
		}
		set("tags", tags)
	}
	return s.applyPatch(ctx, c, now, &patch, d)
}

// tags returns tags after the change.
func (ch *change) tags(has []string) []string {
	tags := slices.DeleteFunc(slices.Clone(has), func(tag string) bool { return slices.Contains(ch.remove, tag) })
	for _, tag := range ch.add {
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}

// budget returns the amount of a campaign's budget after the change, rounded to
// the digits of its currency, half away from zero.
func (ch *change) budget(c *Campaign) (money.Amount, error) {
	invalid := func(code, message string) error {
		return fault.Invalid([]fault.Detail{{Field: "budget", Code: code, Message: "budget " + message}})
	}
	switch {
	case c.Budget == nil:
		return money.Amount{}, invalid("required", "is missing: the campaign has none that could be changed.")
	case ch.currency != nil && *ch.currency != c.Budget.Currency:
		return money.Amount{}, invalid("currency_mismatch", "is in "+string(c.Budget.Currency)+".")
	case ch.amount != nil:
		return *ch.amount, nil
	}
	digits, _ := c.Budget.Currency.Digits()
	step := int64(1)
	for range 6 - digits {
		step *= 10
	}
	// micros × (100 + percent) ÷ 100, in steps of the currency's last digit.
	factor := new(big.Rat).Add(new(big.Rat).SetInt64(100), new(big.Rat).SetFloat64(*ch.percent))
	exact := new(big.Rat).Mul(new(big.Rat).SetInt64(c.Budget.Amount.Micros), factor)
	exact.Quo(exact, new(big.Rat).SetInt64(100*step))
	exact.Add(exact, big.NewRat(1, 2))
	steps := new(big.Int).Div(exact.Num(), exact.Denom())
	return money.Amount{Micros: steps.Int64() * step, Digits: c.Budget.Amount.Digits}, nil
}

// readBulk reads the body of a bulk edit.
func readBulk(f *body.Reader) (*bulk, error) {
	b := &bulk{}
	if b.ids = f.IDs("ids", MaxBulk); len(b.ids) == 0 {
		b.ids = nil
	}
	if o := f.Nested("filter", body.Optional); o != nil {
		b.query = readBulkFilter(o)
	}
	body.Set(&b.after, f.ID("after", body.Nullable))
	body.Set(&b.dryRun, f.Flag("validate_only"))
	if o := f.Nested("change", body.Required); o != nil {
		b.change.read(o)
	}
	f.Done()
	switch {
	case f.Object.Get("filter") == nil && f.Object.Get("ids") == nil:
		f.Bad("ids", "required", "is required without a filter.", nil)
	case b.query == nil && b.ids == nil && f.Err() == nil:
		f.Bad("ids", "too_few_items", "must have at least 1 item.", fault.Meta{"minimum": 1})
	case b.query != nil && b.ids != nil:
		f.Bad("filter", "incompatible_fields", "cannot stand beside ids.", nil)
	case b.after != "" && b.query == nil:
		f.Bad("after", "incompatible_fields", "needs a filter.", nil)
	}
	return b, f.Err()
}

// readBulkFilter reads a filter with the meaning of the list of campaigns.
func readBulkFilter(o *body.Reader) *page.Query {
	q := &page.Query{}
	if list := o.Choices("status", len(Statuses), Statuses); len(list) > 0 {
		q.Status = list
	}
	add := func(name string, values ...string) {
		if len(values) > 0 {
			q.Filters = append(q.Filters, page.Filter{Name: name, Values: values})
		}
	}
	add("channel", o.Choices("channel", len(Channels), Channels)...)
	add("objective", o.Choices("objective", len(Objectives), Objectives)...)
	if tag := o.Text("tag", body.Nullable, 1, body.MaxTag); tag != nil {
		add("tag", strings.ToLower(*tag))
	}
	if text := o.Text("q", body.Nullable, 1, MaxName); text != nil {
		add("q", *text)
	}
	o.Done()
	return q
}

func (ch *change) read(o *body.Reader) {
	if b := o.Nested("budget", body.Optional); b != nil {
		ch.readBudget(b)
	}
	if s := o.Nested("schedule", body.Optional); s != nil {
		s.Instant("start_at")
		s.Instant("end_at")
		s.Done()
		ch.schedule = s.Object
	}
	ch.add, ch.remove = readTags(o, "add_tags"), readTags(o, "remove_tags")
	o.Done()
	for i, tag := range ch.add {
		if slices.Contains(ch.remove, tag) {
			o.Bad(fmt.Sprintf("%s[%d]", o.At("add_tags"), i), "duplicate_item", "is in remove_tags too.", nil)
		}
	}
	if len(o.Object.Members) == 0 {
		o.Bad("change", "required", "needs a budget, a schedule, add_tags or remove_tags.", nil)
	}
}

// readBudget reads a percentage, or an amount with its currency, so that no
// campaign in another currency gets the amount.
func (ch *change) readBudget(b *body.Reader) {
	if b.Object.Get("percent") != nil {
		ch.percent = b.Between("percent", body.Required, MinPercent, MaxPercent)
	} else {
		currency := money.Currency("USD")
		ch.currency = b.Currency("currency", body.Required)
		body.Set(&currency, ch.currency)
		ch.amount = b.Amount("amount", body.Required, currency)
	}
	b.Done()
}

func readTags(o *body.Reader, name string) []string {
	return o.List(name, body.MaxTags, func(path, item string) (string, bool) {
		return strings.ToLower(item), o.CheckText(path, item, 1, body.MaxTag)
	})
}
