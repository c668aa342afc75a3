package scenario

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"fanfare/internal/fanfaretest"
	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

var update = flag.Bool("update", false, "rewrite what the files expect")

// engines are the engines that run the conversations, each with its settings.
// Their responses are the same, byte by byte. onlyMetrics has those that differ
// from another one in the engine of metrics only. balanced has three nodes behind
// a balancer, with a new connection for each request, and its exchanges are
// checked against the contract.
var engines = []struct {
	name                  string
	env                   func(t *testing.T) []string
	onlyMetrics, balanced bool
}{
	{name: "sqlite", env: func(*testing.T) []string { return nil }},
	{name: "postgres", env: onPostgres},
	{name: "clickhouse", env: func(t *testing.T) []string {
		return append(onPostgres(t), "FANFARE_METRICS="+chtest.URL(t))
	}, onlyMetrics: true},
	{name: "balancer", env: onPostgres, balanced: true},
}

func onPostgres(t *testing.T) []string {
	t.Helper()
	return []string{"FANFARE_STORE=" + pgtest.URL(t)}
}

// balancedBriefly are the conversations that a short run sends through the
// balancer: those in which one node needs what another has stored.
var balancedBriefly = map[string]bool{
	"05-idempotency.txtar": true, "06-lists.txtar": true, "09-keys.txtar": true, "11-limits.txtar": true, "12-plain-http.txtar": true, "19-assets.txtar": true, "23-files.txtar": true, "26-questions.txtar": true,
}

// usesMetrics matches conversations that write or read metrics.
var usesMetrics = regexp.MustCompile(`/v1/(analytics|ingest|imports|connections)`)

func TestMain(m *testing.M) {
	chtest.Serve()
	pgtest.Main(m, program.Clean, chtest.Stop)
}

