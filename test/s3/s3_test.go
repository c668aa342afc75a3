// Package s3_test runs the files of assets on an S3 service in this process: a
// real one with its own signatures, not a fake of ours. It is a module of its
// own, because that service needs many modules that the program does not.
package s3_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"

	"fanfare/internal/asset/filestest"
	"fanfare/internal/asset/s3"
	"fanfare/internal/fault"
)

const (
	access    = "fanfare-test"
	secretKey = "a-secret-of-this-test"
	region    = "eu-central-1"
	bucket    = "pictures"
)

// service is the one that all tests use, because a process can run only one.
var service gateway

// gateway is an S3 service on files in a folder.
type gateway struct {
	dir, address string
	stop         context.CancelFunc
	done         chan error
}

func (g *gateway) endpoint() string { return "http://" + g.address }

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fanfare-s3-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	service = gateway{dir: dir, address: free.Addr().String()}
	if err := errors.Join(free.Close(), os.Mkdir(filepath.Join(dir, "data"), 0o700), os.Mkdir(filepath.Join(dir, "meta"), 0o700),
		os.Setenv("AWS_ACCESS_KEY_ID", access), os.Setenv("AWS_SECRET_ACCESS_KEY", secretKey), service.start()); err != nil {
		panic(err)
	}
	code := m.Run()
	service.end()
	return code
}

// start runs the service and returns when it has the bucket.
func (g *gateway) start() error {
	sidecar := filepath.Join(g.dir, "meta")
	metadata, err := meta.NewSideCar(sidecar)
	if err != nil {
		return err
	}
	backend, err := posix.New(filepath.Join(g.dir, "data"), metadata, posix.PosixOpts{SideCarDir: sidecar, CopyObjectThreshold: 5 << 30})
	if err != nil {
		return err
	}
	var ctx context.Context
	ctx, g.stop = context.WithCancel(context.Background())
	g.done = make(chan error, 1)
	go func() {
		g.done <- embedgw.RunVersityGW(ctx, backend, &embedgw.Config{
			RootUserAccess: access, RootUserSecret: secretKey, Region: region, Ports: []string{g.address},
			MaxConnections: 1000, MaxRequests: 1000, MultipartMaxParts: 10_000, Quiet: true,
		})
	}()
	client, err := newClient(g.address, secretKey)
	if err != nil {
		return err
	}
	// The client tries again until the service answers.
	if there, err := client.BucketExists(ctx, bucket); there || err != nil {
		return err
	}
	return client.MakeBucket(ctx, bucket, minio.MakeBucketOptions{Region: region})
}

// end stops the service.
func (g *gateway) end() {
	g.stop()
	<-g.done
}

func newClient(address, key string) (*minio.Client, error) {
	return minio.New(address, &minio.Options{Creds: credentials.NewStaticV4(access, key, ""), Region: region})
}

func location(t *testing.T, address, path string) s3.Location {
	t.Helper()
	at, err := s3.ParseLocation("s3://" + path + "?region=" + region + "&endpoint=" + address)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// prefix returns a place in the bucket that no other test uses.
func prefix(t *testing.T) string {
	t.Helper()
	return bucket + "/" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '/' {
			return r
		}
		return '-'
	}, t.Name())
}

