// Package ingest converts own data to facts: rows sent to the API and files
// that platforms export. It parses rows, reports their problems and writes the
// valid ones. Repeating a write changes nothing. It uses no HTTP and no SQL;
// store.go declares the interfaces that it needs.
package ingest

import (
	"context"
	"io"
	"runtime"
	"time"

	"fanfare/internal/fairqueue"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// Limits of own data. The OpenAPI contract has the same limits.
const (
	// MaxRows is the maximum number of rows per call, MaxFileRows per file.
	MaxRows     = 50_000
	MaxFileRows = 200_000
	MaxFile     = 25 << 20
	MaxColumns  = 200
	// MaxCell is the maximum size of a cell in bytes, MaxText that of all cells
	// of a file: a tiny Parquet file can contain gigabytes of text.
	MaxCell = 4 << 10
	MaxText = 64 << 20
	// MaxCells is the maximum number of cells of a Parquet file, empty ones
	// included: 20 columns for the maximum number of rows. A file of 26 kB can
	// have 40 million cells.
	MaxCells = 4_000_000
	// MaxMembers is the maximum number of members of a JSON row.
	MaxMembers = 100
	// MaxID and MaxName are the maximum lengths of a source's ids and names,
	// MaxRecordID that of a record's id.
	MaxID       = 200
	MaxName     = 500
	MaxRecordID = 64
	// MaxAccounts is the maximum number of accounts per call or file.
	MaxAccounts = 100
	// MaxRejected is the maximum number of rejected rows in an answer.
	MaxRejected = 1_000
	// MaxLookup is the maximum number of ids per lookup.
	MaxLookup = 500
)

// DefaultSource and DefaultAccount apply to rows that name none.
const (
	DefaultSource  = "default"
	DefaultAccount = "default"
)

// Platforms of sources.
const (
	PlatformAPI = "api"
	PlatformCSV = "csv"
)

// Mode says how a write treats existing facts.
type Mode string

// The modes.
const (
	// Upsert replaces the facts with the key of a row.
	Upsert Mode = "upsert"
	// Replace deletes a window of days first.
	Replace Mode = "replace"
)

// Modes lists all modes.
var Modes = []string{string(Upsert), string(Replace)}

// Problem is an invalid field of a row.
type Problem struct {
	Field   string     `json:"field"`
	Code    string     `json:"code"`
	Message string     `json:"message"`
	Meta    fault.Meta `json:"meta,omitzero"`
}

// Service imports own data.
type Service struct {
	facts   Facts
	sources Sources
	records Records
	imports ImportStore
	files   Files
	parquet Parquet
	now     func() time.Time
	random  io.Reader
	// largeFeeds and smallFeeds limit calls that send rows. largeFiles limits
	// file parsing to one at a time: the largest file takes about 150 MB. Small
	// feeds and files do not wait for large ones.
	largeFeeds, smallFeeds, largeFiles, smallFiles *fairqueue.Queue
}

const (
	// maxWait is how long a call waits for its turn, and again for the turn of
	// its write.
	maxWait = 10 * time.Second
	// smallFile is the size up to which a text is a small file. A Parquet file
	// is large, whatever its size is.
	smallFile = 1 << 20
	// smallFeed is the size up to which the rows of a call are few, about a
	// thousand.
	smallFeed = 128 << 10
)

// Deps are the dependencies of a Service.
type Deps struct {
	Facts   Facts
	Sources Sources
	Records Records
	Imports ImportStore
	Files   Files
	// Parquet may be nil. Parquet files are then rejected.
	Parquet Parquet
	// Founder finds whose workspaces share turns, nil for each on its own.
	Founder fairqueue.FounderOf
	Now     func() time.Time
	Random  io.Reader
}

// New returns the service.
func New(p Deps) *Service {
	cores := max(runtime.GOMAXPROCS(0), 2)
	return &Service{
		facts: p.Facts, sources: p.Sources, records: p.Records, imports: p.Imports, files: p.Files, parquet: p.Parquet,
		now: p.Now, random: p.Random,
		// One more than cores: a call that waits for its write uses none.
		largeFeeds: fairqueue.New(fairqueue.Limits{Work: "calls that send many rows", Running: cores + 1, PerWorkspace: 32}, p.Founder),
		smallFeeds: fairqueue.New(fairqueue.Limits{Work: "calls that send rows", Running: cores + 1, PerWorkspace: 32}, p.Founder),
		largeFiles: fairqueue.New(fairqueue.Limits{Work: "imports of large files", Running: 1, PerWorkspace: 8}, p.Founder),
		smallFiles: fairqueue.New(fairqueue.Limits{Work: "imports", Running: cores, PerWorkspace: 32}, p.Founder),
	}
}

// takeFeed waits for the turn of a call that sends rows.
func (s *Service) takeFeed(ctx context.Context, workspace ident.ID, size int) (leave func(), err error) {
	queue := s.smallFeeds
	if size > smallFeed {
		queue = s.largeFeeds
	}
	return queue.Take(ctx, workspace, maxWait)
}

// takeFile waits for the turn of a file.
func (s *Service) takeFile(ctx context.Context, workspace ident.ID, size int64, parquet bool) (leave func(), err error) {
	queue := s.smallFiles
	if size > smallFile || parquet {
		queue = s.largeFiles
	}
	return queue.Take(ctx, workspace, maxWait)
}
