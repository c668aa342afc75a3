package pgtest

import (
	"os"
	"syscall"
)

// nobody runs the server when we are root, as which it refuses to run.
const nobody = 65534

const immediate = syscall.SIGQUIT

func attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return attr
}

// disown gives the folder to the user that runs the server.
func disown(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(dir, nobody, nobody)
}

// tempRoot prefers memory: creating a database is making 300 files, twice as
// fast there. Small ones, as containers have, could not hold the databases.
func tempRoot() string {
	const memory = "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err == nil && fs.Bavail*uint64(fs.Bsize) > 2<<30 {
		return memory
	}
	return os.TempDir()
}
