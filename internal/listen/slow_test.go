package listen

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const largeAnswer = 1 << 20

// answers returns a handler of requests of verified callers. /large has a large
// response, /pause a part and another one after a minute, /anonymous a large one
// although the caller is not verified, every other path a small response. ended
// receives the duration of each.
func answers(ended chan<- time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		if r.URL.Path != "/anonymous" {
			ProgressOf(r.Context()).StartWork()
			defer ProgressOf(r.Context()).StopWork()
		}
		switch r.URL.Path {
		case "/large", "/anonymous":
			_, _ = w.Write(make([]byte, largeAnswer))
		case "/pause":
			_, _ = w.Write(make([]byte, largeAnswer/2))
			time.Sleep(time.Minute)
			_, _ = w.Write(make([]byte, largeAnswer/2))
		default:
			_, _ = io.WriteString(w, "small")
		}
		ended <- time.Since(begin)
	}
}

// dialSlow connects and exchanges one small request, so that the handshake and
// the first request are over.
func dialSlow(t *testing.T, cfg Config, h http.Handler) (net.Conn, *bufio.Reader) {
	t.Helper()
	p, s := inMemory(t, cfg, h)
	c := p.dial("10.0.0.1:5")
	t.Cleanup(func() { _ = c.Close() })
	if cfg.Mode == ModeAuto {
		c = tls.Client(c, &tls.Config{RootCAs: s.roots(t), ServerName: "localhost"})
	}
	say(t, c, "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n\r\n")
	in := bufio.NewReaderSize(c, 16)
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "small" {
		t.Fatalf("got %q, %v want small", body, err)
	}
	return c, in
}

// modesOf runs a test over TLS and behind a proxy.
func modesOf(t *testing.T, test func(t *testing.T, cfg Config)) {
	for _, mode := range []string{ModeAuto, ModeProxy} {
		t.Run(mode, func(t *testing.T) {
			cfg := autoConfig(t)
			cfg.Mode, cfg.TrustedProxies = mode, prefixes("10.0.0.1/32")
			synctest.Test(t, func(t *testing.T) { test(t, cfg) })
		})
	}
}

// TestH5ClientsThatDoNotReadAreCut checks that a client that reads nothing of
// its response is disconnected, with all requests that it sent at once.
func TestH5ClientsThatDoNotReadAreCut(t *testing.T) {
	modesOf(t, func(t *testing.T, cfg Config) {
		ended := make(chan time.Duration, 9)
		c, in := dialSlow(t, cfg, answers(ended))
		<-ended
		say(t, c, strings.Repeat("GET /large HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n\r\n", 3))
		if got := <-ended; got < 30*time.Second || got > 31*time.Second {
			t.Errorf("gave up after %v, want 30 s", got)
		}
		if n, _ := io.Copy(io.Discard, in); n >= largeAnswer {
			t.Errorf("got %d bytes after the end, want the connection closed", n)
		}
		synctest.Wait()
		if len(ended) > 0 {
			t.Errorf("got %d more requests answered, want none", len(ended))
		}
	})
}

// TestH5SlowClientsThatReadAreServed checks that a verified caller that reads
// slowly gets the whole response, and every other client if it reads 8 KiB per
// second.
func TestH5SlowClientsThatReadAreServed(t *testing.T) {
	for _, tt := range []struct {
		path  string
		every time.Duration // the time between two pieces of 16 KiB
		ends  bool          // the response is not completed
	}{
		{"/large", 20 * time.Second, false},
		{"/anonymous", 1900 * time.Millisecond, false},
		{"/anonymous", 5 * time.Second, true},
	} {
		t.Run(fmt.Sprint(tt.path, " ", tt.every), func(t *testing.T) {
			modesOf(t, func(t *testing.T, cfg Config) {
				ended := make(chan time.Duration, 9)
				c, in := dialSlow(t, cfg, answers(ended))
				<-ended
				say(t, c, "GET "+tt.path+" HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n\r\n")
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				total := 0
				for piece := make([]byte, maxPiece); ; time.Sleep(tt.every) {
					n, err := io.ReadFull(res.Body, piece)
					if total += n; err != nil {
						break
					}
				}
				wantSlow(t, total, <-ended, tt.every, tt.ends)
			})
		})
	}
}

// wantSlow checks how much of a large response a client got that read a piece at
// intervals, and how long that took.
func wantSlow(t *testing.T, total int, took, every time.Duration, ends bool) {
	t.Helper()
	switch {
	case ends && (total >= largeAnswer || took > 60*time.Second):
		t.Errorf("got %d bytes in %v want the end after less than a minute", total, took)
	case !ends && (total != largeAnswer || took < (largeAnswer/maxPiece-4)*every):
		t.Errorf("got %d bytes in %v want %d", total, took, largeAnswer)
	}
}

