package guard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/connection"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/record"
	"fanfare/internal/store/sqlite"
)

// smallDiskEnv names the folder of the small file system in the process that
// mounts it.
const smallDiskEnv = "FANFARE_SMALL_DISK"

// reserveBytes is the size of the reserve on the small disk of 12 MiB.
const reserveBytes = 1 << 20

// TestStopOnFullDisk fills a real file system to the last byte: only writes
// that stop campaigns succeed, and they reach the platform. A separate process
// mounts the file system in its own namespaces, so that the test needs no root.
func TestStopOnFullDisk(t *testing.T) {
	if dir := os.Getenv(smallDiskEnv); dir != "" {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=12m"); err != nil {
			t.Fatalf("mount a small file system: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		stopOnFullDisk(t, dir)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStopOnFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), smallDiskEnv+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	// Root can mount without a user namespace, and cannot create one in a
	// chroot.
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestStopOnFullDisk") {
		t.Fatalf("got %v want it to pass:\n%s", err, out)
	}
}

func stopOnFullDisk(t *testing.T, dir string) {
	e, err := sqlite.Open(filepath.Join(dir, "fanfare.db"), sqlite.Options{Reserve: reserveBytes})
	if err != nil {
		t.Fatal(err)
	}
	w := fanfaretest.New(t, e, func(c *app.Config) { c.Assets = filepath.Join(dir, "assets") })
	a := w.Tenant(account.Enterprise)
	connected := a.Do("POST", "/v1/connections", `{"platform":"sandbox","name":"Sandbox","write_enabled":true,"config":{"seed":7}}`).Want(201).ID()
	var runs []connection.Run
	a.Do("GET", "/v1/connections/"+connected+"/syncs", nil).Want(200).Data(&runs)
	a.Do("POST", "/v1/syncs/"+string(runs[0].ID)+"/cancel", nil).Want(200)
	a.Do("POST", "/v1/connections/"+connected+"/sync", `{"streams":["campaigns"]}`).Want(202)
	a.Sync(connected)
	var there []connection.Link
	a.Do("GET", "/v1/connections/"+connected+"/entities?kind=campaign&limit=100", nil).Want(200).Data(&there)
	var ids []string
	for _, l := range there {
		if l.Platform == connection.PlatformGA4 || len(ids) == 4 {
			continue
		}
		id := a.Do("POST", "/v1/campaigns", `{"name":"C"}`).Want(201).ID()
		a.Do("POST", "/v1/connections/"+connected+"/links", fmt.Sprintf(`{"links":[{"kind":"campaign","external_id":%q,"record_id":%q}]}`, l.ExternalID, id)).Want(200)
		a.Do("POST", "/v1/campaigns/"+id+"/launch", nil).Want(200)
		ids = append(ids, id)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.App.Jobs.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	until := func(id, push, status string) {
		t.Helper()
		for {
			var c struct {
				Refs []record.ExternalRef `json:"external_refs"`
			}
			a.Do("GET", "/v1/campaigns/"+id, nil).Want(200).Data(&c)
			if r := c.Refs[0]; r.Push != nil && *r.Push == push && *r.ExternalStatus == status {
				return
			}
			if t.Context().Err() != nil || len(done) > 0 {
				t.Fatalf("got %+v want %s %s", c.Refs, push, status)
			}
		}
	}
	words := map[string][2]string{}
	for i, id := range ids {
		words[id] = map[bool][2]string{true: {"ENABLED", "PAUSED"}, false: {"ACTIVE", "PAUSED"}}[there[i].Platform == connection.PlatformGoogleAds]
		until(id, "applied", words[id][0])
	}

	fillDisk(t, filepath.Join(dir, "filler"))
	large := fmt.Sprintf(`{"name":"x","description":%q}`, strings.Repeat("d", 2000))
	res := a.Do("POST", "/v1/campaigns", large)
	for res.Status == 201 {
		res = a.Do("POST", "/v1/campaigns", large)
	}
	res.WantError(503, "unavailable")
	a.Do("GET", "/v1/campaigns", nil).Want(200)
	// The database needs more for a page than a small picture does.
	fillDisk(t, filepath.Join(dir, "filler-rest"))
	upload := a.Do("POST", "/v1/assets", `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><text>`+strings.Repeat("x", 9000)+`</text></svg>`, "Content-Type: image/svg+xml")
	if e := upload.WantError(503, "unavailable"); !strings.Contains(e.Message, "disk of this server is full") {
		t.Errorf("got %+v", e)
	}

	a.Do("POST", "/v1/campaigns/"+ids[0]+"/pause", nil).Want(200)
	a.Do("POST", "/v1/campaigns/"+ids[1]+"/pause", nil, "Idempotency-Key: once").Want(200)
	a.Do("DELETE", "/v1/campaigns/"+ids[2], nil).Want(200)
	for _, id := range ids[:3] {
		until(id, "applied", words[id][1])
	}
	// The remaining reserve is only for writes that stop campaigns.
	a.Do("POST", "/v1/campaigns/"+ids[0]+"/resume", nil).WantError(503, "unavailable")
	a.Do("POST", "/v1/campaigns", `{"name":"small"}`).WantError(503, "unavailable")
	a.Do("POST", "/v1/campaigns/"+ids[3]+"/pause", nil).Want(200)
	until(ids[3], "applied", words[ids[3]][1])

	for _, name := range []string{"filler", "filler-rest"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	a.Do("POST", "/v1/campaigns", large).Want(201)
	if info, err := os.Stat(filepath.Join(dir, "fanfare.db-reserve")); err != nil || info.Size() != reserveBytes {
		t.Errorf("got %v, %v want the reserve filled again", info, err)
	}
}

// fillDisk uses all free bytes of a file system.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for block := make([]byte, 64<<10); len(block) > 0; {
		n, err := f.Write(block)
		switch {
		case err == nil:
		case errors.Is(err, syscall.ENOSPC):
			block = block[:n/2]
		default:
			t.Fatal(err)
		}
	}
	if _, err := f.Write([]byte{0}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v want a full file system", err)
	}
}
