package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fanfare/internal/assetfiles"
	"fanfare/internal/config"
	"fanfare/internal/connection"
	"fanfare/internal/control"
	"fanfare/internal/datadir"
	"fanfare/internal/factsdb"
	"fanfare/internal/factsfile"
	"fanfare/internal/ident"
	"fanfare/internal/listen"
	"fanfare/internal/store"
)

// finding is one line of doctor's report. Detail is the current state, or the
// problem and its fix.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Detail string `json:"detail"`
}

// Statuses of a finding. Only a failure prevents a server from working.
const (
	good    = "ok"
	warning = "warning"
	failure = "failure"
)

func (c *cli) doctorCommand() *cobra.Command {
	var id string
	cmd := c.jsonFlag(&cobra.Command{
		Use: "doctor", Short: "Check the installation and print fixes", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{cli: c}
			if id == "" {
				d.examine(cmd)
			} else if err := d.connection(cmd, ident.ID(id)); err != nil {
				return err
			}
			return d.print(cmd.OutOrStdout())
		},
	})
	cmd.Flags().StringVar(&id, "connection", "", "check this connection to an ad platform instead: its access, reports and quotas")
	return cmd
}

// print prints the findings. It returns an error if one is a failure.
func (d *doctor) print(w io.Writer) error {
	bad := 0
	for _, f := range d.list {
		if f.Status == failure {
			bad++
		}
		if !d.asJSON {
			mark := map[string]string{good: "ok", warning: "warn", failure: "FAIL"}[f.Status]
			fmt.Fprintf(w, "%-4s  %-14s %s\n", mark, f.Check, f.Detail)
		}
	}
	if d.asJSON {
		if err := printJSON(w, d.list); err != nil {
			return err
		}
	}
	if bad > 0 {
		return configError{fmt.Errorf("%d of %d checks failed", bad, len(d.list))}
	}
	return nil
}

// connection checks a connection to an ad platform.
func (d *doctor) connection(cmd *cobra.Command, id ident.ID) error {
	var report connection.CheckReport
	if err := d.call(cmd, "connection.check", connectionIn{id}, &report); err != nil {
		return err
	}
	for _, c := range report.Checks {
		status := map[string]string{connection.CheckFailed: failure, connection.CheckWarning: warning}[c.Status]
		detail := c.Platform
		if c.AccountID != nil {
			detail += " account " + *c.AccountID
		}
		detail += ": " + c.Message
		if c.Code != nil {
			detail += " (code " + *c.Code + ")"
		}
		if c.Remediation != nil {
			detail += " " + *c.Remediation
		}
		d.addFinding(c.Name, cmp.Or(status, good), detail)
	}
	return nil
}

// doctor collects findings.
type doctor struct {
	*cli
	list []finding
}

func (d *doctor) addFinding(check, status, detail string) {
	d.list = append(d.list, finding{check, status, strings.Join(strings.Fields(detail), " ")})
}

// addFindings adds a failure for every fault, or one good finding if it has none.
func (d *doctor) addFindings(check string, faults []error, fine string) {
	found := false
	for _, err := range faults {
		if err == nil {
			continue
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			d.addFinding(check, failure, line)
			found = true
		}
	}
	if !found {
		d.addFinding(check, good, fine)
	}
}

func (d *doctor) examine(cmd *cobra.Command) {
	warnings, err := config.Load(cmd.Root().PersistentFlags(), os.Environ(), os.ReadFile)
	d.addFindings("settings", []error{err}, "flags, environment and settings file are valid")
	for _, w := range warnings {
		d.addFinding("environment", warning, w)
	}
	_, err = d.logger()
	d.addFindings("log", []error{err}, d.settings.LogLevel+", "+d.settings.LogFormat)
	limits, err := d.limits()
	d.addFindings("limits", []error{err}, "every plan has rate limits")
	d.addFindings("security", d.settings.Check(limits, testBuild), "no insecure or invalid settings")
	d.addFindings("clock", []error{clockFault()}, now().UTC().Format("2006-01-02 15:04:05")+" UTC")
	_, err = config.ParseProxies(d.settings.TrustedProxies)
	d.addFindings("proxies", []error{err}, fmt.Sprintf("%d trusted", len(d.settings.TrustedProxies)))

	if _, err := os.Stat(d.settings.Data); d.settings.Data != "" && errors.Is(err, fs.ErrNotExist) {
		d.addFinding("data folder", good, d.settings.Data+" does not exist yet; the first start creates it")
		if d.settings.Assets != "" {
			d.assets(cmd.Context(), d.settings.Assets)
		}
		lc, _ := d.check(nil)
		d.addFindings("certificate", lc.Check(now()), "mode "+d.settings.TLSMode)
		d.port()
		return
	}
	dir, err := datadir.Open(d.settings.Data)
	d.addFindings("data folder", []error{err}, d.settings.Data)
	if dir == nil {
		return
	}
	if info, err := os.Stat(dir.Path()); err == nil && info.Mode().Perm()&0o055 != 0 {
		d.addFinding("data folder", warning, fmt.Sprintf("%s can be read by other users (mode %04o): run chmod 700 %s", dir.Path(), info.Mode().Perm(), dir.Path()))
	}
	for _, w := range machineWarnings(dir, d.settings.MaxConnections) {
		d.addFinding("machine", warning, w)
	}
	if free, share, err := dir.Free(); err == nil {
		d.addFinding("disk", good, fmt.Sprintf("%d MB (%.0f %%) free", free>>20, share*100))
	}
	d.assets(cmd.Context(), d.assetsSetting(dir))
	d.certificates(dir)
	d.server(cmd.Context(), dir)
}

