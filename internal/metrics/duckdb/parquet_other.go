//go:build !linux

package duckdb

// limitMemory does nothing: on other systems only the limit of DuckDB applies.
func limitMemory(uint64) error { return nil }
