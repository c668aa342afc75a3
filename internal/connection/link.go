package connection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Kinds lists what can be linked.
var Kinds = []string{fact.KindCampaign, fact.KindCreative, fact.KindAudience}

// link notes what an account had at a moment, links what is to be linked by its name, and
// learns which records of ours things are.
func (e *execution) link(ctx context.Context, account string, found *Entities, seen clock.Instant) error {
	a := e.c.account(account)
	for kind, list := range map[string][]Entity{fact.KindCampaign: found.Campaigns, fact.KindCreative: found.Ads, fact.KindAudience: found.Audiences} {
		offered, err := e.offered(ctx, account, kind, list)
		if err != nil {
			return err
		}
		listed := map[string]bool{}
		for _, it := range list {
			listed[it.External] = true
		}
		links := make([]Link, len(offered))
		for i, it := range offered {
			links[i] = Link{
				Kind: kind, ExternalID: it.External, AccountID: account, Platform: a.Platform, Name: it.Name, Status: some(it.Status), Channel: some(it.Channel), URL: some(it.URL),
				SyncedAt: seen, Connection: e.c.ID, Runs: it.Runs,
			}
		}
		if err := e.s.Links.Found(ctx, e.c.WorkspaceID, e.c.ID, account, kind, links); err != nil {
			return fmt.Errorf("note what %s has: %w", account, err)
		}
		if e.c.LinkByName {
			_, err := record.Retry(ctx, func() (record.Doc, error) {
				_, _, err := e.s.byName(ctx, system(e.c), e.c.ID, kind, nil)
				return record.Doc{}, err
			})
			if err != nil {
				return err
			}
		}
		known, err := e.s.Links.OfConnection(ctx, e.c.WorkspaceID, e.c.ID, kind, nil)
		if err != nil {
			return err
		}
		for i := range known {
			l := &known[i]
			if l.RecordID == nil || l.AccountID != account && !listed[l.ExternalID] {
				continue
			}
			e.links[linkKey{kind, l.ExternalID}] = *l.RecordID
			// Those of other accounts are told when it is their turn.
			if l.AccountID != account {
				continue
			}
			if err := e.s.tell(ctx, e.c.WorkspaceID, kind, *l.RecordID); err != nil {
				return err
			}
		}
	}
	return nil
}

// offered returns the entities of an account that are stored for linking.
func (e *execution) offered(ctx context.Context, account, kind string, list []Entity) ([]Entity, error) {
	if kind != fact.KindAudience && !slices.ContainsFunc(list, func(it Entity) bool { return it.Deleted }) {
		return list, nil
	}
	known, err := e.s.Links.OfConnection(ctx, e.c.WorkspaceID, e.c.ID, kind, nil)
	if err != nil {
		return nil, err
	}
	links := map[string]*Link{}
	for i := range known {
		links[known[i].ExternalID] = &known[i]
	}
	synced := func(id string) bool { a := e.c.account(id); return a != nil && a.Enabled }
	return slices.DeleteFunc(slices.Clone(list), func(it Entity) bool { return !it.offered(account, kind, links[it.External], synced) }), nil
}

// offered reports whether an entity of an account is stored for linking. A
// deleted one is stored only while it is linked, so that people see its state.
//
// An audience that one account shares with others is in the lists of all of
// them. It stays with the account that has it while that account is synced:
// otherwise each sync would move it.
func (it *Entity) offered(account, kind string, was *Link, synced func(account string) bool) bool {
	switch {
	case it.Deleted:
		return was != nil && was.RecordID != nil
	case kind == fact.KindAudience && was != nil && was.AccountID != account:
		return !synced(was.AccountID)
	}
	return true
}

