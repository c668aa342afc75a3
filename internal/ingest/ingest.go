// Package ingest is how own data becomes facts: rows sent to the API and files
// that platforms export. It reads rows, says what is wrong with them, and
// writes those that are right, so that doing it again changes nothing. It knows
// no HTTP and no SQL; what it needs from others is in store.go.
package ingest

import (
	"errors"
	"io"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/turn"
)

// Limits of what is brought in. The contract says the same.
const (
	// MaxRows is how many rows one call may send, MaxFileRows how many a file
	// may have.
	MaxRows     = 50_000
	MaxFileRows = 200_000
	MaxFile     = 25 << 20
	MaxColumns  = 200
	// MaxCell is how many bytes a cell may have, MaxText how many the cells of
	// a file may have together: a Parquet file of some bytes can have gigabytes
	// of text.
	MaxCell = 4 << 10
	MaxText = 64 << 20
	// MaxMembers is how many members a row of JSON may have.
	MaxMembers = 100
	// MaxID and MaxName are how many characters an id and a name of a source
	// may have, MaxRecordID how many an id of ours.
	MaxID       = 200
	MaxName     = 500
	MaxRecordID = 64
	// MaxAccounts is how many accounts one call or file may name.
	MaxAccounts = 100
	// MaxRejected is how many refused rows an answer lists.
	MaxRejected = 1_000
	// MaxLookup is how many ids are looked up at once.
	MaxLookup = 500
)

// DefaultSource and DefaultAccount are what rows belong to that name nothing
// else.
const (
	DefaultSource  = "default"
	DefaultAccount = "default"
)

// Platforms of sources.
const (
	PlatformAPI = "api"
	PlatformCSV = "csv"
)

// ErrUnreadable says that a file is not what it seems to be.
var ErrUnreadable = errors.New("the file cannot be read")

// Mode says what happens to facts that are there.
type Mode string

// The modes.
const (
	// Upsert replaces the facts that have the key of a row.
	Upsert Mode = "upsert"
	// Replace empties a window of days first.
	Replace Mode = "replace"
)

// Modes lists them all.
var Modes = []string{string(Upsert), string(Replace)}

// Problem is something wrong with a field of a row.
type Problem struct {
	Field   string     `json:"field"`
	Code    string     `json:"code"`
	Message string     `json:"message"`
	Meta    fault.Meta `json:"meta,omitzero"`
}

// Service brings own data in.
type Service struct {
	facts   Facts
	sources Sources
	records Records
	imports ImportStore
	files   Files
	parquet Parquet
	now     func() time.Time
	random  io.Reader
	// turns are for reading files, one at a time: one of the largest takes
	// some 150 MB.
	turns *turn.Turns
}

// Parts are what the service works with.
type Parts struct {
	Facts   Facts
	Sources Sources
	Records Records
	Imports ImportStore
	Files   Files
	// Parquet may be nil; such files are refused then.
	Parquet Parquet
	Now     func() time.Time
	Random  io.Reader
}

// New makes the service.
func New(p Parts) *Service {
	return &Service{
		facts: p.Facts, sources: p.Sources, records: p.Records, imports: p.Imports, files: p.Files, parquet: p.Parquet,
		now: p.Now, random: p.Random, turns: turn.New(1),
	}
}
