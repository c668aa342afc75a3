package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/nearest"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Upload is an uploaded file.
type Upload struct {
	Name        string
	ContentType string
	Bytes       []byte
	// Source is a name or the id of a connection. Empty means the file name
	// without its extension.
	Source string
	// Currency defaults to the file's, then to that of Defaults. Zone defaults to
	// that of Defaults.
	Currency money.Currency
	Zone     string
	Defaults connection.WorkspaceDefaults
	Mode     Mode
	// Commit commits at once if all rows are valid and no column was guessed.
	Commit bool
}

// MaxFileName and MaxSource are maximum lengths in characters.
const (
	MaxFileName = 200
	MaxSource   = 200
)

// Upload parses a file, stores it and returns the import with its preview. It
// writes no facts before the commit. An unreadable file is a fault.
func (s *Service) Upload(ctx context.Context, cause record.Cause, u Upload) (record.Doc, error) {
	i, err := s.newImport(ctx, cause, &u)
	if err != nil {
		return record.Doc{}, err
	}
	commit := u.Commit && i.Status == StatusReady && i.Preview.ErrorCount == 0 && i.Preview.ValidCount > 0 &&
		!slices.ContainsFunc(i.Columns, func(c Column) bool { return c.Confidence == Guess })
	once := cause
	if commit {
		// The idempotency key stores the committed import.
		once.Idempotency = nil
	}
	d, err := s.imports.Save(ctx, i, record.Save{Cause: once, At: i.CreatedAt, Events: []record.Event{{Type: "import.created"}}})
	if err != nil || !commit {
		return d, err
	}
	return s.Commit(ctx, cause, i.ID, record.Match{}, Options{})
}

