package listen

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// forwarding serves proxy mode, where the whole port is plain TCP. It accepts
// scheme and client address only from a trusted proxy, and only if the headers
// are unique and do not contradict each other (protocol S8).
type forwarding struct {
	cfg       Config
	secure    http.Handler
	plain     PlainHandler
	clientLog *rateLimitedLog
}

func (f *forwarding) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := f.cfg.evaluate(peerOf(r.RemoteAddr), r.Header)
	if v.client.IsValid() {
		r.RemoteAddr = netip.AddrPortFrom(v.client, 0).String()
	}
	if v.err != nil {
		f.clientLog.warn("request refused, not HTTPS by the proxy headers", "reason", v.err)
	}
	if v.secure {
		f.secure.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Connection", "close")
	// Choice: no key is revoked in proxy mode. A single wrong header would
	// permanently revoke every customer's key, and the header cannot be
	// verified.
	f.plain(w, r, false)
}

// forwardedInfo is the result of evaluating the headers of one request.
type forwardedInfo struct {
	secure bool
	client netip.Addr // zero: the peer itself
	err    error      // why the request does not count as HTTPS, and the fix
}

func (c Config) evaluate(peer netip.Addr, h http.Header) forwardedInfo {
	if !c.trusts(peer) {
		return forwardedInfo{err: fmt.Errorf("%s is not in --trusted-proxies: add it if it is your proxy, else close the port to it", peer)}
	}
	scheme, client, err := c.origin(h)
	if err != nil {
		return forwardedInfo{err: err}
	}
	switch scheme {
	case "https":
		return forwardedInfo{secure: true, client: client}
	case "http":
		return forwardedInfo{client: client, err: errors.New("the proxy says http: if clients do use https, TLS ends at another proxy before it; let that one set X-Forwarded-Proto and the others pass it on (nginx: proxy_set_header X-Forwarded-Proto $http_x_forwarded_proto)")}
	case "":
		return forwardedInfo{client: client, err: errors.New("neither X-Forwarded-Proto nor Forwarded names the scheme: let the proxy set X-Forwarded-Proto")}
	default:
		return forwardedInfo{client: client, err: fmt.Errorf("scheme %.20q is neither https nor http", scheme)}
	}
}

// hop is one step of the request's path: the sender that a proxy recorded, and
// the scheme that the sender used.
type hop struct{ from, scheme string }

// origin reads scheme and client from both header families. Either may be
// absent; if both are present, they must agree.
func (c Config) origin(h http.Header) (scheme string, client netip.Addr, err error) {
	scheme, err = only(h, "X-Forwarded-Proto")
	if err != nil {
		return "", client, err
	}
	if strings.Contains(scheme, ",") {
		return "", client, errors.New("X-Forwarded-Proto names several schemes: let the outermost proxy set it and the others keep it")
	}
	list, err := only(h, "X-Forwarded-For")
	if err != nil {
		return "", client, err
	}
	var hops []hop
	if list != "" {
		for from := range strings.SplitSeq(list, ",") {
			if from = strings.TrimSpace(from); from == "" {
				return "", client, errors.New("X-Forwarded-For has an empty place in its list")
			}
			hops = append(hops, hop{from: from})
		}
	}
	_, client, err = c.outermost(hops)
	if err != nil {
		return "", client, fmt.Errorf("X-Forwarded-For: %w", err)
	}
	line, err := only(h, "Forwarded")
	if err != nil {
		return "", client, err
	}
	hops, err = parseForwarded(line)
	if err != nil {
		return "", client, fmt.Errorf("header Forwarded: %w", err)
	}
	scheme2, client2, err := c.outermost(hops)
	if err != nil {
		return "", client, fmt.Errorf("header Forwarded: %w", err)
	}
	scheme, ok := mergeIfEqual(strings.ToLower(scheme), strings.ToLower(scheme2))
	if !ok {
		return "", client, errors.New("X-Forwarded-Proto and Forwarded name different schemes: let the proxy remove the one it does not set")
	}
	if client, ok = mergeIfEqual(client, client2); !ok {
		return "", client, errors.New("X-Forwarded-For and Forwarded name different clients: let the proxy remove the one it does not set")
	}
	return scheme, client, nil
}

