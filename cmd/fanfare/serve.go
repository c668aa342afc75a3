package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"fanfare/internal/app"
	"fanfare/internal/asset/s3"
	"fanfare/internal/config"
	"fanfare/internal/control"
	"fanfare/internal/datadir"
	"fanfare/internal/listen"
	"fanfare/internal/memory"
	"fanfare/internal/store"
)

// drainTime is how long requests in flight may take after the node has stopped
// accepting connections.
const drainTime = 25 * time.Second

func (c *cli) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve the API over HTTPS", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := c.startServer(cmd)
			if err != nil {
				return err
			}
			s.log.Info("serving", "url", s.url(), "data", s.dir.Path(), "version", version)
			if file, fingerprint := s.listener.Authority(); file != "" {
				s.log.Info("local certificate authority in use: install it with `fanfare trust`", "file", file, "sha256", fingerprint)
			}
			// The server also runs without the link, for example with a
			// read-only database.
			if err := s.logSetupURL(cmd.Context()); err != nil {
				s.log.Error("owner setup link not created: check that the database accepts writes", "error", err)
			}
			return s.serveUntilDone(cmd.Context())
		},
	}
}

// logSetupURL logs the link to set up the owner, if no user can sign in yet.
func (s *server) logSetupURL(ctx context.Context) error {
	at, err := s.app.SignIn.SetupURL(ctx)
	if err == nil && at != "" {
		s.log.Info("no one can sign in yet: open this one-time URL to set up the owner", "url", at)
	}
	return err
}

// server has all parts of a running server.
type server struct {
	dir      *datadir.Dir
	listener *listen.Listener
	app      *app.App
	control  *control.Server
	admin    *http.Server
	log      *slog.Logger
	// drainDelay is how long the node still accepts connections while it
	// reports that it is not ready.
	drainDelay time.Duration
}

// startServer checks the whole configuration and reports all errors at once. It
// creates and locks the data folder, but starts nothing unless the configuration
// is valid.
func (c *cli) startServer(cmd *cobra.Command) (*server, error) {
	loadErr := c.load(cmd)
	log, logErr := c.logger()
	dir, dirErr := datadir.Open(c.settings.Data)
	listenConfig, faults := c.check(dir)
	faults = append([]error{loadErr, logErr, dirErr}, faults...)
	var lockErr error
	if dir != nil {
		for _, w := range machineWarnings(dir, c.settings.MaxConnections) {
			log.Warn("machine limit too low for the configured load", "limit", w)
		}
		lockErr = lockDir(cmd.Context(), dir, cmd.ErrOrStderr())
	}
	if err := errors.Join(append(faults, lockErr)...); err != nil {
		if loadErr == nil && dirErr == nil && lockErr == nil && c.settings.CheckStore() == nil {
			err = errors.Join(err, c.storeFault(cmd.Context(), dir))
		}
		return nil, configError{err}
	}
	c.memory = memory.Tune()
	log.Debug("memory limits set", "limit", c.memory.Total, "go", c.memory.Go, "facts", c.memory.Facts, "uploads", c.memory.Uploads)
	s := &server{dir: dir, log: log, drainDelay: c.settings.DrainDelay}
	if err := s.start(cmd.Context(), c, listenConfig); err != nil {
		_ = s.close()
		return nil, err
	}
	return s, nil
}

// check returns the errors that the settings alone show.
func (c *cli) check(dir *datadir.Dir) (listen.Config, []error) {
	limits, limitsErr := c.limits()
	proxies, proxiesErr := config.ParseProxies(c.settings.TrustedProxies)
	s := &c.settings
	lc := listen.Config{
		Addr: s.Listen, Mode: s.TLSMode, CertFile: s.TLSCert, KeyFile: s.TLSKey, Domains: s.ACMEDomains, Email: s.ACMEEmail,
		Directory: s.ACMEDirectory, DirectoryRoots: s.ACMERoots, TrustedProxies: proxies, ProxyProtocol: s.ProxyProtocol, MaxConns: s.MaxConnections, WriteTimeout: s.WriteTimeout,
		Dir: filepath.Join(s.Data, "tls"),
	}
	if dir != nil {
		lc.Dir = dir.Path("tls")
	}
	_, peopleErr := c.people()
	faults := []error{limitsErr, proxiesErr, peopleErr}
	faults = append(faults, lc.Check(now())...)
	faults = append(faults, s.Check(limits, testBuild)...)
	return lc, append(faults, clockFault())
}

// storeFault opens the configured store without changing it, and returns the
// error that would prevent a start.
func (c *cli) storeFault(ctx context.Context, dir *datadir.Dir) error {
	setting := c.storeSetting(dir)
	if _, err := os.Stat(setting); c.settings.Store == "" && errors.Is(err, os.ErrNotExist) {
		return nil
	}
	e, err := c.openEngine(ctx, dir)
	if err != nil {
		return err
	}
	_, err = store.FindPending(ctx, e)
	return errors.Join(err, e.Close())
}

