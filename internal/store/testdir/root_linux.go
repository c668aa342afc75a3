// Package testdir finds a folder for the databases of tests, in memory if the
// machine has such a file system: a commit there waits for no disk.
package testdir

import (
	"os"
	"syscall"
)

// minFree is the free space that the databases need. Containers often have less
// in memory; their tests use the disk.
const minFree = 2 << 30

// Root returns the folder in which to create temporary folders.
func Root() string {
	const memory = "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err == nil && fs.Bavail*uint64(fs.Bsize) > minFree {
		return memory
	}
	return os.TempDir()
}
