//go:build !linux

package pgtest

import (
	"syscall"
)

const immediate = syscall.SIGQUIT

// Without a death signal the server outlives a killed process.
func attributes() *syscall.SysProcAttr { return nil }

func disown(string) error { return nil }
