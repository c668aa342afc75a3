package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fanfare"
	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/asset/s3"
	"fanfare/internal/config"
	"fanfare/internal/connection"
	"fanfare/internal/control"
	"fanfare/internal/datadir"
	"fanfare/internal/httpapi"
	"fanfare/internal/listen"
	"fanfare/internal/memory"
	"fanfare/internal/ratelimit"
	"fanfare/internal/secret"
	"fanfare/internal/store"
)

// cli has the state that all commands share.
type cli struct {
	settings config.Settings
	asJSON   bool
	// running reports that the command line was valid and the command runs.
	running bool
	// memory has the memory limits of a server.
	memory memory.Limits
	// replacingFacts says that the command replaces the facts, acceptMasterKey
	// that it replaces the master key: they need not belong to the store.
	replacingFacts, acceptMasterKey bool
}

// load reads the settings of a command.
func (c *cli) load(cmd *cobra.Command) error {
	warnings, err := config.Load(cmd.Root().PersistentFlags(), os.Environ(), os.ReadFile)
	for _, w := range warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+w)
	}
	if err != nil {
		return configError{err}
	}
	return nil
}

// loadStore reads the settings of a command that opens the store.
func (c *cli) loadStore(cmd *cobra.Command) error {
	if err := c.load(cmd); err != nil {
		return err
	}
	if err := errors.Join(c.settings.CheckStore(), c.settings.CheckAssets()); err != nil {
		return configError{err}
	}
	return nil
}

func (c *cli) limits() (map[account.Plan]ratelimit.Limits, error) {
	return config.ParseLimits(c.settings.Limits)
}

// storeSetting returns the store that the app opens.
func (c *cli) storeSetting(dir *datadir.Dir) string {
	if c.settings.Store != "" {
		return c.settings.Store
	}
	return dir.Path(databaseFile)
}

// assetsSetting returns the folder or the bucket of asset files.
func (c *cli) assetsSetting(dir *datadir.Dir) string {
	if c.settings.Assets != "" {
		return c.settings.Assets
	}
	return dir.Path("assets")
}

// masterKeyFile returns the file of the master key.
func (c *cli) masterKeyFile(dir *datadir.Dir) string {
	return cmp.Or(c.settings.MasterKey, dir.Path("master.key"))
}

// authorityFile returns the file of the local certificate authority in
// --tls-mode auto.
func authorityFile(dir *datadir.Dir) string { return dir.Path("tls", "ca.pem") }

// databaseFile is the name of the SQLite file in the data folder.
const databaseFile = "fanfare.db"

