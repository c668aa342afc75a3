//go:build !linux

package duckdb

// lowerPriority does nothing: a thread has no priority of its own here.
func lowerPriority() {}
