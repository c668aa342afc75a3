package listen

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// challengeProtocol is the ALPN name under which an ACME authority validates
// (RFC 8737). It is offered in acme mode only.
const challengeProtocol = "acme-tls/1"

// managed has the certificates that certmagic obtains and renews over this
// port, without state shared with other users of the library.
type managed struct {
	config *certmagic.Config
	cache  *certmagic.Cache
	begin  func() // obtains missing certificates in the background
	cancel context.CancelFunc
}

// manage prepares the certificates of cfg.Domains. The ACME authority connects to
// port 443 of each domain, which must lead to addr. Call begin after Serve
// starts.
func manage(ctx context.Context, cfg Config, addr net.Addr, clientLog *rateLimitedLog, log *slog.Logger) (*managed, error) {
	host, port, err := challengeAddress(addr)
	if err != nil {
		return nil, err
	}
	issuer := certmagic.ACMEIssuer{
		CA:                   cfg.Directory,
		Email:                cfg.Email,
		Agreed:               true,
		DisableHTTPChallenge: true,
		// certmagic tries to start its own challenge server on this address,
		// finds it in use and leaves the challenge to this listener's
		// handshakes.
		ListenHost:     host,
		AltTLSALPNPort: port,
	}
	if cfg.DirectoryRoots != "" {
		if issuer.TrustedRoots, err = readRoots(cfg.DirectoryRoots); err != nil {
			return nil, err
		}
	}
	logger := zap.New(&zapToSlog{clientLog: clientLog})
	issuer.Logger = logger

	m := &managed{}
	m.cache = certmagic.NewCache(certmagic.CacheOptions{
		Logger:           logger,
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return m.config, nil },
	})
	m.config = certmagic.New(m.cache, certmagic.Config{
		Storage:           &certmagic.FileStorage{Path: filepath.Join(cfg.Dir, "acme")},
		DefaultServerName: cfg.Domains[0],
		Logger:            logger,
		OnEvent:           report(log),
		ShouldEmitFunc:    func(event string) bool { return event == "cert_obtained" || event == "cert_failed" },
	})
	m.config.Issuers = []certmagic.Issuer{certmagic.NewACMEIssuer(m.config, issuer)}
	ctx, m.cancel = context.WithCancel(ctx)
	m.begin = func() {
		if err := m.config.ManageAsync(ctx, cfg.Domains); err != nil {
			log.Error("certificate management failed", "error", err)
		}
	}
	return m, nil
}

func challengeAddress(addr net.Addr) (host string, port int, err error) {
	host, service, err := net.SplitHostPort(addr.String())
	if err == nil {
		port, err = strconv.Atoi(service)
	}
	if err != nil {
		return "", 0, fmt.Errorf("ACME challenges need a TCP port, not %s: %w", addr, err)
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = ""
	}
	return host, port, nil
}

// certificate is for tls.Config.GetCertificate; it also answers challenges.
func (m *managed) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return m.config.GetCertificate(hello)
}

func (m *managed) stop() {
	m.cancel()
	m.cache.Stop()
}

// report logs the two events that an operator waits for.
func report(log *slog.Logger) func(context.Context, string, map[string]any) error {
	return func(_ context.Context, event string, data map[string]any) error {
		switch event {
		case "cert_obtained":
			log.Info("certificate obtained", "domain", data["identifier"], "renewal", data["renewal"])
		case "cert_failed":
			log.Error("certificate not obtained, the server tries again: port 443 of the domain must reach this listener",
				"domain", data["identifier"], "error", data["error"])
		}
		return nil
	}
}

// zapToSlog forwards certmagic's warnings and errors. They are rate limited,
// because any client's handshake can cause them.
type zapToSlog struct {
	clientLog *rateLimitedLog
	fields    []zapcore.Field
}

func (b *zapToSlog) Enabled(level zapcore.Level) bool { return level >= zapcore.WarnLevel }

func (b *zapToSlog) With(fields []zapcore.Field) zapcore.Core {
	return &zapToSlog{clientLog: b.clientLog, fields: append(slices.Clip(b.fields), fields...)}
}

func (b *zapToSlog) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if b.Enabled(e.Level) {
		return to.AddCore(e, b)
	}
	return to
}

func (b *zapToSlog) Write(e zapcore.Entry, fields []zapcore.Field) error {
	values := zapcore.NewMapObjectEncoder()
	for _, f := range append(slices.Clip(b.fields), fields...) {
		f.AddTo(values)
	}
	b.clientLog.warn("certificate manager", "report", e.Message, "values", values.Fields)
	return nil
}

func (b *zapToSlog) Sync() error { return nil }
