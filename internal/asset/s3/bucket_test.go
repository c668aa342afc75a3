package s3

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fanfare/internal/asset/filestest"
	"fanfare/internal/fault"
)

func TestParseLocation(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]Location{
		"s3://pictures":     {Bucket: "pictures"},
		"s3://pictures/":    {Bucket: "pictures"},
		"s3://pictures/a/b": {Bucket: "pictures", Prefix: "a/b/"},
		"s3://pictures/a/?region=eu-central-1&endpoint=https://host:9000": {Bucket: "pictures", Prefix: "a/", Region: "eu-central-1"},
		"s3://pictures?endpoint=http://127.0.0.1:9000":                    {Bucket: "pictures"},
		"s3://pictures?endpoint=http://[::1]:9000/":                       {Bucket: "pictures"},
		"s3://pictures?endpoint=http://localhost":                         {Bucket: "pictures"},
	} {
		got, err := ParseLocation(setting)
		if err != nil || got.Bucket != want.Bucket || got.Prefix != want.Prefix || got.Region != want.Region {
			t.Errorf("%s: got %+v, %v", setting, got, err)
			continue
		}
		_, endpoint, _ := strings.Cut(setting, "endpoint=")
		if endpoint == "" {
			endpoint = defaultEndpoint
		}
		if got.Endpoint.String() != strings.TrimSuffix(endpoint, "/") {
			t.Errorf("%s: got endpoint %s", setting, got.Endpoint)
		}
	}
	for setting, want := range map[string]string{
		"s3://":                                       "name of a bucket",
		"s3://Pictures":                               "name of a bucket",
		"s3://key:hush@pictures":                      "AWS_ACCESS_KEY_ID",
		"s3://pictures/../x":                          "prefix",
		"s3://pictures/a//b":                          "prefix",
		"s3://pictures/a b":                           "prefix",
		"s3://pictures#hush":                          "prefix",
		"s3://pictures?secret=hush":                   "neither endpoint nor region",
		"s3://pictures?region=a&region=b":             "twice",
		"s3://pictures?region=EU":                     "eu-central-1",
		"s3://pictures?endpoint=host:9000":            "https://host:port",
		"s3://pictures?endpoint=ftp://host":           "https://host:port",
		"s3://pictures?endpoint=https://host/hush":    "https://host:port",
		"s3://pictures?endpoint=https://a:hush@host":  "https://host:port",
		"s3://pictures?endpoint=http://host:9000":     "without encryption",
		"s3://pictures?endpoint=http://192.168.1.2:9": "without encryption",
		"s3://pictures?endpoint=%zz":                  "query",
		"s3://%zz":                                    "no URL",
	} {
		if _, err := ParseLocation(setting); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v, want %q in it", setting, err, want)
		}
	}
}

// filesAt returns files at a service that has little time to answer.
func filesAt(t *testing.T, handler http.HandlerFunc) *Files {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	at, err := ParseLocation("s3://pictures?region=eu-central-1&endpoint=" + server.URL)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(at, "", time.Now, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := f.objects.(*bucket)
	if !ok {
		t.Fatalf("got %T", f.objects)
	}
	b.wait = 50 * time.Millisecond
	return f
}

// TestNoAnswer calls a service that accepts requests and never answers. No call
// takes longer than it may.
func TestNoAnswer(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hush")
	f := filesAt(t, func(_ http.ResponseWriter, r *http.Request) {
		// The server notices that the client has gone only after the body.
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	for name, call := range map[string]func() error{
		"put":    func() error { return f.objects.put("a", nil) },
		"get":    func() error { _, _, err := f.objects.get("a"); return err },
		"copy":   func() error { return f.objects.copy("a", "b") },
		"remove": func() error { return f.objects.remove("a") },
		"list":   func() error { return f.objects.list(t.Context(), "a", nil) },
	} {
		if err := call(); !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestStalledAnswer reads an object whose bytes stop coming.
func TestStalledAnswer(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hush")
	f := filesAt(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.Header().Set("Last-Modified", "Sun, 15 Nov 2026 12:00:00 GMT")
		_, _ = io.WriteString(w, "some")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	r, size, err := f.objects.get("a")
	if err != nil || size != 100 {
		t.Fatalf("got %d bytes, %v", size, err)
	}
	b, err := io.ReadAll(r)
	if string(b) != "some" || !fault.Is(err, fault.Unavailable) || !errors.Is(err, errSlow) {
		t.Errorf("got %q, %v", b, err)
	}
	_ = r.Close()
}

// TestServiceFails calls a service that answers every request with an error.
func TestServiceFails(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hush")
	for _, status := range []int{http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		f := filesAt(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, _, err := f.Open(filestest.Home, filestest.Sum("x"))
		if got, ok := errors.AsType[*fault.Error](err); !ok || got.Code != fault.Unavailable || got.RetryAfter == 0 {
			t.Errorf("%d: got %v", status, err)
		}
	}
}
