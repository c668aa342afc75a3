package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"fanfare/internal/app"
	"fanfare/internal/config"
	"fanfare/internal/control"
	"fanfare/internal/datadir"
	"fanfare/internal/store"
)

// finding is one line of doctor's report.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

func (c *cli) doctorCommand() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "doctor", Short: "Look for what would keep the server from working, and say how to mend it", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := c.examine(cmd)
			bad := 0
			for _, f := range list {
				mark := "ok  "
				if !f.OK {
					mark = "FAIL"
					bad++
				}
				if !c.asJSON {
					fmt.Fprintf(cmd.OutOrStdout(), "%s  %-18s %s\n", mark, f.Check, f.Detail)
				}
			}
			if c.asJSON {
				if err := printJSON(cmd.OutOrStdout(), list); err != nil {
					return err
				}
			}
			if bad > 0 {
				return configError{fmt.Errorf("%d of %d checks failed", bad, len(list))}
			}
			return nil
		},
	})
}

func (c *cli) examine(cmd *cobra.Command) []finding {
	var list []finding
	add := func(check string, err error, good string) {
		f := finding{Check: check, OK: err == nil, Detail: good}
		if err != nil {
			f.Detail = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		list = append(list, f)
	}
	warnings, err := config.Load(cmd.Flags(), os.Environ(), os.ReadFile)
	add("settings", err, "read")
	for _, w := range warnings {
		add("environment", errors.New(w), "")
	}
	limits, err := c.limits()
	add("limits", err, "every plan has its numbers")
	add("weak set-up", errors.Join(c.settings.Check(limits, testBuild)...), "none found")
	add("clock", clockFault(), now().UTC().Format("2006-01-02 15:04:05")+" UTC")
	dir, err := datadir.Open(c.settings.Data)
	add("data folder", err, c.settings.Data)
	if dir == nil {
		return list
	}
	lc, err := c.check(dir, nil, quietLog)
	add("certificate", errors.Join(lc.Check(now())...), "mode "+c.settings.TLSMode)
	_ = err
	var machine []error
	for _, w := range machineWarnings(dir, c.settings.MaxConnections) {
		machine = append(machine, errors.New(w))
	}
	add("machine", errors.Join(machine...), "enough open files and disk space")
	ctx := cmd.Context()
	if _, err := control.Dial(ctx, dir.Path(socketName)); err == nil {
		add("server", nil, "running on this data folder")
		add("port", dialTCP(ctx, c.settings.Listen), c.settings.Listen+" answers")
		return list
	}
	add("server", nil, "not running; the store is examined directly")
	add("port", freePort(c.settings.Listen), c.settings.Listen+" is free")
	return append(list, c.examineStore(ctx, dir)...)
}

func dialTCP(ctx context.Context, addr string) error {
	d := net.Dialer{Timeout: dialTime}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("the server runs but %s does not answer: check --listen: %w", addr, err)
	}
	return conn.Close()
}

func freePort(addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%s cannot be used: choose another with --listen: %w", addr, err)
	}
	return ln.Close()
}

// examineStore opens the store and changes nothing in it.
func (c *cli) examineStore(ctx context.Context, dir *datadir.Dir) []finding {
	if err := dir.Lock(); err != nil {
		return []finding{{"lock", false, err.Error()}}
	}
	defer dir.Unlock()
	setting := c.storeSetting(dir)
	if _, err := os.Stat(setting); c.settings.Store == "" && errors.Is(err, os.ErrNotExist) {
		return []finding{{"store", true, "none yet; the first start makes it"}}
	}
	e, err := app.OpenEngine(ctx, setting)
	if err != nil {
		return []finding{{"store", false, err.Error()}}
	}
	defer func() { _ = e.Close() }()
	list := []finding{{"store", true, e.Traits().Name + " opens"}}
	pending, err := store.Pending(ctx, e)
	switch {
	case err != nil:
		return append(list, finding{"schema", false, err.Error()})
	case len(pending) > 0:
		list = append(list, finding{"schema", true, "the next start will apply " + strings.Join(pending, ", ")})
		return list
	}
	list = append(list, finding{"schema", true, "up to date"})
	db := store.New(e, 0, now, nil)
	report, err := db.VerifyAudit(ctx, func(int64) {})
	switch {
	case err != nil:
		list = append(list, finding{"audit log", false, err.Error()})
	case len(report.Faults) > 0:
		list = append(list, finding{"audit log", false, "tampered with; run `fanfare audit verify`"})
	default:
		list = append(list, finding{"audit log", true, fmt.Sprintf("%d entries hold", report.Entries)})
	}
	if skew, err := db.Skew(ctx); err != nil || skew.Abs() > maxSkew {
		list = append(list, finding{"clock skew", false, fmt.Sprintf("%s apart from the database: set both by NTP", skew)})
	}
	return list
}
