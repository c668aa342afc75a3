//go:build !linux || equalpriorities

package duckdb

// lowerPriority does nothing: a thread has no priority of its own on this system,
// or a benchmark measures without low priorities.
func lowerPriority() {}
