// Package mail sends invitations and password reset links over SMTP.
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"

	"fanfare/internal/secret"
)

// Options are the settings of a Sender.
type Options struct {
	// URL is smtp://user:password@host:port, which must offer STARTTLS unless
	// it is on this machine, or smtps:// for TLS from the start.
	URL secret.Text
	// From is the sender of all messages.
	From string
	// TLS, if set, configures the verification of the server; for tests.
	TLS *tls.Config
	Now func() time.Time
}

// Sender sends mail. It is safe for concurrent use: each message uses a new
// connection.
type Sender struct {
	host    string
	from    string
	options []gomail.Option
	now     func() time.Time
}

// Message is a message to one recipient, as plain text and as HTML.
type Message struct {
	To      string
	Subject string
	Text    string
	HTML    string
}

// sendTimeout limits the delivery of a message to the server.
const sendTimeout = 20 * time.Second

// New checks the options and returns a sender. It opens no connection. Its
// errors never contain the password of the URL.
func New(o Options) (*Sender, error) {
	if _, err := mail.ParseAddress(o.From); err != nil {
		return nil, fmt.Errorf("smtp-from %q is not an e-mail address: set the sender, such as Fanfare <fanfare@example.com>", o.From)
	}
	u, err := url.Parse(o.URL.Reveal())
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return nil, errors.New("smtp-url is not smtp://user:password@host:port or smtps://…: correct it, and escape special characters in the password")
	}
	s := &Sender{host: u.Hostname(), from: o.From, now: o.Now, options: []gomail.Option{gomail.WithTimeout(sendTimeout)}}
	add := func(more ...gomail.Option) { s.options = append(s.options, more...) }
	port := 587
	switch {
	case u.Scheme == "smtps":
		port = 465
		add(gomail.WithSSL())
	case isLocal(s.host):
		add(gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		add(gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if text := u.Port(); text != "" {
		if port, err = strconv.Atoi(text); err != nil || port < 1 || port > 65535 {
			return nil, fmt.Errorf("smtp-url has the port %s: use one from 1 to 65535", text)
		}
	}
	add(gomail.WithPort(port))
	if o.TLS != nil {
		add(gomail.WithTLSConfig(o.TLS))
	}
	if name := u.User.Username(); name != "" {
		password, _ := u.User.Password()
		add(gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(name), gomail.WithPassword(password))
	}
	return s, nil
}

func isLocal(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// Send delivers a message to the server. It returns nil if the server has
// accepted it.
func (s *Sender) Send(ctx context.Context, m Message) error {
	msg := gomail.NewMsg()
	if err := errors.Join(msg.From(s.from), msg.To(m.To)); err != nil {
		return fmt.Errorf("address mail: %w", err)
	}
	msg.Subject(m.Subject)
	msg.SetDateWithValue(s.now())
	msg.SetMessageID()
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return fmt.Errorf("prepare mail: %w", err)
	}
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		return fmt.Errorf("send mail through %s: %w", s.host, err)
	}
	return nil
}