// newImport creates the record of an upload. It stores the bytes first, because
// Sweep removes bytes without a record.
func (s *Service) newImport(ctx context.Context, cause record.Cause, u *Upload) (*Import, error) {
	sum := sha256.Sum256(u.Bytes)
	t := s.now()
	now := clock.At(t)
	name := cut(strings.TrimSpace(path.Base(strings.ReplaceAll(u.Name, `\`, "/"))), MaxFileName)
	if strings.Trim(name, "./") == "" {
		name = "upload"
	}
	i := &Import{
		ID: ident.New(ident.Import, t, s.random), Source: cmp.Or(u.Source, cut(strings.TrimSuffix(name, path.Ext(name)), MaxSource), DefaultSource),
		File:     File{Name: name, Bytes: int64(len(u.Bytes)), SHA256: hex.EncodeToString(sum[:])},
		Currency: u.Currency, Timezone: cmp.Or(u.Zone, u.Defaults.Zone), Mode: cmp.Or(u.Mode, Upsert),
		Common: record.Common{WorkspaceID: cause.Workspace, Version: 1, CreatedBy: cause.Actor, CreatedAt: now, UpdatedAt: now},
	}
	if details := i.checkUpload(); len(details) > 0 {
		return nil, fault.Invalid(details)
	}
	if strings.Contains(u.ContentType, "parquet") && !isParquet(u.Bytes) {
		return nil, unreadable("The file is no Parquet file, although its type says so.", nil)
	}
	leave, err := s.takeFile(ctx, cause.Workspace, i.File.Bytes, isParquet(u.Bytes))
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := s.detectColumns(ctx, i, u.Bytes); err != nil {
		return nil, err
	}
	i.Currency = cmp.Or(i.Currency, u.Defaults.Currency)
	if err := s.preview(ctx, i, u.Bytes); err != nil {
		return nil, err
	}
	if err := s.files.Put(cause.Workspace, i.File.SHA256, u.Bytes); err != nil {
		return nil, fmt.Errorf("keep file: %w", err)
	}
	return i, s.findDuplicate(ctx, i)
}

// checkUpload returns the problems of the fields that the caller sent.
func (i *Import) checkUpload() []fault.Detail {
	var details []fault.Detail
	bad := func(field, code, message string, meta fault.Meta) {
		details = append(details, fault.Detail{Field: field, Code: code, Message: field + " " + message, Meta: meta})
	}
	if i.File.Bytes > MaxFile {
		bad("body", tooLarge, "is larger than 25 MiB. Split the file.", fault.Meta{"maximum": MaxFile})
	}
	if len([]rune(i.Source)) > MaxSource || strings.TrimSpace(i.Source) == "" {
		bad("source", "invalid_value", fmt.Sprintf("must have 1 to %d characters.", MaxSource), fault.Meta{"maximum": MaxSource})
	}
	if _, ok := i.Currency.Digits(); !ok && i.Currency != "" {
		bad("currency", "invalid_value", "must be an ISO 4217 currency code in upper case, such as USD.", nil)
	}
	if _, err := clock.Zone(i.Timezone); err != nil {
		bad("timezone", "invalid_value", "must be an IANA time zone such as Europe/Berlin.", nil)
	}
	if !slices.Contains(Modes, string(i.Mode)) {
		bad("mode", "invalid_value", "must be upsert or replace.", fault.Meta{"allowed": Modes})
	}
	return details
}

// preview creates the preview.
func (s *Service) preview(ctx context.Context, i *Import, b []byte) error {
	i.Preview, i.Status = emptyPreview(), StatusNeedsMapping
	if i.Error = i.missingField(); i.Error != nil {
		return nil
	}
	r, err := s.readFile(ctx, i, b)
	if err != nil {
		return err
	}
	i.Preview, i.Status = r.preview(), StatusReady
	return nil
}

// findDuplicate sets DuplicateOf if the source already has these bytes.
func (s *Service) findDuplicate(ctx context.Context, i *Import) error {
	same, err := s.imports.Same(ctx, i.WorkspaceID, i.Source, i.File.SHA256)
	if err != nil {
		return fmt.Errorf("look for the same file: %w", err)
	}
	if i.DuplicateOf = nil; same != "" && same != i.ID {
		i.DuplicateOf = &same
	}
	return nil
}

// Get returns the stored document.
func (s *Service) Get(ctx context.Context, workspace, id ident.ID) (record.Doc, error) {
	return s.imports.Doc(ctx, workspace, id)
}

// List returns one page of imports.
func (s *Service) List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
	return s.imports.List(ctx, workspace, q)
}

// change changes how a file is read. Nil fields stay.
type change struct {
	// mapping assigns fields to columns; empty means that the column is not
	// read. Other columns keep their fields, unless the mapping reassigns them.
	mapping    map[string]string
	source     *string
	currency   *money.Currency
	zone       *string
	mode       *Mode
	dateFormat *string
	decimal    *string
}

// Update changes how the file is read, before the commit, by a merge patch.
func (s *Service) Update(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, patch *body.Value) (record.Doc, error) {
	f := body.NewReader(patch, true)
	c := readChange(f)
	return record.Retry(ctx, func() (record.Doc, error) {
		i, err := s.load(ctx, cause.Workspace, id, match)
		if err != nil {
			return record.Doc{}, err
		}
		if err := f.Err(); err != nil {
			return record.Doc{}, err
		}
		if details := i.apply(&c); len(details) > 0 {
			return record.Doc{}, fault.Invalid(details)
		}
		if err := i.requireStatus("update", StatusReady, StatusNeedsMapping); err != nil {
			return record.Doc{}, err
		}
		if err := s.reread(ctx, i, &c); err != nil {
			return record.Doc{}, err
		}
		now := clock.At(s.now())
		i.Touch(now, 1)
		return s.imports.Save(ctx, i, record.Save{Cause: cause, At: now, Events: []record.Event{{Type: "import.updated"}}})
	})
}

// reread recreates the preview from the stored file. Another date column may
// have another format.
func (s *Service) reread(ctx context.Context, i *Import, c *change) error {
	leave, err := s.takeFile(ctx, i.WorkspaceID, i.File.Bytes, i.File.Format == FormatParquet)
	if err != nil {
		return err
	}
	defer leave()
	b, err := s.bytesOf(i)
	if errors.Is(err, fs.ErrNotExist) {
		return i.fileExpired()
	}
	if err != nil {
		return err
	}
	if c.mapping != nil && c.dateFormat == nil {
		g, err := s.openGrid(ctx, i, b)
		if err != nil {
			return err
		}
		v, err := g.survey(slices.Clone(i.Columns))
		if err != nil {
			return err
		}
		i.Detected.dates(v, templateOf(i.Detected.Template))
	}
	if err := s.preview(ctx, i, b); err != nil {
		return err
	}
	return s.findDuplicate(ctx, i)
}

// apply applies the change and returns its problems.
func (i *Import) apply(c *change) []fault.Detail {
	body.Set(&i.Source, c.source)
	body.Set(&i.Currency, c.currency)
	body.Set(&i.Timezone, c.zone)
	body.Set(&i.Mode, c.mode)
	if c.dateFormat != nil {
		i.Detected.DateFormat = c.dateFormat
	}
	if c.decimal != nil {
		i.Detected.Decimal = c.decimal
	}
	return i.applyMapping(c.mapping)
}

// applyMapping assigns other fields to columns. A field moves away from the
// column that had it.
func (i *Import) applyMapping(mapping map[string]string) []fault.Detail {
	var details []fault.Detail
	names := make([]string, len(i.Columns))
	for n, c := range i.Columns {
		names[n] = c.Name
	}
	taken := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(mapping)) {
		wanted, at := mapping[name], "mapping."+cut(name, MaxID)
		f, known := fieldsByName[wanted]
		column := slices.Index(names, name)
		switch {
		case column < 0:
			details = append(details, fault.Detail{Field: at, Code: "not_found", Message: "The file has no such column.", Meta: hint(name, names)})
		case wanted == "":
			i.Columns[column].Field, i.Columns[column].Confidence = nil, FromCaller
		case !known:
			meta := hint(wanted, FileFields)
			meta["allowed"] = FileFields
			details = append(details, fault.Detail{Field: at, Code: "invalid_value", Message: at + " must be one of " + strings.Join(FileFields, ", ") + ".", Meta: meta})
		case taken[wanted] != "":
			details = append(details, fault.Detail{Field: at, Code: "duplicate_item", Message: fmt.Sprintf("%s is %s already.", taken[wanted], wanted), Meta: fault.Meta{"column": taken[wanted]}})
		default:
			taken[wanted] = name
			for n := range i.Columns {
				if had := i.Columns[n].Field; had != nil && *had == wanted {
					i.Columns[n].Field, i.Columns[n].Confidence = nil, None
				}
			}
			i.Columns[column].setField(f, FromCaller)
		}
	}
	i.setProblem()
	return details
}

func hint(word string, words []string) fault.Meta {
	meta := fault.Meta{}
	if near := nearest.Word(word, words); near != "" {
		meta["did_you_mean"] = near
	}
	return meta
}

func (s *Service) load(ctx context.Context, workspace, id ident.ID, match record.Match) (*Import, error) {
	i, err := s.imports.Load(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	return i, match.Check(i.Version)
}

// fileExpired returns the fault for uploaded bytes that were removed.
func (i *Import) fileExpired() error {
	message := "The file of this import is not kept any more. Upload it again."
	return fault.New(fault.InvalidState, message, fault.Detail{Code: string(fault.InvalidState), Message: message, Meta: fault.Meta{"current_status": i.Status}})
}

// Sweep removes uploaded bytes that were not sent again for UndoTime. Their
// imports remain; those without a commit need a new upload.
func (s *Service) Sweep(ctx context.Context) error {
	before := s.now().Add(-UndoTime)
	err := s.files.Old(ctx, before, func(workspace ident.ID, sum string) error { return s.files.Remove(workspace, sum, before) })
	if err != nil {
		return fmt.Errorf("sweep files of imports: %w", err)
	}
	return nil
}
