// Package local finds the model servers that run on this machine: Ollama,
// LM Studio and llama.cpp, at the ports that they use if nobody chose others. It
// connects to the loopback address only.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
)

// Server is a model server that answers.
type Server struct {
	Name string `json:"name"`
	// BaseURL is the address of its OpenAI-compatible API.
	BaseURL string `json:"base_url"`
	// Models are its chat models.
	Models []string `json:"models"`
	// Note says why it has none, empty if it has some.
	Note string `json:"note"`
}

// Ports are where the servers are expected.
type Ports struct{ Ollama, LMStudio, LlamaCPP int }

// DefaultPorts are the vendors' own.
var DefaultPorts = Ports{Ollama: 11434, LMStudio: 1234, LlamaCPP: 8080}

// limits of a request: a server of this machine answers at once, and its list of
// models is short.
const (
	timeout  = 3 * time.Second
	maxBytes = 4 << 20
	maxName  = 200
)

// finder asks the server of one kind.
type finder struct {
	name string
	port int
	// find lists the chat models. found is false if the server is another one.
	find func(ctx context.Context, c *client) (models []string, note string, found bool)
}

// Find returns the servers that answer.
func Find(ctx context.Context, ports Ports) []Server {
	list := []Server{}
	for _, f := range []finder{{"Ollama", ports.Ollama, findOllama}, {"LM Studio", ports.LMStudio, findLMStudio}, {"llama.cpp", ports.LlamaCPP, findLlamaCPP}} {
		c := newClient(f.port)
		models, note, found := f.find(ctx, c)
		if !found {
			continue
		}
		// A name is printed on a terminal and pasted into a shell.
		models = slices.DeleteFunc(models, func(name string) bool {
			return name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) })
		})
		if len(models) == 0 && note == "" {
			note = "It has no chat model."
		}
		list = append(list, Server{Name: f.name, BaseURL: c.base + "/v1", Models: models, Note: note})
	}
	return list
}

// SetCommand returns the command that sets up a model of a server. Its price is
// 0, so that a budget does not refuse it.
func (s Server) SetCommand(model string) string {
	return fmt.Sprintf("fanfare provider set openai --model %s --base-url %s --price-input 0 --price-output 0", quote(model), s.BaseURL)
}

// quote quotes a word for a POSIX shell, if it must be.
func quote(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._:/@+-", r)
	}
	if !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) && !strings.HasPrefix(word, "-") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// findOllama lists the installed models: /api/tags.
func findOllama(ctx context.Context, c *client) ([]string, string, bool) {
	var out struct {
		Models *[]struct {
			Name    string
			Details struct{ Family string }
			// Capabilities is empty in older releases.
			Capabilities []string
		}
	}
	if c.get(ctx, "/api/tags", &out) != nil || out.Models == nil {
		return nil, "", false
	}
	var list []string
	for _, m := range *out.Models {
		chats := len(m.Capabilities) == 0
		for _, capability := range m.Capabilities {
			chats = chats || capability == "completion"
		}
		if chats && !isEmbedding(m.Name) && !strings.Contains(m.Details.Family, "bert") {
			list = append(list, m.Name)
		}
	}
	return list, "", true
}

// modelList is the answer of /v1/models, and of /api/v0/models with a type.
type modelList struct {
	Data *[]struct {
		ID      string
		Type    string
		OwnedBy string `json:"owned_by"`
	}
}

// findLMStudio lists the downloaded models: /api/v0/models, which has their
// types, else /v1/models.
func findLMStudio(ctx context.Context, c *client) ([]string, string, bool) {
	var out modelList
	if c.get(ctx, "/api/v0/models", &out) != nil || out.Data == nil {
		if c.get(ctx, "/v1/models", &out) != nil || out.Data == nil {
			return nil, "", false
		}
	}
	var list []string
	for _, m := range *out.Data {
		if (m.Type == "" || m.Type == "llm" || m.Type == "vlm") && !isEmbedding(m.ID) {
			list = append(list, m.ID)
		}
	}
	return list, "", true
}

// findLlamaCPP asks for the loaded model: /props, which no other server at this
// common port has, and its name in /v1/models. While it loads, /health answers
// 503.
func findLlamaCPP(ctx context.Context, c *client) ([]string, string, bool) {
	var health struct {
		Status string
		Error  struct{ Type, Message string }
	}
	err := c.get(ctx, "/health", &health)
	if errors.Is(err, errUnavailable) && health.Error.Type == "unavailable_error" {
		return nil, "It is still loading its model. Try again in a minute.", true
	}
	var props struct {
		ModelPath  string          `json:"model_path"`
		TotalSlots *int            `json:"total_slots"`
		Settings   *map[string]any `json:"default_generation_settings"`
	}
	if err != nil || c.get(ctx, "/props", &props) != nil || props.TotalSlots == nil && props.Settings == nil {
		return nil, "", false
	}
	var out modelList
	var list []string
	if c.get(ctx, "/v1/models", &out) == nil && out.Data != nil {
		for _, m := range *out.Data {
			if !isEmbedding(m.ID) {
				list = append(list, m.ID)
			}
		}
	}
	if len(list) == 0 && props.ModelPath != "" {
		list = []string{path.Base(strings.ReplaceAll(props.ModelPath, `\`, "/"))}
	}
	return list, "", true
}

// isEmbedding reports whether a model makes vectors and not texts.
func isEmbedding(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "embed") || strings.Contains(name, "rerank")
}

// client asks one server at the loopback address. It uses no proxy and follows
// no redirects.
type client struct {
	base string
	http http.Client
}

func newClient(port int) *client {
	address := net.JoinHostPort("127.0.0.1", fmt.Sprint(port))
	dialer := net.Dialer{Timeout: timeout}
	return &client{base: "http://" + address, http: http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableKeepAlives: true,
			// Whatever a URL says, the connection is to this machine.
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, "tcp", address)
			},
		},
	}}
}

var errUnavailable = errors.New("the server is not ready")

// get reads the JSON at a path, also of an answer 503.
func (c *client) get(ctx context.Context, at string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+at, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", at, err)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("ask %s: %w", at, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusServiceUnavailable {
		return fmt.Errorf("ask %s: got status %d", at, res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBytes))
	if err == nil {
		err = json.Unmarshal(body, out, json.MatchCaseInsensitiveNames(true))
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", at, err)
	}
	if res.StatusCode == http.StatusServiceUnavailable {
		return errUnavailable
	}
	return nil
}
