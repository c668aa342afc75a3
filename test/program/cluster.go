package program

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Cluster is several nodes on one database behind HAProxy. The Server in it is
// the balancer: its address, and clients of it.
type Cluster struct {
	*Server
	Nodes []*Server

	admin string // the balancer's socket for commands
}

// ClusterOptions are the settings of a cluster. Env of Options names the
// database.
type ClusterOptions struct {
	Options
	// Nodes is the number of nodes, by default three.
	Nodes int
	// Guide is docs/OPERATING.md, which has the balancer's configuration.
	Guide string
}

// balancerAddress is where the balancer's connections come from. Tests call
// nodes from 127.0.0.1 without it.
const balancerAddress = "127.0.0.2"

// StartCluster starts nodes and a balancer and waits until all are ready.
func StartCluster(t testing.TB, o ClusterOptions) *Cluster {
	t.Helper()
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.Data == "" {
		o.Data = t.TempDir()
	}
	dir := t.TempDir()
	ports := freePorts(t, o.Nodes+1)
	host := "127.0.0.1:" + ports[o.Nodes]
	o.Trust = filepath.Join(dir, "cert.pem")
	key := filepath.Join(dir, "key.pem")
	writeCertificate(t, o.Trust, key)
	shared := append([]string{
		"FANFARE_ASSETS=" + filepath.Join(o.Data, "assets"), "FANFARE_MASTER_KEY=" + filepath.Join(o.Data, "master.key"), "FANFARE_PUBLIC_URL=https://" + host,
		"FANFARE_TLS_MODE=file", "FANFARE_TLS_CERT=" + o.Trust, "FANFARE_TLS_KEY=" + key, "FANFARE_PROXY_PROTOCOL=true", "FANFARE_TRUSTED_PROXIES=" + balancerAddress,
	}, o.Env...)
	c := &Cluster{admin: filepath.Join(dir, "admin.sock")}
	for i := range o.Nodes {
		node := o.Options
		node.Data = filepath.Join(o.Data, fmt.Sprintf("node%d", i+1))
		node.Env = slices.Concat(shared, []string{"FANFARE_LISTEN=127.0.0.1:" + ports[i]})
		c.Nodes = append(c.Nodes, Launch(t, node))
		if i == 0 {
			c.Nodes[0].waitUntilReady() // it creates the tables and the master key
		}
	}
	for _, n := range c.Nodes {
		n.waitUntilReady()
	}
	c.startBalancer(t, o, host, ports)
	return c
}

// startBalancer starts HAProxy with the configuration of the documentation and
// the addresses of this cluster.
func (c *Cluster) startBalancer(t testing.TB, o ClusterOptions, host string, ports []string) {
	t.Helper()
	guide, err := os.ReadFile(o.Guide)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(guide), "```haproxy\n")
	text, _, _ = strings.Cut(text, "```")
	replacements := []string{
		"bind :443", "bind " + host, "/etc/haproxy/fanfare-ca.pem", o.Trust, "/run/haproxy/admin.sock", c.admin, "default-server ", "default-server source " + balancerAddress + " ",
	}
	for i := range c.Nodes {
		replacements = append(replacements, fmt.Sprintf("10.0.0.%d:8443", 11+i), "127.0.0.1:"+ports[i])
	}
	for i := 0; i < len(replacements); i += 2 {
		if !strings.Contains(text, replacements[i]) {
			t.Fatalf("the configuration in %s has no %q", o.Guide, replacements[i])
		}
	}
	file := filepath.Join(filepath.Dir(c.admin), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(strings.NewReplacer(replacements...).Replace(text)), 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath("haproxy")
	if err != nil {
		path = "/usr/sbin/haproxy"
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal("haproxy is missing: run make setup, which installs it, or make test, which does both")
	}
	c.Server = &Server{URL: "https://" + host, Host: host, Data: o.Data, Log: &Buffer{}, Out: &Buffer{}, t: t, options: o.Options}
	cmd := exec.Command(path, "-db", "-f", file)
	cmd.Stdout, cmd.Stderr = c.Out, c.Log
	if c.process, err = start(cmd); err != nil {
		t.Fatalf("start the balancer: %v", err)
	}
	t.Cleanup(func() {
		c.stopBalancer()
		if t.Failed() {
			t.Logf("log of the balancer:\n%s", c.Log)
		}
	})
	c.waitUntilReady()
}

