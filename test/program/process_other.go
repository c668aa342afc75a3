//go:build !linux

package program

import "syscall"

// Without a death signal the process outlives a killed test.
func attributes() *syscall.SysProcAttr { return nil }
