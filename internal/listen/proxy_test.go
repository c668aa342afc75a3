package listen

import (
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestS8ProxyMatrix(t *testing.T) {
	t.Parallel()
	cfg := Config{Mode: ModeProxy, TrustedProxies: prefixes("10.0.0.0/24", "2001:db8:1::/48", "127.0.0.1/32", "::ffff:172.16.0.0/112")}.withDefaults()
	const (
		proxy  = "10.0.0.1"
		client = "198.51.100.7"
	)
	type want struct {
		secure bool
		client string // "" = the peer
	}
	secure := func(client string) want { return want{secure: true, client: client} }
	refused := want{}

	for _, tt := range []struct {
		name, peer string
		headers    string // one per line
		want       want
	}{
		{"https", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: " + client, secure(client)},
		{"https in capitals", proxy, "X-Forwarded-Proto: HTTPS\nX-Forwarded-For: " + client, secure(client)},
		{"https over an IPv6 proxy", "2001:db8:1::9", "X-Forwarded-Proto: https\nX-Forwarded-For: 2001:db8:2::1", secure("2001:db8:2::1")},
		{"proxy written as mapped IPv4", "172.16.0.9", "X-Forwarded-Proto: https", secure("")},
		{"https without client", proxy, "X-Forwarded-Proto: https", secure("")},
		{"client with port", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: " + client + ":4711", secure(client)},
		{"IPv6 client with port", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: [2001:db8:2::1]:4711", secure("2001:db8:2::1")},
		{"mapped client", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: ::ffff:" + client, secure(client)},
		{"right-most untrusted hop", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: 1.1.1.1, " + client + ", 10.0.0.9", secure(client)},
		{"claims left of it are not read", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: garbage, " + client, secure(client)},
		{"all hops trusted", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: 10.0.0.7, 10.0.0.9", secure("10.0.0.7")},
		{"a public address that is not listed", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: " + client + ", 10.0.1.1", secure("10.0.1.1")},

		{"no header", proxy, "", refused},
		{"only the client", proxy, "X-Forwarded-For: " + client, want{client: client}},
		{"explicit http", proxy, "X-Forwarded-Proto: http\nX-Forwarded-For: " + client, want{client: client}},
		{"explicit http from a proxy on loopback", "127.0.0.1", "X-Forwarded-Proto: http", refused},
		{"no header from a proxy on loopback", "127.0.0.1", "", refused},
		{"empty scheme", proxy, "X-Forwarded-Proto:", refused},
		{"another scheme", proxy, "X-Forwarded-Proto: wss", refused},
		{"scheme as a number", proxy, "X-Forwarded-Proto: 443", refused},

		{"scheme twice, equal", proxy, "X-Forwarded-Proto: https\nX-Forwarded-Proto: https", refused},
		{"scheme twice, different", proxy, "X-Forwarded-Proto: http\nX-Forwarded-Proto: https", refused},
		{"schemes in a list", proxy, "X-Forwarded-Proto: https, http", refused},
		{"client lines twice", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: 1.1.1.1\nX-Forwarded-For: " + client, refused},
		{"client unknown", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: unknown", refused},
		{"client garbage beside trusted hop", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: <b>, 10.0.0.9", refused},
		{"empty place in the list", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: " + client + ",", refused},
		{"client in half brackets", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: [::1", refused},
		{"client with zone", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: fe80::1%eth0", refused},

		{"Forwarded", proxy, "Forwarded: for=" + client + ";proto=https", secure(client)},
		{"Forwarded in capitals with spaces", proxy, "Forwarded: For=" + client + " ; Proto=HTTPS; by=10.0.0.1", secure(client)},
		{"Forwarded, quoted IPv6", proxy, `Forwarded: for="[2001:db8:2::1]:4711";proto="https"`, secure("2001:db8:2::1")},
		{"Forwarded, quoted pair", proxy, `Forwarded: for="198.51.\100.7";proto=https`, secure(client)},
		{"Forwarded, comma inside quotes", proxy, `Forwarded: for=1.1.1.1;host="a,b;c", for=` + client + `;proto=https`, secure(client)},
		{"Forwarded, scheme of the outermost trusted proxy", proxy, "Forwarded: for=1.1.1.1;proto=http, for=" + client + ";proto=https, for=10.0.0.9;proto=http", secure(client)},
		{"Forwarded, client's own claim is not read", proxy, "Forwarded: for=1.1.1.1;proto=https, for=" + client + ";proto=http", want{client: client}},
		{"Forwarded, scheme only", proxy, "Forwarded: proto=https", secure("")},
		{"Forwarded, no scheme", proxy, "Forwarded: for=" + client, want{client: client}},
		{"Forwarded, explicit http", proxy, "Forwarded: for=" + client + ";proto=http", want{client: client}},
		{"Forwarded, hidden client", proxy, "Forwarded: for=_hidden;proto=https", refused},
		{"Forwarded twice", proxy, "Forwarded: for=1.1.1.1;proto=https\nForwarded: for=" + client + ";proto=https", refused},
		{"Forwarded, parameter twice", proxy, "Forwarded: for=" + client + ";proto=http;proto=https", refused},
		{"Forwarded, open quote", proxy, `Forwarded: for="` + client + `;proto=https`, refused},
		{"Forwarded, garbage", proxy, "Forwarded: https", refused},

		{"both agree", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: " + client + "\nForwarded: for=" + client + ";proto=https", secure(client)},
		{"both, each with a half", proxy, "X-Forwarded-Proto: https\nForwarded: for=" + client, secure(client)},
		{"schemes contradict", proxy, "X-Forwarded-Proto: http\nForwarded: proto=https", refused},
		{"schemes contradict the other way", proxy, "X-Forwarded-Proto: https\nForwarded: proto=http", refused},
		{"clients contradict", proxy, "X-Forwarded-Proto: https\nX-Forwarded-For: " + client + "\nForwarded: for=1.1.1.1", refused},

		{"stranger without header", "198.51.100.1", "", refused},
		{"stranger claiming https", "198.51.100.1", "X-Forwarded-Proto: https\nX-Forwarded-For: 10.0.0.1", refused},
		{"stranger beside the network", "10.0.1.1", "Forwarded: proto=https", refused},
		{"stranger over IPv6", "2001:db8:2::1", "X-Forwarded-Proto: https", refused},
		{"loopback that is not a proxy", "127.0.0.2", "X-Forwarded-Proto: https", refused},
		{"IPv6 loopback that is not a proxy", "::1", "X-Forwarded-Proto: https", refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			for line := range strings.SplitSeq(tt.headers, "\n") {
				if name, value, ok := strings.Cut(line, ":"); ok {
					h.Add(name, strings.TrimSpace(value))
				}
			}
			v := cfg.evaluate(netip.MustParseAddr(tt.peer), h)
			got := want{v.secure, ""}
			if v.client.IsValid() {
				got.client = v.client.String()
			}
			if got != tt.want {
				t.Errorf("got %+v (%v), want %+v", got, v.err, tt.want)
			}
			if v.secure && v.err != nil {
				t.Errorf("secure in spite of %v", v.err)
			}
		})
	}
}

func TestS8ProxyModeOverTheWire(t *testing.T) {
	cfg := Config{Mode: ModeProxy, TrustedProxies: prefixes("10.0.0.1/32")}
	const head = "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: k\r\n"
	for _, tt := range []struct{ name, peer, request, want string }{
		{"secure", "10.0.0.1:5", head + "X-Forwarded-Proto: https\r\nX-Forwarded-For: 2001:db8::7\r\nConnection: close\r\n\r\n", "secure HTTP/1.1 [2001:db8::7]:0"},
		{"secure without client keeps the peer", "10.0.0.1:5", head + "X-Forwarded-Proto: https\r\nConnection: close\r\n\r\n", "secure HTTP/1.1 10.0.0.1:5"},
		{"forgetful proxy", "10.0.0.1:5", head + "\r\n", "plain HTTP/1.1 false k"},
		{"explicit http", "10.0.0.1:5", head + "X-Forwarded-Proto: http\r\n\r\n", "plain HTTP/1.1 false k"},
		{"stranger", "10.0.0.2:5", head + "X-Forwarded-Proto: https\r\n\r\n", "plain HTTP/1.1 false k"},
		{"TLS is not spoken here", "10.0.0.2:5", "\x16\x03\x01\r\n\r\n", "400 Bad Request"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s := inMemory(t, cfg, http.HandlerFunc(secureAnswer))
				if !s.Public() {
					t.Error("proxy mode is not public, want HSTS to be possible")
				}
				c := p.dial(tt.peer)
				defer func() { _ = c.Close() }()
				say(t, c, tt.request)
				begin := time.Now()
				got, _ := io.ReadAll(c)
				if !strings.HasSuffix(string(got), tt.want) {
					t.Errorf("got %q, want it to end in %q", got, tt.want)
				}
				if !strings.Contains(string(got), "Connection: close\r\n") || time.Since(begin) > time.Second {
					t.Errorf("got %q after %v, want the connection closed", got, time.Since(begin))
				}
			})
		})
	}
}

func FuzzS8ForwardedNeverTurnsSecureByAccident(f *testing.F) {
	for _, s := range []string{`for=1.2.3.4;proto=https`, `for="[::1]:5";proto="https"`, `a="\`, `,;=`, `proto=https, for=10.0.0.1`} {
		f.Add(s)
	}
	cfg := Config{Mode: ModeProxy, TrustedProxies: prefixes("10.0.0.0/24")}.withDefaults()
	f.Fuzz(func(t *testing.T, s string) {
		v := cfg.evaluate(netip.MustParseAddr("10.0.0.1"), http.Header{"Forwarded": {s}})
		if v.secure && !strings.Contains(strings.ToLower(strings.ReplaceAll(s, `\`, "")), "https") {
			t.Errorf("%q is secure", s)
		}
		if v := cfg.evaluate(netip.MustParseAddr("192.0.2.1"), http.Header{"Forwarded": {s}}); v.secure || v.client.IsValid() {
			t.Errorf("%q from a stranger is believed: %+v", s, v)
		}
	})
}
