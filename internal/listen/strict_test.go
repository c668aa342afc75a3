package listen

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHeaderLines checks that header lines that continue the one before or end
// in a bare LF get 400, in every request of a connection, and that bodies may
// contain what they like.
func TestHeaderLines(t *testing.T) {
	t.Parallel()
	s := start(t, Config{Addr: "127.0.0.1:0", Mode: ModeProxy, TrustedProxies: prefixes("127.0.0.1/32")}, time.Now)
	const (
		get  = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
		post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n a\n\n\tb\n\r\nGET"
	)
	for _, tt := range []struct {
		name, text string
		want       []int
	}{
		{"good", get + post + get, []int{200, 200, 200}},
		{"a line end after a body", post + "\r\n" + get, []int{200, 200}},
		{"a bare LF after a body", post + "\n" + get, []int{200, 200}},
		{"chunks", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n\n \n \r\n0\r\n\r\n", []int{200}},
		{"no body", "POST / HTTP/1.1\r\nHost: x\r\ncontent-length:0\r\n\r\n" + get, []int{200, 200}},
		{"continued by a space", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", []int{400}},
		{"continued by a tab", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n\r\n", []int{400}},
		{"first line continued", "GET / HTTP/1.1\r\n Host: x\r\n\r\n", []int{400}},
		{"bare LF after the request line", "GET / HTTP/1.1\nHost: x\r\n\r\n", []int{400}},
		{"bare LF after a field", "GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", []int{400}},
		{"bare LF at the end", "GET / HTTP/1.1\r\nHost: x\r\n\n", []int{400}},
		{"in the second request", get + "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", []int{200, 400}},
		{"after a body", post + "GET / HTTP/1.1\nHost: x\r\n\r\n", []int{200, 400}},
	} {
		for _, piece := range []int{1, 7, 4096} {
			c := dial(t, s.Addr())
			text := strings.ReplaceAll(tt.text, "Host: x\r\n", "Host: x\r\nX-Forwarded-Proto: https\r\n")
			if strings.Contains(tt.text, "Host: x\n") {
				text = strings.Replace(tt.text, "Host: x\n", "X-Forwarded-Proto: https\r\nHost: x\n", 1)
			}
			go func() {
				for len(text) > 0 {
					n := min(piece, len(text))
					if _, err := io.WriteString(c, text[:n]); err != nil {
						return
					}
					text = text[n:]
				}
			}()
			in := bufio.NewReader(c)
			for i, want := range tt.want {
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatalf("%s, %d bytes at a time, response %d: %v", tt.name, piece, i, err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				if res.StatusCode != want {
					t.Errorf("%s, %d bytes at a time, response %d: got %d want %d", tt.name, piece, i, res.StatusCode, want)
				}
			}
		}
	}
}

// scripted is a connection whose reads return given parts.
type scripted struct {
	net.Conn
	parts []string
}

func (s *scripted) Read(p []byte) (int, error) {
	if len(s.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.parts[0])
	if s.parts[0] = s.parts[0][n:]; s.parts[0] == "" {
		s.parts = s.parts[1:]
	}
	return n, nil
}

// FuzzHeaderLines checks that the result does not depend on how the bytes are
// split, and that all bytes before a refused line are delivered unchanged.
func FuzzHeaderLines(f *testing.F) {
	f.Add("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n\n \nGET / HTTP/1.1\r\nHost: x\n", 5)
	f.Add("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\n\n", 1)
	f.Add("GET / HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n", 3)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if cut < 0 || cut > len(text) {
			return
		}
		read := func(parts ...string) (string, error) {
			got, err := io.ReadAll(strict(&scripted{parts: parts}))
			return string(got), err
		}
		whole, err := read(text)
		split, splitErr := read(text[:cut], text[cut:])
		if whole != split || (err == nil) != (splitErr == nil) {
			t.Errorf("got %q, %v in one part and %q, %v in two", whole, err, split, splitErr)
		}
		if !strings.HasPrefix(text, whole) || err == nil && whole != text {
			t.Errorf("got %q, %v of %q", whole, err, text)
		}
	})
}
