package damage_test

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fanfare/test/program"
)

// smallDiskEnv names the folder of the small file system in the process that
// mounts it.
const smallDiskEnv = "FANFARE_SMALL_DISK"

// TestDrillFullDisk ends a server with SIGKILL on a full file system. The next
// start works, or says how much space it needs and where, and nothing is lost.
// A separate process mounts the file system.
func TestDrillFullDisk(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv(smallDiskEnv); dir != "" {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=48m"); err != nil {
			t.Fatalf("mount a small file system: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		killOnFullDisk(t, dir)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDrillFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), smallDiskEnv+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestDrillFullDisk") {
		t.Fatalf("got %v want it to pass:\n%s", err, out)
	}
}

func killOnFullDisk(t *testing.T, dir string) {
	s := newTestServerIn(t, filepath.Join(dir, "data"))
	fill := func(name string) {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		for block := make([]byte, 64<<10); len(block) > 0; {
			if n, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
				block = block[:n/2]
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	fill("one")
	status := http.StatusCreated
	for status == http.StatusCreated {
		status, _ = s.call(http.MethodPost, "/v1/campaigns", `{"name":"Much","description":"`+strings.Repeat("d", 2000)+`"}`)
	}
	if status != http.StatusServiceUnavailable {
		t.Errorf("on a full disk: %d", status)
	}
	s.server.Kill()
	fill("two")
	server := program.Launch(t, program.Options{Data: s.data, Env: s.env})
	if code := server.Wait(); code != 75 {
		t.Errorf("the server ended with code %d, want 75", code)
	}
	s.mustContain(server.Log.String(), "the disk of "+s.data+" is full", "make 64 MB free there, then start again")
	out := s.server.Run("workspace", "list")
	if out.Code != 75 {
		t.Errorf("a command: %+v", out)
	}
	s.mustContain(out.Errors, "make 64 MB free there")
	for _, name := range []string{"one", "two"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.start()
	if v := s.inspect(); v.ready != http.StatusOK || v.refused > 0 || v.query != http.StatusOK || v.doctor.Code != 0 {
		t.Errorf("with space: %+v", v)
	}
	s.server.Stop()
}

// nobody is a user without files.
const nobody = 65534

// TestDrillDenied takes the right to use a file away. Doctor names the file and
// how to get the right back, and no backup.
func TestDrillDenied(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]string{"facts.duckdb": "facts", "spool": "facts", "fanfare.db-audit": "changes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestServer(t)
			s.server.Stop()
			file := filepath.Join(s.data, name)
			if err := os.Chmod(file, 0); err != nil {
				t.Fatal(err)
			}
			run := s.asNobody()
			out, err := run("doctor")
			if err == nil {
				t.Errorf("doctor is content:\n%s", out)
			}
			s.mustContain(out, "FAIL  "+check, "permission denied", "chmod u+rwX "+file)
			s.mustLack(out, "facts restore", "compare with a backup")
			// A start reports no loss either.
			if out, err = run("workspace", "list"); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if err := os.Chmod(file, 0o700); err != nil {
				t.Fatal(err)
			}
			if out, err := run("doctor"); err != nil || strings.Contains(out, "compare with a backup") {
				t.Errorf("with the right back: %v\n%s", err, out)
			}
		})
	}
}

// mustLack reports texts that a text has.
func (s *testServer) mustLack(text string, parts ...string) {
	s.t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			s.t.Errorf("got %q in:\n%s", part, text)
		}
	}
}

// asNobody gives the data folder to a user who owns nothing else, where the test
// runs as root, who may read everything. run runs a command as that user.
func (s *testServer) asNobody() (run func(args ...string) (string, error)) {
	s.t.Helper()
	binary := filepath.Join(filepath.Dir(s.data), "fanfare")
	if err := os.Link(program.Build(s.t), binary); err != nil {
		s.t.Fatal(err)
	}
	var user *syscall.SysProcAttr
	if os.Getuid() == 0 {
		for dir := filepath.Dir(s.data); dir != os.TempDir(); dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				s.t.Fatal(err)
			}
		}
		err := filepath.WalkDir(s.data, func(path string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, nobody, nobody))
		})
		if err != nil {
			s.t.Fatal(err)
		}
		user = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return func(args ...string) (string, error) {
		cmd := exec.CommandContext(s.t.Context(), binary, args...)
		cmd.Env = program.Environ("FANFARE_DATA="+s.data, "FANFARE_LISTEN=127.0.0.1:0")
		cmd.Dir, cmd.SysProcAttr = "/", user
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}
