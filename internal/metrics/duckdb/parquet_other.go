//go:build !linux

package duckdb

// limitMemory does nothing: elsewhere only DuckDB's own bound holds.
func limitMemory(uint64) error { return nil }