func TestScenario(t *testing.T) {
	files, err := filepath.Glob("*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d files, %v", len(files), err)
	}
	program.Build(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for i, engine := range engines {
			if *update && i > 0 || engine.onlyMetrics && !usesMetrics.Match(text) {
				continue
			}
			if engine.balanced && !balancedBriefly[file] && os.Getenv("FANFARE_DRILL") != "full" {
				continue
			}
			t.Run(strings.TrimSuffix(file, ".txtar")+"/"+engine.name, func(t *testing.T) {
				t.Parallel()
				// Every conversation starts in the morning, so that no day ends
				// during it.
				now := time.Now()
				begin := now.UTC().Truncate(24 * time.Hour).Add(30 * time.Hour)
				p := &player{T: t, balanced: engine.balanced, captures: captures{values: map[string]string{}, begin: begin}}
				p.options = program.Options{
					Args: s.Settings, Env: engine.env(t), Data: filepath.Join(t.TempDir(), "data"), ClockOffset: begin.Sub(now),
				}
				p.start()
				changed := false
				for _, step := range s.Steps {
					changed = p.runStep(step) || changed
				}
				p.server.Stop()
				if changed {
					if err := os.WriteFile(file, updatedFile(text, s), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

// updatedFile returns the file with the current expectations of its steps.
func updatedFile(text []byte, s *Scenario) []byte {
	archive := txtar.Parse(text)
	steps := map[string]*Step{}
	for _, step := range s.Steps {
		steps[step.Name] = step
	}
	for i, f := range archive.Files {
		if step := steps[f.Name]; step != nil && !step.Restart {
			archive.Files[i].Data = []byte(step.requestText + step.Want.String() + "\n")
		}
	}
	return txtar.Format(archive)
}

// String returns the expectation in the format of a file.
func (a Answer) String() string {
	text := fmt.Sprintf("%s%d", answerPrefix, a.Code)
	if a.Soon {
		text += " soon"
	}
	text += "\n"
	for _, f := range a.Header {
		text += f.Name + ": " + f.Value + "\n"
	}
	if len(a.Header) > 0 && a.Body != "" {
		text += "\n"
	}
	if a.Body != "" {
		text += a.Body + "\n"
	}
	return text
}

// player runs one conversation on one engine.
type player struct {
	*testing.T
	captures
	options  program.Options
	balanced bool
	server   server
	url      string
}

// server is a single server, or several behind a balancer.
type server interface {
	Client() *http.Client
	Run(args ...string) program.Result
	Stop()
	Kill()
}

func (p *player) start() {
	p.Helper()
	if p.balanced {
		c := program.StartCluster(p.T, program.ClusterOptions{Options: p.options, Guide: "../../docs/OPERATING.md"})
		c.Client().Transport.(*http.Transport).DisableKeepAlives = true
		p.server, p.url, p.values["host"] = c, c.URL, c.Host
		return
	}
	s := program.Start(p.T, p.options)
	p.server, p.url, p.values["host"] = s, s.URL, s.Host
}

// answer is a received answer.
type answer struct {
	code   int
	header http.Header
	body   string
}

// Limits of the wait for background work of the service.
const (
	patience = 3 * time.Minute
	again    = 50 * time.Millisecond
)

// runStep runs one step and reports whether it has changed the expectation.
func (p *player) runStep(s *Step) (changed bool) {
	p.Helper()
	if s.Restart {
		if s.Crash {
			p.server.Kill()
		} else {
			p.server.Stop()
		}
		p.options.ClockOffset += s.Later
		p.start()
		return false
	}
	tick := time.NewTicker(again)
	defer tick.Stop()
	end := time.Now().Add(patience)
	for {
		got := p.sendStep(s)
		trial := p.clone()
		faults := trial.compare(&s.Want, got)
		switch {
		case len(faults) == 0:
			p.captures = *trial
			return false
		case s.Want.Soon && time.Now().Before(end):
			<-tick.C
			continue
		case *update:
			p.updateExpectation(&s.Want, got)
			return true
		}
		p.Fatalf("%s:\n  %s\nanswered %d: %s", s.Name, strings.Join(faults, "\n  "), got.code, got.body)
	}
}

func (p *player) mustFill(text string) string {
	p.Helper()
	out, err := p.replacePlaceholders(text)
	if err != nil {
		p.Fatal(err)
	}
	return out
}

func (p *player) sendStep(s *Step) answer {
	p.Helper()
	if s.Command != nil {
		args := make([]string, len(s.Command))
		for i, word := range s.Command {
			args[i] = p.mustFill(word)
		}
		res := p.server.Run(args...)
		body := res.Out
		if body == "" {
			body = res.Errors
		}
		return answer{code: res.Code, body: strings.TrimSpace(body)}
	}
	target := p.mustFill(s.Target)
	client := p.server.Client()
	if !strings.HasPrefix(target, "http://") {
		target = p.url + target
	}
	sent := p.mustFill(s.Body)
	req, err := http.NewRequestWithContext(p.Context(), s.Method, target, strings.NewReader(sent))
	if err != nil {
		p.Fatal(err)
	}
	if key := p.values["key"]; key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if s.Body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, f := range s.Header {
		req.Header.Del(f.Name)
		if f.Value != "" {
			req.Header.Set(f.Name, p.mustFill(f.Value))
		}
	}
	res, err := client.Do(req)
	if err != nil {
		p.Fatalf("%s: %v", s.Name, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		p.Fatalf("%s: %v", s.Name, err)
	}
	if res.TLS != nil && res.TLS.Version < tls.VersionTLS12 {
		p.Errorf("%s: TLS version %x", s.Name, res.TLS.Version)
	}
	if p.balanced && req.Method != http.MethodHead && strings.HasPrefix(req.URL.Path, "/v1") && req.URL.Scheme == "https" {
		fanfaretest.CheckExchange(p, req, []byte(sent), res.StatusCode, res.Header, body)
	}
	return answer{code: res.StatusCode, header: res.Header, body: string(body)}
}

// compare returns the differences. It compares the body before the headers,
// which may use its captures.
func (m *captures) compare(want *Answer, got answer) []string {
	var faults []string
	if want.Code != got.code {
		faults = append(faults, fmt.Sprintf("got code %d want %d", got.code, want.Code))
	}
	faults = append(faults, m.compareBody(want.Body, got.body)...)
	for _, f := range want.Header {
		if err := m.compareField(f, got.header); err != nil {
			faults = append(faults, f.Name+": "+err.Error())
		}
	}
	return faults
}

func (m *captures) compareField(f Field, header http.Header) error {
	values := header.Values(f.Name)
	if f.Value == "{{absent}}" {
		if len(values) > 0 {
			return fmt.Errorf("got %q, want none", values)
		}
		return nil
	}
	if len(values) != 1 {
		return fmt.Errorf("got %d of it, want %q", len(values), f.Value)
	}
	return m.match(f.Value, values[0])
}

func (m *captures) compareBody(want, got string) []string {
	if !isJSON(want) {
		var faults []string
		for line := range strings.Lines(want) {
			text, err := m.replacePlaceholders(strings.TrimSpace(line))
			if err != nil {
				return []string{err.Error()}
			}
			if !strings.Contains(got, text) {
				faults = append(faults, fmt.Sprintf("%q is not in it", text))
			}
		}
		return faults
	}
	w, err := parse(want)
	if err != nil {
		return []string{"expected body: " + err.Error()}
	}
	g, err := parse(got)
	if err != nil {
		return []string{err.Error()}
	}
	return m.differences(w, g, "body")
}

// updateExpectation changes the expectation to match the answer.
func (p *player) updateExpectation(want *Answer, got answer) {
	p.Helper()
	want.Code = got.code
	if g, err := parse(got.body); err == nil && isJSON(got.body) {
		var w *node
		if isJSON(want.Body) {
			if w, err = parse(want.Body); err != nil {
				p.Fatal(err)
			}
		}
		var b strings.Builder
		p.updated(w, g).pretty(&b, "")
		want.Body = b.String()
	} else if len(p.compareBody(want.Body, got.body)) > 0 {
		want.Body = p.textWithPlaceholders(strings.TrimSpace(got.body))
	}
	var kept []Field
	for _, f := range want.Header {
		if p.compareField(f, got.header) != nil {
			if f.Value = p.textWithPlaceholders(got.header.Get(f.Name)); f.Value == "" {
				continue
			}
		}
		kept = append(kept, f)
	}
	want.Header = kept
}
