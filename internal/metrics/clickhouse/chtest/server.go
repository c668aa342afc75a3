package chtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// serve answers ClickHouse's HTTP interface with the library, one statement at a
// time, until the process is killed. It writes its address to standard output.
func serve(file, dir string) error {
	l, err := load(file, dir)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h := &handler{engine: l}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "Ok.\n") })
	mux.HandleFunc("POST /", h.statement)
	if _, err := fmt.Fprintln(os.Stdout, listener.Addr()); err != nil {
		return err
	}
	return http.Serve(listener, mux) //nolint:gosec // only the test that started it knows the port
}

type handler struct {
	mu     sync.Mutex
	engine *library
}

// maxField is the longest field of a form that a ClickHouse server accepts unless
// its settings say otherwise.
const maxField = 128 << 10

// known are the fields that are neither parameters nor settings.
var known = []string{"query", "database", "wait_end_of_query", "query_id"}

func (h *handler) statement(w http.ResponseWriter, r *http.Request) {
	fields, data, err := read(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	// A request whose sender has gone while it waited must not run.
	if r.Context().Err() != nil {
		return
	}
	answer, err := h.run(fields, data)
	if err != nil {
		if code := exceptionCode.FindStringSubmatch(err.Error()); code != nil {
			w.Header().Set("X-ClickHouse-Exception-Code", code[1])
		}
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(answer)
}

var exceptionCode = regexp.MustCompile(`Code: (\d+)`)

// read returns the fields of the address and of a form, and a body that is none.
func read(r *http.Request) (fields map[string]string, data []byte, err error) {
	fields = map[string]string{}
	for name, values := range r.URL.Query() {
		fields[name] = values[0]
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		data, err = io.ReadAll(r.Body)
		return fields, data, err
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, nil, err
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return fields, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, nil, err
		}
		if len(value) > maxField {
			return nil, nil, fmt.Errorf("field value too long: %s has %d bytes", part.FormName(), len(value))
		}
		fields[part.FormName()] = string(value)
	}
}

func (h *handler) run(fields map[string]string, data []byte) ([]byte, error) {
	if _, err := h.engine.run("USE `"+strings.ReplaceAll(fields["database"], "`", "")+"`", nil); err != nil && fields["database"] != "" {
		return nil, err
	}
	params, settings := map[string]string{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if param, found := strings.CutPrefix(name, "param_"); found {
			params[param] = fields[name]
		} else if !slices.Contains(known, name) {
			settings = append(settings, name+" = '"+fields[name]+"'")
		}
	}
	text := fields["query"]
	// A server applies settings of the address to the one statement; so does this.
	with := ""
	if len(settings) > 0 {
		with = " SETTINGS " + strings.Join(settings, ", ")
	}
	if strings.HasPrefix(text, "INSERT") && len(data) > 0 {
		i := strings.LastIndex(text, " FORMAT ")
		return nil, h.engine.store(text[:max(i, 0)]+with+text[max(i, 0):], data)
	}
	return h.engine.run(text+with, params)
}
