package ingest

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

// Status is the lifecycle status of an import.
type Status string

// The statuses.
const (
	// StatusReady waits for the commit.
	StatusReady Status = "ready"
	// StatusNeedsMapping waits for information that could not be detected: a
	// required column, or the date format.
	StatusNeedsMapping Status = "needs_mapping"
	// StatusCommitting may already have written its facts. The commit can be
	// repeated and undone.
	StatusCommitting Status = "committing"
	StatusCommitted  Status = "committed"
	StatusUndone     Status = "undone"
	// StatusFailed is final. Error says why.
	StatusFailed Status = "failed"
)

// Statuses lists all statuses in lifecycle order.
var Statuses = []string{
	string(StatusReady), string(StatusNeedsMapping), string(StatusCommitting), string(StatusCommitted), string(StatusUndone), string(StatusFailed),
}

// UndoTime is how long a committed import can be undone, and how long uploaded
// bytes are kept.
const UndoTime = 30 * 24 * time.Hour

// Import is a file and its import into the facts, as the API returns it.
type Import struct {
	ID     ident.ID `json:"id"`
	Status Status   `json:"status"`
	File   File     `json:"file"`
	// Source is the name of the source or the id of its connection, as sent.
	// ConnectionID is set by the commit.
	Source       string         `json:"source"`
	ConnectionID *ident.ID      `json:"connection_id"`
	Currency     money.Currency `json:"currency"`
	Timezone     string         `json:"timezone"`
	Mode         Mode           `json:"mode"`
	// DuplicateOf is an earlier import of the same bytes to the same source.
	DuplicateOf *ident.ID         `json:"duplicate_of"`
	Detected    Detected          `json:"detected"`
	Columns     []Column          `json:"columns"`
	Mapping     map[string]string `json:"mapping"`
	Preview     Preview           `json:"preview"`
	// Error says what is missing while the import needs a mapping, or why it
	// failed.
	Error       *Problem       `json:"error"`
	RowsWritten *int64         `json:"rows_written"`
	CommittedAt *clock.Instant `json:"committed_at"`
	UndoUntil   *clock.Instant `json:"undo_expires_at"`
	UndoneAt    *clock.Instant `json:"undone_at"`

	record.Common
}

// File describes the uploaded file.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Format string `json:"format"`
	SHA256 string `json:"sha256"`
}

// Formats of files. Text with any delimiter is csv.
const (
	FormatCSV     = "csv"
	FormatParquet = "parquet"
)

// Detected is the format of the file, as detected or as sent.
type Detected struct {
	Delimiter *string `json:"delimiter"`
	Decimal   *string `json:"decimal"`
	Encoding  *string `json:"encoding"`
	// DateFormat is one of DateFormats, nil if it is ambiguous.
	DateFormat *string `json:"date_format"`
	// HeaderRow is the line with the column names, counted from 1.
	HeaderRow int `json:"header_row"`
	// Template is the platform export that the columns match.
	Template *string `json:"template"`
}

// Column is one column of the file.
type Column struct {
	Name string `json:"name"`
	// Field is the field of the column, nil if it is not read.
	Field      *string    `json:"field"`
	Confidence Confidence `json:"confidence"`
	Sample     []string   `json:"sample"`
}

// Confidence says how the field of a column was found.
type Confidence string

// The kinds of confidence. FromCaller is set by the caller.
const (
	Exact      Confidence = "exact"
	Synonym    Confidence = "synonym"
	Guess      Confidence = "guess"
	FromCaller Confidence = "told"
	None       Confidence = "none"
)

// Preview shows what a commit would write.
type Preview struct {
	// Rows are the first valid rows, in the fields of the API.
	Rows       []jsontext.Value `json:"rows"`
	RowCount   int              `json:"row_count"`
	ValidCount int              `json:"valid_count"`
	ErrorCount int              `json:"error_count"`
	// SkippedCount counts lines that are not rows: titles, totals.
	SkippedCount int         `json:"skipped_count"`
	Errors       []LineError `json:"errors"`
	// Totals are the sums of the valid rows.
	Totals    map[string]jsontext.Value `json:"totals"`
	StartDate *clock.Date               `json:"start_date"`
	EndDate   *clock.Date               `json:"end_date"`
}

// LineError is a problem of one line of the file.
type LineError struct {
	Line int `json:"line"`
	Problem
}

// Limits of the lists in a record.
const (
	maxPreview = 50
	maxErrors  = 100
	maxSample  = 3
)

// invalidState returns the fault for an action that the status does not allow.
func (i *Import) invalidState(action string, required ...Status) error {
	message := fmt.Sprintf("Cannot %s an import that is %s; it must be %s.", action, i.Status, record.JoinStatuses(required))
	return fault.New(fault.InvalidState, message, fault.Detail{
		Code: string(fault.InvalidState), Message: message,
		Meta: fault.Meta{"current_status": i.Status, "required_status": required},
	})
}

// requireStatus returns nil if the import has one of the statuses.
func (i *Import) requireStatus(action string, required ...Status) error {
	if slices.Contains(required, i.Status) {
		return nil
	}
	return i.invalidState(action, required...)
}

// checkUndo returns a fault if the import cannot be undone, or no longer.
func (i *Import) checkUndo(now clock.Instant) error {
	if err := i.requireStatus("undo", StatusCommitted, StatusCommitting); err != nil {
		return err
	}
	if i.UndoUntil != nil && *i.UndoUntil < now {
		message := fmt.Sprintf("The import could be undone until %s. Correct the numbers with a new import instead.", *i.UndoUntil)
		return fault.New(fault.InvalidState, message, fault.Detail{
			Code: string(fault.InvalidState), Message: message, Meta: fault.Meta{"current_status": i.Status, "undo_expires_at": *i.UndoUntil},
		})
	}
	return nil
}