func (c *Cluster) stopBalancer() {
	if !c.Ended() {
		_ = c.process.cmd.Process.Kill()
		<-c.process.exited
	}
}

// Stop stops all nodes and the balancer, and fails the test unless every node
// exits without an error.
func (c *Cluster) Stop() {
	c.t.Helper()
	if c.client != nil {
		c.client.CloseIdleConnections()
	}
	var stopping []*Server
	for _, n := range c.Nodes {
		if !n.Ended() {
			n.Signal(syscall.SIGTERM)
			stopping = append(stopping, n)
		}
	}
	for _, n := range stopping {
		if code := n.Wait(); code != 0 {
			c.t.Errorf("a node ended with code %d", code)
		}
	}
	c.stopBalancer()
}

// Kill kills all nodes and the balancer.
func (c *Cluster) Kill() {
	c.t.Helper()
	for _, n := range c.Nodes {
		if !n.Ended() {
			n.Kill()
		}
	}
	c.stopBalancer()
}

// Run runs a command on the first node.
func (c *Cluster) Run(args ...string) Result {
	c.t.Helper()
	return c.Nodes[0].Run(args...)
}

// StartNode starts a node again that has ended, and waits until it is ready.
func (c *Cluster) StartNode(i int) {
	c.t.Helper()
	c.Nodes[i] = Start(c.t, c.Nodes[i].options)
}

// CutConnections closes all connections of clients to a node.
func (c *Cluster) CutConnections(i int) error {
	for _, name := range []string{"node%d", "node%d-unready"} {
		conn, err := net.Dial("unix", c.admin)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(conn, "shutdown sessions server nodes/"+name+"\n", i+1)
		_ = conn.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// freePorts returns ports that the system does not choose for connections of
// clients, so that a node that starts again finds its port free.
func freePorts(t testing.TB, n int) []string {
	t.Helper()
	var ports []string
	var open []net.Listener
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 12_000+mathrand.IntN(20_000)))
		if err != nil {
			continue
		}
		open = append(open, l)
		_, port, _ := net.SplitHostPort(l.Addr().String())
		if ports = append(ports, port); len(ports) == n {
			break
		}
	}
	for _, l := range open {
		_ = l.Close()
	}
	if len(ports) < n {
		t.Fatal("no free ports")
	}
	return ports
}

// writeCertificate writes a certificate for 127.0.0.1 that signs itself, and its
// key. It is valid for clocks that are some months ahead.
func writeCertificate(t testing.TB, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Fanfare cluster"}, NotBefore: time.Now().AddDate(0, -1, 0), NotAfter: time.Now().AddDate(2, 0, 0),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// InUse reports whether the balancer sends new connections to a node because it
// is ready.
func (c *Cluster) InUse(i int) (bool, error) {
	state, err := c.stat(i, statStatus)
	return state == "UP", err
}

// Sessions returns how many connections the balancer has sent to a node that was
// ready.
func (c *Cluster) Sessions(i int) (int, error) {
	total, err := c.stat(i, statSessions)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(total)
}

// Fields of HAProxy's statistics.
const (
	statProxy    = 0
	statServer   = 1
	statSessions = 7
	statStatus   = 17
)

// stat returns a field of the balancer's statistics about a node.
func (c *Cluster) stat(i, field int) (string, error) {
	conn, err := net.Dial("unix", c.admin)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "show stat\n"); err != nil {
		return "", err
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(line, ","); len(fields) > field && fields[statProxy] == "nodes" && fields[statServer] == fmt.Sprintf("node%d", i+1) {
			return fields[field], nil
		}
	}
	return "", fmt.Errorf("the balancer has no node %d", i+1)
}