// Follow takes over what a newer look at something does not tell: what it is
// linked to and what was written there. A state that was changed on the
// platform since is told and left alone. A look that began before the last
// state was confirmed knows nothing of that state.
func (l *Link) Follow(was *Link) {
	l.RecordID, l.Push, l.PushError, l.Wanted, l.Private = was.RecordID, was.Push, was.PushError, was.Wanted, was.Private
	if l.Wanted == nil || l.Push == nil || *l.Push == record.PushPending || *l.Push == record.PushFailed {
		return
	}
	if l.SyncedAt < was.SyncedAt {
		l.Status, l.Runs, l.SyncedAt = was.Status, was.Runs, was.SyncedAt
	}
	push := record.PushApplied
	switch {
	case l.Runs == *l.Wanted:
	case l.late() != 0:
		// An earlier write of ours may have taken effect late, so the state is
		// written again.
		push = record.PushPending
	default:
		push = record.PushDrifted
	}
	l.Push = &push
}

func some(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// LinkRequest are links to make or to take away.
type LinkRequest struct {
	Links  []LinkWish
	ByName bool
}

// LinkWish is one link; an empty record takes it away.
type LinkWish struct {
	Kind     string
	External string
	Record   ident.ID
}

// Linked is what became of a request.
type Linked struct {
	Linked    int      `json:"linked"`
	Unlinked  int      `json:"unlinked"`
	Ambiguous []string `json:"ambiguous"`
}

// Link makes and takes away links as the body says, all or none, and returns a
// Linked as a document. Facts that are there follow. The precondition counts
// only for an invalid body; see invalid.
func (s *Linker) Link(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, sent *body.Value) ([]byte, error) {
	f := body.NewReader(sent, false)
	r := readLinks(f)
	c, err := s.store.Load(ctx, cause.Workspace, id)
	if err != nil {
		return nil, err
	}
	if err := c.invalid(f, match); err != nil {
		return nil, err
	}
	if c.Status == StatusDisconnected {
		return nil, c.syncs()
	}
	d, err := record.Retry(ctx, func() (record.Doc, error) {
		answer, err := s.changeLinks(ctx, cause, c, &r)
		return record.Doc{JSON: answer}, err
	})
	return d.JSON, err
}

// changeLinks does what a request asks for. It returns record.ErrRace if a link
// changes meanwhile.
func (s *Linker) changeLinks(ctx context.Context, cause record.Cause, c *Connection, r *LinkRequest) ([]byte, error) {
	told := map[ident.ID]string{}
	changed, done, err := s.wishes(ctx, c, r.Links, told)
	if err != nil {
		return nil, err
	}
	if r.ByName {
		for _, kind := range Kinds {
			more, ambiguous, err := s.byName(ctx, record.Cause{Workspace: cause.Workspace}, c.ID, kind, changed)
			if err != nil {
				return nil, err
			}
			done.Linked += len(more)
			done.Ambiguous = append(done.Ambiguous, ambiguous...)
			changed = append(changed, more...)
		}
	}
	slices.Sort(done.Ambiguous)
	done.Ambiguous = slices.Compact(done.Ambiguous)
	done.Ambiguous = done.Ambiguous[:min(len(done.Ambiguous), 1000)]
	answer, err := json.Marshal(done, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode links: %w", err)
	}
	if err := s.putLinks(ctx, cause, c.ID, changed, answer); err != nil {
		return nil, err
	}
	return answer, s.relink(ctx, c, changed, told)
}

// putLinks writes links and schedules the pushes that they have not confirmed.
func (s *Linker) putLinks(ctx context.Context, cause record.Cause, id ident.ID, list []Link, answer []byte) error {
	now := clock.At(s.now())
	return s.Links.Put(ctx, id, list, answer, record.Save{Cause: cause, At: now, Jobs: PushJobs(cause.Workspace, list, now)})
}

// wishes finds what a request is about. It notes the records that lose a link,
// with their kinds.
func (s *Linker) wishes(ctx context.Context, c *Connection, list []LinkWish, losers map[ident.ID]string) (changed []Link, done Linked, err error) {
	done.Ambiguous = []string{}
	var details []fault.Detail
	for _, kind := range Kinds {
		var external []string
		var ids []ident.ID
		for _, w := range list {
			if w.Kind == kind {
				external = append(external, w.External)
				if w.Record != "" {
					ids = append(ids, w.Record)
				}
			}
		}
		if len(external) == 0 {
			continue
		}
		there, err := s.Links.OfConnection(ctx, c.WorkspaceID, c.ID, kind, external)
		if err != nil {
			return nil, done, err
		}
		records, err := s.Find(ctx, c.WorkspaceID, kind, ids)
		if err != nil {
			return nil, done, err
		}
		for i, w := range list {
			if w.Kind != kind {
				continue
			}
			at := slices.IndexFunc(there, func(l Link) bool { return l.ExternalID == w.External })
			if at < 0 {
				details = append(details, fault.Detail{
					Field: fmt.Sprintf("links[%d].external_id", i), In: "body", Code: "not_found",
					Message: fmt.Sprintf("links[%d].external_id names no %s that the last sync has found.", i, kind),
				})
				continue
			}
			l := there[at]
			was := l.RecordID
			switch _, known := records[w.Record]; {
			case w.Record == "" && l.RecordID != nil:
				l.RecordID = nil
				done.Unlinked++
			case w.Record == "":
				continue
			case !known:
				details = append(details, fault.MissingRef(fmt.Sprintf("links[%d].record_id", i), w.Record))
				continue
			case l.RecordID == nil || *l.RecordID != w.Record:
				l.RecordID = &w.Record
				done.Linked++
			default:
				continue
			}
			if was != nil {
				losers[*was] = kind
				l.detach(*was)
			}
			if err := s.attach(ctx, c.WorkspaceID, &l); err != nil {
				return nil, done, err
			}
			if slices.ContainsFunc(list[:i], func(o LinkWish) bool { return o.Kind == w.Kind && o.External == w.External }) {
				details = append(details, fault.Detail{
					Field: fmt.Sprintf("links[%d].external_id", i), In: "body", Code: "duplicate_item", Message: fmt.Sprintf("links[%d].external_id is there twice.", i),
				})
				continue
			}
			changed = append(changed, l)
		}
	}
	if len(details) > 0 {
		return nil, done, fault.Invalid(details)
	}
	return changed, done, nil
}

// maxOwed is how many records a link remembers requests of.
const maxOwed = 100

// detach drops what was requested for the record that a link is taken from. A
// request that is not confirmed is owed to that record, also while the link is
// another record's.
func (l *Link) detach(was ident.ID) {
	l.Private.takeOwed(was)
	if l.Unconfirmed() {
		l.Private.OwedTo = append(l.Private.OwedTo, Owed{Record: was, Enable: *l.Wanted})
		l.Private.OwedTo = l.Private.OwedTo[max(0, len(l.Private.OwedTo)-maxOwed):]
	}
	l.Push, l.PushError, l.Wanted = nil, nil, nil
}

// takeOwed returns what is owed to a record and removes it from the list.
func (p *LinkPrivate) takeOwed(to ident.ID) (owed Owed, there bool) {
	at := slices.IndexFunc(p.OwedTo, func(o Owed) bool { return o.Record == to })
	if at < 0 {
		return Owed{}, false
	}
	owed = p.OwedTo[at]
	p.OwedTo = slices.Delete(slices.Clone(p.OwedTo), at, at+1)
	return owed, true
}

// attach requests again what is owed to the record that a link now has, if the
// campaign still wants it.
//
// Choice: nothing else is requested by linking. A platform campaign that is
// enabled may be linked to a campaign that is paused; people decide which of
// the two is right, and a delivery issue reports the difference. A pause that
// was never confirmed is their decision already, whatever the platform campaign
// was linked to meanwhile.
func (s *Linker) attach(ctx context.Context, workspace ident.ID, l *Link) error {
	if l.RecordID == nil || l.Kind != fact.KindCampaign {
		return nil
	}
	owed, there := l.Private.takeOwed(*l.RecordID)
	if !there {
		return nil
	}
	runs, err := s.Campaigns.Runs(ctx, workspace, owed.Record)
	if err != nil || runs != owed.Enable {
		return err
	}
	l.Wanted, l.Push = &runs, some(record.PushPending)
	return nil
}

// byName links what is not linked and has the name of exactly one record. It
// stores that itself where the cause has an actor.
func (s *Linker) byName(ctx context.Context, cause record.Cause, id ident.ID, kind string, besides []Link) (changed []Link, ambiguous []string, err error) {
	list, err := s.Links.OfConnection(ctx, cause.Workspace, id, kind, nil)
	if err != nil {
		return nil, nil, err
	}
	names := map[string]bool{}
	for i := range list {
		if list[i].RecordID == nil {
			names[strings.ToLower(list[i].Name)] = true
		}
	}
	if len(names) == 0 {
		return nil, nil, nil
	}
	records, err := s.Links.Names(ctx, cause.Workspace, kind, slices.Sorted(maps.Keys(names)))
	if err != nil {
		return nil, nil, err
	}
	for _, l := range list {
		same := func(o Link) bool { return o.Kind == kind && o.ExternalID == l.ExternalID }
		if l.RecordID != nil || slices.ContainsFunc(besides, same) {
			continue
		}
		switch found := records[strings.ToLower(l.Name)]; len(found) {
		case 0:
		case 1:
			l.RecordID = &found[0]
			if err := s.attach(ctx, cause.Workspace, &l); err != nil {
				return nil, nil, err
			}
			changed = append(changed, l)
		default:
			ambiguous = append(ambiguous, l.Name)
		}
	}
	if cause.Actor.Type != "" && len(changed) > 0 {
		err = s.putLinks(ctx, cause, id, changed, nil)
	}
	return changed, ambiguous, err
}

// relink has facts that are there count for the records, and records tell of
// their links, those in told too.
func (s *Linker) relink(ctx context.Context, c *Connection, changed []Link, told map[ident.ID]string) error {
	for _, l := range changed {
		if l.RecordID != nil {
			told[*l.RecordID] = l.Kind
		}
	}
	for id, kind := range told {
		if err := s.tell(ctx, c.WorkspaceID, kind, id); err != nil {
			return err
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if err := s.Facts.Write(ctx, linkFacts(c, changed)); err != nil {
		return fmt.Errorf("link facts: %w", err)
	}
	return s.store.Enqueue(ctx, spendJob(c.WorkspaceID, c.ID, clock.At(s.now())))
}

// linkFacts is the batch that has facts count for what links say.
func linkFacts(c *Connection, links []Link) *fact.Batch {
	b := &fact.Batch{Workspace: c.WorkspaceID}
	for _, l := range links {
		e := fact.Entity{ExternalID: l.ExternalID, Name: l.Name}
		if l.RecordID != nil {
			e.Record = *l.RecordID
		}
		b.Links = append(b.Links, fact.Link{Connection: c.ID, Kind: l.Kind, Entity: e})
	}
	return b
}

// tell has a record show where else it is.
func (s *Linker) tell(ctx context.Context, workspace ident.ID, kind string, id ident.ID) error {
	look := func(ctx context.Context) ([]record.ExternalRef, error) { return s.Refs(ctx, workspace, kind, id) }
	switch kind {
	case fact.KindCampaign:
		return s.Campaigns.UpdateRefs(ctx, workspace, id, look)
	case fact.KindAudience:
		return s.Audiences.UpdateRefs(ctx, workspace, id, look)
	}
	return nil
}

// Entities returns one page of what the platform has, and the cursor behind it.
func (s *Linker) Entities(ctx context.Context, workspace, id ident.ID, kinds []string, linked *bool, after string, limit int) ([]Link, error) {
	if _, err := s.store.Doc(ctx, workspace, id); err != nil {
		return nil, err
	}
	return s.Links.Page(ctx, workspace, id, kinds, linked, after, limit)
}