// assets checks the folder or the bucket of asset files.
func (d *doctor) assets(ctx context.Context, folder string) {
	if strings.Contains(folder, "://") {
		if d.settings.CheckAssets() == nil { // else reported as "security"
			d.addFindings("assets", []error{assetfiles.Check(ctx, folder, now, rand.Reader)}, "the bucket can be written, listed and read")
		}
		return
	}
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.addFinding("assets", good, folder+" does not exist yet; the first start creates it")
	case err != nil:
		d.addFinding("assets", failure, fmt.Sprintf("%v: correct its mode, or choose another folder with --assets", err))
	case !info.IsDir():
		d.addFinding("assets", failure, folder+" is a file: remove it, or choose another folder with --assets")
	case info.Mode().Perm()&0o022 != 0:
		d.addFinding("assets", failure, fmt.Sprintf("%s can be written by other users (mode %04o): run chmod go-w %s", folder, info.Mode().Perm(), folder))
	case d.settings.Store != "" && d.settings.Assets == "":
		d.addFinding("assets", warning, folder+" is on this node only: if there are several nodes, set --assets to the same folder on all of them")
	default:
		d.addFinding("assets", good, folder)
	}
}

// certificateDays is how many days before a certificate's expiry doctor warns.
const certificateDays = 14

// certificates checks the TLS files.
func (d *doctor) certificates(dir *datadir.Dir) {
	lc, _ := d.check(dir)
	d.addFindings("certificate", lc.Check(now()), "mode "+d.settings.TLSMode+" is set up")
	switch d.settings.TLSMode {
	case listen.ModeAuto:
		d.lifetime("authority", authorityFile(dir), "delete it, start `fanfare serve`, which creates a new one, then run `fanfare trust`")
		d.lifetime("certificate", dir.Path("tls", "leaf.pem"), "delete it and start `fanfare serve`, which creates a new one")
	case listen.ModeFile:
		d.lifetime("certificate", d.settings.TLSCert, "renew it")
	}
}

// lifetime reports how long a certificate file is valid. Other checks report a
// missing file.
func (d *doctor) lifetime(check, file, fix string) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && d.settings.TLSMode == listen.ModeAuto {
		d.addFinding(check, good, "none yet; the first start creates it")
		return
	}
	if err != nil {
		return
	}
	block, _ := pem.Decode(text)
	if block == nil {
		d.addFinding(check, failure, file+" contains no certificate: "+fix)
		return
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		d.addFinding(check, failure, file+" cannot be read: "+fix)
		return
	}
	d.days(check, cert, file, fix)
}

func (d *doctor) days(check string, cert *x509.Certificate, what, fix string) {
	days := int(cert.NotAfter.Sub(now()).Hours() / 24)
	text := fmt.Sprintf("%s is valid for %d more days, until %s", what, days, cert.NotAfter.UTC().Format(time.DateOnly))
	switch {
	case now().After(cert.NotAfter):
		d.addFinding(check, failure, fmt.Sprintf("%s expired on %s: %s", what, cert.NotAfter.UTC().Format(time.DateOnly), fix))
	case now().Before(cert.NotBefore):
		d.addFinding(check, failure, fmt.Sprintf("%s is not valid before %s: synchronize the clock with NTP", what, cert.NotBefore.UTC().Format(time.RFC3339)))
	case days < certificateDays:
		d.addFinding(check, warning, text+": "+fix)
	default:
		d.addFinding(check, good, text)
	}
}

// server queries the server that uses the data folder, or checks the store
// directly if no server runs.
func (d *doctor) server(ctx context.Context, dir *datadir.Dir) {
	socket := dir.Path(socketName)
	client, err := control.Dial(ctx, socket)
	if err != nil {
		if err := dir.Lock(); err != nil {
			d.addFinding("lock", failure, err.Error())
			return
		}
		defer dir.Unlock()
		d.addFinding("server", good, "not running; the store is checked directly")
		d.port()
		d.store(ctx, dir)
		return
	}
	d.addFinding("server", good, "running on this data folder")
	if info, err := os.Stat(socket); err == nil && info.Mode().Perm()&0o077 != 0 {
		d.addFinding("control", failure, fmt.Sprintf("other users can open %s (mode %04o) and run every command: run chmod 600 %s", socket, info.Mode().Perm(), socket))
	} else {
		d.addFinding("control", good, socket+" is closed to other users")
	}
	d.answers(ctx)
	var inside []finding
	if err := client.Call(ctx, "doctor", nothing{}, &inside, func(control.Progress) {}); err != nil {
		d.addFinding("store", failure, "the server cannot check its store: "+err.Error())
	}
	d.list = append(d.list, inside...)
}