// mergeIfEqual merges two values of which either may be missing, and reports whether
// they agree.
func mergeIfEqual[T comparable](a, b T) (T, bool) {
	var none T
	switch {
	case a == none:
		return b, true
	case b == none || a == b:
		return a, true
	}
	return none, false
}

// only returns the value of a header that may be sent once.
//
// Choice: two lines of one header are refused even if a list would be legal. A
// proxy that adds its own line leaves the client's line in place, and the right
// one of the two is unknown.
func only(h http.Header, name string) (string, error) {
	lines := h.Values(name)
	if len(lines) > 1 {
		return "", fmt.Errorf("%s was sent %d times: let the proxy replace it or append to the one line", name, len(lines))
	}
	if len(lines) == 0 {
		return "", nil
	}
	return strings.TrimSpace(lines[0]), nil
}

// outermost goes from the nearest hop outwards over trusted proxies. The first
// untrusted sender is the client, and the proxy that it connected to reports
// the scheme. Everything further left was written by the client itself. If all
// senders are trusted, the leftmost one is the client.
func (c Config) outermost(hops []hop) (scheme string, client netip.Addr, err error) {
	for i, h := range slices.Backward(hops) {
		if h.from == "" {
			return h.scheme, netip.Addr{}, nil
		}
		a, err := parseNode(h.from)
		if err != nil {
			return "", netip.Addr{}, err
		}
		if i == 0 || !c.trusts(a) {
			return h.scheme, a, nil
		}
	}
	return "", netip.Addr{}, nil
}

// parseNode parses an address with or without a port. Anything else, such as
// "unknown", cannot be counted or logged as a client and is an error.
func parseNode(s string) (netip.Addr, error) {
	bare := s
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		bare = s[1 : len(s)-1]
	}
	a, err := netip.ParseAddr(bare)
	if err != nil {
		ap, err := netip.ParseAddrPort(s)
		if err != nil {
			return netip.Addr{}, fmt.Errorf("%.60q is not an address", s)
		}
		a = ap.Addr()
	}
	if a.Zone() != "" {
		return netip.Addr{}, fmt.Errorf("%.60q is an address of another machine's network", s)
	}
	return a.Unmap(), nil
}

// parseForwarded parses RFC 7239: elements separated by commas, parameters by
// semicolons, values as tokens or quoted strings.
func parseForwarded(line string) ([]hop, error) {
	if line == "" {
		return nil, nil
	}
	elements, err := splitQuoted(line, ',')
	if err != nil {
		return nil, err
	}
	hops := make([]hop, 0, len(elements))
	for _, element := range elements {
		params, err := splitQuoted(element, ';')
		if err != nil {
			return nil, err
		}
		seen := make(map[string]string, len(params))
		for _, param := range params {
			name, value, ok := strings.Cut(strings.TrimSpace(param), "=")
			name = strings.ToLower(name)
			if _, twice := seen[name]; !ok || twice || value == "" {
				return nil, fmt.Errorf("parameter %.60q is malformed or given twice", param)
			}
			seen[name] = unquote(value)
		}
		hops = append(hops, hop{from: seen["for"], scheme: seen["proto"]})
	}
	return hops, nil
}

// splitQuoted splits at separators outside quoted strings.
func splitQuoted(s string, separator byte) ([]string, error) {
	var parts []string
	quoted, start := false, 0
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted && s[i] == separator:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	if quoted {
		return nil, errors.New("a quoted value does not end")
	}
	return append(parts, s[start:]), nil
}

func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	var b strings.Builder
	for i := 1; i < len(s)-1; i++ {
		if s[i] == '\\' {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
