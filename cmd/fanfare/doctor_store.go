package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"fanfare/internal/app"
	"fanfare/internal/asset"
	"fanfare/internal/asset/s3"
	"fanfare/internal/assetfiles"
	"fanfare/internal/datadir"
	"fanfare/internal/ident"
	"fanfare/internal/seal"
	"fanfare/internal/store"
	"fanfare/internal/storefile"
)

// examineStore checks an open store. path is its file, empty in a server, which
// knows it.
func examineStore(ctx context.Context, e store.Engine, db *store.DB, path string) []finding {
	list := []finding{{"store", good, e.Traits().Name + " can be opened"}}
	if err := e.Check(ctx, true); err != nil {
		list = append(list, finding{"database file", failure, err.Error() + damageFix(err)})
	} else {
		list = append(list, finding{"database file", good, "no damage found"})
	}
	pending, err := store.FindPending(ctx, e)
	switch {
	case errors.Is(err, store.ErrNewer):
		return append(list, finding{"schema", failure, err.Error()})
	case err != nil:
		return append(list, finding{"schema", failure, err.Error() + ": restore a backup, or check --data and --store"})
	case len(pending.Start) > 0:
		return append(list, finding{"schema", good, "the next start will apply " + strings.Join(pending.Start, ", ")})
	}
	if err := db.CheckComplete(ctx); err != nil {
		return append(list, finding{"schema", failure, err.Error()})
	}
	schema := finding{"schema", good, "up to date"}
	if len(pending.Contract) > 0 {
		schema = finding{"schema", warning, contractHint(pending.Contract)}
	}
	list = append(list, schema, examineDocuments(ctx, e), examineChanges(ctx, e, db, path))
	report, err := db.VerifyAudit(ctx, func(int64) {})
	switch {
	case err != nil:
		list = append(list, finding{"audit log", failure, err.Error() + ": restore a backup"})
	case len(report.Faults) > 0:
		list = append(list, finding{"audit log", failure, fmt.Sprintf("%d entries were changed, removed or moved: list them with `fanfare audit verify`, and compare with a backup", len(report.Faults))})
	default:
		list = append(list, finding{"audit log", good, fmt.Sprintf("%d entries are unchanged", report.Entries)})
	}
	if err := skewFault(ctx, e, db); err != nil {
		return append(list, finding{"clock skew", failure, err.Error()})
	}
	return append(list, finding{"clock skew", good, "the clocks of the database and this machine agree"})
}

// examineChanges looks for acknowledged changes that are missing.
func examineChanges(ctx context.Context, e store.Engine, db *store.DB, path string) finding {
	if !e.Traits().Exclusive {
		return finding{"changes", good, "not counted: check PostgreSQL's own log and backups for lost changes"}
	}
	text, ok, err := storefile.ExamineChanges(ctx, db, path, now())
	switch {
	case err != nil:
		return finding{"changes", failure, strings.TrimSuffix(err.Error()+": "+permissionFix(err), ": ")}
	case !ok:
		return finding{"changes", warning, text}
	}
	return finding{"changes", good, text}
}

// restoreFix is the fix for a damaged database.
const restoreFix = ": stop the server, move the files fanfare.db* away and restore the last good backup into the data folder with `fanfare backup restore`"

// damageFix returns the fix for an error of a check, empty if the error names
// its own.
func damageFix(err error) string {
	if errors.Is(err, store.ErrDisplaced) || errors.Is(err, store.ErrOverwritten) {
		return ""
	}
	return restoreFix
}

// examineDocuments verifies the checksum of every document.
func examineDocuments(ctx context.Context, e store.Engine) finding {
	report, err := store.VerifyDocuments(ctx, e)
	switch {
	case err != nil:
		return finding{"documents", failure, err.Error() + damageFix(err)}
	case report.Count > 0:
		return finding{"documents", failure, fmt.Sprintf("%d of %d do not match their checksum (%s)%s", report.Count, report.Documents, strings.Join(report.Damaged, ", "), restoreFix)}
	}
	return finding{"documents", good, fmt.Sprintf("%d match their checksums", report.Documents)}
}

