//go:build !linux

package program

import "syscall"

// Without a death signal the process outlives a killed test.
func processAttributes() *syscall.SysProcAttr { return nil }
