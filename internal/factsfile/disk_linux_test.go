package factsfile_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fanfare/internal/clock"
	"fanfare/internal/factsfile"
	"fanfare/internal/fault"
)

// smallDiskEnv names the folder of the small file system in the process that
// mounts it.
const smallDiskEnv = "FANFARE_SMALL_DISK"

// TestFullDisk writes facts to a full file system. Writes are refused as long
// as it is full, and no earlier fact is lost. A separate process mounts the
// file system.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv(smallDiskEnv); dir != "" {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
			t.Fatalf("mount a small file system: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		writeOnFullDisk(t, dir)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), smallDiskEnv+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestFullDisk") {
		t.Fatalf("got %v want it to pass:\n%s", err, out)
	}
}

// fillDisk uses all free bytes of a folder's file system. free removes the file.
func (n *node) fillDisk(dir string) (free func()) {
	n.t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	n.must(err)
	defer func() { _ = f.Close() }()
	for block := make([]byte, 64<<10); len(block) > 0; {
		if written, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			block = block[:written/2]
		} else {
			n.must(err)
		}
	}
	return func() { n.must(os.Remove(path)) }
}

// startOn is start with the facts in another folder than the store.
func (n *node) startOn(dir string) {
	n.t.Helper()
	n.openStore()
	c := n.config()
	c.Dir = dir
	var err error
	n.file, err = factsfile.Open(n.t.Context(), c)
	n.must(err)
}

func writeOnFullDisk(t *testing.T, dir string) {
	n := &node{t: t, dir: t.TempDir()}
	n.startOn(dir)
	n.write(20_000)
	free := n.fillDisk(dir)
	day := clock.Date(20_001)
	err := n.file.Write(t.Context(), batch(day))
	for err == nil { // the last block of the log has room
		day++
		err = n.file.Write(t.Context(), batch(day))
	}
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.Unavailable || !strings.Contains(f.Message, "disk of this server is full") || f.RetryAfter == 0 {
		t.Errorf("got %v want that the disk is full", err)
	}
	n.wants("") // what is there can be read
	free()
	n.write(day)
	generation := func() int64 {
		t.Helper()
		s, err := n.file.State(t.Context(), "wks_1")
		n.must(err)
		return s.Generation
	}
	was := generation()
	n.stop()

	free = n.fillDisk(dir)
	n.startOn(dir)
	n.wants("the disk is full")
	n.stop()
	free()
	n.startOn(dir)
	n.wants("")
	if got := generation(); got != was {
		t.Errorf("got generation %d after the disk was full want %d", got, was)
	}
	n.stop()
}
