//go:build !linux

// Package testdir finds a folder for the databases of tests.
package testdir

import "os"

// Root returns the folder in which to create temporary folders.
func Root() string { return os.TempDir() }
