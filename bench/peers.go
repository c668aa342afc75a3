package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
)

// benchPeers is P4: the same work on PocketBase, built from its published
// module. It runs only with PEERS=1.
func benchPeers(dir string) {
	if os.Getenv("PEERS") == "" {
		fmt.Println("P4 is measured with PEERS=1 (downloads and builds PocketBase)")
		return
	}
	peer := startPocketBase(dir)
	defer peer.stop()

	a := openApp(dir, 0, 0, quiet)
	t := createWorkspace(a)
	ids := createCampaigns(a, t.WorkspaceID, getRecords)
	check(a.Close())
	ours := start("ours", dir, "BENCH_CACHED=32768", "GOMAXPROCS=2")
	defer ours.stop()

	body := `{"name":"Bench","objective":"sales","channels":["search","social"],"budget":{"type":"daily","amount":"150.00"}}`
	create := post("/v1/campaigns", t.APIKey, body)
	peerCreate := peer.request("POST", "/api/collections/campaigns/records", peerRecord)
	for _, w := range []struct {
		what        string
		reach       float64
		conns       int
		ours, peers func(int, int) []byte
	}{
		{
			"P4 get one, against PocketBase", 7, connections,
			func(int, int) []byte { return get("/v1/campaigns/"+ids[rand.IntN(len(ids))], t.APIKey) },
			func(int, int) []byte {
				return peer.request("GET", "/api/collections/campaigns/records/"+peer.ids[rand.IntN(len(peer.ids))], "")
			},
		},
		{
			"P4 list of 20, against PocketBase", 10, connections,
			func(int, int) []byte { return get("/v1/campaigns", t.APIKey) },
			func(int, int) []byte {
				return peer.request("GET", "/api/collections/campaigns/records?perPage=20&skipTotal=1&sort=-created", "")
			},
		},
		{"P4 create, against PocketBase", 6, writers, func(int, int) []byte { return create }, func(int, int) []byte { return peerCreate }},
	} {
		s := compare(
			func() sample { return peer.sendHTTP1(w.conns, w.peers) },
			func() sample { return ours.sendHTTP1(w.conns, w.ours) },
		)
		printAtLeast(w.what+", requests/s", s[1].perSecond/s[0].perSecond, w.reach, fmt.Sprintf("PocketBase %s; ours %s", s[0], s[1]))
	}
}

const (
	peerVersion = "v0.36.8"
	peerMain    = `package main

import (
	"log"

	"github.com/pocketbase/pocketbase"
)

func main() {
	if err := pocketbase.New().Start(); err != nil {
		log.Fatal(err)
	}
}
`
	peerRecord = `{"name":"Bench","status":"draft","objective":"sales","channels":["search","social"],"budget":{"type":"daily","amount":"150.00","currency":"USD","pacing":"even","daily_cap":null},"schedule":{"start_at":null,"end_at":null,"timezone":"UTC"},"tags":[],"metadata":{},"version":1,"description":"","delivery":{"status":"not_launched","issues":[]},"external_refs":[],"tracking":null,"goal":null}`
)

// pocketBase is a running PocketBase.
type pocketBase struct {
	target
	cmd   *exec.Cmd
	token string
	ids   []string
}

func (p *pocketBase) stop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// buildPocketBase compiles PocketBase once and keeps the binary.
func buildPocketBase() string {
	cache, err := os.UserCacheDir()
	check(err)
	dir := filepath.Join(cache, "fanfare-tools", "pocketbase-"+peerVersion)
	bin := filepath.Join(dir, "pocketbase")
	if _, err := os.Stat(bin); err == nil {
		return bin
	}
	fmt.Println("   building PocketBase " + peerVersion + "…")
	check(os.MkdirAll(dir, 0o755))
	check(os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module peer\n\ngo 1.26\n\nrequire github.com/pocketbase/pocketbase "+peerVersion+"\n"), 0o600))
	check(os.WriteFile(filepath.Join(dir, "main.go"), []byte(peerMain), 0o600))
	cmd := exec.Command("go", "build", "-mod=mod", "-o", bin, ".")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	check(cmd.Run())
	return bin
}

func startPocketBase(dir string) *pocketBase {
	bin, data := buildPocketBase(), filepath.Join(dir, "pb_data")
	const email, password = "bench@example.com", "benchbench123"
	admin := exec.Command(bin, "superuser", "upsert", email, password, "--dir", data)
	out, err := admin.CombinedOutput()
	if err != nil {
		check(fmt.Errorf("%w: %s", err, out))
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	addr := ln.Addr().String()
	check(ln.Close())
	cmd := exec.Command(bin, "serve", "--http", addr, "--dir", data)
	check(cmd.Start())
	p := &pocketBase{target: target{addr: addr, pid: cmd.Process.Pid, plain: true}, cmd: cmd}
	p.await()
	var auth struct {
		Token string `json:"token"`
	}
	p.call("POST", "/api/collections/_superusers/auth-with-password", `{"identity":"`+email+`","password":"`+password+`"}`, &auth)
	p.token = auth.Token
	field := func(kind string, names ...string) (list []map[string]any) {
		for _, n := range names {
			f := map[string]any{"name": n, "type": kind}
			list = append(list, f)
		}
		return list
	}
	fields := append(field("text", "name", "status", "objective", "description"), field("json", "channels", "budget", "schedule", "tags", "metadata", "delivery", "external_refs", "tracking", "goal")...)
	fields = append(fields, field("number", "version")...)
	fields = append(fields, map[string]any{"name": "created", "type": "autodate", "onCreate": true}, map[string]any{"name": "updated", "type": "autodate", "onCreate": true, "onUpdate": true})
	collection, err := json.Marshal(map[string]any{
		"name": "campaigns", "type": "base", "fields": fields, "listRule": "", "viewRule": "", "createRule": "",
		"indexes": []string{"CREATE INDEX campaigns_created ON campaigns (created)"},
	})
	check(err)
	p.call("POST", "/api/collections", string(collection), nil)
	for range getRecords {
		var made struct {
			ID string `json:"id"`
		}
		p.call("POST", "/api/collections/campaigns/records", peerRecord, &made)
		p.ids = append(p.ids, made.ID)
	}
	return p
}

func (p *pocketBase) await() {
	for range 200 {
		res, err := http.Get("http://" + p.addr + "/api/health")
		if err == nil {
			_ = res.Body.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	check(fmt.Errorf("the peer did not start"))
}

func (p *pocketBase) call(method, path, body string, out any) {
	req, err := http.NewRequest(method, "http://"+p.addr+path, bytes.NewReader([]byte(body)))
	check(err)
	req.Header.Set("Content-Type", "application/json")
	if p.token != "" {
		req.Header.Set("Authorization", p.token)
	}
	res, err := http.DefaultClient.Do(req)
	check(err)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	check(err)
	if res.StatusCode/100 != 2 {
		check(fmt.Errorf("peer: %s %s: %s", method, path, b))
	}
	if out != nil {
		check(json.Unmarshal(b, out))
	}
}

// request returns a prepared request to PocketBase, which needs no key.
func (p *pocketBase) request(method, path, body string) []byte {
	head := method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n"
	if body != "" {
		head += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return []byte(head + "\r\n" + body)
}
