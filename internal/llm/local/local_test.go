package local_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/llm/local"
)

// serve serves bodies by path at the loopback address. A body that begins with a
// status has that one. It returns the port.
func serve(t *testing.T, bodies map[string]string) int {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, known := bodies[r.URL.Path]
		switch {
		case !known || r.Method != http.MethodGet:
			http.NotFound(w, r)
			return
		case body == "redirect":
			http.Redirect(w, r, "http://192.0.2.1/api/tags", http.StatusFound)
			return
		case len(body) > 3 && body[:3] == "503":
			w.WriteHeader(http.StatusServiceUnavailable)
			body = body[3:]
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// closedPort returns a port at which nothing listens.
func closedPort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// Answers in the form that the vendors document.
const (
	ollamaTags = `{"models":[
		{"name":"llama3.2:latest","model":"llama3.2:latest","modified_at":"2026-05-04T17:37:44.706015396-07:00","size":2019393189,"digest":"a80c4f17","details":{"parent_model":"","format":"gguf","family":"llama","families":["llama"],"parameter_size":"3.2B","quantization_level":"Q4_K_M"}},
		{"name":"nomic-embed-text:latest","size":274302450,"details":{"family":"nomic-bert"}},
		{"name":"qwen3:8b","size":5150000000,"details":{"family":"qwen3"},"capabilities":["completion","thinking"]},
		{"name":"x/flux:4b","size":5150000000,"details":{"family":"flux"},"capabilities":["image"]}]}`
	lmStudioModels = `{"object":"list","data":[
		{"id":"qwen2-vl-7b-instruct","object":"model","type":"vlm","publisher":"mlx-community","arch":"qwen2_vl","state":"not-loaded","max_context_length":32768},
		{"id":"meta-llama-3.1-8b-instruct","object":"model","type":"llm","state":"loaded"},
		{"id":"text-embedding-nomic-embed-text-v1.5","object":"model","type":"embeddings","state":"not-loaded"}]}`
	openAIModels = `{"object":"list","data":[{"id":"one","object":"model","owned_by":"organization_owner"},{"id":"text-embedding-two","object":"model"}]}`
	llamaProps   = `{"default_generation_settings":{"id":0,"n_ctx":1024},"total_slots":1,"model_path":"../models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf","chat_template":"..."}`
	llamaModels  = `{"object":"list","data":[{"id":"llama-3.1","object":"model","created":1735142223,"owned_by":"llamacpp","meta":{"vocab_type":2}}]}`
	loading      = `503{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`
)

func TestFind(t *testing.T) {
	t.Parallel()
	type answers = map[string]string
	for _, test := range []struct {
		name                       string
		ollama, lmStudio, llamaCPP answers
		want                       []local.Server
	}{
		{"none", nil, nil, nil, []local.Server{}},
		{"all", answers{"/api/tags": ollamaTags}, answers{"/api/v0/models": lmStudioModels}, answers{"/health": `{"status":"ok"}`, "/props": llamaProps, "/v1/models": llamaModels}, []local.Server{
			{Name: "Ollama", Models: []string{"llama3.2:latest", "qwen3:8b"}},
			{Name: "LM Studio", Models: []string{"qwen2-vl-7b-instruct", "meta-llama-3.1-8b-instruct"}},
			{Name: "llama.cpp", Models: []string{"llama-3.1"}},
		}},
		{"an older LM Studio", nil, answers{"/v1/models": openAIModels}, nil, []local.Server{{Name: "LM Studio", Models: []string{"one"}}}},
		{"without models", answers{"/api/tags": `{"models":[]}`}, nil, nil, []local.Server{{Name: "Ollama", Note: "It has no chat model."}}},
		{"only embeddings", answers{"/api/tags": `{"models":[{"name":"all-minilm:latest","details":{"family":"bert"}}]}`}, nil, nil, []local.Server{{Name: "Ollama", Note: "It has no chat model."}}},
		{"llama.cpp that loads", nil, nil, answers{"/health": loading}, []local.Server{{Name: "llama.cpp", Note: "It is still loading its model. Try again in a minute."}}},
		{"llama.cpp without a list", nil, nil, answers{"/health": `{"status":"ok"}`, "/props": llamaProps}, []local.Server{{Name: "llama.cpp", Models: []string{"Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf"}}}},
		// Many other programs listen at port 8080.
		{"another server", answers{"/api/tags": `{"tags":[]}`}, answers{"/v1/models": `<html>`}, answers{"/health": `{"status":"ok"}`, "/props": `{"props":{}}`, "/v1/models": openAIModels}, []local.Server{}},
		{"a broken health page", nil, nil, answers{"/health": "ok", "/props": llamaProps}, []local.Server{}},
		{"hostile names", answers{"/api/tags": `{"models":[{"name":"a\u001b[2Jb"},{"name":"ok"},{"name":""}]}`}, nil, nil, []local.Server{{Name: "Ollama", Models: []string{"ok"}}}},
		{"a redirect away", answers{"/api/tags": "redirect"}, nil, nil, []local.Server{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			port := func(a answers) int {
				if a == nil {
					return closedPort(t)
				}
				return serve(t, a)
			}
			ports := local.Ports{Ollama: port(test.ollama), LMStudio: port(test.lmStudio), LlamaCPP: port(test.llamaCPP)}
			byName := map[string]int{"Ollama": ports.Ollama, "LM Studio": ports.LMStudio, "llama.cpp": ports.LlamaCPP}
			for i := range test.want {
				test.want[i].BaseURL = "http://127.0.0.1:" + strconv.Itoa(byName[test.want[i].Name]) + "/v1"
			}
			if diff := cmp.Diff(test.want, local.Find(t.Context(), ports)); diff != "" {
				t.Errorf("servers differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetCommand(t *testing.T) {
	t.Parallel()
	s := local.Server{BaseURL: "http://127.0.0.1:11434/v1"}
	for model, want := range map[string]string{
		"llama3.2:latest":   "llama3.2:latest",
		"hf.co/a/b:Q4_K_M":  "hf.co/a/b:Q4_K_M",
		"My Model (v1)":     "'My Model (v1)'",
		"x'; rm -rf ~; 'y":  `'x'\''; rm -rf ~; '\''y'`,
		"$(id)":             "'$(id)'",
		"--base-url=http:x": "'--base-url=http:x'",
	} {
		if got := s.SetCommand(model); got != "fanfare provider set openai --model "+want+" --base-url http://127.0.0.1:11434/v1 --price-input 0 --price-output 0" {
			t.Errorf("%s: got %s want %s in it", model, got, want)
		}
	}
}