// framed is a client that sends HTTP/2 frame by frame.
type framed struct {
	*http2.Framer
	// writing is locked while a frame is written.
	writing sync.Mutex
	ends    chan uint32
	// taken receives the sizes of the response data.
	taken chan int
}

// dialFrames connects with a flow-control window of this size for each
// response.
func dialFrames(t *testing.T, h http.Handler, window uint32) *framed {
	t.Helper()
	cfg := autoConfig(t)
	p, s := inMemory(t, cfg, h)
	raw := p.dial("192.0.2.1:999")
	t.Cleanup(func() { _ = raw.Close() })
	c := tls.Client(raw, &tls.Config{RootCAs: s.roots(t), ServerName: "localhost", NextProtos: []string{"h2"}})
	say(t, c, http2.ClientPreface)
	f := &framed{Framer: http2.NewFramer(c, c), ends: make(chan uint32, 9), taken: make(chan int, 1000)}
	if err := f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteWindowUpdate(0, 1<<30); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(f.taken)
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			switch frame := frame.(type) {
			case *http2.DataFrame:
				if f.taken <- len(frame.Data()); frame.StreamEnded() {
					f.ends <- 0
				}
			case *http2.RSTStreamFrame:
				f.ends <- frame.StreamID
			case *http2.PingFrame:
				if !frame.IsAck() {
					f.write(func() error { return f.WritePing(true, frame.Data) })
				}
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					f.write(f.WriteSettingsAck)
				}
			}
		}
	}()
	return f
}

// ask sends a request.
func (f *framed) ask(t *testing.T, stream uint32, path string) {
	t.Helper()
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for _, h := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "x"}, {":path", path}} {
		if err := e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
			t.Fatal(err)
		}
	}
	f.write(func() error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true})
	})
}

// write writes one frame. A failed write fails the test later, because the
// expected frames do not arrive.
func (f *framed) write(frame func() error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	_ = frame()
}

// TestH5StreamsWithoutAWindowAreCut checks that HTTP/2 responses are canceled
// if the client reads nothing of them, although it answers pings.
func TestH5StreamsWithoutAWindowAreCut(t *testing.T) {
	for _, path := range []string{"/large", "/small"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan time.Duration, 9)
				f := dialFrames(t, answers(ended), 0)
				begin := time.Now()
				f.ask(t, 1, path)
				if got := <-f.ends; got != 1 {
					t.Errorf("got an end of stream %d want a reset of 1", got)
				}
				if got := time.Since(begin); got < 30*time.Second || got > 31*time.Second {
					t.Errorf("gave up after %v, want 30 s", got)
				}
				if got := <-ended; got > 31*time.Second {
					t.Errorf("the handler ended after %v, want 30 s at most", got)
				}
			})
		})
	}
}

// TestH5SlowStreamsAreServed checks that a verified caller that opens its window
// slowly gets the whole response, that every other client has to read 8 KiB per
// second, and that a response in parts is complete.
func TestH5SlowStreamsAreServed(t *testing.T) {
	for _, tt := range []struct {
		path  string
		every time.Duration // the time between two pieces of 16 KiB
		ends  bool          // the response is not completed
	}{
		{"/large", 20 * time.Second, false},
		{"/pause", time.Millisecond, false},
		{"/anonymous", 1900 * time.Millisecond, false},
		{"/anonymous", 5 * time.Second, true},
	} {
		t.Run(fmt.Sprint(tt.path, " ", tt.every), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan time.Duration, 9)
				f := dialFrames(t, answers(ended), maxPiece)
				f.ask(t, 1, tt.path)
				total, end := 0, uint32(0)
				for open := true; open && end == 0 && total < largeAnswer; {
					select {
					case n := <-f.taken:
						total += n
						time.Sleep(tt.every * time.Duration(n) / maxPiece)
						if n > 0 {
							f.write(func() error { return f.WriteWindowUpdate(1, uint32(n)) })
						}
					case end, open = <-f.ends:
					}
				}
				wantSlow(t, total, <-ended, tt.every, tt.ends)
			})
		})
	}
}

// TestChunkedRequestsEndTheConnection checks that a request with two lengths is
// the last one on its connection: the bytes that follow may be another
// client's.
func TestChunkedRequestsEndTheConnection(t *testing.T) {
	for name, length := range map[string]string{"both": "Content-Length: 5\r\n", "chunked": ""} {
		t.Run(name, func(t *testing.T) {
			modesOf(t, func(t *testing.T, cfg Config) {
				ended := make(chan time.Duration, 9)
				c, in := dialSlow(t, cfg, answers(ended))
				go say(t, c, "POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n"+length+"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
				res, err := http.ReadResponse(in, nil)
				if err != nil || !res.Close {
					t.Fatalf("got %+v, %v want an answer that ends the connection", res, err)
				}
				if rest, err := io.ReadAll(in); err != nil || string(rest) != "small" {
					t.Errorf("got %q, %v want the answer and the end", rest, err)
				}
			})
		})
	}
}