// port checks whether the port of --listen is free.
func (d *doctor) port() {
	addr := d.settings.Listen
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		d.addFinding("port", failure, fmt.Sprintf("%s cannot be used (%v): stop the program that uses it, or choose another address with --listen", addr, err))
		return
	}
	_ = ln.Close()
	d.addFinding("port", good, addr+" is free")
}

// answers calls the running server as a client does.
func (d *doctor) answers(ctx context.Context) {
	addr := d.settings.Listen
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	if d.settings.TLSMode == listen.ModeProxy {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", addr)
		if err != nil {
			d.addFinding("port", failure, notAnswering(addr, err))
			return
		}
		_ = conn.Close()
		d.addFinding("port", good, addr+" responds")
		d.proxy(ctx)
		return
	}
	// The check needs the certificate's validity, not its issuer.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // see above
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+addr+"/readyz", nil)
	if err != nil {
		d.addFinding("port", failure, err.Error())
		return
	}
	res, err := client.Do(req)
	if err != nil {
		d.addFinding("port", failure, notAnswering(addr, err))
		return
	}
	_ = res.Body.Close()
	d.addFinding("port", good, addr+" responds")
	d.days("served", res.TLS.PeerCertificates[0], "the certificate in use", "renew it")
	if res.StatusCode != http.StatusOK {
		d.addFinding("ready", failure, "the server is not ready ("+res.Status+"): check its log; if it is stopping, wait and start it again")
		return
	}
	d.addFinding("ready", good, "the server accepts requests")
}

// proxy calls the server at its public address, to check whether the proxies in
// front of it report HTTPS.
func (d *doctor) proxy(ctx context.Context) {
	at := d.settings.PublicURL
	if at == "" {
		d.addFinding("proxy", warning, "--public-url is not set: set it; without it, links and single sign-on point to localhost and the proxy cannot be checked")
		return
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // nothing secret is sent
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(at, "/")+"/healthz", nil)
	if err != nil {
		d.addFinding("proxy", failure, "--public-url: "+err.Error())
		return
	}
	res, err := client.Do(req)
	if err != nil {
		d.addFinding("proxy", warning, fmt.Sprintf("%s cannot be reached from here (%v): check --public-url and the proxy", at, err))
		return
	}
	_ = res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
		d.addFinding("proxy", good, at+" reaches this server over HTTPS")
	case http.StatusForbidden:
		d.addFinding("proxy", failure, at+" is reached over HTTPS, but the proxy does not report HTTPS, so every request is refused: the proxy that terminates TLS must set X-Forwarded-Proto: https, other proxies must forward it, and all must be in --trusted-proxies; the server's log has the reason")
	default:
		d.addFinding("proxy", warning, fmt.Sprintf("%s/healthz returns %s: check that the proxy forwards to this server", at, res.Status))
	}
}

func notAnswering(addr string, err error) string {
	return fmt.Sprintf("the server is running but %s does not respond (%v): set --listen to the server's address", addr, err)
}

// store opens the store and checks it without changing it.
func (d *doctor) store(ctx context.Context, dir *datadir.Dir) {
	if d.settings.CheckStore() != nil {
		return // reported as "security"
	}
	setting := d.storeSetting(dir)
	if err := d.orphaned(dir); err != nil {
		d.addFinding("store", failure, err.Error())
		return
	}
	if d.settings.Store == "" {
		info, err := os.Stat(setting)
		if errors.Is(err, fs.ErrNotExist) {
			d.addFinding("store", good, "none yet; the first start creates it")
			return
		}
		if err == nil && info.Mode().Perm()&0o022 != 0 {
			d.addFinding("store", failure, fmt.Sprintf("%s can be written by other users (mode %04o): run chmod 600 %s", setting, info.Mode().Perm(), setting))
		}
	}
	e, err := d.openEngine(ctx, dir)
	if err != nil {
		fix := ": restore a backup, or check --data"
		if d.settings.Store != "" {
			fix = ""
		}
		if denied := permissionFix(err); denied != "" {
			fix = ": " + denied
		}
		d.addFinding("store", failure, err.Error()+fix)
		return
	}
	defer func() { _ = e.Close() }()
	db := store.New(e, 0, now, nil)
	d.list = append(d.list, examineStore(ctx, e, db, setting)...)
	if pending, err := store.FindPending(ctx, e); err != nil || len(pending.Start) > 0 {
		return // examineStore reported it
	}
	d.list = append(d.list, examineFiles(ctx, db, d.assetsSetting(dir)), d.masterKey(ctx, dir, db), examineConnections(ctx, db))
	if url := d.settings.MetricsURL(); url != "" {
		d.addFindings("facts", []error{factsdb.Examine(ctx, d.sharedFacts(url, dir, db))}, "they belong to the store, or none exist yet")
		return
	}
	d.addFindings("facts", []error{factsfile.Examine(ctx, factsConfig(dir, e, db))}, "all are readable, or none exist yet")
}
