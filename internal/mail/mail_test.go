package mail_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	gomail "net/mail"
	"strings"
	"testing"
	"time"

	"fanfare/internal/mail"
	"fanfare/internal/secret"
)

func now() time.Time { return time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC) }

// testServer is a mail server that accepts recipients at example.com.
type testServer struct {
	t        *testing.T
	listener net.Listener
	// tls, if set, is for STARTTLS.
	tls  *tls.Config
	auth bool
	got  chan receivedMail
}

// receivedMail is a message that the server has accepted.
type receivedMail struct {
	from, to, login string
	secure          bool
	text            string
}

// certificate returns one for 127.0.0.1, and the client's configuration to
// trust it.
func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	roots := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS12}, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}
}

func newTestServer(t *testing.T, implicit *tls.Config) *testServer {
	t.Helper()
	s := &testServer{t: t, got: make(chan receivedMail, 1)}
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if implicit != nil {
		s.listener = tls.NewListener(s.listener, implicit)
	}
	t.Cleanup(func() { _ = s.listener.Close() })
	go func() {
		for {
			c, err := s.listener.Accept()
			if err != nil {
				return
			}
			s.serveConn(c, implicit != nil)
			_ = c.Close()
		}
	}()
	return s
}

// serveConn handles one connection.
func (s *testServer) serveConn(c net.Conn, secure bool) {
	in := bufio.NewReader(c)
	say := func(text string) { fmt.Fprintf(c, "%s\r\n", text) }
	say("220 mail.example.com ESMTP")
	l := receivedMail{secure: secure}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		switch verb, rest, _ := strings.Cut(line, " "); strings.ToUpper(verb) {
		case "EHLO":
			say("250-mail.example.com")
			if s.tls != nil && !l.secure {
				say("250-STARTTLS")
			}
			if s.auth {
				say("250-AUTH PLAIN")
			}
			say("250 8BITMIME")
		case "STARTTLS":
			say("220 go ahead")
			c = tls.Server(c, s.tls)
			in, l.secure = bufio.NewReader(c), true
		case "AUTH":
			_, text, _ := strings.Cut(rest, " ")
			plain, _ := base64.StdEncoding.DecodeString(text)
			if l.login = strings.Trim(strings.ReplaceAll(string(plain), "\x00", " "), " "); l.login != "user p@ss" {
				say("535 wrong")
				continue
			}
			say("235 welcome")
		case "MAIL":
			l.from = rest
			say("250 ok")
		case "RCPT":
			if !strings.Contains(rest, "@example.com>") {
				say("550 no such person")
				continue
			}
			l.to = rest
			say("250 ok")
		case "DATA":
			say("354 go on")
			var b strings.Builder
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				b.WriteString(strings.TrimPrefix(line, "."))
			}
			l.text = b.String()
			say("250 taken")
			s.got <- l
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (s *testServer) newSender(scheme, user string, trust *tls.Config) *mail.Sender {
	s.t.Helper()
	m, err := mail.New(mail.Options{
		URL: secret.New(scheme + "://" + user + s.listener.Addr().String()), From: "Fanfare <fanfare@example.com>", TLS: trust, Now: now,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func TestSend(t *testing.T) {
	t.Parallel()
	const link = "https://console.example.com/link#token"
	m := mail.Invitation("jo@example.com", "Tom & \"Jerry\" <b>", "Ann\r\nBcc: evil@example.com", link, now().Add(time.Hour))
	for _, tt := range []struct {
		name, scheme, user string
		implicit, starttls bool
		auth               bool
	}{
		{"on this machine", "smtp", "", false, false, false},
		{"STARTTLS", "smtp", "user:p%40ss@", false, true, true},
		{"TLS", "smtps", "user:p%40ss@", true, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := certificate(t)
			var implicit *tls.Config
			if tt.implicit {
				implicit = ours
			}
			s := newTestServer(t, implicit)
			s.auth = tt.auth
			if tt.starttls {
				s.tls = ours
			}
			if err := s.newSender(tt.scheme, tt.user, theirs).Send(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			l := <-s.got
			if l.secure != (tt.implicit || tt.starttls) || tt.auth && l.login != "user p@ss" || !strings.Contains(l.from, "<fanfare@example.com>") || !strings.Contains(l.to, "<jo@example.com>") {
				t.Errorf("got %+v", l)
			}
			checkMail(t, l.text, link)
		})
	}
}

// checkMail checks that both texts contain the link, and that names add no
// lines or markup.
func checkMail(t *testing.T, text, link string) {
	t.Helper()
	msg, err := gomail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject"))
	if err != nil || subject != `You are invited to Tom & "Jerry" <b> on Fanfare` || msg.Header.Get("Bcc") != "" || msg.Header.Get("Date") != "Sun, 15 Nov 2026 12:00:00 +0000" {
		t.Errorf("got header %v, subject %q, %v", msg.Header, subject, err)
	}
	_, params, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(msg.Body, params["boundary"])
	for _, want := range []struct{ kind, text string }{
		{"text/plain", "workspace Tom & \"Jerry\" <b> on Fanfare"},
		{"text/html", `<a href="` + link + `">`},
	} {
		part, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil || !strings.HasPrefix(part.Header.Get("Content-Type"), want.kind) || !strings.Contains(string(body), want.text) || !strings.Contains(string(body), link) {
			t.Errorf("got %v %s, %v want %s with %s", part.Header, body, err, want.kind, want.text)
		}
		if want.kind == "text/html" && (strings.Contains(string(body), "<b>") || !strings.Contains(string(body), "Tom &amp; &#34;Jerry&#34; &lt;b&gt;")) {
			t.Errorf("got markup of others: %s", body)
		}
	}
}

func TestSendFails(t *testing.T) {
	t.Parallel()
	ours, theirs := certificate(t)
	s := newTestServer(t, ours)
	s.auth = true
	for _, tt := range []struct {
		name, user, to string
		trust          *tls.Config
	}{
		{"nobody there", "", "jo@elsewhere.example", theirs},
		{"wrong password", "user:wrong@", "jo@example.com", theirs},
		{"unknown certificate", "", "jo@example.com", nil},
		{"not an address", "", "jo", theirs},
	} {
		err := s.newSender("smtps", tt.user, tt.trust).Send(t.Context(), mail.Reset(tt.to, "https://x", now()))
		if err == nil || strings.Contains(err.Error(), "wrong@") {
			t.Errorf("%s: got %v want an error without the password", tt.name, err)
		}
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, url, from, want string }{
		{"whole", "smtp://user:p%40ss@mail.example.com", "fanfare@example.com", ""},
		{"TLS", "smtps://mail.example.com:465", "Fanfare <fanfare@example.com>", ""},
		{"no sender", "smtp://mail.example.com", "", "smtp-from"},
		{"no host", "smtp://", "fanfare@example.com", "smtp-url"},
		{"another scheme", "https://user:p4ss@mail.example.com", "fanfare@example.com", "smtp-url"},
		{"not a URL", "smtp://user:p4%ss@mail.example.com", "fanfare@example.com", "smtp-url"},
		{"no port", "smtp://mail.example.com:0", "fanfare@example.com", "port"},
	} {
		_, err := mail.New(mail.Options{URL: secret.New(tt.url), From: tt.from, Now: now})
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "p4")) {
			t.Errorf("%s: got %v want %q without the password", tt.name, err, tt.want)
		}
	}
}
