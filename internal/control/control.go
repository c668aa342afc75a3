// Package control runs commands inside the server that uses the data folder,
// over a socket that only its owner can open. So the server's next request sees
// the changes of a command.
package control

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/fault"
)

// Progress is the progress of a long command.
type Progress struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// Op is one command: it takes JSON, reports its progress and returns a value.
type Op func(ctx context.Context, in jsontext.Value, report func(Progress)) (any, error)

// NewOp returns the Op of a function with typed input and output.
func NewOp[I, O any](f func(ctx context.Context, in I, report func(Progress)) (O, error)) Op {
	return func(ctx context.Context, raw jsontext.Value, report func(Progress)) (any, error) {
		var in I
		if err := json.Unmarshal(raw, &in, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("read command: %w", err)
		}
		return f(ctx, in, report)
	}
}

// answerLine is one line of an answer: progress, or at the end a result or an
// error.
type answerLine struct {
	Progress *Progress      `json:"progress,omitzero"`
	Result   jsontext.Value `json:"result,omitzero"`
	Fault    *encodedFault  `json:"fault,omitzero"`
	Error    string         `json:"error,omitzero"`
}

type encodedFault struct {
	Code    fault.Code     `json:"code"`
	Message string         `json:"message"`
	Details []fault.Detail `json:"details"`
}

// Server runs commands.
type Server struct {
	http *http.Server
	ln   net.Listener
	path string
}

// Listen opens the socket. It replaces the socket of a server that was killed;
// the caller has locked the folder, so no process uses it.
func Listen(path string, ops map[string]Op) (*Server, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove old control socket: %w", err)
	}
	short, done, err := shortenPath(path)
	if err != nil {
		return nil, fmt.Errorf("open control socket: %w", err)
	}
	defer done()
	var config net.ListenConfig
	ln, err := config.Listen(context.Background(), "unix", short)
	if err != nil {
		return nil, fmt.Errorf("open control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("close control socket to others: %w", err), ln.Close())
	}
	// The listener's path is temporary and no longer exists when it closes.
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	mux := http.NewServeMux()
	for name, op := range ops {
		mux.HandleFunc("POST /"+name, func(w http.ResponseWriter, r *http.Request) { serveOp(w, r, op) })
	}
	return &Server{http: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, ln: ln, path: path}, nil
}

// maxPath is the longest path of a socket on all systems.
const maxPath = 100

// shortenPath returns another path of a socket whose path is too long. It is
// valid until done is called.
func shortenPath(path string) (short string, done func(), err error) {
	if len(path) <= maxPath {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { _ = dir.Close() }, nil
}

// Serve answers until Close.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close stops the server and removes the socket.
func (s *Server) Close() error {
	_ = os.Remove(s.path)
	return s.http.Close()
}

func serveOp(w http.ResponseWriter, r *http.Request, op Op) {
	in, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	out := http.NewResponseController(w)
	send := func(l answerLine) {
		b, err := json.Marshal(l)
		if err != nil {
			b = []byte(`{"error":"answer cannot be encoded"}`)
		}
		_, _ = w.Write(append(b, '\n'))
		_ = out.Flush()
	}
	result, err := op(r.Context(), in, func(p Progress) { send(answerLine{Progress: &p}) })
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		send(answerLine{Fault: &encodedFault{f.Code, f.Message, f.Details}})
	case err != nil:
		send(answerLine{Error: err.Error()})
	default:
		b, err := json.Marshal(result, json.Deterministic(true))
		if err != nil {
			send(answerLine{Error: err.Error()})
			return
		}
		send(answerLine{Result: b})
	}
}

// Client runs commands in a server.
type Client struct{ http *http.Client }

// ErrNoServer is returned if no server listens at the socket.
var ErrNoServer = errors.New("no server is running")

// Dial connects to the server at the socket.
func Dial(ctx context.Context, path string) (*Client, error) {
	conn, err := dial(ctx, path)
	if err != nil {
		return nil, ErrNoServer
	}
	_ = conn.Close()
	return &Client{&http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial(ctx, path)
	}}}}, nil
}

func dial(ctx context.Context, path string) (net.Conn, error) {
	short, done, err := shortenPath(path)
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	return d.DialContext(ctx, "unix", short)
}

// Call runs a command and decodes its result into out.
func (c *Client) Call(ctx context.Context, name string, in, out any, report func(Progress)) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode command: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://control/"+name, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make command: %w", err)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("send command: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the running server does not know %s (%s): it is of another version", name, res.Status)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var l answerLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		switch {
		case l.Progress != nil:
			report(*l.Progress)
		case l.Fault != nil:
			return fault.New(l.Fault.Code, l.Fault.Message, l.Fault.Details...)
		case l.Error != "":
			return errors.New(l.Error)
		default:
			return json.Unmarshal(l.Result, out)
		}
	}
	return errors.Join(errors.New("the server ended before the command did"), lines.Err())
}
