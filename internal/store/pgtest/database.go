package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"
)

// ServerEnv names a running server to use instead of an own one.
const ServerEnv = "FANFARE_TEST_POSTGRES"

var shared struct {
	sync.Mutex
	server *Server
	err    error
}

// Main runs the tests of a package, stops the server that they used and does
// what else is to be done afterwards. Without it the server is killed at the
// end and its folder stays for the next run to remove.
func Main(m *testing.M, after ...func()) {
	code := m.Run()
	for _, f := range after {
		f()
	}
	shared.Lock()
	if shared.server != nil {
		if err := shared.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// URL returns the address of a new, empty database, which is dropped when the
// test ends. The first call in a process starts its server. Without PostgreSQL
// the test fails: what is not tested on it does not work on it.
func URL(t testing.TB) string {
	t.Helper()
	server, err := address()
	if err != nil {
		t.Fatal(err)
	}
	var random [8]byte
	_, _ = rand.Read(random[:])
	name := "fanfare_" + hex.EncodeToString(random[:])
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, server, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		t.Fatalf("create a test database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := run(ctx, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s: %v", ServerEnv, errors.Unwrap(err))
	}
	u.Path = "/" + name
	return u.String()
}

func address() (string, error) {
	if server := os.Getenv(ServerEnv); server != "" {
		return server, nil
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = Start("", false)
	}
	if shared.err != nil {
		return "", shared.err
	}
	return shared.server.URL(""), nil
}
