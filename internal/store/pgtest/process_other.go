//go:build !linux

package pgtest

import (
	"os"
	"syscall"
)

const immediate = syscall.SIGQUIT

// Without a death signal the server outlives a killed process.
func attributes() *syscall.SysProcAttr { return nil }

func disown(string) error { return nil }

func tempRoot() string { return os.TempDir() }