// lazyFolder is an assets folder that doctor reads without creating it.
type lazyFolder string

// Open implements asset.Opener.
func (l lazyFolder) Open(workspace ident.ID, sum string) (io.ReadCloser, int64, error) {
	if _, err := os.Stat(string(l)); err != nil {
		return nil, 0, err
	}
	f, err := asset.OpenFolder(string(l), now, rand.Reader)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	return f.Open(workspace, sum)
}

// examineFiles is examineAssets for an assets setting.
func examineFiles(ctx context.Context, db *store.DB, setting string) finding {
	if !s3.IsLocation(setting) {
		return examineAssets(ctx, db, lazyFolder(setting))
	}
	files, err := assetfiles.Open(setting, "", now, rand.Reader)
	if err != nil {
		return finding{"asset files", failure, err.Error()}
	}
	defer func() { _ = files.Close() }()
	return examineAssets(ctx, db, files)
}

// examineAssets compares every file of an asset with its hash.
func examineAssets(ctx context.Context, db *store.DB, files asset.Opener) finding {
	report, err := asset.Verify(ctx, db.Assets(), files)
	switch {
	case err != nil:
		return finding{"asset files", failure, err.Error()}
	case report.Missing+report.Damaged > 0:
		return finding{"asset files", failure, fmt.Sprintf("%d of %d are missing and %d are damaged (%s): upload these images again, or restore the files from a copy of the assets", report.Missing, report.Files, report.Damaged, strings.Join(report.Named, ", "))}
	}
	return finding{"asset files", good, fmt.Sprintf("%d match their hashes", report.Files)}
}

// lostConnections returns the connections whose data is incomplete since facts
// were lost.
func lostConnections(ctx context.Context, db *store.DB) (ids []ident.ID, err error) {
	workspaces, err := db.Assets().Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range workspaces {
		list, err := db.Analytics().Connections(ctx, w)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			if c.Lost {
				ids = append(ids, c.ID)
			}
		}
	}
	return ids, nil
}

// lostText describes connections with lost data, and the fix.
func lostText(ids []ident.ID) string {
	const shown = 5
	names := make([]string, 0, shown)
	for _, id := range ids[:min(shown, len(ids))] {
		names = append(names, string(id))
	}
	return fmt.Sprintf("%d connections have lost data (%s): platform connections sync it again while the server runs; send your own data again with a new Idempotency-Key, then set data_lost_at to null with PATCH /v1/connections/{id}", len(ids), strings.Join(names, ", "))
}

// examineConnections looks for connections whose data is incomplete.
func examineConnections(ctx context.Context, db *store.DB) finding {
	ids, err := lostConnections(ctx, db)
	switch {
	case err != nil:
		return finding{"connections", failure, err.Error()}
	case len(ids) > 0:
		return finding{"connections", warning, lostText(ids)}
	}
	return finding{"connections", good, "no data was lost"}
}

// examineFacts reads all facts of a running server.
func examineFacts(ctx context.Context, a *app.App) finding {
	if why := a.FactsFile.OperatorProblem(); why != "" {
		return finding{"facts", failure, why}
	}
	if err := a.Facts.Dump(ctx, io.Discard); err != nil {
		return finding{"facts", failure, err.Error()}
	}
	return finding{"facts", good, "all are readable"}
}

// masterKey reads the keyring without creating it.
func (d *doctor) masterKey(ctx context.Context, dir *datadir.Dir, db *store.DB) finding {
	ring, err := seal.Read(d.masterKeyFile(dir), rand.Reader)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return finding{"master key", failure, err.Error()}
	}
	return examineMasterKey(ctx, seal.Rotation{Ring: ring, Store: db})
}

// examineMasterKey looks for secrets that cannot be decrypted. Without them a
// pause does not reach its platform.
func examineMasterKey(ctx context.Context, r seal.Rotation) finding {
	switch missing, err := r.Missing(ctx); {
	case err != nil:
		return finding{"master key", failure, err.Error()}
	case len(missing) > 0:
		return finding{"master key", failure, "missing " + strings.Join(missing, ", ") + ": " + seal.MissingFix}
	}
	return finding{"master key", good, "it decrypts all stored secrets"}
}
