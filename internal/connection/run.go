package connection

import (
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// RunStatus is how a sync run stands.
type RunStatus string

// The statuses of a run. Waiting is for a platform that asked for time.
const (
	RunQueued    RunStatus = "queued"
	RunRunning   RunStatus = "running"
	RunWaiting   RunStatus = "waiting"
	RunSucceeded RunStatus = "succeeded"
	RunPartial   RunStatus = "partial"
	RunFailed    RunStatus = "failed"
	RunCanceled  RunStatus = "canceled"
)

// RunStatuses lists all of them; openRun are those of a run that is not over.
var (
	RunStatuses = []string{
		string(RunQueued), string(RunRunning), string(RunWaiting), string(RunSucceeded), string(RunPartial), string(RunFailed), string(RunCanceled),
	}
	openRun = []RunStatus{RunQueued, RunRunning, RunWaiting}
)

// Modes say which days are read: those that may still change, all of the last
// three months, or those that are named.
const (
	ModeIncremental = "incremental"
	ModeFull        = "full"
	ModeBackfill    = "backfill"
)

// Modes lists them.
var Modes = []string{ModeIncremental, ModeFull, ModeBackfill}

// Streams are the kinds of data that a run brings.
const (
	StreamCampaigns = "campaigns"
	StreamCreative  = "creative"
	StreamAudiences = "audiences"
	StreamMetrics   = "metrics_daily"
)

// Streams lists them.
var Streams = []string{StreamCampaigns, StreamCreative, StreamAudiences, StreamMetrics}

// Triggers of runs.
const (
	TriggerManual    = "manual"
	TriggerScheduled = "scheduled"
	TriggerInitial   = "initial"
	TriggerBackfill  = "backfill"
)

// Run is one sync of a connection, as the API answers it.
type Run struct {
	ID           ident.ID     `json:"id"`
	ConnectionID ident.ID     `json:"connection_id"`
	Trigger      string       `json:"trigger"`
	Mode         string       `json:"mode"`
	Status       RunStatus    `json:"status"`
	Coalesced    bool         `json:"coalesced"`
	RequestedBy  record.Actor `json:"requested_by"`
	Window       Days         `json:"window"`
	Streams      []*Stream    `json:"streams"`
	Totals       RunTotals    `json:"totals"`
	// RestatedDays are those that were there before and have changed.
	RestatedDays []clock.Date   `json:"restated_days"`
	Drift        []TotalDrift   `json:"drift"`
	Attempt      int64          `json:"attempt"`
	Error        *RunError      `json:"error"`
	WaitingUntil *clock.Instant `json:"waiting_until"`
	StartedAt    *clock.Instant `json:"started_at"`
	FinishedAt   *clock.Instant `json:"finished_at"`
	DurationMS   *int64         `json:"duration_ms"`

	record.Common

	// Plan are the parts of the run; nil before it has begun.
	Plan []SyncPart `json:"-"`
}

// Days are a range of days, both included.
type Days struct {
	StartDate clock.Date `json:"start_date"`
	EndDate   clock.Date `json:"end_date"`
}

// Stream is how far one kind of data has come.
type Stream struct {
	Name               string      `json:"name"`
	Status             string      `json:"status"`
	CursorFrom         *clock.Date `json:"cursor_from"`
	CursorTo           *clock.Date `json:"cursor_to"`
	SlicesTotal        int         `json:"slices_total"`
	SlicesDone         int         `json:"slices_done"`
	RecordsRead        int64       `json:"records_read"`
	RecordsWritten     int64       `json:"records_written"`
	RecordsQuarantined int64       `json:"records_quarantined"`
	Error              *RunError   `json:"error"`
}

// Statuses of streams and slices.
const (
	partPending    = "pending"
	streamRunning  = "running"
	partDone       = "succeeded"
	streamPartial  = "partial"
	partFailed     = "failed"
	streamCanceled = "canceled"
)

// RunTotals is what a run has cost and brought.
type RunTotals struct {
	RecordsRead      int64 `json:"records_read"`
	RecordsWritten   int64 `json:"records_written"`
	APICalls         int64 `json:"api_calls"`
	ThrottledSeconds int64 `json:"throttled_seconds"`
}

// TotalDrift is a day on which the platform says another total than what is
// stored adds up to.
type TotalDrift struct {
	Date      clock.Date  `json:"date"`
	AccountID string      `json:"account_id"`
	Metric    string      `json:"metric"`
	Platform  fact.Number `json:"platform_total"`
	Stored    fact.Number `json:"stored_total"`
}

// SyncPart is a part of a run that is done as a whole or not at all: the
// entities of an account, or one family of its metrics for some days.
type SyncPart struct {
	Account string `json:"account"`
	// Entities is true if the part reads the account's campaigns, ads and
	// audiences. Otherwise it reads the metrics of Family from First to Last.
	Entities bool        `json:"entities,omitzero"`
	Family   fact.Family `json:"family,omitzero"`
	First    clock.Date  `json:"first,omitzero"`
	Last     clock.Date  `json:"last,omitzero"`
	Status   string      `json:"status"`
	Attempts int         `json:"attempts,omitzero"`
	// Found counts what an account has, by stream.
	Found       map[string]int64 `json:"found,omitzero"`
	Read        int64            `json:"read,omitzero"`
	Written     int64            `json:"written,omitzero"`
	Quarantined int64            `json:"quarantined,omitzero"`
	// Active is the last day on which the account showed ads, 0 for none.
	Active clock.Date `json:"active,omitzero"`
	// Changed are the days whose totals are others than before.
	Changed []ChangedDays `json:"changed,omitzero"`
	// Notes say what the numbers of the part lack.
	Notes []Note    `json:"notes,omitzero"`
	Error *RunError `json:"error,omitzero"`
}

// over reports whether a run has ended.
func (r *Run) over() bool { return !slices.Contains(openRun, r.Status) }

// progress brings what a run tells of its streams in line with its parts.
func (r *Run) progress() {
	r.Totals.RecordsRead, r.Totals.RecordsWritten = 0, 0
	for _, s := range r.Streams {
		*s = Stream{Name: s.Name, Status: partPending}
		var done, failed int
		for i := range r.Plan {
			p := &r.Plan[i]
			if p.Entities == (s.Name == StreamMetrics) {
				continue
			}
			s.SlicesTotal++
			switch p.Status {
			case partDone:
				done++
			case partFailed:
				failed++
				s.Error = p.Error
			}
			s.add(p)
		}
		s.SlicesDone = done
		s.Status = r.streamStatus(s.SlicesTotal, done, failed)
		r.Totals.RecordsRead += s.RecordsRead
		r.Totals.RecordsWritten += s.RecordsWritten
	}
}

// add counts a part.
func (s *Stream) add(p *SyncPart) {
	if p.Entities {
		s.RecordsRead += p.Found[s.Name]
		s.RecordsWritten += p.Found[s.Name]
		return
	}
	s.RecordsRead += p.Read
	s.RecordsWritten += p.Written
	s.RecordsQuarantined += p.Quarantined
	if p.Status != partDone {
		return
	}
	if s.CursorFrom == nil || p.First < *s.CursorFrom {
		s.CursorFrom = &p.First
	}
	if s.CursorTo == nil || p.Last > *s.CursorTo {
		s.CursorTo = &p.Last
	}
}

func (r *Run) streamStatus(total, done, failed int) string {
	switch {
	case r.Status == RunCanceled && done < total:
		return streamCanceled
	case done == total && r.over():
		return partDone
	case failed == total && total > 0:
		return partFailed
	case done+failed == total && total > 0 && failed > 0:
		return streamPartial
	case done == total && total > 0:
		return partDone
	case done+failed > 0:
		return streamRunning
	}
	return partPending
}

// outcome is how a run has ended whose parts are all done or given up.
func (r *Run) outcome() RunStatus {
	var done, failed int
	for i := range r.Plan {
		switch r.Plan[i].Status {
		case partDone:
			done++
		case partFailed:
			failed++
		}
	}
	switch {
	case failed == 0:
		return RunSucceeded
	case done == 0:
		return RunFailed
	}
	return RunPartial
}

// finish ends a run.
func (r *Run) finish(status RunStatus, why *RunError, now clock.Instant) {
	r.Status, r.Error, r.WaitingUntil, r.FinishedAt = status, why, nil, &now
	if r.StartedAt != nil {
		ms := int64(now-*r.StartedAt) / 1000
		r.DurationMS = &ms
	}
	r.progress()
}