// hasDatabase reports whether the data folder has a SQLite file with content. A
// server that was killed at its very first start leaves an empty one.
func hasDatabase(dir *datadir.Dir) (bool, error) {
	info, err := os.Stat(dir.Path(databaseFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}

// orphaned returns an error if a restore was interrupted, or if the data folder
// has files of an installation whose database is missing. A new database beside
// them would hide the loss.
func (c *cli) orphaned(dir *datadir.Dir) error {
	if c.settings.Store != "" {
		return nil
	}
	if err := interrupted(dir); err != nil {
		return err
	}
	if there, err := hasDatabase(dir); there || err != nil {
		return err
	}
	names := []string{databaseFile + "-wal", databaseFile + "-audit", "facts.duckdb", "facts.duckdb.wal"}
	if c.settings.MasterKey == "" {
		names = append(names, "master.key")
	}
	var left []string
	for _, name := range names {
		if _, err := os.Stat(dir.Path(name)); err == nil {
			left = append(left, name)
		}
	}
	if left == nil {
		return nil
	}
	return fmt.Errorf("the database %s is missing, but the folder has %s of an installation: put %s back, or restore a backup with `fanfare backup restore FILE --data %s`; to start a new installation, move the other files away; if the database is elsewhere, set --store",
		dir.Path(databaseFile), strings.Join(left, ", "), databaseFile, dir.Path())
}

func (c *cli) openApp(ctx context.Context, dir *datadir.Dir, hsts bool, log *slog.Logger) (*app.App, error) {
	if err := c.orphaned(dir); err != nil {
		return nil, configError{err}
	}
	limits, err := c.limits()
	if err != nil {
		return nil, configError{err}
	}
	clients, err := pairs("oauth", "ID:SECRET", c.settings.OAuth)
	if err != nil {
		return nil, configError{err}
	}
	urls, err := pairs("platform-urls", "URL", c.settings.PlatformURLs)
	if err != nil {
		return nil, configError{err}
	}
	calls, err := dailyCalls(c.settings.PlatformCalls)
	if err != nil {
		return nil, configError{err}
	}
	apps, err := oauthApps(clients)
	if err != nil {
		return nil, configError{err}
	}
	people, err := c.people()
	if err != nil {
		return nil, configError{err}
	}
	authority := ""
	if c.settings.TLSMode == listen.ModeAuto {
		authority = authorityFile(dir)
	}
	a, err := app.Open(ctx, app.Config{
		SignIn: people, Authority: authority,
		OAuth: apps, PlatformURLs: urls, PlatformCalls: calls, Sandbox: c.settings.Sandbox, SandboxState: dir.Path("sandbox.json"), PublicURL: c.publicURL(c.settings.Listen), HistoryDays: c.settings.HistoryDays,
		Store: c.storeSetting(dir), Facts: dir.Path(), Metrics: c.settings.MetricsURL(), ReplacingFacts: c.replacingFacts, AcceptMasterKey: c.acceptMasterKey, Assets: c.assetsSetting(dir), MasterKey: c.masterKeyFile(dir), Limits: limits, KeepExposedKeys: c.settings.PlaintextKeyPolicy == "warn", HSTS: hsts,
		MaxInFlight: c.settings.WorkLimit(), Progress: requestProgress, Memory: c.memory, MaxWorkspaces: c.settings.MaxWorkspaces, MaxAssetBytes: c.settings.MaxAssetGiB << 30, Fonts: c.settings.FontFolders(), CachedRecords: cachedRecords, CORSOrigins: c.settings.CORSOrigins,
		Changelog: fanfare.Changelog, Build: version, Now: now, Random: rand.Reader, Log: log,
	})
	if _, refused := errors.AsType[*s3.RefusedError](err); refused {
		return nil, configError{err}
	}
	return a, c.unavailableHint(dir, err)
}

// requestProgress returns the connection of a request.
func requestProgress(ctx context.Context) httpapi.Progress {
	if p := listen.ProgressOf(ctx); p != nil {
		return p
	}
	return nil
}

// pairs parses a list of platform=value.
func pairs(setting, form string, list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, item := range list {
		name, value, ok := strings.Cut(item, "=")
		if !ok || name == "" || value == "" {
			// The error omits the item, because it may contain a secret.
			return nil, fmt.Errorf("%s: use platform=%s, separated by commas", setting, form)
		}
		out[name] = value
	}
	return out, nil
}

// oauthApps parses the operator's OAuth clients.
func oauthApps(list map[string]string) (map[string]connection.OAuthClient, error) {
	apps := map[string]connection.OAuthClient{}
	for platform, client := range list {
		id, key, ok := strings.Cut(client, ":")
		if !ok || id == "" || key == "" {
			return nil, fmt.Errorf("oauth: the client of %s must be ID:SECRET", platform)
		}
		app := connection.OAuthClient{ID: id}
		if platform == connection.PlatformMetaAds {
			// Secrets of other platforms may have a colon; those of Meta are
			// hexadecimal.
			key, app.Configuration, _ = strings.Cut(key, ":")
			if key == "" || strings.Trim(app.Configuration, "0123456789") != "" {
				return nil, fmt.Errorf("oauth: the client of %s must be ID:SECRET or ID:SECRET:CONFIG_ID, where CONFIG_ID is the number of a Facebook Login for Business configuration", platform)
			}
		}
		app.Secret = secret.New(key)
		apps[platform] = app
	}
	return apps, nil
}

// dailyCalls parses the calls a day of the operator's OAuth clients.
func dailyCalls(list []string) (map[string]int64, error) {
	texts, err := pairs("platform-calls", "NUMBER", list)
	if err != nil {
		return nil, err
	}
	calls := map[string]int64{}
	for platform, text := range texts {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("platform-calls: the number of %s must be a positive integer, such as 15000; it is %q", platform, text)
		}
		calls[platform] = n
	}
	return calls, nil
}

// publicURL returns the server's address for browsers: the configured one, else
// the domain of its certificate, else localhost.
func (c *cli) publicURL(listen string) string {
	switch {
	case c.settings.PublicURL != "":
		return c.settings.PublicURL
	case c.settings.TLSMode != "acme" || len(c.settings.ACMEDomains) == 0:
		return localURL(listen)
	}
	return strings.Replace(localURL(listen), "localhost", c.settings.ACMEDomains[0], 1)
}

func localURL(listen string) string {
	_, port, err := net.SplitHostPort(listen)
	if err != nil || port == "443" {
		return "https://localhost"
	}
	return "https://localhost:" + port
}

// openEngine opens the database without the app.
func (c *cli) openEngine(ctx context.Context, dir *datadir.Dir) (store.Engine, error) {
	e, err := app.OpenEngine(ctx, c.storeSetting(dir))
	return e, c.unavailableHint(dir, err)
}

// unavailableHint adds the fix to the error of an unavailable database.
func (c *cli) unavailableHint(dir *datadir.Dir, err error) error {
	switch fix := datadir.FullDisk(dir.Path()); {
	case !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, syscall.ENOSPC):
	case c.settings.Store != "":
		return fmt.Errorf("%w: start the database, or correct --store", err)
	case fix != "":
		return fmt.Errorf("%w\n%s", err, fix)
	}
	return err
}