func open(t *testing.T, at s3.Location, sub string, now func() time.Time) *s3.Files {
	t.Helper()
	f, err := s3.Open(at, sub, now, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// keys lists the objects of a location.
func keys(t *testing.T, at s3.Location) (list []string) {
	t.Helper()
	client, err := newClient(at.Endpoint.Host, secretKey)
	if err != nil {
		t.Fatal(err)
	}
	for o := range client.ListObjectsIter(t.Context(), at.Bucket, minio.ListObjectsOptions{Prefix: at.Prefix, Recursive: true}) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		list = append(list, o.Key)
	}
	return list
}

func TestFiles(t *testing.T) {
	t.Parallel()
	filestest.Run(t, func(t *testing.T, now func() time.Time) filestest.Storage {
		t.Helper()
		at := location(t, service.endpoint(), prefix(t))
		return filestest.Storage{Files: open(t, at, "", now), Replace: func(t *testing.T, sum string, b []byte) {
			t.Helper()
			client, err := newClient(at.Endpoint.Host, secretKey)
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range keys(t, at) {
				if !strings.Contains(key, sum) {
					continue
				}
				if _, err := client.PutObject(t.Context(), at.Bucket, key, bytes.NewReader(b), int64(len(b)), minio.PutObjectOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		}}
	})
}

// TestVersions counts the objects of a file: Put replaces the older ones, Touch
// adds one. Files of a folder below the prefix are not listed with the others.
func TestVersions(t *testing.T) {
	t.Parallel()
	at := location(t, service.endpoint(), prefix(t))
	now := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	f, imports := open(t, at, "", clock), open(t, at, "imports", clock)
	sum := filestest.Sum("picture")
	for i, step := range []func() error{
		func() error { return f.Put(filestest.Home, sum, []byte("picture")) },
		func() error { return f.Put(filestest.Home, sum, []byte("picture")) },
		func() error { return f.Touch(filestest.Home, sum) },
		func() error { return imports.Put(filestest.Home, filestest.Sum("rows"), []byte("rows")) },
		func() error { return f.Put(filestest.Home, sum, []byte("picture")) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		if got, want := len(keys(t, at)), []int{1, 1, 2, 3, 2}[i]; got != want {
			t.Errorf("step %d: got %d objects want %d", i, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		address, path, key, secret string
		want                       string
		refused                    bool
	}{
		"good":             {service.endpoint(), bucket + "/check", access, secretKey, "", false},
		"no bucket":        {service.endpoint(), "no-such-bucket", access, secretKey, "create it", true},
		"wrong secret":     {service.endpoint(), bucket, access, "another", "correct AWS_ACCESS_KEY_ID", true},
		"unknown key":      {service.endpoint(), bucket, "someone", secretKey, "correct AWS_ACCESS_KEY_ID", true},
		"nobody listening": {"http://127.0.0.1:1", bucket, access, secretKey, "correct the endpoint", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_ACCESS_KEY_ID", test.key)
			t.Setenv("AWS_SECRET_ACCESS_KEY", test.secret)
			at := location(t, test.address, test.path)
			err := s3.Check(t.Context(), at, time.Now, rand.Reader)
			if test.want == "" {
				if err != nil || len(keys(t, at)) != 0 {
					t.Errorf("got %v and objects %v", err, keys(t, at))
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), test.secret) {
				t.Fatalf("got %v, want %q in it and no secret", err, test.want)
			}
			if _, refused := errors.AsType[*s3.RefusedError](err); refused != test.refused || fault.Is(err, fault.Unavailable) == refused {
				t.Errorf("got %T: %v", err, err)
			}
		})
	}
}

// TestOutage stops the service. Every call is then the fault unavailable, which
// says when to try again, and works again afterwards. No other test runs at the
// same time.
func TestOutage(t *testing.T) {
	at := location(t, service.endpoint(), prefix(t))
	now := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	files := open(t, at, "", func() time.Time { return now })
	sum := filestest.Sum("picture")
	put := func() error { return files.Put(filestest.Home, sum, []byte("picture")) }
	if err := put(); err != nil {
		t.Fatal(err)
	}
	service.end()
	for name, call := range map[string]func() error{
		"put":    put,
		"open":   func() error { _, _, err := files.Open(filestest.Home, sum); return err },
		"touch":  func() error { return files.Touch(filestest.Home, sum) },
		"remove": func() error { return files.Remove(filestest.Home, sum, now.Add(time.Hour)) },
		"old":    func() error { return files.Old(t.Context(), now, nil) },
	} {
		err := call()
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != fault.Unavailable || f.RetryAfter == 0 {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := service.start(); err != nil {
		t.Fatal(err)
	}
	if got := filestest.Content(t, files, sum); got != "picture" {
		t.Errorf("got %q", got)
	}
}