func (s *server) start(ctx context.Context, c *cli, lc listen.Config) (err error) {
	if s.listener, err = listen.Open(ctx, lc, now, s.log); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			err = fmt.Errorf("%w: stop the program that uses it, or choose another port with --listen or FANFARE_LISTEN", err)
		}
		return configError{err}
	}
	// The public URL uses the actual port, also if the system chose it.
	if c.settings.PublicURL == "" {
		c.settings.PublicURL = c.publicURL(s.listener.Addr().String())
		if !config.Loopback(c.settings.Listen) {
			s.log.Warn("public-url is not set: set it, because links, single sign-on and passkeys use this address", "public_url", c.settings.PublicURL)
		}
	}
	if s.app, err = c.openApp(ctx, s.dir, s.listener.Public(), s.log); err != nil {
		if errors.Is(err, store.ErrUnavailable) || errors.Is(err, s3.ErrUnreachable) {
			return err
		}
		return configError{err}
	}
	if err := skewFault(ctx, s.app.Engine, s.app.DB); err != nil {
		return configError{err}
	}
	if s.control, err = control.Listen(s.dir.Path(socketName), operations(s.app)); err != nil {
		return err
	}
	return s.openAdmin(c.settings.AdminListen)
}

// maxSkew is the largest allowed difference between the clocks of node and
// database.
const maxSkew = 5 * time.Minute

// skewFault compares the clocks of node and database. It ignores a test's clock
// offset, because a test cannot move the database's clock.
func skewFault(ctx context.Context, e store.Engine, db *store.DB) error {
	if e.Traits().Clock == "" {
		return nil
	}
	skew, err := db.Skew(ctx)
	if err != nil {
		return err
	}
	if skew += moved; skew.Abs() > maxSkew {
		return fmt.Errorf("the clocks of this machine and of the database differ by %s: synchronize both with NTP", skew.Round(time.Second).Abs())
	}
	return nil
}

// openAdmin serves profiles on the admin address, over TLS.
func (s *server) openAdmin(addr string) error {
	if addr == "" {
		return nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	s.admin = &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: 5 * time.Second, TLSConfig: s.listener.TLSConfig()}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return configError{fmt.Errorf("admin-listen: %w: choose another address", err)}
	}
	go func() {
		if err := s.admin.ServeTLS(ln, "", ""); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("admin listener failed: restart the server", "error", err)
		}
	}()
	return nil
}

// serveUntilDone serves until ctx ends, then drains.
func (s *server) serveUntilDone(ctx context.Context) error {
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { s.app.Run(background) })
	wg.Go(func() {
		if err := s.control.Serve(); err != nil {
			s.log.Error("control socket failed: commands cannot reach the server; restart it", "error", err)
		}
	})
	served := make(chan error, 1)
	go func() { served <- s.listener.Serve(s.app.Handler, s.app.API.ServePlain) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		err = s.drain(served)
	}
	_ = s.control.Close()
	cancel()
	wg.Wait()
	return errors.Join(err, s.close())
}

// drain stops the server after the requests in flight. It waits drainDelay for
// load balancers, unless a second signal arrives or standard input is a
// terminal.
func (s *server) drain(served <-chan error) error {
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(again)
	s.app.API.Drain()
	s.log.Info("stopping: waiting for running requests")
	if !isTerminal(os.Stdin) {
		select {
		case <-time.After(s.drainDelay):
		case <-again:
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	err := s.listener.Shutdown(ctx)
	return errors.Join(err, <-served)
}

// close closes everything that was opened.
func (s *server) close() error {
	var faults []error
	if s.admin != nil {
		faults = append(faults, s.admin.Close())
	}
	if s.control != nil {
		_ = s.control.Close()
	}
	if s.app != nil {
		faults = append(faults, s.app.Close())
	}
	s.dir.Unlock()
	return errors.Join(faults...)
}

// url returns the server's address on this machine.
func (s *server) url() string {
	host, port, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil {
		return "https://" + s.listener.Addr().String()
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	return "https://" + net.JoinHostPort(host, port)
}

// logger creates the logger, even if the settings are invalid.
func (c *cli) logger() (*slog.Logger, error) {
	var level slog.Level
	var faults []error
	if err := level.UnmarshalText([]byte(c.settings.LogLevel)); err != nil {
		faults = append(faults, fmt.Errorf("log-level %q is not known: use debug, info, warn or error", c.settings.LogLevel))
	}
	format := c.settings.LogFormat
	if !slices.Contains([]string{"text", "json", "auto"}, format) {
		faults = append(faults, fmt.Errorf("log-format %q is not known: use text, json or auto", format))
	}
	opt := &slog.HandlerOptions{Level: level}
	if format == "text" || format != "json" && isTerminal(os.Stderr) {
		return slog.New(slog.NewTextHandler(os.Stderr, opt)), errors.Join(faults...)
	}
	return slog.New(slog.NewJSONHandler(os.Stderr, opt)), errors.Join(faults...)
}
