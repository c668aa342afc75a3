//go:build !linux

package chtest

import "syscall"

// Without a death signal the server outlives a killed process.
func attributes() *syscall.SysProcAttr { return nil }
