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
// the test fails instead of being skipped, because untested code does not count
// as working.
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
	database, err := createDatabase(ctx, server, name)
	if err != nil {
		t.Fatalf("create a test database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := run(ctx, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return database
}

// createDatabase creates a database and returns its address.
func createDatabase(ctx context.Context, server, name string) (string, error) {
	for _, statement := range []string{createRole, "CREATE DATABASE " + name + " OWNER " + role + " TEMPLATE template0"} {
		if err := run(ctx, server, statement); err != nil {
			return "", err
		}
	}
	u, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("%s: %w", ServerEnv, errors.Unwrap(err))
	}
	u.User, u.Path = url.UserPassword(role, role), "/"+name
	return u.String(), nil
}

// SuperuserURL returns the address of a database of URL with a superuser.
func SuperuserURL(t testing.TB, database string) string {
	t.Helper()
	server, err := address()
	if err != nil {
		t.Fatal(err)
	}
	super, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.User = super.User
	return u.String()
}

// role owns test databases. It is no superuser, because row-level security does
// not bind one.
const role = "fanfare_test"

const createRole = "DO $$ BEGIN CREATE ROLE " + role + " LOGIN PASSWORD '" + role + "'; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"

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
