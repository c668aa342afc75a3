//go:build !linux

package duckdb

// Elsewhere a priority is that of the whole process.
func giveWay() {}
