package pgtest

import (
	"os"
	"syscall"
)

// nobody is the user that runs the server if the tests run as root, because
// PostgreSQL refuses to run as root.
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
