package connection

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// reader reads parts of several accounts at once. It only asks the platforms;
// what comes back is stored by the one who started it.
type reader struct {
	e       *execution
	cancel  context.CancelFunc
	results chan *readPart
	running int
}

// readPart is a part of a run with what the platform answered.
type readPart struct {
	part SyncPart
	// tokens are those of the execution when the part was started.
	tokens int
	// entities are what the account has, seen at a time that is 0 if they were
	// known before. The platform was asked then or later.
	entities *Entities
	seen     clock.Instant
	// conversions are the events that count as conversions.
	conversions []string
	bag         *bag
	calls       atomic.Int64
	err         error
}

// stop breaks off what is being read and waits for it.
func (r *reader) stop() {
	r.cancel()
	for r.running > 0 {
		r.next()
	}
}

// start starts reading a part.
func (r *reader) start(ctx context.Context, p *SyncPart) {
	e := r.e
	done := &readPart{part: *p, tokens: e.tokens, entities: e.entities[p.Account], conversions: e.c.ConversionEvents}
	client, k, ok := e.client(p.Account)
	r.running++
	if !ok {
		done.err = &Error{Class: Gone, Code: "no_account", Message: "The account is not there any more."}
		go func() { r.results <- done }()
		return
	}
	s, a, connection := e.s, *e.c.account(p.Account), e.c.ID
	ask := e.asker(&k, &a)
	ctx = WithCalls(s.appContext(ctx, a.Platform, k), &done.calls)
	go func() {
		if done.err = s.readers.wait(ctx, a.Platform); done.err == nil {
			done.read(ctx, ask, client, k, &a, connection)
			s.readers.leave(a.Platform)
		}
		r.results <- done
	}()
}

// next waits for the next part that was read.
func (r *reader) next() *readPart {
	done := <-r.results
	r.running--
	delete(r.e.busy, done.part.Account)
	return done
}

// settle stores what was read of a part, as a whole or not at all.
func (e *execution) settle(ctx context.Context, done *readPart) error {
	e.run.Totals.APICalls += done.calls.Load()
	account := done.part.Account
	if done.seen != 0 && done.entities != nil && e.entities[account] == nil {
		if err := e.link(ctx, account, done.entities, done.seen); err != nil {
			return err
		}
		e.entities[account] = done.entities
	}
	if done.err != nil {
		return done.err
	}
	p := &e.run.Plan[e.find(&done.part)]
	if p.Entities {
		found := e.entities[account]
		p.Found = map[string]int64{
			StreamCampaigns: int64(len(found.Campaigns)), StreamCreative: int64(len(found.Ads)), StreamAudiences: int64(len(found.Audiences)),
		}
		p.Status, p.Error = partDone, nil
		return nil
	}
	if err := e.write(ctx, p, done.bag); err != nil {
		return err
	}
	p.Status, p.Error, p.Notes = partDone, nil, done.bag.notes
	return nil
}

// bag collects the rows of a part under their keys.
type bag struct {
	source fact.Source
	rows   []fact.Row
	index  map[rowKey]int
	// ads are the figures of ads by campaign and day, campaigns those of
	// campaigns, told those of the account by day.
	ads         map[campaignDay]*fact.Values
	campaigns   map[campaignDay]*fact.Row
	told        map[clock.Date]*fact.Values
	read, wrong int64
	// notes are what the clients say that the numbers lack.
	notes []Note
}

// rowKey is everything that makes a row another one.
type rowKey struct {
	date                                                                clock.Date
	channel, campaign, creative, audience, country, age, gender, device string
}

// campaignDay is a day of a campaign. In GA4 a campaign can have several
// channels on one day.
type campaignDay struct {
	campaign, channel string
	date              clock.Date
}

// fetch reads the metrics of a part.
func (d *readPart) fetch(ctx context.Context, client Client, k Credentials, a *Account) (*bag, error) {
	p := &d.part
	b := &bag{
		index: map[rowKey]int{}, ads: map[campaignDay]*fact.Values{}, campaigns: map[campaignDay]*fact.Row{}, told: map[clock.Date]*fact.Values{},
	}
	for _, level := range levelsOf(p.Family) {
		if !slices.Contains(client.About().Levels, level) {
			continue
		}
		q := Report{
			Account: p.Account, Level: level, First: p.First, Last: p.Last, Entities: d.entities, Conversions: d.conversions,
			Currency: a.Currency, Zone: a.Timezone, Note: b.note,
		}
		err := client.Report(ctx, k, q, func(rows []fact.Row) error { return b.add(level, p, rows) })
		if err != nil {
			return nil, fmt.Errorf("report %s of %s: %w", p.Family, p.Account, err)
		}
	}
	b.addCampaignRemainders()
	b.addAccountRemainders(p.Family)
	b.index, b.ads, b.campaigns = nil, nil, nil
	return b, nil
}

