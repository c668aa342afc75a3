// Package browser_test tests the console in a real browser against the real
// program. Each script is a story with its own server.
//
//	go test ./test/browser -run Browser/demo/pages
package browser_test

import (
	"errors"
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fanfare/test/program"
)

func TestMain(m *testing.M) {
	// Stories wait for pages more than they compute.
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	code := m.Run()
	program.Clean()
	os.Exit(code)
}

// install installs the browser's driver.
func install() error {
	if _, err := os.Stat("../../internal/console/dist/index.html"); err != nil {
		return errors.New("the console is not built: run make web")
	}
	return program.Packages("chromium-headless-shell")
}

// signInLinkPattern matches a link that signs in or sets up, once.
var signInLinkPattern = regexp.MustCompile(`https://[^\s"]+/(?:link|setup)#[0-9A-Za-z_-]+`)

// TestBrowser runs the stories. Those whose name begins with new- have an empty
// server each; all others share one with the demo: first those that change it,
// in the order of their names, then those that only read, at the same time.
func TestBrowser(t *testing.T) {
	if err := install(); err != nil {
		t.Fatal(err)
	}
	stories, err := filepath.Glob("*.test.mjs")
	if err != nil || len(stories) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	reading := regexp.MustCompile(`^(analytics|compare|german|pages)\.`)
	var shared []string
	for _, story := range stories {
		if !strings.HasPrefix(story, "new-") {
			shared = append(shared, story)
			continue
		}
		t.Run(storyName(story), func(t *testing.T) {
			t.Parallel()
			startStoryServer(t, "serve").runStory(t, story)
		})
	}
	t.Run("demo", func(t *testing.T) {
		t.Parallel()
		demo := startStoryServer(t, "demo")
		for _, story := range shared {
			t.Run(storyName(story), func(t *testing.T) {
				if reading.MatchString(story) {
					t.Parallel()
				}
				demo.runStory(t, story)
			})
		}
	})
}

func storyName(story string) string { return strings.TrimSuffix(story, ".test.mjs") }

// storyServer is the server of stories.
type storyServer struct {
	*program.Server
	// link signs in or sets up. origin is the origin of the console.
	link, origin string
	// state is the file with the signed-in session of stories.
	state string
}

func startStoryServer(t *testing.T, command string) *storyServer {
	t.Helper()
	// Passkeys need a host name and not an IP address. Stories send more
	// requests per minute than people may.
	env := []string{"FANFARE_LISTEN=localhost:0", "FANFARE_LIMITS=people=0/0/0"}
	s := &storyServer{Server: program.Start(t, program.Options{Command: command, Env: env}), state: filepath.Join(t.TempDir(), "state.json")}
	s.link = signInLinkPattern.FindString(s.Out.String() + s.Log.String())
	origin, err := url.Parse(s.link)
	if err != nil || s.link == "" {
		t.Fatalf("the server printed no link to sign in with: %v\n%s%s", err, s.Out, s.Log)
	}
	origin.Path, origin.Fragment = "", ""
	s.origin = origin.String()
	return s
}

// runStory runs a story.
func (s *storyServer) runStory(t *testing.T, story string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", story)
	cmd.Env = append(os.Environ(), "FANFARE_URL="+s.origin, "FANFARE_LINK="+s.link, "FANFARE_STATE="+s.state, "NODE_EXTRA_CA_CERTS="+filepath.Join(s.Data, "tls", "ca.pem"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", story, err, out)
	}
	t.Logf("%s", out)
}