// cachedRecords limits the record cache to about 60 MB.
const cachedRecords = 32_768

// createsDatabase lists the operations that create a database if none exists. Any other
// operation would report on, or change, a new database instead of the intended
// one.
var createsDatabase = map[string]bool{"workspace.create": true, "rates.put": true}

func noDatabase(folder string) error {
	return fmt.Errorf("there is no database in %s: set --data to the data folder of your server, or create a workspace or start `fanfare serve` there first", folder)
}

// call runs an operator's command inside the server that uses the data folder,
// or directly on the store if no server runs.
func (c *cli) call(cmd *cobra.Command, name string, in, out any) error {
	if err := c.loadStore(cmd); err != nil {
		return err
	}
	ctx, report := cmd.Context(), progress(cmd.ErrOrStderr(), name)
	if _, err := os.Stat(c.settings.Data); errors.Is(err, fs.ErrNotExist) && !createsDatabase[name] && c.settings.Store == "" {
		return configError{noDatabase(c.settings.Data)}
	}
	dir, err := datadir.Open(c.settings.Data)
	if err != nil {
		return configError{err}
	}
	server, err := dialOrLock(ctx, dir, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if server != nil {
		return server.Call(ctx, name, in, out, report)
	}
	defer dir.Unlock()
	if err := c.orphaned(dir); err != nil {
		return configError{err}
	}
	if _, err := os.Stat(c.storeSetting(dir)); errors.Is(err, fs.ErrNotExist) && !createsDatabase[name] && c.settings.Store == "" {
		return configError{noDatabase(dir.Path())}
	}
	c.replacingFacts, c.acceptMasterKey = strings.HasPrefix(name, "facts."), name == "master_key.accept"
	a, err := c.openApp(ctx, dir, false, quietLog)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	result, err := operations(a)[name](ctx, raw, report)
	if err = errors.Join(err, a.Close()); err != nil {
		return err
	}
	b, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, out)
}

// The process that uses the folder can be a server that starts or stops, or
// another command. On a busy machine each of them takes seconds.
const (
	reachTime  = time.Minute
	reachSay   = 2 * time.Second
	reachAgain = 20 * time.Millisecond
)

// dialOrLock connects to the server that uses the data folder. If no server runs, it
// locks the folder and returns nil. It waits at most reachTime for each process
// that uses the folder, and reports the wait on w.
func dialOrLock(ctx context.Context, dir *datadir.Dir, w io.Writer) (*control.Client, error) {
	var holder string
	var waited time.Duration
	said := false
	for {
		if server, err := control.Dial(ctx, dir.Path(socketName)); err == nil {
			return server, nil
		}
		err := dir.Lock()
		var held *datadir.LockedError
		if !errors.As(err, &held) {
			return nil, err
		}
		if held.Process != holder {
			holder, waited = held.Process, 0
		}
		if waited >= reachTime {
			return nil, err
		}
		if waited >= reachSay && !said {
			fmt.Fprintf(w, "Waiting for process %s, which uses the data folder.\n", holder)
			said = true
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(reachAgain):
			waited += reachAgain
		}
	}
}

// lockDir locks the data folder for exclusive use. It waits for another command
// that uses the folder, but not for a server.
func lockDir(ctx context.Context, dir *datadir.Dir, w io.Writer) error {
	server, err := dialOrLock(ctx, dir, w)
	if server != nil {
		return dir.Lock()
	}
	return err
}

const socketName = "control.sock"

// progress shows a bar on a terminal and a line per 10 percent elsewhere. It
// writes to the error stream, so that results can be piped.
func progress(w io.Writer, name string) func(control.Progress) {
	var bar *progressbar.ProgressBar
	tenth := int64(-1)
	return func(p control.Progress) {
		if p.Total == 0 {
			return
		}
		if isTerminal(w) {
			if bar == nil {
				bar = progressbar.NewOptions64(p.Total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(name),
					progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionClearOnFinish())
			}
			_ = bar.Set64(p.Done)
			return
		}
		if t := p.Done * 10 / p.Total; t != tenth {
			tenth = t
			fmt.Fprintf(w, "%s: %d %%\n", name, t*10)
		}
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// jsonFlag adds --json to a command.
func (c *cli) jsonFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print JSON")
	return cmd
}

// printJSON prints a value as one line of JSON.
func printJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.EscapeForHTML(false))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, string(b))
	return err
}

// table prints rows in columns.
func table(w io.Writer, head string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, head)
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	return t.Flush()
}