// of returns the bag with rows that belong to a connection alone, which may change
// them.
func (b *bag) of(source fact.Source) *bag {
	own := *b
	own.source, own.rows = source, slices.Clone(b.rows)
	return &own
}

// maxNotes is the largest number of notes that a part keeps.
const maxNotes = 200

func (b *bag) note(n Note) {
	if len(b.notes) < maxNotes {
		b.notes = append(b.notes, n)
	}
}

func levelOf(f fact.Family) Level {
	for level, family := range Families {
		if family == f {
			return level
		}
	}
	return LevelAd
}

// add takes rows in.
func (b *bag) add(level Level, p *SyncPart, rows []fact.Row) error {
	b.read += int64(len(rows))
	for i := range rows {
		r := &rows[i]
		if r.Date < p.First || r.Date > p.Last || !sound(&r.Values) {
			b.wrong++
			continue
		}
		key := campaignDay{r.Campaign.Key(), r.Channel, r.Date}
		switch level {
		case LevelAccount:
			sum(b.told, r.Date, &r.Values)
		case LevelCampaign:
			b.campaigns[key] = r
		default:
			r.Family = p.Family
			if level == LevelAd {
				sum(b.ads, key, &r.Values)
			}
			if err := b.keep(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep adds a row. One that is there with the same key and other values says
// that the report changed while it was read.
func (b *bag) keep(r *fact.Row) error {
	key := rowKey{r.Date, r.Channel, r.Campaign.Key(), r.Creative.Key(), r.Audience.Key(), r.Country, r.AgeRange, r.Gender, r.Device}
	i, there := b.index[key]
	if there {
		if b.rows[i].Values != r.Values {
			return &Error{Class: PagesDisagree, Code: "paging_drift", Message: "The report changed while it was read."}
		}
		return nil
	}
	b.index[key] = len(b.rows)
	b.rows = append(b.rows, *r)
	return nil
}

// active returns the last day with ads or conversions, 0 for none. Google Analytics
// has conversions only.
func (b *bag) active() (last clock.Date) {
	for i := range b.rows {
		r := &b.rows[i]
		for _, m := range checked {
			if n, _ := r.Values.Get(m); n != 0 {
				last = max(last, r.Date)
			}
		}
	}
	return last
}

// sound refuses values that no platform means.
func sound(v *fact.Values) bool {
	for m := range fact.Measure(fact.NumMeasures) {
		n, known := v.Get(m)
		if known && (n > fact.MaxValue || n < -fact.MaxValue || n < 0 && !m.Scaled()) {
			return false
		}
	}
	return true
}

func sum[K comparable](into map[K]*fact.Values, key K, v *fact.Values) {
	t := into[key]
	if t == nil {
		t = &fact.Values{}
		into[key] = t
	}
	for m := range fact.Measure(fact.NumMeasures) {
		if n, known := v.Get(m); known && m != fact.Reach {
			had, _ := t.Get(m)
			t.Set(m, had+n)
		}
	}
}

// addCampaignRemainders gives what campaigns have beyond their ads a row of its
// own, so that totals are the platform's.
func (b *bag) addCampaignRemainders() {
	keys := slices.SortedFunc(maps.Keys(b.campaigns), func(x, y campaignDay) int {
		return cmp.Or(cmp.Compare(x.date, y.date), strings.Compare(x.campaign, y.campaign), strings.Compare(x.channel, y.channel))
	})
	for _, key := range keys {
		whole, ads := b.campaigns[key], b.ads[key]
		if ads == nil {
			ads = &fact.Values{}
		}
		r := fact.Row{Family: fact.Base, Date: whole.Date, Channel: whole.Channel, Campaign: whole.Campaign}
		for m := range fact.Measure(fact.NumMeasures) {
			n, known := whole.Values.Get(m)
			had, _ := ads.Get(m)
			if known && n != had && m != fact.Reach {
				r.Values.Set(m, n-had)
			}
		}
		if r.Values != (fact.Values{}) && sound(&r.Values) {
			b.rows = append(b.rows, r)
		}
	}
}

// addAccountRemainders gives what the account has beyond its campaigns a row
// without a campaign, so that totals are the platform's: platforms leave deleted
// campaigns out of reports and count them in the account. Where the campaigns
// have more than the account, the rows stay and a note says so.
func (b *bag) addAccountRemainders(f fact.Family) {
	if f != fact.Base || len(b.told) == 0 {
		return
	}
	sums := map[clock.Date]*fact.Values{}
	channels := map[string]bool{}
	for i := range b.rows {
		sum(sums, b.rows[i].Date, &b.rows[i].Values)
		channels[b.rows[i].Channel] = true
	}
	channel := "other"
	if len(channels) == 1 {
		channel = slices.Collect(maps.Keys(channels))[0]
	}
	for _, day := range slices.Sorted(maps.Keys(b.told)) {
		r := fact.Row{Family: fact.Base, Date: day, Channel: channel}
		have := sums[day]
		if have == nil {
			have = &fact.Values{}
		}
		for _, m := range checked {
			theirs, known := b.told[day].Get(m)
			ours, _ := have.Get(m)
			switch {
			case !known || theirs == ours:
			case theirs > ours:
				r.Values.Set(m, theirs-ours)
			default:
				over := theirs - ours
				b.note(Note{Code: NoteTotalDiffers, First: day, Last: day, Measure: m, Amount: &over, Message: "The campaigns add up to more than the platform reports for the account."})
			}
		}
		if r.Values != (fact.Values{}) && sound(&r.Values) {
			b.rows = append(b.rows, r)
		}
	}
}

// factsLock is the lock of the facts of a connection.
func factsLock(connection ident.ID) string { return "facts " + string(connection) }

// checkOwner returns an error if the run was stopped, or if another worker has
// begun to do it since it was last saved.
func (e *execution) checkOwner(ctx context.Context) error {
	stored, err := e.s.Runs.Load(ctx, e.run.WorkspaceID, e.run.ID)
	if err != nil {
		return err
	}
	if stored.Stored().Stamp != e.run.Stored().Stamp {
		return errLost
	}
	return nil
}

// write replaces the days of a part and notes what that has changed.
func (e *execution) write(ctx context.Context, p *SyncPart, b *bag) error {
	ctx, unlock, err := e.s.Lock(ctx, factsLock(e.c.ID))
	if err != nil {
		return err
	}
	defer unlock()
	if err := e.checkOwner(ctx); err != nil {
		return err
	}
	base := p.Family == fact.Base
	var before map[clock.Date]fact.Values
	if base {
		if before, err = e.s.Facts.Totals(ctx, e.c.WorkspaceID, &b.source, p.First, p.Last); err != nil {
			return fmt.Errorf("add up what is there: %w", err)
		}
	}
	for i := range b.rows {
		r := &b.rows[i]
		r.Source = &b.source
		e.links.mark(r)
	}
	if err := e.s.Begin(ctx, e.c.WorkspaceID, e.c.ID); err != nil {
		return err
	}
	batch := &fact.Batch{
		Workspace: e.c.WorkspaceID, Rows: b.rows,
		Replace: []fact.Window{{Source: &b.source, Family: p.Family, First: p.First, Last: p.Last}},
	}
	if err := e.s.Facts.Write(ctx, batch); err != nil {
		return fmt.Errorf("write facts: %w", err)
	}
	p.Read, p.Written, p.Quarantined, p.Active = b.read, int64(len(b.rows)), b.wrong, b.active()
	if !base {
		return nil
	}
	after, err := e.s.Facts.Totals(ctx, e.c.WorkspaceID, &b.source, p.First, p.Last)
	if err != nil {
		return fmt.Errorf("add up what is there now: %w", err)
	}
	p.Changed = e.changed(p, before, after)
	e.restated(before, after)
	e.drifted(p, b.told, after)
	return nil
}

const (
	mostRestated = 1000
	mostDrift    = 100
)

// restated notes days that were there before and have changed.
func (e *execution) restated(before, after map[clock.Date]fact.Values) {
	for day, was := range before {
		if after[day] != was && !slices.Contains(e.run.RestatedDays, day) && len(e.run.RestatedDays) < mostRestated {
			e.run.RestatedDays = append(e.run.RestatedDays, day)
		}
	}
	slices.Sort(e.run.RestatedDays)
}

// checked are the measures whose sums are compared with the platform's own.
var checked = []fact.Measure{fact.Impressions, fact.Clicks, fact.Spend, fact.Conversions, fact.Revenue}

// drifted notes where the platform's own totals are others.
func (e *execution) drifted(p *SyncPart, told map[clock.Date]*fact.Values, stored map[clock.Date]fact.Values) {
	for day := p.First; day <= p.Last; day++ {
		says, have := told[day], stored[day]
		if says == nil {
			continue
		}
		for _, m := range checked {
			theirs, known := says.Get(m)
			ours, _ := have.Get(m)
			if known && theirs != ours && len(e.run.Drift) < mostDrift {
				e.run.Drift = append(e.run.Drift, TotalDrift{Date: day, AccountID: p.Account, Metric: m.String(), Platform: number(m, theirs), Stored: number(m, ours)})
			}
		}
	}
}

func number(m fact.Measure, n int64) fact.Number {
	if m.Scaled() {
		return fact.Millionths(n)
	}
	return fact.Whole(n)
}

// linkage is which records of ours the things on a platform are.
type linkage map[linkKey]ident.ID

type linkKey struct{ kind, external string }

// mark links a row.
func (l linkage) mark(r *fact.Row) {
	for kind, entity := range map[string]*fact.Entity{fact.KindCampaign: &r.Campaign, fact.KindCreative: &r.Creative, fact.KindAudience: &r.Audience} {
		if entity.ExternalID != "" {
			entity.Record = l[linkKey{kind, entity.ExternalID}]
		}
	}
}
