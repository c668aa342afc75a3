package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"fanfare/internal/adplatform/sandbox"
)

// sandboxIn has the flags of the sandbox. It shares none of the server's
// settings, because its address is independent of a server's.
type sandboxIn struct {
	sandbox.Options
	listen   string
	anywhere bool
}

func (c *cli) sandboxCommand() *cobra.Command {
	in := sandboxIn{Options: sandbox.Options{Now: now}}
	cmd := &cobra.Command{
		Use: "sandbox", Short: "Simulate the ad platforms, with test accounts for trying connections", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return in.runServer(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&in.listen, "listen", "127.0.0.1:8787", "address and port to serve plain HTTP on")
	f.BoolVar(&in.anywhere, "listen-anywhere", false, "allow a --listen address that other machines can reach")
	f.Int64Var(&in.Seed, "seed", 1, "seed of the simulated accounts and metrics")
	f.StringVar(&in.Currency, "currency", "USD", "currency of the accounts")
	f.StringVar(&in.Timezone, "timezone", "UTC", "time zone of the accounts")
	f.IntVar(&in.Scale, "scale", 1, fmt.Sprintf("multiplies the campaigns of each account, up to %d", sandbox.MaxScale))
	f.StringVar(&in.State, "state", "", "file that stores changes made by callers (default is memory only)")
	return cmd
}

func (in *sandboxIn) runServer(cmd *cobra.Command) error {
	if addr, err := netip.ParseAddrPort(in.listen); !in.anywhere && (err != nil || !addr.Addr().IsLoopback()) {
		return usageError{fmt.Errorf("--listen %s is not a loopback address: the sandbox uses plain HTTP and accepts every caller; use one such as 127.0.0.1:8787, or add --listen-anywhere", in.listen)}
	}
	sandbox, err := sandbox.New(in.Options)
	if err != nil {
		return configError{err}
	}
	ctx := cmd.Context()
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", in.listen)
	if err != nil {
		return configError{fmt.Errorf("%w: choose another --listen", err)}
	}
	if err := in.welcome(cmd, sandbox, "http://"+l.Addr().String()); err != nil {
		return errors.Join(err, l.Close())
	}
	return serveSandbox(ctx, l, sandbox)
}

// welcome prints how to use the started sandbox.
func (in *sandboxIn) welcome(cmd *cobra.Command, sandbox *sandbox.Server, url string) error {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "Sandbox ad platforms (seed %d) at %s\n\n", in.Seed, url)
	var rows [][]string
	for _, a := range sandbox.Addresses() {
		rows = append(rows, []string{a.Platform, a.AccountID, url + a.Prefix})
	}
	if err := table(w, "PLATFORM\tACCOUNT\tADDRESS", rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nGet tokens for all of them:\n\ncurl -s -X POST %s/_sandbox/grants\n\nControls under %s/_sandbox/: grants, truth, clock, faults, journal, seed.\nStop with Ctrl-C.\n", url, url)
	return err
}

// serveSandbox serves until ctx ends.
func serveSandbox(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// Requests in flight get one second; canceling longer ones loses nothing.
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := s.Shutdown(stop); err != nil {
		return s.Close()
	}
	return nil
}
