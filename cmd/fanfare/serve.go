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
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"fanfare/internal/app"
	"fanfare/internal/config"
	"fanfare/internal/control"
	"fanfare/internal/datadir"
	"fanfare/internal/listen"
)

// Times of a graceful end: first the node says that it is not ready, then it
// stops accepting, then it gives up on those that do not finish.
const (
	drainDelay = 5 * time.Second
	drainTime  = 25 * time.Second
)

func (c *cli) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve the API over HTTPS", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := c.open(cmd)
			if err != nil {
				return err
			}
			s.log.Info("serving", "url", s.url(), "data", s.dir.Path(), "version", version)
			if file, fingerprint := s.listener.Authority(); file != "" {
				s.log.Info("local certificate authority; `fanfare trust` installs it", "file", file, "sha256", fingerprint)
			}
			return s.run(cmd.Context())
		},
	}
}

// server is everything that runs.
type server struct {
	dir      *datadir.Dir
	listener *listen.Listener
	app      *app.App
	control  *control.Server
	admin    *http.Server
	log      *slog.Logger
}

// open checks the whole set-up, says everything that is wrong with it at once,
// and only then opens anything.
func (c *cli) open(cmd *cobra.Command) (*server, error) {
	if err := c.load(cmd); err != nil {
		return nil, err
	}
	log, err := c.logger()
	if err != nil {
		return nil, configError{err}
	}
	dir, dirErr := datadir.Open(c.settings.Data)
	if dir == nil {
		return nil, configError{dirErr}
	}
	listenConfig, err := c.check(dir, dirErr, log)
	if err != nil {
		return nil, configError{err}
	}
	if err := dir.Lock(); err != nil {
		return nil, configError{err}
	}
	s := &server{dir: dir, log: log}
	if err := s.start(cmd.Context(), c, listenConfig); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (c *cli) check(dir *datadir.Dir, dirErr error, log *slog.Logger) (listen.Config, error) {
	faults := []error{dirErr}
	limits, err := c.limits()
	faults = append(faults, err)
	proxies, err := config.ParseProxies(c.settings.TrustedProxies)
	faults = append(faults, err)
	s := &c.settings
	lc := listen.Config{
		Addr: s.Listen, Mode: s.TLSMode, CertFile: s.TLSCert, KeyFile: s.TLSKey, Domains: s.ACMEDomains, Email: s.ACMEEmail,
		Directory: s.ACMEDirectory, DirectoryRoots: s.ACMERoots, TrustedProxies: proxies, Dir: dir.Path("tls"), MaxConns: s.MaxConnections,
	}
	faults = append(faults, lc.Check(now())...)
	faults = append(faults, s.Check(limits, testBuild)...)
	faults = append(faults, clockFault())
	for _, w := range machineWarnings(dir, s.MaxConnections) {
		log.Warn(w)
	}
	return lc, errors.Join(faults...)
}

func (s *server) start(ctx context.Context, c *cli, lc listen.Config) (err error) {
	if s.listener, err = listen.Open(ctx, lc, now, s.log); err != nil {
		return configError{err}
	}
	if s.app, err = c.openApp(ctx, s.dir, s.listener.Public(), s.log); err != nil {
		return configError{err}
	}
	if err := s.checkSkew(ctx); err != nil {
		return configError{err}
	}
	if s.control, err = control.Listen(s.dir.Path(socketName), operations(s.app)); err != nil {
		return err
	}
	return s.openAdmin(c.settings.AdminListen)
}

// maxSkew is how far the clocks of node and database may be apart.
const maxSkew = 5 * time.Minute

func (s *server) checkSkew(ctx context.Context) error {
	skew, err := s.app.DB.Skew(ctx)
	if err == nil && skew.Abs() > maxSkew {
		err = fmt.Errorf("this machine's clock and the database's are %s apart: set both by NTP", skew.Round(time.Second))
	}
	return err
}

// openAdmin serves profiles to this machine, over TLS like everything else.
func (s *server) openAdmin(addr string) error {
	if addr == "" {
		return nil
	}
	if s.listener.TLSConfig() == nil {
		return configError{errors.New("admin-listen needs a certificate, which --tls-mode proxy does not have: leave it out")}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	s.admin = &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: 5 * time.Second, TLSConfig: s.listener.TLSConfig()}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("admin-listen: %w", err)
	}
	go func() {
		if err := s.admin.ServeTLS(ln, "", ""); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("admin listener ended", "error", err)
		}
	}()
	return nil
}

// run serves until ctx ends, then drains.
func (s *server) run(ctx context.Context) error {
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var wg sync.WaitGroup
	var jobs error
	wg.Go(func() { jobs = s.app.Run(background) })
	wg.Go(func() {
		if err := s.control.Serve(); err != nil {
			s.log.Error("control socket ended", "error", err)
		}
	})
	served := make(chan error, 1)
	go func() { served <- s.listener.Serve(s.app.API, s.app.API.ServePlain) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		err = s.drain(served)
	}
	_ = s.control.Close()
	cancel()
	wg.Wait()
	return errors.Join(err, jobs, s.close())
}

// drain ends the server without breaking off a request. A second signal, or an
// interrupt from the keyboard, does not wait for load balancers.
func (s *server) drain(served <-chan error) error {
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(again)
	s.app.API.Drain()
	s.log.Info("draining")
	if !isTerminal(os.Stdin) {
		select {
		case <-time.After(drainDelay):
		case <-again:
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	err := s.listener.Shutdown(ctx)
	return errors.Join(err, <-served)
}

// close lets everything go that was opened.
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

// url is how this machine reaches the server.
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

func (c *cli) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.settings.LogLevel)); err != nil {
		return nil, fmt.Errorf("log-level %q is not debug, info, warn or error", c.settings.LogLevel)
	}
	opt := &slog.HandlerOptions{Level: level}
	switch c.settings.LogFormat {
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, opt)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, opt)), nil
	case "auto":
		if isTerminal(os.Stderr) {
			return slog.New(slog.NewTextHandler(os.Stderr, opt)), nil
		}
		return slog.New(slog.NewJSONHandler(os.Stderr, opt)), nil
	}
	return nil, fmt.Errorf("log-format %q is not text, json or auto", c.settings.LogFormat)
}
