package audience

import (
	"fmt"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/record"
)

// Status says whether campaigns can use the audience.
type Status string

// The statuses.
const (
	StatusProcessing Status = "processing"
	StatusReady      Status = "ready"
	StatusTooSmall   Status = "too_small"
	StatusFailed     Status = "failed"
	StatusArchived   Status = "archived"
)

// Usability returns whether campaigns can use an audience of this status.
func (s Status) Usability() record.Usability {
	switch s {
	case StatusProcessing, StatusFailed:
		return record.Usability{Issue: "audience_not_ready"}
	case StatusTooSmall:
		return record.Usability{Issue: "audience_too_small"}
	case StatusArchived:
		return record.Usability{Issue: "audience_not_ready", Archived: true}
	case StatusReady:
	}
	return record.Usability{}
}

// Statuses lists all statuses in lifecycle order.
var Statuses = []string{string(StatusProcessing), string(StatusReady), string(StatusTooSmall), string(StatusFailed), string(StatusArchived)}

// notArchived are the statuses of an audience that is not archived.
var notArchived = []Status{StatusProcessing, StatusReady, StatusTooSmall, StatusFailed}

// readyStatus returns the status of an audience that is not processing. Only a
// customer list can be too small, because only its members are counted here.
func (a *Audience) readyStatus() Status {
	if a.Type == TypeCustomerList && a.MemberCount() < MinMembers {
		return StatusTooSmall
	}
	return StatusReady
}

// MemberCount returns the number of members. Only customer lists have members.
func (a *Audience) MemberCount() int64 {
	if a.Type != TypeCustomerList || a.Size == nil {
		return 0
	}
	return a.Size.Estimate
}

// WithMemberChange returns a copy of the list with the changed count, and the events and
// jobs of that change. Stores call it, because they know the counts only after
// the write. It does not modify the receiver.
func (a *Audience) WithMemberChange(added, removed int64, now clock.Instant) (next *Audience, events []record.Event, jobs []record.Job) {
	list := *a
	next = &list
	if added == 0 && removed == 0 {
		return next, nil, nil
	}
	next.Size = exactSize(a.MemberCount()+added-removed, now)
	if next.Status = next.readyStatus(); next.Status != a.Status {
		events = append(events, record.Event{Type: "audience." + string(next.Status), Previous: map[string]any{"status": a.Status}})
	}
	next.Touch(now, len(events))
	return next, events, record.RefreshJobs(a.Status.Usability(), next.Status.Usability(), a.WorkspaceID, a.ID, now)
}

// requireCustomerList returns a fault unless the audience is a customer list
// that is not archived.
func (a *Audience) requireCustomerList() error {
	if a.Type != TypeCustomerList {
		return fault.New(fault.InvalidState, fmt.Sprintf("Only a customer list has members; this audience is of type %s.", a.Type), fault.Detail{
			Code: string(fault.InvalidState), Message: "The audience is not a customer list.",
			Meta: fault.Meta{"type": a.Type, "required_type": TypeCustomerList},
		})
	}
	return a.requireNotArchived("change the members of")
}

// requireNotArchived returns a fault if the audience is archived.
func (a *Audience) requireNotArchived(what string) error {
	if a.Status != StatusArchived {
		return nil
	}
	return a.stateFault(fault.Archived, "Cannot "+what+" an archived audience; restore it first.", notArchived...)
}

// archive archives the audience from any status.
func (a *Audience) archive(now clock.Instant) { a.Status, a.ArchivedAt = StatusArchived, &now }

// restore restores an archived audience.
func (a *Audience) restore() error {
	if a.Status != StatusArchived {
		return a.stateFault(fault.InvalidState, fmt.Sprintf("Cannot restore an audience that is %s; it must be archived.", a.Status), StatusArchived)
	}
	a.Status, a.ArchivedAt = a.readyStatus(), nil
	return nil
}

func (a *Audience) stateFault(code fault.Code, message string, required ...Status) error {
	return fault.New(code, message, fault.Detail{
		Code: string(code), Message: message, Meta: fault.Meta{"current_status": a.Status, "required_status": required},
	})
}
