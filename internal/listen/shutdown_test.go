package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestH11ShutdownLetsRequestsFinish(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2=%v", http2), func(t *testing.T) {
			cfg := autoConfig(t)
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				p, s := inMemory(t, cfg, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					<-release
					say(t, w, "finished")
				}))
				client := s.client(t, http2)
				tr := client.Transport.(*http.Transport)
				tr.DialContext = func(context.Context, string, string) (net.Conn, error) { return p.dial("192.0.2.1:5"), nil }
				answer := make(chan string, 1)
				go func() {
					_, body := get(t, client, "https://localhost/", nil)
					answer <- body
				}()
				silent := p.dial("192.0.2.2:5")
				synctest.Wait()

				stopped := make(chan error, 1)
				go func() { stopped <- s.Shutdown(t.Context()) }()
				synctest.Wait()
				if n, err := silent.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
					t.Errorf("silent connection: got %d bytes, %v, want it closed", n, err)
				}
				if late := p.dial("192.0.2.3:5"); cutAfter(late) != 0 {
					t.Error("a connection was taken after shutdown began")
				}
				select {
				case err := <-stopped:
					t.Fatalf("shutdown returned %v with a request in flight", err)
				default:
				}
				close(release)
				if got := <-answer; got != "finished" {
					t.Errorf("got %q want the whole answer", got)
				}
				if err := <-stopped; err != nil {
					t.Errorf("shutdown: %v", err)
				}
				tr.CloseIdleConnections()
			})
		})
	}
}

func TestH11ShutdownEndsWithItsContext(t *testing.T) {
	cfg := autoConfig(t)
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		p, s := inMemory(t, cfg, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			close(gone)
		}))
		c := tls.Client(p.dial("192.0.2.1:5"), &tls.Config{RootCAs: s.roots(t), ServerName: "localhost"})
		say(t, c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		begin := time.Now()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v want deadline exceeded", err)
		}
		if d := time.Since(begin); d != 25*time.Second {
			t.Errorf("shutdown took %v want 25 s", d)
		}
		_ = c.Close()
		<-gone
	})
}

func TestServeAfterShutdownAndTwice(t *testing.T) {
	t.Parallel()
	l, err := Open(t.Context(), autoConfig(t), time.Now, silence())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Serve(http.NotFoundHandler(), plainAnswer); err != nil {
		t.Errorf("serve after shutdown: got %v want nil", err)
	}
	if err := l.Serve(http.NotFoundHandler(), plainAnswer); err == nil {
		t.Error("second serve: got nil want an error")
	}
}

func TestServeReportsABrokenPort(t *testing.T) {
	t.Parallel()
	l, err := Open(t.Context(), autoConfig(t), time.Now, silence())
	if err != nil {
		t.Fatal(err)
	}
	_ = l.base.Close()
	if err := l.Serve(http.NotFoundHandler(), plainAnswer); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v want %v", err, net.ErrClosed)
	}
}

func TestOpenRefusesPortInUse(t *testing.T) {
	t.Parallel()
	s := start(t, autoConfig(t), time.Now)
	cfg := autoConfig(t)
	cfg.Addr = s.Addr().String()
	if l, err := Open(t.Context(), cfg, time.Now, silence()); err == nil {
		must(t, l.Shutdown(t.Context()))
		t.Error("got nil want an error")
	}
}

// failing refuses a few connections, as a process without free descriptors
// does.
type failing struct {
	net.Listener
	left int
}

func (f *failing) Accept() (net.Conn, error) {
	if f.left > 0 {
		f.left--
		return nil, errors.New("too many open files")
	}
	return f.Listener.Accept()
}

func TestAcceptSurvivesErrors(t *testing.T) {
	cfg := autoConfig(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		l, err := open(t.Context(), &failing{p, 12}, cfg, time.Now, silence())
		if err != nil {
			t.Fatal(err)
		}
		run(t, l, http.HandlerFunc(secureAnswer))
		c := p.dial("192.0.2.1:1")
		defer func() { _ = c.Close() }()
		say(t, c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if got, _ := io.ReadAll(c); !strings.Contains(string(got), "403") {
			t.Errorf("got %q want an answer after the errors passed", got)
		}
	})
}
